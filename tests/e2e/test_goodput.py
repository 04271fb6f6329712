"""Goodput: what became of a job's time, in its report, its status, its metrics and on its page."""
import json
import time
import unittest

from harness import TestCase, gate, sml_run, sml_run_popen, wait_until

# Makes steps 1 to 4, fails, and begins again with step 3. After each step it waits for a file in the folder that is $0.
STEPS = 'n=1; [ $SML_ATTEMPT = 1 ] || n=3; for i in 1 2 3 4; do echo "step $n of many"; ' \
        'until [ -e $0/on$SML_ATTEMPT.$n ]; do sleep 0.02; done; n=$((n + 1)); done; [ $SML_ATTEMPT = 2 ]'
PAUSE = 0.3  # s, from the moment in which sml-run is known to have counted a step
PARTS = ("good_s", "start_s", "rendezvous_s", "lost_s", "teardown_s", "waiting_s", "open_s")


class Goodput(TestCase):
    def id_of(self, job, env):
        def listed():
            jobs = json.loads(sml_run("ps", "--format", "json", env=env).stdout)
            return [one["id"] for one in jobs if one["pid"] == job.pid]

        return wait_until(listed)[0]

    def status(self, name, env):
        said = sml_run("status", name, "--format", "json", env=env)
        return json.loads(said.stdout) if said.returncode == 0 else {}

    def make_steps(self, pattern, folder, *words):
        """STEPS, each a pause after sml-run has counted the one before: what lies between two is a pause at least."""
        env, good_s = {"XDG_RUNTIME_DIR": str(folder)}, 0
        with sml_run_popen("--max-restarts", "1", "--restart-delay", "0", "--watch", pattern, "--report", folder / "end.json", *words,
                           "sh", "-c", STEPS, folder, env=env) as job:
            name = self.id_of(job, env)

            def is_counted(attempt, step, is_first):
                nonlocal good_s
                now = self.status(name, env)
                counted = now.get("goodput", {"open_s": 0, "good_s": 0})
                if now.get("attempt") != attempt or now.get("step", step) != step or \
                        (counted["open_s"] == 0 if is_first else counted["good_s"] <= good_s):
                    return False
                good_s = counted["good_s"]
                return True

            for attempt, first in ((1, 1), (2, 3)):
                for step in range(first, first + 4):
                    wait_until(lambda: is_counted(attempt, step, step == first))  # noqa: B023
                    time.sleep(PAUSE)  # what is measured
                    (folder / f"on{attempt}.{step}").touch()
            self.assert_status(job.finish(), 0)
        return json.loads((folder / "end.json").read_text())["goodput"]

    @gate
    def test_what_is_made_again_is_lost(self):
        folder = self.temporary_directory()
        sums = self.make_steps("step (\\d+) of", folder, "--timeline", folder / "job.html", "-np", "2")
        self.assertAlmostEqual(sum(sums[part] for part in PARTS), sums["wall_s"], 3)
        self.assertAlmostEqual(sums["good_s"] / sums["wall_s"], sums["ratio"], 6)
        # Of attempt 1, step 1 to 2 counts: one pause; 2 to 4 is lost, with what followed. Of attempt 2 all counts: three.
        self.assertGreater(sums["lost_s"], 2.5 * PAUSE)
        self.assertGreater(sums["good_s"], 3.5 * PAUSE)
        self.assertEqual(sums["open_s"], 0)
        self.assertRegex((folder / "job.html").read_text(), r'"goodput":"goodput \d+\.\d % of \d+:\d\d')

    def test_without_numbers_nothing_is_known_to_be_made_again(self):
        sums = self.make_steps("step", self.temporary_directory(), "-np", "1")
        self.assertGreater(sums["good_s"], 5.5 * PAUSE)  # three of each attempt

    @gate
    def test_a_job_without_steps_has_no_goodput(self):
        report = self.temporary_directory() / "end.json"
        self.assert_status(sml_run("--report", report, "true"), 0)
        self.assertNotIn("goodput", json.loads(report.read_text()))

    @gate
    def test_status_tells_it_while_the_job_runs(self):
        env = {"XDG_RUNTIME_DIR": str(self.temporary_directory())}
        program = "n=1; while :; do echo step $n; n=$((n + 1)); sleep 0.1; done"
        with sml_run_popen("--watch", "step (\\d+);every=1h", "--no-tag", "-np", "1", "sh", "-c", program, env=env) as job:
            name = self.id_of(job, env)
            status = wait_until(lambda: (now := self.status(name, env)).get("step", 0) >= 12 and now["goodput"]["good_s"] > 0.5 and now)
            self.assertEqual(status["attempt"], 1)
            self.assertRegex(sml_run("status", name, env=env).stdout, r"\ngoodput \d+\.\d % of 0:\d\d")
            job.terminate()
            self.assert_status(job.finish(), 143)

    def test_a_file_that_is_written_is_progress(self):
        folder = self.temporary_directory()
        program = f"while [ ! -e {folder}/go ]; do sleep 0.05; done; n=1; while :; do echo $n > {folder}/step; n=$((n + 1)); sleep 0.1; done"
        env = {"XDG_RUNTIME_DIR": str(folder)}
        with sml_run_popen("--max-restarts", "1", "--progress-file", folder / "step", "-np", "1", "sh", "-c", program, env=env) as job:
            name = self.id_of(job, env)
            wait_until(lambda: self.status(name, env).get("goodput", {}).get("rendezvous_s", 0) > 0)
            (folder / "go").write_text("")
            wait_until(lambda: (now := self.status(name, env)).get("step", 0) > 1 and now["goodput"]["good_s"] > 0)
            job.terminate()
            self.assert_status(job.finish(), 143)


if __name__ == "__main__":
    unittest.main()
