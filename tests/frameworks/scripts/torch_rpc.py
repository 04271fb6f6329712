"""torch.distributed.rpc, as its tutorials have it: every worker asks the next one."""
import os

import torch
import torch.distributed.rpc as rpc

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
rpc.init_rpc(f"worker{rank}", rank=rank, world_size=world)
answer = rpc.rpc_sync(f"worker{(rank + 1) % world}", torch.add, args=(torch.ones(2), rank))
assert answer.tolist() == [rank + 1.0, rank + 1.0], answer
remote = rpc.remote(f"worker{(rank + 1) % world}", torch.full, args=((2,), float(rank)))
assert remote.to_here().tolist() == [rank, rank]
rpc.shutdown()
print(f"called from rank {rank} of {world}", flush=True)
os._exit(0)  # README: torch 2.13 may abort at Python's own exit
