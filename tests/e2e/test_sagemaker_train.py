"""`sml-run train` as the entry point of a SageMaker training container of one host: a made-up /opt/ml, found through
SAGEMAKER_BASE_DIR, and real programs."""
import errno
import gzip
import importlib.util
import io
import json
import os
import shutil
import subprocess
import tarfile
from unittest import mock

from harness import PYTHON, REPO, SML_RUN, TRAIN_DDP, TestCase, gate, run, sml_run, watchdog

PATH = f"{os.path.dirname(PYTHON)}:{os.environ['PATH']}"  # "python3" is the one that has torch

MPI_PROGRAM = REPO / "tests/e2e/mpi_program.c"

SHOW = """import json, os, sys
print(json.dumps({"argv": sys.argv, "cwd": os.getcwd(),
                  "env": {k: v for k, v in os.environ.items() if k.startswith("SM_") or k in ("A", "TF_CONFIG", "RANK")}}))
"""


DRIVER = REPO / "packaging/python/sml_run/sagemaker/driver/sml_driver.py"


class Container(TestCase):
    def setUp(self):
        self.base = self.temporary_directory()
        self.ml = self.base / "opt/ml"
        for folder in ("input/config", "input/data/train", "code", "model", "output/data"):
            (self.ml / folder).mkdir(parents=True)
        self.config("resourceconfig", {"current_host": "algo-1", "hosts": ["algo-1"], "network_interface_name": "eth0",
                                       "current_instance_type": "ml.c5.xlarge", "current_group_name": "homogeneousCluster",
                                       "instance_groups": [{"instance_group_name": "homogeneousCluster",
                                                            "instance_type": "ml.c5.xlarge", "hosts": ["algo-1"]}]})
        self.config("inputdataconfig", {"train": {"TrainingInputMode": "File", "S3DistributionType": "FullyReplicated"}})

    def config(self, name, value):
        (self.ml / f"input/config/{name}.json").write_text(json.dumps(value))

    def failure(self):
        file = self.ml / "output/failure"
        return file.read_text() if file.exists() else None


class Train(Container):
    def program(self, name, text, **hyperparameters):
        (self.ml / "code" / name).write_text(text)
        self.config("hyperparameters", {"sagemaker_program": json.dumps(name), **hyperparameters})

    def train(self, *options, env=None, **kw):
        """As SageMaker starts a container: with one word. The name algo-1 is known to no resolver."""
        variables = {"SAGEMAKER_BASE_DIR": str(self.base), "A": None, "PATH": PATH, **(env or {})}
        return sml_run(*options, "train", env=variables, **kw)

    @gate
    def test_the_program_gets_hyperparameters_and_variables_as_from_the_training_toolkit(self):
        self.program("show.py", SHOW, **{"learning-rate": "1e-5", "layers": "[1, \"a b\"]", "note": "$HOME `id` 'x'",
                                         "flag": "true"})
        done = self.train()
        self.assert_status(done, 0)
        shown = json.loads(done.stdout)
        self.assertEqual(shown["argv"], ["show.py", "--flag", "True", "--layers", "[1, 'a b']", "--learning-rate", "1e-05",
                                         "--note", "$HOME `id` 'x'"])
        self.assertEqual(shown["cwd"], str(self.ml / "code"))
        env = shown["env"]
        self.assertEqual(env["SM_CURRENT_HOST"], "algo-1")
        self.assertEqual(env["SM_CHANNEL_TRAIN"], str(self.ml / "input/data/train"))
        self.assertEqual(env["SM_MODEL_DIR"], str(self.ml / "model"))
        self.assertEqual((env["SM_HP_LEARNING-RATE"], env["SM_HP_LEARNING_RATE"]), ("1e-05", "1e-05"))
        self.assertEqual(json.loads(env["SM_USER_ARGS"]), shown["argv"][1:])
        self.assertEqual(json.loads(env["SM_TRAINING_ENV"])["current_instance_type"], "ml.c5.xlarge")
        self.assertIsNone(self.failure())

    @gate
    def test_a_lone_worker_is_told_of_no_ranks(self):
        """Else Trainer of Hugging Face uses one GPU of all, and Lightning fails."""
        names = ("RANK", "WORLD_SIZE", "LOCAL_", "GROUP_", "ROLE_", "CROSS_", "MASTER_", "TORCHELASTIC_", "OMPI_", "PMI", "HOROVOD_")
        self.program("show.py", f"import os; print(*sorted(n for n in os.environ if n.startswith({names})), os.environ['SML_RANK'])")
        for env, words, want in (({}, (), ["0"]), ({"MASTER_PORT": "7777", "RANK": "3"}, (), ["MASTER_PORT", "RANK", "0"])):
            done = self.train(*words, env=env)
            self.assert_status(done, 0)
            self.assertEqual(done.stdout.split(), want)
        self.assertIn("WORLD_SIZE", self.train("--nproc-per-node", "1").stdout.split())  # who says a number has ranks

    def test_hyperparameters_in_the_style_of_version_3(self):
        self.program("show.py", SHOW, layers="[1,2]", flag="True")
        done = self.train("--hp-style", "v3")
        self.assert_status(done, 0)
        self.assertEqual(json.loads(done.stdout)["argv"][3:], ["--layers", "[1, 2]", "--flag", "True"])

    @gate
    def test_mpi_with_custom_options_starts_the_workers_that_mpirun_would(self):
        self.program("show.py", SHOW, sagemaker_mpi_enabled="true", sagemaker_mpi_num_of_processes_per_host="3",
                     sagemaker_mpi_custom_mpi_options=json.dumps("-mca btl_vader_single_copy_mechanism none -x A='b c'"))
        done = self.train("--no-tag")
        self.assert_status(done, 0)
        shown = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(sorted(s["env"]["RANK"] for s in shown), ["0", "1", "2"])
        self.assertEqual({s["env"]["A"] for s in shown}, {"b c"})

    @gate
    def test_programs_of_mpi_that_the_script_starts_are_one_world(self):
        for family in ("mpich", "openmpi"):
            with self.subTest(family):
                subprocess.run([f"mpicc.{family}", MPI_PROGRAM, "-o", self.ml / "code/program"], check=True, timeout=watchdog())
                self.program("run.py", "import os\nos.execv('./program', ['program', 'ring'])\n", sagemaker_mpi_enabled="true",
                             sagemaker_mpi_num_of_processes_per_host="3")
                done = self.train("--no-tag")
                self.assert_status(done, 0)
                self.assertEqual(sorted(done.stdout.splitlines()), [f"ring {r} of 3 got {got}" for r, got in enumerate((3, 1, 3))])

    def test_an_array_job_with_custom_options_and_a_wrapper(self):
        """As AWS documents it: each index trains for its line of a file, through a wrapper of the program proper."""
        (self.ml / "input/data/train/points.csv").write_text("1,2\n")
        (self.base / "lines.csv").write_text("us-east-1,Ashburn\neu-west-1,Dublin\nap-northeast-1,Tokyo\nus-west-2,Boardman\n")
        (self.ml / "code/inner.sh").write_text("echo $RANK/$WORLD_SIZE $REGION $LOCATION $1 $2\nexit $([ $LOCATION$RANK != Tokyo5 ]; echo $((3 * $?)))\n")
        custom = ("-mca btl_vader_single_copy_mechanism none -x HOROVOD_HIERARCHICAL_ALLREDUCE=1 -x HOROVOD_FUSION_THRESHOLD=16777216 "
                  "-x NCCL_MIN_NRINGS=8 -x NCCL_LAUNCH_MODE=PARALLEL")
        self.program("wrapper.py", "import os, subprocess, sys\n"
                     "data = os.listdir(os.environ['SM_CHANNEL_TRAIN'])[0]\n"
                     "options = [os.environ[n] for n in ('OMPI_MCA_btl_vader_single_copy_mechanism', 'HOROVOD_HIERARCHICAL_ALLREDUCE',\n"
                     "           'HOROVOD_FUSION_THRESHOLD', 'NCCL_MIN_NRINGS', 'NCCL_LAUNCH_MODE')]\n"
                     "sys.exit(subprocess.run(['sh', 'inner.sh', data, ','.join(options)]).returncode)\n",
                     sagemaker_mpi_enabled="true", sagemaker_mpi_num_of_processes_per_host="8",
                     sagemaker_mpi_custom_mpi_options=json.dumps(custom))
        for index, line in enumerate(("us-east-1 Ashburn", "eu-west-1 Dublin", "ap-northeast-1 Tokyo", "us-west-2 Boardman")):
            with self.subTest(index):
                done = self.train("--array-file", str(self.base / "lines.csv"), "--array-vars", "REGION,LOCATION", "--no-tag",
                                  "--on-failure", "continue", env={"AWS_BATCH_JOB_ARRAY_INDEX": str(index)})
                self.assert_status(done, 3 if index == 2 else 0)
                self.assertEqual(sorted(done.stdout.splitlines()),
                                 [f"{rank}/8 {line} points.csv none,1,16777216,8,PARALLEL" for rank in range(8)])

    @gate
    def test_a_custom_option_that_is_not_understood_ends_the_job_and_says_so_to_the_platform(self):
        self.program("show.py", SHOW, sagemaker_mpi_enabled="true",
                     sagemaker_mpi_custom_mpi_options=json.dumps("--help"))
        done = self.train()
        self.assert_status(done, 2)
        self.assertEqual(done.stdout, "")
        self.assertEqual(self.failure(), 'custom_mpi_options: "--help" is not understood')

    @gate
    def test_torch_trains_on_all_workers_of_the_host(self):
        self.program("train.py", TRAIN_DDP.read_text(),
                     epochs="1", points="512", out=json.dumps(str(self.ml / "model/model.pt")),
                     sagemaker_torch_distributed_enabled="true")
        done = self.train("--nproc-per-node", "2")
        self.assert_status(done, 0)
        self.assertIn("equal parameters on 2 ranks", done.stdout)
        self.assertTrue((self.ml / "model/model.pt").exists())

    @gate
    def test_a_failure_keeps_its_status_and_its_reason(self):
        self.program("bad.py", "import sys\ndef f():\n  raise ValueError('no data for --api_key=abc123')\n"
                               "try:\n  f()\nexcept ValueError:\n  import traceback; traceback.print_exc(); sys.exit(7)\n")
        done = self.train()
        self.assert_status(done, 7)
        self.assertTrue(self.failure().startswith("ValueError: no data for --api_key=***\nrank 0 on algo-1 exited with "
                                                  "status 7"), self.failure())
        self.assertIn("in f", self.failure())
        self.assertLessEqual(len(self.failure()), 1024)
        self.assertNotIn("abc123", self.failure())

    def test_a_failure_file_of_the_user_code_stays(self):
        self.program("own.py", f"open({str(self.ml / 'output/failure')!r}, 'w').write('mine'); raise SystemExit(3)")
        self.assert_status(self.train(), 3)
        self.assertEqual(self.failure(), "mine")

    @gate
    def test_the_failure_of_an_earlier_job_is_not_taken_for_that_of_this_one(self):
        (self.ml / "output/failure").write_text("stale")
        self.program("bad.py", "raise SystemExit(3)")
        self.assert_status(self.train("--dry-run"), 0)
        self.assertEqual(self.failure(), "stale")
        self.assert_status(self.train(), 3)
        self.assertIn("exited with status 3", self.failure())
        self.program("good.py", "pass")
        self.assert_status(self.train(), 0)
        self.assertIsNone(self.failure())

    def test_no_failure_file_when_none_is_wanted(self):
        self.program("bad.py", "raise SystemExit(3)")
        self.assert_status(self.train("--no-failure-file"), 3)
        self.assertIsNone(self.failure())

    @gate
    def test_a_shell_script_gets_its_arguments(self):
        self.program("run.sh", 'printf "%s|" "$@"; echo "$SM_HP_NOTE"', note="a b; exit 9")
        done = self.train()
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "--note|a b; exit 9|a b; exit 9\n")

    def test_a_script_without_the_executable_bit_is_started_by_its_first_line(self):
        self.program("tool.sh", "#!/bin/bash\n[[ $1 == --n1 ]] && echo bash\n", **{"n1": "1"})
        done = self.train()
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "bash\n")

    def fake_pip(self, script):
        """`python3 -m pip` finds this one first."""
        (self.ml / "code/pip").mkdir()
        (self.ml / "code/pip/__init__.py").touch()
        (self.ml / "code/pip/__main__.py").write_text(script)
        (self.ml / "code/requirements.txt").write_text("some-package\n")

    @gate
    def test_an_image_without_python(self):
        self.program("show.py", SHOW)
        done = self.train(env={"PATH": "/nowhere"})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("python3", done.stderr)
        self.assertIn("python3", self.failure())

    def test_requirements_are_installed_once_before_the_workers(self):
        self.program("show.py", "print(open('installed').read())", sagemaker_mpi_enabled="true",
                     sagemaker_mpi_num_of_processes_per_host="2")
        self.fake_pip("import sys; open('installed', 'a').write(' '.join(sys.argv[1:]))")
        done = self.train("--no-tag")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "install -r requirements.txt\n" * 2)

    @gate
    def test_an_installation_that_fails_starts_no_worker(self):
        self.program("show.py", "print('started')")
        self.fake_pip("import sys; print('ERROR: No such package\\n[notice] new pip', file=sys.stderr); raise SystemExit(5)")
        done = self.train()
        self.assert_status(done, 125)
        self.assertIn("\n[notice] new pip\n", done.stderr)
        self.assertNotIn("started", done.stdout)
        self.assertIn("pip install -r requirements.txt", self.failure())
        self.assertIn("exited with status 5: ERROR: No such package\n", self.failure())
        done = self.train("--no-install")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "started\n")

    def bucket(self, *, aws=True, boto3=False):
        """A store of our own behind the platform's programs; answers its folder, and the PATH with them."""
        store, tools = self.base / "s3/b", self.base / "tools"
        store.mkdir(parents=True)
        tools.mkdir()
        for name in ("tar", "gzip", "cp", "sh"):
            (tools / name).symlink_to(shutil.which(name))
        if aws:
            (tools / "aws").write_text(f'#!/bin/sh\necho "$@" >>{self.base}/asked\n'
                                       'while [ $# -gt 2 ]; do shift; done\n'
                                       f'exec cp "{self.base}/s3/${{1#s3://}}" "$2"\n')
            (tools / "aws").chmod(0o755)
        (tools / "python3").write_text(f'#!/bin/sh\nPYTHONPATH={self.base}/site exec {PYTHON} "$@"\n')
        (tools / "python3").chmod(0o755)
        (self.base / "site").mkdir()
        client = ("import shutil\nclass resource:\n"
                  "  def __init__(self, name, region_name, endpoint_url): assert (name, region_name) == ('s3', 'r-1')\n"
                  "  def Bucket(self, name): self.name = name; return self\n"
                  f"  def download_file(self, key, file): shutil.copy(f'{self.base}/s3/{{self.name}}/{{key}}', file)\n")
        (self.base / "site/boto3.py").write_text(client if boto3 else "raise ImportError\n")
        return store, {"PATH": str(tools), "AWS_REGION": "r-1"}

    def pack(self, file, **members):
        """An archive of files, or of whatever the values are."""
        with tarfile.open(file, "w:gz") as tar:
            for name, value in members.items():
                info = value if isinstance(value, tarfile.TarInfo) else tarfile.TarInfo(name.replace("__", "/") + ".py")
                data = b"" if isinstance(value, tarfile.TarInfo) else value.encode()
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))

    def submit(self, uri="s3://b/job/source.tar.gz"):
        self.config("hyperparameters", {"sagemaker_program": "train.py", "sagemaker_submit_directory": json.dumps(uri)})

    @gate
    def test_sources_in_s3_are_fetched_and_unpacked(self):
        store, env = self.bucket()
        (store / "job").mkdir()
        self.pack(store / "job/source.tar.gz", train="import pkg.part; print(pkg.part.x)", pkg__part="x = 'unpacked'")
        self.submit()
        self.assert_status(self.train("--dry-run", env=env), 2)
        self.assertEqual(os.listdir(self.ml / "code"), [])
        done = self.train(env=env)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "unpacked\n")
        self.assertIn("s3 cp --only-show-errors --region r-1 s3://b/job/source.tar.gz", (self.base / "asked").read_text())
        self.assertEqual(sorted(f for f in os.listdir(self.ml / "code") if f != "__pycache__"), ["pkg", "train.py"])
        done = self.train(env=env)  # the code is there now, as it may be in the image
        self.assert_status(done, 0)
        self.assertRegex(done.stderr, "s3://b/job/source.tar.gz is not fetched: .*/code holds the program")

    def test_a_folder_that_others_can_write_in(self):
        store, env = self.bucket()
        self.pack(store / "s.tar.gz", train="print('unpacked')")
        self.submit("s3://b/s.tar.gz")
        (self.ml / "code").chmod(0o1777)  # as /tmp, for all on purpose
        self.assert_status(self.train(env=env), 2)
        self.assertIn("others can write in ", self.failure())
        self.assertEqual((self.ml / "code").stat().st_mode & 0o7777, 0o1777)
        (self.ml / "code").chmod(0o777)
        self.assertEqual(self.train(env=env).stdout, "unpacked\n")
        self.assertEqual((self.ml / "code").stat().st_mode & 0o7777, 0o775)

    def test_a_tool_of_another_user_is_not_run(self):
        store, env = self.bucket(boto3=True)
        self.pack(store / "s.tar.gz", train="print('by boto3')")
        self.submit("s3://b/s.tar.gz")
        os.chown(self.base / "tools/aws", 65534, 65534)
        done = self.train(env=env)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "by boto3\n")
        self.assertRegex(done.stderr, r"warning: \S+/tools/aws is not run, as \S+/tools/aws belongs to user 65534")
        self.assertFalse((self.base / "asked").exists())

    def test_sources_are_fetched_with_boto3_where_there_is_no_aws(self):
        store, env = self.bucket(aws=False, boto3=True)
        self.pack(store / "s.tar.gz", train="print('by boto3')")
        self.submit("s3://b/s.tar.gz")
        self.assertEqual(self.train(env=env).stdout, "by boto3\n")

    def test_sources_that_cannot_be_fetched_are_told_to_the_platform(self):
        _, env = self.bucket(aws=False)
        self.submit()
        self.assert_status(self.train(env=env), 2)
        self.assertIn("source.tar.gz: there is neither the program aws nor Python's boto3", self.failure())
        shutil.rmtree(self.base / "s3"), shutil.rmtree(self.base / "tools"), shutil.rmtree(self.base / "site")
        _, env = self.bucket()
        self.assert_status(self.train(env=env), 2)
        self.assertIn("source.tar.gz: aws exited with status 1", self.failure())
        (self.ml / "code/other.py").touch()
        self.assert_status(self.train(env=env), 2)
        self.assertIn("is not empty, and has no program of that name", self.failure())

    @gate
    def test_an_archive_that_leads_out_of_its_folder_is_refused(self):
        def special(name, kind, target="", mode=0o644):
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.mode = kind, target, mode
            return info

        store, env = self.bucket()
        self.submit("s3://b/s.tar.gz")
        outside = self.base / "outside"
        outside.write_text("before")
        up = "../" * 12 + str(outside).lstrip("/")
        script = tarfile.TarInfo(up)
        attacks = {"a file above": {"a": script}, "an absolute file": {"a": tarfile.TarInfo(str(outside))},
                   "a link out": {"a": special("x", tarfile.SYMTYPE, str(outside))},
                   "a link up": {"a": special("x", tarfile.SYMTYPE, up)},
                   "through a link": {"a": special("x", tarfile.SYMTYPE, str(self.base)), "b": tarfile.TarInfo("x/outside")},
                   "a second name": {"a": special("x", tarfile.LNKTYPE, str(outside))},
                   "a FIFO": {"a": special("x", tarfile.FIFOTYPE)}, "a device": {"a": special("x", tarfile.CHRTYPE)}}
        for name, members in attacks.items():
            with self.subTest(name):
                self.pack(store / "s.tar.gz", train="print(open('x').read())", **members)
                done = self.train(env=env)
                self.assertNotIn("before", done.stdout)
                self.assertEqual(outside.read_text(), "before")
                kept = set(os.listdir(self.ml / "code")) - {"__pycache__"}
                if "absolute" in name:  # tar takes it for a file within the folder
                    self.assertIn("train.py", kept)
                    shutil.rmtree(self.ml / "code")
                else:
                    self.assert_status(done, 2)
                    self.assertIn("sagemaker_submit_directory s3://b/s.tar.gz: ", self.failure())
                    self.assertEqual(kept, set())

    @gate
    def test_a_program_of_another_users_rights_loses_them(self):
        store, env = self.bucket()
        info = tarfile.TarInfo("suid")
        info.mode = 0o6755
        self.pack(store / "s.tar.gz", train="import os; print(oct(os.stat('suid').st_mode))", a=info)
        self.submit("s3://b/s.tar.gz")
        self.assertEqual(self.train(env=env).stdout, "0o100755\n")

    def test_the_lines_of_an_array_may_lie_in_s3(self):
        store, env = self.bucket()
        (store / "lines.csv").write_text("one\ntwo\n")
        done = sml_run("--array-file", "s3://b/lines.csv", "--array-vars", "NAME", "--array-index", "1", "sh", "-c", "echo $NAME",
                       env=env)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "two\n")
        done = sml_run("--array-file", "s3://b/none.csv", "--array-vars", "NAME", "--array-index", "1", "true", env=env)
        self.assert_status(done, 2)
        self.assertIn("--array-file s3://b/none.csv: aws exited with status 1", done.stderr)

    def test_words_that_are_no_options_are_refused(self):
        for words, said in ((["train", "x"], 'train: "x" is no option'), (["serve"], "serve: sml-run trains models")):
            done = sml_run(*words)
            self.assert_status(done, 2)
            self.assertIn(said, done.stderr)

    @gate
    def test_a_processing_job_leaves_its_message(self):
        (self.ml / "config").mkdir()
        (self.ml / "config/resourceconfig.json").write_text('{"current_host":"localhost","hosts":["localhost"]}')
        os.remove(self.ml / "input/config/resourceconfig.json")
        done = sml_run(PYTHON, "-c", "raise ValueError('b' * 3000)", env={"SAGEMAKER_BASE_DIR": str(self.base)})
        self.assert_status(done, 1)
        message = (self.ml / "output/message").read_bytes()
        self.assertTrue(message.startswith(b"ValueError: bbb"), message)
        self.assertLessEqual(len(message), 1024)


class Driver(Container):
    """The driver of the Python package's class SmlRun, and the programs that the job brings, without the SDK."""

    def setUp(self):
        super().setUp()
        self.sent = self.ml / "input/data/sm_drivers"
        (self.sent / "distributed_drivers").mkdir(parents=True)
        (self.sent / "distributed.json").write_text(json.dumps({"process_count_per_node": 2}))
        (self.sent / "sourcecode.json").write_text(json.dumps({"entry_script": "show.py"}))
        (self.sent / "sm_train.sh").touch()
        (self.ml / "input/data/code").mkdir()
        (self.ml / "input/data/code/show.py").write_text(SHOW)
        self.config("hyperparameters", {})
        shutil.copy(DRIVER, self.sent / "distributed_drivers")

    def bring(self, machine, data):
        (self.sent / f"distributed_drivers/sml-run-{machine}.gz").write_bytes(gzip.compress(data, 1))

    def drive(self, machine):
        """The driver on a machine that says it is this one."""
        site = self.base / "site"
        site.mkdir(exist_ok=True)
        (site / "sitecustomize.py").write_text("import os\nclass Name: machine = %r\nos.uname = Name\n" % machine)
        return run([PYTHON, self.sent / "distributed_drivers" / DRIVER.name],
                   env={"SAGEMAKER_BASE_DIR": str(self.base), "PATH": PATH, "PYTHONPATH": str(site), "SM_HOSTS": '["algo-1"]', "SM_CURRENT_HOST": "algo-1"})

    def test_the_program_for_the_processor_is_started(self):
        self.bring("x86_64", b"for another one")
        self.bring("aarch64", SML_RUN.read_bytes())
        done = self.drive("aarch64")
        self.assert_status(done, 0)
        self.assertEqual(sorted(json.loads(line.partition("] ")[2])["env"]["RANK"] for line in done.stdout.splitlines()), ["0", "1"])

    def test_its_name_may_be_taken_before_it_runs(self):
        """As in a folder in which others can write."""
        spec = importlib.util.spec_from_file_location("sml_driver", DRIVER)
        driver = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(driver)
        folder, ran = self.temporary_directory(), []

        def write(fd, data):
            os.write(fd, data)
            for file in folder.iterdir():
                file.unlink()
                file.write_bytes(b"of another user")

        def execv(path, _):
            with open(path, "rb") as file:
                ran.append(file.read())
            raise OSError(errno.ENOEXEC, "Exec format error")

        with mock.patch.multiple(driver, write=write, FOLDERS=(str(folder),)), mock.patch("os.execv", execv):
            driver.start_from_file(b"the program", [])
        self.assertEqual(ran, [b"the program"])

    def test_a_program_for_no_processor_of_here(self):
        """Where its name is right and its content is not, the kernel refuses it."""
        self.bring("x86_64", b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\xf3\x00" + bytes(200))
        done = self.drive("x86_64")
        self.assert_status(done, 1)
        self.assertIn("sml-run cannot be run from anywhere in this container: memory: Exec format error", done.stderr)
        self.assertIn("Exec format error", self.failure())
