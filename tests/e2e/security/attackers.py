"""Attackers that try again and again while a job runs: attackers.py WHO FACTS-AS-JSON.

WHO is `other` (another user of a job's host), `same` (a process of the job's user there) or `stranger` (on another host,
without an account). Makes the file FACTS.enough when each attack has been tried MINIMUM times, goes on until its input ends,
and then prints {attack: {"tries": N, "successes": [...]}}.
"""
import collections
import contextlib
import ctypes
import itertools
import json
import os
import pathlib
import select
import socket
import struct
import subprocess
import sys

import grab

MINIMUM = 30
DIAL_IN_PORT = 29399
AT_FDCWD, RENAME_EXCHANGE = -100, 2
PLAIN_ALERT = 24  # bytes of a TLS record that holds one, encrypted
AGE = 1.0         # s; in the moment between exec and its first instruction a process of the same user is within reach


def text(data):
    return struct.pack("Q", len(data)) + data


HELLO = b"\0" + struct.pack("I", 0x3C85F7CE)
ASK = {"write": HELLO + b"\1" + text(b"init/") + text(b"99") + b"\3" + text(b"init/"),
       "add": HELLO + b"\4" + text(b"init/") + struct.pack("q", 50), "read": HELLO + b"\3" + text(b"init/"),
       "delete": HELLO + b"\x08" + text(b"init/"), "horovod": b"PUT /global/k HTTP/1.1\r\nContent-Length: 4\r\n\r\nevil",
       "horovod's": b"GET /rank_0/0 HTTP/1.1\r\n\r\n"}
HALF = (b"", b"\0", HELLO, HELLO + b"\3\5", HELLO + b"\1" + struct.pack("Q", 1 << 20), b"GET /a", b"\xff" * 64)


class Attacks:
    """Attack functions: one try each, which answers what it has got, or nothing. OSError: refused."""

    def __init__(self, facts):
        self.facts = facts
        self.turns = collections.Counter()
        self.idle = {}

    def once(self, kind, options):
        """The next of the options, each in its turn."""
        self.turns[kind] += 1
        return options[self.turns[kind] % len(options)]

    def stores(self):
        """(address, port) of both; OSError before they are known. A scan of the ports would tell them, too."""
        address, *ports = pathlib.Path(self.facts["meeting"]).read_text().split()
        return [(address, int(port)) for port in ports]

    def heard(self, connection, within):
        connection.settimeout(within)
        try:
            return connection.recv(64)
        except OSError:
            return b""

    # ---- anybody who reaches the stores
    def ask_stores(self):
        where, what = self.once("question", list(itertools.product(self.stores(), ASK)))
        with socket.create_connection(where, 1) as connection:
            connection.sendall(ASK[what])
            answer = self.heard(connection, 1)
            return answer and f"{what}: {answer!r}"

    def idle_at_stores(self):
        return self.keep_idle(self.once("store", self.stores()), 40, HALF)

    def keep_idle(self, where, most, words):
        """One connection more, which says one of the words; those that were closed make place, and the oldest."""
        held = self.idle.setdefault(where, collections.deque())
        answer = b""
        for _ in range(min(4, len(held))):
            held.rotate(-1)
            with contextlib.suppress(BlockingIOError):
                answer = answer or self.heard_now(held[-1])
                held.pop().close()
        if len(held) >= most:
            held.popleft().close()
        connection = socket.create_connection(where, 1)
        held.append(connection)
        connection.setblocking(False)
        connection.sendall(self.once("half", words))
        return answer and repr(answer)

    def heard_now(self, connection):
        try:
            return connection.recv(64)
        except BlockingIOError:
            raise
        except OSError:
            return b""

    # ---- another user of a host
    def take_ports(self):
        hosts = [(socket.AF_INET, ""), (socket.AF_INET, self.stores()[0][0]), (socket.AF_INET6, "::")]
        ports = [port for _, port in self.stores()] + self.facts["ports"]
        share = [socket.SO_REUSEADDR, socket.SO_REUSEPORT]
        (family, host), port, shared = self.once("port", list(itertools.product(hosts, ports, share)))
        with socket.socket(family) as s:
            s.setsockopt(socket.SOL_SOCKET, shared, 1)
            s.bind((host, port))
            s.listen()
            self.stores()  # the job is still there
            return f"listens on {host}:{port}"

    def exchange_agent(self):
        """Evil stands beside the agent in a folder that was open to all."""
        folder = pathlib.Path(self.facts["cache"])
        evil = folder / "evil"
        if self.marked():
            return "the evil program has run"
        with contextlib.suppress(OSError):
            if not evil.exists():
                evil.write_text(f"#!/bin/sh\ntouch {self.facts['mark']}\n")
                evil.chmod(0o755)
        for agent in folder.glob("agent-*"):
            ctypes.CDLL(None).renameat2(AT_FDCWD, bytes(agent), AT_FDCWD, bytes(evil), RENAME_EXCHANGE)
        return None

    def marked(self):
        return os.path.exists(self.facts["mark"])

    def put_links(self):
        """In the place of what the job writes, in a folder like /tmp, to what only the job's user may change."""
        name, target = self.once("link", list(self.facts["links"].items()))
        place = pathlib.Path(self.facts["open"]) / name
        with contextlib.suppress(OSError):
            place.unlink()
        with contextlib.suppress(OSError):
            place.rename(f"{place}.away")
        place.symlink_to(target)

    def read_processes(self):
        """Of agents and launchers; first those of other users have to be refused."""
        return self.try_one(self.processes())

    # ---- the same
    def processes(self):
        """Those of ours that have begun to run."""
        found = []
        with open("/proc/uptime") as f:
            now = float(f.read().split()[0])
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, IndexError):
                words = (folder / "stat").read_text().rsplit(")", 1)
                began = float(words[1].split()[19]) / os.sysconf("SC_CLK_TCK")
                if words[0].partition("(")[2].startswith("sml-run") and now - began > AGE:
                    found.append(int(folder.name))
        return found

    def try_one(self, pids):
        ways = [(pid, what, how) for pid in pids for what, how in grab.attempts(pid, first=3)]
        if not ways:
            raise FileNotFoundError("no process of the job")
        pid, what, how = self.once("way", ways)
        return grab.got_at(how) and f"{what} of {pathlib.Path(f'/proc/{pid}/comm').read_text()}"

    # ---- a stranger
    def guess_key(self):
        key = f"{self.turns['key']:064x}"
        self.turns["key"] += 1
        words = ["openssl", "s_client", "-connect", f"{self.facts['head']}:{DIAL_IN_PORT}", "-psk", key, "-psk_identity",
                 "sml-run dial-in 1", "-tls1_3", "-ciphersuites", "TLS_AES_128_GCM_SHA256", "-brief"]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if b"refused" in done.stdout:
            raise ConnectionRefusedError
        return b"ESTABLISHED" in done.stdout and "the handshake is done"

    def replay_hello(self):
        """A captured one, and a forged end of the handshake."""
        hello = pathlib.Path(self.facts["hello"]).read_bytes()
        with socket.create_connection((self.facts["head"], DIAL_IN_PORT), 1) as head:
            head.sendall(hello)
            self.heard(head, 1)
            head.sendall(b"\x17\x03\x03\x00\x45" + os.urandom(0x45))
            answer = b""
            while piece := self.heard(head, 1):
                answer += piece
            return len(answer) > 4096 and f"{len(answer)} bytes"  # more than the rest of a handshake

    def be_a_head(self):
        """To whoever is lured here: takes what a caller says first, and answers as a head that lacks the key."""
        if not hasattr(self, "door"):
            self.door = socket.create_server(("", DIAL_IN_PORT))
            self.door.setblocking(False)
        with self.door.accept()[0] as caller:
            hello = self.heard(caller, 2)
            while hello and (piece := self.heard(caller, 0.2)):
                hello += piece
            pathlib.Path(self.facts["hello"]).write_bytes(hello)
            caller.sendall(b"\x16\x03\x03\x00\x5a\x02\x00\x00\x56\x03\x03" + os.urandom(84))
            said = self.heard(caller, 2)
            return said[:1] == b"\x17" and repr(said)

    def flood(self):
        """200 connections to the head's port, each opened anew that is closed. An alert of TLS is a refusal."""
        where = (self.facts["head"], DIAL_IN_PORT)
        heard = [self.keep_idle(where, 200, (b"", b"\x16", os.urandom(40))) for _ in range(20)]
        return next((said for said in heard if said and not said.startswith(r"b'\x15")), None)


class Loop:
    """All attacks by turns; those in `some` need not be possible."""

    def __init__(self, attacks, some=()):
        self.attacks, self.some = attacks, some
        self.tries = {f.__name__: 0 for f in attacks}
        self.successes = {f.__name__: [] for f in attacks}

    def turn(self):
        for attack in self.attacks:
            name = attack.__name__
            try:
                got = attack()
            except (FileNotFoundError, ConnectionRefusedError, BlockingIOError, ValueError):
                continue  # there is nothing to try it on
            except OSError:
                got = None
            self.tries[name] += 1
            if got:
                self.successes[name].append(str(got))

    def enough(self):
        return all(n >= MINIMUM for name, n in self.tries.items() if name not in self.some)

    def run(self, enough):
        said = False
        while not select.select([sys.stdin], [], [], 0.002)[0]:  # a pause, or the hosts, which are one machine, do nothing else
            self.turn()
            if not said and self.enough():
                said = True
                enough.touch()
        print(json.dumps({n: {"tries": t, "successes": self.successes[n][:5]} for n, t in self.tries.items()}), flush=True)


def main():
    who, facts = sys.argv[1], json.loads(sys.argv[2])
    a = Attacks(facts)
    kinds = {"other": [a.ask_stores, a.idle_at_stores, a.take_ports, a.exchange_agent, a.put_links, a.read_processes],
             "same": [a.read_processes],
             "stranger": [a.ask_stores, a.idle_at_stores, a.guess_key, a.replay_hello, a.be_a_head, a.flood]}
    loop = Loop([f for f in kinds[who] if f.__name__ not in facts["without"]], some=("be_a_head",))
    os.nice(5)
    print("up", flush=True)
    loop.run(pathlib.Path(facts["enough"]))


if __name__ == "__main__":
    main()
