"""What stands still around sml-run, and holds up nobody: file systems that it writes to, terminals of other users."""
import os
import pathlib
import pty
import select
import subprocess
import time
import unittest

from harness import SML_RUN, TestCase, gate, scaled, sml_run_popen, wait_until, watchdog

# Prints until the file is there.
CHATTER = 'until [ -e "$0" ]; do echo line; sleep 0.05; done; echo end'


class FileSystems(TestCase):
    """One of the test's own that takes no write for longer than the heartbeat, while ranks print."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not pathlib.Path("/dev/loop-control").exists():
            raise unittest.SkipTest("mounting a file of its own needs root and loop devices")
        self.top = self.temporary_directory()
        self.mount, image = self.top / "mount", self.top / "image"
        self.mount.mkdir()
        with open(image, "wb") as file:
            file.truncate(16 << 20)
        self.call("mkfs.ext4", "-q", "-O", "^has_journal", image)
        self.call("mount", "-o", "loop", image, self.mount)
        self.addCleanup(self.call, "umount", self.mount)

    @staticmethod
    def call(*argv):
        subprocess.run(list(map(str, argv)), check=True, stdin=subprocess.DEVNULL)

    def run_through_a_stall(self, *options, first, stdout=subprocess.PIPE):
        """A job whose file `first` is written to before, meanwhile and afterwards."""
        heartbeat, go = scaled(1.5), self.top / "go"
        argv = ("--heartbeat-timeout", f"{heartbeat}s", "--no-tag", *options, "-np", "2", "-H", "localhost:2", "sh", "-c",
                CHATTER, go)
        with sml_run_popen(*argv, stdout=stdout) as job:
            wait_until(lambda: first.exists() and b"line" in first.read_bytes())
            self.call("fsfreeze", "--freeze", self.mount)
            try:
                time.sleep(2.5 * heartbeat)  # the fault itself
            finally:
                self.call("fsfreeze", "--unfreeze", self.mount)
            go.touch()
            done = job.finish()
        self.assert_status(done, 0)
        return done

    def assert_whole(self, text, ranks=1):
        lines = text.splitlines()
        self.assertEqual(lines.count("end"), ranks)
        self.assertEqual(set(lines), {"line", "end"})

    def test_under_stdout_and_events(self):
        out, events = self.mount / "out", self.mount / "events"
        with open(out, "wb") as stdout:
            self.run_through_a_stall("--events", events, first=out, stdout=stdout)
        self.assert_whole(out.read_text(), 2)
        self.assertIn('{"event":"verdict",', events.read_text().splitlines()[-1])

    def test_under_log_dir(self):
        self.logs_through_a_stall()

    def test_under_log_dir_of_a_host(self):
        self.logs_through_a_stall("--log-on-host")

    def logs_through_a_stall(self, *options):
        logs = self.mount / "logs"
        done = self.run_through_a_stall("--log-dir", logs, *options, first=logs / "rank.0/stdout")
        texts = [(logs / f"rank.{rank}/stdout").read_text() for rank in (0, 1)]
        for text in texts:
            self.assert_whole(text)
        self.assertEqual(sorted("".join(texts).splitlines()), sorted(done.stdout.splitlines()))


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
        pid = self.start("-np", "2", "--no-tag", "sh", "-c", "echo up $RANK; read line || exit 0; echo got $line")
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
