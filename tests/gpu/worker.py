"""What one rank of tests/gpu/run does: worker.py WHAT [FOLDER], with one of the functions below. Prints a line of JSON, if
anything; knows nothing of sml-run."""
import json
import os
import pathlib
import sys
import time

BEGAN = time.time()
WERE_THERE = "torch" in sys.modules  # before anybody here has asked for it

import torch  # noqa: E402


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
    print(json.dumps({"rank": dist.get_rank(), "world": dist.get_world_size(), "total": total, "gpus": [str(device.uuid)],
                      "began": BEGAN, "imported_before": WERE_THERE}), flush=True)
    dist.destroy_process_group()


def burn():
    """Keeps its GPU busy for longer than nvidia-smi may wait until it is asked again."""
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    factor = torch.ones(4096, 4096, device="cuda")
    end = time.monotonic() + 35
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


def again():
    """The first attempt fails; the second does as reduce."""
    if os.environ["TORCHELASTIC_RESTART_COUNT"] != "0":
        return reduce()
    return fail()


def wait_until(path):
    while not path.exists():
        time.sleep(0.05)


def lend():
    """As again, but somebody else takes memory of a GPU before the first attempt fails."""
    folder = pathlib.Path(sys.argv[2])
    if os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        (folder / "take").touch()
        wait_until(folder / "taken")
    return again()


def take():
    """That somebody, no rank of the job: has 4 GiB for 5 s. Writes when it gave them back, which its end does."""
    folder = pathlib.Path(sys.argv[2])
    wait_until(folder / "take")
    torch.empty(4 << 30, dtype=torch.uint8, device="cuda:0").fill_(1)
    torch.cuda.synchronize()
    (folder / "taken").touch()
    time.sleep(5)
    (folder / "given_back").write_text(str(time.time()))


def stuck():
    """Three collectives that all do, and one to which the last rank never comes."""
    dist, _ = join()
    for _ in range(2):
        dist.all_reduce(torch.ones(1, device="cuda"))
    torch.cuda.synchronize()
    if dist.get_rank() == dist.get_world_size() - 1:
        time.sleep(600)
    dist.all_reduce(torch.ones(1, device="cuda"))
    torch.cuda.synchronize()


def too_much():
    torch.empty(1 << 45, dtype=torch.uint8, device="cuda")


def astray():
    """An index that only the kernel sees."""
    torch.ones(4, device="cuda")[torch.tensor([9], device="cuda")]
    torch.cuda.synchronize()


{function.__name__: function for function in (see, reduce, burn, fail, again, lend, take, stuck, too_much, astray)}[sys.argv[1]]()
