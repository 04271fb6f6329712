"""A worker that finds the others as its framework would, from the variables of a preset alone: preset_worker.py WHICH."""
import json
import os
import socket
import sys
import time


def listen(port):
    return socket.create_server(("", int(port)), backlog=64)  # with SO_REUSEADDR, as every server does


def call(endpoint):
    """A connection to somebody who may not listen yet."""
    host, port = endpoint.rsplit(":", 1)
    while True:
        try:
            return socket.create_connection((host, int(port)))
        except ConnectionRefusedError:
            time.sleep(0.02)


def line_of(connection):
    with connection.makefile() as text:
        return text.readline().strip()


def tell(endpoint, words):
    with call(endpoint) as s:
        s.sendall(words.encode() + b"\n")
        s.recv(1)  # until it has been heard


def hear(listener, count, then=lambda said: None):
    """What `count` callers say; they may go on when all have been heard, and `then` has been done."""
    callers = [listener.accept()[0] for _ in range(count)]
    said = sorted(line_of(s) for s in callers)
    then(said)
    for s in callers:
        s.sendall(b".")
        s.close()
    return said


def tf():
    config = json.loads(os.environ["TF_CONFIG"])
    task, workers = config["task"], config["cluster"]["worker"]
    own = workers[task["index"]]
    listener = listen(own.rsplit(":", 1)[1])
    others = [w for w in workers if w != own]
    connections = [call(w) for w in others]
    for _ in others:
        connections.append(listener.accept()[0])
    print(f"{task['type']} {task['index']} met {1 + len(connections) // 2}", flush=True)


def tf_ps():
    config = json.loads(os.environ["TF_CONFIG"])
    task = config["task"]
    if task["type"] == "chief":
        servers = config["cluster"]["worker"] + config["cluster"]["ps"]
        for server in servers:
            tell(server, "chief")
        print("chief reached", len(servers), flush=True)
        return
    listener = listen(config["cluster"][task["type"]][task["index"]].rsplit(":", 1)[1])
    while True:  # as tf.distribute.Server.join()
        hear(listener, 1)


def jax():
    address, rank = os.environ["JAX_COORDINATOR_ADDRESS"], int(os.environ["JAX_PROCESS_ID"])
    assert os.environ["OMPI_MCA_orte_hnp_uri"].endswith("tcp://" + address)
    if rank == 0:
        heard = hear(listen(address.rsplit(":", 1)[1]), int(os.environ["JAX_NUM_PROCESSES"]) - 1)
        print("heard of", [int(r) for r in heard], flush=True)
    else:
        tell(address, str(rank))


{"tf": tf, "tf-ps": tf_ps, "jax": jax}[sys.argv[1]]()
