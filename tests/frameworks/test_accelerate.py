"""Hugging Face's Accelerate: scripts started by us, and its own `accelerate launch` with a configuration as the program."""
from frameworks import PYTHON, VENV, FrameworkCase, script
from harness import SML_RUN, watchdog

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
# As `accelerate config` writes it, for training with FSDP.
OF_FSDP = """compute_environment: LOCAL_MACHINE
debug: false
distributed_type: FSDP
downcast_bf16: 'no'
enable_cpu_affinity: false
fsdp_config:
  fsdp_auto_wrap_policy: SIZE_BASED_WRAP
  fsdp_min_num_params: 1
  fsdp_offload_params: false
  fsdp_version: 1
machine_rank: 0
main_training_function: main
mixed_precision: bf16
num_machines: 1
num_processes: 2
rdzv_backend: static
same_network: true
tpu_env: []
tpu_use_cluster: false
tpu_use_sudo: false
use_cpu: false
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
                                        script("accelerate_train.py")], env=self.environment)
        self.assert_said(done, "accelerated process {} of 3, local 0, bf16", 3)
        self.assertIn("sml-run: 3 ranks on 3 hosts", done.stderr)

    def test_its_launch_lines_are_ours_by_a_link(self):
        ours = self.links / "by-its-name"
        ours.mkdir()
        (ours / "accelerate").symlink_to(SML_RUN)
        train = script("accelerate_train.py")
        with self.subTest("its restarts"):
            done = self.here("by-its-name/accelerate", "launch", "--num_processes", "2", "--max_restarts", "1",
                             "--mixed_precision", "bf16", train, env={"FAILS_ONCE": "1"})
            self.assert_said(done, "accelerated process {} of 2, local {}, bf16", 2)
            self.assertIn("sml-run: the job succeeded in attempt 2", done.stderr)
        with self.subTest("the file of its config command"):
            home = self.temporary_directory()
            (home / "accelerate").mkdir()
            (home / "accelerate/default_config.yaml").write_text(OF_FSDP)
            seen = self.here("by-its-name/accelerate", "launch", "--no_python", "sh", "-c",
                             "echo $RANK $ACCELERATE_USE_FSDP $FSDP_MIN_NUM_PARAMS $FSDP_SHARDING_STRATEGY",
                             env={"HF_HOME": str(home)})
            self.assertEqual(sorted(seen.stdout.splitlines()), [f"{rank} true 1 FULL_SHARD" for rank in range(2)], seen)
        with self.subTest("a line for each machine"):
            line = [ours / "accelerate", "launch", "--num_machines", "2", "--num_processes", "2", "--main_process_ip", "algo-1",
                    "--main_process_port", "29589", "--machine_rank"]
            env = {**self.environment, "SML_JOB_SECRET": "shared-by-all-of-the-line"}
            with self.bed.popen("algo-2", [*line, "1", train], env=env) as second:
                done = self.bed.exec("algo-1", [*line, "0", train], env=env)
                self.assertEqual(second.wait(timeout=watchdog()), 0)
            self.assert_said(done, "accelerated process {} of 2, local 0", 2)

    def test_a_failing_rank(self):
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), "-x", "FAILS=2", PYTHON, script("accelerate_train.py"))
        self.assert_failed(done, 7, "sml-run: rank 2 on algo-3 exited with status 7")
