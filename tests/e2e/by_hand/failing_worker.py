"""Training that goes on from its checkpoint, and fails as it is told: failing_worker.py FOLDER STEPS ATTEMPT:RANK:KIND,...

FOLDER is seen by all hosts; rank 0 keeps the model there after each step. In that ATTEMPT RANK fails after two steps, as
KIND says. `host`: it says "now ATTEMPT RANK" and waits until FOLDER/go.ATTEMPT is there, for what becomes of its host. The
last line of rank 0 has the loss, to the last bit.
"""
import ctypes
import errno
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

RANK, ATTEMPT = int(os.environ["RANK"]), int(os.environ["SML_ATTEMPT"])
FOLDER, STEPS = pathlib.Path(sys.argv[1]), int(sys.argv[2])
FAULTS = {(int(a), int(r)): kind for a, r, kind in (one.split(":") for one in sys.argv[3].split(",") if one)}
KIND = FAULTS.get((ATTEMPT, RANK))
PORT = 29876  # of a program that a rank leaves behind
LEFTOVER = f"import socket, time; s = socket.create_server(('', {PORT})); print('listens', flush=True); time.sleep(3600)"

if KIND == "import":
    import a_module_that_nobody_has  # noqa: F401

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def out_of_memory():
    """By the kernel: 64 MiB for this process alone."""
    old = pathlib.Path("/sys/fs/cgroup/memory")
    group = (old if old.exists() else pathlib.Path("/sys/fs/cgroup")) / f"failing-worker-{os.getpid()}"
    group.mkdir()
    (group / ("memory.limit_in_bytes" if old.exists() else "memory.max")).write_text(str(64 << 20))
    (group / "cgroup.procs").write_text(str(os.getpid()))
    kept = []
    while True:
        kept.append(b"x" * (4 << 20))


def deadlock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def busy():
    while True:
        pass


def full_disk():
    with open("/dev/full", "wb") as file:
        file.write(b"x")
        file.flush()
    sys.exit(errno.ENOSPC)


def leave_something():
    left = subprocess.Popen([sys.executable, "-c", LEFTOVER], stdout=subprocess.PIPE, start_new_session=True)
    left.stdout.readline()
    os._exit(3)


def wait_for_host():
    print(f"now {ATTEMPT} {RANK}", flush=True)
    while not (FOLDER / f"go.{ATTEMPT}").exists():
        time.sleep(0.02)


def signal_itself(number):
    return lambda: os.kill(os.getpid(), number)


DEEDS = {"exit": lambda: os._exit(5), "segv": lambda: ctypes.string_at(0), "kill": signal_itself(signal.SIGKILL),
         "oom": out_of_memory, "stop": signal_itself(signal.SIGSTOP), "busy": busy, "deadlock": deadlock,
         "disk": full_disk, "port": leave_something, "notice": signal_itself(signal.SIGTERM), "host": wait_for_host,
         "slow": lambda: None}


def data(step):
    generator = torch.Generator().manual_seed(step * 1000 + RANK)
    x = torch.randn(8, 4, generator=generator)
    return x, x.sum(dim=1, keepdim=True)


def main():
    if "port" in FAULTS.values():
        socket.create_server(("", PORT)).close()  # whoever was left behind is gone
    dist.init_process_group("gloo")
    torch.manual_seed(7)
    model = torch.nn.Linear(4, 1)
    kept, begin = FOLDER / "model.pt", 0
    if kept.exists():
        state = torch.load(kept)
        begin = state["step"]
        model.load_state_dict(state["model"])
    dist.barrier()
    ddp = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.05)
    for step in range(begin + 1, STEPS + 1):
        x, y = data(step)
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(ddp(x), y)
        loss.backward()
        optimizer.step()
        if RANK == 0:
            torch.save({"step": step, "model": model.state_dict()}, FOLDER / "new")
            (FOLDER / "new").rename(kept)
        print(f"step {step}", flush=True)
        dist.barrier()
        if KIND is not None and step == begin + 2:
            DEEDS[KIND]()
        time.sleep(0.5 if KIND == "slow" else 0.05)
    dist.all_reduce(loss.data)
    if RANK == 0:
        print(f"loss {loss.item().hex()}", flush=True)
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)  # torch 1.13 may wait for ever in the destructors of a process group whose peers have gone


main()
