"""Hugging Face's Accelerate: scripts started by us, and its own `accelerate launch` with a configuration as the program."""
from frameworks import PYTHON, VENV, FrameworkCase, script

LINE = "accelerated process {} of "
CONFIGURATION = """compute_environment: LOCAL_MACHINE
distributed_type: MULTI_CPU
use_cpu: true
num_machines: 1
num_processes: 1
machine_rank: 0
mixed_precision: bf16
"""
# Of several machines: one starts a launcher on each of them, the other calls mpirun, which is ours here.
OF_EACH_HOST = """compute_environment: LOCAL_MACHINE
distributed_type: MULTI_GPU
num_machines: 3
num_processes: 3
main_process_ip: algo-1
main_process_port: 29587
mixed_precision: bf16
"""
BY_MPIRUN = """compute_environment: LOCAL_MACHINE
distributed_type: MULTI_CPU
use_cpu: true
num_machines: 3
num_processes: 3
machine_rank: 0
main_process_ip: algo-1
main_process_port: 29588
mixed_precision: bf16
mpirun_config:
  mpirun_hostfile: /run/hostfile
  mpirun_ccl: '1'
"""


class Accelerate(FrameworkCase):
    def put(self, host, path, text):
        self.addCleanup(self.bed.put(host, path, text).unlink)

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
            self.put(host, "/run/accelerate.yaml", CONFIGURATION)
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "accelerate", "launch", "--config_file",
                             "/run/accelerate.yaml", script("accelerate_train.py"))
        self.assert_said(done, "accelerated process {} of 3, local 0, bf16", 3)

    def test_its_launcher_with_a_configuration_of_three_machines(self):
        for host in self.bed.names():
            self.put(host, "/run/accelerate.yaml", OF_EACH_HOST)
        line = 'exec accelerate launch --config_file /run/accelerate.yaml --machine_rank "$GROUP_RANK" "$0"'
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "sh", "-c", line, script("accelerate_train.py"))
        self.assert_said(done, "accelerated process {} of 3, local 0, bf16", 3)

    def test_its_launcher_calls_mpirun(self):
        self.put("algo-1", "/run/accelerate.yaml", BY_MPIRUN)
        self.put("algo-1", "/run/hostfile", "".join(f"{name}\n" for name in self.bed.names()))
        done = self.bed.exec("algo-1", [VENV / "bin/accelerate", "launch", "--config_file", "/run/accelerate.yaml",
                                        script("accelerate_train.py")], env=self.environment, timeout=100)
        self.assert_said(done, "accelerated process {} of 3, local 0, bf16", 3)
        self.assertIn("sml-run: 3 ranks on 3 hosts", done.stderr)

    def test_a_failing_rank(self):
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "-x", "FAILS=2", PYTHON, script("accelerate_train.py"))
        self.assert_failed(done, 7, "sml-run: rank 2 on algo-3 exited with status 7")
