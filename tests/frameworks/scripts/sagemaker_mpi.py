"""Says which rank this is by MPI. `--fails 1`: the last rank raises an exception when all have met."""
import argparse
import os

from mpi4py import MPI

parser = argparse.ArgumentParser()
parser.add_argument("--fails", type=int, default=0)
options = parser.parse_args()
rank, size = MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size()
MPI.COMM_WORLD.Barrier()
print(f"rank {rank} of {size} on {os.uname().nodename}", flush=True)
if options.fails and rank == size - 1:
    raise ArithmeticError(f"rank {rank} of {size} fails")
MPI.COMM_WORLD.Barrier()
