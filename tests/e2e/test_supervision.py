"""Supervision as a user meets it: limits, reports, the terminal, a container's first process, a job on several hosts."""
import fcntl
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import tempfile

from harness import BUILD, PYTHON, TRAIN_DDP, TestCase, Testbed, gate, popen, run, sml_run, wait_until
from jobs import assert_says, causes, own_lines, sh


class Limits(TestCase):
    @gate
    def test_a_job_that_runs_too_long_is_stopped_with_124(self):
        done = sml_run("-np", "2", "--timeout", "0.3", "sleep", "600")
        self.assertEqual(done.returncode, 124, done)
        self.assertIn("--timeout", done.stderr)

    @gate
    def test_the_others_may_finish_and_the_first_failure_decides(self):
        with tempfile.TemporaryDirectory() as folder:
            # rank 1 is gone for good when nobody has its pid any more: then its end has been seen
            done = sml_run("-np", "3", "--on-failure", "continue", "sh", "-c",
                           "test $RANK != 1 || { echo $$ > $0.new; mv $0.new $0; exit 4; }; "
                           "until [ -e $0 ] && ! kill -0 $(cat $0) 2>/dev/null; do sleep 0.01; done; "
                           "echo finished $RANK; exit $((RANK + 10))", f"{folder}/pid")
        self.assertEqual(done.returncode, 4, done)
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] finished 0", "[2] finished 2"])

    @gate
    def test_the_input_of_all(self):
        done = sml_run("-q", "-np", "3", "--stdin", "all", "cat", input="line\n" * 20000)
        self.assertEqual(done.returncode, 0, done)
        for rank in range(3):
            self.assertEqual(done.stdout.splitlines().count(f"[{rank}] line"), 20000)

    @gate
    def test_the_input_of_one_and_of_none(self):
        done = sml_run("-q", "-np", "2", "--stdin", "1", "sh", "-c", "echo $RANK $(wc -c)", input="12345")
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] 0 0", "[1] 1 5"], done)
        done = sml_run("-q", "-np", "2", "--stdin", "none", "sh", "-c", "echo $RANK $(wc -c)", input="12345")
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] 0 0", "[1] 1 0"], done)


class Report(TestCase):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    @gate
    def test_the_culprit_first_with_its_last_words_then_the_rest(self):
        done = sml_run("-np", "4", "sh", "-c", "test $RANK != 2 || { printf 'why \\033[2J\\n' >&2; exit 9; }; sleep 600")
        self.assertEqual(done.returncode, 9, done)
        assert_says(self, done, r"^rank 2 on localhost exited with status 9 after \d+\.\d s \(pid \d+\)$",
                    r"^    \| why \\x1b\[2J$",  # nothing reaches the terminal as it is
                    "^  then: 3 others were stopped$", "^exit status 9, that of rank 2, which failed first$",
                    never="^rank [013] |exited with status 0")
        self.assertLessEqual(len(own_lines(done)), 30)

    @gate
    def test_the_same_for_programs(self):
        file = self.folder / "report.json"
        done = sml_run("-np", "2", "--report", str(file), "sh", "-c", "test $RANK = 0 || kill -SEGV $$; sleep 600")
        report = json.loads(file.read_text())
        self.assertEqual((done.returncode, report["exit_code"], report["schema"]), (139, 139, 1), done)
        self.assertEqual((report["culprit"]["rank"], report["culprit"]["host"]), (1, "localhost"))
        self.assertEqual(report["ranks"][1]["status"]["signal"], signal.SIGSEGV)
        self.assertEqual(report["ranks"][0]["stopped_by"], "sml-run")

    @gate
    def test_a_report_that_cannot_be_written(self):
        """Is told before the start where it can be seen; what is seen afterwards changes nothing else."""
        done = sml_run("-np", "1", "--report", str(self.folder / "no/where.json"), "sh", "-c", "echo started; exit 5")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertIn("--report: cannot open ", done.stderr)
        self.assertIn("no/where.json: no such file or directory", done.stderr)
        done = sml_run("-np", "1", "--report", "/dev/full", "sh", "-c", "exit 5")
        self.assertEqual(done.returncode, 5, done)
        self.assertIn("--report: cannot write /dev/full: no space left on device", done.stderr)

    def test_a_report_for_a_pipe_that_nobody_empties(self):
        """It is given up: no end of a job hangs on a file."""
        file = self.folder / "fifo"
        os.mkfifo(file)
        reader = os.open(file, os.O_RDWR)
        self.addCleanup(os.close, reader)
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
        done = sml_run("-np", "32", "--report", file, "sh", "-c", "test $RANK = 0 || exit 0; exit 5")
        self.assertEqual(done.returncode, 5, done)
        self.assertIn(f"--report: cannot write {file}: connection timed out", done.stderr)


class Terminal(TestCase):
    """A shell with job control on a terminal of its own."""

    def setUp(self):
        super().setUp()
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.execve("/bin/bash", ["bash", "--norc", "-i"], {"PATH": os.environ["PATH"], "PS1": "> ", "TERM": "dumb"})
        self.shell, self.seen = pid, ""
        self.addCleanup(self.close)

    def close(self):
        os.close(self.terminal)
        os.kill(self.shell, signal.SIGKILL)
        os.waitpid(self.shell, 0)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def await_text(self, text, keep=False):
        def is_there():
            while select.select([self.terminal], [], [], 0)[0]:
                self.seen += os.read(self.terminal, 65536).decode(errors="replace")
            return text in self.seen

        wait_until(is_there, lambda: f"no {text!r} in {self.seen!r}")
        if not keep:
            self.seen = self.seen.split(text, 1)[1]

    @gate
    def test_control_z_stops_all_and_fg_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            fifo = pathlib.Path(folder, "go")
            os.mkfifo(fifo)
            self.type(f"'{BUILD}/sml-run' -q -np 1 sh -c 'echo worker is $$ now; read go < {fifo}; echo went on'\n")
            self.await_text("\r\nworker is ")
            self.await_text(" now\r\n", keep=True)
            worker = int(self.seen.split()[0])
            self.type("\x1a")
            self.await_text("Stopped")
            wait_until(lambda: self.state(worker) == "T")
            self.type("fg\n")
            wait_until(lambda: self.state(worker) == "S")
            fifo.write_text("go\n")
            self.await_text("went on\r\n> ")
            self.type("echo status $?.\n")
            self.await_text("\nstatus 0.")

    @staticmethod
    def state(pid):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]

    @gate
    def test_control_c_stops_the_job_with_130(self):
        self.type(f"'{BUILD}/sml-run' -np 2 sh -c 'echo ready $RANK; exec sleep 600'\n")
        self.await_text("[1] ready")
        self.type("\x03")
        self.await_text("stopped by SIGINT\r\n> ")  # before that, what is typed is the worker's
        self.type("echo status $?.\n")
        self.await_text("status 130.")


class FirstProcess(TestCase):
    """As a container starts it: PID 1 of a namespace of its own."""

    def container(self, *argv):
        return ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", *argv]

    @gate
    def test_exit_status_and_strangers(self):
        done = run(self.container(str(BUILD / "sml-run"), "-q", "-np", "2", "sh", "-c",
                                  "(setsid sleep 0.1 &); test $RANK = 0 || exit 3; sleep 600"))
        self.assertEqual(done.returncode, 3, done)

    @gate
    def test_a_signal_to_it_stops_the_job(self):
        with popen(self.container(str(BUILD / "sml-run"), "-np", "1", "sh", "-c", "echo ready; exec sleep 600")) as box:
            box.read_until("ready")
            inner = wait_until(lambda: run(["pgrep", "-P", str(box.pid)]).stdout.split())
            os.kill(int(inner[0]), signal.SIGTERM)
            self.assertEqual(box.finish().returncode, 143)


class SeveralHosts(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(4)

    def train(self, *args):
        return self.bed.sml_run("algo-1", "-np", "8", "-H", self.bed.hosts(slots=2), PYTHON, str(TRAIN_DDP), "--epochs", "3",
                                "--out", "/tmp/model.pt", *args)

    @staticmethod
    def await_ready(job, workers):
        seen = b""
        while seen.count(b"ready") < workers:
            seen += job.read_until("ready")

    @gate
    def test_the_rank_that_raised_is_named_not_those_that_saw_it_go(self):
        done = self.train("--fail-rank", "5")
        self.assertEqual(done.returncode, 1, done)
        first = causes(done)[0]
        if not first.startswith("rank 5 on algo-3 exited with status 1 "):
            # Python takes itself down after its connections, so that a peer that saw these go may be over before it.
            assert_says(self, done, "^  probably a consequence: a rank that it worked with has gone$",
                        "^  rank 5 on algo-3 had printed: RuntimeError: rank 5 fails")
        assert_says(self, done, "RuntimeError: rank 5 fails")
        self.bed.assert_clean()

    @gate
    def test_workers_elsewhere_are_stopped_by_the_launchers_end(self):
        for signo in (signal.SIGKILL, signal.SIGHUP, signal.SIGTERM):
            with self.subTest(signal=signo.name):
                with self.bed.sml_run_popen("algo-1", "-np", "8", "-H", self.bed.hosts(slots=2), "sh", "-c",
                                            "echo ready; exec sleep 600") as job:
                    self.await_ready(job, 8)
                    sh(self.bed, "algo-1", f"pkill -{signo.name[3:]} -x sml-run")
                    self.bed.assert_clean()
                    self.assert_status(job.finish(), 128 + signo)

    @gate
    def test_a_forwarded_signal_reaches_every_worker_and_stops_nothing(self):
        with self.bed.sml_run_popen("algo-1", "-q", "-np", "4", "-H", self.bed.hosts(slots=1), "sh", "-c",
                                    "trap 'echo got; exit 0' USR1; echo ready; while :; do sleep 0.05; done") as job:
            self.await_ready(job, 4)
            sh(self.bed, "algo-1", "pkill -USR1 -x sml-run")
            done = job.finish()
            self.assertEqual(done.returncode, 0, done)
        self.bed.assert_clean()
