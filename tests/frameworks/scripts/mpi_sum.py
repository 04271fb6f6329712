"""mpi4py's tutorial: a sum over all ranks. With `--fails` rank 1 raises an exception after it."""
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
print(f"rank {comm.Get_rank()} of {comm.Get_size()}: {comm.allreduce(comm.Get_rank() + 1)}", flush=True)
if "--fails" in sys.argv and comm.Get_rank() == 1:
    raise ArithmeticError("the sum is no number")
