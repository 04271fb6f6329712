"""How workers are told that they are to end: --stop-signal, --signal-target, --checkpoint-signal."""
import json
import re
import signal
import subprocess

from harness import PYTHON, HostsCase, TestCase, gate, scaled, sml_run, sml_run_popen

# Tells each signal that it gets. What it does on them is in its arguments: "USR1=7" ends with 7, "USR1=" goes on. The
# rank that FAILS names ends with 3 once the word "go" has come, in the first attempt. With CHILD it has a process of
# its group that tells, too, but ends on no signal; with CHILD=first the worker goes on only when that has told.
WORKER = """
import os, signal, sys, time
rank, who = os.environ["RANK"], "worker"
deeds = dict(word.split("=") for word in sys.argv[1:])
def on_signal(signo, frame):
    name = signal.Signals(signo).name[3:]
    os.write(1, f"{who} got {name}\\n".encode())
    if who == "child":
        os.write(told, b"x")
    elif os.environ.get("CHILD") == "first":
        os.read(ready, 1)
    if who == "worker" and deeds[name]:
        os.write(1, b"saved\\n")
        os._exit(int(deeds[name]))
for name in deeds:
    signal.signal(getattr(signal, "SIG" + name), on_signal)
if "CHILD" in os.environ:
    ready, told = os.pipe()
    if os.fork() == 0:
        who = "child"
        os.write(told, b"x")
        while True:
            time.sleep(1)
    os.read(ready, 1)
print("ready", flush=True)
if os.environ.get("FAILS") == rank and os.environ["SML_ATTEMPT"] == "1":
    sys.stdin.readline()
    sys.exit(3)
if os.environ["SML_ATTEMPT"] != "1":
    sys.exit(0)
while True:
    time.sleep(1)
"""


def read_until(job, pattern):
    """What the job prints until the pattern is in it."""
    text = ""
    while not re.search(pattern, text):
        text += job.read_until("\n").decode()
    return text


def start(*words, deeds):
    return sml_run_popen(*words, PYTHON, "-c", WORKER, *deeds, stdin=subprocess.PIPE, stderr=subprocess.STDOUT)


class StopSignals(TestCase):
    DEEDS = ("TERM=1", "USR2=1", "INT=1")

    @gate
    def test_in_the_place_of_term_and_of_no_other(self):
        for signo, word in ((signal.SIGTERM, "USR2"), (signal.SIGINT, "INT")):
            with self.subTest(signal=word), start("-np", "1", "--stop-signal", "USR2", deeds=self.DEEDS) as job:
                read_until(job, "ready\n")
                job.send_signal(signo)
                done = job.finish()
                self.assert_status(done, 128 + signo)
                self.assertEqual(re.findall(r"worker got (\w+)", done.stdout), [word])

    def test_when_another_worker_has_failed(self):
        with start("-np", "2", "-x", "FAILS=0", "--stop-signal", "INT", deeds=self.DEEDS) as job:
            read_until(job, "(?s)ready\n.*ready\n")
            done = job.finish(input="go\n")
            self.assert_status(done, 3)
            self.assertEqual(re.findall(r"\[1\] worker got (\w+)", done.stdout), ["INT"])


class Targets(TestCase):
    """With a child of the worker in its group, such as a data loader."""

    def told(self, child, *words):
        """Who has been told what, by a signal that is passed on and one that stops the job."""
        with start("-np", "1", "-x", f"CHILD={child}", *words, deeds=("TERM=0", "USR1=")) as job:
            read_until(job, "ready\n")
            job.send_signal(signal.SIGUSR1)
            out = read_until(job, "worker got USR1\n")
            job.send_signal(signal.SIGTERM)
            done = job.finish()
            self.assert_status(done, 143)
        return re.findall(r"(\w+) got (\w+)|(saved)", out + done.stdout)

    @gate
    def test_the_worker_alone(self):
        told = self.told("1", "--signal-target", "worker")
        self.assertEqual(told[:3], [("worker", "USR1", ""), ("worker", "TERM", ""), ("", "", "saved")])
        self.assertNotIn(("child", "USR1", ""), told)

    @gate
    def test_the_group_by_default(self):
        told = self.told("first", "--grace", "1h")
        # The child gets TERM once more if it outlives the worker: what is left of a group is ended.
        self.assertEqual(set(told), {("", "", "saved"), *[(who, signo, "") for who in ("child", "worker")
                                                           for signo in ("TERM", "USR1")]})
        self.assertEqual(told.count(("worker", "TERM", "")), 1)


class Checkpoints(TestCase):
    SAVE = ("USR1=0", "TERM=0")
    GO_ON = ("USR1=", "TERM=0")

    def failing(self, *words, deeds):
        """A job of three whose rank 0 is about to fail."""
        job = start("-np", "3", "-x", "FAILS=0", *words, deeds=deeds)
        read_until(job, "(?s)ready\n.*ready\n.*ready\n")
        job.stdin.write(b"go\n")
        job.stdin.flush()
        return job

    @gate
    def test_the_others_save_when_one_has_failed(self):
        with self.failing("--checkpoint-signal", "USR1,1h", deeds=self.SAVE) as job:
            done = job.finish()
        self.assert_status(done, 3)
        self.assertIn("sml-run: the workers get SIGUSR1 and up to 60 min to save what they have and end "
                      "(--checkpoint-signal)\n", done.stdout)
        self.assertEqual(re.findall(r"got (\w+)", done.stdout), ["USR1"] * 2)
        self.assertEqual(done.stdout.count("saved\n"), 2)

    def test_who_goes_on_is_stopped_when_the_time_is_over(self):
        events = self.temporary_directory() / "events"
        with self.failing("--checkpoint-signal", "USR1,4s", "--events", events, deeds=self.GO_ON) as job:
            done = job.finish()
        self.assert_status(done, 3)
        self.assertEqual(re.findall(r"\[1\] worker got (\w+)", done.stdout), ["USR1", "TERM"])
        happened = [json.loads(line) for line in events.read_text().splitlines()]
        stop = next(e["t"] for e in happened if e["event"] == "stop")
        ends = [e["t"] for e in happened if e["event"] == "rank_exit" and e["rank"] != 0]
        # The agent's clock is known as well as half of the shortest round trip.
        self.assertGreater(min(ends), stop + 1, "not before the time is over")

    @gate
    def test_who_does_not_handle_it_is_ended_and_has_not_failed(self):
        with self.failing("--checkpoint-signal", "USR2,1h", deeds=self.SAVE) as job:
            done = job.finish()
        self.assert_status(done, 3)
        self.assertNotIn("SIGUSR2 after", done.stdout)

    @gate
    def test_the_next_attempt_begins_when_all_have_saved(self):
        with self.failing("--checkpoint-signal", "USR1,1h", "--max-restarts", "1", deeds=self.SAVE) as job:
            done = job.finish()
        self.assert_status(done, 0)
        before, after = done.stdout.split("restart 1 of 1 now\n")
        self.assertEqual((before.count("saved\n"), after.count("ready\n")), (2, 3))

    @gate
    def test_a_stop_by_the_user_ends_the_time_and_the_job(self):
        with self.failing("--checkpoint-signal", "USR1,1h", "--max-restarts", "5", deeds=self.GO_ON) as job:
            read_until(job, "(?s)worker got USR1\n.*worker got USR1\n")
            job.send_signal(signal.SIGTERM)
            done = job.finish()
        self.assert_status(done, 3)
        self.assertEqual(done.stdout.count("worker got TERM\n"), 2)
        self.assertNotIn("restart", done.stdout)

    @gate
    def test_a_stop_by_the_user_has_no_such_time(self):
        with start("-np", "1", "--checkpoint-signal", "USR1,1h", deeds=self.SAVE) as job:
            read_until(job, "ready\n")
            job.send_signal(signal.SIGTERM)
            done = job.finish()
        self.assert_status(done, 143)
        self.assertEqual(re.findall(r"got (\w+)", done.stdout), ["TERM"])

    def test_when_the_time_of_the_job_is_over(self):
        done = sml_run("-np", "1", "--timeout", f"{scaled(10)}s", "--checkpoint-signal", "USR1,1h", PYTHON, "-c", WORKER,
                       *self.SAVE)
        self.assert_status(done, 124)
        self.assertEqual(done.stdout, "ready\nworker got USR1\nsaved\n")
        self.assertLess(done.stderr.index("where the ranks are"), done.stderr.index("get SIGUSR1"))


class LostHosts(HostsCase):
    @gate
    def test_who_is_left_saves(self):
        with self.bed.sml_run_popen("algo-1", "-H", "algo-[1-2]", "--checkpoint-signal", "USR1,1h", PYTHON, "-c",
                                    WORKER, "USR1=0", "TERM=0", stderr=subprocess.STDOUT) as job:
            read_until(job, "(?s)ready\n.*ready\n")
            self.bed.kill("algo-2", fin=True)
            read_until(job, r"\[0\] saved\n")
            self.assert_status(job.finish(), 125)
