"""mpi4py over Debian's MPI, which is Open MPI: its ranks are not brought together, and nobody is left to believe that they
are. Over MPICH: see tests/e2e/test_mpi.py for the library itself."""
from frameworks import PYTHON, FrameworkCase, script


class Mpi4py(FrameworkCase):
    def test_refused_under_the_name_mpirun(self):
        done = self.here("mpirun", "-np", "2", PYTHON, script("mpi_sum.py"))
        self.assert_failed(done, 125, r"uses the MPI library libmpi\S*\.so")

    def test_warned_of_under_our_own_name(self):
        done = self.on_hosts("sml-run", "-H", self.bed.hosts(1), PYTHON, script("mpi_sum.py"))
        self.assert_failed(done, 0, r"warning: rank \d on algo-\d runs alone, as rank 0 of 1: .* uses the MPI library")
