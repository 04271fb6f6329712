"""A worker of the tests of torch's store: torch_worker.py STEP...; each step prints one line when it is done."""
import datetime
import os
import sys
import time

import torch
import torch.distributed as dist

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
ADDRESS, PORT = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])


def say(*words):
    print(*words, flush=True)


def store():
    return dist.TCPStore(ADDRESS, PORT, WORLD, False, datetime.timedelta(hours=1))


def init(how="env://"):
    if how == "tcp://":
        how = f"tcp://{ADDRESS}:{PORT}"
    dist.init_process_group("gloo", init_method=how, rank=RANK, world_size=WORLD)


def collectives():
    t = torch.tensor([float(RANK + 1)])
    dist.all_reduce(t)
    assert t.item() == WORLD * (WORLD + 1) / 2, t
    dist.barrier()
    if WORLD > 1:
        evens = dist.new_group(list(range(0, WORLD, 2)))
        if RANK % 2 == 0:
            t = torch.tensor([1.0])
            dist.all_reduce(t, group=evens)
            assert t.item() == (WORLD + 1) // 2
    dist.monitored_barrier()


def step_env():
    init()
    collectives()
    dist.destroy_process_group()


def step_tcp():
    init("tcp://")
    collectives()
    dist.destroy_process_group()


def step_again():
    for _ in range(3):
        step_env()


def step_api():
    s = store()
    key = f"k{RANK}"
    s.set(key, b"\x00\xff value")
    assert s.get(key) == b"\x00\xff value"
    assert s.add(key + "n", 5) == 5 and s.add(key + "n", -7) == -2
    assert s.get(key + "n") == b"-2"
    assert s.compare_set(key + "c", "", "first") == b"first"
    assert s.compare_set(key + "c", "other", "second") == b"first"
    assert s.compare_set(key + "c", "first", "second") == b"second"
    assert s.delete_key(key) and not s.delete_key(key)
    begin = time.monotonic()
    try:
        s.wait([key], datetime.timedelta(seconds=0.3))
        raise AssertionError("the wait ended")
    except RuntimeError:
        assert time.monotonic() - begin > 0.2
    assert s.get(key + "n") == b"-2"  # the same connection, after a wait that has timed out
    s.set(key, "late")
    assert s.get(key + "n") == b"-2"
    s.set("big", "x" * (4 << 20))
    assert len(s.get("big")) == 4 << 20
    s.add("done", 1)
    while s.add("done", 0) < WORLD:
        time.sleep(0.01)
    s.wait([f"k{r}" for r in range(WORLD)])
    assert s.num_keys() >= 3 * WORLD + 2, s.num_keys()


def step_rank0_first():
    init()
    early = store() if RANK == 1 else None  # a second store, while rank 0 is there
    dist.barrier()
    if RANK == 0:
        os._exit(0)
    time.sleep(0.5)  # until rank 0 is gone, most likely: the others do not depend on it
    s = early or store()
    s.set(f"after{RANK}", "1")
    s.wait([f"after{r}" for r in range(1, WORLD)])
    os._exit(0)


def step_rank0_last():
    init()
    dist.barrier()
    if RANK != 0:
        os._exit(0)
    time.sleep(0.5)  # until the others are gone, most likely: rank 0 does not depend on them
    store().set("after", "1")
    os._exit(0)


def step_listen():
    s = store()
    s.set(f"listening{RANK}", "1")
    s.wait(["go"])


def step_dawdle():
    """Ranks named in DAWDLERS never come, until the others have been told of it."""
    if str(RANK) in os.environ["DAWDLERS"].split(","):
        sys.stdin.read() if RANK == 0 else time.sleep(600)
    init()


for step in sys.argv[1:]:
    if step in ("rank0_first", "rank0_last"):
        say("done", step)
    globals()["step_" + step]()
    say("done", step)
