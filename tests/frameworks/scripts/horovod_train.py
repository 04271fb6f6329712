"""Horovod's tutorial for torch: broadcast, DistributedOptimizer, allreduce."""
import os

import horovod.torch as hvd
import torch

hvd.init()
rank, world = hvd.rank(), hvd.size()
total = hvd.allreduce(torch.ones(1) * (rank + 1), op=hvd.Sum)
assert total.item() == world * (world + 1) / 2, total
if rank == int(os.environ.get("FAILS", -1)):
    os._exit(7)  # at a Python exit Horovod would first end the others
torch.manual_seed(rank)
model = torch.nn.Linear(4, 1)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.05), named_parameters=model.named_parameters())
for _ in range(10):
    x = torch.randn(16, 4)
    loss = torch.nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
weights = hvd.allgather(model.weight.detach())
assert torch.equal(weights, weights[:1].expand_as(weights))
by = "mpi" if hvd.mpi_enabled() else "gloo"
print(f"reduced by rank {rank} of {world}, local {hvd.local_rank()}, by {by}", flush=True)
hvd.shutdown()
