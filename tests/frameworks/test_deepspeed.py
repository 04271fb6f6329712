"""DeepSpeed trains, started by the lines of its own launcher."""
from frameworks import VENV, FrameworkCase, script

LINE = "stepped on rank {} of "


class DeepSpeed(FrameworkCase):
    def hostfile(self):
        text = "".join(f"{name} slots=1\n" for name in self.bed.names())
        self.addCleanup(self.bed.put("algo-1", "/run/hostfile", text).unlink)
        return ["--hostfile", "/run/hostfile"]

    def test_on_this_machine(self):
        done = self.here("deepspeed", "--num_gpus", "2", script("deepspeed_train.py"), "--deepspeed", env={"STAGE": "1"})
        self.assert_said(done, LINE, 2)

    def test_hostfile(self):
        done = self.on_hosts("deepspeed", *self.hostfile(), script("deepspeed_train.py"), "--deepspeed")
        self.assert_said(done, LINE, 3)

    def test_hostfile_in_part_and_another_launcher_named(self):
        done = self.on_hosts("deepspeed", *self.hostfile(), "--include", "algo-2@algo-3", "--launcher", "openmpi",
                             script("deepspeed_train.py"), "--deepspeed")
        self.assert_said(done, LINE, 2)
        self.assertIn("--launcher openmpi", done.stderr)

    def test_its_own_launcher_calls_ours(self):
        slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "algo-[1-3]", "SLURM_TASKS_PER_NODE": "1(x3)",
                 "SLURM_JOB_NUM_NODES": "3", "SLURM_NODEID": "0", "SLURM_PROCID": "0",
                 "SML_START_BY": "ssh"}  # there is no controller that srun could ask
        hostfile = self.hostfile()
        for launcher, env in (("openmpi", {}), ("mpich", {"SML_PRESET": "hydra"}), ("slurm", slurm)):
            with self.subTest(launcher):
                done = self.bed.exec("algo-1", [VENV / "bin/deepspeed", *hostfile, "--launcher", launcher,
                                                "--master_addr", "algo-1", script("deepspeed_train.py"), "--deepspeed"],
                                     env={**self.environment, **env})
                self.assert_said(done, LINE, 3)
                self.assertIn("sml-run: 3 ranks on 3 hosts", done.stderr)

    def test_a_failing_rank(self):
        done = self.on_hosts("deepspeed", *self.hostfile(), script("deepspeed_train.py"), env={"FAILS": "1"})
        self.assert_failed(done, 7, "sml-run: rank 1 on algo-2 exited with status 7")
