"""At doors of agents (launcher/agent/link/reconnect_socket.h): `knock.py NAME SECONDS` calls there as a messenger would that is none, in
every way, and prints what it hears each time, or that it waited so long in silence; `knock.py --keep NAME` has the name itself, and
prints what the first who comes says."""
import array
import os
import socket
import sys

import turned_agent as agent

SECRET = b"0" * 38  # as long as a true one


def wish(door, secret=SECRET, pid=1):
    return agent.frame("ReconnectRequest", agent.text(b"sml0") + agent.text(door) + pid.to_bytes(4, "big") + agent.text(secret) + bytes(8))


def call(name, said, ends, patience):
    """What is answered, and what comes through the pipe whose end was handed over."""
    ours, theirs = os.pipe()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        door.settimeout(patience if said is None else None)  # who says nothing is to be waited for, all others turned away
        try:
            door.connect("\0" + name)
            if said is not None:
                given = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [theirs] * ends))] if ends else []
                door.sendmsg([said], given)
            answer = door.recv(100)
        except TimeoutError:
            answer = b"waits"
        except (ConnectionResetError, BrokenPipeError):
            answer = b""
        os.close(theirs)
    answer += os.read(ours, 100)  # nothing, once nobody holds the other end
    os.close(ours)
    return answer.decode()


def knock(name, patience):
    door = name.encode()
    ways = {"wrong secret": (wish(door), 2), "no secret": (wish(door, b""), 2), "short secret": (wish(door, SECRET[:5]), 2),
            "no ends": (wish(door), 0), "one end": (wish(door), 1), "many ends": (wish(door), 200), "no words": (b"", 2),
            "noise": (os.urandom(500), 2), "another message": (agent.frame("Leave", b""), 2),
            "endless": (b"\0\0\0\0" + bytes(100_000), 2), "silence": (None, 0)}
    for way, (said, ends) in ways.items():
        print(f"{way}: {call(name, said, ends, patience)}", flush=True)


def keep(name):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        door.bind("\0" + name)
        door.listen()
        print(os.getpid(), flush=True)
        caller = door.accept()[0]
        said, given, _, _ = caller.recvmsg(5000, 1000)
        print(f"heard {len(said)} bytes and {len(given)} descriptors", flush=True)


if __name__ == "__main__":
    keep(sys.argv[2]) if sys.argv[1] == "--keep" else knock(sys.argv[1], float(sys.argv[2]))
