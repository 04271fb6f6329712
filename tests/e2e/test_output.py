"""What workers print and read: nothing lost, torn, mixed or held back, however much it is and however slow the reader."""
import hashlib
import os
import random
import signal
import subprocess

from harness import SML_RUN, TestCase, Testbed, poll, run, sml_run, sml_run_popen
from jobs import PROBE, by_rank

COUNT, LONGEST = 5000, 20000


def peak_memory_mb(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(ln.split()[1]) for ln in status if ln.startswith("VmHWM")) / 1024


class Streams(TestCase):
    """The same on this machine and over SSH: subclasses say how a job is run."""

    def job(self, np, *argv, **kw):
        raise NotImplementedError

    def popen(self, np, *argv, **kw):
        raise NotImplementedError

    def launcher(self, process):
        """The launcher's pid on this machine."""
        raise NotImplementedError


class Contract:
    def test_no_line_is_lost_or_torn_or_out_of_order(self):
        done = self.job(8, PROBE, "lines", COUNT, LONGEST, binary=True)
        self.assertEqual(done.returncode, 0, done.stderr[-1000:])
        for name, merged in (("out", done.stdout), ("err", done.stderr)):
            checked = run([PROBE, "check", "8", str(COUNT), str(LONGEST), name], input=merged)
            self.assertEqual((checked.returncode, checked.stderr), (0, ""), name)

    def test_long_lines_stay_whole(self):
        script = "head -c $((60000 + RANK)) /dev/zero | tr '\\0' \"$RANK\"; echo"
        done = self.job(4, "sh", "-c", script)
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"[{r}] " + str(r) * (60000 + r) for r in range(4)])

    def test_streams_stay_apart(self):
        done = self.job(2, "sh", "-c", "echo out $RANK; echo err $RANK >&2")
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0] out 0", "[1] out 1"])
        self.assertEqual(sorted(ln for ln in done.stderr.splitlines() if not ln.startswith("sml-run: ")),
                         ["[0] err 0", "[1] err 1"])

    def test_a_last_line_without_an_end(self):
        done = self.job(3, "sh", "-c", "printf 'a\\nlast'")
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"[{r}] {w}" for r in range(3) for w in ("a", "last")])

    def test_empty_lines_and_carriage_returns(self):
        done = self.job(2, "printf", "\\n\\na\\r\\nb\\n")
        self.assertEqual(by_rank(done.stdout.replace("\r\n", "^\n")), {r: ["", "", "a^", "b"] for r in (0, 1)})

    def test_one_worker_is_passed_through_untouched(self):
        data = bytes(range(256)) * 500 + b"no end"
        done = self.job(1, "cat", input=data, binary=True)
        self.assertEqual((done.returncode, done.stdout), (0, data))

    def test_no_tag(self):
        done = self.job(4, "echo", "same", options=["--no-tag"])
        self.assertEqual(done.stdout, "same\n" * 4)

    def test_output_comes_while_the_worker_runs(self):
        with self.popen(2, "sh", "-c", "echo first; exec sleep 600") as job:
            seen = job.read_until("[0] first\n", 20)
            if b"[1] first\n" not in seen:
                job.read_until("[1] first\n", 20)
            job.send_signal(signal.SIGTERM)
            self.assertEqual(job.finish(10).returncode, 143)

    def test_a_slow_reader_slows_the_workers_and_fills_no_memory(self):
        with self.popen(4, "seq", 10**9) as job:
            taken, pid = job.read_until("\n", 20), self.launcher(job)
            for _ in range(40):  # a reader of about a megabyte a second
                taken += os.read(job.stdout.fileno(), 65536)
                poll(lambda: False, 0.04)
            self.assertLess(peak_memory_mb(pid), 48)
            self.assert_ends_with_its_reader(job)
        for rank, lines in by_rank(taken[:taken.rindex(b"\n")].decode()).items():
            self.assertEqual(lines, [str(i + 1) for i in range(len(lines))], rank)  # nothing was left out

    def assert_ends_with_its_reader(self, job):
        """As `seq | head` does: without a word."""
        job.stdout.close()
        self.assertTrue(poll(lambda: job.poll() is not None, 10))
        self.assertEqual(job.returncode, 141)
        self.assertNotRegex(job.stderr.read().decode(), r"(?m)^sml-run: (?!\d+ ranks? on )")

    def test_a_reader_that_goes_away_ends_the_job(self):
        with self.popen(4, PROBE, "flood") as job:
            head = subprocess.Popen(["head", "-1"], stdin=job.stdout, stdout=subprocess.PIPE)
            job.stdout.close()
            line = head.communicate(timeout=20)[0]
            self.assert_ends_with_its_reader(job)
        self.assertRegex(line, rb"^\[\d\] a line of a hundred")

    def test_an_error_reader_that_goes_away_does_not_hold_the_job(self):
        script = "head -c 5000000 /dev/zero | tr '\\0' '\\n' >&2; exit $((RANK * 3))"
        with self.popen(2, "sh", "-c", script, stdout=subprocess.DEVNULL) as job:
            for _ in range(5):
                os.read(job.stderr.fileno(), 65536)
                poll(lambda: False, 0.04)
            job.stderr.close()
            self.assertTrue(poll(lambda: job.poll() is not None, 10))
            self.assertEqual(job.returncode, 3)

    def test_a_failure_is_seen_behind_a_flood(self):
        script = f"test $RANK = 3 || exec {PROBE} flood; sleep .3; echo last words >&2; exit 6"
        with self.popen(4, "sh", "-c", script, stdout=subprocess.DEVNULL) as job:
            done = job.finish(20)
        self.assertEqual(done.returncode, 6, done.stderr[-1000:])
        self.assertIn("[3] last words\n", done.stderr)

    def test_standard_input_goes_to_rank_0(self):
        script = "test -t 0 && echo terminal; cat | tr a-z A-Z"
        done = self.job(3, "sh", "-c", script, input="only for\nthe first\n")
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {0: ["ONLY FOR", "THE FIRST"]})

    def test_ten_megabytes_of_input(self):
        data = random.Random(1).randbytes(10 << 20)
        done = self.job(1, "sh", "-c", "cat; sha256sum </dev/null >&2", input=data, binary=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(hashlib.sha256(done.stdout).hexdigest(), hashlib.sha256(data).hexdigest())

    def test_input_that_nobody_reads(self):
        done = self.job(2, "sh", "-c", "exit 0", input="x" * (1 << 20))
        self.assert_status(done, 0)

    def test_no_input(self):
        done = self.job(2, "sh", "-c", "cat; readlink /proc/self/fd/0")
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout)[1], ["/dev/null"])

    def test_input_that_stays_open(self):
        with self.popen(2, "true", stdin=subprocess.PIPE) as job:
            self.assertEqual(job.wait(20), 0)


class OnThisMachine(Contract, Streams):
    def job(self, np, *argv, options=(), **kw):
        return sml_run("-np", str(np), *options, *map(str, argv), **kw)

    def popen(self, np, *argv, options=(), **kw):
        return sml_run_popen("-np", str(np), *options, *map(str, argv), **kw)

    def launcher(self, process):
        return process.pid

    def test_closed_standard_descriptors(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            with self.subTest(closed=closed):
                done = run(["sh", "-c", f'"$@" {closed}', "sh", SML_RUN, "-np", "2", "sh", "-c", "test -e /proc/self/fd/2"])
                self.assertIn(done.returncode, (0, 141), done)


class OverSsh(Contract, Streams):
    @classmethod
    def setUpClass(cls):
        cls.bed = cls.enterClassContext(Testbed())
        cls.bed.up(4)

    def words(self, np, argv, options):
        hosts = ["algo-2", "algo-1", "algo-3", "algo-4"]  # rank 0 is not where the job is started
        slots = (np + 3) // 4
        return ["-np", str(np), "-H", self.bed.hosts(slots, hosts), *options, *map(str, argv)]

    def job(self, np, *argv, options=(), **kw):
        return self.bed.sml_run("algo-1", *self.words(np, argv, options), **kw)

    def popen(self, np, *argv, options=(), **kw):
        return self.bed.sml_run_popen("algo-1", *self.words(np, argv, options), **kw)

    def launcher(self, process):
        with open(f"/proc/{process.pid}/task/{process.pid}/children") as children:
            return int(children.read().split()[0])
