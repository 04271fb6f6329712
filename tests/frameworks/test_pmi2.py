"""PMI-2 as Slurm's libpmi2 speaks it, which MVAPICH2 and builds of Intel MPI use: a program of ours that is linked with
Debian's package of it."""
import pathlib
import shutil
import subprocess
import tempfile

from frameworks import HERE, VENV
from harness import HostsCase, watchdog
from test_mpi import words

NEEDS_THE_NETWORK = True
PACKAGES = ("libpmi2-0", "libpmi2-0-dev")


def library():
    """The files of the packages, in a folder beside the other frameworks: nothing is installed."""
    folder = VENV.parent / "libpmi2"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run(["apt-get", "download", "--quiet", *PACKAGES], cwd=folder, check=True, timeout=watchdog())
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, folder], check=True, timeout=watchdog())
        (folder / "complete").touch()
    return folder


class Pmi2(HostsCase):
    hosts = 2
    watchdog_times = 3

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        home = library()
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="pmi2-", dir=VENV.parent)))
        folder.chmod(0o755)
        cls.program = folder / "program"
        files = next(home.glob("usr/lib/*/libpmi2.so")).parent
        subprocess.run(["gcc", "-Wall", "-Wextra", f"-I{home}/usr/include/slurm", HERE / "scripts" / "pmi2_program.c", "-o", cls.program,
                        f"-L{files}", "-lpmi2", f"-Wl,-rpath,{files}"], check=True, timeout=watchdog())

    def job(self, *words_of_line):
        return self.bed.sml_run("algo-1", "-np", "4", "-H", self.bed.hosts(2), *words_of_line)

    def test_ranks_of_two_hosts_exchange_what_they_put(self):
        for mpi in ("auto", "pmi2"):
            done = self.job("--mpi", mpi, self.program, "ring")
            self.assert_status(done, 0)
            self.assertEqual(words(done), sorted(line for r in range(4) for line in (
                f"ring {r} of 4: a key that nobody has put is none", f"mapping {r}: (vector,(0,2,2))",
                f"segment {r}: shm-of-this-host", f"port {r}: port-7")))

    def test_abort_ends_the_job_with_its_words(self):
        done = self.job(self.program, "abort")
        self.assert_status(done, 1)
        self.assertRegex(done.stderr, r'rank 3 on algo-2 aborted the job .*saying "the mesh is empty"')

    def test_who_ends_at_a_fence_frees_the_others(self):
        done = self.job(self.program, "die")
        self.assert_status(done, 7)
        self.assertIn("rank 3 on algo-2 exited with status 7", done.stderr)

    def test_no_rank_is_spawned(self):
        done = self.job(self.program, "spawn")
        self.assert_status(done, 0)
        self.assertEqual(words(done), [f"spawn {r}: refused" for r in range(4)])

    def test_who_is_to_speak_another_dialect_is_told_so(self):
        done = self.job("--mpi", "pmi1", self.program, "ring")
        self.assert_status(done, 1)
        self.assertRegex(done.stderr, r"uses PMI-2, and PMI-1 is asked for \(--mpi\)")
