"""Lightning's Trainer with strategy "ddp" finds out by itself who started it."""
from frameworks import PYTHON, FrameworkCase, script


class Lightning(FrameworkCase):
    def test_under_torchrun_here(self):
        done = self.here("torchrun", "--standalone", "--nproc-per-node=2", script("lightning_train.py"), env={"LOCAL": "2"})
        self.assert_said(done, "fitted by rank {} of 2, node 0, TorchElasticEnvironment", 2)

    def test_on_hosts(self):
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "-x", "HOSTS=3", PYTHON, script("lightning_train.py"))
        self.assert_said(done, "fitted by rank {} of 3, node {}, TorchElasticEnvironment", 3)

    def test_with_the_variables_of_slurm(self):
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "--preset", "slurm", "-x", "HOSTS=3", PYTHON,
                             script("lightning_train.py"))
        self.assert_said(done, "fitted by rank {} of 3, node {}, ", 3)

    def test_a_failing_rank(self):
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "-x", "HOSTS=3", "-x", "FAILS=1", PYTHON,
                             script("lightning_train.py"))
        self.assert_failed(done, 7, "sml-run: rank 1 on algo-2 exited with status 7")
