"""FSDP2, as its tutorial has it: fully_shard() on a mesh of all ranks."""
import os
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
mesh = init_device_mesh("cpu", (world,))
for layer in model:
    if isinstance(layer, torch.nn.Linear):
        fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
assert all(isinstance(p, DTensor) for p in model.parameters())
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
torch.manual_seed(rank)
first = None
for _ in range(20):
    x = torch.randn(32, 8)
    loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    first = first or loss.item()
assert loss.item() < first, (first, loss)
whole = model[0].weight.full_tensor()
same = [torch.empty_like(whole) for _ in range(world)]
dist.all_gather(same, whole)
assert all(torch.equal(w, same[0]) for w in same)
print(f"sharded on rank {rank} of {world}", flush=True)
dist.destroy_process_group()
os._exit(0)  # README: torch 2.13 may abort at Python's own exit
