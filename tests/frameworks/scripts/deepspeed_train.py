"""DeepSpeed's initialize() with ZeRO, as in its tutorial, on processors."""
import argparse
import os

import deepspeed
import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--local_rank", type=int, default=-1)
parser = deepspeed.add_config_arguments(parser)
args = parser.parse_args()
deepspeed.init_distributed(dist_backend="gloo")
rank, world = dist.get_rank(), dist.get_world_size()
if rank == int(os.environ.get("FAILS", -1)):
    os._exit(7)
torch.manual_seed(0)
settings = {"train_micro_batch_size_per_gpu": 8, "zero_optimization": {"stage": int(os.environ.get("STAGE", 0))},
            "optimizer": {"type": "Adam", "params": {"lr": 0.02, "torch_adam": True}}}
engine, _, _, _ = deepspeed.initialize(model=torch.nn.Linear(4, 1), config=settings)
losses = []
for _ in range(15):
    x = torch.randn(8, 4)
    loss = torch.nn.functional.mse_loss(engine(x), x.sum(1, keepdim=True))
    engine.backward(loss)
    engine.step()
    losses.append(loss.item())
assert losses[-1] < losses[0], losses
print(f"stepped on rank {rank} of {world}, local {os.environ['LOCAL_RANK']}", flush=True)
dist.barrier()
dist.destroy_process_group()
os._exit(0)  # README: torch 2.13 may abort at Python's own exit
