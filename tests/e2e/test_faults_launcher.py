"""Faults of the launcher, and its interruption, as tests/faults.md lists them: status, first words, time, nothing left."""
import json
import signal
import subprocess

from harness import PYTHON, SML_RUN, wait_until
from jobs import PROBE, own_lines, heartbeat
from test_faults import FaultCase


class Launchers(FaultCase):
    def test_stop_signals(self):
        for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=signo.name), self.popen(*self.only(0, "exec sleep 600")) as job:
                self.await_ready(job)
                job.send_signal(signo)
                done = job.finish()
                self.assert_ending(done, 128 + signo, f"stopped by {signo.name}$")
                self.assertIn("press Ctrl-C again" if signo == signal.SIGINT else "send it again", own_lines(done)[0])

    def test_two_interrupts(self):
        with self.popen(PROBE, "ignore-term", "2", options=["--grace", "60s"]) as job:
            self.await_ready(job)
            job.send_signal(signal.SIGINT)
            while b"again" not in job.stderr.readline():  # it has understood the first
                pass
            job.send_signal(signal.SIGINT)
            done = job.finish()
        self.assert_ending(done, 130, "stopped by SIGINT$")

    def test_killed(self):
        for where in ("algo-1", "head"):  # with ranks beside it, and without
            with self.subTest(where=where):
                with self.bed.sml_run_popen(where, *self.words(self.only(0, "sleep 600 & exec sleep 600"), [])) as job:
                    self.await_ready(job)
                    self.signal(where, "KILL")
                    wait_until(lambda: not self.bed.ps(), lambda: self.bed.ps())
                    self.assertEqual(job.finish().returncode, 137)

    def test_stopped_for_longer_than_the_heartbeat(self):
        options, limit = heartbeat(1)
        with self.popen(*self.only(0, "exec sleep 600"), options=options) as job:
            self.await_ready(job)
            self.signal("algo-1", "STOP")

            def left():  # the agent beside it is its to wait for
                return [p for p in self.bed.ps() if p["comm"] != "sml-run" and p["state"] != "Z"]

            wait_until(lambda: not left(), lambda: left())
            self.signal("algo-1", "CONT")
            done = job.finish()
        self.assert_ending(done, 125, rf"(algo-\d|\d hosts): its agent heard nothing from sml-run for {limit}")

    def test_three_hundred_starts_leave_nothing(self):
        script = ('i=0; while [ $i -lt 300 ]; do "$@" || exit 1; i=$((i+1)); done; ls -d /tmp/sml-run-* 2>/dev/null; '
                  "true")
        done = self.bed.exec("algo-1", ["sh", "-c", script, "sh", str(SML_RUN), "-q", "-np", "1", "true"])
        self.assert_ending(done, 0, None)
        self.assertEqual(done.stdout, "")


# Runs on the launcher's host: Ctrl-C at a moment of the start, one report a line, and on when told so.
INTERRUPTER = """
import json, os, random, signal, subprocess, sys, time
sml_run, hosts, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])

def start():
    return subprocess.Popen([sml_run, "-np", "4", "-H", hosts, "sh", "-c", "echo ready; exec sleep 600"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

def undisturbed():
    begin = time.monotonic()
    with start() as job:
        job.stdout.readline()
        took = time.monotonic() - begin
        job.send_signal(signal.SIGINT)
        job.communicate()
    return took

print(os.getpid(), flush=True)
random.seed(3)
span = 1.5 * sorted(undisturbed() for _ in range(5))[2]
for moment in [random.uniform(0, span) for _ in range(runs)]:
    job = start()
    time.sleep(moment)
    job.send_signal(signal.SIGINT)
    sent = time.monotonic()
    out, err = job.communicate(timeout=30)
    row = {"moment": moment, "status": job.returncode, "took": time.monotonic() - sent, "ran": "ready" in out, "stderr": err}
    print(json.dumps(row), flush=True)
    sys.stdin.readline()
"""


class Interruptions(FaultCase):
    hosts = 2

    def left(self, but):
        """Faster than `testbed ps`: what runs on the hosts beside PID 1, sshd and the interrupter."""
        found = []
        for host in self.bed.names():
            for entry in self.bed.path(host, "/proc").iterdir():
                if not entry.name.isdigit() or entry.name == "1" or (host, int(entry.name)) == but:
                    continue
                try:
                    comm = (entry / "comm").read_text().strip()
                except OSError:
                    continue  # gone meanwhile
                if comm != "sshd":
                    found.append((host, entry.name, comm))
        return found

    def test_two_hundred_at_random_moments_of_the_start(self):
        runs, ran = 200, 0
        argv = [PYTHON, "-c", INTERRUPTER, str(SML_RUN), self.bed.hosts(2), str(runs)]
        with self.bed.popen("algo-1", argv, stdin=subprocess.PIPE) as driver:
            me = ("algo-1", int(driver.stdout.readline()))
            for _ in range(runs):
                row = json.loads(driver.stdout.readline() or driver.stderr.read())
                # Before it can know what the signal means it dies of it, as any program does: 130 for a shell.
                self.assertIn(row["status"], (130, -signal.SIGINT), row)
                if row["status"] == 130:
                    self.assertRegex(row["stderr"], r"(?m)^sml-run: stopped by SIGINT$")
                self.assertLess(row["took"], 5, row)
                wait_until(lambda: not self.left(me), lambda: (self.left(me), row))
                ran += row["ran"]
                driver.stdin.write(b"\n")
                driver.stdin.flush()
            self.assertEqual(driver.finish().returncode, 0)
        self.assertTrue(0 < ran < runs, ran)  # from the first instruction to running workers
