"""monitored_barrier(): passed by all, or rank 0 names the one that has not come."""
import datetime
import os
import time

import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
dist.monitored_barrier()
if rank == int(os.environ.get("STAYS_AWAY", -1)):
    time.sleep(600)  # the job ends before
dist.monitored_barrier(timeout=datetime.timedelta(seconds=3), wait_all_ranks=True)
print(f"past the barrier: rank {rank}", flush=True)
dist.destroy_process_group()
os._exit(0)  # README: torch 2.13 may abort at Python's own exit
