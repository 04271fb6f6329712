"""Accelerate's own quick tour: prepare(), a training loop, gather()."""
import os

import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
rank, world = accelerator.process_index, accelerator.num_processes
torch.manual_seed(0)
x = torch.randn(96, 4)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8)
model = torch.nn.Linear(4, 1)
model, optimizer, data = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.05), data)
if rank == int(os.environ.get("FAILS", -1)):
    os._exit(7)
if rank == int(os.environ.get("FAILS_ONCE", -1)) and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
    os._exit(7)
for inputs, targets in data:
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(inputs), targets)
    accelerator.backward(loss)
    optimizer.step()
ranks = accelerator.gather(torch.tensor([rank]))
assert ranks.tolist() == list(range(world)), ranks
accelerator.wait_for_everyone()
print(f"accelerated process {rank} of {world}, local {accelerator.local_process_index}, {accelerator.mixed_precision}", flush=True)
accelerator.end_training()
os._exit(0)  # README: torch 2.13 may abort at Python's own exit
