"""--events: what happens to a job, as JSON Lines, as it happens."""
import datetime
import json
import os
import signal
import subprocess
import time

from harness import REPO, TestCase, Testbed, gate, sml_run, sml_run_popen, wait_until
from jobs import TROUBLE, assert_says, events_in


class LocalJobs(TestCase):
    def setUp(self):
        self.file = self.temporary_directory() / "events"

    @gate
    def test_a_failing_job_from_its_start_to_its_verdict(self):
        before = time.time()
        done = sml_run("-np", "3", "--events", self.file, "sh", "-c",
                       "echo out; [ $RANK = 1 ] && { echo err >&2; exit 7; }; exec sleep 600")
        self.assert_status(done, 7)
        events = events_in(self.file)
        kinds = [e["event"] for e in events]
        self.assertEqual((kinds[0], kinds[-1]), ("job_start", "verdict"))
        for kind, count in {"host_connected": 1, "host_ready": 1, "workers_start": 1, "rank_start": 3, "rank_exit": 3,
                            "rank_output_end": 3, "stop": 1, "host_ended": 1, "verdict": 1}.items():
            self.assertEqual(kinds.count(kind), count, kind)
        exits = {e["rank"]: e for e in events if e["event"] == "rank_exit"}
        self.assertEqual((exits[1]["status"]["exit_code"], exits[1]["stopped_by"]), (7, None))
        self.assertEqual((exits[0]["status"]["signal"], exits[0]["stopped_by"]), (15, "sml-run"))
        ends = {e["rank"]: e for e in events if e["event"] == "rank_output_end"}
        self.assertEqual([ends[1]["stdout_bytes"], ends[1]["stderr_bytes"]], [4, 4])
        self.assertEqual((events[-1]["exit_code"], events[-1]["culprit"]), (7, 1))
        first = datetime.datetime.fromisoformat(events[0]["time"].replace("Z", "+00:00")).timestamp()
        for event in events:
            wall = datetime.datetime.fromisoformat(event["time"].replace("Z", "+00:00")).timestamp()
            self.assertAlmostEqual(wall - first, event["t"], delta=0.001)
        self.assertTrue(before - 1 <= first <= time.time() + 1, events[0])

    @gate
    def test_events_can_be_read_while_the_job_runs(self):
        with sml_run_popen("-np", "2", "--events", self.file, "sh", "-c", "echo up; exec sleep 600") as job:
            job.read_until("up")
            wait_until(lambda: self.file.read_text().count('"rank_start"') == 2)
            job.send_signal(signal.SIGUSR1)  # ends the sleeps, which do not expect it
            self.assertEqual(job.finish().returncode, 128 + signal.SIGUSR1)
        came = [e for e in events_in(self.file) if e["event"] == "signal"]
        self.assertEqual([(e["signal"], e["use"]) for e in came], [("SIGUSR1", "passed_on")])

    @gate
    def test_messages_are_written_without_their_texts_and_can_be_drawn(self):
        done = sml_run("-np", "2", "--trace-protocol", self.file, "-x", "WORD=hunter2", "sh", "-c", "echo $WORD; exit $RANK")
        self.assert_status(done, 1)
        self.assertIn("hunter2", done.stdout)
        text = self.file.read_text()
        self.assertNotIn("hunter2", text)
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)
        names = [m["message"] for m in map(json.loads, text.splitlines())]
        met = [name for name in names if name in ("Hello", "Prepare", "Prepared", "Start", "Started", "Cleared", "Bye")]
        self.assertEqual(met, ["Hello", "Prepare", "Prepared", "Start", "Started", "Cleared", "Bye"])
        drawn = subprocess.run([REPO / "tests" / "protocol_diagram.py", self.file, "localhost"], capture_output=True, text=True,
                               check=True).stdout
        self.assertRegex(drawn, r"sml-run --- Prepare --> localhost\n(.*\n)* +[0-9.]+  sml-run <-- Prepared --- localhost\n")

    def test_a_file_that_cannot_be_written_starts_nothing(self):
        mark = self.file.parent / "started"
        done = sml_run("--events", self.file.parent / "no" / "events", "touch", mark)
        self.assert_status(done, 2)
        self.assertRegex(done.stderr, "--events: cannot open .*/no/events: no such file or directory")
        self.assertFalse(mark.exists())

    def test_two_records_in_one_file_start_nothing(self):
        folder = self.temporary_directory()
        (folder / "there").touch()
        (folder / "link").symlink_to("there")
        for first, second in (("new", "new"), ("there", "link")):
            done = sml_run("--events", folder / first, "--report", folder / second, "echo", "started")
            self.assert_status(done, 2)
            self.assertIn(f"--events: {folder / first} is the file of --report already; give each a file of its own", done.stderr)
            self.assertEqual(done.stdout, "")
        for words in (("--report", "./new", "--events", "new"), ("--report", "new", "--failure-file", folder / "new")):
            done = sml_run(*words, "echo", "started", cwd=folder)
            self.assert_status(done, 2)
            self.assertIn(f"{words[2]}: {words[3]} is the file of --report already", done.stderr)
            self.assertEqual(done.stdout, "")
            (folder / "new").unlink(missing_ok=True)
        for words in (("--report", "new", "--exclude-file", "./new"), ("--report", "new", "--progress-file", folder / "new"),
                      ("--report", "logs/rank.0/stdout", "--log-dir", "logs")):
            (folder / "logs" / "rank.0").mkdir(parents=True, exist_ok=True)
            done = sml_run(*words, "--max-restarts", "1", "echo", "started", cwd=folder)
            self.assert_status(done, 2)
            self.assertRegex(done.stderr, f"{words[2]}: .* is the file of {words[0]} already; give each a file of its own")
            self.assertEqual(done.stdout, "")
        self.assert_status(sml_run("--events", "/dev/null", "--report", "/dev/null", "--failure-file", "/dev/null", "true"), 0)

    @gate
    def test_a_full_disk_is_one_warning(self):
        done = sml_run("-np", "2", "--events", "/dev/full", "echo", "done")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.count("done"), 2)
        self.assertEqual(done.stderr.count("--events: "), 1)
        assert_says(self, done, "^--events: cannot write any more: no space left on device; the job goes on without$", never=TROUBLE)

    def test_a_reader_that_does_not_read_holds_nothing_up(self):
        os.mkfifo(self.file)
        done = sml_run("--events", self.file, "true")
        self.assert_status(done, 2)
        reader = os.open(self.file, os.O_RDONLY | os.O_NONBLOCK)
        try:
            done = sml_run("-np", "1000", "--events", self.file, "true")  # more than the pipe takes
        finally:
            os.close(reader)
        self.assert_status(done, 0)


class ManyHosts(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(3)

    def test_hosts_with_their_steps_and_a_lost_one(self):
        file = self.bed.path("head", "/run/events")
        self.addCleanup(file.unlink, missing_ok=True)
        with self.bed.sml_run_popen("head", "-H", self.bed.hosts(2), "--events", "/run/events",
                                    "--heartbeat-timeout", "1h", "sh", "-c",
                                    "echo up; exec sleep 600", stderr=subprocess.PIPE) as job:
            wait_until(lambda: file.exists() and file.read_text().count('"rank_start"') == 6)
            self.bed.kill("algo-2", fin=True)
            done = job.finish()
        self.addCleanup(self.bed.start, "algo-2")
        self.assert_status(done, 125)
        events = events_in(file)
        connected = {e["host"]: e for e in events if e["event"] == "host_connected"}
        self.assertEqual(sorted(connected), ["algo-1", "algo-2", "algo-3"])
        self.assertEqual(connected["algo-1"]["address"], self.bed.address("algo-1"))
        steps = [e["step"] for e in events if e["event"] == "host_step" and e["host"] == "algo-1"]
        self.assertIn("preparing", steps)
        self.assertEqual(len(steps), len(set(steps)))
        failed = [e for e in events if e["event"] == "host_failed"]
        self.assertEqual([(e["host"], e["kind"]) for e in failed], [("algo-2", "lost")])
        self.assertEqual([e["cause"] for e in events if e["event"] == "stop"], ["host_failed"])
        ended = {e["host"] for e in events if e["event"] == "host_ended"}
        self.assertEqual(ended, {"algo-1", "algo-3"})
        for rank in (e for e in events if e["event"] == "rank_start"):  # the agents' clocks, on ours
            self.assertTrue(0 < rank["t"] < events[-1]["t"], rank)
