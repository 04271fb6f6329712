"""Links with the names of other launchers: their lines run as they stand. And defaults from variables and a file."""
import json
import os
import pathlib
import shlex

from harness import SML_RUN, HostsCase, TestCase, run, sml_run

# What the SageMaker training toolkit composes, with custom_mpi_options behind it.
TOOLKIT = ("--host algo-1:8,algo-2:8 -np 16 --allow-run-as-root --display-map --tag-output -mca btl_tcp_if_include eth0 "
           "-mca oob_tcp_if_include eth0 -mca plm_rsh_no_tree_spawn 1 -bind-to none -map-by slot -mca pml ob1 -mca btl ^openib "
           "-mca orte_abort_on_non_zero_status 1 -mca btl_vader_single_copy_mechanism none -x NCCL_MIN_NRINGS=4 "
           "-x NCCL_SOCKET_IFNAME=eth0 -x NCCL_DEBUG=INFO -x LD_LIBRARY_PATH -x PATH "
           "-mca btl_vader_single_copy_mechanism none -x HOROVOD_HIERARCHICAL_ALLREDUCE=1 "
           "-x HOROVOD_FUSION_THRESHOLD=16777216 -x NCCL_MIN_NRINGS=8 -x NCCL_LAUNCH_MODE=PARALLEL")


class Links(TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.temporary_directory())

    def call(self, name, line, **kw):
        link = self.folder / name
        if not link.exists():
            os.symlink(SML_RUN, link)
        return run([link, *shlex.split(line)], **kw)

    def test_mpirun_prints_lines_as_they_are(self):
        done = self.call("mpirun", "-np 2 -x A=1 -mca btl tcp,self sh -c 'echo $A $OMPI_MCA_btl $OMPI_COMM_WORLD_SIZE'")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "1 tcp,self 2\n" * 2)

    def test_horovodrun_knows_its_knobs_and_variables_before_the_program(self):
        done = self.call("horovodrun", "-np 2 --fusion-threshold-mb 32 --slots 2 A=1 sh -c 'echo $HOROVOD_FUSION_THRESHOLD $A'")
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), ["[0]<stdout>:33554432 1", "[1]<stdout>:33554432 1"])

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

    def test_what_has_no_effect_is_named_once(self):
        done = self.call("mpirun", "-np 1 -mca oob_tcp_if_include a -mca oob_tcp_if_include a --display-allocation true")
        self.assert_status(done, 0)
        self.assertIn("sml-run: without effect here: -mca oob_tcp_if_include, --display-allocation\n", done.stderr)

    def test_what_cannot_be_had_starts_nothing(self):
        started = self.folder / "started"
        for name, line, said in (("horovodrun", "-np 2 --min-np 1", "--min-np: the number of workers of a job is fixed"),
                                 ("torchrun", "--nnodes 2", "--nnodes 2: name the hosts with -H"),
                                 ("mpirun", "-np 1 --xml", "--xml: sml-run writes no XML")):
            done = self.call(name, f"{line} touch {started}")
            self.assert_status(done, 2)
            self.assertIn(f"sml-run: {said}", done.stderr)
        self.assertFalse(started.exists())

    def test_an_array_under_another_name_speaks_its_language(self):
        lines = self.folder / "lines"
        lines.write_text("a\nb\n")
        done = self.call("horovodrun", f"--array-file {lines} --array-vars V --array-all -np 1 --autotune sh -c "
                                       "'echo $V $HOROVOD_AUTOTUNE'")
        self.assert_status(done, 0)
        self.assertEqual(len([line for line in done.stdout.splitlines() if line.endswith((" 1", ":a 1", ":b 1"))]), 2, done.stdout)


class ToolkitLine(HostsCase):
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

    def test_file_variables_and_command_line(self):
        self.config.write_text('np = 4\ntag = "<{rank}> "\n\n[x]\nA = "of the file"\nB = "of the file"\n')
        env = {"SML_CONFIG": str(self.config), "SML_NP": "3", "SML_X": "B='of the variable'"}
        done = sml_run("-np", "2", "sh", "-c", "echo $A, $B", env=env)
        self.assert_status(done, 0)
        self.assertEqual(sorted(done.stdout.splitlines()), [f"<{r}> of the file, of the variable" for r in range(2)])

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
