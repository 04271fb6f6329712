"""A stop gives the workers the grace that they were promised, whoever sends what: the table of SIGNALS in sml-run-failures(7)."""
import contextlib
import json
import os
import pathlib
import pty
import shlex
import shutil
import signal
import subprocess
import time
import unittest

from harness import (PYTHON, REPO, SML_RUN, Process, HostsCase, TestCase, Testbed, _descendants, gate, own_processes, popen,
                     scaled, sml_run, sml_run_popen, stays, wait_until)
from jobs import assert_says, heartbeat, insist, sh
from test_dial_in import NoSsh

# Saves on a stop for as long as there is no file "go", and prints meanwhile. What it does it tells by files. Rank 0 ends
# with 3 once there is a file "fail", all when the test has removed their folder.
WORKER = """
import os, signal, sys, time
place, rank = sys.argv[1], os.environ["RANK"]
tell = lambda what: open(f"{place}/{what}-{rank}", "w").close()
there = lambda what: os.path.exists(f"{place}/{what}")
stops = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
def save(signo, frame):
    for one in stops:
        signal.signal(one, signal.SIG_IGN)
    tell("saving")
    while there("") and not there("go"):
        print("saving", flush=True)
        time.sleep(0.01)
    print("saved", flush=True)
    tell("saved")
    os._exit(0)
for one in stops:
    signal.signal(one, save)
tell("ready")
while there("") and not (rank == "0" and there("fail")):
    time.sleep(0.01)
os._exit(3)
"""
# Prints as fast as it can, and a megabyte more while it saves.
FLOOD = """
import os, signal, sys
def save(signo, frame):
    for i in range(100):
        os.write(2, b"x" * 9999 + b"\\n")
    open(f"{sys.argv[1]}/saved-{os.environ['RANK']}", "w").close()
    os._exit(0)
signal.signal(signal.SIGTERM, save)
open(f"{sys.argv[1]}/ready-{os.environ['RANK']}", "w").close()
while True:
    os.write(1, b"x" * 9999 + b"\\n")
"""
# Notes the signals that come before a job's end, and ends with 7 once there is a file "fail".
WARNED = """
import os, signal, sys, time
place, rank = sys.argv[1], os.environ["RANK"]
tell = lambda what: open(f"{place}/{what}-{rank}", "w").close()
for one in (signal.SIGUSR1, signal.SIGUSR2):
    signal.signal(one, lambda signo, frame: tell(signal.Signals(signo).name))
tell("ready")
while os.path.exists(place) and not os.path.exists(f"{place}/fail"):
    time.sleep(0.01)
os._exit(7)
"""
TERM = (signal.SIGTERM,)
TWO = (signal.SIGHUP, signal.SIGTERM)
OURS = {"launcher": ("sml-run",), "agent": ("sml-run-agent",), "guardian": ("sml-run-guard",),
        "all": ("sml-run", "sml-run-guard", "sml-run-agent", "python3"), "ours": ("sml-run", "sml-run-guard", "sml-run-agent")}
AN_HOUR = ("--grace", "1h", "--stop-grace", "1h")


class Place:
    """A folder in which workers tell what they do, and are told; the same name on each host."""

    def __init__(self, roots, ranks):
        self.roots, self.ranks = roots, ranks

    def make(self, what):
        for root in self.roots:
            (root / what).touch()

    def told(self, what):
        """The ranks that have told it."""
        return {int(path.name.split("-")[1]) for root in self.roots for path in root.glob(f"{what}-*")}

    def wait(self, what, ranks=None):
        wanted = set(self.ranks if ranks is None else ranks)
        wait_until(lambda: self.told(what) >= wanted, lambda: f"{what}: {self.told(what)} of {wanted}")


def comm(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


class Stops(TestCase):
    def send(self, sender, signals):
        """To all processes of that name, in one moment for each."""
        raise NotImplementedError

    def await_said(self, job, text):
        """What it has said until that comes."""
        said = bytearray()

        def step():
            said.extend(job.errors_so_far())
            return text in said

        wait_until(step, lambda: bytes(said))
        return bytes(said)

    def check_saved(self, place, job, status, ranks=None):
        """All save, have the time for it, and what they print last is printed."""
        ranks = set(place.ranks if ranks is None else ranks)
        place.wait("saving", ranks)
        self.assertEqual(place.told("saved"), set())
        place.make("go")
        done = job.finish()
        if done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL):  # it waits for nobody
            place.wait("saved", ranks)
        elif job.stdout is not None:  # whose end we read
            self.assertLessEqual({f"[{rank}] saved" for rank in ranks}, set(done.stdout.splitlines()), f"\n{done.stderr}")
        self.assertEqual(place.told("saved"), ranks, f"\n{done}")
        if status is not None:
            self.assert_status(done, status)
        return done


class Here(Stops):
    """On this machine."""
    RANKS = 3

    def setUp(self):
        self.place = Place([self.temporary_directory()], range(self.RANKS))

    def words(self, *options, worker=WORKER):
        return [SML_RUN, "-np", str(self.RANKS), *AN_HOUR, *options, PYTHON, "-c", worker, self.place.roots[0]]

    def at_a_terminal(self, *words, **ends):
        """The process, whose session's it is, and our end of it."""
        ours, theirs = pty.openpty()
        ends = {"stdin": theirs, "stdout": theirs, "stderr": theirs, **ends}
        job = self.enterContext(Process(["setsid", "--ctty", *words], start_new_session=False, **ends))
        os.close(theirs)
        return job, ours

    def begin(self, sender, *options):
        """A job that this sender stops by job.stop()."""
        words = self.words(*options)
        if sender == "terminal":  # which is closed
            job, ours = self.at_a_terminal(*words, stderr=subprocess.PIPE)
            job.stop = lambda: os.close(ours)
            return job
        job = self.enterContext(popen(["timeout", "1h", *words] if sender == "timeout" else words))
        job.stop = job.terminate if sender == "timeout" else lambda: self.send(sender, TERM)
        return job

    def start(self, *options, sender="launcher"):
        """The same; its workers run."""
        job = self.begin(sender, *options)
        self.place.wait("ready")
        return job

    def send(self, sender, signals):
        pids = [pid for pid, _ in _descendants(os.getpid()) if comm(pid) in OURS[sender]]
        self.assertGreaterEqual(len(pids), len(OURS[sender]))
        for signo in (signal.SIGSTOP, *signals, signal.SIGCONT) if len(signals) > 1 else signals:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signo)


class Running(Here):
    @gate
    def test_the_launcher(self):
        job = self.start()
        self.send("launcher", TWO)
        self.check_saved(self.place, job, None)

    @gate
    def test_the_agent_or_its_guardian(self):
        for sender in ("agent", "guardian"):
            with self.subTest(sender):
                self.setUp()
                job = self.start()
                self.send(sender, TERM)
                done = self.check_saved(self.place, job, 125)
                self.assertRegex(done.stderr, "its agent was asked to end by SIGTERM")

    @gate
    def test_all_processes_at_once(self):
        job = self.start()
        self.send("all", TERM)
        self.check_saved(self.place, job, 143)

    @gate
    def test_a_notice_before_the_end_ends_nothing(self):
        job = self.enterContext(popen(self.words(worker=WARNED)))
        self.place.wait("ready")
        for signo in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGPWR, signal.SIGXCPU):
            for sender in ("guardian", "agent"):
                self.send(sender, (signo,))
        for signo in (signal.SIGUSR1, signal.SIGUSR2):  # as `scancel --signal USR2` has it
            self.send("all", (signo,))
            self.place.wait(signo.name)
        self.place.make("fail")
        self.assert_status(job.finish(), 7)

    @gate
    def test_workers_that_die_of_the_signal_before_sml_run_has_it(self):
        """A batch system signals all processes of a job, in any order; these do not trap it."""
        with sml_run_popen("-np", "2", "--no-tag", *AN_HOUR, "sh", "-c", "echo $$; exec sleep 600") as job:
            said = b""
            while said.count(b"\n") < 2:
                said += job.read_until("\n")
            for pid in (*map(int, said.split()), job.pid):
                os.kill(pid, signal.SIGTERM)
            done = job.finish()
        self.assert_status(done, 143)
        self.assertIn("sml-run: stopped by SIGTERM\n", done.stderr)

    def test_one_after_the_other(self):
        job = self.start()
        for sender in ("guardian", "agent", "launcher"):
            self.send(sender, TERM)
            self.place.wait("saving")
        self.check_saved(self.place, job, None)

    def test_other_signals_to_the_guardian(self):
        for signo in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=signo.name):
                self.setUp()
                job = self.start()
                self.send("guardian", (signo,))
                self.check_saved(self.place, job, 125)

    def test_timeout(self):
        """It signals its child, and then its group."""
        job = self.start(sender="timeout")
        job.stop()
        self.check_saved(self.place, job, None)

    @gate
    def test_a_closed_terminal(self):
        """The kernel tells the shell and its foreground job, and an interactive shell tells its jobs once more."""
        line = " ".join(map(str, self.words()[:-3])) + f" {self.place.roots[0]}/worker {self.place.roots[0]}\n"
        (self.place.roots[0] / "worker").write_text(WORKER)
        shell, ours = self.at_a_terminal("bash", "--norc", "-i")
        os.write(ours, line.encode())
        self.place.wait("ready")
        os.close(ours)
        self.place.wait("saving")
        shell.wait()
        self.place.make("go")
        wait_until(lambda: not own_processes())
        self.assertEqual(self.place.told("saved"), set(self.place.ranks))

    def test_ctrl_c_at_a_terminal_and_again(self):
        job, ours = self.at_a_terminal(*self.words())
        self.place.wait("ready")
        os.write(ours, b"\x03")
        self.place.wait("saving")
        os.set_blocking(ours, False)
        said = bytearray()

        def is_heard():
            with contextlib.suppress(OSError):
                said.extend(os.read(ours, 65536))
            if b"SIGINT again: the workers are killed at once" not in said:
                os.write(ours, b"\x03")
                return False
            return True

        wait_until(is_heard, lambda: bytes(said))
        os.close(ours)
        self.assertNotEqual(job.wait(), 0)
        self.assertEqual(self.place.told("saved"), set())

    def test_another_process_does_not_insist(self):
        """As a batch script that passes a warning on, and the batch system itself some time later."""
        job = self.start()
        job.send_signal(signal.SIGTERM)
        self.place.wait("saving")
        self.assertTrue(stays(lambda: job.poll() is None))
        subprocess.run(["sh", "-c", f"kill -TERM {job.pid}"], check=True, stdin=subprocess.DEVNULL)
        self.assertTrue(stays(lambda: job.poll() is None))
        done = self.check_saved(self.place, job, 143)
        self.assertNotIn("again: the workers are killed at once", done.stderr)

    @gate
    def test_whoever_insists_kills(self):
        for signo in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=signo.name):
                self.setUp()
                job = self.start()
                job.send_signal(signo)
                self.place.wait("saving")
                insist(job, signo)
                self.assert_status(job.finish(), 128 + signo)
                self.assertEqual(self.place.told("saved"), set())

    def test_another_signal_is_no_repeat(self):
        job = self.start()
        job.send_signal(signal.SIGINT)
        self.place.wait("saving")
        job.send_signal(signal.SIGTERM)
        job.send_signal(signal.SIGHUP)
        self.assertTrue(stays(lambda: job.poll() is None))
        self.check_saved(self.place, job, 130)

    def test_the_command(self):
        env = {"XDG_RUNTIME_DIR": str(self.place.roots[0])}
        job = self.enterContext(popen(self.words(), env=env))
        self.place.wait("ready")
        listed = next(one for one in json.loads(sml_run("ps", "--format", "json", env=env).stdout) if one["pid"] == job.pid)
        stop = self.enterContext(sml_run_popen("stop", listed["id"], env=env))
        self.place.wait("saving")
        job.send_signal(signal.SIGTERM)
        self.assertTrue(stays(lambda: job.poll() is None))
        done = self.check_saved(self.place, job, 143)
        assert_says(self, done, "asked to stop by sml-run stop", "stopping the workers")
        stop.finish()

    @gate
    def test_the_launcher_is_killed(self):
        job = self.start()
        self.send("launcher", (signal.SIGKILL,))
        self.check_saved(self.place, job, -signal.SIGKILL)

    def test_the_launcher_is_killed_when_nobody_reads_what_they_print(self):
        self.enterContext(popen(self.words(worker=FLOOD)))
        self.place.wait("ready")
        wait_until(lambda: all(state == "S" for pid, state in _descendants(os.getpid()) if comm(pid) == "python3"))
        self.send("launcher", (signal.SIGKILL,))
        self.place.wait("saved")


class Stopping(Here):
    """Rank 0 has failed, and the others save."""
    RANKS = 3

    def start(self, *options, sender="launcher"):
        job = super().start(*options, sender=sender)
        self.place.make("fail")
        self.place.wait("saving", (1, 2))
        return job

    @gate
    def test_the_launcher(self):
        job = self.start("--max-restarts", "1")
        self.send("launcher", TWO)
        self.await_said(job, b" joins the stop of the workers that is under way")
        done = self.check_saved(self.place, job, 3, (1, 2))
        self.assertEqual(self.place.told("ready"), {0, 1, 2})
        self.assertNotIn("restart 1 of 1", done.stderr)

    def test_the_longer_time_counts(self):
        """That of a stop by a signal, though the job had begun to stop by itself."""
        grace = scaled(5)
        job = self.start("--grace", f"{grace}s")
        self.send("launcher", TERM)
        self.await_said(job, b" joins the stop")
        time.sleep(1.5 * grace)  # more than they had at first
        self.check_saved(self.place, job, 3, (1, 2))

    def test_the_others(self):
        for sender in ("agent", "guardian", "all"):
            with self.subTest(sender):
                self.setUp()
                job = self.start()
                self.send(sender, TERM)
                self.assertTrue(stays(lambda job=job: job.poll() is None))
                self.check_saved(self.place, job, 3, (1, 2))

    def test_timeout(self):
        job = self.start(sender="timeout")
        job.stop()
        self.await_said(job, b"joins the stop")
        self.check_saved(self.place, job, None, (1, 2))

    def test_a_closed_terminal(self):
        """Nobody takes what the workers print while they save."""
        job = self.start(sender="terminal")
        job.stop()
        self.assertTrue(stays(lambda: job.poll() is None))
        self.check_saved(self.place, job, None, (1, 2))

    def test_whoever_insists_kills(self):
        job = self.start()
        job.send_signal(signal.SIGTERM)
        insist(job, signal.SIGTERM)
        self.assert_status(job.finish(), 3)
        self.assertEqual(self.place.told("saved"), set())

    def test_the_launcher_is_killed(self):
        job = self.start()
        self.send("launcher", (signal.SIGKILL,))
        self.check_saved(self.place, job, -signal.SIGKILL, (1, 2))


class WithoutWorkers(Here):
    RANKS = 2

    def test_between_attempts(self):
        """The next one would come in an hour."""
        for sender, status in (("launcher", 143), ("agent", None), ("guardian", None), ("ours", 143), ("timeout", 143), ("terminal", 129)):
            with self.subTest(sender):
                self.setUp()
                self.place.make("go")
                job = self.start("--max-restarts", "1", "--restart-delay", "1h:1h", sender=sender)
                self.place.make("fail")
                self.place.wait("saved", (1,))
                self.await_said(job, b"restart 1 of 1")
                job.stop()
                done = job.finish()
                if status is not None:
                    self.assert_status(done, status)

    def test_before_the_start(self):
        """The hosts are looked at first, which takes its time."""
        for sender, status in (("launcher", 143), ("agent", 125), ("guardian", 125), ("ours", 143), ("timeout", 143), ("terminal", 129)):
            with self.subTest(sender):
                self.setUp()
                folder = self.place.roots[0]
                look = f"touch {folder}/looks; while test -e {folder}/looks; do sleep .02; done"
                job = self.begin(sender, "--health-check", look)
                wait_until((folder / "looks").exists)
                job.stop()
                done = job.finish()
                self.assert_status(done, status)
                self.assertEqual(self.place.told("ready"), set())
                if sender == "launcher":  # the look was killed, and is no process that could not be
                    self.assertNotIn("could not be ended", done.stderr)


class OnHosts(HostsCase, Stops):
    """Over SSH, two hosts."""
    hosts = 2
    BOTH = ("algo-1", "algo-2")

    def setUp(self):
        self.place = Place([self.bed.path(host, "/run/stops") for host in self.bed.names()], range(4))
        for root in self.place.roots:
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir()
            self.addCleanup(shutil.rmtree, root, ignore_errors=True)

    def start(self, *options):
        job = self.enterContext(self.bed.sml_run_popen("algo-1", "-H", self.bed.hosts(2), *AN_HOUR, *options, PYTHON, "-c",
                                                       WORKER, "/run/stops"))
        self.place.wait("ready")
        return job

    def send(self, sender, signals, hosts=BOTH):
        """The job may end with the processes of the first host; those must be there."""
        for host in hosts:
            pattern = "|".join(OURS[sender])
            sh(self.bed, host, " && ".join(f"pkill -{int(one)} -x '{pattern}'" for one in signals), check=host == hosts[0])

    def test_the_processes_of_one_host(self):
        for sender in ("agent", "guardian"):
            with self.subTest(sender):
                self.setUp()
                job = self.start()
                self.send(sender, TERM, ["algo-2"])
                self.place.wait("saving", (2, 3))
                self.place.make("go")
                done = job.finish()
                self.assert_status(done, 125)
                self.assertEqual(self.place.told("saved"), {0, 1, 2, 3})
                self.assertIn("algo-2: its agent was asked to end by SIGTERM", done.stderr)

    def test_all_processes_of_all_hosts(self):
        job = self.start()
        self.send("all", TERM)
        self.check_saved(self.place, job, 143)

    def test_all_processes_while_it_stops_by_itself(self):
        job = self.start()
        self.place.make("fail")
        self.place.wait("saving", (1, 2, 3))
        self.send("all", TERM)
        self.assertTrue(stays(lambda: job.poll() is None))
        self.check_saved(self.place, job, 3, (1, 2, 3))

    def test_the_launcher_is_killed(self):
        job = self.start(*heartbeat(3)[0])
        self.send("launcher", (signal.SIGKILL,), ["algo-1"])
        self.check_saved(self.place, job, 137)

    def test_between_attempts(self):
        """The next one would come in an hour, and may do without a host that is lost."""
        for sender, hosts in (("launcher", ["algo-1"]), ("agent", ["algo-2"]), ("ours", self.BOTH)):
            with self.subTest(sender):
                self.setUp()
                self.place.make("go")
                job = self.start("--max-restarts", "1", "--restart-delay", "1h:1h")
                self.place.make("fail")
                self.place.wait("saved", (1, 2, 3))
                self.await_said(job, b"restart 1 of 1")
                self.send(sender, TERM, hosts)
                if sender == "agent":
                    self.assertTrue(stays(lambda: job.poll() is None))
                    self.send("launcher", TERM, ["algo-1"])
                self.assert_status(job.finish(), 143)

    def test_before_the_start(self):
        """The hosts are looked at first, which takes its time."""
        look = "touch /run/stops/looks; while test -e /run/stops/looks; do sleep .02; done"
        for sender, hosts, status in (("launcher", ["algo-1"], 143), ("agent", ["algo-2"], 125), ("ours", self.BOTH, 143)):
            with self.subTest(sender):
                self.setUp()
                job = self.enterContext(self.bed.sml_run_popen(
                    "algo-1", "-H", self.bed.hosts(2), *AN_HOUR, "--health-check", look, PYTHON, "-c", WORKER, "/run/stops"))
                wait_until(lambda: all((root / "looks").exists() for root in self.place.roots))
                self.send(sender, TERM, hosts)
                self.assert_status(job.finish(), status)
                self.assertEqual(self.place.told("ready"), set())


class ThatCall(NoSsh, Stops):
    """Hosts that call each other: a platform stops all of them, each by itself."""
    hosts = 3

    def setUp(self):
        self.place = Place([self.bed.path(host, "/run/stops") for host in self.bed.names()], range(self.hosts))
        for root in self.place.roots:
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir()
            self.addCleanup(shutil.rmtree, root, ignore_errors=True)

    def start_workers(self, *options):
        jobs = self.start_all(*AN_HOUR, "--nproc-per-node", "1", *options, PYTHON, "-c", WORKER, "/run/stops")
        self.place.wait("ready")
        return jobs

    def stop(self, *hosts):
        """The job may end with the first one; that must be there."""
        for host in hosts:
            sh(self.bed, host, "pkill -TERM -x sml-run", check=host == hosts[0])

    def check_all_saved(self, jobs, status, ranks=None):
        done = self.check_saved(self.place, jobs[0], status, ranks)
        return [done, *self.ends(jobs[1:], status)]

    @gate
    def test_all_of_them(self):
        jobs = self.start_workers()
        for host in self.bed.names():
            self.stop(host)
        self.place.wait("saving")
        self.assertTrue(stays(lambda: jobs[0].poll() is None))
        self.check_all_saved(jobs, 143)

    def test_the_head_last_and_again_another(self):
        """A further one joins, whenever it comes: of a host that has not been told before, or by another process there."""
        jobs = self.start_workers()
        for host in ("algo-3", "algo-1", "algo-2", "algo-3"):
            self.stop(host)
            self.place.wait("saving")
            self.assertTrue(stays(lambda: jobs[0].poll() is None))
        self.check_all_saved(jobs, 143)

    def test_one_that_insists(self):
        jobs = self.start_workers()
        sh(self.bed, "algo-2", "pid=$(pgrep -x sml-run) && while test -e /proc/$pid/exe && kill -TERM $pid; do sleep .2; done", check=False)
        done = self.ends(jobs, 143)
        assert_says(self, done[0], "host-1 has been asked to stop", "stopping the workers", "SIGTERM again: the workers are killed at once")
        self.assertEqual(self.place.told("saved"), set())

    def test_one_or_all_of_them_while_it_stops_by_itself(self):
        for hosts in (["algo-2"], self.bed.names()):
            with self.subTest(hosts=hosts):
                self.setUp()
                jobs = self.start_workers()
                self.place.make("fail")
                self.place.wait("saving", (1, 2))
                for host in hosts:
                    self.stop(host)
                self.assertTrue(stays(lambda jobs=jobs: jobs[0].poll() is None))
                self.check_all_saved(jobs, 3, (1, 2))

    def test_one_or_all_of_them_between_attempts(self):
        """The next one would come in an hour."""
        for hosts in (["algo-2"], self.bed.names()):
            with self.subTest(hosts=hosts):
                self.setUp()
                self.place.make("go")
                jobs = self.start_workers("--max-restarts", "1", "--restart-delay", "1h:1h")
                self.place.make("fail")
                self.place.wait("saved", (1, 2))
                self.await_said(jobs[0], b"restart 1 of 1")
                self.stop(*hosts)
                self.ends(jobs, 143)

    def test_all_of_them_before_the_start(self):
        """All have called, and the hosts are looked at first, which takes its time."""
        look = "touch /run/stops/looks; while test -e /run/stops/looks; do sleep .02; done"
        jobs = self.start_all(*AN_HOUR, "--nproc-per-node", "1", "--health-check", look, PYTHON, "-c", WORKER, "/run/stops")
        wait_until(lambda: all((root / "looks").exists() for root in self.place.roots))
        self.stop(*self.bed.names())
        self.ends(jobs, 143)
        self.assertEqual(self.place.told("ready"), set())

    @gate
    def test_before_it_has_called(self):
        """The head, which would wait for an hour, hears of it as soon as it is there. The third host never comes."""
        late = self.start(1, *AN_HOUR, "--start-timeout", "1h", "true")
        wait_until(lambda: self.calls("algo-2"))
        self.stop("algo-2")
        head = self.start(0, *AN_HOUR, "--start-timeout", "1h", "true")
        done = self.ends([head, late], 143)
        self.assertIn("host-1 has been asked to stop (SIGTERM)", done[0].stderr)


MISSING = [program for program in ("slurmctld", "slurmd", "sbatch", "munged") if not shutil.which(program)]


@unittest.skipIf(MISSING, f"Slurm's {', '.join(MISSING)} not installed (tests/run installs it)")
class Scancel(Stops):
    """Slurm tells all processes of a job, and kills them half a minute later."""
    hosts = 1

    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(2)
        subprocess.run([REPO / "tests/testbed/slurm-up", "4"], env={**os.environ, "SML_TESTBED": cls.bed.name}, check=True,
                       stdout=subprocess.DEVNULL)

    def setUp(self):
        self.place = Place([self.bed.path(host, "/run/stops") for host in self.bed.names()], range(2))
        for root in self.place.roots:
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir()
            self.addCleanup(shutil.rmtree, root, ignore_errors=True)

    def submit(self, nodes, *options, launcher=(str(SML_RUN), "--host-source", "slurm")):
        words = shlex.join([*launcher, *AN_HOUR, *options, PYTHON, "/run/stops/worker", "/run/stops"])
        for root in self.place.roots:
            (root / "worker").write_text(WORKER)
        script = f"#!/bin/sh\n{words} > /run/stops/out 2>&1\n"
        done = self.bed.exec("head", ["sbatch", "--parsable", f"-N{nodes}", "-n2", "-o", "/run/stops/batch"], input=script)
        self.assert_status(done, 0)
        return done.stdout.strip()

    def wait_until(self, probe):
        wait_until(probe, lambda: self.bed.exec("head", ["sh", "-c", "squeue; sinfo -R; sinfo; cat /run/slurm/slurmctld.log"]))

    def start(self, nodes, *options, **kw):
        job = self.submit(nodes, *options, **kw)
        self.wait_until(lambda: self.place.told("ready") == {0, 1})
        return job

    def printed(self):
        return "".join((root / "out").read_text() for root in self.place.roots if (root / "out").exists())

    def cancel(self, job):
        self.assert_status(self.bed.exec("head", ["scancel", job]), 0)

    def await_end(self, job):
        wait_until(lambda: not self.bed.exec("head", ["squeue", "-h", "-j", job]).stdout.strip())

    def workers(self):
        return sum("/run/stops/worker" in p["cmd"] and "sml-run" not in p["cmd"] and "srun" not in p["cmd"] for p in self.bed.ps())

    def check_cancelled(self, job, ranks):
        self.cancel(job)
        self.place.wait("saving", ranks)
        self.assertTrue(stays(lambda: self.workers() == len(ranks), looks=5))
        self.place.make("go")
        self.await_end(job)
        self.assertEqual(self.place.told("saved"), set(ranks), self.printed())

    def test_running(self):
        self.check_cancelled(self.start(1), (0, 1))

    def test_stopping(self):
        job = self.start(1)
        self.place.make("fail")
        self.place.wait("saving", (1,))
        self.check_cancelled(job, (1,))

    def test_between_attempts(self):
        """The next one would come in an hour. Who is killed later has no last words."""
        self.place.make("go")
        job = self.start(1, "--max-restarts", "1", "--restart-delay", "1h:1h")
        self.place.make("fail")
        self.place.wait("saved", (1,))
        wait_until(lambda: "restart 1 of 1" in self.printed(), self.printed)
        self.cancel(job)
        self.await_end(job)
        self.assertIn("sml-run: stopped by SIGTERM\n", self.printed())

    def test_before_the_start(self):
        """The hosts are looked at first, which takes its time, and what looks gets the signal, too."""
        job = self.submit(1, "--health-check", "touch /run/stops/looks; while test -e /run/stops/looks; do sleep .02; done")
        self.wait_until(lambda: any((root / "looks").exists() for root in self.place.roots))
        self.cancel(job)
        self.await_end(job)
        self.assertRegex(self.printed(), "sml-run: stopped by SIGTERM|--health-check (was killed by SIGTERM|exited with status 143)")
        self.assertEqual(self.place.told("ready"), set())

    def test_on_two_nodes(self):
        self.check_cancelled(self.start(2), (0, 1))

    def test_one_in_each_task_of_a_step(self):
        """Slurm tells each of them, and srun, too."""
        self.check_cancelled(self.start(2, launcher=("srun", str(SML_RUN), "--nproc-per-node", "1")), (0, 1))
