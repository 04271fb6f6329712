"""JAX: jax.distributed.initialize() and a sum over the devices of all processes."""
import os
import shutil
import socket
import subprocess
import unittest

from frameworks import PYTHON, FrameworkCase, script
from harness import REPO

LINE = "summed by process {} of "


class Jax(FrameworkCase):
    def test_initialize_needs_no_arguments_with_the_preset(self):
        job = ["--preset", "jax", PYTHON, script("jax_train.py")]
        self.assert_said(self.here("sml-run", "-np", "2", *job), LINE, 2)
        self.assert_said(self.on_hosts("sml-run", "-H", self.bed.hosts(1), *job), LINE, 3)

    def test_mpirun_needs_no_preset(self):
        job = [PYTHON, script("jax_train.py")]
        self.assert_said(self.here("mpirun", "-np", "2", *job), LINE, 2)
        self.assert_said(self.on_hosts("mpirun", "-H", self.bed.hosts(1), *job), LINE, 3)

    def test_its_own_arguments_need_no_preset(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        exports = ["-x", "SAY_IT=1", "-x", f"COORDINATOR_PORT={port}"]
        self.assert_said(self.here("sml-run", "-np", "2", *exports, PYTHON, script("jax_train.py")), LINE, 2)
        self.assert_said(self.on_hosts("sml-run", "-H", self.bed.hosts(1), *exports, PYTHON, script("jax_train.py")), LINE, 3)

    def test_without_either_no_rank_runs_alone_and_the_preset_is_named(self):
        done = self.here("sml-run", "-np", "2", PYTHON, script("jax_train.py"))
        self.assert_failed(done, 1, "coordinator_address should be defined", "known cause: JAX .* --preset jax")
        self.assertNotIn("summed by", done.stdout)

    def test_a_failing_rank(self):
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "--preset", "jax", "-x", "FAILS=1", PYTHON,
                             script("jax_train.py"))
        self.assert_failed(done, 7, "sml-run: rank 1 on algo-2 exited with status 7")


MISSING = [program for program in ("slurmctld", "slurmd", "salloc", "munged") if not shutil.which(program)]


@unittest.skipIf(MISSING, f"Slurm's {', '.join(MISSING)} not installed (tests/run installs it)")
class InSlurm(FrameworkCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([REPO / "tests/testbed/slurm-up", "4"], env={**os.environ, "SML_TESTBED": cls.bed.name}, check=True,
                       stdout=subprocess.DEVNULL)

    def test_no_launcher_needs_the_preset(self):
        """Slurm's own srun, the link of that name, and sml-run."""
        for launcher in ("/usr/bin/srun", self.links / "srun", self.links / "sml-run"):
            with self.subTest(launcher=launcher):
                done = self.bed.exec("head", ["salloc", "--quiet", "-N3", "--ntasks-per-node=1", launcher, PYTHON, script("jax_train.py")],
                                     env=self.environment)
                self.assert_said(done, LINE, 3)
