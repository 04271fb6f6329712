"""Training that goes on from its last checkpoint: restart_worker.py FOLDER STEPS DEATHS RANK

Every rank keeps a copy of the model after each step in FOLDER of its own host. In each of the first DEATHS attempts RANK
is killed two steps after the attempt has begun to train. The last line of rank 0 has the loss, to the last bit.
"""
import os
import pathlib
import signal
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

FOLDER, STEPS, DEATHS, VICTIM = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
RANK, RESTARTS = int(os.environ["RANK"]), int(os.environ["TORCHELASTIC_RESTART_COUNT"])


def data(step):
    generator = torch.Generator().manual_seed(step * 1000 + RANK)
    x = torch.randn(8, 4, generator=generator)
    return x, x.sum(dim=1, keepdim=True)


def checkpoint(step):
    return FOLDER / f"{RANK}.{step}.pt"


def last_common_step():
    mine = max((int(p.name.split(".")[1]) for p in FOLDER.glob(f"{RANK}.*.pt")), default=0)
    common = torch.tensor([mine])
    dist.all_reduce(common, op=dist.ReduceOp.MIN)
    return int(common)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    dist.init_process_group("gloo")
    torch.manual_seed(7)
    model = torch.nn.Linear(4, 1)
    begin = last_common_step()
    if begin:
        model.load_state_dict(torch.load(checkpoint(begin)))
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    print(f"attempt {os.environ['SML_ATTEMPT']} begins after step {begin}", flush=True)
    for step in range(begin + 1, STEPS + 1):
        x, y = data(step)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        new = checkpoint(step).with_suffix(".new")
        torch.save(model.module.state_dict(), new)
        new.rename(checkpoint(step))
        if RESTARTS < DEATHS and RANK == VICTIM and step == begin + 2:
            os.kill(os.getpid(), signal.SIGKILL)
    dist.all_reduce(loss.data)
    if RANK == 0:
        print(f"loss {loss.item().hex()}", flush=True)
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)  # torch 1.13 may wait for ever in the destructors of a process group whose peers have gone


main()
