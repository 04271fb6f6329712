"""Jobs that hang: where the ranks are, and how such jobs end."""
import contextlib
import json
import pathlib

import schemas
from harness import PYTHON, HostsCase, TestCase, gate, scaled, sml_run, sml_run_popen, wait_until
from jobs import sh

# Ranks but one wait for a word of torch's store, which says none; that one sleeps.
DEADLOCK = """
import os, socket, time
def hold_up():
    time.sleep(600)
def wait_for_others():
    socket.create_connection((os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))).recv(1)
print("ready", os.environ["RANK"], flush=True)
hold_up() if os.environ["RANK"] == "2" else wait_for_others()
"""
FOLDER = "/run/hang"  # has python3 and no tool beside it
SLOW_TOOL = "#!/bin/sh\nexec /bin/sleep 654321\n"


class Stacks(HostsCase):
    hosts = 2

    def setUp(self):
        super().setUp()
        for host in self.bed.names():
            sh(self.bed, host, f"mkdir {FOLDER}; ln -s {PYTHON} {FOLDER}/python3")
            self.addCleanup(sh, self.bed, host, f"rm -r {FOLDER}")

    @contextlib.contextmanager
    def job(self, *words):
        """Three ranks wait for a fourth; with its name, when all have come to rest."""
        with self.bed.sml_run_popen("algo-1", "-H", "algo-[1-2]:2", "-x", f"PATH={FOLDER}", *words,
                                    f"{FOLDER}/python3", "-c", DEADLOCK) as job:
            job.read_until("ready 2\n")
            wait_until(lambda: [p["ranks"] for p in self.ask()["places"]] == ["0-1,3", "2"], lambda: self.ask())
            yield job
            job.terminate()
            job.finish()

    def ask(self):
        done = self.bed.sml_run("algo-1", "stacks", "--format", "json")
        return schemas.checked("stacks", done.stdout) if done.returncode == 0 else {"places": []}

    @gate
    def test_the_odd_rank_is_named_and_where_the_others_wait(self):
        with self.job():
            told = self.ask()
            table = self.bed.sml_run("algo-1", "stacks")
            self.assertEqual([one["host"] for one in told["ranks"]], ["algo-1", "algo-1", "algo-2", "algo-2"])
            self.assertRegex(told["ranks"][3]["where"], r"^recvfrom \(socket to [\d.]+:\d+\)$")
            self.assertEqual(told["ranks"][2]["where"], "clock_nanosleep")
            self.assertEqual({one["state"] for one in told["ranks"]}, {"sleeping"})
            self.assertRegex(table.stdout, r"\n  0-1,3  algo-\[1-2\]  sleeping +[\d:-]+  recvfrom \(socket to [\d.]+:\d+\)\n")
            self.assertRegex(table.stdout, r"\nrank 2 on algo-2 differs from most: clock_nanosleep\n")
            self.assertIn("with py-spy or gdb on the hosts there are stacks", table.stdout)

    def test_a_tool_that_hangs_is_ended_and_said(self):
        with self.job():
            for host in self.bed.names():
                self.bed.put(host, f"{FOLDER}/gdb", SLOW_TOOL, mode=0o755)
            # Hosts have little time for an answer once the tool's is over.
            told = {}
            wait_until(lambda: told.update(self.ask()) or [one["fault"] for one in told.get("ranks", ())] == ["gdb was too slow"] * 4,
                       lambda: told)
            self.assertEqual([p["ranks"] for p in told["places"]], ["0-1,3", "2"])
            wait_until(lambda: "654321" not in str(self.bed.ps()))


HANGS = """
import os, time
def hold_up():
    time.sleep(600)
print("step", flush=True)
if os.environ["RANK"] == "1":
    hold_up()
while True:
    time.sleep(0.2)
    print("step", flush=True)
"""


class Watched(TestCase):
    def test_a_job_that_hangs_is_looked_at_and_then_ended(self):
        """Python tells where it was, with no tool."""
        done = sml_run("-np", "2", "--watch", f"step;every={scaled(3):g}s", PYTHON, "-c", HANGS)
        self.assert_status(done, 123)
        self.assertIn("sml-run: where the ranks are (before the workers are ended):\n", done.stderr)
        self.assertIn("[1] Fatal Python error: Aborted\n", done.stderr)
        self.assertRegex(done.stderr, r'\[1\]   File "<string>", line 4 in hold_up\n')
        self.assertLess(done.stderr.index("where the ranks are"), done.stderr.index("Fatal Python error"))


# Rank 1 prints nothing any more, in the attempts that it is told; the other goes on for as long.
SILENT = """
import os, sys, time
def hold_up():
    time.sleep(600)
hangs = int(os.environ["SML_ATTEMPT"]) <= int(sys.argv[1])
print("step", flush=True)
if hangs and os.environ["RANK"] == "1":
    hold_up()
while hangs:
    time.sleep(0.1)
    print("step", flush=True)
"""
ALL_SILENT = """
import os, time
def hold_up():
    time.sleep(600)
print("step", flush=True)
if int(os.environ["SML_ATTEMPT"]) == 1:
    hold_up()
"""
TABLE = "where the ranks are"
SILENCE = f"{scaled(5):g}"  # s; a rank that has no processor does not hang
NOTHING_FOR = rf"rank 1 on \S+ has printed nothing for {SILENCE} s, while others have"


class Silent(TestCase):
    def words(self, then, last, *more):
        return ["-np", "2", "--warn-silent", f"{SILENCE}s", "--on-silent", then, *more, PYTHON, "-c", SILENT, str(last)]

    def test_report_tells_once_and_ends_nothing(self):
        table, said, steps = f"sml-run: {TABLE} (ranks are silent):\n", bytearray(), b""
        with sml_run_popen(*self.words("report", 99)) as job:
            wait_until(lambda: said.extend(job.errors_so_far()) or table.encode() in said, lambda: said)
            while steps.count(b"[0] step") < 100:  # many of which were printed since
                steps += job.read_until("[0] step")
            job.terminate()
            done = job.finish()
        self.assert_status(done, 143)
        said = said.decode() + done.stderr
        self.assertEqual(said.count(table), 1)
        self.assertRegex(said, NOTHING_FOR)
        self.assertNotIn("Fatal Python error", said)

    def test_a_hang_of_all_is_told_and_tried_again(self):
        done = sml_run("-np", "3", "--warn-silent", f"{SILENCE}s", "--on-silent", "restart", "--max-restarts", "1", PYTHON, "-c",
                       ALL_SILENT)
        self.assert_status(done, 0)
        self.assertEqual(done.stderr.count(f"sml-run: no rank has printed anything for {SILENCE} s (--warn-silent)\n"), 1)
        self.assertEqual(done.stderr.count(TABLE), 1)
        self.assertRegex(done.stderr, r"line 4 in hold_up\n")
        self.assertIn(f"sml-run: stopped: no rank has printed anything for {SILENCE} s (--on-silent)\n", done.stderr)
        self.assertIn("attempt 1 failed with status 123; restart 1 of 1 now\n", done.stderr)

    @gate
    def test_restart_tells_and_tries_again(self):
        done = sml_run(*self.words("restart", 1, "--max-restarts", "1"))
        self.assert_status(done, 0)
        self.assertEqual(done.stderr.count(TABLE), 1)
        self.assertRegex(done.stderr, r"line 4 in hold_up\n")
        self.assertRegex(done.stderr, rf"sml-run: stopped: {NOTHING_FOR} \(--on-silent\)\n")
        self.assertIn("attempt 1 failed with status 123; restart 1 of 1 now\n", done.stderr)

    def test_stop_tells_and_ends_the_job_whatever_restarts_are_left(self):
        done = sml_run(*self.words("stop", 99, "--max-restarts", "5"))
        self.assert_status(done, 123)
        self.assertEqual(done.stderr.count(TABLE), 1)
        self.assertRegex(done.stderr, rf"sml-run: stopped: {NOTHING_FOR} \(--on-silent\)\n")
        self.assertNotIn("restart", done.stderr)


class TimedOut(TestCase):
    def test_where_the_ranks_were_is_told_and_kept(self):
        folder = self.temporary_directory() / "hang" / "reports"
        for number in "12":
            done = sml_run("-np", "2", "--timeout", f"{scaled(2):g}s", "--hang-report", folder, PYTHON, "-c", SILENT, "99")
            self.assert_status(done, 124)
            self.assertIn(f"sml-run: {TABLE} (before the workers are ended):\n", done.stderr)
            self.assertIn(f"sml-run: all that is known of these ranks is in {folder}/{number}\n", done.stderr)
            self.assertNotIn("Fatal Python error", done.stderr)
        report = folder / "2"
        self.assertEqual(sorted(p.name for p in report.iterdir()), ["rank.0.txt", "rank.1.txt", "ranks.json", "table.txt"])
        self.assertEqual({p.stat().st_mode & 0o777 for p in report.iterdir()}, {0o600})
        self.assertEqual([p.stat().st_mode & 0o777 for p in (report, folder)], [0o700, 0o700])
        self.assertEqual([one["rank"] for one in json.loads((report / "ranks.json").read_text())["ranks"]], [0, 1])
        self.assertIn("RANKS", (report / "table.txt").read_text())
        self.assertRegex((report / "rank.1.txt").read_text(), r"^rank 1 on \S+\npid \d+: .*python3")

    @gate
    def test_a_folder_that_cannot_be_is_an_error_before_the_start(self):
        file = self.temporary_directory() / "file"
        file.write_text("")
        done = sml_run("--hang-report", file / "folder", "echo", "started")
        self.assert_status(done, 2)
        self.assertIn("sml-run: --hang-report: cannot make the folder ", done.stderr)
        self.assertNotIn("started", done.stdout)


class HelpedByTorch(TestCase):
    WORKER = pathlib.Path(__file__).with_name("torch_served_worker.py")

    def job(self, *parts):
        self.folder = self.temporary_directory() / "reports"
        return sml_run("-np", "3", "--hang-report", self.folder, "--watch", f"step;every={scaled(1):g}s", PYTHON, self.WORKER,
                       ",".join(parts))

    def names(self):
        return sorted(one.name for one in (self.folder / "1").iterdir())

    @gate
    def test_stacks_and_records_of_its_server(self):
        done = self.job("server")
        self.assert_status(done, 123)
        self.assertRegex(done.stderr, r"\n\S+   1 +localhost +\S+ +[\d:]+  hold_up \(torch_served_w")
        self.assertRegex(done.stderr, r"rank 1 on localhost differs from most: hold_up \(torch_served_worker.py:\d+\)")
        self.assertRegex(done.stderr, r"\n\S+   0,2 +localhost +\S+ +[\d:-]+  wait_for_others \(torch_served_w")
        self.assertRegex(done.stderr, r"ranks 0,2:\nsml-run:     wait_for_others \(torch_served_worker.py:\d+\)\n")
        self.assertEqual([json.loads((self.folder / "1" / f"torch_trace_rank_{rank}.json").read_text()) for rank in range(3)],
                         [{"entries": [{"rank": rank}]} for rank in range(3)])
        self.assertIn("in hold_up\n", (self.folder / "1" / "rank.1.txt").read_text())

    def test_what_nccl_has_recorded(self):
        self.recorded("recorder")

    def test_a_recorder_that_has_to_import_more_of_torch_first(self):
        """Which takes longer than there is for stacks."""
        self.recorded("slow")

    def recorded(self, part):
        done = self.job(part)
        self.assert_status(done, 123)
        self.assertEqual([(self.folder / "1" / f"nccl_trace_rank_{rank}").read_bytes() for rank in range(3)],
                         [b"\x80\x02recorded by rank %d" % rank for rank in range(3)])

    def test_a_server_that_does_not_answer_delays_nothing(self):
        done = self.job("stuck")
        self.assert_status(done, 123)
        self.assertIn("where the ranks are", done.stderr)
        self.assertEqual(self.names(), ["rank.0.txt", "rank.1.txt", "rank.2.txt", "ranks.json", "table.txt"])

    def test_torch_is_told_only_where_a_report_is_kept_and_never_against_the_user(self):
        done = sml_run("-np", "1", "env")
        self.assertNotIn("TORCH_WORKER_SERVER_SOCKET", done.stdout)
        done = sml_run("-np", "1", "--hang-report", self.temporary_directory(), "env",
                       env={"TORCH_FR_DUMP_TEMP_FILE": "/a/b", "TORCH_NCCL_TRACE_BUFFER_SIZE": "7"})
        told = dict(line.split("=", 1) for line in done.stdout.splitlines() if line.startswith("TORCH_"))
        self.assertEqual((told["TORCH_FR_DUMP_TEMP_FILE"], told["TORCH_NCCL_TRACE_BUFFER_SIZE"]), ("/a/b", "7"))
        self.assertEqual(sorted(told), ["TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_ASYNC_ERROR_HANDLING",
                                        "TORCH_NCCL_DEBUG_INFO_PIPE_FILE", "TORCH_NCCL_TRACE_BUFFER_SIZE"])
