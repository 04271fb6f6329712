"""JAX over several processes: jax.distributed.initialize() as its documentation has it, and a sum over all devices."""
import os

import jax

# Without a launcher that JAX knows the documentation has these three said.
if "SAY_IT" in os.environ:
    jax.distributed.initialize(coordinator_address=f"{os.environ['MASTER_ADDR']}:{int(os.environ['COORDINATOR_PORT'])}",
                               num_processes=int(os.environ["WORLD_SIZE"]), process_id=int(os.environ["RANK"]))
else:
    jax.distributed.initialize()

import jax.numpy as jnp  # noqa: E402
from jax.experimental import multihost_utils  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

rank, world = jax.process_index(), jax.process_count()
if rank == int(os.environ.get("FAILS", -1)):
    os._exit(7)  # sys.exit() waits for the other processes until they give up, too
multihost_utils.sync_global_devices("begin")
mesh = Mesh(jax.devices(), ("data",))
mine = jnp.full((jax.local_device_count(),), float(rank + 1))
whole = jax.make_array_from_process_local_data(NamedSharding(mesh, PartitionSpec("data")), mine)
total = jax.jit(jnp.sum, out_shardings=NamedSharding(mesh, PartitionSpec()))(whole)
assert float(total) == world * (world + 1) / 2, total
gathered = multihost_utils.process_allgather(jnp.array([rank]))
assert gathered.flatten().tolist() == list(range(world)), gathered
print(f"summed by process {rank} of {world} with {len(jax.devices())} devices", flush=True)
