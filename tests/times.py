#!/usr/bin/env python3
"""times.py TIMES.json DURATIONS: adds the durations of a run to those that are kept, and shows where its time went.

DURATIONS has lines "layer<TAB>NAME<TAB>SECONDS" and "test<TAB>NAME<TAB>SECONDS". TIMES.json has {"layers": {NAME: SECONDS},
"tests": {NAME: SECONDS}}, of each the last one.
"""
import json
import pathlib
import sys

SLOWEST = 10


def main(kept, durations):
    path = pathlib.Path(kept)
    times = {"layers": {}, "tests": {}}
    if path.exists():
        times.update(json.loads(path.read_text()))
    run = {"layer": {}, "test": {}}
    for line in pathlib.Path(durations).read_text().splitlines():
        kind, name, seconds = line.split("\t")
        run[kind][name] = float(seconds)
    times["layers"].update(run["layer"])
    times["tests"].update(run["test"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(times, indent=1, sort_keys=True) + "\n")
    whole = sum(run["layer"].values()) or 1
    print("layers: " + ", ".join(f"{name} {seconds:.0f} s ({seconds / whole:.0%})" for name, seconds in run["layer"].items()))
    for name, seconds in sorted(run["test"].items(), key=lambda test: -test[1])[:SLOWEST]:
        print(f"  {seconds:7.1f} s  {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
