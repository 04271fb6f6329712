"""Programs that name the address at which they meet: own_address_worker.py STEP PORT. Each of two ranks prints a sum."""
import os
import sys

import torch
import torch.distributed as dist
import torch.distributed.rpc as rpc
import torch.multiprocessing as mp

STEP, PORT = sys.argv[1:]
URL = f"tcp://127.0.0.1:{PORT}"


def say(rank, total):
    os.write(1, f"{rank} of 2: {total}\n".encode())


def add_up(rank, init_method):
    dist.init_process_group("gloo", init_method=init_method, rank=rank, world_size=2)
    total = torch.tensor([rank + 1.0])
    dist.all_reduce(total)
    say(rank, total.item())
    dist.barrier()
    dist.destroy_process_group()


def by_variables(rank):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = PORT
    add_up(rank, "env://")


def of_imagenet(local_rank, nodes, node_rank):
    """--dist-url, --world-size and --rank count nodes; each starts its processes with mp.spawn."""
    add_up(node_rank * (2 // nodes) + local_rank, URL)


def by_rpc(rank):
    options = rpc.TensorPipeRpcBackendOptions(init_method=URL)
    rpc.init_rpc(f"worker{rank}", rank=rank, world_size=2, rpc_backend_options=options)
    other = rpc.rpc_sync(f"worker{1 - rank}", torch.add, args=(torch.ones(1), 2))
    say(rank, other.item())
    rpc.shutdown()


if __name__ == "__main__":
    if STEP == "spawn":
        mp.spawn(by_variables, nprocs=2)
    elif STEP == "imagenet-spawn":
        mp.spawn(of_imagenet, args=(1, 0), nprocs=2)
    elif STEP == "imagenet":
        mp.spawn(of_imagenet, args=(2, int(os.environ["RANK"])), nprocs=1)
    else:
        {"tcp": lambda rank: add_up(rank, URL), "variables": by_variables, "rpc": by_rpc}[STEP](int(os.environ["RANK"]))
