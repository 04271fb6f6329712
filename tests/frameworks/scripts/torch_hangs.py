"""Rank 1 stays away from a collective in which the others wait; torch's own server tells where each is."""
import os
import time

import torch
import torch.distributed as dist
from torch.distributed.elastic.control_plane import worker_main


def hold_up():
    time.sleep(600)


@worker_main()
def main():
    dist.init_process_group("gloo")
    total = torch.ones(3)
    dist.all_reduce(total)
    print("step", flush=True)
    if dist.get_rank() == 1:
        hold_up()
    dist.all_reduce(total)


main()
os._exit(0)  # README: torch 2.13 may abort at Python's own exit
