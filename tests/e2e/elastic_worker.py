"""A worker as hvd.elastic makes one of a program: elastic_worker.py STEPS [deaf|odd] [SLOT:STEP:STATUS ...].

Asks the store as Horovod's worker side does (horovod/runner/elastic/worker.py, horovod/common/gloo/gloo_context.cc):
registers, meets, and where a collective fails goes back to its last commit, asks for its numbers anew and meets again.
It does so, too, when rank 0 has heard that other hosts are there: see Notices. Each step adds the number of workers to a
total that is in memory alone. The worker of SLOT, HOST:LOCAL_RANK, ends before STEP with STATUS; or, where STATUS is
"hangs", from then on only waits; or, where it is "hears", waits to hear of hosts; with a "!" behind it, in the first
attempt alone; with "@FILE" behind it, once that is there. "deaf": nobody hears; "odd": nor can
anybody be told where. Prints its total at the end. No wait has a limit here: the test has one.
"""
import base64
import contextlib
import hmac
import os
import pickle
import socket
import struct
import sys
import threading
import time
import types

STORE = os.environ["HOROVOD_GLOO_RENDEZVOUS_ADDR"], int(os.environ["HOROVOD_GLOO_RENDEZVOUS_PORT"])
HOST = os.environ["HOROVOD_HOSTNAME"]
NAMES = ("RANK", "SIZE", "LOCAL_RANK", "LOCAL_SIZE", "CROSS_RANK", "CROSS_SIZE")


def horovods(module, name):
    """A class that is pickled as that of Horovod."""
    made = type(name, (), {"__module__": module})
    parts = module.split(".")
    for i in range(len(parts)):
        sys.modules.setdefault(".".join(parts[:i + 1]), types.ModuleType(parts[i]))
    setattr(sys.modules[module], name, made)
    return made


HostsUpdatedRequest = horovods("horovod.runner.elastic.worker", "HostsUpdatedRequest")
AckResponse = horovods("horovod.runner.common.util.network", "AckResponse")


class HostsUpdated(Exception):
    """At a commit: go on with other hosts."""


class Notices:
    """Horovod's WorkerNotificationService: hears of hosts, and of each change once."""

    def __init__(self, deaf):
        self.secret = os.urandom(32)
        self.server = socket.create_server(("0.0.0.0", 0))
        self.deaf = deaf
        self.last = 0
        self.news = threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()

    def registration(self):
        port = self.server.getsockname()[1]
        return base64.b64encode(pickle.dumps(({"lo": [("127.0.0.1", port)]}, self.secret)))

    def serve(self):
        while True:
            caller = self.server.accept()[0]
            with caller, caller.makefile("rwb") as link:
                if not self.deaf:
                    self.answer(link)

    def answer(self, link):
        digest, length = link.read(32), struct.unpack("<i", link.read(4))[0]
        body = link.read(length)
        assert hmac.compare_digest(digest, hmac.new(self.secret, body, "sha256").digest())
        told = pickle.loads(body)
        assert isinstance(told, HostsUpdatedRequest) and told.res in (1, 2, 3), told
        reply = pickle.dumps(AckResponse())
        link.write(hmac.new(self.secret, reply, "sha256").digest() + struct.pack("<i", len(reply)) + reply)
        link.flush()
        if told.timestamp > self.last:
            self.last = told.timestamp
            self.news.set()


def request(method, scope, key, body=b""):
    with socket.create_connection(STORE) as s:  # the client of Horovod waits for ever, too
        s.sendall(f"{method} /{scope}/{key} HTTP/1.1\r\nHost: {STORE[0]}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        head, _, got = s.makefile("rb").read().partition(b"\r\n\r\n")
        return int(head.split()[1]), got, s.getsockname()[0]


def numbers():
    return [int(os.environ[f"HOROVOD_{name}"]) for name in NAMES]


def ask_anew():
    status, got, _ = request("GET", "rank_and_size", f"{HOST}:{os.environ['HOROVOD_LOCAL_RANK']}")
    assert status == 200, status
    fresh = got.decode().split(",")
    if fresh[0] == "-1":
        sys.exit(134)
    os.environ.update((f"HOROVOD_{name}", value) for name, value in zip(NAMES, fresh, strict=True))


class World:
    """Rank 0 in the middle of the others."""

    def __init__(self):
        self.rank, self.size = numbers()[:2]
        if self.rank == 0:
            with socket.create_server(("0.0.0.0", 0)) as server:
                address = request("GET", "global", "rank_0")[2]
                assert request("GET", "global", "0")[0] == 404, "the store has what is of another round"
                assert request("PUT", "global", "0", f"{address} {server.getsockname()[1]}".encode())[0] == 200
                self.sockets = [server.accept()[0] for _ in range(self.size - 1)]
            request("DELETE", "global", "0")
        else:
            while (found := request("GET", "global", "0"))[0] != 200:
                time.sleep(0.01)
            address, port = found[1].decode().split()
            self.sockets = [socket.create_connection((address, port))]
        self.links = [s.makefile("rwb") for s in self.sockets]

    def shut_down(self):
        for s in self.sockets:
            s.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def send(link, *values):
        link.write((" ".join(map(str, values)) + "\n").encode())
        link.flush()

    @staticmethod
    def take(link):
        line = link.readline()
        if not line.endswith(b"\n"):
            raise ConnectionError("a peer has gone")
        return list(map(int, line.split()))

    def broadcast(self, *values):
        if self.rank:
            return self.take(self.links[0])
        for link in self.links:
            self.send(link, *values)
        return values

    def add(self, number):
        if self.rank:
            self.send(self.links[0], number)
            return self.take(self.links[0])[0]
        return self.broadcast(number + sum(self.take(link)[0] for link in self.links))[0]


def run(world, state, steps, ends, notices):
    step, total = world.broadcast(*state)
    while step < steps:
        what, _, file = ends.get((f"{HOST}:{os.environ['HOROVOD_LOCAL_RANK']}", str(step)), "").partition("@")
        while file and not os.path.exists(file):
            time.sleep(0.02)
        if what == "hangs":
            print("hangs", flush=True)
            time.sleep(600)
        if what == "hears":
            print("listens", flush=True)
            notices.news.wait()
        elif what:
            os._exit(int(what))
        total += world.add(1)
        step += 1
        state[:] = step, total  # committed
        if world.broadcast(int(notices.news.is_set()))[0]:
            notices.news.clear()
            raise HostsUpdated


def main():
    assert os.environ["HOROVOD_ELASTIC"] == "1"
    steps = int(sys.argv[1])
    words = [word.removesuffix("!") for word in sys.argv[2:]
             if word not in ("deaf", "odd") and (os.environ["SML_ATTEMPT"] == "1" or not word.endswith("!"))]
    ends = {(slot, step): status for slot, step, status in (word.rsplit(":", 2) for word in words)}
    notices = Notices("deaf" in sys.argv)
    own = f"{HOST}:{os.environ['HOROVOD_LOCAL_RANK']}"
    assert request("PUT", "worker_addresses", own, b"odd" if "odd" in sys.argv else notices.registration())[0] == 200
    state = [0, 0]
    while True:
        world = World()
        try:
            run(world, state, steps, ends, notices)
            break
        except (ConnectionError, HostsUpdated):
            with contextlib.suppress(OSError):
                world.shut_down()  # so that all learn of it
            ask_anew()
    print("as", *numbers(), "total", state[1], flush=True)


main()
