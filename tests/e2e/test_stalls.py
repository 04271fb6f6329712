"""What stands still around sml-run, and holds up nobody: a terminal that is another user's."""
import os
import pty
import select
import time
import unittest

from harness import SML_RUN, TestCase, gate, watchdog


class Terminals(TestCase):
    """A terminal that belongs to another user, as under su: it cannot be opened anew."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            raise unittest.SkipTest("only root can become another user")

    def start(self, *argv):
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir("/")
            os.execvpe("setpriv", ["setpriv", "--reuid=65534", "--clear-groups", str(SML_RUN), "-q", *argv],
                       {"PATH": os.environ["PATH"], "HOME": "/", "TERM": "dumb"})
        self.seen = b""
        self.addCleanup(os.close, self.terminal)
        return pid

    def await_text(self, text):
        end = time.monotonic() + watchdog()
        while text not in self.seen:
            self.assertTrue(select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0], self.seen)
            self.seen += os.read(self.terminal, 65536)

    @gate
    def test_output_comes_and_input_is_taken(self):
        pid = self.start("-np", "2", "--no-tag", "sh", "-c", "echo up $RANK; read line && echo got $line")
        self.await_text(b"up 0")
        self.await_text(b"up 1")
        os.write(self.terminal, b"a line\n")
        self.await_text(b"got a line")
        os.waitpid(pid, 0)

    def test_ctrl_c_is_obeyed(self):
        pid = self.start("-np", "2", "sh", "-c", "echo up; exec sleep 600")
        self.await_text(b"up")
        os.write(self.terminal, b"\x03")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)
