#!/usr/bin/python3
"""What the benchmarks share: CPU accounting, interleaved rounds, a testbed, tables.

Started as a program it is the part that runs on a testbed's host: a job as JSON on stdin, its results on stdout.
"""
import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parent.parent
PR_SET_CHILD_SUBREAPER = 36
SETTLE_S = 1.0  # what is left this long after a launcher's end counts as left behind
SSH_CURVE = "-o KexAlgorithms=curve25519-sha256"
# mpirun refuses root otherwise
MPI_ENV = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


# ------------------------------------------------------------------ this program
def prepare():
    """Signals end us through every `finally`; orphans of what we start become our children, so none is lost."""
    stopping = []

    def stop(number, _frame):
        if not stopping:  # one clean-up, not two
            stopping.append(number)
            sys.exit(128 + number)
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, stop)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def arguments(doc):
    p = argparse.ArgumentParser(description=doc.splitlines()[0])
    p.add_argument("--sml-run", type=pathlib.Path, default=pathlib.Path(os.environ.get("SML_RUN", REPO / "build/sml-run")),
                   help="the launcher (default: $SML_RUN or build/sml-run)")
    p.add_argument("--helpers", type=pathlib.Path, help="folder of spawn_floor, lines, dying, restarted, store_clients, peers (default: tests/bench beside the launcher)")
    return p


def parse(parser):
    a = parser.parse_args()
    a.sml_run = a.sml_run.absolute()
    a.helpers = (a.helpers or a.sml_run.parent / "tests/bench").absolute()
    return a


def helper(a, name):
    path = a.helpers / name
    if not path.exists():
        sys.exit(f"{sys.argv[0]}: {path} is not built")
    return str(path)


def note(text):
    print(f"  … {text}", file=sys.stderr, flush=True)


# ------------------------------------------------------------------ processes
def parents():
    """pid → ppid of everything that we can see."""
    out = {}
    for d in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            stat = pathlib.Path("/proc", d, "stat").read_text()
            out[int(d)] = int(stat[stat.rindex(")") + 2:].split()[1])
    return out


def descendants():
    above, found = parents(), []
    for pid in above:
        p = pid
        while p in above and p != os.getpid():
            p = above[p]
        if p == os.getpid() and pid != p:
            found.append(pid)
    return found


def reap(pid=-1):
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(pid, os.WNOHANG)[0]:
            pass


def settle(limit=SETTLE_S):
    """Waits until nothing that we started is left, and kills the rest. Returns how many had to be killed."""
    end = time.monotonic() + limit
    while True:
        reap()
        left = descendants()
        if not left:
            return 0
        if time.monotonic() > end:
            break
        time.sleep(0.005)
    for _ in range(200):  # again and again: a killed process's children come to us
        rest = descendants()
        for pid in rest:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        reap()
        if not rest:
            break
        time.sleep(0.01)
    return len(left)


def wait_exit(pid, timeout):
    """True when `pid` has ended (it is not reaped)."""
    fd = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return bool(poll.poll(timeout * 1000))
    finally:
        os.close(fd)


def stop(process, grace=3.0):
    """TERM to the process group, then KILL; the rest of the tree is for settle()."""
    for s in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, s)
            if wait_exit(process.pid, grace):
                break


def start(cmd, env=None, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
    # no preexec_fn: so Python starts it by vfork, which costs the same for all
    return subprocess.Popen([str(c) for c in cmd], stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                            start_new_session=True, env={**os.environ, **(env or {})})


# ------------------------------------------------------------------ CPU time
def cgroup_root():
    """A writable cgroup v2 tree, or None. Its cpu.stat counts CPU time without any controller."""
    for line in open("/proc/self/mounts"):
        f = line.split()
        if f[2] == "cgroup2" and os.access(pathlib.Path(f[1]) / "cgroup.procs", os.W_OK):
            return pathlib.Path(f[1])
    return None


class Group:
    """One cgroup: how much CPU time its members took, those that have ended too."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def cpu(self):
        return int(self.path.joinpath("cpu.stat").read_text().split()[1]) / 1e6

    def count(self):
        return len(self.path.joinpath("cgroup.procs").read_text().split())

    def add(self, pid):
        self.path.joinpath("cgroup.procs").write_text(str(pid))

    def remove(self):
        root = cgroup_root()
        for _ in range(40):
            with contextlib.suppress(OSError):
                for pid in self.path.joinpath("cgroup.procs").read_text().split():
                    with contextlib.suppress(OSError):
                        root.joinpath("cgroup.procs").write_text(pid)
            try:
                return self.path.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.05)


@contextlib.contextmanager
def groups(*names):
    """New cgroups, removed at the end; None where this machine lets us make none."""
    root, base, made = cgroup_root(), None, []
    try:
        if root:
            with contextlib.suppress(OSError):
                base = root / f"sml-bench-{os.getpid()}"
                for n in names:
                    (base / n).mkdir(parents=True)
                    made.append(Group(base / n))
        yield made if len(made) == len(names) else None
    finally:
        for g in made:
            g.remove()
        if base and base.exists():
            Group(base).remove()


def own(who=resource.RUSAGE_SELF):
    u = resource.getrusage(who)
    return u.ru_utime + u.ru_stime


class Cpu:
    """CPU time of all that we started: by our own cgroup less ourselves; without cgroups that of all reaped."""

    def __init__(self, group):
        self.group = group
        if group:
            group.add(0)  # 0 is the writer, in every PID namespace
        self.how = ("cgroup v2 cpu.stat: every process of the job, those that detach too" if group
                    else "rusage of all reaped children (no writable cgroup v2); orphans are reaped by the benchmark")

    def used(self):
        return self.group.cpu() - own() if self.group else own(resource.RUSAGE_CHILDREN)


# ------------------------------------------------------------------ rounds
def contender(name, cmd, timeout=30.0, env=None, want=0, installed=None):
    """One of the commands that are compared. `installed`: the program that must be there (default: the command's)."""
    cmd = [str(c) for c in cmd]
    there = shutil.which(installed or cmd[0])
    return {"name": name, "cmd": cmd, "timeout": timeout, "env": env or {}, "want": want,
            "why": None if there else "not installed" if not installed or "/" not in installed else f"{installed} is missing"}


def run_once(c, cpu, there=None):
    """One run: wall and CPU time, and what went wrong, if anything did."""
    before = there.count() if there else 0
    with tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as out:
        there0, cpu0, t0 = there.cpu() if there else 0.0, cpu.used(), time.monotonic()
        p = start(c["cmd"], c["env"], stdout=out if "stamps" in c else subprocess.DEVNULL, stderr=err)
        ended = False
        try:
            ended = wait_exit(p.pid, c["timeout"])
            wall = time.monotonic() - t0
        finally:
            if not ended:
                stop(p)
            rc = p.wait()
            left = settle()
        if there:
            settle_group(there, before)
        row = {"wall": wall, "cpu": cpu.used() - cpu0, "there": there.cpu() - there0 if there else 0.0, "left": left}
        said = last_line(err)
        if "stamps" in c:  # what is to be found in its output, and how often: the groups are kept
            out.seek(0)
            row.update(began=t0, stamps=re.findall(c["stamps"]["pattern"], out.read().decode(errors="replace")))
            if len(row["stamps"]) != c["stamps"]["count"]:
                row["fault"] = f"did not print what was expected: {said}"
    if not ended:
        row["fault"] = f"no end within {c['timeout']:g} s"
    elif c["want"] is not None and rc != c["want"]:
        row["fault"] = f"exit status {rc}: {said}"
    return row


def last_line(file):
    """What a command said last: most often why it failed."""
    file.seek(0)
    return last_line_of(file.read()[-2000:].decode(errors="replace"))


def last_line_of(text):
    return next((x.strip() for x in reversed(text.split("\n")) if re.search(r"\w", x)), "")


def settle_group(group, count, limit=SETTLE_S):
    end = time.monotonic() + limit
    while group.count() > count and time.monotonic() < end:
        time.sleep(0.005)


def rounds(contenders, number, warm, cpu, there=None, pause=0.02):
    """A B C A B C …: what disturbs the machine disturbs all. A contender that only fails is left out soon."""
    for c in contenders:
        c.update(rows={}, faults=[], runs=0)
    for i in range(number + warm):
        for c in contenders:
            if c["why"] or hopeless(c):
                continue
            time.sleep(pause)
            row = run_once(c, cpu, there)
            c["runs"] += 1
            if "fault" in row:
                c["faults"].append(row["fault"])
            elif i >= warm:
                c["rows"][str(i)] = row  # a string: it may travel as JSON
    return contenders


def hopeless(c):
    return len(c["faults"]) >= (4 if c["rows"] else 2)


def column(c, key):
    return [r[key] for r in c["rows"].values()]


def ratios(c, base, key):
    """Of runs of the same round only: they saw the same machine."""
    return [r[key] / base["rows"][i][key] for i, r in c["rows"].items() if i in base["rows"] and base["rows"][i][key] > 0]


def faults(c):
    if c["why"]:
        return c["why"]
    kinds = c["faults"]
    left = sum(r["left"] for r in c["rows"].values())
    parts = [f"{kinds.count(k)} of {c['runs']} runs: {k}" for k in dict.fromkeys(kinds)]
    return "; ".join(parts + ([f"left {left} processes behind in all"] if left else []))


# ------------------------------------------------------------------ numbers as text
def spread(values, unit=1e3, digits=1):
    if not values:
        return "–"
    v = [x * unit for x in values]
    return f"{statistics.median(v):.{digits}f} ({min(v):.{digits}f}..{max(v):.{digits}f})"


def ratio(values):
    return spread(values, 1, 2)


def budget(text, value, limit, unit="", digits=2):
    """The budget's line. It never fails a run: timings on a shared machine are no test."""
    if value is None:
        return f"Budget: {text}: not measured"
    return f"Budget: {text}: {value:.{digits}f}{unit}, {'within' if value <= limit else 'over'} {limit:g}{unit}"


def median(values):
    return statistics.median(values) if values else None


def table(title, header, rows):
    print(f"\n### {title}\n\n| " + " | ".join(header) + " |")
    print("|" + " --- |" * len(header))
    for r in rows:
        print("| " + " | ".join(str(x).replace("|", "\\|") for x in r) + " |")
    print(flush=True)


def lines(*texts):
    for t in texts:
        print(f"* {t}")
    sys.stdout.flush()


# ------------------------------------------------------------------ a testbed of our own
def testbed_tool(given):
    for path in (given, os.environ.get("SML_TESTBED_TOOL"), REPO / "tests/testbed/testbed"):
        if path and pathlib.Path(path).exists():
            return str(pathlib.Path(path).absolute())
    return None


def testbed_arguments(p):
    p.add_argument("--testbed", type=pathlib.Path, help="the testbed tool (default: tests/testbed/testbed)")
    p.add_argument("--name", default=os.environ.get("SML_TESTBED", f"b{os.getpid()}"), help="name of the testbed that is made")


def why_no_testbed(a):
    if os.geteuid() != 0:
        return "needs root (it makes network namespaces)"
    return None if testbed_tool(a.testbed) else "no testbed tool: name one by --testbed"


class Testbed:
    """Hosts algo-1..algo-N and head, for the life of this object."""

    def __init__(self, a, hosts):
        self.tool, self.name, self.hosts, self.shares = testbed_tool(a.testbed), a.name, hosts, {HERE, a.sml_run.parent}

    def call(self, *args, **kw):
        return subprocess.run([self.tool, "--name", self.name, *args], text=True, **kw)

    def __enter__(self):
        if self.call("hosts", capture_output=True).returncode == 0:
            sys.exit(f"{sys.argv[0]}: a testbed '{self.name}' is already up; choose another --name")
        hidden = [f for d in self.shares if re.match(r"/(tmp|var/tmp|run|home)/", f"{d}/") for f in ("--share", str(d))]
        note(f"testbed of {self.hosts} hosts")
        try:
            self.call("up", "-q", str(self.hosts), *hidden, check=True)
        except BaseException:
            self.down()
            raise
        return self

    def down(self):
        self.call("down", stdout=subprocess.DEVNULL)

    def __exit__(self, *_):
        self.down()

    def exec(self, *cmd):
        env = [x for k, v in MPI_ENV.items() for x in ("-e", f"{k}={v}")]
        return [self.tool, "--name", self.name, "exec", *env, "head", *map(str, cmd)]

    def adopt(self, here, there):
        """Puts the processes of head into one group, those of all other hosts into another."""
        state = pathlib.Path(os.environ.get("SML_TESTBED_DIR", "/run/sml-testbed"), self.name, "state.json")
        for name, host in json.loads(state.read_text())["hosts"].items():
            space = os.stat(f"/proc/{host['pid']}/ns/pid").st_ino
            for d in filter(str.isdigit, os.listdir("/proc")):
                with contextlib.suppress(OSError):
                    if os.stat(f"/proc/{d}/ns/pid").st_ino == space:
                        (here if name == "head" else there).add(d)

    def rounds(self, here, there, contenders, number, warm):
        """rounds(), run on head itself, so that the testbed tool is no part of what is timed."""
        job = {"here": str(here.path), "there": str(there.path), "contenders": contenders, "number": number, "warm": warm}
        p = subprocess.Popen(self.exec("/usr/bin/python3", HERE / "measure.py"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             text=True, start_new_session=True)
        try:
            out, _ = p.communicate(json.dumps(job))
        finally:
            if p.poll() is None:
                stop(p, 10)
                p.wait()
        if p.returncode:
            sys.exit(f"{sys.argv[0]}: the runs on head ended with status {p.returncode}")
        return json.loads(out)


def main():
    prepare()
    job = json.load(sys.stdin)
    for c in job["contenders"]:  # what is installed is known only here
        c["why"] = c["why"] or (None if shutil.which(c["cmd"][0]) else "not installed")
    cpu = Cpu(Group(job["here"]))
    print(json.dumps(rounds(job["contenders"], job["number"], job["warm"], cpu, Group(job["there"]))))


if __name__ == "__main__":
    main()
