"""What one rank of tests/gpu/run does: worker.py see|reduce|burn|fail. Prints one line of JSON; knows nothing of sml-run."""
import json
import os
import sys
import time

import torch


def identities():
    """Of the GPUs that this process sees."""
    return [str(torch.cuda.get_device_properties(i).uuid) for i in range(torch.cuda.device_count())]


def see():
    print(json.dumps({"rank": int(os.environ["RANK"]), "variable": os.environ.get("CUDA_VISIBLE_DEVICES"),
                      "gpus": identities()}), flush=True)


def join():
    """As torch's documentation has it: the GPU of the local rank, or the only one that is seen."""
    import torch.distributed as dist

    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    dist.init_process_group("nccl")
    total = torch.ones(1 << 20, device="cuda") * (dist.get_rank() + 1)
    dist.all_reduce(total)
    torch.cuda.synchronize()
    return dist, total[0].item()


def reduce():
    dist, total = join()
    device = torch.cuda.get_device_properties(torch.cuda.current_device())
    print(json.dumps({"rank": dist.get_rank(), "world": dist.get_world_size(), "total": total, "gpus": [str(device.uuid)]}),
          flush=True)
    dist.destroy_process_group()


def burn():
    """Keeps its GPU busy for some seconds."""
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    factor = torch.ones(4096, 4096, device="cuda")
    end = time.monotonic() + 6
    while time.monotonic() < end:
        factor @ factor
        torch.cuda.synchronize()


def fail():
    """The last rank leaves; the others wait for it on their GPUs."""
    dist, _ = join()
    if dist.get_rank() == dist.get_world_size() - 1:
        sys.stdout.flush()
        os._exit(7)
    dist.all_reduce(torch.ones(1, device="cuda"))
    torch.cuda.synchronize()
    time.sleep(600)


{"see": see, "reduce": reduce, "burn": burn, "fail": fail}[sys.argv[1]]()
