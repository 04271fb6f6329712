"""NVIDIA's fault tolerance, as its documentation has it: ft_launcher, or who serves the same, watches the ranks' heartbeats."""
import os
import time

import nvidia_resiliency_ext.fault_tolerance as fault_tolerance
import torch
import torch.distributed as dist

restarts = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
client = fault_tolerance.RankMonitorClient()
client.init_workload_monitoring()
total = torch.ones(1) * (rank + 1)
for step in range(3):
    client.send_heartbeat()
    if step == 1 and restarts == 0 and rank == int(os.environ.get("FAILS_ONCE", -1)):
        os._exit(7)
    if step == 1 and restarts == 0 and rank == int(os.environ.get("HANGS_ONCE", -1)):
        time.sleep(600)
    dist.all_reduce(total)
client.shutdown_workload_monitoring()
print(f"watched rank {rank} of {world}, after {restarts} restarts", flush=True)
dist.barrier()
os._exit(0)  # README: torch 2.13 may abort at Python's own exit
