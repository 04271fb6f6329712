"""How a job ends: with the true status, and with nothing left on any host whatever died."""
import os
import signal
import subprocess
import tempfile

from harness import SML_RUN, TestCase, Testbed, gate, run, scaled, sml_run, sml_run_popen, wait_until
from jobs import (PROBE, PROBE_WORD, TROUBLE, assert_says, events_in, heartbeat, insist, sh, wait_for_event,
                  wait_for_workers)


class FourHosts(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(4)
        cls.bed.sml_run("algo-1", "-H", cls.bed.hosts(), "true")  # agents are there

    def words(self, options):
        """What ends on no clock: whoever has to be killed, or is lost, is so after an hour, unless a test says otherwise."""
        return ["-np", "8", "-H", self.bed.hosts(2), "--heartbeat-timeout", "1h", "--grace", "1h", *options]

    def job(self, *argv, options=(), **kw):
        return self.bed.sml_run("algo-1", *self.words(options), *argv, **kw)

    def popen(self, *argv, options=(), **kw):
        return self.bed.sml_run_popen("algo-1", *self.words(options), *argv, **kw)

    def await_ready(self, job, count=8):
        seen = b""
        while seen.count(b"ready") < count:
            seen += job.read_until("ready")

    def events(self, host="algo-1"):
        """(options, the file seen from outside)"""
        file = self.bed.path(host, "/run/events")
        self.addCleanup(file.unlink, missing_ok=True)
        return ["--events", "/run/events"], file

    def only(self, rank, what):
        """All ranks wait, one does something."""
        return "sh", "-c", f"test $RANK = {rank} || exec sleep 600; {what}"

    def assert_silent(self):
        wait_until(lambda: not self.bed.ps(), lambda: self.bed.ps())


class Statuses(FourHosts):
    @gate
    def test_success(self):
        done = self.job("true")
        self.assert_status(done, 0)
        assert_says(self, done, never=TROUBLE)

    @gate
    def test_exit_codes(self):
        for rank, code in ((0, 1), (7, 255)):
            with self.subTest(rank=rank, code=code):
                done = self.job(*self.only(rank, f"exit {code}"))
                self.assert_status(done, code)
                host = f"algo-{rank // 2 + 1}"
                assert_says(self, done, rf"^rank {rank} on {host} exited with status {code}\b",
                            f"^exit status {code}, that of rank {rank}, which failed first$")
                self.assertEqual(self.bed.ps(), [])

    @gate
    def test_deaths_by_signal(self):
        for rank, signo, word in ((0, 11, "SIGSEGV"), (3, 9, "SIGKILL")):
            with self.subTest(rank=rank, signo=signo):
                done = self.job(*self.only(rank, f"exec {PROBE_WORD} signal {signo}"))
                self.assert_status(done, 128 + signo)
                assert_says(self, done, rf"^rank {rank} on algo-{rank // 2 + 1} was killed by {word}\b")

    @gate
    def test_the_first_failure_decides(self):
        """The others fail too, when they are stopped; that is not their failure."""
        script = "trap 'exit 9' TERM; test $RANK != 6 || exit 5; while :; do sleep .05; done"
        self.assert_status(self.job("sh", "-c", script), 5)

    @gate
    def test_ranks_that_end_well_do_not_end_the_job(self):
        options, file = self.events()
        self.addCleanup(sh, self.bed, "algo-4", "rm -f /run/go")
        with self.popen("sh", "-c", "test $RANK = 7 || exit 0; until [ -e /run/go ]; do sleep .01; done; echo last; exit 4",
                        options=options) as job:
            for rank in range(7):
                wait_for_event(file, "rank_exit", rank=rank)
            self.bed.put("algo-4", "/run/go", "")
            done = job.finish()
        self.assert_status(done, 4)
        self.assertIn("[7] last\n", done.stdout)

    @gate
    def test_last_words_are_not_lost(self):
        done = self.job(*self.only(5, "i=0; while [ $i -lt 2000 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done; exit 3"))
        self.assert_status(done, 3)
        self.assertEqual(done.stdout.splitlines(), [f"[5] out {i}" for i in range(2000)])
        self.assertEqual([ln for ln in done.stderr.splitlines() if ln.startswith("[5] ")], [f"[5] err {i}" for i in range(2000)])

    def test_on_this_machine(self):
        self.assertEqual(sml_run("-np", "2", "sh", "-c", "exit 9").returncode, 9)
        self.assertEqual(sml_run("-np", "2", PROBE, "signal", "11").returncode, 139)
        self.assertEqual(sml_run("-np", "2", "no-such-program").returncode, 127)
        self.assertEqual(sml_run("-np", "2", "/etc/passwd").returncode, 126)
        self.assertEqual(sml_run("-np", "2", "true").returncode, 0)

    @gate
    def test_a_consequence_is_not_told_as_the_cause(self):
        """Rank 0 only loses its peer, which has said why and is slow to end."""
        with tempfile.TemporaryDirectory() as scratch:
            said = os.path.join(scratch, "said")
            root = f"echo 'ValueError: no such data' >&2; touch {said}; exec sleep 600"
            peer = f"until test -e {said}; do sleep .01; done; echo 'RuntimeError: Connection closed by peer [10.0.0.2]' >&2; exit 1"
            done = sml_run("-np", "2", "sh", "-c", f"if test $RANK = 1; then {root}; fi; {peer}")
        self.assert_status(done, 1)
        assert_says(self, done, "^  probably a consequence: a rank that it worked with has gone$")
        assert_says(self, done, r"^  rank 1 on \S+ had printed: ValueError: no such data")


    @gate
    def test_a_peer_that_is_still_being_torn_down_is_the_cause(self):
        """Rank 0 loses its peer and ends first; the peer ends by itself as soon as the launcher has heard of that, which waits
        for a second."""
        for end, status in (("exit 1", 1), ("kill -ABRT $$", 134)):
            with tempfile.TemporaryDirectory() as scratch:
                events, up = os.path.join(scratch, "events"), os.path.join(scratch, "up")
                root = (f"echo 'ValueError: no such data' >&2; : > {up}; while :; do while read -r line; do case $line in "
                        f"*rank_exit*) exit 3; esac; done < {events}; sleep .01; done")
                peer = (f"until test -e {up}; do sleep .01; done; "
                        f"echo 'RuntimeError: Connection closed by peer [10.0.0.2]' >&2; {end}")
                done = sml_run("--events", events, "-np", "2", "sh", "-c", f"if test $RANK = 1; then {root}; fi; {peer}")
            self.assert_status(done, 3)
            assert_says(self, done, r"^rank 1 on \S+ exited with status 3 ")
            assert_says(self, done, rf"^  then: rank 0 on \S+ .*{'aborted' if status == 134 else 'status 1'}")


class Stopping(FourHosts):
    def check_stopped(self, signo, argv=("sleep", "600"), count=8):
        with self.popen(*argv) as job:
            wait_for_workers(self.bed, " ".join(map(str, argv)), count)
            job.send_signal(signo)
            done = job.finish()
        self.assert_status(done, 128 + signo)
        self.assertEqual(self.bed.ps(), [])
        return done

    @gate
    def test_interrupt(self):
        done = self.check_stopped(signal.SIGINT)
        self.assertIn("press Ctrl-C again", done.stderr)

    @gate
    def test_terminate(self):
        self.check_stopped(signal.SIGTERM)

    def test_hang_up(self):
        self.check_stopped(signal.SIGHUP)

    @gate
    def test_hang_up_under_nohup(self):
        command = ["nohup", str(SML_RUN), "-np", "2", "-H", self.bed.hosts(1), "sh", "-c", "echo ready; read word; echo $word"]
        with self.bed.popen("algo-1", command, stdin=subprocess.PIPE) as job:
            self.assertIn(b"[0] ready\n", iter(job.stdout.readline, b""))
            sh(self.bed, "algo-1", "pkill -HUP -x sml-run")
            job.stdin.write(b"went on\n")
            done = job.finish()
        self.assert_status(done, 0)
        self.assertIn("[0] went on", done.stdout)

    @gate
    def test_stopped_workers_end_too(self):
        with self.popen(PROBE, "stop") as job:
            wait_until(lambda: sum(p["state"] == "T" for p in self.bed.ps()) == 8)
            job.send_signal(signal.SIGTERM)
            self.assert_status(job.finish(), 143)

    @gate
    def test_workers_may_take_their_leave(self):
        script = "trap 'sleep .3; echo saved; exit 0' TERM; echo ready; while :; do sleep .05; done"
        with self.popen("sh", "-c", script) as job:
            self.await_ready(job)
            job.send_signal(signal.SIGTERM)
            done = job.finish()
        self.assert_status(done, 143)
        self.assertEqual(done.stdout.count("saved"), 8)

    def start_stubborn(self, *options):
        job = self.popen(PROBE, "ignore-term", "2", options=options)
        self.await_ready(job)
        return job

    @gate
    def test_the_second_interrupt_kills_at_once(self):
        with self.start_stubborn() as job:
            job.send_signal(signal.SIGINT)
            stderr = b""
            while b"again" not in stderr:  # it has understood the first
                stderr += job.stderr.readline()
            wait_for_workers(self.bed, "ignore-term", 8)  # unmoved
            insist(job, signal.SIGINT)
            done = job.finish()
        self.assert_status(done, 130)
        self.assertEqual(self.bed.ps(), [])

    @gate
    def test_who_ignores_term_is_killed_after_the_grace(self):
        """And not at once. How exactly the grace is kept is a matter of unit tests: here the clocks of two hosts are compared,
        and their distance is known as well as half of the shortest round trip."""
        options, file = self.events()
        with self.start_stubborn("--grace", f"{scaled(2)}s", *options) as job:
            job.send_signal(signal.SIGTERM)
            done = job.finish()
        self.assert_status(done, 143)
        self.assertEqual(self.bed.ps(), [])
        events = events_in(file)
        asked = next(e["t"] for e in events if e["event"] == "stop")
        killed = [e for e in events if e["event"] == "rank_exit"]
        self.assertEqual({e["status"]["signal"] for e in killed}, {signal.SIGKILL})
        self.assertGreater(min(e["t"] for e in killed) - asked, scaled(1))

    @gate
    def test_a_failure_among_the_stubborn(self):
        script = f"test $RANK != 5 || {{ until [ -e /run/go ]; do sleep .01; done; exit 7; }}; exec {PROBE_WORD} ignore-term"
        self.addCleanup(sh, self.bed, "algo-3", "rm -f /run/go")
        with self.popen("sh", "-c", script, options=["--grace", "500ms"]) as job:
            self.await_ready(job, 7)
            self.bed.put("algo-3", "/run/go", "")
            done = job.finish()
        self.assert_status(done, 7)
        self.assertEqual(self.bed.ps(), [])

    @gate
    def test_other_signals_are_passed_on(self):
        script = "trap 'echo got it; exit 0' USR1; echo ready; while :; do sleep .05; done"
        with self.popen("sh", "-c", script) as job:
            self.await_ready(job)
            job.send_signal(signal.SIGUSR1)
            done = job.finish()
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.count("got it"), 8)


class Memory(TestCase):
    COUNTER = "/sys/fs/cgroup/memory.events"  # in a mount of our own
    ROSE = f"oom_kill in {COUNTER} rose from 0 to 1"

    def run_where_the_kernel_kills(self, script):
        """Both ranks run the script, which may let the counter rise."""
        words = ["unshare", "-m", "sh", "-ec", f"mount -t tmpfs none /sys/fs/cgroup; echo oom_kill 0 > {self.COUNTER}; exec \"$@\"",
                 "sh", SML_RUN, "-np", "2", "sh", "-c", script]
        return run(words)

    def test_a_data_loader_that_the_kernel_has_killed_is_told(self):
        done = self.run_where_the_kernel_kills(f"[ $RANK = 0 ] || exec sleep 3600; echo oom_kill 1 > {self.COUNTER}; "
                                               "echo DataLoader worker is killed; exit 1")
        self.assert_status(done, 1)
        assert_says(self, done, f"^  the kernel killed for lack of memory on that host: {self.ROSE}$", never="data loader has gone")

    def test_one_that_no_rank_has_failed_for_is_told_once(self):
        done = self.run_where_the_kernel_kills(f"[ $RANK = 1 ] || echo oom_kill 1 > {self.COUNTER}")
        self.assert_status(done, 0)
        assert_says(self, done, rf"^\S+: the kernel killed processes for lack of memory while the workers ran \({self.ROSE}\)")
        self.assertEqual(done.stderr.count("lack of memory"), 1)


class NothingLeft(FourHosts):
    @gate
    def test_the_launcher_is_killed(self):
        with self.popen("sh", "-c", "sleep 600 & exec sleep 600") as job:
            wait_for_workers(self.bed, "sleep 600", 16)
            sh(self.bed, "algo-1", "pkill -KILL -x sml-run")
            self.assert_silent()
            self.assertEqual(job.finish().returncode, 137)

    def test_the_launcher_is_killed_and_workers_ignore_term(self):
        with self.popen(PROBE, "ignore-term", options=["--grace", "1s"]) as job:
            wait_for_workers(self.bed, "ignore-term", 8)
            sh(self.bed, "algo-1", "pkill -KILL -x sml-run")
            self.assert_silent()
            job.finish()

    @gate
    def test_an_agent_is_killed(self):
        with self.popen("sh", "-c", "sleep 600 & exec sleep 600") as job:
            wait_for_workers(self.bed, "sleep 600", 16)
            sh(self.bed, "algo-3", "pkill -KILL -x sml-run-agent")
            done = job.finish()
        self.assert_status(done, 125)
        assert_says(self, done, "^algo-3: ")
        self.assert_silent()

    def test_the_agent_here_is_killed(self):
        with self.popen("sleep", "600") as job:
            wait_for_workers(self.bed, "sleep 600", 8)
            sh(self.bed, "algo-1", "pkill -KILL -x sml-run-agent")
            done = job.finish()
        self.assert_status(done, 125)
        self.assert_silent()

    @gate
    def test_an_ssh_session_is_killed_and_nobody_let_in(self):
        """So that the connection cannot be made again; see test_links.py for when it can."""
        listener = "^sshd: .*listener"
        self.addCleanup(sh, self.bed, "algo-3", f"pkill -CONT -f '{listener}'")
        with self.popen("sleep", "600") as job:
            wait_for_workers(self.bed, "sleep 600", 8)
            sh(self.bed, "algo-3", f"pkill -STOP -f '{listener}'; pkill -KILL -f '^sshd: root'")
            done = job.finish()
        self.assert_status(done, 125)
        assert_says(self, done, "^algo-3: ")
        self.assert_silent()

    def check_daemons(self, *words, status=0):
        done = self.job(PROBE, "daemon", *words)
        self.assert_status(done, status)
        self.assertEqual(done.stdout.count("daemon runs"), 8)
        self.assertEqual(self.bed.ps(), [])
        return done

    @gate
    def test_daemons_that_have_left_everything(self):
        self.check_daemons("closed")

    @gate
    def test_daemons_of_a_worker_that_fails(self):
        done = self.job("sh", "-c", f"{PROBE_WORD} daemon closed; test $RANK != 5 || exit 7; sleep 600")
        self.assert_status(done, 7)
        self.assertEqual(self.bed.ps(), [])

    def test_daemons_that_hold_the_output(self):
        self.check_daemons("holding")

    @gate
    def test_daemons_when_the_launcher_is_killed(self):
        with self.popen("sh", "-c", f"{PROBE_WORD} daemon closed; sleep 600") as job:
            wait_for_workers(self.bed, "daemon closed", 8 + 8)  # the shells' own command lines, too
            sh(self.bed, "algo-1", "pkill -KILL -x sml-run")
            self.assert_silent()
            job.finish()

    def test_a_host_that_is_lost(self):
        with self.popen("sleep", "600", options=heartbeat(2)[0]) as job:
            wait_for_workers(self.bed, "sleep 600", 8)
            self.bed.kill("algo-4")
            try:
                done = job.finish()
                left = self.bed.ps("algo-1", "algo-2", "algo-3")
            finally:
                self.bed.start("algo-4")
        self.assert_status(done, 125)
        self.assertEqual(left, [])
        assert_says(self, done, "^algo-4: ")

    def test_a_host_that_is_cut_off_cleans_up_by_itself(self):
        with self.popen("sleep", "600", options=heartbeat(2)[0]) as job:
            wait_for_workers(self.bed, "sleep 600", 8)
            self.bed.cut("algo-4")
            try:
                done = job.finish()
                self.assert_silent()
            finally:
                self.bed.heal("algo-4")
        self.assert_status(done, 125)

    def test_on_this_machine(self):
        for words in (("closed",), ("holding",)):
            done = sml_run("-np", "2", PROBE, "daemon", *words)
            self.assert_status(done, 0)
        with sml_run_popen("-np", "2", "--grace", "1s", PROBE, "ignore-term") as job:
            job.read_until("ready")
            job.kill()
        # TestCase finds what is left
