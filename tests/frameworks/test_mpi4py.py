"""mpi4py over Debian's MPI, which is Open MPI: its ranks are one world. Over MPICH: see tests/e2e/test_mpi.py for the library
itself."""
from frameworks import PYTHON, FrameworkCase, script


class Mpi4py(FrameworkCase):
    def test_one_world_under_the_name_mpirun(self):
        done = self.here("mpirun", "-np", "2", PYTHON, script("mpi_sum.py"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(line[-14:] for line in done.stdout.splitlines()), ["rank 0 of 2: 3", "rank 1 of 2: 3"])

    def test_one_world_of_hosts(self):
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), PYTHON, script("mpi_sum.py"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("rank 0 of 3: 6", done.stdout)
