#!/usr/bin/python3
"""What clang-tidy looks at: the units that a build folder compiles, some sources in one, for all of our sources.

tidy_units.py BUILD SALT < SOURCES: a line "KEY<tab>UNIT" for each, the largest first. The key changes with SALT and with
what is in the unit's sources. Fails when a source is in no unit.
"""
import hashlib
import json
import pathlib
import re
import sys


def main():
    build, salt = pathlib.Path(sys.argv[1]), sys.argv[2]
    wanted = {(pathlib.Path.cwd() / line.rstrip("\n")).resolve() for line in sys.stdin}
    units, seen = [], set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        unit = pathlib.Path(entry["directory"], entry["file"]).resolve()
        together = unit.parent.name == "Unity"
        sources = [pathlib.Path(s) for s in re.findall(r'^#include "(.*\.cc)"', unit.read_text(), re.M)] if together else [unit]
        ours = [s.resolve() for s in sources if s.resolve() in wanted]
        if not ours:
            continue
        seen.update(ours)
        key = hashlib.sha256(f"{salt} {unit}".encode())
        for source in ours:
            key.update(source.read_bytes())
        units.append((len(ours), key.hexdigest()[:40], unit))
    for source in sorted(wanted - seen):
        print(f"{source} is in no unit of {build}", file=sys.stderr)
    for _, key, unit in sorted(units, key=lambda u: -u[0]):
        print(f"{key}\t{unit}")
    return 1 if wanted - seen else 0


if __name__ == "__main__":
    sys.exit(main())
