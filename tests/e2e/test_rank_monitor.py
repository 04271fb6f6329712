"""The rank monitor of NVRx: who is silent to it for too long has failed."""
import pathlib

import schemas
from harness import PYTHON, HostsCase, TestCase, gate, scaled, sml_run, sml_run_popen, stays

WORKER = pathlib.Path(__file__).with_name("nvrx_worker.py")
TABLE = "where the ranks are (before the workers are ended)"
LIMIT = f"{scaled(5):g}"  # within which a rank that is well acts
LONGER = f"{scaled(6):g}"


def words(victim, last, *actions):
    return PYTHON, WORKER, str(victim), str(last), *actions


class RankMonitor(TestCase):
    def job(self, options, victim, last, *actions):
        return sml_run("-np", "2", "--rank-monitor", *options, *words(victim, last, *actions))

    @gate
    def test_a_heartbeat_that_does_not_come(self):
        """The ranks are looked at, then Python prints where they are, and the report names rank, host and limit."""
        done = self.job(["--rank-heartbeat-timeout", LIMIT], 1, 1, "come", "beat", "hang")
        self.assert_status(done, 123)
        self.assertRegex(done.stderr, rf"sml-run: rank 1 on \S+ has sent no heartbeat for {LIMIT} s "
                                      r"\(--rank-heartbeat-timeout\) after [\d.]+ s ")
        self.assertRegex(done.stderr, r"\[1\]   File .* in hang\n")
        self.assertLess(done.stderr.index(TABLE), done.stderr.index("Fatal Python error"))

    def test_a_first_heartbeat_that_does_not_come(self):
        done = self.job([f"--ft-initial-rank-heartbeat-timeout={LIMIT}"], 0, 1, "come", "hang")
        self.assert_status(done, 123)
        self.assertRegex(done.stderr, rf"rank 0 on \S+ has sent no first heartbeat for {LIMIT} s "
                                      r"\(--initial-rank-heartbeat-timeout\)")

    def test_a_section_that_does_not_end(self):
        done = self.job(["--rank-section-timeouts", f"setup:600,step:{LIMIT}"], 1, 1, "come", "open:setup", "open:step", "hang")
        self.assert_status(done, 123)
        self.assertRegex(done.stderr, rf'rank 1 on \S+ has been in section "step" for {LIMIT} s \(--rank-section-timeouts\)')

    def test_no_section_for_too_long(self):
        done = self.job(["--rank-out-of-section-timeout", LIMIT], 1, 1, "come", "open:step", "close_all", "hang")
        self.assert_status(done, 123)
        self.assertRegex(done.stderr, rf"rank 1 on \S+ has been in no section for {LIMIT} s \(--rank-out-of-section-timeout\)")

    def test_it_is_a_failure_that_is_tried_again(self):
        report = self.temporary_directory() / "report.json"
        done = self.job(["--rank-heartbeat-timeout", LIMIT, "--max-restarts", "1", "--report", report], 1, 1, "come", "beat",
                        "hang")
        self.assert_status(done, 0)
        self.assertIn("attempt 1 failed with status 123; restart 1 of 1 now\n", done.stderr)
        first, second = schemas.checked("report", report.read_text())["attempts"]
        self.assertEqual((first["exit_code"], first["culprit"], second["exit_code"]), (123, 1, 0))
        self.assertEqual(done.stdout.count("done"), 3)

    def test_a_limit_that_the_script_has_calculated(self):
        done = self.job([], 0, 1, "come", "limits:0.7", "beat", "hang")
        self.assert_status(done, 123)
        self.assertRegex(done.stderr, r"rank 0 on \S+ has sent no heartbeat for 5 s \(the limit that its script has set\)")

    def test_who_has_left_may_be_silent(self):
        done = self.job(["--rank-heartbeat-timeout", LIMIT], 1, 1, "come", "beat", "leave", f"sleep:{LONGER}")
        self.assert_status(done, 0)
        self.assertNotIn(TABLE, done.stderr)

    @gate
    def test_who_does_not_come_is_not_watched(self):
        done = self.job(["--initial-rank-heartbeat-timeout", LIMIT], 1, 1, f"sleep:{LONGER}")
        self.assert_status(done, 0)

    @gate
    def test_what_the_client_is_told(self):
        done = self.job(["--rank-section-timeouts", "step:5,save:none", "--rank-heartbeat-timeout=90"], 1, 0)
        self.assert_status(done, 0)
        self.assertIn("config [('initial_rank_heartbeat_timeout', 3600.0), ('rank_heartbeat_timeout', 90.0), "
                      "('rank_out_of_section_timeout', None), ('rank_section_timeouts', {'step': 5.0, 'save': None}), "
                      "('skip_section_response', False)]", done.stdout)

    def test_sections_that_are_not_as_told_are_refused(self):
        done = self.job([], 0, 1, "come", "close:a", "open:b", "open:b")
        self.assert_status(done, 0)
        self.assertIn('refused: section "a" is not open\n', done.stdout)
        self.assertIn('refused: section "b" is open already\n', done.stdout)

    @gate
    def test_a_pickle_that_would_run_something_is_refused(self):
        folder = self.temporary_directory()
        evil = f"cos\nmkdir\n(X{chr(len(str(folder)) + 5)}\0\0\0{folder}/evil" + "tR."
        done = self.job(["--rank-heartbeat-timeout", LIMIT], 0, 1, "come", "beat", "bytes:" + evil.encode().hex(),
                        f"sleep:{LONGER}")
        self.assert_status(done, 0)
        self.assertIn("answer what was sent is no message of NVRx: it names a class that no message has\n", done.stdout)
        self.assertRegex(done.stderr, "rank 0 has sent its rank monitor what is no message of NVRx .*it is watched no more")
        self.assertEqual(list(folder.iterdir()), [])

    def test_nobody_is_offered_what_is_not_asked_for(self):
        done = sml_run("-np", "1", "env")
        self.assert_status(done, 0)
        self.assertNotIn("FT_RANK_MONITOR_IPC_SOCKET", done.stdout)

    def test_a_folder_whose_name_is_too_long(self):
        folder = self.temporary_directory() / ("d" * 100)
        folder.mkdir()
        done = sml_run("-np", "1", "--rank-monitor", "true", env={"TMPDIR": str(folder)})
        self.assert_status(done, 125)
        self.assertRegex(done.stderr, r"--rank-monitor: \S+/monitor-0 is too long a name for a socket; set TMPDIR to a "
                                      "shorter one")

    def test_output_that_nobody_takes_excuses_a_rank(self):
        """It waits in its print, for longer than its limit."""
        limit = scaled(4)
        with sml_run_popen("-np", "1", "--rank-monitor", "--rank-heartbeat-timeout", str(limit), *words(
                0, 1, "come", "beat", "fill:50000", "beat")) as job:
            self.assertTrue(stays(lambda: job.poll() is None, looks=int(75 * limit)))
            self.assert_status(job.finish(), 0)


class OnHosts(HostsCase):
    hosts = 2

    def test_with_on_failure_continue_the_others_go_on(self):
        done = self.bed.sml_run("algo-1", "-H", "algo-[1-2]", "--rank-monitor", "--rank-heartbeat-timeout", LIMIT,
                                "--on-failure", "continue", *words(1, 1, "come", "beat", "hang"))
        self.assert_status(done, 123)
        self.assertRegex(done.stderr, rf"rank 1 on algo-2 has sent no heartbeat for {LIMIT} s")
        self.assertEqual(done.stdout.count("done"), 1)
        self.assertIn(TABLE, done.stderr)
