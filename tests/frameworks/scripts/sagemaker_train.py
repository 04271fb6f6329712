"""Trains a line by torch's DDP. `--fails N`: rank 1 raises an exception in the first N attempts."""
import argparse
import os

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, default=0.1)
parser.add_argument("--fails", type=int, default=0)
options = parser.parse_args()


def broken_step(attempt):
    raise ArithmeticError(f"the loss of attempt {attempt} is no number")


dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
attempt = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=options.rate)
torch.manual_seed(rank)
for step in range(20):
    x = torch.rand(64, 1)
    loss = ((model(x) - (3 * x + 1)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 5 and rank == 1 and attempt < options.fails:
        broken_step(attempt)
weights = torch.cat([p.detach().flatten() for p in model.parameters()])
everybodys = [torch.empty_like(weights) for _ in range(size)]
dist.all_gather(everybodys, weights)
same = all(torch.equal(one, weights) for one in everybodys)
print(f"trained by rank {rank} of {size} in attempt {attempt}: {same}", flush=True)
dist.barrier()
os._exit(0)
