"""NVIDIA's in-process restart, as its documentation has it: a rank that fails once begins again, and so do the others."""
import os

import nvidia_resiliency_ext.inprocess as inprocess
import torch
import torch.distributed as dist


@inprocess.Wrapper()
def train(call_wrapper: inprocess.CallWrapper = None):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    if rank == int(os.environ.get("FAILS", -1)):
        os._exit(7)
    total = torch.ones(1) * (rank + 1)
    dist.all_reduce(total)
    assert total.item() == world * (world + 1) / 2, total
    if rank == 1 and call_wrapper.iteration < int(os.environ.get("TIMES", 1)):
        raise RuntimeError("a fault of this once")
    dist.barrier()
    print(f"resilient rank {rank} of {world}, after {call_wrapper.iteration} restarts", flush=True)
    dist.destroy_process_group()


train()
