"""Links with the names of other launchers: their lines run as they stand. And defaults from variables and a file."""
import json
import os
import pathlib
import shlex
import subprocess
import tempfile

from harness import SML_RUN, HostsCase, TestCase, gate, run, sml_run, watchdog
from test_open_mpi import ALONE

# What the SageMaker training toolkit composes, with custom_mpi_options behind it.
TOOLKIT = ("--host algo-1:8,algo-2:8 -np 16 --allow-run-as-root --display-map --tag-output -mca btl_tcp_if_include eth0 "
           "-mca oob_tcp_if_include eth0 -mca plm_rsh_no_tree_spawn 1 -bind-to none -map-by slot -mca pml ob1 -mca btl ^openib "
           "-mca orte_abort_on_non_zero_status 1 -mca btl_vader_single_copy_mechanism none -x NCCL_MIN_NRINGS=4 "
           "-x NCCL_SOCKET_IFNAME=eth0 -x NCCL_DEBUG=INFO -x LD_LIBRARY_PATH -x PATH "
           "-mca btl_vader_single_copy_mechanism none -x HOROVOD_HIERARCHICAL_ALLREDUCE=1 "
           "-x HOROVOD_FUSION_THRESHOLD=16777216 -x NCCL_MIN_NRINGS=8 -x NCCL_LAUNCH_MODE=PARALLEL")


class LinkCase(TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.temporary_directory())

    def call(self, name, line, **kw):
        link = self.folder / name
        if not link.exists():
            os.symlink(SML_RUN, link)
        return run([link, *shlex.split(line)], **kw)


class LaunchersAsPrograms(LinkCase):
    def test_a_launcher_in_a_launcher_is_warned_of_and_started(self):
        other = self.folder / "torchrun"
        other.write_text("#!/bin/sh\necho its own ranks\n")
        other.chmod(0o755)
        done = sml_run("-np", "1", other, "--standalone", "train.py")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "its own ranks\n")
        self.assertIn("warning: torchrun is a launcher itself; leave the word out: sml-run --standalone train.py\n", done.stderr)
        quiet = sml_run("--quiet", "-np", "1", other)
        self.assertNotIn("launcher itself", quiet.stderr)

    def test_a_link_to_sml_run_is_no_other_launcher(self):
        (self.folder / "mpirun").symlink_to(SML_RUN)
        done = sml_run("-np", "1", self.folder / "mpirun", "-np", "1", "echo", "inner")
        self.assertNotIn("launcher itself", done.stderr)

    def test_gpus_of_srun_start_no_single_worker_in_silence(self):
        done = sml_run("--gpus", "2", "true")
        self.assert_status(done, 2)
        self.assertIn("--gpus is srun's, and starts no workers here; write --nproc-per-node 2", done.stderr)


class Links(LinkCase):
    @gate
    def test_mpirun_prints_lines_as_they_are(self):
        done = self.call("mpirun", "-np 2 -x A=1 -mca btl tcp,self sh -c 'echo $A $OMPI_MCA_btl $OMPI_COMM_WORLD_SIZE'")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "1 tcp,self 2\n" * 2)

    @gate
    def test_horovodrun_knows_its_knobs_and_variables_before_the_program(self):
        done = self.call("horovodrun", "-np 2 --fusion-threshold-mb 32 --slots 2 A=1 sh -c 'echo $HOROVOD_FUSION_THRESHOLD $A'")
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0]<stdout>:33554432 1", "[1]<stdout>:33554432 1"])

    @gate
    def test_deepspeed_gives_each_script_its_local_rank(self):
        script = self.folder / "script.py"
        script.write_text("import os, sys\nprint(os.environ['RANK'], *sys.argv[1:])\n")
        env = {"PYTHON_EXEC": "/usr/bin/python3"}
        done = self.call("deepspeed", f"--num_gpus 2 {script} --lr 1", env=env)
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), ["0 --local_rank=0 --lr 1", "1 --local_rank=1 --lr 1"])
        done = self.call("deepspeed", "--num_gpus 2 --module script a", env=env, cwd=self.folder)
        self.assertEqual(sorted(done.stdout.splitlines()), ["0 --local_rank=0 a", "1 --local_rank=1 a"])
        done = self.call("deepspeed", f"--num_gpus 2 --no_local_rank {script} a", env=env)
        self.assertEqual(sorted(done.stdout.splitlines()), ["0 a", "1 a"])
        (self.folder / "hosts").write_text("localhost slots=2\n")
        for words, shown in (("--launcher openmpi", "{} --local_rank={} a"), ("--launcher openmpi --force_multi", "{} a")):
            done = self.call("deepspeed", f"--hostfile {self.folder}/hosts {words} {script} a", env=env)
            self.assert_status(done, 0)
            self.assertEqual(sorted(done.stdout.splitlines()), [shown.format(r, r) for r in range(2)], words)

    def test_deepspeed_sets_the_variables_of_its_file_where_it_would_start_several_hosts(self):
        (self.folder / ".deepspeed_env").write_text("MINE=from home\n")
        (self.folder / "hosts").write_text("localhost slots=1\n")
        show = "--no_local_rank --no_python sh -c 'echo $MINE'"
        env = {"HOME": str(self.folder)}
        for words, shown in ((f"--hostfile {self.folder}/hosts --force_multi", "from home\n"),
                             (f"--hostfile {self.folder}/hosts", "\n"), ("--num_gpus 1", "\n")):
            done = self.call("deepspeed", f"{words} {show}", env=env)
            self.assert_status(done, 0)
            self.assertEqual(done.stdout, shown, words)

    def test_deepspeed_binds_ranks_to_shares_of_the_cores(self):
        def numbers(text):
            ends = [part.split("-") for part in text.strip().split(",")]
            return {n for part in ends for n in range(int(part[0]), int(part[-1]) + 1)}

        own = os.sched_getaffinity(0)
        siblings = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
        cores = {frozenset(numbers(pathlib.Path(siblings.format(cpu)).read_text()) & own) for cpu in own}
        done = self.call("deepspeed", "--num_gpus 2 --bind_cores_to_rank --no_local_rank --no_python sh -c "
                         "'echo $OMP_NUM_THREADS $(sed -n s/Cpus_allowed_list://p /proc/self/status)'")
        self.assert_status(done, 0)
        if len(cores) < 2:  # a rank gets a whole core, and there is none for the second
            self.assertIn("the workers cannot be bound: 2 workers with 1 core each", done.stderr)
            return
        self.assertNotIn("cannot be bound", done.stderr)
        shares = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual([threads for threads, _ in shares], [str(len(cores) // 2)] * 2)
        bound = [numbers(cpus) for _, cpus in shares]
        self.assertFalse(bound[0] & bound[1], bound)
        for cpus in bound:
            whole = [core for core in cores if core <= cpus]
            self.assertEqual(len(whole), len(cores) // 2, bound)
            self.assertEqual(cpus, set().union(*whole), bound)

    def test_torchrun_runs_scripts_and_modules_with_python(self):
        script = self.folder / "script.py"
        script.write_text("import os, sys\nprint(os.environ['RANK'], sys.argv[1:], open('/proc/self/cmdline').read().split('\\0')[1])\n")
        env = {"PYTHON_EXEC": "/usr/bin/python3"}
        done = self.call("torchrun", f"--standalone --nproc-per-node 4 {script} --lr 1", env=env)
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"{r} ['--lr', '1'] -u" for r in range(4)])
        done = self.call("torchrun", "-m script", env=env, cwd=self.folder)
        self.assert_status(done, 0)
        self.assertTrue(done.stdout.startswith("0 [] -u"), done.stdout)
        done = self.call("torchrun", "--nproc-per-node 2 --no-python echo hello")
        self.assertEqual(done.stdout, "hello\n" * 2)

    def logs_of(self, folder):
        """What torchrun's files hold, by their names below the folder of the run."""
        [run_folder] = folder.iterdir()
        self.assertRegex(run_folder.name, "^none_")
        return {str(path.relative_to(run_folder)): path.read_text() for path in run_folder.rglob("*.log")}

    @gate
    def test_torchrun_redirects_and_tees_streams_to_files(self):
        program = "--no-python sh -c 'echo out $RANK; echo err $RANK >&2'"
        every = {f"attempt_0/{rank}/{name}.log": f"{name[3:]} {rank}\n" for rank in (0, 1) for name in ("stdout", "stderr")}
        folder = self.folder / "both"
        done = self.call("torchrun", f"--nproc-per-node 2 --log-dir {folder} --redirects 3 --tee 3 {program}")
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), ["[default0]:out 0", "[default1]:out 1"])
        self.assertEqual(self.logs_of(folder), every)
        done = self.call("torchrun", f"--nproc-per-node 2 --log-dir {folder} --redirects 3 {program}")
        self.assert_status(done, 0)  # a second run has a folder of its own
        self.assertEqual((done.stdout, len(list(folder.iterdir()))), ("", 2))
        folder = self.folder / "some"
        done = self.call("torchrun", f"--nproc-per-node 2 --log-dir {folder} -r 0:3,1:1 -t 0:1 {program}")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "[default0]:out 0\n")
        self.assertIn("\nerr 1\n", "\n" + done.stderr)
        self.assertNotIn("err 0", done.stderr)
        self.assertEqual(self.logs_of(folder), {name: text for name, text in every.items() if name != "attempt_0/1/stderr.log"})
        done = self.call("torchrun", f"--nproc-per-node 2 --local-ranks-filter 1 {program}")
        self.assertEqual(done.stdout, "out 1\n")

    def test_torchrun_writes_the_lines_that_its_filters_select_to_a_file(self):
        program = "--no-python sh -c 'echo apple $RANK; echo plum; echo a,b $RANK; echo pear $RANK >&2'"
        filters = "--duplicate-stdout-filters apple,a,,b --duplicate-stderr-filters pear"
        done = self.call("torchrun", f"--nproc-per-node 2 --log-dir {self.folder}/teed -t 0:3,1:1 {filters} {program}")
        self.assert_status(done, 0)
        found = self.logs_of(self.folder / "teed")
        self.assertEqual(sorted(found["attempt_0/filtered_stdout.log"].splitlines()),
                         [f"[default{r}]:{text} {r}" for r in (0, 1) for text in ("a,b", "apple")])
        self.assertEqual(found["attempt_0/filtered_stderr.log"], "[default0]:pear 0\n")
        self.assertEqual(found["attempt_0/1/stdout.log"], "apple 1\nplum\na,b 1\n")
        done = self.call("torchrun", f"--nproc-per-node 2 --log-dir {self.folder}/none {filters} {program}")
        self.assertEqual(self.logs_of(self.folder / "none"), {f"attempt_0/filtered_{s}.log": "" for s in ("stdout", "stderr")})

    def test_torchrun_puts_the_prefix_that_is_asked_for_before_lines(self):
        line = "--nproc-per-node 2 --role train --tee 3 --no-python echo hi"
        done = self.call("torchrun", line)
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), ["[train0]:hi", "[train1]:hi"])
        env = {"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE": "[rank${rank}]: "}
        self.assertEqual(sorted(self.call("torchrun", line, env=env).stdout.splitlines()), ["[rank0]: hi", "[rank1]: hi"])
        done = self.call("torchrun", "--log-line-prefix-template '${role_name}/$local_rank ' " + line, env=env)
        self.assertEqual(sorted(done.stdout.splitlines()), ["train/0 hi", "train/1 hi"])

    def test_torchrun_s_virtual_local_rank_is_0_on_the_one_device_that_a_worker_sees(self):
        line = "--nproc-per-node 2 --virtual-local-rank --no-python sh -c 'echo $RANK $LOCAL_RANK $CUDA_VISIBLE_DEVICES'"
        done = self.call("torchrun", line, env={"CUDA_VISIBLE_DEVICES": "4,7"})
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), ["0 0 4", "1 0 7"])

    def test_torchrun_leaves_the_first_failure_s_error_file_for_who_has_started_it(self):
        theirs = {"message": {"message": "ValueError: no", "extraInfo": {"py_callstack": "...", "timestamp": "17"}}}
        ours = self.folder / "error.json"
        ours.write_text("of an earlier job")
        script = f"test $RANK = 0 && exec sleep 600; echo '{json.dumps(theirs)}' > $TORCHELASTIC_ERROR_FILE; exit 5"
        done = self.call("torchrun", f"--nproc-per-node 2 --no-python sh -c {shlex.quote(script)}",
                         env={"TORCHELASTIC_ERROR_FILE": str(ours)})
        self.assert_status(done, 5)
        theirs["message"]["errorCode"] = 5
        self.assertEqual(json.loads(ours.read_text()), theirs)

    def test_torchrun_prints_a_script_for_the_shell_instead_of_starting_a_job(self):
        done = self.call("torchrun", "--print-completion bash")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, sml_run("--completion", "bash").stdout)

    def test_torchrun_without_a_folder_makes_one_and_tells_it(self):
        done = self.call("torchrun", "--redirects 3 --no-python sh -c 'echo $TORCHELASTIC_RUN_ID'",
                         env={"TMPDIR": str(self.folder), "PET_RDZV_ID": "none"})
        self.assert_status(done, 0)
        [folder] = self.folder.glob("torchelastic_*")
        self.assertIn(f"sml-run: the workers' output is written to files in {folder}\n", done.stderr)
        self.assertEqual(self.logs_of(folder), {"attempt_0/0/stdout.log": "none\n", "attempt_0/0/stderr.log": ""})
        done = self.call("torchrun", "--nproc-per-node auto --no-python echo x")
        self.assertEqual(done.stdout, "x\n" * len(os.sched_getaffinity(0)))  # there is no GPU

    @gate
    def test_mpirun_starts_one_for_each_core_and_binds_as_open_mpi_does(self):
        show = "sh -c 'echo $OMPI_COMM_WORLD_RANK $(grep -o Cpus_allowed_list.* /proc/self/status | cut -f2)'"
        cpus = sorted(os.sched_getaffinity(0))
        done = self.call("mpirun", "-np 1 " + show)
        self.assert_status(done, 0)
        self.assertNotIn("-", done.stdout)  # one core, whose processors need not be neighbours
        done = self.call("mpirun", "-np 2 --oversubscribe -H localhost:1 " + show)  # Open MPI binds nothing then
        self.assertEqual(len(done.stdout.splitlines()), 2)
        done = self.call("mpirun", f"-np 1 --cpu-set {len(cpus)}99 true")
        self.assertIn("may be used here", done.stderr)
        done = self.call("mpirun", "--merge-stderr-to-stdout -np 1 sh -c 'echo a; echo b >&2; echo c'")
        self.assertEqual((done.stdout, "b\n" in done.stderr), ("a\nb\nc\n", False))

    def test_horovodrun_asks_horovod_itself_and_reads_its_file(self):
        env = {"PYTHON_EXEC": "/usr/bin/python3", "PYTHONPATH": str(self.folder)}
        done = self.call("horovodrun", "--check-build", env=env)
        self.assertEqual(done.returncode, 1)
        self.assertIn("Horovod is not installed", done.stderr)
        (self.folder / "horovod").mkdir()
        (self.folder / "horovod" / "__init__.py").write_text("__version__ = '0.28.1'\n")
        done = self.call("horovodrun", "--version", env=env)
        self.assertEqual((done.returncode, done.stdout), (0, "0.28.1\n"))
        (self.folder / "h.yaml").write_text("params:\n  cycle_time_ms: 3.5\n")
        out = self.folder / "out"
        done = self.call("horovodrun", f"-np 10 --oversubscribe --config-file {self.folder}/h.yaml --output-filename {out} "
                                       "sh -c 'echo $HOROVOD_CYCLE_TIME'")
        self.assert_status(done, 0)
        self.assertEqual(sorted(path.name for path in out.iterdir()), [f"rank.{rank}" for rank in range(10)])
        self.assertEqual((out / "rank.9" / "stdout").read_text(), "3.5\n")

    @gate
    def test_horovodrun_s_elastic_line_has_a_worker_on_each_slot_that_is_listed(self):
        discover = self.folder / "discover.sh"
        discover.write_text("#!/bin/sh\necho localhost:3\n")
        discover.chmod(0o755)
        line = f"-np 2 --min-np 1 {{}} --host-discovery-script {discover} sh -c 'echo $HOROVOD_RANK of $HOROVOD_SIZE'"
        for option, size in (("", 3), ("--max-np 2", 2)):
            done = self.call("horovodrun", line.format(option))
            self.assert_status(done, 0)
            self.assertEqual(sorted(done.stdout.splitlines()), [f"[{rank}]<stdout>:{rank} of {size}" for rank in range(size)])
            self.assertNotIn("warning", done.stderr)

    def test_what_has_no_effect_is_named_once(self):
        done = self.call("mpirun", "-np 1 -mca oob_tcp_if_include a -mca oob_tcp_if_include a --display-allocation true")
        self.assert_status(done, 0)
        self.assertIn("sml-run: without effect here: -mca oob_tcp_if_include, --display-allocation\n", done.stderr)

    def test_accelerate_knows_options_of_kinds_of_jobs_that_are_not_chosen(self):
        done = self.call("accelerate", "launch --zero_stage 2 --fp8_margin 1 --num_processes 2 --no_python echo hi")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "hi\n" * 2)
        self.assertIn("without effect here: --zero_stage, --fp8_margin", done.stderr)

    @gate
    def test_what_cannot_be_had_starts_nothing(self):
        started = self.folder / "started"
        for name, line, said in (("horovodrun", "-np 2 --jsrun", "--jsrun: sml-run starts the workers itself"),
                                 ("torchrun", "--nnodes 2", "--nnodes 2: name the hosts with -H"),
                                 ("mpirun", "-np 1 --xml", "--xml: sml-run writes no XML")):
            done = self.call(name, f"{line} touch {started}")
            self.assert_status(done, 2)
            self.assertIn(said, done.stderr)
        self.assertFalse(started.exists())


HELLO = """
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("%d of %d\\n", rank, size);
  fflush(stdout);
  if (argc > 1) pause();
  return MPI_Finalize();
}
"""


class MpiPrograms(LinkCase):
    """Real ones, of both families. Whom we do not bring together each rank would be rank 0 of 1."""

    @classmethod
    def setUpClass(cls):
        cls.programs = {}
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="sml-e2e-")))
        (folder / "hello.c").write_text(HELLO)
        for library, family in (("libmpich.so.12", "mpich"), ("libmpi.so.40", "openmpi")):
            cls.programs[library] = folder / f"hello.{family}"
            subprocess.run([f"mpicc.{family}", folder / "hello.c", "-o", cls.programs[library]], check=True, timeout=watchdog())

    @gate
    def test_those_of_mpich_are_one_world_under_every_name(self):
        for name in ("mpirun", "mpiexec", "mpiexec.hydra", "sml-run", "horovodrun"):
            done = self.call(name, f"-np 2 {self.programs['libmpich.so.12']}")
            self.assert_status(done, 0)
            self.assertEqual(sorted(line[-6:] for line in done.stdout.splitlines()), ["0 of 2", "1 of 2"], name)
            self.assertNotIn("alone", done.stderr)

    @gate
    def test_those_of_open_mpi_are_one_world_under_every_name(self):
        for name in ("mpirun", "mpiexec", "mpiexec.hydra", "sml-run", "horovodrun"):
            done = self.call(name, f"-np 2 {self.programs['libmpi.so.40']}")
            self.assert_status(done, 0)
            self.assertEqual(sorted(line[-6:] for line in done.stdout.splitlines()), ["0 of 2", "1 of 2"], name)
            self.assertNotIn("alone", done.stderr)

    def test_one_rank_is_meant_to_be_alone(self):
        done = self.call("mpirun", f"-np 1 {self.programs['libmpich.so.12']}")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "0 of 1\n")
        self.assertNotIn("alone", done.stderr)

    @gate
    def test_one_that_a_script_starts_ends_the_job(self):
        """What a shell or an interpreter will load is seen only when it is there."""
        program = self.programs["libmpi.so.40"]
        done = self.call("sml-run", f"-np 2 --mpi pmi1 {shlex.join(ALONE)} sh -c '{program} stay; true'")
        self.assert_status(done, 125)
        self.assertRegex(done.stderr, r"stopped: rank [01] on localhost runs alone, as rank 0 of 1: hello.openmpi \(pid \d+\) uses the "
                                      r"MPI library libmpi.so.40")

    def test_those_whom_another_launcher_brings_together_are_not_alone(self):
        program = self.programs["libmpich.so.12"]
        done = self.call("mpirun", f"-np 2 sh -c 'sleep 0.4 & mpiexec.hydra -n 2 {program}; wait'")
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), ["0 of 2"] * 2 + ["1 of 2"] * 2)
        self.assertNotIn("alone", done.stderr)


class ToolkitLine(HostsCase):
    @gate
    def test_mpirun_of_the_sagemaker_toolkit(self):
        self.bed.exec("algo-1", ["ln", "-s", SML_RUN, "/run/mpirun"])
        self.addCleanup(self.bed.exec, "algo-1", ["rm", "/run/mpirun"])
        done = self.bed.exec("algo-1", ["/run/mpirun", *TOOLKIT.split(), "sh", "-c",
                                        "echo $NCCL_MIN_NRINGS $OMPI_MCA_btl $RANK $(hostname)"])
        self.assert_status(done, 0)
        wanted = [f"[1,{r}]<stdout>:8 ^openib {r} algo-{1 + r // 8}" for r in range(16)]
        self.assertEqual(sorted(done.stdout.splitlines()), sorted(wanted))
        self.assertIn("algo-2", done.stderr)  # the map


class Defaults(TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.temporary_directory())
        self.config = self.folder / "sml.toml"

    @gate
    def test_file_variables_and_command_line(self):
        self.config.write_text('np = 4\ntag = "<{rank}> "\n\n[x]\nA = "of the file"\nB = "of the file"\n')
        env = {"SML_CONFIG": str(self.config), "SML_NP": "3", "SML_X": "B='of the variable'"}
        done = sml_run("-np", "2", "sh", "-c", "echo $A, $B", env=env)
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"<{r}> of the file, of the variable" for r in range(2)])

    @gate
    def test_explain_says_where_values_come_from_and_starts_nothing(self):
        self.config.write_text("\ngrace = 3s\n")
        done = sml_run("--config", self.config, "-np", "2", "-x", "MY_TOKEN=hush", "--explain", "--format", "json",
                       "touch", self.folder / "started", env={"SML_TIMEOUT": "9s"})
        self.assert_status(done, 0)
        found = {o["option"]: o for o in json.loads(done.stdout)["options"]}
        self.assertEqual(found["--grace"], {"option": "--grace", "value": "3s", "source": "file", "where": f"{self.config}:2"})
        self.assertEqual(found["--timeout"]["where"], "SML_TIMEOUT")
        self.assertEqual(found["--np"]["source"], "command line")
        self.assertEqual(found["-x"]["value"], "MY_TOKEN=(hidden)")
        self.assertFalse((self.folder / "started").exists())
        self.assertNotIn("hush", done.stdout + done.stderr)

    @gate
    def test_a_job_inside_a_job_does_not_inherit_options(self):
        done = sml_run("--no-tag", SML_RUN, "sh", "-c", "echo $SML_WORLD_SIZE $SML_TIMEOUT-",
                       env={"SML_NP": "2", "SML_TIMEOUT": "60s"})
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "1 -\n" * 2)

    def test_mistakes_name_the_variable_or_the_line(self):
        self.config.write_text("# ours\nstart_timeout = soon\n")
        for env, said in (({"SML_NP": "many"}, 'SML_NP: "many" is not a whole number'),
                          ({"SML_CONFIG": str(self.config)}, f'{self.config}:2: start_timeout: "soon" is not a duration'),
                          ({"SML_CONFIG": "/nowhere"}, "SML_CONFIG /nowhere: ")):
            done = sml_run("true", env=env)
            self.assert_status(done, 2)
            self.assertIn(f"sml-run: {said}", done.stderr)
