"""--max-restarts as a user meets it: what a new attempt has of its own, when there is none, and what is told of them all."""
import json
import signal

import schemas
from harness import PYTHON, REPO, HostsCase, TestCase, gate, scaled, sml_run, sml_run_popen, wait_until
from jobs import heartbeat, own_lines

AT_ONCE = ("--restart-delay", "0:0", "--max-fruitless", "0")
ONCE = ("--preload", "torch")  # an import takes longer than all else here
WORKER = REPO / "tests" / "e2e" / "restart_worker.py"
# In a shell whose $0 is a folder: until both ranks of the attempt are so far.
BOTH = ': >$0/$SML_ATTEMPT.$RANK; until [ -e $0/$SML_ATTEMPT.0 ] && [ -e $0/$SML_ATTEMPT.1 ]; do sleep 0.01; done; '
# Rank 1 fails in the first two attempts, with another status in each.
TWICE = 'echo $RANK $SML_ATTEMPT $TORCHELASTIC_RESTART_COUNT $TORCHELASTIC_MAX_RESTARTS $MASTER_PORT; ' + BOTH + \
        '[ $SML_ATTEMPT = 3 ] || [ $RANK != 1 ] || exit 4$SML_ATTEMPT; [ $SML_ATTEMPT = 3 ] || sleep 600'


class Attempts(TestCase):
    @gate
    def test_the_third_attempt_succeeds_and_the_others_are_told_of(self):
        folder = self.temporary_directory()
        report, events, trace = folder / "report", folder / "events", folder / "t.json"
        done = sml_run("--max-restarts", "5", *AT_ONCE, "-np", "2", "--no-tag", "--report", report, "--events", events,
                       "--timeline", trace, "--log-dir", folder / "logs", "sh", "-c", TWICE, folder)
        self.assert_status(done, 0)
        seen = sorted(line.split() for line in done.stdout.splitlines())
        self.assertEqual([row[:4] for row in seen], [[rank, str(n), str(n - 1), "5"] for rank in "01" for n in (1, 2, 3)])
        ports = [{row[4] for row in seen if row[1] == str(n)} for n in (1, 2, 3)]
        self.assertEqual([len(p) for p in ports], [1, 1, 1], "all ranks of an attempt meet at one port")
        self.assertEqual(len(set.union(*ports)), 3, "and each attempt at another")

        said = own_lines(done)
        self.assertIn("attempt 1 failed with status 41; restart 1 of 5 now", said)
        self.assertIn("attempt 2 failed with status 42; restart 2 of 5 now", said)
        self.assertEqual(said[-3], "the job succeeded in attempt 3, after:")
        self.assertRegex(said[-1], r"^  attempt 2: rank 1 on localhost exited with status 42 after \d+\.\d s$")

        written = schemas.checked("report", report.read_text())
        self.assertEqual((written["exit_code"], [r["status"]["exit_code"] for r in written["ranks"]]), (0, [0, 0]))
        self.assertEqual([(a["attempt"], a["exit_code"], a["culprit"]) for a in written["attempts"]],
                         [(1, 41, 1), (2, 42, 1), (3, 0, None)])
        happened = schemas.checked_lines("event", events.read_text())
        failed = [e for e in happened if e["event"] == "attempt_failed"]
        self.assertEqual([(e["attempt"], e["exit_code"], e["restarts_in"]) for e in failed], [(1, 41, 0), (2, 42, 0)])
        self.assertEqual([e["attempt"] for e in happened if e["event"] == "restart"], [2, 3])
        self.assertEqual([e["event"] for e in happened].count("host_connected"), 1, "the agent stays")
        self.assertEqual(happened[-1]["attempts"], 3)
        why = [a["failure"] for a in written["attempts"]]
        self.assertEqual([(one["rank"], one["host"], one["status"]["text"]) for one in why[:2]],
                         [(a["culprit"], a["culprit_host"], f"exited with status {a['exit_code']}") for a in written["attempts"][:2]])
        self.assertIsNone(why[2])
        drawn = [e for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] == "X" and e["tid"] == 2]
        self.assertEqual([e["name"] for e in drawn], ["exited with status 41", "exited with status 42", "exited with status 0"])
        logs = {str(p.relative_to(folder / "logs")): p.read_text().split()[:2] for p in (folder / "logs").rglob("stdout")}
        self.assertEqual(logs, {f"{place}rank.{rank}/stdout": [str(rank), str(n)] for rank in (0, 1)
                                for n, place in ((1, ""), (2, "restart.1/"), (3, "restart.2/"))})

    @gate
    def test_the_last_attempt_gives_the_status_when_all_restarts_are_used(self):
        done = sml_run("--max-restarts", "1", *AT_ONCE, "-np", "2", "sh", "-c", TWICE, self.temporary_directory())
        self.assert_status(done, 42)
        said = own_lines(done)
        self.assertIn("no restart: 1 restart has been used (--max-restarts)", said)
        self.assertIn("the job failed in attempt 2, after:", said)

    @gate
    def test_what_would_come_again_is_not_tried_again(self):
        for program, status in ((("sh", "-c", "exit 2"), 2), (("sh", "-c", "exit 126"), 126), (("/nowhere/p",), 127)):
            done = sml_run("--max-restarts", "5", "-np", "2", *program)
            self.assert_status(done, status)
            self.assertNotIn("restart 1", done.stderr)

    @gate
    def test_rules_by_status_and_signal(self):
        done = sml_run("--max-restarts", "9", *AT_ONCE, "--give-up", "2/1h:40-49", "-np", "2", "sh", "-c", TWICE,
                       self.temporary_directory())
        self.assert_status(done, 42)
        self.assertIn("no restart: --give-up 2/1h:40-49", own_lines(done))
        done = sml_run("--max-restarts", "9", "--give-up", "SIGSEGV", "-np", "2", "sh", "-c", "ulimit -c 0; kill -SEGV $$")
        self.assert_status(done, 139)
        self.assertIn("no restart: --give-up SIGSEGV", own_lines(done))

    @gate
    def test_a_stop_of_the_user_is_the_end(self):
        for program, delay in (("sleep 600", "0"), ("exit 3", "10m")):  # while workers run; between two attempts
            with sml_run_popen("--max-restarts", "9", "--restart-delay", delay, "-np", "2", "--no-tag", "sh", "-c",
                               f"echo runs; {program}") as job:
                job.read_until("runs")
                if program == "exit 3":
                    wait_until(lambda: b"restart 1 of 9" in job.errors_so_far())
                job.send_signal(signal.SIGINT)
                done = job.finish()
            self.assert_status(done, 130)

    def test_the_time_limit_is_that_of_all_attempts(self):
        done = sml_run("--max-restarts", "99", *AT_ONCE, "--timeout", f"{scaled(10)}s", "-np", "2", "sh", "-c",
                       "[ $SML_ATTEMPT -lt 3 ] || exec sleep 3600; exit 3")
        self.assert_status(done, 124)
        self.assertIn("all attempts together", done.stderr)

    def test_the_time_limit_counts_while_the_job_rests(self):
        done = sml_run("--max-restarts", "9", "--max-fruitless", "0", "--restart-delay", "1h:1h", "--timeout", f"{scaled(10)}s", "-np",
                       "2", "sh", "-c", "exit 3")
        self.assert_status(done, 124)
        self.assertIn("waits between attempts included", done.stderr)

    @gate
    def test_input_is_for_the_first_attempt(self):
        done = sml_run("-q", "--max-restarts", "2", *AT_ONCE, "-np", "2", "--stdin", "all", "--no-tag", "sh", "-c",
                       'echo $SML_ATTEMPT $(wc -c); [ $SML_ATTEMPT = 2 ]', input="12345")
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines())[-2:], ["2 0", "2 0"])

    def test_output_of_many_attempts_is_whole(self):
        """What one attempt has been allowed to send and has not is not lost to the next."""
        done = sml_run("-q", "--max-restarts", "20", *AT_ONCE, "-np", "2", "--no-tag", "sh", "-c",
                       f'yes "$SML_ATTEMPT" | head -c 399996; {BOTH} [ $SML_ATTEMPT = 21 ] || exit 3', self.temporary_directory())
        self.assert_status(done, 0)
        lines = done.stdout.split("\n")
        for attempt in range(1, 22):
            self.assertEqual(lines.count(str(attempt)), 2 * (399996 // (len(str(attempt)) + 1)), f"attempt {attempt}")


class Training(TestCase):
    watchdog_times = 5

    @gate
    def test_twenty_restarts_in_a_row(self):
        """Of a training that meets by Gloo: nothing of one attempt's store is seen in the next."""
        folder = self.temporary_directory()
        done = sml_run("--max-restarts", "20", *AT_ONCE, *ONCE, "-np", "2", "--no-tag", PYTHON, WORKER, folder, "42", "20", "1")
        self.assert_status(done, 0)
        self.assertIn("the job succeeded in attempt 21, after:", own_lines(done))
        self.assertIn("  attempts 1 to 15, which failed too", own_lines(done))


class Progress(TestCase):
    FRUITLESS = ("gave up after 2 attempts in a row (status 7) of 6 allowed: they ended within a minute, and not all ranks "
                 "had joined; --max-fruitless 0 keeps trying")

    @gate
    def test_two_attempts_in_a_row_without_it_are_the_end(self):
        folder = self.temporary_directory()
        report, events = folder / "report", folder / "events"
        done = sml_run("--max-restarts", "5", "--max-fruitless", "2", "-np", "2", "--report", report, "--events", events,
                       "--", "sh", "-c", "echo oops >&2; exit 7")
        self.assert_status(done, 7)
        said = own_lines(done)
        self.assertIn("    | oops", said, "the root cause of the last attempt")
        self.assertIn(f"no restart: {self.FRUITLESS}", said)
        written = schemas.checked("report", report.read_text())
        self.assertEqual((written["exit_code"], [a["exit_code"] for a in written["attempts"]]), (7, [7, 7]))
        self.assertEqual(written["no_restart"], self.FRUITLESS)
        self.assertRegex(written["verdict"], "exited with status 7")
        last = json.loads(events.read_text().splitlines()[-1])
        self.assertEqual((last["exit_code"], last["attempts"], last["no_restart"]), (7, 2, written["no_restart"]))

    @gate
    def test_a_program_that_joins_nowhere_has_all_its_restarts(self):
        done = sml_run("--max-restarts", "5", "--restart-delay", "0:0", "-np", "2", "--no-tag", "sh", "-c",
                       "echo attempt $SML_ATTEMPT; exit 7")
        self.assert_status(done, 7)
        self.assertEqual(set(done.stdout.split("\n")) - {""}, {f"attempt {n}" for n in range(1, 7)})
        self.assertIn("no restart: 5 restarts have been used (--max-restarts)", own_lines(done))

    def test_that_all_ranks_have_joined_is_progress(self):
        script = self.temporary_directory() / "program.py"
        job = ("--max-restarts", "5", "--restart-delay", "0:0", *ONCE, "-np", "2", PYTHON, script)
        script.write_text("import os, torch.distributed as d; d.init_process_group('gloo'); d.barrier(); "
                          "os._exit(0 if os.environ['SML_ATTEMPT'] == '4' else 5)")
        self.assert_status(sml_run(*job), 0)
        script.write_text("import os, torch.distributed as d; "
                          "os.environ['RANK'] == '0' or os._exit(5); d.init_process_group('gloo')")
        self.assert_status(sml_run("--max-fruitless", "2", *job), 5)

    def test_a_file_is_progress_when_it_is_written(self):
        file = self.temporary_directory() / "step"
        file.write_text("old")
        job = ("--max-restarts", "9", "--restart-delay", "0:0", "--progress-file", file, "-np", "1", "--", "sh", "-c",
               '[ $SML_ATTEMPT -ge 4 ] || echo $SML_ATTEMPT >"$1"; exit 3', "sh", file)
        done = sml_run(*job)
        self.assert_status(done, 3)
        self.assertIn("no restart: gave up after 2 attempts in a row (status 3) of 10 allowed: the file of --progress-file "
                      "was not touched; --max-fruitless 0 keeps trying", own_lines(done))
        self.assertIn("the job failed in attempt 5, after:", own_lines(done))

    @gate
    def test_a_line_that_matches_is_progress_with_a_limit_or_without(self):
        for rule in ("^step", "^step;first=1h"):
            done = sml_run("--max-restarts", "9", "--restart-delay", "0:0", "--watch", rule, "-np", "2", "--", "sh", "-c",
                           '[ $RANK = 0 ] || sleep 600; [ $SML_ATTEMPT -ge 4 ] || echo step 1; exit 3')
            self.assert_status(done, 3)
            self.assertIn("the job failed in attempt 5, after:", own_lines(done))
            self.assertIn("no line matched --watch", done.stderr)

    def test_other_reasons_to_end_keep_the_status_of_the_attempt(self):
        done = sml_run("--max-restarts", "1", "-np", "1", "sh", "-c", "exit 7")
        self.assert_status(done, 7)
        done = sml_run("--max-restarts", "9", "--give-up", "3/1h:7", "--restart-delay", "0:0", "-np", "1", "sh", "-c", "exit 7")
        self.assert_status(done, 7)
        self.assertIn("no restart: --give-up 3/1h:7", own_lines(done))


class OnHosts(HostsCase):
    hosts = 4
    allowed_files = ("/tmp/checkpoints", "/tmp/checkpoints/*")

    def setUp(self):
        super().setUp()
        self.addCleanup(lambda: [self.bed.exec(h, ["rm", "-rf", "/tmp/checkpoints"]) for h in self.bed.names()])

    def train(self, deaths, *options):
        done = self.bed.sml_run("algo-1", *options, "-np", "8", "-H", self.bed.hosts(slots=2), "--no-tag", PYTHON, WORKER,
                                "/tmp/checkpoints", "6", str(deaths), "5")
        self.assert_status(done, 0)
        for host in self.bed.names():
            self.bed.exec(host, ["rm", "-rf", "/tmp/checkpoints"])
        return done

    def test_training_goes_on_from_its_checkpoint_with_the_same_loss(self):
        losses = [line for line in self.train(0).stdout.splitlines() if line.startswith("loss ")]
        done = self.train(2, "--max-restarts", "3", "--events", "/dev/stderr")
        self.assertEqual([line for line in done.stdout.splitlines() if line.startswith("loss ")], losses)
        begun = {line.split()[-1] for line in done.stdout.splitlines() if line.startswith("attempt 3 begins")}
        self.assertEqual(len(begun), 1)
        self.assertGreater(int(begun.pop()), 1, "it goes on where the others have stopped")
        self.assertIn("the job succeeded in attempt 3, after:", done.stderr)
        self.assertEqual(done.stderr.count('"event":"host_connected"'), 4, "connections and agents stay")

    @gate
    def test_every_host_is_told_the_same(self):
        done = self.bed.sml_run("algo-1", "--max-restarts", "2", *AT_ONCE, "-np", "4", "-H", self.bed.hosts(), "--no-tag",
                                "sh", "-c", 'echo $SML_ATTEMPT $TORCHELASTIC_RESTART_COUNT $MASTER_ADDR $MASTER_PORT; '
                                '[ $SML_ATTEMPT != 1 ] || { [ $RANK != 2 ] || exit 9; sleep 600; }')
        self.assert_status(done, 0)
        rows = done.stdout.splitlines()
        self.assertEqual({row: rows.count(row) for row in rows if row.startswith("2 1 ")},
                         {row: 4 for row in rows if row.startswith("2 1 ")})
        self.assertEqual(len([row for row in rows if row.startswith("2 1 ")]), 4)

    @gate
    def test_no_process_of_one_attempt_lives_in_the_next(self):
        done = self.bed.sml_run("algo-1", "--max-restarts", "1", *AT_ONCE, "-np", "2", "-H", "algo-1,algo-2", "--no-tag",
                                "sh", "-c", 'pgrep -cxf "sleep 4711"; [ $SML_ATTEMPT = 1 ] || exit 0; '
                                'setsid sleep 4711 & until pgrep -xf "sleep 4711" >/dev/null; do :; done; exit 3')
        self.assert_status(done, 0)
        self.assertEqual(set(done.stdout.split()), {"0"})  # a rank of the first may have been ended before it looked


class LostHosts(HostsCase):
    hosts = 4

    @gate
    def test_a_lost_host_is_the_end_where_none_takes_its_place(self):
        with self.bed.sml_run_popen("algo-1", "--max-restarts", "5", *heartbeat(2)[0], "-np", "4", "-H",
                                    self.bed.hosts(), "--no-tag", "sh", "-c", "echo runs; sleep 600") as job:
            job.read_until("runs\nruns\nruns\nruns")
            self.bed.kill("algo-3")
            self.addCleanup(self.bed.start, "algo-3")
            done = job.finish()
        self.assert_status(done, 125)
        self.assertIn("no restart: algo-3 is out, and no spare host is left to take its place (--spares)", own_lines(done))
