"""What the ranks have cost: --report, --events and --timeline."""
import json
import os
import tempfile
import unittest

from harness import PYTHON, TestCase, gate, sml_run, sml_run_popen, wait_until

# Burns CPU time, holds memory and writes, in a process of its own for rank 1; prints what the kernel says of it.
WORKER = """
import os, sys, time
if os.environ["RANK"] == "1" and not sys.argv[2:]:
    sys.exit(os.spawnv(os.P_WAIT, sys.executable, [sys.executable, __file__, sys.argv[1], "again"]))
held = bytearray(96 << 20)
with open(f"{sys.argv[1]}/out{os.environ['RANK']}", "wb") as out:
    out.write(bytes(4 << 20))
    out.flush()
    os.fsync(out.fileno())
while time.process_time() < 0.4:
    pass
wrote = [line.split()[1] for line in open("/proc/self/io") if line.startswith("write_bytes")]
print("wrote", *wrote)
sys.exit(3 if os.environ["RANK"] == "0" else 0)
"""


class Usage(TestCase):
    @gate
    def test_report_and_events_tell_it_exactly(self):
        top = self.temporary_directory()
        (top / "worker.py").write_text(WORKER)
        done = sml_run("-np", "2", "--on-failure", "continue", "--report", top / "report", "--events", top / "events",
                       PYTHON, top / "worker.py", top)
        self.assert_status(done, 3)
        ranks = json.loads((top / "report").read_text())["ranks"]
        exits = [e for e in map(json.loads, (top / "events").read_text().splitlines()) if e["event"] == "rank_exit"]
        wrote = dict(line.replace("[", "").replace("]", "").split(" wrote ") for line in done.stdout.splitlines())
        for rank in ranks:
            used = rank["usage"]
            with self.subTest(rank=rank["rank"]):
                self.assertTrue(0.4 <= used["user_s"] + used["system_s"] < 40, used)
                self.assertTrue(96 << 20 <= used["peak_memory_bytes"] < 300 << 20, used)
                self.assertGreaterEqual(used["written_bytes"], int(wrote[str(rank["rank"])]))
                self.assertLess(used["written_bytes"], int(wrote[str(rank["rank"])]) + (4 << 20))
                self.assertIn(used, [e["usage"] for e in exits if e["rank"] == rank["rank"]])

    def test_a_rank_that_never_ran_has_none(self):
        report = self.temporary_directory() / "report"
        self.assert_status(sml_run("-np", "1", "--report", report, "/nonexistent/program"), 127)
        self.assertIsNone(json.loads(report.read_text())["ranks"][0]["usage"])

    def test_memory_of_the_host_is_looked_at_while_workers_run(self):
        top = self.temporary_directory()
        hold = "held = bytearray(1); import sys; held = b'x' * (700 << 20); print('held', flush=True); sys.stdin.read()"
        total = int(open("/proc/meminfo").read().split()[1]) * 1024
        with sml_run_popen("-np", "1", "--report", top / "report", "--timeline", top / "job.html", PYTHON, "-c", hold, stdin=-1) as job:
            job.read_until("held")
            at_start = wait_until(lambda: self.status(job)["memory_used_bytes"])
            wait_until(lambda: abs(self.status(job)["memory_used_bytes"] - self.used()) < total / 20)
            self.assertGreater(at_start, 0)
            job.stdin.close()
            job.stdin = None
            self.assert_status(job.finish(), 0)
        [host] = json.loads((top / "report").read_text())["hosts"]
        self.assertEqual(host["usage"]["memory_bytes"], total)
        self.assertGreater(host["usage"]["peak_memory_used_bytes"], 600 << 20)
        self.assertIn(f",{total}]", (top / "job.html").read_text())

    @gate
    def test_free_space_of_the_working_directory(self):
        of_files = os.statvfs("/dev/shm")
        size = of_files.f_blocks * of_files.f_frsize
        self.assertNotEqual(size, os.statvfs("/").f_blocks * os.statvfs("/").f_frsize)
        held = self.enterContext(tempfile.TemporaryFile(dir="/dev/shm"))
        os.posix_fallocate(held.fileno(), 0, 64 << 20)
        with sml_run_popen("-np", "1", "--wdir", "/dev/shm", PYTHON, "-c", "print('up', flush=True); input()", stdin=-1) as job:
            job.read_until("up")
            host = self.status(job)
            self.assertEqual(host["disk_bytes"], size)
            self.assertLessEqual(host["disk_free_bytes"], size - (64 << 20))
            self.assertLess(abs(host["disk_free_bytes"] - os.statvfs("/dev/shm").f_bavail * of_files.f_frsize), size / 4)
            self.assertEqual((host["shm_bytes"], host["shm_free_bytes"] <= size - (64 << 20)), (size, True), host)
            self.assertRegex(sml_run("status", self.name_of(job)).stdout,
                             r"localhost .* disk [0-9.]+ [KMGT]iB free, /dev/shm [0-9.]+ [KMGT]iB free\n")

    def test_it_is_not_looked_at_where_nobody_wants_it(self):
        report = self.temporary_directory() / "report"
        self.assert_status(sml_run("-np", "1", "--no-usage", "--report", report, "true"), 0)
        self.assertEqual(json.loads(report.read_text())["hosts"], [{"host": "localhost", "usage": None}])

    def used(self):
        rows = dict(line.split(":") for line in open("/proc/meminfo"))
        return (int(rows["MemTotal"].split()[0]) - int(rows["MemAvailable"].split()[0])) * 1024

    def name_of(self, job):
        [name] = wait_until(lambda: [one["id"] for one in json.loads(sml_run("ps", "--format", "json").stdout) if one["pid"] == job.pid])
        return name

    def status(self, job):
        return json.loads(sml_run("status", self.name_of(job), "--format", "json").stdout)["on_hosts"][0]


if __name__ == "__main__":
    unittest.main()
