"""What another user of a host puts where sml_run.launch(), SageMaker's jobs and our helpers look, gets no say in it."""
import json

from harness import PYTHON
from jobs import sh
from test_python import ENVIRONMENT
from test_trust import EVIL_MODULE, EVIL_PROGRAM, HOST, TESTER, TrustCase

OTHER = "algo-2"
IS_THEIRS = f"as /tmp/open belongs to user {TESTER}"


class Launch(TrustCase):
    """sml_run.launch(), whose ranks are python -c."""

    def launch(self, code, cwd="/"):
        self.bed.put(HOST, "/run/own/x.py", code)
        done = self.bed.exec(HOST, [PYTHON, "/run/own/x.py"], env=ENVIRONMENT, cwd=cwd)
        self.assert_not_pwned()
        self.assert_status(done, 0)
        return json.loads(done.stdout), done

    def test_modules_in_the_working_directory_are_not_imported(self):
        """What python3 /run/own/x.py itself does not look at."""
        for host in (HOST, OTHER):
            sh(self.bed, host, "mkdir -m 1777 /tmp/open", user="tester")
            for name in ("binascii", "cloudpickle", "json", "marshal", "os", "pickle", "stat", "traceback"):
                self.plant(host, f"/tmp/open/{name}.py", EVIL_MODULE)
        answer, _ = self.launch("import json, os, sml_run\n"
                                f"print(json.dumps(sml_run.launch(os.getenv, 'SML_HOST', hosts='{HOST},{OTHER}', nproc=1)))", cwd="/tmp/open")
        self.assertEqual(answer, [HOST, OTHER])

    def test_a_folder_that_is_another_users_on_another_host(self):
        good = "import os\ndef f(): return os.environ['SML_HOST']\n"
        self.bed.put(HOST, "/tmp/mine/work.py", good)
        sh(self.bed, OTHER, "mkdir /tmp/mine", user="tester")
        self.plant(OTHER, "/tmp/mine/work.py", EVIL_MODULE)
        self.bed.put(OTHER, "/run/own/modules/work.py", good)
        answer, done = self.launch("import sys\nsys.path[:0] = ['/tmp/mine', '/run/own/modules']\nimport json, sml_run, work\n"
                                   f"print(json.dumps(sml_run.launch(work.f, hosts='{HOST},{OTHER}', nproc=2)))")
        self.assertEqual(answer, [HOST, HOST, OTHER, OTHER])
        said = f"sml_run: no module is imported from /tmp/mine, as /tmp/mine belongs to user {TESTER}\n"
        self.assertEqual(done.stderr.count(said), 1, done.stderr)


class Open(TrustCase):
    """A folder of another user, which a variable names."""

    hosts = 1

    def setUp(self):
        super().setUp()
        sh(self.bed, HOST, "mkdir -m 777 /tmp/open", user="tester")

    def run_here(self, *words, status, said="", **env):
        done = self.bed.sml_run(HOST, *words, env=env)
        self.assert_not_pwned()
        self.assert_status(done, status)
        self.assertIn(said, done.stderr)
        return done.stdout

    def job(self, folder="/opt/ml", **hyperparameters):
        """The files of a training job of SageMaker."""
        self.addCleanup(sh, self.bed, HOST, "rm -rf /opt/ml")
        config = f"{folder}/input/config"
        self.bed.put(HOST, f"{config}/resourceconfig.json", json.dumps({"current_host": HOST, "hosts": [HOST]}))
        self.bed.put(HOST, f"{config}/hyperparameters.json", json.dumps({"sagemaker_program": "train.py", **hyperparameters}))
        return f"{config}/resourceconfig.json"

    def test_files_of_a_job_that_are_moved_there(self):
        file = self.job("/tmp/open/opt/ml")
        for words in (["train"], ["echo", "ran"]):
            with self.subTest(words=words):
                out = self.run_here(*words, status=2, said=f"{file}: is not obeyed, {IS_THEIRS}", SAGEMAKER_BASE_DIR="/tmp/open")
                self.assertEqual(out, "")

    def test_files_that_the_platform_has_written_are_believed_whoever_owns_them(self):
        """As in SageMaker's local mode."""
        self.job()
        self.bed.put(HOST, "/opt/ml/code/train.py", "print('ran')\n")
        sh(self.bed, HOST, "chown -R tester /opt/ml; chmod -R a+w /opt/ml")
        self.assertEqual(self.run_here("train", "--no-tag", status=0), "ran\n")

    def test_programs_that_our_helpers_start_by_name(self):
        """tar starts gzip; this nvidia-smi starts one that is nowhere else."""
        self.job(sagemaker_submit_directory=json.dumps("/run/own/s.tar.gz"))
        sh(self.bed, HOST, "cd /run/own; echo 'print(\"ran\")' > train.py; tar czf s.tar.gz train.py; rm train.py")
        for name in ("gzip", "helps"):
            self.plant(HOST, f"/tmp/open/{name}", EVIL_PROGRAM)
        self.bed.put(HOST, "/run/own/nvidia-smi", "#!/bin/sh\nhelps\necho GPU 0: H100\n", mode=0o755)
        path = "/tmp/open:/run/own:/usr/bin:/bin"
        self.assertEqual(self.run_here("train", "--no-tag", status=0, PATH=path), "ran\n")
        self.run_here("--nproc-per-node", "auto", "true", status=0, PATH=path)

    def test_a_python_that_would_install(self):
        self.job()
        self.bed.put(HOST, "/opt/ml/code/train.py", "print('ran')\n")
        self.bed.put(HOST, "/opt/ml/code/requirements.txt", "some-package\n")
        self.plant(HOST, "/tmp/open/python3", EVIL_PROGRAM)
        out = self.run_here("train", status=125, PATH="/tmp/open:/usr/bin:/bin",
                            said=f"the job's packages are not installed: /tmp/open/python3 is not run, {IS_THEIRS}")
        self.assertEqual(out, "")

    def test_what_is_fetched_from_s3(self):
        self.bed.put(HOST, "/run/own/aws", '#!/bin/sh\nwhile [ $# -gt 2 ]; do shift; done\necho fetched > "$2"\n', mode=0o755)
        words = ["--array-file", "s3://b/lines", "--array-vars", "line", "--array-index", "0", "--no-tag", "echo", "{line}"]
        path = "/run/own:/usr/bin:/bin"
        out = self.run_here(*words, status=2, said=f"nothing is put into /tmp/open, {IS_THEIRS}", PATH=path, TMPDIR="/tmp/open")
        self.assertEqual(out, "")
        self.assertEqual(sh(self.bed, HOST, "ls -A /tmp/open"), "")
        self.assertEqual(self.run_here(*words, status=0, PATH=path, TMPDIR="/tmp"), "fetched\n")
