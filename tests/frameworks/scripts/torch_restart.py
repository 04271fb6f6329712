"""Training that is killed once, after its first step. Says what a worker has that did not come by an import of its own."""
import os
import signal
import sys

IMPORTED = "torch" in sys.modules

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, attempt = dist.get_rank(), int(os.environ["SML_ATTEMPT"])
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(2):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    if attempt == 1 and rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
random = [torch.zeros(1) for _ in range(dist.get_world_size())]
dist.all_gather(random, torch.rand(1))
with torch.no_grad():
    torch.ones(500, 500) @ torch.ones(500, 500)  # threads, where there are some
dist.barrier()
own = len({number.item() for number in random}) == len(random)
print(f"rank {rank} in attempt {attempt}: there before {IMPORTED}, threads {torch.get_num_threads()}, own numbers {own}", flush=True)
os._exit(0)
