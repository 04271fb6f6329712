"""Array jobs: each run has its line of the file; --array-all runs all lines here and tells how each ended."""
import os
import re
import signal

from harness import TestCase, gate, sml_run, sml_run_popen

LINES = "us-east-1,Ashburn\neu-west-1,Dublin\nap-northeast-1,Tokyo\nus-west-2,Boardman\n"
VARIABLES = ["--array-vars", "REGION,CITY"]


class ArrayJobs(TestCase):
    def setUp(self):
        self.folder = self.temporary_directory()
        self.file = os.path.join(self.folder, "regions.csv")
        with open(self.file, "w") as f:
            f.write(LINES)
        self.array = ["--array-file", self.file, *VARIABLES]

    @gate
    def test_a_run_of_aws_batch_has_its_line_as_variables_and_in_arguments(self):
        env = {"AWS_BATCH_JOB_ARRAY_INDEX": "2"}
        done = sml_run(*self.array, "-np", "2", "--no-tag", "sh", "-c", 'echo "$REGION $CITY $SML_ARRAY_INDEX $1"', "sh",
                       "out/{array_index}/{CITY}", env=env)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "ap-northeast-1 Tokyo 2 out/2/Tokyo\n" * 2)

    def test_bad_lines_and_a_missing_index_start_nothing(self):
        started = os.path.join(self.folder, "started")
        for env, text, said in (
                ({}, LINES, "no array index"),
                ({"AWS_BATCH_JOB_ARRAY_INDEX": "4"}, LINES, "has 4 lines, for index 0 to 3, and so none for 4"),
                ({"AWS_BATCH_JOB_ARRAY_INDEX": "0"}, LINES + "x\n", "regions.csv:5: 1 field; expected 2 fields")):
            with open(self.file, "w") as f:
                f.write(text)
            done = sml_run(*self.array, "touch", started, env=env)
            self.assert_status(done, 2)
            self.assertIn(said, done.stderr)
        self.assertFalse(os.path.exists(started))

    @gate
    def test_the_whole_array_runs_here_and_the_first_failure_is_the_status(self):
        # Every run waits for its neighbour: two at a time there must be. The second fails after the third.
        script = ('d=$1; i=$SML_ARRAY_INDEX; n=$((i ^ 1)); : > "$d/$i"; until [ -e "$d/$n" ]; do :; done; '
                  'echo "in $CITY"; [ $i != 3 ] || exit 7')
        report = os.path.join(self.folder, "report-{array_index}.json")
        done = sml_run(*self.array, "--array-all", "--jobs", "2", "--report", report, "sh", "-c", script, "sh", self.folder)
        self.assert_status(done, 7)
        self.assertEqual(sorted(done.stdout.splitlines()), ["[array 0] in Ashburn", "[array 1] in Dublin",
                                                            "[array 2] in Tokyo", "[array 3] in Boardman"])
        table = re.findall(r"^sml-run: +(\d) +(\d) +(\d) +[\d.]+ s  (\S+) +(\S+)$", done.stderr, re.M)
        self.assertEqual(table, [("0", "1", "0", "us-east-1", "Ashburn"), ("1", "2", "0", "eu-west-1", "Dublin"),
                                 ("2", "3", "0", "ap-northeast-1", "Tokyo"), ("3", "4", "7", "us-west-2", "Boardman")])
        self.assertIn("3 of 4 runs succeeded, 1 failed", done.stderr)
        self.assertEqual(sorted(f for f in os.listdir(self.folder) if f.startswith("report")),
                         [f"report-{i}.json" for i in range(4)])

    def two_that_run(self):
        script = 'cd "$1"; i=$SML_ARRAY_INDEX; : > $i; until [ -e $((i ^ 1)) ]; do :; done; echo both up; exec sleep 1000'
        return sml_run_popen(*self.array, "--array-all", "--jobs", "2", "sh", "-c", script, "sh", self.folder)

    @gate
    def test_a_signal_stops_those_that_run_and_starts_no_more(self):
        with self.two_that_run() as job:
            job.read_until("] both up\n")
            job.send_signal(signal.SIGTERM)
            done = job.finish()
        self.assert_status(done, 143)
        self.assertIn("2 not started", done.stderr)

    def test_nothing_is_left_when_it_is_killed(self):
        with self.two_that_run() as job:
            job.read_until("] both up\n")
            job.kill()
            self.assert_status(job.finish(), -signal.SIGKILL)
