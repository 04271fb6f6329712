"""Horovod itself, on torch of today, started by the lines of its documentation."""
import pathlib

from frameworks import VENV, FrameworkCase, script

PYTHON = VENV / "horovod" / "bin" / "python"
WITHOUT_MPI = VENV / "horovod-gloo" / "bin" / "python"
OVER_MPI = VENV / "horovod-mpi" / "bin" / "python"
LINE = "reduced by rank {} of "


class Horovod(FrameworkCase):
    def test_on_this_machine(self):
        done = self.here("horovodrun", "-np", "2", PYTHON, script("horovod_train.py"))
        self.assert_said(done, LINE, 2)
        self.assertEqual(done.stdout.count("by gloo"), 2, done)

    def test_on_hosts(self):
        done = self.on_hosts("horovodrun", "-np", "3", "-H", self.bed.hosts(1), PYTHON, script("horovod_train.py"))
        self.assert_said(done, LINE, 3)

    def test_a_failing_rank(self):
        done = self.on_hosts("horovodrun", "-np", "3", "-H", self.bed.hosts(1), PYTHON, script("horovod_train.py"),
                             env={"FAILS": "1"})
        self.assert_failed(done, 7, "sml-run: rank 1 on algo-2 exited with status 7")

    def test_it_says_how_it_was_built(self):
        done = self.here("horovodrun", "--check-build", env={"PATH": f"{PYTHON.parent}:/usr/bin:/bin"})
        self.assert_status(done, 0)
        self.assertIn("[X] Gloo", done.stdout)


class OverMpi(FrameworkCase):
    """Horovod that was built with MPI alone needs no word of it; one that knows Gloo, too, needs one."""

    def assert_meets(self, done, ranks):
        self.assert_said(done, LINE, ranks)
        self.assertEqual(done.stdout.count("by mpi"), ranks, done)

    def test_on_this_machine(self):
        for name in ("mpirun", "sml-run", "horovodrun"):
            with self.subTest(name):
                self.assert_meets(self.here(name, "-np", "2", OVER_MPI, script("horovod_train.py")), 2)

    def test_on_hosts(self):
        for words in (["sml-run"], ["mpirun", "--allow-run-as-root"], ["horovodrun", "--mpi", "-np", "3"]):
            with self.subTest(words):
                done = self.on_hosts(*words, "-H", self.bed.hosts(1), OVER_MPI, script("horovod_train.py"))
                self.assert_meets(done, 3)

    def test_a_shells_script_starts_it(self):
        line = f"exec {OVER_MPI} {script('horovod_train.py')}"
        self.assert_meets(self.here("sml-run", "-np", "2", "sh", "-c", line), 2)

    def test_one_that_knows_both_is_told(self):
        for words in (["horovodrun", "--mpi"], ["sml-run", "-x", "HOROVOD_CONTROLLER=mpi", "-x", "HOROVOD_CPU_OPERATIONS=mpi"]):
            with self.subTest(words):
                self.assert_meets(self.here(*words, "-np", "2", PYTHON, script("horovod_train.py")), 2)

    def test_a_failing_rank(self):
        done = self.on_hosts("mpirun", "-np", "3", "-H", self.bed.hosts(1), OVER_MPI, script("horovod_train.py"),
                             env={"FAILS": "1"})
        self.assert_failed(done, 7, "sml-run: rank 1 on algo-2 exited with status 7")


class Misfit(FrameworkCase):
    """One that was built without what the line names would end by SIGSEGV; it does not begin."""

    def test_here(self):
        for python, way in ((WITHOUT_MPI, "mpi"), (OVER_MPI, "gloo")):
            with self.subTest(way):
                done = self.here("horovodrun", f"--{way}", "-np", "2", python, script("horovod_train.py"))
                self.assert_status(done, 2)
                self.assertIn(f"HOROVOD_CONTROLLER={way}, but {python.parent.parent}", done.stderr)
                self.assertEqual(done.stdout, "", done)

    def test_on_hosts(self):
        done = self.on_hosts("horovodrun", "--mpi", "-np", "3", "-H", self.bed.hosts(1), WITHOUT_MPI, script("horovod_train.py"))
        self.assert_status(done, 2)
        self.assertIn("was built without it", done.stderr)

    def test_that_without_mpi_runs_by_itself(self):
        for name in ("mpirun", "sml-run", "horovodrun"):
            with self.subTest(name):
                done = self.here(name, "-np", "2", WITHOUT_MPI, script("horovod_train.py"))
                self.assert_said(done, LINE, 2)


class Elastic(FrameworkCase):
    """hvd.elastic, unmodified: nobody starts anew."""

    def setUp(self):
        super().setUp()
        self.shared = pathlib.Path("/run/sml-testbed", self.bed.name, "shared")
        for name in ("hosts", "stop"):
            self.addCleanup((self.shared / name).unlink, missing_ok=True)

    def list(self, *hosts):
        fresh = self.shared / "fresh"  # nobody reads half of it
        fresh.write_text("".join(f"{host}:1\n" for host in hosts))
        fresh.rename(self.shared / "hosts")

    def start(self, **env):
        return self.bed.sml_run_popen("algo-1", "-np", "1", "--min-np", "1", "--host-discovery-script", f"cat {self.shared}/hosts",
                                      PYTHON, script("horovod_elastic.py"), self.shared / "stop", binary_path=self.links / "horovodrun",
                                      env={**self.environment, **env})

    def reads(self, job, *texts):
        said = ""
        while not all(text in said for text in texts):
            said += job.read_until("\n").decode()
        return said

    def end(self, job, *texts):
        (self.shared / "stop").touch()
        done = job.finish()
        self.assert_status(done, 0)
        for text in texts:
            self.assertIn(text, done.stdout)
        return done

    def test_hosts_come_and_go(self):
        self.list("algo-1")
        with self.start() as job:
            self.reads(job, "rank 0 of 1 begins, step 0")
            self.list("algo-1", "algo-2")
            self.reads(job, "rank 0 of 2 begins, step later", "rank 1 of 2 begins, step later")
            self.list("algo-2", "algo-3")
            self.reads(job, "rank 0 of 2 begins, step later", "rank 1 of 2 begins, step later")
            done = self.end(job, "rank 0 of 2 ends", "rank 1 of 2 ends")
        self.assertIn("reset 2", done.stderr)

    def test_another_takes_the_place_of_a_host_on_which_one_fails(self):
        self.list("algo-1", "algo-2", "algo-3")
        with self.start(FAILS="algo-1") as job:
            self.reads(job, "rank 0 of 2 begins, step later", "rank 1 of 2 begins, step later")
            done = self.end(job, "rank 0 of 2 ends", "rank 1 of 2 ends")
        self.assertIn("reset 1", done.stderr)
