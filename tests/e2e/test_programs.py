"""Jobs of several programs, helpers among them, and what presets make of them."""
import json
import pathlib
import tempfile

import schemas
from harness import PYTHON, TestCase, Testbed, gate, sml_run
from jobs import TROUBLE, assert_says, by_rank

WORKER = pathlib.Path(__file__).parent / "preset_worker.py"
WHO = 'echo $0 $RANK/$WORLD_SIZE $ROLE_NAME $ROLE_RANK/$ROLE_WORLD_SIZE ${V-none} $PWD'


class OneHost(TestCase):
    @gate
    def test_each_program_has_its_own_variables_directory_and_ranks(self):
        done = sml_run("-np", "1", "--wdir", "/", "sh", "-c", WHO, "A", ":", "-np", "2", "-x", "V=1", "--wdir", "/usr",
                       "--role", "ps", "sh", "-c", WHO, "B")
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {0: ["A 0/3 default 0/1 none /"], 1: ["B 1/3 ps 0/2 1 /usr"],
                                                2: ["B 2/3 ps 1/2 1 /usr"]}, done)

    def test_the_same_from_a_file(self):
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "programs"
        path.write_text(f"# two\n-np 1 --wdir / sh -c '{WHO}' A\n-np 1 -x V=2 --wdir /usr sh -c '{WHO}' B\n")
        done = sml_run("-x", "V=1", "--app", str(path))
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {0: ["A 0/2 default 0/2 1 /"], 1: ["B 1/2 default 1/2 2 /usr"]}, done)

    def test_a_program_that_is_missing_is_named(self):
        done = sml_run("-np", "1", "true", ":", "-np", "1", "/no/such/program")
        self.assert_status(done, 127)
        self.assertIn("/no/such/program", done.stderr)

    def test_a_rank_that_asks_for_input_in_vain_is_told_who_has_it(self):
        for words in ("input()", "breakpoint()"):
            with self.subTest(words=words):
                done = sml_run("-np", "3", PYTHON, "-c", f"import os\nif os.environ['RANK'] == '2':\n    {words}\n    x = 1", input="1\n")
                self.assert_status(done, 1)
                self.assertIn("known cause: it asked for input, and only rank 0 has it; --stdin 2 gives it to rank 2", done.stderr)
        done = sml_run("-np", "3", "--stdin", "2", PYTHON, "-c", "import os\nif os.environ['RANK'] == '2': print(input())", input="1\n")
        self.assertEqual((done.returncode, done.stdout), (0, "[2] 1\n"))

    def test_a_program_after_a_colon_without_a_number_is_named(self):
        done = sml_run("-np", "999", "true", ":", "false", "x")
        self.assert_status(done, 2)
        self.assertIn("program 2 has no -np; write : -np 1 false", done.stderr)

    def test_the_report_tells_programs_and_roles(self):
        report = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "report"
        done = sml_run("--report", str(report), "-np", "1", "true", ":", "--role", "ps", "-np", "1", "sh", "-c",
                       "exit 7")
        self.assert_status(done, 7)
        ranks = schemas.checked("report", report.read_text())["ranks"]
        self.assertEqual([(r["program"], r["role"]) for r in ranks], [("true", "default"), ("sh", "ps")])

    @gate
    def test_helpers_are_stopped_when_the_workers_have_ended(self):
        helps = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "helps"
        done = sml_run("--grace", "1h", "-np", "2", "sh", "-c",
                       f"until [ -e {helps} ]; do sleep 0.01; done; echo $RANK/$WORLD_SIZE", ":", "--helper", "-np", "1",
                       "sh", "-c", f"echo ${{RANK-none}} $SML_RANK; : >{helps}; exec sleep 1000")
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {0: ["0/2"], 1: ["1/2"], 2: ["none 2"]}, done)
        assert_says(self, done, never=TROUBLE)

    @gate
    def test_a_helper_that_fails_ends_the_job(self):
        done = sml_run("-np", "1", "sleep", "1000", ":", "--helper", "-np", "1", "sh", "-c", "exit 9")
        self.assert_status(done, 9)
        assert_says(self, done, "^rank 1 on localhost exited with status 9")

    def test_a_failure_of_the_last_worker_is_the_job_s_whatever_becomes_of_helpers(self):
        done = sml_run("-np", "1", "sh", "-c", "exit 5", ":", "--helper", "-np", "1", "sh", "-c",
                       "trap 'exit 6' TERM; while :; do sleep 0.05; done")
        self.assert_status(done, 5)

    def test_dry_run_shows_what_a_preset_sets(self):
        done = sml_run("--dry-run", "--show-env", "1", "--preset", "tf,slurm", "-H", "a:1,b:1", "true")
        self.assert_status(done, 0)
        shown = dict(line.split("=", 1) for line in done.stdout.splitlines())
        self.assertEqual(json.loads(shown["TF_CONFIG"]), {"cluster": {"worker": ["a:(port)", "b:(port)"]},
                                                          "task": {"type": "worker", "index": 1}})
        self.assertEqual(shown["SLURM_PROCID"], "1")

    def test_accelerate_s_defaults_give_way(self):
        show = ["sh", "-c", "echo $ACCELERATE_MIXED_PRECISION"]
        for given, options, want in (({}, [], "no"), ({"ACCELERATE_MIXED_PRECISION": "bf16"}, [], "bf16"),
                                     ({}, ["-x", "ACCELERATE_MIXED_PRECISION=fp16"], "fp16")):
            done = sml_run("-np", "1", "--preset", "accelerate", *options, *show, env=given)
            self.assertEqual(done.stdout, want + "\n", done)


class Hosts(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(3)

    @gate
    def test_programs_on_hosts_of_their_own(self):
        self.bed.put("algo-3", "/usr/local/bin/only-there", "#!/bin/sh\necho there $RANK/$WORLD_SIZE $SML_HOST\n",
                     mode=0o755)
        done = self.bed.sml_run("algo-1", "-H", "algo-1:1,algo-2:2", "-np", "1", "sh", "-c", "echo $RANK $SML_HOST", ":",
                                "-H", "algo-3:2", "only-there", ":", "sh", "-c", "echo rest $RANK $SML_HOST")
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {0: ["0 algo-1"], 1: ["there 1/5 algo-3"], 2: ["there 2/5 algo-3"],
                                                3: ["rest 3 algo-2"], 4: ["rest 4 algo-2"]}, done)

    def test_every_worker_of_a_tf_cluster_listens_where_the_others_look(self):
        for start in ("algo-1", "head"):
            done = self.bed.sml_run(start, "--preset", "tf", "-H", self.bed.hosts(2), PYTHON, WORKER, "tf")
            self.assert_status(done, 0)
            self.assertEqual(by_rank(done.stdout), {r: [f"worker {r} met 6"] for r in range(6)}, done)

    @gate
    def test_a_tf_job_with_a_chief_ends_with_it(self):
        one = [PYTHON, WORKER, "tf-ps"]
        done = self.bed.sml_run("algo-1", "--preset", "tf", "-H", self.bed.hosts(2), "--role", "chief", "-np", "1", *one,
                                ":", "--role", "worker", "-np", "3", *one, ":", "--role", "ps", "-np", "2", *one)
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout)[0], ["chief reached 5"], done)

    @gate
    def test_the_coordinator_of_jax(self):
        done = self.bed.sml_run("head", "--preset", "jax", "-H", self.bed.hosts(1), PYTHON, WORKER, "jax")
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout)[0], ["heard of [1, 2]"], done)
