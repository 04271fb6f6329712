#!/usr/bin/env python3
"""Draws what --trace-protocol has written: tests/protocol_diagram.py FILE [HOST...]

One row for each message, in order: its time, the arrow's end that took it, and the number of messages of the same kind in a
row, as Ping and Output come often. With HOST only the messages with these hosts."""
import itertools
import json
import sys


def rows(lines, hosts):
    messages = [m for m in map(json.loads, lines) if not hosts or m["host"] in hosts]
    for (host, to, name), group in itertools.groupby(messages, key=lambda m: (m["host"], m["to"], m["message"])):
        group = list(group)
        times = f"  x {len(group)}" if len(group) > 1 else ""
        arrow = f"sml-run --- {name}{times} --> {host}" if to == "agent" else f"sml-run <-- {name}{times} --- {host}"
        yield f"{group[0]['t']:12.6f}  {arrow}"


def main():
    if len(sys.argv) < 2:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    with open(sys.argv[1]) as file:
        for row in rows(file, set(sys.argv[2:])):
            print(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
