#!/usr/bin/env python3
"""Launch lines of other launchers, run by sml-run under that launcher's name and compared with a record of what the real one
made of them. Needs root: the lines run on a host of the testbed.

  lines.py [-k PATTERN] [-v]        compare with the records; SML_BUILD_DIR says where sml-run is (default build)
  lines.py [-k PATTERN] --record [LAUNCHER...]   run the real ones (openmpi, hydra-5.0, ...) first, and say what changed

The lines are in lines/LAUNCHER.lines, one each, as bash reads them; what files they find is in line_runs.py. "#: WORDS"
before a line:
  named KEY     differs as the manual says of KEY, in lines/named
  env A=1 B=2   with these variables
Each line ends as one of: equal (to one version of the real launcher), named, refused (sml-run said why and started
nothing), or failed. A line that was equal when the record was made and is not now has failed too.
"""
import argparse
import functools
import json
import lzma
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import help_options  # noqa: E402
import launchers  # noqa: E402
import line_differences  # noqa: E402
import line_runs  # noqa: E402
from harness import BUILD, HELPERS, REPO, SML_RUN, Testbed, watchdog_times, watchdog  # noqa: E402

RECORDS = HERE / "records"
VERDICTS = RECORDS / "verdicts.json.xz"
ORDER = ("equal", "named", "refused", "failed")
NEVER_EXCUSED = ("status", "ranks", "hosts", "arguments", "local-rank", "folder", "input")


class Line:
    def __init__(self, table, text, directives, comment):
        self.table, self.text, self.source = table, text, comment
        self.named = [word for d in directives if d.startswith("named ") for word in d.split()[1:]]
        self.env = dict(word.split("=", 1) for d in directives if d.startswith("env ") for word in d.split()[1:])
        self.key = " ".join([*(f"{k}={v}" for k, v in self.env.items()), text])


def lines_of(table):
    out, directives, comment = [], [], ""
    for text in (HERE / f"lines/{table}.lines").read_text().splitlines():
        if text.startswith("#:"):
            directives.append(text[2:].strip())
        elif text.startswith("#"):
            comment = text[1:].strip()
        elif text.strip():
            out.append(Line(table, text, directives, comment))
            directives = []
    keys = [line.key for line in out]
    twice = {key for key in keys if keys.count(key) > 1}
    if twice:
        sys.exit(f"{table}.lines has these lines twice: {twice}")
    return out


def pack(path, value):
    path.parent.mkdir(exist_ok=True)
    text = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    path.write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))


def unpack(path):
    return json.loads(lzma.decompress(path.read_bytes())) if path.exists() else {}


# ---- running

class World:
    """The testbed, while lines are run."""

    def __init__(self, slurm):
        self.bed, self.slurm = Testbed(), slurm

    def __enter__(self):
        self.bed.__enter__().up(len(line_runs.HOSTS), prefix="node")
        if self.slurm:
            subprocess.run([REPO / "tests/testbed/slurm-up", "8"], env={**os.environ, "SML_TESTBED": self.bed.name}, check=True,
                           stdout=subprocess.DEVNULL)
        self.folder = pathlib.Path(os.environ.get("SML_TESTBED_DIR", "/run/sml-testbed")) / self.bed.name / "shared"
        return self

    def __exit__(self, *what):
        self.bed.down()

    def run(self, lines, text_of, links, along, timeout, under=(), environments=None):
        """Results by the lines' keys, and the variables of the allocation that `under` made. Those of an earlier one are in
        `environments`, by table."""
        environments = environments or {}
        jobs = [{"id": line.key, "line": text_of(line), "env": {**environments.get(line.table, {}), **line.env},
                 "launchers": links, "timeout": timeout, "probe": str(HELPERS / "witness"),
                 "folder": str(self.folder / f"line-{n}")} for n, line in enumerate(lines)]
        inputs, outputs = self.folder / "jobs.json", self.folder / "results.json"
        inputs.write_text(json.dumps({"along": along, "jobs": jobs}))
        with watchdog_times(30):  # one command runs all lines
            done = self.bed.exec("head", [*under, "/usr/bin/python3", str(HERE / "line_runs.py"), str(inputs), str(outputs)])
        if done.returncode != 0:
            sys.exit(f"the lines could not be run: {done}")
        told = json.loads(outputs.read_text())
        return told["results"], told["environment"]


def two_cores():
    """What the records were made with. Of more, two of one socket are used."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, cpus)
    return len(cpus) == 2


# ---- recording

def worth_keeping(result):
    """Without what is never compared."""
    for worker in result["seen"]:
        worker["env"] = {n: v for n, v in worker["env"].items()
                         if not line_differences.WIRE_UP.match(n) and not line_differences.OF_LOGIN.match(n)}
    result["err"] = "\n".join(text for n, text in enumerate(result["err"].splitlines()) if "~" in text or n < 4)[:600]
    result["out"] = "\n".join(text for n, text in enumerate(result["out"].splitlines()) if "~" in text or n < 2)[:2000]
    return result


def record(world, wanted, pattern):
    for launcher in launchers.ALL:
        if wanted and not {launcher.table, launcher.name} & set(wanted):
            continue
        launcher.install()
        path = RECORDS / f"{launcher.name}.json.xz"
        before = unpack(path)
        lines = [line for line in lines_of(launcher.table) if re.search(pattern, line.key)]
        under = ("salloc", "--quiet", "-N3", "-n20") if launcher.slurm else ()
        run = functools.partial(world.run, text_of=lambda line: line.text, links=launcher.links(), timeout=90, under=under)
        results, environment = run(lines, along=launcher.along)
        hung = [line for line in lines if results[line.key]["status"] == "hangs"]
        if hung:  # now and then Open MPI 5.0 does not end, whatever the line
            results.update(run(hung, along=1)[0])
        results = {key: worth_keeping(result) for key, result in results.items()}
        was = before.get("lines", {})
        for key in sorted(results):
            changed = key in was and line_differences.differences(key, was[key], results[key])
            if changed:
                print(f"{launcher.name}: {key}\n    " + "\n    ".join(f"{kind}: {text}" for kind, text in changed))
        known = {line.key for line in lines_of(launcher.table)}
        kept = {key: value for key, value in was.items() if key in known} if pattern else {}
        pack(path, {"version": launcher.version(), "help": launcher.help(), "environment": environment, "lines": {**kept, **results}})
        print(f"{launcher.name}: {len(results)} lines recorded, {path.stat().st_size} bytes")


# ---- comparing

def names():
    """KEY: for which launchers' differences of which kinds it holds."""
    out = []
    manual = (REPO / "man/sml-run-launchers.7").read_text()
    for text in (HERE / "lines/named").read_text().splitlines():
        if text.strip() and not text.startswith("#"):
            key, tables, kinds = text.split(None, 2)
            if f".It Em {key}\n" not in manual:
                sys.exit(f"lines/named has {key}, which the manual does not name")
            out.append((key, tables, re.compile(kinds)))
    return out


def verdict_of(line, theirs, ours, named):
    """(verdict, what to say of it)"""
    found = line_differences.differences(line.key, theirs, ours)
    if not found:
        return "equal", []
    said = [f"{kind}: {text}" for kind, text in found]
    if [kind for kind, _ in found] == ["refused"]:
        return "refused", said

    told = re.search(r"^sml-run: (without effect here: |.*cannot be bound)", ours["err"], re.M)

    def is_named(kind):
        # A message says it. No option without effect may change which workers there are, and with what arguments.
        if told and (kind in ("binding", "accepted") or ("without effect" in told[0] and kind not in NEVER_EXCUSED)):
            return True
        return any(kinds.fullmatch(kind) and (key in line.named or (tables != "-" and line.table in tables.split(",")))
                   for key, tables, kinds in named)
    return ("named" if all(is_named(kind) for kind, _ in found) else "failed"), said


def best(line, records, ours, named):
    """Against the version to which it is closest."""
    verdicts = []
    for launcher in launchers.ALL:
        theirs = records[launcher.name].get("lines", {}).get(line.key) if launcher.table == line.table else None
        if theirs is not None:
            verdict, said = verdict_of(line, theirs, ours, named)
            declined = any(text.startswith("accepted") for text in said)  # a version that does not know the line
            verdicts.append((ORDER.index(verdict), declined, len(said), launcher.key, said))
    if not verdicts:
        return "failed", ["no record: run lines.py --record"]
    where, _, _, version, said = min(verdicts)
    return ORDER[where], [f"{text}  [{version}]" for text in said]


def compare(world, pattern, verbose, bless):
    begin = time.monotonic()
    records = {launcher.name: unpack(RECORDS / f"{launcher.name}.json.xz") for launcher in launchers.ALL}
    named, before, after = names(), unpack(VERDICTS), {}
    tables = sorted({launcher.table for launcher in launchers.ALL})
    known = [line for table in tables for line in lines_of(table)]
    lines = [line for line in known if re.search(pattern, line.key)]
    environments = {launcher.table: records[launcher.name].get("environment", {}) for launcher in launchers.ALL}
    for allocation in filter(None, environments.values()):
        allocation["SML_START_BY"] = "ssh"  # the allocation of the record is over, and its srun would wait for a controller
    results, _ = world.run(lines, lambda line: line.text, {name: str(SML_RUN) for name in launchers.OUR_NAMES}, along=4,
                           timeout=watchdog(), environments=environments)
    counts = dict.fromkeys(ORDER, 0)
    for line in lines:
        verdict, said = best(line, records, results[line.key], named)
        was = before.get(f"{line.table}: {line.key}", verdict)
        expected = verdict == "named" and line.named  # a mark may hold for what is so now and then
        if not bless and not expected and ORDER.index(verdict) > ORDER.index(was):
            said, verdict = [f"was {was} when it was recorded, is {verdict}", *said], "failed"
        if bless and verdict != before.get(f"{line.table}: {line.key}", verdict):
            print(f"was {was}, is {verdict}: {line.key}")
        after[f"{line.table}: {line.key}"] = verdict
        counts[verdict] += 1
        if verdict == "failed" or verbose and verdict != "equal":
            print(f"{verdict.upper()}  {line.key}", *said, sep="\n    ")
            if verdict == "failed":
                print("    said: " + " | ".join(results[line.key]["err"].splitlines()[:3])[:300])
    left = world.bed.ps()
    if left:
        print("processes are left:", *(p["cmd"] for p in left), sep="\n    ")
    wrong, options = ([], "") if pattern else help_options.check(str(SML_RUN), launchers.ALL, records)
    print(*wrong, options, sep="\n")
    if bless:
        keys = {f"{line.table}: {line.key}" for line in known}
        pack(VERDICTS, {key: verdict for key, verdict in {**before, **after}.items() if key in keys})
    print(f"{len(lines)} lines: {counts['equal']} equal, {counts['named']} named, {counts['refused']} refused, "
          f"{counts['failed']} failed, in {time.monotonic() - begin:.0f} s")
    return 1 if counts["failed"] or left or wrong else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-k", default="", metavar="PATTERN", help="only lines in which this regular expression is")
    parser.add_argument("-v", action="store_true", help="show what differs in named and refused lines too")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("launchers", nargs="*")
    said = parser.parse_args()
    two_cores()
    slurm = said.record and (not said.launchers or "srun" in said.launchers)
    with World(slurm) as world:
        if said.record:
            record(world, said.launchers, said.k)
        return compare(world, said.k, said.v, bless=said.record)


if __name__ == "__main__":
    sys.exit(main())
