"""The ways to a TCPStore that a script may choose: the job's own, by address, by a client, and one of rank 0's making."""
import contextlib
import datetime
import os
import socket

import torch.distributed as dist

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
where = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
patience = datetime.timedelta(seconds=30)


@contextlib.contextmanager
def group(name=None):
    """A name's keys are its own: a rank that comes late to a group made again is sought where it was in the last one."""
    if name:
        store, _, _ = next(dist.rendezvous("env://"))
        dist.init_process_group("gloo", store=dist.PrefixStore(name, store), rank=rank, world_size=world)
    else:
        dist.init_process_group("gloo")
    yield
    dist.barrier()
    dist.destroy_process_group()


def exchange(store):
    store.set(f"from{rank}", str(rank))
    assert [store.get(f"from{r}") for r in range(world)] == [str(r).encode() for r in range(world)]
    store.add("all", 1)
    store.wait(["all"])


with group():
    pass
with group("again"):
    pass
if os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
    for libuv in (True, False):
        exchange(dist.PrefixStore(f"libuv {libuv}", dist.TCPStore(*where, world, False, patience, use_libuv=libuv)))
# Each of the two backends, made by rank 0.
for libuv in (True, False):
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    with group(f"for libuv {libuv}"):
        said = [port]
        dist.broadcast_object_list(said, 0)
        own = dist.TCPStore(where[0], said[0], world, rank == 0, patience, use_libuv=libuv)
        assert own.libuvBackend == libuv
        exchange(own)
print(f"met at every store: rank {rank}", flush=True)
os._exit(0)  # README: torch 2.13 may abort at Python's own exit
