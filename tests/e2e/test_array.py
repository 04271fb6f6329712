"""Array jobs: each run has its line of the file."""
import os

from harness import TestCase, gate, sml_run

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
