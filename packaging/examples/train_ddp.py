#!/usr/bin/python3
"""Data-parallel training with PyTorch: an ordinary torch.distributed script that knows nothing of its launcher.

Learns to tell points on two interleaved spirals apart, on data that it makes itself. Rank, world size and the address
of rank 0 come from the environment (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), as with every launcher for PyTorch:

    sml-run -np 4 /usr/bin/python3 train_ddp.py --out model.pt
"""
import argparse
import gc
import math
import os
import socket
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def spirals(points, seed):
    """`points` noisy points of two spirals, and which spiral each belongs to."""
    generator = torch.Generator().manual_seed(seed)
    label = torch.arange(points) % 2
    t = torch.rand(points, generator=generator).sqrt() * 1.5 * math.pi
    angle = t + math.pi * label
    xy = torch.stack([t * angle.cos(), t * angle.sin()], dim=1) / 5
    return xy + 0.02 * torch.randn(points, 2, generator=generator), label


def all_equal(model):
    """Whether every rank holds the same parameters, bit by bit."""
    mine = torch.cat([p.detach().flatten() for p in model.parameters()])
    low, high = mine.clone(), mine.clone()
    dist.all_reduce(low, op=dist.ReduceOp.MIN)
    dist.all_reduce(high, op=dist.ReduceOp.MAX)
    return torch.equal(low, high)


def train(args):
    rank, world = dist.get_rank(), dist.get_world_size()
    x, y = spirals(args.points, seed=1)
    x, y = x[rank::world], y[rank::world]  # this rank's share
    torch.manual_seed(rank)  # each rank begins with other weights; DistributedDataParallel takes those of rank 0
    model = DistributedDataParallel(torch.nn.Sequential(
        torch.nn.Linear(2, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 2)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    criterion = torch.nn.CrossEntropyLoss()
    steps = math.ceil(args.points // world / args.batch)  # the same on every rank

    losses = []
    for epoch in range(args.epochs):
        total = torch.zeros(1)
        order = torch.randperm(len(x))
        for step in range(steps):
            chosen = order[step * args.batch:(step + 1) * args.batch]
            optimizer.zero_grad()
            loss = criterion(model(x[chosen]), y[chosen])
            loss.backward()  # averages the gradients of all ranks
            optimizer.step()
            total += loss.detach()
        dist.all_reduce(total)
        losses.append(total.item() / (steps * world))
        if rank == 0:
            print(f"epoch {epoch + 1} of {args.epochs}: loss {losses[-1]:.4f}", flush=True)
        if rank == args.fail_rank:
            raise RuntimeError(f"rank {rank} fails, as --fail-rank asked for")

    if not all_equal(model):
        sys.exit(f"rank {rank}: the ranks ended with different parameters")
    if len(losses) > 1 and losses[-1] >= losses[0]:
        sys.exit(f"rank {rank}: the loss did not go down: {losses}")
    if rank == 0:
        if args.out:
            torch.save(model.module.state_dict(), args.out)
            print(f"saved the model to {args.out}", flush=True)
        print(f"trained: loss {losses[0]:.4f} -> {losses[-1]:.4f}, equal parameters on {world} ranks", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--points", type=int, default=8192, help="points of all ranks together (default 8192)")
    parser.add_argument("--batch", type=int, default=64, help="points of one step of one rank (default 64)")
    parser.add_argument("--out", metavar="FILE", help="where rank 0 saves the trained model")
    parser.add_argument("--fail-rank", type=int, metavar="N", help="rank N fails after the first epoch (for tests)")
    args = parser.parse_args()

    torch.set_num_threads(1)  # one core for each worker
    dist.init_process_group("gloo")
    print(f"rank {dist.get_rank()} of {dist.get_world_size()} on {socket.gethostname()} "
          f"(local rank {os.environ.get('LOCAL_RANK', '?')})", flush=True)
    train(args)
    # The model must be gone before the process group is: when a model holds the last reference to it, PyTorch 1.13 can
    # wait for ever for a thread that waits for Python's lock.
    gc.collect()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
