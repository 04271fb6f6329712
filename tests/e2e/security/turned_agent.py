"""Stands in for ssh (`--ssh-command "python3 turned_agent.py BEHAVIOUR"`). On a host whose name begins with "true" it runs
what it is given, here; on any other it plays the agent itself, one that has turned and says what BEHAVIOUR says.

The protocol is read from the sources, so that a new message needs no change here."""
import json
import os
import pathlib
import re
import struct
import sys

WIRE = pathlib.Path(__file__).resolve().parents[3] / "common/wire"
MESSAGES = (WIRE / "messages.h").read_text()
VERSION = re.search(r"kProtocolVersion = (\d+)", (WIRE / "protocol_version.h").read_text())[1]
TYPES = {name: first + i for first, side in ((1, "ToAgent"), (64, "ToLauncher"))
         for i, name in enumerate(re.search(rf"{side} =\s+std::variant<([^>]*)>", MESSAGES)[1].replace(",", " ").split())}
NAMES = {number: name for name, number in TYPES.items()}
ESCAPES = b"\x1b[2J\x1b]0;owned\x07\xc2\x9b31m\rsml-run: all is well\n"


def text(data):
    return struct.pack(">I", len(data)) + data


def texts(*list_of):
    return struct.pack(">I", len(list_of)) + b"".join(map(text, list_of))


def frame(name, payload):
    return struct.pack(">IB", len(payload), TYPES[name]) + payload


def send(*frames):
    data = memoryview(b"".join(frames))
    while data:
        data = data[os.write(1, data):]


def receive():
    """The next message to the agent: (its name, its payload)."""
    def take(size):
        got = b""
        while len(got) < size:
            more = os.read(0, size - len(got))
            if not more:
                sys.exit(0)
            got += more
        return got
    size, number = struct.unpack(">IB", take(5))
    return NAMES[number], take(size)


def until(name):
    """Waits for that message, answering pings; its payload."""
    while True:
        came, payload = receive()
        if came == name:
            return payload
        if came == "Ping":
            send(frame("Pong", payload + bytes(8)))


def hello(*addresses, build=b"", machine=b""):
    return frame("HelloAck", struct.pack(">I", int(VERSION)) + text(build) + bytes(12) + texts(*addresses) + text(machine) +
                 text(b"") * 3)


def services(port):
    """The two stores' ports, or none."""
    return struct.pack(">IBHBH", 2, 0, port, 1, port) if port else texts()


def prepared(obstacles=(), port=0, warnings=()):
    said = struct.pack(">I", len(obstacles)) + b"".join(b"\x08" + text(m) + text(h) for m, h in obstacles)
    return frame("Prepared", said + services(port) + texts() + texts(*warnings) + texts() + texts() + text(b"") + bytes(24))


def started(*ranks):
    return frame("Started", struct.pack(">I", len(ranks)) + b"".join(struct.pack(">Ii", r, 1) for r in ranks) + bytes(8))


def output(rank, data):
    return frame("Output", struct.pack(">IBQ", rank, 0, 1) + text(data))


def exited(rank, how=0, value=1):
    return frame("ExitedWorker", struct.pack(">IBiBBQ5Q", rank, how, value, 0, 0, 1, 0, 0, 0, 0, 0))


def drained(rank):
    return frame("Drained", struct.pack(">IB", rank, 0))


def error_file(rank, data):
    return frame("ErrorFile", text(data) + struct.pack(">I", rank))


def inspected(fact):
    space = text(fact) + bytes(16)
    facts = text(fact) * 3 + struct.pack(">I", 1) + bytes(16) + text(fact) + struct.pack(">I", 0) + bytes(48) + space * 3
    return frame("Inspected", facts + texts(fact) + struct.pack(">I", 1) + text(fact) * 2 + bytes(3 + 16))


def for_ever(*frames):
    while True:
        send(*frames)


def greet(port=29500, addresses=(b"10.9.9.9",)):
    send(hello(*addresses), prepared(port=port))


def run_ranks():
    greet()
    until("Start")
    send(started(0))


def answer_probe(errno):
    """The addresses that it was to try."""
    payload = until("Probe")
    count, at, asked = struct.unpack_from(">I", payload)[0], 4, []
    for _ in range(count):
        size = struct.unpack_from(">I", payload, at)[0]
        asked.append(payload[at + 4:at + 4 + size])
        at += 4 + size
    send(frame("Probed", struct.pack(">I", count) + b"".join(text(a) + struct.pack(">i", errno) for a in asked)))
    return asked


def exits_without_end():
    run_ranks()
    for_ever(error_file(0, b"x" * 65536), exited(0))


def second_exit():
    run_ranks()
    send(exited(0, value=0), exited(0, value=0))


def output_beyond_credit():
    run_ranks()
    for_ever(output(0, b"x" * 65536))


def long_error_file():
    run_ranks()
    send(error_file(0, b"x" * 1_000_000))


def rank_of_another_host():
    """It has rank 1, and speaks of rank 0."""
    send(hello(b"10.9.9.9"), prepared())
    answer_probe(0)
    until("Start")
    send(started(1), output(0, b"forged\n"))


def exit_before_start():
    greet()
    until("Start")
    send(exited(0))


def remarks_without_end():
    run_ranks()
    for_ever(frame("AgentLog", b"\x01" + text(b"x")) * 1000)


def unasked_answers():
    greet()
    for_ever(frame("Pong", bytes(16)))


def long_remark():
    greet()
    send(frame("AgentLog", b"\x01" + text(b"x" * 100_000)))


def escapes_in_an_obstacle():
    send(hello(b"10.9.9.9"), prepared([(ESCAPES, ESCAPES)], warnings=[ESCAPES]))


def escapes_while_it_runs():
    run_ranks()
    send(frame("AgentLog", b"\x01" + text(ESCAPES)), frame("OutOfMemory", bytes(8) + text(ESCAPES)),
         error_file(0, json.dumps({"message": {"message": ESCAPES.decode()}}).encode()), exited(0, how=1, value=9), drained(0),
         frame("Cleared", struct.pack(">I", 1) + texts(ESCAPES)), frame("Bye", text(b"")))
    sys.exit(0)


def escapes_in_facts():
    send(hello(ESCAPES), prepared([(b"is not ready", ESCAPES)]), inspected(ESCAPES))


def many_addresses():
    """Of rank 0's host: 3,000, and some that no host of a job can have."""
    odd = [b"127.0.0.1", b"0.0.0.0", b"224.0.0.1", b"255.255.255.255", b"169.254.169.254", b"::1", b"ff02::1"]
    greet(addresses=odd + [b"10.1.%d.%d" % (i // 250, i % 250) for i in range(3000)])


def write_down_probes():
    """A true host, which writes down where it is told to knock, and finds nobody there."""
    send(hello(b"10.9.9.9"), prepared())
    pathlib.Path(os.environ["SML_TEST_PROBES"]).write_bytes(b"\n".join(answer_probe(111)))


def main():
    behaviour, command = sys.argv[1], sys.argv[-1]
    host = sys.argv[-2]
    if host.startswith("true"):  # with what a log-in there would have
        login = ("HOME", "PATH", "XDG_CACHE_HOME")
        os.execve("/bin/sh", ["sh", "-c", command], {name: os.environ[name] for name in login if name in os.environ})
    mark = re.search(r"--mark (\w+)", command)[1]
    send(f"{mark} AGENT {VERSION}\n".encode())
    try:
        globals()["write_down_probes" if host.startswith("listener") else behaviour]()
        while True:
            came, payload = receive()
            if came == "Ping":
                send(frame("Pong", payload + bytes(8)))
            elif came == "Stop":
                send(frame("Bye", text(b"")))
                return
    except BrokenPipeError:
        pass


if __name__ == "__main__":
    main()
