"""One sml-run on each host of a step of Slurm's or mpiexec's: they find and prove each other by what the step gives them. No
SSH server runs anywhere, no secret is made, and each host has SageMaker's file, which names other hosts."""
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import BUILD, REPO, SML_RUN, HostsCase, gate, scaled, wait_until
from jobs import sh

MISSING = [program for program in ("slurmctld", "slurmd", "srun", "munged", "mpiexec.hydra") if not shutil.which(program)]
ONE_EACH = ("srun", "--ntasks-per-node=1")
WHERE = "echo $RANK of $WORLD_SIZE on $(hostname)"


@unittest.skipIf(MISSING, f"{', '.join(MISSING)} not installed (tests/run installs them)")
class Steps(HostsCase):
    hosts = 4

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([REPO / "tests/testbed/slurm-up", "8"], env={**os.environ, "SML_TESTBED": cls.bed.name}, check=True,
                       stdout=subprocess.DEVNULL)
        for name in ("head", *cls.bed.names()):
            sh(cls.bed, name, "pkill -x sshd")

    def allocated(self, *words, hosts=4, **kw):
        return self.bed.exec("head", ["salloc", "--quiet", f"-N{hosts}", *map(str, words)], **kw)

    def assert_one_job(self, done, hosts=4):
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()),
                         [f"{r} of {2 * hosts} on algo-{r // 2 + 1}" for r in range(2 * hosts)])
        for name in self.bed.names():
            self.assert_status(self.bed.exec(name, ["sh", "-c", "! [ -e ~/.config/sml-run ]"]), 0)

    @gate
    def test_the_line_of_every_guide_is_one_job(self):
        for name in self.bed.names():
            self.bed.exec(name, ["ln", "-sf", str(SML_RUN), "/run/torchrun"])
        line = ("first=$(scontrol show hostnames | head -n1); exec srun --ntasks-per-node=1 /run/torchrun --nnodes 4 --nproc-per-node 2 "
                f"--rdzv-id 1 --rdzv-backend c10d --rdzv-endpoint $first:29500 --no-python sh -c '{WHERE}'")
        self.assert_one_job(self.allocated("bash", "-c", line))

    @gate
    def test_one_on_each_host_is_one_job_whatever_the_file_of_sagemaker_says(self):
        self.assert_status(self.bed.exec("algo-1", ["test", "-e", "/opt/ml/input/config/resourceconfig.json"]), 0)
        for options in ((), ("--nnodes", "4")):
            with self.subTest(options):
                done = self.allocated(*ONE_EACH, SML_RUN, "-v", "--no-tag", *options, "--nproc-per-node", "2", "sh", "-c", WHERE)
                self.assert_one_job(done)
                self.assertEqual(done.stderr.count("the hosts know each other by credentials of MUNGE"), 4)
                self.assertIn("8 ranks on 4 hosts, from SLURM_STEP_NODELIST", done.stderr)

    def test_the_key_space_of_a_step_needs_neither_munge_nor_a_known_head(self):
        for starter in (("srun", "--mpi=pmi2", "--ntasks-per-node=1"), ("mpiexec.hydra", "-launcher", "slurm", "-ppn", "1")):
            with self.subTest(starter[0]):
                done = self.allocated("-n4", *starter, SML_RUN, "-v", "--no-tag", "--nproc-per-node", "2", "sh", "-c", WHERE)
                self.assert_one_job(done)
                self.assertEqual(done.stderr.count("by a key in the key space (PMI) of the step"), 4)

    def test_the_host_of_place_0_publishes_itself_whatever_its_number_in_the_step(self):
        line = f"exec {SML_RUN} --no-tag --node-rank $((1 - SLURM_PROCID)) --nproc-per-node 1 sh -c '{WHERE}'"
        done = self.allocated("srun", "--mpi=pmi2", "--ntasks-per-node=1", "sh", "-c", line, hosts=2)
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), ["0 of 2 on algo-2", "1 of 2 on algo-1"])

    def test_two_steps_at_once_on_the_same_hosts_are_two_jobs(self):
        meet = "touch /run/step-$0; until [ -e /run/step-a ] && [ -e /run/step-b ]; do sleep 0.1; done; echo $0 $RANK $WORLD_SIZE"
        step = f"srun --overlap --ntasks-per-node=1 {SML_RUN} --no-tag --nproc-per-node 1 sh -c '{meet}'"
        done = self.allocated("bash", "-c", f"{step} a & a=$!; {step} b & b=$!; wait $a && wait $b")
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"{job} {rank} 4" for job in "ab" for rank in range(4)])

    def test_the_status_of_a_worker_is_that_of_the_step(self):
        done = self.allocated(*ONE_EACH, SML_RUN, "--nproc-per-node", "1", "sh", "-c", "[ $RANK = 2 ] && exit 9; sleep 1000")
        self.assert_status(done, 9)
        self.assertIn("rank 2 on algo-3 exited with status 9", done.stderr)

    def test_scancel_leaves_nothing(self):
        job = self.enterContext(self.bed.popen("head", ["salloc", "--quiet", "-N4", *ONE_EACH, str(SML_RUN), "--grace", "1h",
                                                        "--nproc-per-node", "1", "sh", "-c", "echo up $RANK; exec sleep 1000"]))
        wait_until(lambda: sum(p["cmd"].startswith("sleep 1000") for p in self.bed.ps()) == 4)
        sh(self.bed, "head", "scancel --user root")
        self.assertNotEqual(job.finish().returncode, 0)

    def test_more_tasks_than_hosts_are_refused(self):
        done = self.allocated("-n8", "srun", "-n8", SML_RUN, "true")
        self.assert_status(done, 2)
        self.assertIn("srun has started sml-run 8 times, more than once on a host; start it once on each host "
                      "(--ntasks-per-node=1), or once in all", done.stderr)

    def test_without_munge_the_first_host_makes_a_secret_in_the_home_that_they_share(self):
        """As in a container that does not have it: the PATH does not lead to it."""
        home = tempfile.mkdtemp(dir=BUILD)
        self.addCleanup(shutil.rmtree, home)
        line = f"PATH=/nowhere XDG_CONFIG_HOME={home} exec {SML_RUN} -v --no-tag --nproc-per-node 2 /bin/sh -c 'PATH=/usr/bin; {WHERE}'"
        for _ in range(2):
            done = self.allocated(*ONE_EACH, "/bin/sh", "-c", line)
            self.assert_one_job(done)
            self.assertEqual(done.stderr.count(f"the hosts know each other by the secret of {home}/sml-run/secret"), 4)
        self.assertEqual(os.listdir(f"{home}/sml-run"), ["secret"])
        self.assertEqual(os.stat(f"{home}/sml-run/secret").st_mode & 0o777, 0o600)

    def test_a_munge_of_another_user_is_passed_over_with_a_line(self):
        for name in self.bed.names():
            self.bed.exec(name, ["sh", "-c", "mkdir -p /run/open; printf '#!/bin/sh\ntouch /run/pwned\n' >/run/open/munge; "
                                             "chmod 755 /run/open/munge; chown -R 7700 /run/open"])
        line = f"PATH=/run/open:$PATH exec {SML_RUN} -v --no-tag --nproc-per-node 2 sh -c '{WHERE}'"
        done = self.allocated(*ONE_EACH, "sh", "-c", line)
        self.assert_one_job(done)
        self.assertEqual(done.stderr.count("the hosts know each other by credentials of MUNGE"), 4)
        self.assertEqual(done.stderr.count("warning: /run/open/munge is not run, as /run/open belongs to user 7700"), 4)
        for name in self.bed.names():
            self.assert_status(self.bed.exec(name, ["sh", "-c", "! [ -e /run/pwned ]"]), 0)

    def test_a_host_that_proves_itself_otherwise_is_told(self):
        line = (f"[ $SLURM_PROCID = 1 ] && export SML_JOB_SECRET=0123456789abcdef; "
                f"exec {SML_RUN} --start-timeout {scaled(5)} --nproc-per-node 1 true")
        done = self.allocated(*ONE_EACH, "sh", "-c", line, hosts=2)
        self.assert_status(done, 125)
        self.assertIn("the two sides do not have the same secret", done.stderr)

    def test_a_stranger_who_knows_the_job_is_believed_by_nobody(self):
        """Another user on a host of the job, who has munge as well: he cannot have a credential of this user."""
        line = (f"[ $SLURM_PROCID = 0 ] || exec setpriv --reuid 7700 --regid 7700 --clear-groups {SML_RUN} --start-timeout {scaled(5)} "
                f"--nproc-per-node 1 true; exec {SML_RUN} --start-timeout {scaled(5)} --nproc-per-node 1 true")
        done = self.allocated(*ONE_EACH, "sh", "-c", line, hosts=2)
        self.assert_status(done, 125)
        self.assertIn("its credential is not for this user", done.stderr)


if __name__ == "__main__":
    unittest.main()
