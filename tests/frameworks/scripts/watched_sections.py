"""NVIDIA's fault tolerance with sections, whose limits the script calculates, as its documentation has it."""
import os
import time

import nvidia_resiliency_ext.fault_tolerance as fault_tolerance
import torch.distributed as dist

restarts = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
client = fault_tolerance.RankMonitorClient()
client.init_workload_monitoring()
client.start_section("setup")
client.end_section("setup")
for step in range(5):
    client.start_section("step")
    time.sleep(0.05)
    dist.barrier()
    client.end_section("step")
client.calculate_and_set_section_timeouts()
limit = client.section_timeouts.section["step"]
assert client.section_timeouts.were_calculated and 0.25 <= limit < 5, client.section_timeouts
state = client.state_dict()
client.load_state_dict(state)
client.start_section("step")
if restarts == 0 and rank == int(os.environ.get("HANGS_ONCE", -1)):
    time.sleep(600)
client.end_all_sections()
client.shutdown_workload_monitoring()
print(f"sections of rank {rank} of {world}, after {restarts} restarts", flush=True)
dist.barrier()
os._exit(0)  # README: torch 2.13 may abort at Python's own exit
