"""Hugging Face's Accelerate: scripts started by us, and its own `accelerate launch` with a configuration as the program."""
from frameworks import PYTHON, FrameworkCase, script

LINE = "accelerated process {} of "
CONFIGURATION = """compute_environment: LOCAL_MACHINE
distributed_type: MULTI_CPU
use_cpu: true
num_machines: 1
num_processes: 1
machine_rank: 0
mixed_precision: bf16
"""


class Accelerate(FrameworkCase):
    def test_scripts(self):
        self.assert_said(self.here("torchrun", "--nproc-per-node=2", script("accelerate_train.py")), LINE, 2)
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), PYTHON, script("accelerate_train.py"))
        self.assert_said(done, LINE, 3)

    def test_the_preset_says_what_its_launcher_would(self):
        done = self.here("sml-run", "-np", "2", "--preset", "accelerate", "-x", "ACCELERATE_MIXED_PRECISION=bf16", PYTHON,
                         script("accelerate_train.py"))
        self.assert_said(done, "accelerated process {} of 2, local {}, bf16", 2)

    def test_its_launcher_with_a_configuration_on_each_host(self):
        for host in self.bed.names():
            self.addCleanup(self.bed.put(host, "/run/accelerate.yaml", CONFIGURATION).unlink)
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "accelerate", "launch", "--config_file",
                             "/run/accelerate.yaml", script("accelerate_train.py"))
        self.assert_said(done, "accelerated process {} of 3, local 0, bf16", 3)

    def test_a_failing_rank(self):
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "-x", "FAILS=2", PYTHON, script("accelerate_train.py"))
        self.assert_failed(done, 7, "sml-run: rank 2 on algo-3 exited with status 7")
