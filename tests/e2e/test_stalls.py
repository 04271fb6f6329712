"""What stands still around sml-run, and holds up nobody: file systems that it reads and writes, terminals of other users."""
import contextlib
import os
import pathlib
import pty
import select
import socket
import subprocess
import time
import unittest

from harness import SML_RUN, TestCase, gate, scaled, sml_run_popen, wait_until, watchdog
from stalling_files import StallingFiles

# Prints until the file is there.
CHATTER = 'until [ -e "$0" ]; do echo line; sleep 0.05; done; echo end'
# Prints once, and then nothing until the file is there.
SILENT = 'echo line; until [ -e "$0" ]; do sleep 0.05; done; echo end'

# Asks by PMI for another rank once the file is there, and tells what it is answered.
SPAWNING = r"""
ask() { printf "$1\n" >&3; read -r answer <&3; }
ask "cmd=init pmi_version=1 pmi_subversion=1"
echo line
until [ -e "$0" ]; do sleep 0.05; done
ask "mcmd=spawn\nnprocs=1\nexecname=$WISH\ntotspawns=1\nspawnssofar=1\nargcnt=0\nendcmd"
echo "$answer"
ask "cmd=finalize"
"""


def heartbeat():
    return scaled(1.5)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def call(port, place, *argv, **kw):
    """One of two hosts that call each other, both on this machine."""
    return sml_run_popen("--heartbeat-timeout", f"{heartbeat()}s", "--no-tag", "--nnodes", "2", "--node-rank", place, "--head",
                         f"127.0.0.1:{port}", "-np", "2", "--nproc-per-node", "1", *argv,
                         env={"SML_JOB_SECRET": "0123456789abcdef" * 2}, **kw)


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

    @contextlib.contextmanager
    def frozen(self):
        """For longer than the heartbeat."""
        self.call("fsfreeze", "--freeze", self.mount)
        try:
            yield
            time.sleep(2.5 * heartbeat())  # the fault itself
        finally:
            self.call("fsfreeze", "--unfreeze", self.mount)

    def job(self, *options, program=CHATTER, **kw):
        return sml_run_popen("--heartbeat-timeout", f"{heartbeat()}s", "--no-tag", *options, "-np", "2", "-H", "localhost:2",
                             "sh", "-c", program, self.top / "go", **kw)

    def run_through_a_stall(self, *options, first, stdout=subprocess.PIPE):
        """A job whose file `first` is written to before, meanwhile and afterwards."""
        with self.job(*options, stdout=stdout) as job:
            wait_until(lambda: first.exists() and b"line" in first.read_bytes())
            with self.frozen():
                pass
            (self.top / "go").touch()
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

    def test_under_hang_report(self):
        reports, said = self.mount / "reports", bytearray()
        options = ("--hang-report", reports, "--warn-silent", f"{scaled(1)}s", "--on-silent", "report")
        with self.job(*options, program=SILENT) as job:
            def prints(text):
                said.extend(job.errors_so_far())
                return text in said

            job.read_until("line")
            with self.frozen():
                wait_until(lambda: prints(b"where the ranks are"))
            wait_until(lambda: prints(f"all that is known of these ranks is in {reports}/1".encode()))
            (self.top / "go").touch()
            self.assert_status(job.finish(), 0)
        self.assertIn("RANKS", (reports / "1" / "table.txt").read_text())


class Servers(TestCase):
    """A file server that does not answer for longer than the heartbeat, or never again."""

    def setUp(self):
        super().setUp()
        self.top = self.temporary_directory()
        self.server = self.enterContext(StallingFiles(self.top / "mount"))
        self.folder = self.server.folder

    def job(self, *options, program=CHATTER, **kw):
        return sml_run_popen("--heartbeat-timeout", f"{heartbeat()}s", "--no-tag", *options, "sh", "-c", program,
                             self.top / "go", **kw)

    def finish_through_a_stall(self, job):
        """The server is asked once the file is there."""
        self.server.stall()
        (self.top / "go").touch()
        wait_until(self.server.is_waited_for)
        time.sleep(2.5 * heartbeat())  # the fault itself
        self.server.go_on()
        done = job.finish()
        self.assert_status(done, 0)
        self.assertNotIn("nothing received", done.stderr)
        return done

    def test_under_a_list_of_hosts_that_is_watched(self):
        self.server.files["hosts"] = b"localhost slots=2\n"
        with self.job("--hostfile", self.folder / "hosts", "--watch-hosts", "--max-restarts", "1", "--discovery-interval",
                      "50ms") as job:
            job.read_until("line")
            self.server.stall()
            wait_until(self.server.is_waited_for)
            time.sleep(2.5 * heartbeat())  # the fault itself
            asked = self.server.asked
            self.server.go_on()
            wait_until(lambda: self.server.asked > asked + 10)  # it is read again
            (self.top / "go").touch()
            self.assert_status(job.finish(), 0)

    def test_under_a_file_of_progress(self):
        """The next attempt comes although it cannot be known whether this one has got anywhere."""
        program = 'echo attempt $SML_ATTEMPT; until [ -e "$0" ]; do sleep 0.05; done; [ $SML_ATTEMPT = 2 ]'
        with self.job("--progress-file", self.folder / "step", "--max-restarts", "1", "--restart-delay", "0:0", "-np", "2",
                      program=program) as job:
            job.read_until("attempt 1")
            self.server.stall()
            (self.top / "go").touch()
            done = job.finish()
        self.assert_status(done, 0)
        self.assertIn("attempt 2", done.stdout)
        self.assertIn("sml-run: --progress-file: its file system does not answer; the job goes on without it\n", done.stderr)

    def test_under_the_program_at_a_second_attempt(self):
        """Its host answers while it looks for the program, and is awaited."""
        program = b'echo attempt $SML_ATTEMPT; until [ -e "$1" ]; do sleep 0.05; done; [ $SML_ATTEMPT = 2 ]; exit\n'
        self.server.files["program"] = program
        with sml_run_popen("--heartbeat-timeout", f"{heartbeat()}s", "--no-tag", "--max-restarts", "1", "--restart-delay",
                           "0:0", "-np", "1", "sh", self.folder / "program", self.top / "go") as job:
            job.read_until("attempt 1")
            done = self.finish_through_a_stall(job)
        self.assertIn("attempt 2", done.stdout)

    def test_under_the_look_at_a_host_before_a_second_attempt(self):
        """How much is free for temporary files can be told by the server alone: the host answers meanwhile."""
        program = 'echo attempt $SML_ATTEMPT; until [ -e "$0" ]; do sleep 0.05; done; [ $SML_ATTEMPT = 2 ]'
        with self.job("--max-restarts", "1", "--restart-delay", "0:0", "-np", "1", program=program,
                      env={"TMPDIR": str(self.folder)}) as job:
            job.read_until("attempt 1")
            done = self.finish_through_a_stall(job)
        self.assertIn("attempt 2", done.stdout)

    def test_under_the_program_of_a_spawn(self):
        """That it is not there is told when the server is back; the host of those that run answers meanwhile."""
        with self.job("--mpi", "pmi1", "-H", "localhost:2", "-np", "1", program=SPAWNING,
                      env={"WISH": str(self.folder / "none")}) as job:
            job.read_until("line")
            done = self.finish_through_a_stall(job)
        self.assertIn("cmd=spawn_result rc=-1", done.stdout)

    def test_at_the_end_of_hosts_that_call(self):
        """Each has the job's status, and no host waits for the report of the head."""
        port, program = free_port(), ("sh", "-c", CHATTER, self.top / "go")
        head = self.enterContext(call(port, "0", "--report", self.folder / "report", *program))
        other = self.enterContext(call(port, "1", *program))
        head.read_until("line")
        self.server.stall()
        (self.top / "go").touch()
        self.assert_status(other.finish(), 0)
        done = head.finish()
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.splitlines().count("end"), 2)
        self.assertIn("sml-run: --report: its file system has not taken the file; the job ends without it\n", done.stderr)


class Readers(TestCase):
    def test_of_the_messages_of_a_host_that_calls(self):
        """It takes none before the job is over: the host serves the job all the same."""
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        os.set_blocking(writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, bytes(4096))
        os.set_blocking(writer, True)
        port = free_port()
        other = self.enterContext(call(port, "1", "echo", "ran", stderr=writer))
        os.close(writer)
        head = self.enterContext(call(port, "0", "echo", "ran"))
        done = head.finish()
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "ran\nran\n")
        said = bytearray()
        os.set_blocking(reader, False)

        def ends():
            with contextlib.suppress(BlockingIOError):
                said.extend(os.read(reader, 65536))
            return other.poll() is not None

        wait_until(ends)
        ends()  # what came last
        self.assertEqual(other.returncode, 0)
        self.assertIn(b"the head has answered", said)


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
