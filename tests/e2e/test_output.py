"""What workers print and read: nothing lost, torn, mixed or held back, however much it is and however slow the reader."""
import contextlib
import datetime
import hashlib
import os
import pathlib
import pty
import random
import re
import signal
import subprocess
import tempfile
import time

from harness import (SML_RUN, Process, TestCase, Testbed, gate, own_processes, run, scaled, sml_run, sml_run_popen, stays,
                     wait_until, watchdog)
from jobs import PROBE, PROBE_WORD, by_rank, own_lines

PROC = pathlib.Path("/proc")
# Lines of each of 16 ranks and stream; SML_OUTPUT_LINES=100000 is the full size: about 7 GB.
COUNT, LONGEST = int(os.environ.get("SML_OUTPUT_LINES", 2000)), 70000


def peak_memory_mb(process):
    """`process`: its directory in a /proc."""
    with open(process / "status") as status:
        return next(int(ln.split()[1]) for ln in status if ln.startswith("VmHWM")) / 1024


def is_waiting(process):
    """For somebody else: asleep, and not on a processor."""
    return "\nState:\tS" in (process / "status").read_text()


class Streams(TestCase):
    """The same on this machine and over SSH: subclasses say how a job is run."""
    watchdog_times = 1 + COUNT // 10_000

    def job(self, np, *argv, **kw):
        raise NotImplementedError

    def popen(self, np, *argv, **kw):
        raise NotImplementedError

    def launcher(self, process):
        """The launcher's pid on this machine."""
        raise NotImplementedError

    def running(self, pattern):
        """The job's processes, below the launcher, whose command matches: their directories in /proc."""
        raise NotImplementedError

    def log_folder(self):
        """A new folder that the launcher can write into."""
        raise NotImplementedError


class Essentials:
    """What is seen over SSH, too."""

    @gate
    def test_no_line_is_lost_or_torn_or_out_of_order(self):
        """16 ranks; a checker reads each stream as it comes, and their files are what they print by themselves."""
        logs = self.log_folder()
        with contextlib.ExitStack() as stack:
            job = stack.enter_context(self.popen(16, PROBE, "lines", COUNT, LONGEST, options=["--log-dir", logs]))
            check = [PROBE, "check", "16", str(COUNT), str(LONGEST)]
            checkers = [stack.enter_context(Process([*check, name], stdin=stream, stdout=subprocess.DEVNULL))
                        for name, stream in (("out", job.stdout), ("err", job.stderr))]
            job.stdout.close()
            job.stderr.close()
            for checker in checkers:
                done = checker.finish()
                self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(job.wait(watchdog()), 0)
        for rank in range(16):
            self.check_files(rank, logs / f"rank.{rank:02}")

    def check_files(self, rank, folder):
        with contextlib.ExitStack() as stack:
            alone = stack.enter_context(Process([PROBE, "lines", str(COUNT), str(LONGEST)], env={"RANK": str(rank)}))
            compared = [stack.enter_context(Process(["cmp", "-", folder / name], stdin=stream))
                        for name, stream in (("stdout", alone.stdout), ("stderr", alone.stderr))]
            alone.stdout.close()
            alone.stderr.close()
            for process in compared:
                done = process.finish()
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), folder)
            self.assertEqual(alone.wait(watchdog()), 0)

    @gate
    def test_a_slow_reader_slows_the_workers_and_fills_no_memory(self):
        with self.popen(4, "seq", 10**9) as job:
            taken, pid = job.read_until("\n"), self.launcher(job)
            wait_until(lambda: len(self.running(r"^seq \d+$")) == 4)
            workers = self.running(r"^seq \d+$")
            for _ in range(20):  # the next piece when all workers wait for the reader
                wait_until(lambda: all(map(is_waiting, workers)))
                taken += os.read(job.stdout.fileno(), 65536)
            self.assertLess(peak_memory_mb(PROC / str(pid)), 48)
            self.assert_ends_with_its_reader(job)
        for rank, lines in by_rank(taken[:taken.rindex(b"\n")].decode()).items():
            self.assertEqual(lines, [str(i + 1) for i in range(len(lines))], rank)  # nothing was left out

    def assert_ends_with_its_reader(self, job):
        """As `seq | head` does: without a word."""
        job.stdout.close()
        wait_until(lambda: job.poll() is not None)
        self.assertEqual(job.returncode, 141)
        self.assertEqual(own_lines(subprocess.CompletedProcess((), 141, "", job.stderr.read().decode())), [])

    @gate
    def test_a_reader_that_goes_away_ends_the_job(self):
        with self.popen(4, PROBE, "flood") as job:
            head = subprocess.Popen(["head", "-1"], stdin=job.stdout, stdout=subprocess.PIPE)
            job.stdout.close()
            line = head.communicate(timeout=watchdog())[0]
            self.assert_ends_with_its_reader(job)
        self.assertRegex(line, rb"^\[\d\] a line of a hundred")

    @gate
    def test_a_failure_is_seen_behind_a_flood(self):
        script = f"test $RANK = 3 || {{ echo flood >&2; exec {PROBE_WORD} flood; }}; read go; echo last words >&2; exit 6"
        with self.popen(4, "sh", "-c", script, options=["--stdin", "3"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as job:
            said = b""
            while said.count(b"] flood\n") < 3:
                said += job.stderr.readline() or self.fail(said)
            done = job.finish(input="go\n")
        self.assertEqual(done.returncode, 6, done.stderr[-1000:])
        self.assertIn("[3] last words\n", done.stderr)

    @gate
    def test_ten_megabytes_of_input(self):
        data = random.Random(1).randbytes(10 << 20)
        done = self.job(1, "sh", "-c", "cat; sha256sum </dev/null >&2", input=data, binary=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(hashlib.sha256(done.stdout).hexdigest(), hashlib.sha256(data).hexdigest())


class Contract(Essentials):
    @gate
    def test_templates_of_tags(self):
        for options, wanted in ((["--tag", "{rank:04}/{local_rank:0} {stream}: "], ["0000/0 stdout: x", "0001/0 stdout: x"]),
                                (["--tag-output"], ["[1,0]<stdout>:x", "[1,1]<stdout>:x"]),
                                (["--tag", "{{{rank:0}}}"], ["{0}x", "{1}x"])):
            with self.subTest(options=options):
                done = self.job(2, "echo", "x", options=["-q", *options])
                got = [re.sub("/[01] ", "/0 ", ln) for ln in done.stdout.splitlines()]  # local ranks are the layout's
                self.assertEqual(sorted(got), wanted)

    def test_one_worker_has_the_tag_that_is_asked_for(self):
        self.assertEqual(self.job(1, "echo", "x", options=["--prepend-rank"]).stdout, "[0] x\n")

    def test_the_time_in_a_tag(self):
        before = time.time()
        done = self.job(2, "sh", "-c", "echo a; read go </dev/null; echo b", options=["--tag", "{time}|{rank}|"])
        after = time.time()
        last = {}
        for line in done.stdout.splitlines():
            text, rank, _ = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})Z\|(\d)\|([ab])", line).groups()
            seconds = datetime.datetime.fromisoformat(text + "+00:00").timestamp()
            self.assertTrue(before - 0.1 <= seconds <= after + 0.1, (before, text, after))
            self.assertGreaterEqual(seconds, last.get(rank, 0))
            last[rank] = seconds
        self.assertEqual(sorted(last), ["0", "1"])

    @gate
    def test_some_ranks_are_shown_and_others_are_heard(self):
        script = "echo out $RANK; echo err $RANK >&2; test $RANK != 2 || exit 5"
        done = self.job(4, "sh", "-c", script, options=["--show-ranks", "0,3", "--on-failure", "continue"])
        self.assert_status(done, 5)
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] out 0", "[3] out 3"])
        tagged = [ln for ln in done.stderr.splitlines() if not ln.startswith("sml-run: ")]
        self.assertEqual(sorted(tagged), ["[0] err 0", "[3] err 3"])
        self.assertIn("err 2", done.stderr)  # in the report
        quiet = self.job(2, "sh", "-c", "echo out; echo err >&2; exit $RANK", options=["--quiet-workers"])
        self.assert_status(quiet, 1)
        self.assertEqual(quiet.stdout, "")
        self.assertEqual([ln for ln in quiet.stderr.splitlines() if not ln.startswith("sml-run: ")], [])

    def test_equal_lines_are_folded(self):
        script = "read go; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo step $i; test $RANK = 0 && echo mine $i; sleep .05; done"
        done = self.job(4, "sh", "-c", script, options=["--dedup", "--stdin", "all"], input="go\n")
        self.assert_status(done, 0)
        of_rank = {r: [] for r in range(4)}
        folded = 0
        for line in done.stdout.splitlines():
            tag, text = re.fullmatch(r"\[([-,\d]+)\] (.*)", line).groups()
            ranks = [r for part in tag.split(",") for r in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)]
            folded += len(ranks) > 1
            for rank in ranks:
                of_rank[rank].append(text)
        steps = [f"step {i}" for i in range(1, 13)]
        self.assertEqual(of_rank[0], [ln for i in range(1, 13) for ln in (f"step {i}", f"mine {i}")])
        self.assertEqual([of_rank[r] for r in (1, 2, 3)], [steps] * 3)
        self.assertGreater(folded, 0)

    def test_progress_bars_are_thinned_out_in_files(self):
        done = self.job(2, "printf", "1%%\\r2%%\\r3%%\\rdone\\nlast\\r", options=["--collapse-cr"])
        self.assertEqual(sorted(done.stdout.replace("last\r", "last\n").splitlines()),
                         [f"[{r}] {w}" for r in (0, 1) for w in ("done", "last")])

    @gate
    def test_long_lines_stay_whole(self):
        script = "head -c $((60000 + RANK)) /dev/zero | tr '\\0' \"$RANK\"; echo"
        done = self.job(4, "sh", "-c", script)
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"[{r}] " + str(r) * (60000 + r) for r in range(4)])

    @gate
    def test_streams_stay_apart(self):
        done = self.job(2, "sh", "-c", "echo out $RANK; echo err $RANK >&2")
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] out 0", "[1] out 1"])
        self.assertEqual(sorted(ln for ln in done.stderr.splitlines() if not ln.startswith("sml-run: ")),
                         ["[0] err 0", "[1] err 1"])

    @gate
    def test_a_last_line_without_an_end(self):
        done = self.job(3, "sh", "-c", "printf 'a\\nlast'")
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"[{r}] {w}" for r in range(3) for w in ("a", "last")])

    @gate
    def test_empty_lines_and_carriage_returns(self):
        done = self.job(2, "printf", "\\n\\na\\r\\nb\\n")
        self.assertEqual(by_rank(done.stdout.replace("\r\n", "^\n")), {r: ["", "", "a^", "b"] for r in (0, 1)})

    @gate
    def test_one_worker_is_passed_through_untouched(self):
        data = bytes(range(256)) * 500 + b"no end"
        done = self.job(1, "cat", input=data, binary=True)
        self.assertEqual((done.returncode, done.stdout), (0, data))

    def test_no_tag(self):
        done = self.job(4, "echo", "same", options=["--no-tag"])
        self.assertEqual(done.stdout, "same\n" * 4)

    @gate
    def test_output_comes_while_the_worker_runs(self):
        with self.popen(2, "sh", "-c", "echo first; exec sleep 600") as job:
            seen = job.read_until("[0] first\n")
            if b"[1] first\n" not in seen:
                job.read_until("[1] first\n")
            job.send_signal(signal.SIGTERM)
            self.assertEqual(job.finish().returncode, 143)

    @gate
    def test_a_prompt_of_the_rank_that_has_the_input_is_shown(self):
        ask = '[ $RANK = 1 ] || { printf "name? "; read name; echo hello $name; }'
        with self.popen(2, "sh", "-c", ask, stdin=subprocess.PIPE) as job:
            self.assertEqual(job.read_until("name? "), b"[0] name? ")
            self.assertEqual(job.finish("you\n").stdout, "hello you\n")

    @gate
    def test_a_stopped_reader_stops_the_writes_and_nothing_else(self):
        script = (f"probe={PROBE_WORD}; trap 'exec \"$probe\" flood' USR1; test $RANK != 3 || trap '' USR1; trap 'exit 6' WINCH; "
                  "echo ready >&2; while :; do sleep .05; done")
        silence = scaled(2)
        with self.popen(4, "sh", "-c", script, options=["--heartbeat-timeout", f"{silence}s"]) as job:
            wanted = {b"[%d] ready\n" % rank for rank in range(4)}
            for line in job.stderr:  # among what is said about the hosts
                wanted.discard(line)
                if not wanted:
                    break
            job.send_signal(signal.SIGUSR1)
            wait_until(lambda: len(self.running("probe flood$")) == 3)
            self.assertTrue(stays(lambda: job.poll() is None, looks=int(150 * silence)))  # three times as long
            self.assertEqual(len(self.running("probe flood$")), 3)
            job.send_signal(signal.SIGWINCH)  # passed on to all, of whom one cares
            wait_until(lambda: not self.running("probe flood$"))  # while nobody has read a byte
            done = job.finish()
        self.assertEqual(done.returncode, 6, done.stderr)

    @gate
    def test_memory_is_flat_while_the_reader_stands_still(self):
        with self.popen(4, "yes") as job:
            job.read_until("y")
            ours = [PROC / str(self.launcher(job)), *self.running("sml-run-agent")]
            self.assertGreater(len(ours), 1)

            def is_flat():
                before = [peak_memory_mb(process) for process in ours]
                return stays(lambda: before == [peak_memory_mb(process) for process in ours])

            wait_until(is_flat)
            self.assertIsNone(job.poll())
            for process in ours:
                self.assertLess(peak_memory_mb(process), 48)
            head = subprocess.run(["head", "-c", "1M"], stdin=job.stdout, stdout=subprocess.PIPE, timeout=watchdog(), check=True)
            self.assertEqual(len(head.stdout), 1 << 20)
            job.stdout.close()
            wait_until(lambda: job.poll() is not None)
            self.assertEqual(job.returncode, 141)

    @gate
    def test_a_job_that_keeps_going_without_a_reader(self):
        script = "echo first; head -c 5000000 /dev/zero | tr '\\0' '\\n'; echo still here >&2; exit $((RANK * 3))"
        options = ["--keep-going-without-output", "--on-failure", "continue"]
        with self.popen(2, "sh", "-c", script, options=options) as job:
            job.read_until("first")
            job.stdout.close()
            said = job.stderr.read().decode()
            self.assertEqual(job.wait(watchdog()), 3)
        self.assertIn("sml-run: cannot write the workers' output (broken pipe); the job goes on without it\n", said)
        self.assertEqual(said.count("still here"), 3, said)  # two workers, and the report of one

    @gate
    def test_an_error_reader_that_goes_away_does_not_hold_the_job(self):
        script = "head -c 5000000 /dev/zero | tr '\\0' '\\n' >&2; exit $((RANK * 3))"
        with self.popen(2, "sh", "-c", script, stdout=subprocess.DEVNULL) as job:
            for _ in range(5):
                os.read(job.stderr.fileno(), 65536)
            job.stderr.close()
            wait_until(lambda: job.poll() is not None)
            self.assertEqual(job.returncode, 3)

    @gate
    def test_standard_input_goes_to_rank_0(self):
        script = "test -t 0 && echo terminal; cat | tr a-z A-Z"
        done = self.job(3, "sh", "-c", script, input="only for\nthe first\n")
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {0: ["ONLY FOR", "THE FIRST"]})

    @gate
    def test_input_that_nobody_reads(self):
        done = self.job(2, "sh", "-c", "exit 0", input="x" * (1 << 20))
        self.assert_status(done, 0)

    @gate
    def test_no_input(self):
        done = self.job(2, "sh", "-c", "cat; readlink /proc/self/fd/0")
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout)[1], ["/dev/null"])

    def test_a_fifo_whose_writer_has_gone(self):
        fifo = self.temporary_directory() / "fifo"
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        os.set_blocking(reader, True)
        for text in (b"early\n", b""):
            with open(fifo, "wb") as writer:
                writer.write(text)
            with sml_run_popen("cat", stdin=reader) as job:
                done = job.finish()
            self.assertEqual((done.returncode, done.stdout), (0, text.decode()))
        os.close(reader)

    @gate
    def test_input_that_stays_open(self):
        with self.popen(2, "true", stdin=subprocess.PIPE) as job:
            self.assertEqual(job.wait(watchdog()), 0)


class OnThisMachine(Contract, Streams):
    def job(self, np, *argv, options=(), **kw):
        return sml_run("-np", str(np), *options, *map(str, argv), **kw)

    def popen(self, np, *argv, options=(), **kw):
        return sml_run_popen("-np", str(np), *options, *map(str, argv), **kw)

    def launcher(self, process):
        return process.pid

    def log_folder(self):
        return self.temporary_directory()

    def running(self, pattern):
        return [PROC / str(pid) for pid, command in own_processes() if re.search(pattern, command) and "sml-run -" not in command]

    def on_a_terminal(self, *argv, **kw):
        """What a job prints on a terminal."""
        ours, theirs = pty.openpty()
        with os.fdopen(ours, "rb", buffering=0) as screen:
            with sml_run_popen("-q", *argv, stdout=theirs, stderr=subprocess.STDOUT, **kw) as job:
                os.close(theirs)
                shown = b""
                with contextlib.suppress(OSError):  # EIO: nobody has it open any more
                    while piece := screen.read(65536):
                        shown += piece
                self.assertEqual(job.wait(watchdog()), 0)
        return shown.replace(b"\r\n", b"\n")

    def test_tags_are_coloured_on_a_terminal_and_nowhere_else(self):
        env = {"TERM": "xterm", "NO_COLOR": None}
        coloured = b"\x1b[36m[0] \x1b[0mx\n\x1b[32m[1] \x1b[0mx\n"
        lines = sorted(coloured.splitlines())
        shown = self.on_a_terminal("-np", "2", "--all-lines", "echo", "x", env=env)
        self.assertEqual(sorted(shown.splitlines()), lines)
        plain = [b"[0] x", b"[1] x"]
        for variables, options in (({"NO_COLOR": "1"}, ()), ({"TERM": "dumb"}, ()), ({}, ("--color", "never"))):
            with self.subTest(variables=variables, options=options):
                shown = self.on_a_terminal("-np", "2", "--all-lines", *options, "echo", "x", env=env | variables)
                self.assertEqual(sorted(shown.splitlines()), plain)
        done = sml_run("-np", "2", "echo", "x", env=env, binary=True)
        self.assertEqual(sorted(done.stdout.splitlines()), plain)
        done = sml_run("-np", "2", "--color", "always", "echo", "x", env=env | {"NO_COLOR": "1"}, binary=True)
        self.assertEqual(sorted(done.stdout.splitlines()), lines)

    @gate
    def test_a_terminal_shows_what_several_ranks_have_in_common_once(self):
        """Equal lines, and the last state of each progress bar."""
        go = self.temporary_directory() / "go"
        ours, theirs = pty.openpty()
        with os.fdopen(ours, "rb", buffering=0) as screen:
            with sml_run_popen("-q", "-np", "2", "--color", "never", "sh", "-c", 'until [ -e "$0" ]; do echo loaded; sleep 0.01; done', go,
                               stdout=theirs, stderr=subprocess.STDOUT) as job:
                os.close(theirs)
                shown = b""
                with contextlib.suppress(OSError):  # EIO: nobody has it open any more
                    while piece := screen.read(65536):
                        shown += piece
                        self.assertLess(len(shown), 1 << 20, "no line of both ranks")
                        if b"[0-1] loaded" in shown:
                            go.touch()
                self.assertEqual(job.wait(watchdog()), 0)
        bars = ["sh", "-c", "printf '1%%\\r2%%\\r'; echo loaded"]
        self.assertNotIn(b"1%", self.on_a_terminal("-np", "2", "--color", "never", *bars))
        for options in ((), ("--dedup",), ("--collapse-cr",)):
            every = self.on_a_terminal("-np", "2", "--color", "never", *options, "--all-lines", *bars)
            for rank in (b"0", b"1"):
                self.assertIn(b"[%b] 1%%\r[%b] 2%%\r" % (rank, rank), every)
                self.assertIn(b"[%b] loaded\n" % rank, every)
        alone = self.on_a_terminal("-np", "1", "--collapse-cr", *bars)
        self.assertEqual(alone, b"1%\r2%\rloaded\n")

    def test_ranks_that_do_not_exist_are_not_shown(self):
        done = sml_run("-np", "2", "--show-ranks", "0,2", "true")
        self.assertEqual((done.returncode, done.stderr),
                         (2, "sml-run: --show-ranks: there is no rank 2; the job's ranks are 0 to 1\n"))

    @gate
    def test_closed_standard_descriptors(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            with self.subTest(closed=closed):
                done = run(["sh", "-c", f'"$@" {closed}', "sh", SML_RUN, "-np", "2", "sh", "-c", "test -e /proc/self/fd/2"])
                self.assertIn(done.returncode, (0, 141), done)


class OverSsh(Essentials, Streams):
    @classmethod
    def setUpClass(cls):
        cls.logs = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="sml-e2e-"))
        cls.bed = cls.enterClassContext(Testbed())
        cls.bed.up(4, share=[cls.logs])

    def log_folder(self):
        return pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(dir=self.logs)))

    def words(self, np, argv, options):
        hosts = ["algo-2", "algo-1", "algo-3", "algo-4"]  # rank 0 is not where the job is started
        slots = (np + 3) // 4
        return ["-np", str(np), "-H", self.bed.hosts(slots, hosts), *options, *map(str, argv)]

    def job(self, np, *argv, options=(), **kw):
        return self.bed.sml_run("algo-1", *self.words(np, argv, options), **kw)

    def popen(self, np, *argv, options=(), **kw):
        return self.bed.sml_run_popen("algo-1", *self.words(np, argv, options), **kw)

    def running(self, pattern):
        return [self.bed.path(p["host"], f"/proc/{p['pid']}") for p in self.bed.ps()
                if re.search(pattern, p["cmd"]) and "sml-run -" not in p["cmd"]]

    def launcher(self, process):
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as children:
            return int(children.read().split()[0])
