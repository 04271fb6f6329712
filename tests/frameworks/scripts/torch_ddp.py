"""DistributedDataParallel, as torch's tutorials have it: trains a line, and every rank ends with the same one."""
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
model = DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(30):
    if step == 10 and rank == int(os.environ.get("FAILS", -1)):
        os._exit(7)
    x = torch.randn(16, 4)
    loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
total = torch.ones(1) * (rank + 1)
dist.all_reduce(total)
assert total.item() == world * (world + 1) / 2, total
weights = [torch.empty_like(model.module.weight) for _ in range(world)]
dist.all_gather(weights, model.module.weight.detach())
assert all(torch.equal(w, weights[0]) for w in weights)
print(f"trained by rank {rank} of {world}, local {os.environ['LOCAL_RANK']}: {loss.item() < 1.0}", flush=True)
dist.destroy_process_group()
os._exit(0)  # README: torch 2.13 may abort at Python's own exit
