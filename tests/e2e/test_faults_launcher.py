"""Faults of the launcher, and its interruption, as tests/faults.md lists them: status, first words, nothing left."""
import signal

from harness import PYTHON, SML_RUN, gate, wait_until
from jobs import PROBE, assert_says, heartbeat, insist, wait_for_event
from test_faults import FaultCase


class Launchers(FaultCase):
    places = ("algo-1", "head")  # of the launcher: with ranks beside it, and without

    @gate
    def test_stop_signals(self):
        for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=signo.name), self.popen(*self.only(0, "exec sleep 600")) as job:
                self.await_ready(job)
                job.send_signal(signo)
                done = job.finish()
                self.assert_ending(done, 128 + signo, f"stopped by {signo.name}$")
                assert_says(self, done, "press Ctrl-C again" if signo == signal.SIGINT else "send it again")

    @gate
    def test_two_interrupts(self):
        with self.popen(PROBE, "ignore-term", "2") as job:
            self.await_ready(job)
            job.send_signal(signal.SIGINT)
            while b"again" not in job.stderr.readline():  # it has understood the first
                pass
            said = insist(job, signal.SIGINT)
            done = job.finish()
            done.stderr = said + done.stderr
        self.assert_ending(done, 130, "stopped by SIGINT$")

    @gate
    def test_killed(self):
        for where in self.places:
            with self.subTest(where=where):
                with self.popen(*self.only(0, "sleep 600 & exec sleep 600"), host=where) as job:
                    self.await_ready(job)
                    self.signal(where, "KILL")
                    wait_until(lambda: not self.bed.ps(), lambda: self.bed.ps())
                    self.assertEqual(job.finish().returncode, 137)

    @gate
    def test_stopped_for_longer_than_the_heartbeat(self):
        options, limit = heartbeat(2)
        with self.popen(*self.only(0, "exec sleep 600"), options=options) as job:
            self.await_ready(job)
            self.signal("algo-1", "STOP")

            def left():  # the agent beside it is its to wait for
                return [p for p in self.bed.ps() if p["comm"] != "sml-run" and p["state"] != "Z"]

            wait_until(lambda: not left(), lambda: left())
            self.signal("algo-1", "CONT")
            done = job.finish()
        self.assert_ending(done, 125, rf"(algo-\d|\d hosts): its agent received nothing from sml-run for {limit}")

    def test_three_hundred_starts_leave_nothing(self):
        script = ('i=0; while [ $i -lt 300 ]; do "$@" || exit 1; i=$((i+1)); done; ls -d /tmp/sml-run-* 2>/dev/null; '
                  "true")
        done = self.bed.exec("algo-1", ["sh", "-c", script, "sh", str(SML_RUN), "-q", "-np", "1", "true"])
        self.assert_ending(done, 0, None)
        self.assertEqual(done.stdout, "")


# Runs on the launcher's host: Ctrl-C at the first instructions of so many starts.
AT_ONCE = """
import signal, subprocess, sys
for _ in range(int(sys.argv[1])):
    job = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    job.send_signal(signal.SIGINT)
    print(job.wait())
"""


class Interruptions(FaultCase):
    hosts = 2
    steps = ("connecting", "authenticating", "starting the agent", "preparing", "ready")

    def assert_nothing_runs(self, hosts):
        """A log-in that is given up has nobody who waits for its end over there."""
        self.bed.assert_clean(hosts=hosts)

    def interrupted(self, event, **fields):
        """Ctrl-C as soon as that of the start is told of."""
        events = self.bed.path("algo-1", self.events)
        self.addCleanup(events.unlink, missing_ok=True)
        with self.popen("sh", "-c", "echo ready; exec sleep 600", options=["--events", self.events]) as job:
            wait_for_event(events, event, **fields)
            job.send_signal(signal.SIGINT)
            done = job.finish()
        events.unlink(missing_ok=True)
        return done

    @gate
    def test_at_moments_of_the_start(self):
        """Random moments are the simulation's."""
        steps = [("host_step", {"host": "algo-2", "step": step}) for step in self.steps]
        for event, fields in (("job_start", {}), *steps,
                              ("workers_start", {}), ("rank_start", {"rank": 3})):
            with self.subTest(event=event, **fields):
                self.assert_ending(self.interrupted(event, **fields), 130, "stopped by SIGINT$")

    def test_before_it_can_know_what_the_signal_means(self):
        """It dies of it then, as any program does, which is 130 for a shell."""
        job = [str(SML_RUN), *self.words(["sleep", "600"], [])]
        done = self.bed.exec("algo-1", [PYTHON, "-c", AT_ONCE, "30", *job], user=self.user, env=self.env)
        self.assert_status(done, 0)
        self.assertLessEqual(set(done.stdout.split()), {"130", str(-signal.SIGINT)})
        self.assert_nothing_runs(())
