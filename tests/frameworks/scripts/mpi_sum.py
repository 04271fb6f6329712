"""mpi4py's tutorial: a sum over all ranks."""
from mpi4py import MPI

comm = MPI.COMM_WORLD
print(f"rank {comm.Get_rank()} of {comm.Get_size()}: {comm.allreduce(comm.Get_rank() + 1)}", flush=True)
