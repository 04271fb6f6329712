"""The third version of SageMaker's Python SDK, the real one: its own code makes a job with our class SmlRun and with its own,
and its scripts run in made-up containers, one on each host of the testbed. Only the service between the two is played."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import frameworks
from frameworks import VENV, FrameworkCase, script
from harness import BUILD, REPO, watchdog

NEEDS_THE_NETWORK = True
FAILURE = "/opt/ml/output/failure"
# Whatever runs in a container ends with its first process.
CONTAINER = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")
# What people write into hyperparameters. A single quote in a value, and other letters than A to Z in a name, break the SDK's
# own file of variables, which bash reads, whatever the distribution is.
ODD = {"n": 3, "rate": 1e-5, "layers": [1, 2], "flag": True, "word": "a b", "empty": "", "quoted": 'say "x"', "money": "$HOME `id`",
       "letters": "é😀", "nested": {"b": [None, 1.5], "a": "x y"}, "large": "1e400", "zero": "007", "text": "true", "True": "True",
       "dash-ed": "1", "number": "12345678901234567890123", "blanks": " 5 ", "null": None, "key with blanks": 1, "key=with": "="}
ODD.update({f"v{i}": value for i, value in enumerate((
    "NaN", "-Infinity", "Infinity", "nan", "-0", "-0.0", "0.1", "1e-400", "1e15", "1e16", "1E5", "1_000", "+1", ".5", "1.", "0x10", "1e", "--3",
    "-x", "--", "TRUE", "false", "None", "[", "]", "{", "[]", "{}", "[1,]", '["a", "b c"]', '{"b":1,"a":{"k":[true,null]}}', '"x"', '"5"', '"1e5"',
    '"[1, 2]"', '"true"', '""', "\\", "\\n", "a\nb", "\n", "a\tb", " ", "  a  ", "#", "a # b", "*", "~", "a;b", "a&b", "a|b", "$(id)", "`", "!!", "%",
    "%s", "{0}", "<a>", '\\"', "é", "e\u0301", "\u00a0", "\u2028", "\u200b", "😀", "日本", "x" * 3000, "a,b", "a:b", "s3://b/k", "/x/y", "../..", "k=v",
    "2026-01-01", "1/2", "1 2", "\x7f", "\x01"))})


def sml_run(**fields):
    return {"class": "SmlRun", "fields": fields}


def torchrun(count):
    return {"class": "Torchrun", "fields": {"process_count_per_node": count}}


def mpi(count):
    return {"class": "MPI", "fields": {"process_count_per_node": count}}


SHOW, TRAIN, SUM = "sagemaker_show.py", "sagemaker_train.py", "mpi_sum.py"
GIVEN = {"entry": SHOW, "hyperparameters": ODD, "hosts": 1, "instance": "ml.p5.48xlarge"}
# All are made in one process: it takes the SDK seconds to be imported.
JOBS = {
    "dies once": {"distributed": sml_run(process_count_per_node=2, max_restarts=1), "entry": TRAIN, "hosts": 4,
                  "hyperparameters": {"fails": 1, "rate": 0.2}},
    "dies twice": {"distributed": sml_run(process_count_per_node=2, max_restarts=1), "entry": TRAIN, "hosts": 4, "hyperparameters": {"fails": 2}},
    "fails": {"distributed": sml_run(), "entry": TRAIN, "hyperparameters": {"fails": 9}},
    "shows": {"distributed": sml_run(process_count_per_node=1), "entry": SHOW},
    "fields": {"distributed": sml_run(process_count_per_node=2, preset="tf", binding="none", options=["--tag", "it's %27 {rank}: "],
                                      environment={"FROM_THE_CLASS": "it's \"$HOME\" 100 %"}), "entry": SHOW},
    "command": {"distributed": torchrun(2), "command": "sml-run train", "entry": TRAIN},
    "torchrun": {"distributed": torchrun(2), "entry": TRAIN},
    "torchrun fails": {"distributed": torchrun(2), "entry": TRAIN, "hyperparameters": {"fails": 9}},
    "mpi": {"distributed": mpi(2), "entry": SUM},
    "mpi fails": {"distributed": mpi(2), "entry": SUM, "hyperparameters": {"fails": 1}},
    "mpi by class": {"distributed": sml_run(process_count_per_node=2), "entry": SUM},
    "mpi fails by class": {"distributed": sml_run(process_count_per_node=2), "entry": SUM, "hyperparameters": {"fails": 1}},
    "given by basic": GIVEN,
    # The real torchrun takes a script's --n for an option of its own that it does not know.
    "given by torchrun": {**GIVEN, "distributed": torchrun(1), "hyperparameters": {key: value for key, value in ODD.items() if key != "n"}},
    "given by class": {**GIVEN, "distributed": sml_run(process_count_per_node=1)},
    "given by command": {**GIVEN, "distributed": torchrun(1), "command": "sml-run train"},
}


def made(python, folder):
    """All jobs, as the SDK makes them, in a folder."""
    source = folder / "source"
    source.mkdir()
    for name in (SHOW, TRAIN, SUM):
        shutil.copy(script(name), source)
    specs = {}
    for name, job in JOBS.items():
        code = {"source_dir": str(source), "entry_script": job["entry"], **({"command": job["command"]} if "command" in job else {})}
        specs[name] = {"source_code": code, "distributed": job.get("distributed"), "hyperparameters": job.get("hyperparameters"),
                       "compute": {"instance_type": job.get("instance", "ml.c5.xlarge"), "instance_count": job.get("hosts", 2)}}
    subprocess.run([python, "-W", "ignore", script("sagemaker_job.py"), json.dumps(specs), folder], check=True, timeout=watchdog(),
                   env={**os.environ, "PYTHONPATH": f"{REPO}/packaging/python", "PATH": f"{BUILD}:{os.environ['PATH']}"})
    return folder


class Job:
    """A job as the SDK has made it, and its containers."""

    def __init__(self, case, name, hosts=None):
        self.case, self.bed = case, case.bed
        self.names = case.bed.names()[:hosts or JOBS[name].get("hosts", 2)]
        self.sent = case.made / name
        self.request = json.loads((self.sent / "request.json").read_text())
        self.instance = self.request["ResourceConfig"]["InstanceType"]

    def place(self):
        """What the service puts into each container: channels without modes, and the configuration."""
        channels = {channel["ChannelName"]: {"TrainingInputMode": "File"} for channel in self.request["InputDataConfig"]}
        for name in self.names:
            top = self.bed.path(name, "/opt/ml")
            shutil.rmtree(top, ignore_errors=True)
            for channel in channels:
                shutil.copytree(self.sent / channel, top / "input/data" / channel)
            for file in (top / "input/data").rglob("*"):
                file.chmod(0o755 if file.is_dir() else 0o644)
            (top / "input/config").mkdir()
            (top / "output").mkdir()
            resources = {"current_host": name, "hosts": self.names, "network_interface_name": "eth0",
                         "current_instance_type": self.instance, "current_group_name": "homogeneousCluster",
                         "instance_groups": [{"instance_group_name": "homogeneousCluster", "instance_type": self.instance,
                                              "hosts": self.names}]}
            for config, value in (("resourceconfig", resources), ("inputdataconfig", channels),
                                  ("hyperparameters", self.request.get("HyperParameters") or {})):
                (top / f"input/config/{config}.json").write_text(json.dumps(value))
        return self

    def run(self, path=None, env=None, through=()):
        """Starts all containers, and answers how each ended. `through` goes before each one's command."""
        algorithm = self.request["AlgorithmSpecification"]
        variables = {"PATH": path or self.case.image, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore",
                     "TRAINING_JOB_NAME": self.request["TrainingJobName"],
                     "TRAINING_JOB_ARN": f"arn:aws:sagemaker:us-west-2:123456789012:training-job/{self.request['TrainingJobName']}", **(env or {})}
        line = [*through, *algorithm["ContainerEntrypoint"], *algorithm["ContainerArguments"]]
        started = [self.case.enterContext(self.bed.popen(name, line, env=variables)) for name in self.names]
        return [process.finish() for process in started]

    def failure(self, name):
        file = self.bed.path(name, FAILURE)
        return file.read_text() if file.exists() else None


def shown(done):
    """What sagemaker_show.py said, by rank; the drivers of the SDK and ours may put something before it."""
    lines = [line[line.index("{"):] for line in done.stdout.splitlines() + done.stderr.splitlines() if '{"argv"' in line]
    return [json.loads(line) for line in lines]


def variables(rank, beginnings, without=()):
    return {key: value for key, value in rank["env"].items() if key.startswith(beginnings) and key not in without}


class SageMakerSdk(FrameworkCase):
    hosts = 4
    watchdog_times = 20  # a venv of 140 packages is made at its first use

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sdk = frameworks.environment("sagemaker")
        cls.made = made(cls.sdk / "bin/python", pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(dir=VENV.parent, prefix="jobs-"))))
        cls.image = f"{VENV}/bin:/usr/bin:/bin"  # nothing of ours is in the image

    def assert_all(self, done, status):
        for one in done:
            self.assert_status(one, status)

    def test_training_goes_on_when_a_rank_dies_once(self):
        done = Job(self, "dies once").place().run()
        self.assert_all(done, 0)
        for rank in range(8):
            self.assertIn(f"trained by rank {rank} of 8 in attempt 1: True", done[0].stdout)

    def test_a_rank_that_dies_twice_leaves_its_exception_on_every_host(self):
        job = Job(self, "dies twice").place()
        done = job.run()
        self.assert_all(done, 1)
        for name in job.names:
            text = job.failure(name)
            # torch puts the rank before each line of a traceback.
            self.assertTrue(text.startswith("[rank1]: ArithmeticError: the loss of attempt 1 is no number\nrank 1 on algo-1 exited with status 1"),
                            f"{name}: {text}\n" + "\n".join(str(one) for one in done))
            self.assertIn("in broken_step", text)
            self.assertLessEqual(len(text), 1024)

    def test_a_warm_container_forgets_the_job_before(self):
        job = Job(self, "fails").place()
        self.assert_all(job.run(), 1)
        self.assertIn("ArithmeticError", job.failure("algo-2"))
        for name in job.names:
            self.bed.path(name, "/opt/ml/input/config/hyperparameters.json").write_text('{"fails":"0"}')
        self.assert_all(job.run(), 0)
        self.assertEqual([job.failure(name) for name in job.names], [None, None])

    def test_a_rank_is_given_what_the_drivers_of_the_sdk_give_it(self):
        """Arguments and variables of one process by their basic driver, by torchrun, by our class and by `sml-run train`."""
        given = {}
        for name in ("basic", "torchrun", "class", "command"):
            done = Job(self, f"given by {name}").place().run(f"{BUILD}:{self.image}" if name == "command" else None)
            self.assert_all(done, 0)
            given[name], = shown(done[0])
        self.assertEqual(given["basic"]["argv"][1:3], ["--n", "3"])
        self.assertEqual(given["torchrun"]["argv"][1:], given["basic"]["argv"][3:])
        for name in ("class", "command"):
            with self.subTest(name):
                self.assertEqual(given[name]["argv"][1:], given["basic"]["argv"][1:])
                self.assertEqual(given[name]["cwd"], "/opt/ml/input/data/code")
                own = ("SM_DISTRIBUTED_CONFIG", "SM_DISTRIBUTED_DRIVER_DIR", "SM_TRAINING_ENV")  # of the class, or with the job's name
                self.assertEqual(variables(given[name], "SM_", own), variables(given["basic"], "SM_", own))
                of_network = ("NCCL_", "FI_", "RDMAV_")
                self.assertEqual(variables(given[name], of_network), variables(given["torchrun"], of_network))

    def test_fields_of_the_class(self):
        done = Job(self, "fields").place().run()
        self.assert_all(done, 0)
        ranks = shown(done[0])
        self.assertEqual({rank["env"]["RANK"] for rank in ranks}, {"0", "1", "2", "3"})
        self.assertEqual({rank["env"]["FROM_THE_CLASS"] for rank in ranks}, {"it's \"$HOME\" 100 %"})
        self.assertIn('it\'s %27 3: {"argv"', done[0].stdout)

    def test_our_program_as_the_command_of_the_source_code(self):
        for hosts in (2, 4):
            with self.subTest(hosts=hosts):
                done = Job(self, "command", hosts).place().run(f"{BUILD}:{self.image}")
                self.assert_all(done, 0)
                self.assertEqual(done[0].stdout.count(f"of {2 * hosts} in attempt 0: True"), 2 * hosts)

    def test_torchrun_of_the_sdk_beside_it(self):
        """It runs; what it leaves of a failure is the command, and its own traceback."""
        for hosts in (2, 4):
            with self.subTest(hosts=hosts):
                done = Job(self, "torchrun", hosts).place().run()
                self.assert_all(done, 0)
                said = "".join(one.stderr + one.stdout for one in done)
                self.assertEqual(said.count(f"of {2 * hosts} in attempt 0: True"), 2 * hosts)
        job = Job(self, "torchrun fails").place()
        self.assert_all(job.run(), 1)
        for name in job.names:
            self.assertIn("returned non-zero exit status 1", job.failure(name))
            self.assertNotIn("ArithmeticError", job.failure(name))

    def test_torchrun_of_the_sdk_that_finds_ours(self):
        """In an image with a link of that name, first in PATH."""
        path = f"{self.links}:{self.image}"
        done = Job(self, "torchrun").place().run(path)
        self.assert_all(done, 0)
        self.assertEqual(sum((one.stderr + one.stdout).count("of 4 in attempt 0: True") for one in done), 4)
        job = Job(self, "torchrun fails").place()
        self.assert_all(job.run(path), 1)
        for name in job.names:
            self.assertTrue(job.failure(name).startswith("[rank1]: ArithmeticError: the loss of attempt 0 is no number\n"), job.failure(name))

    def image_for_mpi(self):
        """Variables of an image as the MPI driver of the SDK wants it: it imports paramiko. What the driver writes goes after the
        test."""
        site = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(dir=VENV.parent, prefix="site-")))
        found = next(self.sdk.glob("lib/python3*/site-packages"))
        for name in ("paramiko*", "nacl", "bcrypt", "cryptography", "invoke", "cffi", "_cffi_backend*"):
            for one in found.glob(name):
                (site / one.name).symlink_to(one)
        etc = self.bed.path("algo-1", "/etc/environment")  # all hosts have the same /etc
        self.addCleanup(etc.write_bytes, etc.read_bytes())
        for name in self.bed.names():
            self.addCleanup(self.bed.exec, name, ["sh", "-c", "rm -f /tmp/ready.* /tmp/done.*"])
        return {"PYTHONPATH": str(site)}

    def test_mpi_of_the_sdk_beside_it(self):
        """It starts as many ranks in all as were asked for on each host, all on the first; what it leaves of a failure is mpirun's
        command. Other hosts look twice a minute whether the job is over, and its sshd stays."""
        image = self.image_for_mpi()
        done = Job(self, "mpi").place().run(env=image, through=CONTAINER)
        self.assert_all(done, 0)
        self.assertEqual(sorted(re.findall("rank [0-9] of [0-9]: [0-9]+", done[0].stdout)), ["rank 0 of 2: 3", "rank 1 of 2: 3"], done[0])
        job = Job(self, "mpi fails").place()
        self.assertNotEqual(job.run(env=image, through=CONTAINER)[0].returncode, 0)
        self.assertIn("returned non-zero exit status", job.failure("algo-1"))
        self.assertNotIn("ArithmeticError", job.failure("algo-1"))

    def test_the_same_program_of_mpi_by_our_class(self):
        done = Job(self, "mpi by class").place().run()
        self.assert_all(done, 0)
        self.assertEqual(sorted(re.findall("rank [0-9] of [0-9]: [0-9]+", done[0].stdout)), [f"rank {rank} of 4: 10" for rank in range(4)])
        job = Job(self, "mpi fails by class").place()
        self.assertNotEqual(job.run()[0].returncode, 0)
        for name in job.names:
            self.assertTrue(job.failure(name).startswith("ArithmeticError: the sum is no number\nrank 1 on algo-1"), job.failure(name))

    def test_where_programs_cannot_be_started_from_files(self):
        job = Job(self, "shows").place()
        for name in job.names:
            for folder in ("/tmp", "/dev/shm", "/var/tmp"):
                self.assert_status(self.bed.exec(name, ["mount", "-o", "remount,noexec", folder]), 0)
                self.addCleanup(self.bed.exec, name, ["mount", "-o", "remount,exec", folder])
        self.assert_all(job.run(), 0)

    def test_where_programs_cannot_be_started_from_memory(self):
        """An older Python has no memfd_create."""
        job = Job(self, "shows").place()
        for name in job.names:
            site = self.bed.path(name, "/opt/ml/site")
            site.mkdir()
            (site / "sitecustomize.py").write_text("import os\ndel os.memfd_create\n")
        self.assert_all(job.run(env={"PYTHONPATH": "/opt/ml/site"}), 0)

    def test_what_cannot_be_started_is_told_where_the_user_looks(self):
        def for_another_processor(top):
            folder = top / "input/data/sm_drivers/distributed_drivers"
            for file in folder.glob("sml-run-*.gz"):
                file.rename(folder / "sml-run-riscv64.gz")

        def damaged(top):
            file, = (top / "input/data/sm_drivers/distributed_drivers").glob("sml-run-*.gz")
            file.write_bytes(file.read_bytes()[:100000])

        def without_script(top):
            (top / "input/data/code" / SHOW).unlink()

        for change, said in ((for_another_processor, "and the job brings sml-run for riscv64 only"), (damaged, "which the SDK has sent, is damaged"),
                             (without_script, f"there is no {SHOW} in /opt/ml/input/data/code")):
            with self.subTest(change.__name__):
                job = Job(self, "shows", hosts=1).place()
                change(self.bed.path("algo-1", "/opt/ml"))
                done, = job.run()
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(said, job.failure("algo-1"))
                self.assertIn(said, done.stderr)

    def test_a_folder_of_sources_that_cannot_be_written(self):
        job = Job(self, "shows").place()
        code = "/opt/ml/input/data/code"
        for name in job.names:
            self.assert_status(self.bed.exec(name, ["sh", "-c", f"mount --bind {code} {code} && mount -o remount,bind,ro {code}"]), 0)
            self.addCleanup(self.bed.exec, name, ["umount", code])
        self.assert_all(job.run(), 0)


class Class(FrameworkCase):
    """SmlRun in the SDK's own process."""
    watchdog_times = 20

    def python(self, code, **env):
        python = frameworks.environment("sagemaker") / "bin/python"
        return frameworks.run([python, "-W", "ignore", "-c", code], env={"PYTHONPATH": f"{REPO}/packaging/python", "PATH": f"{BUILD}:/usr/bin:/bin", **env})

    def test_wrong_values_are_refused(self):
        for fields in ("process_count_per_node=0", "max_restarts=-1", "options=['train']", "options=['--tag', 'x', '--']", "nothing=1"):
            done = self.python(f"from sml_run.sagemaker import SmlRun\nSmlRun({fields})")
            self.assert_status(done, 1)
            self.assertIn("validation error for SmlRun", done.stderr)

    def test_the_folder_goes_with_the_object(self):
        done = self.python("from sml_run.sagemaker import SmlRun\nimport os\none = SmlRun()\nfolder = one.driver_dir\n"
                           "print(sorted(os.listdir(folder)), folder == one.driver_dir)\ndel one\nprint(os.path.exists(folder))")
        self.assertEqual(done.stdout, f"['sml-run-{os.uname().machine}.gz', 'sml_driver.py'] True\nFalse\n", done)

    def test_programs_for_other_processors_go_along(self):
        program = self.temporary_directory() / "sml-run"
        program.write_bytes(b"\x7fELF\x02\x01" + bytes(12) + (183).to_bytes(2, "little") + b"the program")
        done = self.python(f"from sml_run.sagemaker import SmlRun\nimport gzip, os\none = SmlRun(programs=[{str(program)!r}])\n"
                           "print(sorted(os.listdir(one.driver_dir)), gzip.open(one.driver_dir + '/sml-run-aarch64.gz').read()[-11:])\n"
                           "print('programs' in one.model_dump())")
        self.assertEqual(done.stdout, f"['sml-run-aarch64.gz', 'sml-run-{os.uname().machine}.gz', 'sml_driver.py'] b'the program'\nFalse\n", done)
        program.write_bytes(b"#!/bin/sh\n" * 10)
        done = self.python(f"from sml_run.sagemaker import SmlRun\nSmlRun(programs=[{str(program)!r}]).driver_dir")
        self.assertIn("is no program of Linux", done.stderr)

    def test_without_the_sdk(self):
        done = frameworks.run(["/usr/bin/python3", "-c", "from sml_run.sagemaker import SmlRun"], env={"PYTHONPATH": f"{REPO}/packaging/python"})
        self.assertIn("SmlRun needs the third version of SageMaker's SDK: pip install sagemaker-train", done.stderr)
