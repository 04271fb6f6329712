"""Faults of workers and agents, as tests/faults.md lists them: status, first words, nothing left."""
import contextlib
import fcntl
import importlib
import os
import re
import signal
import subprocess
import unittest

from harness import PYTHON, REPO, SML_RUN, Cgroups, HostsCase, gate, sml_run_popen, stays, wait_until
from jobs import (CACHE, PROBE_WORD, TROUBLE, assert_says, cached_agents, edit_file, heartbeat, own_lines, sh, wait_for_workers)
from test_output import PROC, peak_memory_mb

# What may be said before the report.
NOTES = r"stopping the workers|warning: limits of workers differ|SIG\w+ again: |rank \d+ on \S+ has ended, but something"
# Of the table: a row with its number, and the tests that it names.
ROW = re.compile(r"\| *(\d+) *\|.*\|.*\|.*\|.*\|")  # of a fault
IN_BATCH = re.compile(r"`test_faults_batch\.(\w+)`")
TEST = re.compile(r"`(test_\w+(?:\.\w+)+)`")
CASE = re.compile(r'`(\w+_test\.cc)` ("[^"]+")')


class Table(unittest.TestCase):
    def rows(self):
        return [line for line in (REPO / "tests/faults.md").read_text().splitlines() if ROW.fullmatch(line)]

    def test_every_row_has_a_test(self):
        rows = self.rows()
        self.assertEqual([int(ROW.fullmatch(row)[1]) for row in rows], list(range(1, len(rows) + 1)))
        self.assertGreater(len(rows), 40)
        for row in rows:
            self.assertTrue(TEST.search(row.rsplit("|", 2)[1]), row)

    def test_every_test_of_the_table_exists(self):
        for row in self.rows():
            for name in TEST.findall(row):
                with self.subTest(name):
                    module, case, method = name.split(".")
                    found = getattr(importlib.import_module(module), case)
                    self.assertTrue(issubclass(found, unittest.TestCase))
                    self.assertTrue(callable(getattr(found, method)))
            for file, case in CASE.findall(row):
                with self.subTest(case):
                    self.assertIn(f"TEST_CASE({case}", (REPO / "tests/integration" / file).read_text())

    def test_the_classes_of_batch_jobs_are_in_the_table(self):
        batch = importlib.import_module("test_faults_batch")
        cases = [name for name, value in vars(batch).items() if isinstance(value, type) and issubclass(value, unittest.TestCase)]
        self.assertEqual(sorted(set(IN_BATCH.findall((REPO / "tests/faults.md").read_text()))), sorted(cases))


@contextlib.contextmanager
def alone_at_a_limit_of_processes():
    """Such a limit counts the user's processes on the whole machine, of all testbeds: one test at a time comes to it."""
    folder = os.open(os.environ.get("SML_TESTBED_DIR", "/run/sml-testbed"), os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


class FaultCase(HostsCase):
    """Hosts with two ranks each; a fault happens; then all that counts about the end is looked at in one place. It is not
    for the clock that a job ends: silence and grace have an hour, unless a test says otherwise."""

    hosts = 3
    user, env = "root", None  # of the launcher
    events = "/run/events"
    cache = CACHE

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bed.sml_run("algo-1", "-H", cls.bed.hosts(), "true")  # agents are there

    def words(self, argv, options):
        return ["-np", str(2 * self.hosts), "-H", self.bed.hosts(2), "--heartbeat-timeout", "1h", "--grace", "1h", *options,
                *map(str, argv)]

    def job(self, *argv, options=(), **kw):
        return self.bed.sml_run("algo-1", *self.words(argv, options), **kw)

    def popen(self, *argv, options=(), host="algo-1", **kw):
        return self.bed.sml_run_popen(host, *self.words(argv, options), **kw)

    def only(self, rank, what, others="exec sleep 600"):
        """One rank does something, all others wait."""
        return "sh", "-c", f"echo ready; test $RANK = {rank} || {{ {others}; }}; {what}"

    def await_ready(self, job, workers=None):
        seen = b""
        while seen.count(b"ready") < (workers or 2 * self.hosts):
            seen += job.read_until("ready")
        return seen

    def await_go(self, *hosts):
        """Shell that waits for go(); and takes care that the next test has to say it again."""
        for host in hosts:
            self.addCleanup(sh, self.bed, host, "rm -f /run/go")
        return "until [ -e /run/go ]; do sleep .01; done"

    def go(self, *hosts):
        for host in hosts:
            self.bed.put(host, "/run/go", "")

    HOST_OF = {1: "algo-1", 4: "algo-3"}  # of the two ranks that wait for go()

    def waiting(self):
        """{host: pid} of these, once all other ranks have executed a program."""
        return {p["host"]: p["pid"] for p in wait_for_workers(self.bed, "until [ -e", 2)}

    def end_in_turn(self, pids, *ranks):
        """The next is let go when the agent has seen the end of the one before, and after much has been done that is as slow as
        answers are, by which the launcher knows the hosts' clocks."""
        for host in (self.HOST_OF[rank] for rank in ranks):
            self.go(host)
            wait_until(lambda: not self.bed.path(host, f"/proc/{pids[host]}").exists())
            for _ in range(2):
                self.bed.ps()

    def signal(self, host, name, comm="sml-run"):
        sh(self.bed, host, f"pkill -{name} -x {comm}")

    def assert_ending(self, done, status, first, hosts=()):
        """`first`: pattern of the report's first line; None: there is no report. Nothing is left now, not only soon."""
        self.assert_status(done, status)
        lines = [line for line in own_lines(done) if not re.match(NOTES, line)]
        if first is not None:
            at = next((n for n, line in enumerate(lines) if re.match(first, line)), None)
            self.assertIsNotNone(at, f"no line begins with {first!r}\n{done}")
            lines = lines[:at]
        self.assertEqual([line for line in lines if re.search(TROUBLE, line)], [], f"\n{done}")
        self.assert_nothing_runs(hosts)

    def assert_nothing_runs(self, hosts):
        self.assertEqual(self.bed.ps(*hosts), [])


class Workers(FaultCase):
    @gate
    def test_exits(self):
        for code in (42, 255):
            with self.subTest(code=code):
                done = self.job(*self.only(3, f"exit {code}"))
                self.assert_ending(done, code, rf"rank 3 on algo-2 exited with status {code} after \d+\.\d s \(pid \d+\)$")

    def test_fatal_signals(self):
        """An ordinary one and the last; exit_status_test.cc has all."""
        for signo, name in ((signal.SIGBUS, "SIGBUS"), (64, "signal 64")):
            with self.subTest(signo=signo):
                done = self.job(*self.only(3, f"exec {PROBE_WORD} signal {int(signo)}"))
                self.assert_ending(done, 128 + signo, rf"rank 3 on algo-2 was killed by {name}\b")

    def check_order(self, first, second):
        """The launcher stands still while two fail; when it goes on, the news of both is there, that of rank 4 on a slow way
        behind."""
        host = self.HOST_OF
        script = f"echo ready; case $RANK in [14]) {self.await_go(*host.values())}; exit 3$RANK;; esac; exec sleep 600"
        with self.popen("sh", "-c", script) as job:
            self.await_ready(job)
            pids = self.waiting()
            self.addCleanup(self.bed.delay, 0, "algo-3")
            self.bed.delay(800, "algo-3")
            self.signal("algo-1", "STOP")
            self.end_in_turn(pids, first, second)
            self.signal("algo-1", "CONT")
            self.bed.delay(0, "algo-3")
            done = job.finish()
        self.assert_ending(done, 30 + first, rf"rank {first} on {host[first]} exited with status 3{first}\b")
        assert_says(self, done, f"^  then: rank {second} on {host[second]} exited with status 3{second}")
        sh(self.bed, "algo-1", "rm /run/go")
        sh(self.bed, "algo-3", "rm /run/go")

    def test_two_that_fail_at_once(self):
        self.check_order(4, 1)
        self.check_order(1, 4)

    @gate
    def test_one_that_ignores_term(self):
        script = f"test $RANK = 3 || exec {PROBE_WORD} ignore-term; {self.await_go('algo-2')}; exit 7"
        with self.popen("sh", "-c", script, options=["--grace", "500ms"]) as job:
            self.await_ready(job, 5)
            self.go("algo-2")
            done = job.finish()
        self.assert_ending(done, 7, "rank 3 on algo-2 exited with status 7 ")

    @gate
    def test_stopped_ones_when_another_fails(self):
        script = self.only(3, f"{self.await_go('algo-2')}; exit 6", others=f"exec {PROBE_WORD} stop")
        with self.popen(*script) as job:
            wait_until(lambda: sum(p["state"] == "T" for p in self.bed.ps()) == 5)
            self.go("algo-2")
            done = job.finish()  # before the grace is over: they were continued
        self.assert_ending(done, 6, "rank 3 on algo-2 exited with status 6 ")

    @gate
    def test_daemons_that_hold_the_output_of_a_failure(self):
        done = self.job(*self.only(3, f"exec {PROBE_WORD} daemon holding 5"))
        self.assert_ending(done, 5, "rank 3 on algo-2 exited with status 5 ")

    def test_daemons_that_hold_the_output_of_a_success(self):
        done = self.job("sh", "-c", f"test $RANK = 3 || exit 0; exec {PROBE_WORD} daemon holding")
        self.assert_ending(done, 0, None)
        assert_says(self, done, "^rank 3 on algo-2 has ended, but something that it started still holds its output; not waiting "
                                "for it$")

    def test_grandchildren_that_write_on_after_a_failure(self):
        for deaf in ("", "trap '' TERM; "):
            script = self.only(3, deaf + "(while echo more; do :; done) & exit 5")
            with self.subTest(deaf=deaf), self.popen(*script, options=["--grace", "1s"], stdout=subprocess.DEVNULL) as job:
                self.assert_ending(job.finish(), 5, "rank 3 on algo-2 exited with status 5 ")

    def test_grandchildren_that_write_on_after_a_success(self):
        script = "test $RANK = 3 || exit 0; (while echo more; do :; done) & exit 0"
        with self.popen("sh", "-c", script, stdout=subprocess.DEVNULL) as job:
            done = job.finish()
        self.assert_ending(done, 0, None)

    @gate
    def test_closed_output(self):
        for code in (0, 3):
            script = self.only(3, f"exec >&- 2>&-; {self.await_go('algo-2')}; exit {code}", others=f"exit 0")
            with self.subTest(code=code), self.popen(*script) as job:
                wait_for_workers(self.bed, "until [ -e", 1)
                self.assertIsNone(job.poll())  # it has closed its output, not ended
                self.go("algo-2")
                done = job.finish()
                self.assert_ending(done, code, rf"rank 3 on algo-2 exited with status {code} " if code else None)
            sh(self.bed, "algo-2", "rm /run/go")

    @gate
    def test_success_before_the_others(self):
        script = f"test $RANK = 0 && exit 0; {self.await_go(*self.bed.names())}; echo done"
        with self.popen("sh", "-c", script) as job:
            wait_for_workers(self.bed, "until [ -e", 5)  # rank 0 has ended
            self.go(*self.bed.names())
            done = job.finish()
        self.assert_ending(done, 0, None)
        self.assertEqual(done.stdout.count("done"), 5)

    def test_processes_up_to_the_limit(self):
        """A chain of processes, each in a session of its own, deaf to TERM, until no more can be made."""
        self.enterContext(alone_at_a_limit_of_processes())
        chain = ("import os, resource, signal\n"
                 "resource.setrlimit(resource.RLIMIT_NPROC, (250, 250))\n"
                 "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                 "top, made, (r, w) = os.getpid(), 0, os.pipe()\n"
                 "while True:\n"
                 "  try:\n"
                 "    if os.fork():\n"
                 "      if os.getpid() == top: os.read(r, 1); os._exit(5)\n"
                 "      signal.pause()\n"
                 "    os.setsid(); made += 1\n"
                 "  except BlockingIOError: break\n"
                 "print('full after', made, flush=True)\n"
                 "os.write(w, b'x')\n"
                 "signal.pause()\n")
        script = self.only(3, f'exec {PYTHON} -c "$0"')
        done = self.job(*script, chain, user="tester", options=["--grace", "500ms"])
        self.assert_ending(done, 5, "rank 3 on algo-2 exited with status 5 ")
        self.assertRegex(done.stdout, r"(?m)^\[3\] full after \d\d")

    @gate
    def test_no_process_can_be_made_for_a_worker(self):
        """The limit is met while workers are started: those that run already are ended again."""
        self.enterContext(alone_at_a_limit_of_processes())
        edit_file(self, self.bed, "algo-3", "/home/tester/.bashrc", lambda _: "ulimit -u 150\n")
        done = self.bed.sml_run("algo-1", "-H", "algo-1:2,algo-3:200", "sleep", "600", user="tester")
        self.assert_ending(done, 125, r"rank \d+ on algo-3 did not start: cannot make a process: "
                                      r"resource temporarily unavailable \(ulimit -u .*\) \(sleep\)")

    @gate
    def test_a_line_without_an_end(self):
        script = "head -c 200000000 /dev/zero; echo written >&2; exec sleep 600"
        with sml_run_popen("-np", "2", "sh", "-c", script, stdout=subprocess.DEVNULL) as job:
            said = b""
            while said.count(b"written") < 2:
                line = job.stderr.readline()
                self.assertTrue(line, said)
                said += line
            self.assertLess(peak_memory_mb(PROC / str(job.pid)), 48)
            job.send_signal(signal.SIGTERM)
            self.assert_ending(job.finish(), 143, "stopped by SIGTERM$")


class Agents(FaultCase):
    GONE = "its agent has gone before its work was done: "

    @gate
    def test_killed(self):
        for host in ("algo-1", "algo-3"):  # the launcher's own host, and another
            with self.subTest(host=host), self.popen(*self.only(0, "sleep 600 & exec sleep 600")) as job:
                self.await_ready(job)
                self.signal(host, "KILL", "sml-run-agent")
                done = job.finish()
                self.assert_ending(done, 125, f"{host}: {self.GONE}")

    DAEMONS = ("sh", "-c", "setsid sleep 601 & setsid sh -c 'sleep 602 & env -i sleep 603' & echo ready; exec sleep 600")
    GUARDED = "the guardian of its agent was killed; another guards it now"

    def guardians(self, host):
        return {p["pid"] for p in self.bed.ps(host) if p["comm"] == "sml-run-guard" and p["state"] != "Z"}

    def await_another_guardian(self, job, host, before):
        """Until sml-run has told it, in one line, and the new one has its name: before that it has the agent's."""
        said = [""]
        while self.GUARDED not in said[-1]:
            said.append(job.stderr.readline().decode())
            self.assertTrue(said[-1], said)
        self.assertEqual(said[-1], f"sml-run: {host}: {self.GUARDED}\n")
        wait_until(lambda: self.guardians(host) - before, lambda: self.bed.ps(host))

    def kill_guardian(self, job, host):
        before = self.guardians(host)
        self.signal(host, "KILL", "sml-run-guard")
        self.await_another_guardian(job, host, before)

    guarded_anew = ("algo-1", "algo-3")  # the launcher's own host, and another

    @gate
    def test_its_guardian_killed(self):
        """The workers go on, one line tells it, and the job ends with its own status. So it is with the one after it."""
        for host in self.guarded_anew:
            script = self.only(5, f"{self.await_go('algo-3')}; exit 4")
            with self.subTest(host=host), self.popen(*script) as job:
                self.await_ready(job)
                for _ in range(2):
                    self.kill_guardian(job, host)
                self.go("algo-3")
                done = job.finish()
                self.assert_ending(done, 4, "rank 5 on algo-3 exited with status 4 ")
            sh(self.bed, "algo-3", "rm -f /run/go")
        self.bed.assert_clean()

    def test_its_guardian_killed_by_way_of_another_ssh(self):
        """Here the job goes on. A command in the place of SSH does not say that it was the guardian: there the host is lost."""
        for host, status in (("algo-1", 4), ("algo-3", 125)):
            script = self.only(5, f"{self.await_go('algo-3')}; exit 4")
            with self.subTest(host=host), self.popen(*script, options=("--ssh-command", "ssh")) as job:
                self.await_ready(job)
                self.signal(host, "KILL", "sml-run-guard")
                if host == "algo-1":
                    self.go("algo-3")
                self.assert_status(job.finish(), status)
                self.bed.assert_clean()
            sh(self.bed, "algo-3", "rm -f /run/go")

    def test_its_guardian_killed_where_logins_have_become_slow(self):
        """It is not given up as a connection that breaks otherwise, which is not waited for longer than 5.5 s."""
        host, script = "algo-3", self.only(5, f"{self.await_go('algo-3')}; exit 4")
        sh(self.bed, host, "mkfifo /run/door")
        self.addCleanup(sh, self.bed, host, "rm -f /run/slow /run/held; exec 3<>/run/door; echo >&3; rm /run/door")
        edit_file(self, self.bed, host, "/home/root/.bashrc",
                  lambda _: "[ ! -e /run/slow ] || { touch /run/held; read x < /run/door; }\n")
        with self.popen(*script) as job:
            self.await_ready(job)
            before = self.guardians(host)
            self.bed.put(host, "/run/slow", "")
            self.signal(host, "KILL", "sml-run-guard")
            wait_until(lambda: self.bed.path(host, "/run/held").exists() or job.poll() is not None)
            if not stays(lambda: job.poll() is None, 400):
                self.fail(str(job.finish()))
            sh(self.bed, host, "rm /run/slow; echo > /run/door")
            self.await_another_guardian(job, host, before)
            self.go(host)
            done = job.finish()
        self.assert_ending(done, 4, "rank 5 on algo-3 exited with status 4 ")

    def test_its_guardian_killed_and_later_the_agent(self):
        """The new one ends all of the cgroup, and without one what carries the mark of the job."""
        marked = (*self.DAEMONS[:2], self.DAEMONS[2].replace("env -i ", ""))
        for host, user, script in (("algo-1", "root", self.DAEMONS), ("algo-3", "root", self.DAEMONS),
                                   ("algo-1", "tester", marked), ("algo-3", "tester", marked)):
            with self.subTest(host=host, user=user), self.popen(*script, user=user) as job:
                self.await_ready(job)
                self.kill_guardian(job, host)
                self.signal(host, "KILL", "sml-run-agent")
                done = job.finish()
                self.assert_ending(done, 125, f"{host}: {self.GONE}")
            self.bed.assert_clean()
        self.assertEqual(Cgroups.left(), [])

    def kill_with_its_guardian(self, job, host):
        self.await_ready(job)
        # Stopped, neither sees the other's end; the kernel continues a stopped agent whose guardian dies first. The guardian
        # may have been ended, too, when it is its turn.
        sh(self.bed, host, "set -e; pkill -STOP -x 'sml-run-(agent|guard)'; pkill -KILL -x sml-run-agent; "
                           "pkill -KILL -x sml-run-guard || true")
        return job.finish()

    def assert_nothing_left(self, done, host):
        self.assert_ending(done, 125, f"{host}: {self.GONE}")
        self.assertRegex(done.stderr, rf"(?m)^sml-run: {host}: ended [1-9]\d* processes of the job that its agent had left there$")
        self.bed.assert_clean()

    @gate
    def test_killed_with_its_guardian(self):
        """The workers die with them; the launcher comes back for what these had started, and for folder and cgroup."""
        for host in ("algo-1", "algo-3"):
            with self.subTest(host=host), self.popen(*self.DAEMONS) as job:
                self.assert_nothing_left(self.kill_with_its_guardian(job, host), host)
        self.assertEqual(Cgroups.left(), [])

    def test_killed_with_its_guardian_where_there_is_no_cgroup(self):
        """An ordinary user's: what carries the mark of the job is ended, what belongs to another job is not."""
        other = "env SML_MARK=sml0123456789abcdef sleep 604 < /dev/null > /dev/null 2>&1 & echo $!"
        for host in ("algo-1", "algo-3"):
            with self.subTest(host=host), self.popen(*self.DAEMONS, user="tester") as job:
                pid = sh(self.bed, host, other, user="tester").strip()
                done = self.kill_with_its_guardian(job, host)
                sh(self.bed, host, 'kill "$1"', pid)  # fails when it has gone
                wait_until(lambda: self.bed.ps(host) == [], lambda: self.bed.ps(host))
                self.assert_nothing_left(done, host)

    def test_stopped(self):
        for host in ("algo-1", "algo-3"):
            with self.subTest(host=host):
                options, limit = heartbeat(2)
                with self.popen(*self.only(0, "exec sleep 600"), options=options) as job:
                    self.await_ready(job)
                    self.signal(host, "STOP", "sml-run-agent")
                    done = job.finish()
                try:
                    self.assert_ending(done, 125, f"{host}: lost: nothing received for {limit}$",
                                       hosts=[h for h in self.bed.names() if h != host])
                    self.bed.assert_clean()
                finally:
                    sh(self.bed, host, "pkill -CONT -x sml-run-agent", check=False)

    @gate
    def test_out_of_descriptors(self):
        edit_file(self, self.bed, "algo-3", "/home/root/.bashrc", lambda _: "ulimit -n 40\n")
        done = self.bed.sml_run("algo-1", "-H", "algo-1:2,algo-3:30", "sleep", "600")
        self.assert_ending(done, 125, r"rank \d+ on algo-3 did not start: cannot make its pipes: too many open files "
                                      r"\(sleep\)")

    def test_out_of_descriptors_here(self):
        script = 'ulimit -n 40; exec "$@"'
        done = self.bed.exec("algo-1", ["sh", "-c", script, "sh", str(SML_RUN), "-H", "algo-1:30", "sleep", "600"])
        self.assert_ending(done, 125, r"rank \d+ on \S+ did not start: cannot make its pipes: too many open files "
                                      r"\(sleep\)")

    def test_full_disk(self):
        """Where the agent has its files nothing more can be written: the job does not depend on it."""
        self.addCleanup(sh, self.bed, "algo-3", "umount /tmp")
        sh(self.bed, "algo-3", "mount -t tmpfs -o size=64k,mode=1777 tmpfs /tmp")
        script = "cat /dev/zero > /tmp/filler; echo '{}' > $TORCHELASTIC_ERROR_FILE; rm /tmp/filler; exit 4"
        done = self.job(*self.only(5, f"({script}) 2>/dev/null"))
        self.assert_ending(done, 4, "rank 5 on algo-3 exited with status 4 ")

    @gate
    def test_cache_deleted_while_it_runs(self):
        with self.popen(*self.only(5, f"{self.await_go('algo-3')}; exit 4")) as job:
            self.await_ready(job)
            sh(self.bed, "algo-3", f"rm -r {self.cache}")
            self.go("algo-3")
            done = job.finish()
        self.assert_ending(done, 4, "rank 5 on algo-3 exited with status 4 ")
        self.assert_ending(self.job("true"), 0, None)
        self.assertEqual(len(cached_agents(self.bed, "algo-3", self.cache)), 1)
