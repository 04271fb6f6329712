"""A worker that asks Horovod's store as the C++ client of Horovod does: horovod_worker.py ROUNDS [STRAGGLER].

One request a connection; Content-Length on every method; the answer's header is looked up byte by byte; a rank's
addresses are asked for every 10 ms, and then once more. STRAGGLER comes late. Prints one line at the end.
"""
import os
import socket
import struct
import sys
import time

ADDRESS = os.environ["HOROVOD_GLOO_RENDEZVOUS_ADDR"], int(os.environ["HOROVOD_GLOO_RENDEZVOUS_PORT"])
RANK, SIZE = int(os.environ["HOROVOD_RANK"]), int(os.environ["HOROVOD_SIZE"])
LOCAL_RANK, LOCAL_SIZE = int(os.environ["HOROVOD_LOCAL_RANK"]), int(os.environ["HOROVOD_LOCAL_SIZE"])
CROSS_RANK, CROSS_SIZE = int(os.environ["HOROVOD_CROSS_RANK"]), int(os.environ["HOROVOD_CROSS_SIZE"])
assert os.environ["HOROVOD_CONTROLLER"] == os.environ["HOROVOD_CPU_OPERATIONS"] == "gloo"


def request(method, scope, key, body=b""):
    data = f"{method} /{scope}/{key} HTTP/1.1\r\nHost: {ADDRESS[0]}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    with socket.create_connection(ADDRESS) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        half = len(data) // 2
        s.sendall(data[:half])  # split, as a slow network does
        s.sendall(data[half:])
        answer = b""
        while b"\r\n\r\n" not in answer:
            chunk = s.recv(7)
            assert chunk, answer
            answer += chunk
        head, _, got = answer.partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        length = next(int(ln.split(b": ")[1]) for ln in lines if ln.startswith(b"Content-Length: "))
        while len(got) < length:
            chunk = s.recv(65536)
            assert chunk, answer
            got += chunk
        return int(lines[0].split()[1]), got


def want(method, scope, key, body=b""):
    status, got = request(method, scope, key, body)
    assert status == 200, (method, scope, key, status)
    return got


def addresses(rank, size, round_):
    """(size-1) times 136 bytes, all kinds of them; empty for one alone."""
    return (struct.pack("<II", round_, rank) + bytes(range(128))) * (size - 1)


def poll(scope, key):
    while True:
        status, _ = request("GET", scope, key)
        if status == 200:
            return want("GET", scope, key)
        assert status == 404, status
        time.sleep(0.01)


def connect(scope, rank, size, round_):
    want("PUT", scope, f"rank_{rank}", socket.gethostname().encode())
    for i in range(rank):
        assert request("GET", scope, f"rank_{i}")[0] in (200, 404)
    want("PUT", scope, rank, addresses(rank, size, round_))
    for i in range(size):
        if i != rank:
            got = poll(scope, i)
            assert got == addresses(i, size, round_), (scope, i, round_, got[:8])


def communicators():
    own = [("global", RANK, SIZE), (f"local_{os.environ['HOROVOD_HOSTNAME']}", LOCAL_RANK, LOCAL_SIZE),
           (f"cross_{LOCAL_RANK}", CROSS_RANK, CROSS_SIZE)]
    own += [(f"{scope}_process_set_hash_1f2e3d", rank, size) for scope, rank, size in own]
    if RANK % 2 == 0:  # a process set of the even ranks
        own.append(("global_process_set_hash_abc", RANK // 2, (SIZE + 1) // 2))
    return own


def barrier(name):
    """Gloo's own barrier needs no store; ours uses a scope of its own."""
    want("PUT", "test_barrier", f"{name}.{RANK}x", b"1")
    for i in range(SIZE):
        while request("GET", "test_barrier", f"{name}.{i}x")[0] != 200:
            time.sleep(0.01)


if len(sys.argv) > 2 and int(sys.argv[2]) == RANK:
    time.sleep(1.5)
for number in range(int(sys.argv[1])):
    for communicator in communicators():
        connect(*communicator, number)
    barrier(number)
    for scope, rank, _ in communicators():
        want("DELETE", scope, rank)
    barrier(f"{number}-over")
print("met", flush=True)
