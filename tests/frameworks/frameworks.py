"""What the tests of real frameworks share: the interpreter that has them, links with the names of launchers, and hosts."""
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from harness import REPO, SML_RUN, HostsCase, run, watchdog

# Some are fetched; and torch looks up names of its connections, where scripts that make a store at one port several times
# meet the one before if nobody answers.
NEEDS_THE_NETWORK = True
HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE / "scripts"
# pynvml, which NVIDIA's package brings, makes every import of torch warn.
QUIET = {"PYTHONWARNINGS": "ignore", "TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1",
         "PYTHONDONTWRITEBYTECODE": "1"}


def _venv():
    """As tests/frameworks/venv, which has made it, says."""
    version = subprocess.run(["/usr/bin/python3", "--version"], capture_output=True, check=True).stdout
    key = hashlib.sha256((HERE / "requirements.txt").read_bytes() + version).hexdigest()[:12]
    return REPO / "build-frameworks" / key


def environment(name):
    """The folder of an environment of its own, with what requirements-NAME.txt says, beside the frameworks'. It is made at
    its first use."""
    requirements = HERE / f"requirements-{name}.txt"
    version = subprocess.run(["/usr/bin/python3", "--version"], capture_output=True, check=True).stdout
    folder = VENV.parent / f"{name}-{hashlib.sha256(requirements.read_bytes() + version).hexdigest()[:12]}"
    with open(VENV.parent / f"{name}.lock", "w") as lock:  # tests of several processes may be the first
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "complete").exists():
            for old in VENV.parent.glob(f"{name}-*"):
                shutil.rmtree(old)
            subprocess.run(["/usr/bin/python3", "-m", "venv", folder], check=True, timeout=watchdog())
            subprocess.run([folder / "bin/pip", "install", "--quiet", "--requirement", requirements], check=True, timeout=watchdog())
            (folder / "complete").touch()
    return folder


VENV = _venv()
PYTHON = VENV / "bin" / "python"


def script(name):
    return SCRIPTS / name


class FrameworkCase(HostsCase):
    """Three hosts, and this machine. Launchers are called by name, through links, with the frameworks' python first on
    PATH, as in an activated environment."""

    hosts = 3
    watchdog_times = 2
    # What frameworks keep for themselves.
    allowed_files = ("/tmp/torchinductor_*", "/tmp/torchelastic_*", "/home/*/.cache/*", "/home/*/.triton*", "/home/*/.keras*")

    @classmethod
    def setUpClass(cls):
        if not (VENV / "complete").exists():
            raise AssertionError("there is no environment with the frameworks: run tests/frameworks/venv")
        super().setUpClass()
        # Below the source, as every host sees that.
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="links-", dir=VENV.parent))
        cls.links = pathlib.Path(folder)
        for name in ("sml-run", "torchrun", "deepspeed", "horovodrun", "mpirun", "srun"):
            (cls.links / name).symlink_to(SML_RUN)
        path = f"{cls.links}:{VENV}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        cls.environment = {**QUIET, "TORCH_EXTENSIONS_DIR": str(VENV / "extensions"), "PATH": path}

    def here(self, name, *words, env=None):
        """A launcher on this machine."""
        return run([self.links / name, *words], env={**self.environment, **(env or {})},
                   cwd=self.temporary_directory())

    def on_hosts(self, name, *words, env=None):
        """A launcher on the first host. Workers on the others inherit PATH and what quietens them."""
        return self.bed.exec("algo-1", [self.links / name, *words], env={**self.environment, **(env or {})})

    def assert_said(self, done, line, ranks):
        """Each rank said its line, in which {} stands for its number, and nothing else was wrong."""
        self.assert_status(done, 0)
        for rank in range(ranks):
            want = line.replace("{}", str(rank))
            self.assertEqual(done.stdout.count(want), 1, f"{want}\n{done}")

    def assert_failed(self, done, status, *reasons):
        """The job's status is that of the rank which failed first, and the report names it."""
        self.assert_status(done, status)
        for reason in reasons:
            self.assertRegex(done.stderr, reason)
