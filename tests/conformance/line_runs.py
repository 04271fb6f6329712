"""Runs launch lines on a host of the testbed and writes down what came of each. `line_runs.py JOBS RESULTS` is started on
that host; everything else here is what it and lines.py both need.

A line is run by bash in a folder of its own that all hosts see, $W, which holds the files below and these folders:
  bin   the launcher, by its name     seen   what each worker wrote, see tests/helpers/witness.cc
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

HOSTS = ("node1", "node2", "node3")
EXEC_PROBE = "import os, sys\nos.execv({probe!r}, [{name!r}, *sys.argv[1:]])\n"
# Asks torch's store: VALIDATE with its number, then PING, which it answers with the same word.
ASK_STORE = ("import os, socket, struct\n"
             "with socket.create_connection((os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT']))) as store:\n"
             "    store.sendall(struct.pack('=BIBI', 0, 0x3C85F7CE, 13, 29))\n"
             "    print(f\"the store answers {struct.unpack('=I', store.recv(4))[0]}~\", flush=True)\n")
# Python scripts that the probe takes the place of, by what they do before.
SCRIPTS = {"train.py": "", "mod.py": "", "store.py": ASK_STORE}

FILES = {
    "hosts": "".join(f"{h}\n" for h in HOSTS[:2]),
    "hostfile": "".join(f"{h} slots=2\n" for h in HOSTS[:2]),
    "maxfile": "node1 slots=2 max_slots=20\nnode2 slots=2 max-slots=20\n",
    "machines": "".join(f"{h}:2\n" for h in HOSTS[:2]),
    "localfile": "localhost slots=4\n",
    "rankfile": "rank 0=node1 slot=0\nrank 1=node2 slot=1\nrank 2=node1 slot=1\n",
    "sshconfig": "Match exec true\n  HostKeyAlgorithms +ssh-rsa\n  PubkeyAcceptedAlgorithms ^ssh-ed25519\n"
                 "  KexAlgorithms -diffie-hellman-*\n  Ciphers +aes128-ctr\n",
    "appfile": "-np 1 ./probe a\n-np 1 ./probe b\n",
    "configfile": "-n 1 ./probe a\n-n 1 ./probe b\n",
    "multi.conf": "0 ./probe zero %t\n1-2 ./probe more %t %o\n",
    "in": "first\nsecond\nlast without an end",
    "horovod.yaml": "params:\n  cycle_time_ms: 2\n  cache_capacity: 7\n  hierarchical_allreduce: true\n",
    "ds_config.json": '{"train_batch_size": 8}\n',
    "accelerate.yaml": "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_CPU\nnum_processes: 2\n"
                       "num_machines: 1\nmachine_rank: 0\nmixed_precision: 'no'\nuse_cpu: true\n",
    "accelerate-gpus.yaml": "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_processes: 2\n"
                            "num_machines: 1\nmachine_rank: 0\nmixed_precision: 'no'\n",
    "accelerate-hosts.yaml": "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nnum_processes: 2\n"
                             "num_machines: 2\nmain_process_ip: node1\nmain_process_port: 29801\nmixed_precision: 'no'\n",
    "accelerate-fsdp.yaml": "compute_environment: LOCAL_MACHINE\ndebug: false\ndistributed_type: FSDP\ndowncast_bf16: 'no'\n"
                            "dynamo_config:\n  dynamo_backend: INDUCTOR\n  dynamo_mode: default\nenable_cpu_affinity: false\n"
                            "fsdp_config:\n  fsdp_auto_wrap_policy: SIZE_BASED_WRAP\n  fsdp_min_num_params: 1000\n"
                            "  fsdp_offload_params: false\n  fsdp_version: 1\nmachine_rank: 0\nmain_training_function: main\n"
                            "mixed_precision: bf16\nnum_machines: 1\nnum_processes: 2\nrdzv_backend: static\n"
                            "same_network: true\ntpu_env: []\ntpu_use_cluster: false\ntpu_use_sudo: false\nuse_cpu: false\n",
    # Variables of deepspeed for all hosts, of a home and of a working directory.
    "home/.deepspeed_env": "FROM_HOME=1\nFROM_BOTH=home\n",
    "job/.deepspeed_env": "FROM_JOB=two words\nFROM_BOTH=job\n",
    # The same on so many hosts, by each itself, with its number for {}; the status is the highest.
    "on_hosts.sh": "#!/bin/bash\nhosts=$1 worst=0\nshift\nfor ((n = 0; n < hosts; ++n)); do\n"
                   "  printf -v line '%q ' \"${@//\\{\\}/$n}\"\n"
                   "  ssh -o BatchMode=yes \"node$((n + 1))\" \"cd $PWD && SML_JOB_SECRET=shared-by-all-of-a-line "
                   "CALLER=here PATH=$PATH exec timeout 80 $line\" &\ndone\n"
                   "for child in $(jobs -p); do\n  wait \"$child\"\n  status=$?\n"
                   "  ((status <= worst)) || worst=$status\ndone\nexit \"$worst\"\n",
    # The same twice on this machine, with 0 and 1 for {}; the status is 0 if both have it.
    "twice.sh": "#!/bin/bash\n\"${@//\\{\\}/0}\" &\n\"${@//\\{\\}/1}\" && wait \"$!\"\n",
    # Rank 1 fails, and writes down why as torch's record() does.
    "fails.sh": "#!/bin/sh\n./probe \"$@\"\n[ \"$RANK\" = 1 ] || exit 0\n"
                "echo '{\"message\": {\"message\": \"why\", \"extraInfo\": {\"py_callstack\": \"where\", \"timestamp\": \"1\"}}}' "
                "> \"$TORCHELASTIC_ERROR_FILE\"\nexit 1\n",
    "discover.sh": "#!/bin/sh\necho localhost:2\n",
    "limits.sh": "#!/bin/bash\necho \"files $(ulimit -n) stack $(ulimit -s) umask $(umask)~\"\nexec ./probe \"$@\"\n",
    "script.sh": "#!/bin/sh\nexec ./probe \"$@\"\n",
    "env.sh": "#!/bin/sh\nexec ./probe \"$A\" \"$OMPI_COMM_WORLD_RANK$PMI_RANK\"\n",
}
GIVEN = {*(name.split("/")[0] for name in FILES), *SCRIPTS, "probe", "seen", "bin", "sub"}
LIMIT = 4000  # bytes of a file or stream that are kept


def caller_environment(folder, more):
    return {"PATH": f"{folder}/bin:/usr/local/bin:/usr/bin:/bin", "HOME": "/home/root", "LANG": "C.UTF-8", "USER": "root",
            "LOGNAME": "root", "SHELL": "/bin/bash", "CALLER": "here", "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **more}


def lay_out(folder, probe, launchers):
    for name in ("seen", "bin", "sub"):
        (folder / name).mkdir(parents=True)
    shutil.copy(probe, folder / "probe")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        if name.endswith(".sh"):
            (folder / name).chmod(0o755)
    for name, before in SCRIPTS.items():
        (folder / name).write_text(before + EXEC_PROBE.format(probe=str(folder / "probe"), name=name))
    for name, target in launchers.items():
        (folder / "bin" / name).symlink_to(target)


def text_of(path):
    with open(path, "rb") as file:
        return file.read(LIMIT).decode("utf-8", "replace")


def files_left(folder):
    out = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if inside.parts[0] in GIVEN and inside.parts[0] != "sub" or not path.is_file():
            continue
        out[str(inside)] = text_of(path)
    return out


def worker_of(path, baseline):
    """A worker, with the variables that it has and the caller has not."""
    seen = json.loads(path.read_text())
    variables = dict(entry.split("=", 1) for entry in seen.pop("env") if "=" in entry)
    seen["env"] = {name: value for name, value in variables.items() if baseline.get(name) != value}
    seen["without"] = sorted(set(baseline) - set(variables))
    return seen


def run_line(job):
    folder = pathlib.Path(job["folder"])
    lay_out(folder, job["probe"], job["launchers"])
    slurm = {name: value for name, value in os.environ.items() if name.startswith("SLURM_")}  # of an allocation
    baseline = caller_environment(folder, {**slurm, **job["env"]})
    with open(folder / "seen/out", "wb") as out, open(folder / "seen/err", "wb") as err:
        process = subprocess.Popen(["bash", "-c", job["line"]], cwd=folder, env=baseline, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=err, start_new_session=True)
        try:
            status = process.wait(job["timeout"])
        except subprocess.TimeoutExpired:
            status = "hangs"
        for end in (signal.SIGTERM, signal.SIGKILL):  # what a launcher left in its session
            try:
                os.killpg(process.pid, end)
                process.wait(3)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
    result = {"status": status, "out": text_of(folder / "seen/out"), "err": text_of(folder / "seen/err"),
              "seen": [worker_of(path, baseline) for path in sorted((folder / "seen").glob("*.json"))],
              "files": files_left(folder)}
    shutil.rmtree(folder, ignore_errors=True)
    return neutral(result, str(folder))


def neutral(value, folder):
    """Without what differs from one run to the next: the folder of the line."""
    if isinstance(value, str):
        return re.sub(re.escape(folder) + r"(?![\w-])", "$W", value)
    if isinstance(value, list):
        return [neutral(item, folder) for item in value]
    if isinstance(value, dict):
        return {neutral(key, folder): neutral(item, folder) for key, item in value.items()}
    return value


def main():
    jobs = json.loads(pathlib.Path(sys.argv[1]).read_text())
    with concurrent.futures.ThreadPoolExecutor(jobs["along"]) as pool:
        results = dict(zip((job["id"] for job in jobs["jobs"]), pool.map(run_line, jobs["jobs"])))
    slurm = {name: value for name, value in os.environ.items() if name.startswith("SLURM_")}
    pathlib.Path(sys.argv[2]).write_text(json.dumps({"results": results, "environment": slurm}))


if __name__ == "__main__":
    main()
