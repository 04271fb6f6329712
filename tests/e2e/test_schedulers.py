"""Inside a job of a batch system: the hosts and ranks are those of the job, without any option."""
import os
import shutil
import subprocess
import unittest

from harness import REPO, SML_RUN, TestCase, Testbed, gate
from test_mpi import compiled, words

MISSING = [program for program in ("slurmctld", "slurmd", "srun", "munged") if not shutil.which(program)]


@gate
@unittest.skipIf(MISSING, f"Slurm's {', '.join(MISSING)} not installed (tests/run installs it)")
class Slurm(TestCase):
    SLURM = (str(SML_RUN), "--host-source", "slurm")  # the hosts also have SageMaker's file, which comes first

    @classmethod
    def setUpClass(cls):
        cls.bed = Testbed.shared(3)
        subprocess.run([REPO / "tests/testbed/slurm-up", "8"], env={**os.environ, "SML_TESTBED": cls.bed.name}, check=True,
                       stdout=subprocess.DEVNULL)

    def allocated(self, *words):
        return self.bed.exec("head", ["salloc", "--quiet", *words])

    def test_ranks_lie_as_slurm_laid_them_out(self):
        done = self.allocated("-N3", "-n20", str(SML_RUN), "--no-tag", "hostname")
        self.assert_status(done, 0)
        self.assertEqual({h: done.stdout.split().count(h) for h in self.bed.names()},
                         {"algo-1": 8, "algo-2": 8, "algo-3": 4})
        self.assertIn("20 ranks on 3 hosts, from SLURM_JOB_NODELIST", done.stderr)

    def test_a_link_of_the_name_srun_deals_out_tasks_as_the_other_one(self):
        self.bed.exec("head", ["ln", "-s", SML_RUN, "/run/srun"])
        for words in ("-n5", "-n2", "-n18", "-N2 -n7", "-n5 -m cyclic"):
            theirs, ours = ({int(rank): host.strip() for rank, host in (line.split(":") for line in done.stdout.splitlines())}
                            for done in (self.allocated("-N3", "-n20", srun, *words.split(), "-l", "hostname")
                                         for srun in ("srun", "/run/srun")))
            with self.subTest(words):
                self.assertEqual(ours, theirs)
                self.assertIn("algo-1", theirs[0])

    def test_programs_of_open_mpi_are_one_world(self):
        program = compiled(type(self), "openmpi")
        done = self.allocated("-N2", "--ntasks-per-node=2", str(SML_RUN), str(program), "ring")
        self.assert_status(done, 0)
        self.assertEqual(words(done), [f"ring {r} of 4 got {got}" for r, got in enumerate((6, 1, 3, 6))])

    def test_all_hosts_have_what_the_batch_script_has(self):
        """Limits, umask and bash's functions, as under srun."""
        show = "echo $(ulimit -n) $(ulimit -s) $(ulimit -c) $(umask) $(module) $OF_ENV"
        self.bed.exec("head", ["sh", "-c", "echo 'OF_ENV=yes' > /run/bash_env"])
        for name in self.bed.names():
            self.bed.exec(name, ["sh", "-c", "echo 'OF_ENV=yes' > /run/bash_env"])
        begin = ("ulimit -S -n 4096; ulimit -S -s 4096; ulimit -S -c unlimited; umask 027; module() { echo ok; }; export -f module; "
                 "export BASH_ENV=/run/bash_env; ")
        answers = [self.allocated("-N2", "--ntasks-per-node=1", "bash", "-c", begin + f"{launcher} bash -c '{show}'; exit $?")
                   for launcher in (f"{SML_RUN} --no-tag", "srun")]
        for done in answers:
            self.assert_status(done, 0)
        self.assertEqual(answers[0].stdout.splitlines(), answers[1].stdout.splitlines())
        self.assertEqual(len(set(answers[0].stdout.splitlines())), 1)
        self.assertIn(" 0027 ok yes", answers[0].stdout)

    def test_a_step_of_one_task_has_the_whole_job(self):
        done = self.allocated("-N2", "-n4", "srun", "-N1", "-n1", *self.SLURM, "--no-tag", "hostname")
        self.assert_status(done, 0)
        self.assertEqual(set(done.stdout.split()), {"algo-1", "algo-2"})

    def test_a_job_for_each_task_is_refused(self):
        done = self.allocated("-N3", "-n3", "srun", "-n3", *self.SLURM, "true")
        self.assert_status(done, 2)
        self.assertIn("srun has started sml-run 3 times; start it once, from salloc or sbatch without srun", done.stderr)
