#!/usr/bin/env python3
"""Training jobs of SageMaker's, made up by sagemaker_jobs.py: what a program sees under `sml-run train`, compared with what
it saw under the real training toolkit. Needs root: every host of a job has an /opt/ml and a network of its own making.

  sagemaker.py           compare with the record; SML_BUILD_DIR says where sml-run is (default build)
  sagemaker.py --record  run the toolkit, and write the record anew

Differences that are meant are below, under "named", and in sml-run-sagemaker(7). What mpirun and torchrun make of a
distribution is not compared: one program runs on each host.
"""
import ctypes
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

import sagemaker_jobs

HERE = pathlib.Path(__file__).resolve().parent
RECORD = HERE / "sagemaker-record.json.xz"
ML = pathlib.Path("/opt/ml")
ALONG = 4  # jobs of one host that are run at a time
HANG_S = 120 * float(os.environ.get("MACHINE_FACTOR") or 1)

libc = ctypes.CDLL(None, use_errno=True)
MS_BIND, MS_REC, MS_PRIVATE, CLONE_NEWNS, CLONE_NEWNET = 4096, 16384, 1 << 18, 0x20000, 0x40000000


def call(name, *arguments):
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}{arguments}: {os.strerror(number)}")


def mount(source, target, kind, flags):
    call("mount", str(source).encode(), str(target).encode(), kind, flags, None)


def own_machine():
    """Namespaces of our own, in which /opt is empty, and algo-1, algo-2, ... are this machine."""
    call("unshare", CLONE_NEWNS | CLONE_NEWNET)
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount("none", "/opt", b"tmpfs", 0)
    ML.mkdir()
    hosts = pathlib.Path("/opt/hosts")
    hosts.write_text("127.0.0.1 localhost " + " ".join(f"algo-{i}" for i in range(1, 10)) + "\n")
    mount(hosts, "/etc/hosts", None, MS_BIND)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def on_host(folder):
    """What a process of a host does before all else."""
    call("unshare", CLONE_NEWNS)
    mount(folder, ML, None, MS_BIND)


def lay_out(job, resources):
    """The /opt/ml of one host."""
    folder = pathlib.Path(tempfile.mkdtemp(dir="/opt", prefix="host-"))
    for name in ("input/config", "input/data", "code", "model", "output/data"):
        (folder / name).mkdir(parents=True)
    for channel in job["channels"]:
        (folder / "input/data" / channel).mkdir()
    for name, value in (("hyperparameters", job["hyperparameters"]), ("inputdataconfig", job["channels"]),
                        ("resourceconfig", resources)):
        (folder / f"input/config/{name}.json").write_text(json.dumps(value))
    for name, text in job["files"].items():
        file = folder / "code" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return folder


def environment_of(job, **more):
    return {"PATH": os.environ["PATH"], "HOME": "/root", "LANG": "C.UTF-8", **job["environment"], **more}


def collect(folder, status):
    """What came of one host."""
    seen = folder / "model/seen"
    failure = folder / "output/failure"
    out = {"status": "good" if status == 0 else "bad",
           "seen": [json.loads(line) for line in seen.read_text().splitlines()] if seen.exists() else [],
           "failure": failure.read_text() if failure.exists() else None}
    shutil.rmtree(folder)
    return out


# ---- the toolkit

def run_toolkit(job):
    from sagemaker_training import trainer  # once for all: it reads nothing but where /opt/ml is

    def one(folder):
        pid = os.fork()
        if pid:
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        status = 99
        try:
            on_host(folder)
            variables = environment_of(job)
            os.environ.clear()
            os.environ.update(variables)
            with open("/opt/said", "w") as said:
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
            trainer.train()
        except SystemExit as end:
            status = end.code or 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)

    folders = [lay_out(job, resources) for resources in job["resources"]]
    return [collect(folder, one(folder)) for folder in folders]


def record():
    if "--inside" not in sys.argv:
        with tempfile.TemporaryDirectory() as venv:
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
            subprocess.run([f"{venv}/bin/pip", "install", "-q", "-r", HERE / "sagemaker-requirements.txt"], check=True)
            path = f"{venv}/bin:{os.environ['PATH']}"
            subprocess.run([f"{venv}/bin/python", __file__, "--record", "--inside"], check=True, env={**os.environ, "PATH": path})
        return 0
    from importlib.metadata import version
    own_machine()
    jobs = sagemaker_jobs.jobs()
    done = {"toolkit": version("sagemaker-training"), "jobs": [neutral(run_toolkit(job)) for job in jobs]}
    RECORD.write_bytes(lzma.compress(json.dumps(done, sort_keys=True, separators=(",", ":")).encode(), preset=9))
    print(f"{len(jobs)} jobs recorded, sagemaker-training {done['toolkit']}, {RECORD.stat().st_size} bytes")
    return 0


# ---- sml-run

def start_ours(job, folder, options):
    def prepare():
        on_host(folder)
    return subprocess.Popen([SML_RUN, "train", *options], env=environment_of(job, SML_JOB_SECRET="0123456789abcdef"), cwd="/",
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=prepare)


class Ours:
    """One job under sml-run."""

    def __init__(self, job):
        self.folders = [lay_out(job, resources) for resources in job["resources"]]
        # A worker that fails ends the others, which the toolkit lets go on.
        options = ["--on-failure", "continue"] if len(self.folders) > 1 else []
        self.processes = [start_ours(job, folder, options) for folder in self.folders]

    def finish(self):
        self.said = [p.communicate(timeout=HANG_S)[0].decode(errors="replace") for p in self.processes]
        return neutral([collect(f, p.returncode) for f, p in zip(self.folders, self.processes)])


def run_ours(jobs):
    """Those of several hosts use one port, and are run one after the other."""
    results = {}
    waiting = [job for job in jobs if len(job["resources"]) == 1]
    running = []
    while waiting or running:
        while waiting and len(running) < ALONG:
            job = waiting.pop(0)
            running.append((job["index"], Ours(job)))
        index, ours = running.pop(0)
        results[index] = (ours.finish(), ours.said)
    for job in jobs:
        if len(job["resources"]) > 1:
            ours = Ours(job)
            results[job["index"]] = (ours.finish(), ours.said)
    return results


# ---- named

def neutral(hosts):
    """Without what is of the machine that runs it."""
    for host in hosts:
        host["failure"] = host["failure"] and host["failure"].replace(sys.executable, "python")
        for seen in host["seen"]:
            env = seen["env"]
            env["SM_NUM_CPUS"] = "cpus" if env["SM_NUM_CPUS"] == str(os.cpu_count()) else env["SM_NUM_CPUS"]
            whole = json.loads(env["SM_TRAINING_ENV"])
            whole["num_cpus"] = "cpus" if whole["num_cpus"] == os.cpu_count() else whole["num_cpus"]
            env["SM_TRAINING_ENV"] = whole
    return hosts


V3 = {"SM_HOST_COUNT", "SM_CURRENT_HOST_RANK", "SM_INPUT_DATA_DIR", "SM_OUTPUT_FAILURE", "SM_SOURCE_DIR", "SM_ENTRY_SCRIPT"}


def names_of(job):
    """Of hyperparameters and channels: as the toolkit makes them, and as sml-run does."""
    for prefix, keys in (("SM_HP_", job["hyperparameters"]), ("SM_CHANNEL_", job["channels"])):
        for key in keys:
            ours = prefix + "".join(c.upper() if c.isascii() else c for c in key)
            yield prefix + key.upper(), ours, re.sub(rb"[^0-9A-Za-z_]", b"_", ours.encode()).decode()


def expected(theirs, job):
    """The variables of the toolkit as sml-run should have them, and those that it may have beside them."""
    out, more = dict(theirs), set(V3)
    for their_name, our_name, twin in names_of(job):
        more.add(twin)  # a shell loses the names that it cannot use, and keeps their twins
        if their_name in out and their_name != our_name:
            out[our_name] = out.pop(their_name)  # only A to Z become capitals
    if not out["SAGEMAKER_REGION"]:
        out["SAGEMAKER_REGION"] = job["environment"].get("AWS_REGION", "")  # which boto3 does not know
    return out, more


def differences(job, toolkit, sml_run):
    """Of one host, in words."""
    if toolkit["status"] != sml_run["status"]:
        yield f"ended {sml_run['status']}, with the toolkit {toolkit['status']}"
    if len(toolkit["seen"]) != len(sml_run["seen"]):
        yield f"{len(sml_run['seen'])} workers, with the toolkit {len(toolkit['seen'])}"
        return
    for a, b in zip(toolkit["seen"], sml_run["seen"]):
        for key in ("argv", "cwd"):
            if a[key] != b[key]:
                yield f"{key} {b[key]!r}, with the toolkit {a[key]!r}"
        wanted, more = expected(a["env"], job)
        for name in sorted({*wanted, *b["env"]}):
            theirs, ours = wanted.get(name), b["env"].get(name)
            if isinstance(theirs, dict) and isinstance(ours, dict):
                for key in sorted({*theirs, *ours}):
                    if theirs.get(key, "nothing") != ours.get(key, "nothing"):
                        yield f"{name}[{key}]={ours.get(key, 'nothing')!r}, with the toolkit {theirs.get(key, 'nothing')!r}"
            elif theirs != ours and not (theirs is None and name in more):
                yield f"{name}={ours!r}, with the toolkit {theirs!r}"
    failures = toolkit["failure"], sml_run["failure"]
    if "said by the program" in failures and failures[0] != failures[1]:
        yield f"failure {failures[1]!r}, with the toolkit {failures[0]!r}"


def compare():
    begin = time.monotonic()
    recorded = json.loads(lzma.decompress(RECORD.read_bytes()))
    own_machine()
    jobs = sagemaker_jobs.jobs()
    results = run_ours(jobs)
    bad = 0
    for index, theirs in enumerate(recorded["jobs"]):
        ours, said = results[index]
        found = [f"{place}: {d}" for place, (a, b) in enumerate(zip(theirs, ours)) for d in differences(jobs[index], a, b)]
        if any(a["failure"] for a in theirs) != any(b["failure"] for b in ours):
            found.append(f"failure files {[b['failure'] for b in ours]}, with the toolkit {[a['failure'] for a in theirs]}")
        if found:
            bad += 1
            print(f"FAIL  job {index}", *found, *said, sep="\n    ")
    good = len(recorded["jobs"]) - bad
    print(f"sagemaker-training {recorded['toolkit']}: {good} jobs equal, {bad} not, in {time.monotonic() - begin:.1f} s")
    return 1 if bad else 0


SML_RUN = str(pathlib.Path(os.environ.get("SML_BUILD_DIR", "build")).resolve() / "sml-run")

if __name__ == "__main__":
    sys.exit(record() if "--record" in sys.argv else compare())
