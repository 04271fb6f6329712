#!/usr/bin/env python3
"""Looks whether what every job needs still lies side by side: tests/check_start_order.py BUILD_DIRECTORY

packaging/static/start_order.txt names functions, and names change. Exits 1 when more than a fifth of them are in
neither program, or not where the linker was told to put them.
"""
import bisect
import pathlib
import re
import subprocess
import sys

PROGRAMS = ("sml-run", "sml-run-agent")
LIST = pathlib.Path(__file__).resolve().parent.parent / "packaging/static/start_order.txt"
ENOUGH = 0.8


def read(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def placed(program):
    """The functions of the section .text.start."""
    section = re.search(r"\.text\.start +PROGBITS +(\w+) \w+ (\w+)", read("readelf", "-SW", program))
    if section is None:
        return set()
    begin, size = (int(number, 16) for number in section.groups())
    rows = (line.split() for line in read("readelf", "-sW", f"{program}.symbols").splitlines())
    return {row[7] for row in rows if len(row) == 8 and row[3] == "FUNC" and 0 <= int(row[1], 16) - begin < size}


def main():
    build = pathlib.Path(sys.argv[1])
    there = sorted(set().union(*(placed(build / program) for program in PROGRAMS)))
    wanted = [row.rstrip("*") for row in LIST.read_text().splitlines() if row.startswith("_Z")]

    def is_there(name):
        at = bisect.bisect_left(there, name)
        return at < len(there) and there[at].startswith(name)

    found = sum(map(is_there, wanted))
    print(f"{found} of {len(wanted)} functions that every job needs lie side by side")
    if found < ENOUGH * len(wanted):
        sys.exit("check_start_order: too few; run packaging/static/start_order with a static Release build, and keep what it writes")


main()
