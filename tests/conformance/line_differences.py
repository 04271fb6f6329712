"""What two launchers made of one line, compared. A difference is (kind, text); kinds are "refused", "accepted", "status",
"ranks", "hosts", "arguments", "folder", "binding", "input", "output", "errors", "files", "local-rank", "export" and "variable NAME".
"""
import json
import re

# Variables by which a launcher's own processes and the MPI library find each other, or which tell of the launcher itself.
# sml-run has no MPI: the manual names them as one class.
WIRE_UP = re.compile(
    r"PMIX_|PMI_(FD|PORT|ID|JOBID|SPAWNED|CONTROL|VERSION|SUBVERSION|PROCESS_MAPPING|TOTALVIEW|DEBUG)|HYDI?_|HYDRA_|I_MPI_|"
    r"OMPI_MCA_(orte|ess|pmix|prte|schizo|plm|rmaps|ras|hwloc|shmem|initial_wdir|mca_base|oob|btl_base|orte_)|PRTE_|"
    r"OMPI_(LIBDIR|MCA_(PREFIXES|cpu_type|num_procs)|WORLD_|COMMAND|ARGV|FILE_LOCATION|NUM_APP_CTX|FIRST_RANKS|APP_CTX_NUM_PROCS|VERSION|LAUNCHED|TOOL)|IPATH_|PSM|"
    r"OPAL_|GFORTRAN_|MPIR_CVAR_|MPIEXEC_|MPICH_|MPI_VERSION|SLURM_(SRUN_COMM|TOPOLOGY|WORKING_CLUSTER|UMASK|PRIO_PROCESS|JOB_(USER|UID|GID|CPUS_PER_NODE)|DISTRIBUTION|"
    r"LABELIO|OVERCOMMIT|CPUS_ON_NODE|UNBUFFEREDIO|NTASKS_PER_NODE|KILL_BAD_EXIT|DEBUG|RLIMIT|STEP_LAUNCHER_PORT|LAUNCH_NODE|TASK_PID|MPI|PMI|CPU_BIND)|SRUN_|"
    r"TORCHELASTIC_(ERROR_FILE|SIGNALS|HEALTH)|TORCH_NCCL|NCCL_ASYNC|ORTE_|OMPI_MCA_mpi_yield|OMPI_MCA_rmaps|ZES_|"
    r"HFI_NO|DYLD_|OMPI_MCA_routed|OMPI_UNIVERSE_SIZE|OMPI_MCA_mpi_oversub|HOROVOD_(GLOO_IFACE|TIMELINE_PIPE)|CCL_|KMP_|FI_|DAPL|UCX_")
# Of shells and logins on the way.
OF_LOGIN = re.compile(r"(PWD|OLDPWD|SHLVL|_|MAIL|TERM|LANGUAGE|LC_ALL|SSH_\w+|XDG_\w+|MOTD_SHOWN|LS_COLORS|TMPDIR|SHELL|USER|"
                      r"LOGNAME|HOME|PATH|LANG|LD_LIBRARY_PATH|KRB5CCNAME|PYTHONUNBUFFERED|PYTHONFAULTHANDLER)$")
# What sml-run gives beside what the launcher gives: the variables of all frameworks, and its own.
OURS = re.compile(r"(SML_\w+|RANK|WORLD_SIZE|LOCAL_RANK|LOCAL_WORLD_SIZE|LOCAL_SIZE|GROUP_RANK|GROUP_WORLD_SIZE|NODE_RANK|ROLE_\w+|MASTER_ADDR|"
                  r"MASTER_PORT|OMPI_\w+|PMI_\w+|MPI_\w+|HOROVOD_\w+|TORCHELASTIC_\w+|SLURM_\w+|PMIX_\w+|CROSS_\w+|"
                  r"OMP_NUM_THREADS|MPIEXEC_\w+|NPROC_PER_NODE|NNODES|GLOO_SOCKET_IFNAME|"
                  r"NCCL_SOCKET_IFNAME)$")
ADDRESSES = {"localhost", "127.0.0.1", "head"}
TIMES = (re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} +\d+ [\d:.]+ \d{4}"), re.compile(r"\d{4}-\d\d-\d\d[ T][\d:.,+Z-]+"))


def without_times(text):
    for pattern in TIMES:
        text = pattern.sub("TIME", text)
    return text


def lines_of_workers(text):
    """Whole lines in which a worker's mark is, in an order that does not depend on who was first."""
    return sorted(without_times(line) for line in text.splitlines() if "~" in line)


def rank_of(worker):
    return worker["rank"] or worker["env"].get("RANK", "")


def key_of(worker):
    rank = rank_of(worker)
    return (0, int(rank), "") if rank.isdigit() else (1, 0, f"{worker['host']} {worker['argv']} {worker['cpus']}")


def address(value, workers):
    """An address by whom it reaches."""
    return "the first host" if value in ADDRESSES or value == workers[0]["host"] or re.match(r"10\.77\.", value) else value


def numbers(text):
    """Of "1-3,5"; of nothing: nothing, once."""
    for part in (text or "").split(","):
        first, _, last = part.partition("-")
        yield from map(str, range(int(first), int(last) + 1)) if last else [part]


def variables_of(worker, workers, line):
    """Those that are compared."""
    out = {}
    for name, value in worker["env"].items():
        if WIRE_UP.match(name) or OF_LOGIN.match(name) or name == "SML_JOB_SECRET":  # of on_hosts.sh
            continue
        if name.endswith(("_ADDR", "_HOSTNAME")) and "addr" not in line:
            value = address(value, workers)
        if name.endswith("PORT") and value not in line:
            value = "a port"
        if name in ("SLURM_STEP_ID", "SLURM_STEPID"):
            value = "a step"
        if name.endswith("NODELIST"):
            value = ",".join(f"{m[1]}{n}" for part in re.findall(r"[^,\[]+(?:\[[^]]*\])?", value)
                             for m in [re.match(r"([^\[]+)(?:\[(.*)\])?", part)] for n in numbers(m[2]))
        if name.endswith("RUN_ID") and value not in line:
            value = "an id"
        out[name] = value
    return out


def program_by_name(argv):
    """Its own name may be with a folder or without."""
    return [argv[0].rsplit("/", 1)[-1], *argv[1:]]


def same_value(theirs, ours):
    """A number may be written in several ways: 4, 4.0."""
    if theirs is None or ours is None or theirs == ours:
        return theirs == ours
    try:
        return float(theirs) == float(ours)
    except ValueError:
        return False


def of_worker(theirs, ours, everyone, line):
    for kind, key in (("hosts", "host"), ("folder", "cwd"), ("binding", "cpus"), ("input", "stdin")):
        if theirs.get(key) != ours.get(key):
            yield kind, f"{ours.get(key)}, not {theirs.get(key)}"
    if program_by_name(theirs["argv"]) != program_by_name(ours["argv"]):
        less = [word for word in program_by_name(theirs["argv"]) if not word.startswith("--local_rank=")]
        kind = "local-rank" if less == program_by_name(ours["argv"]) else "arguments"
        yield kind, f"{ours['argv']}, not {theirs['argv']}"
    wanted, got = variables_of(theirs, everyone[0], line), variables_of(ours, everyone[1], line)
    for name in sorted({*wanted, *got}):
        if not same_value(wanted.get(name), got.get(name)) and not (name not in wanted and OURS.match(name)):
            yield f"variable {name}", f"{got.get(name)}, not {wanted.get(name)}"
    for name in sorted(set(theirs["without"]) ^ set(ours["without"])):
        if name in ("CALLER",):
            yield "export", f"{name} is {'not ' if name in ours['without'] else ''}there"


def statuses(theirs, ours):
    if theirs != ours:
        yield "status", f"{ours}, not {theirs}"


def in_one_form(name, text):
    """JSON may be written with other spaces and in another order."""
    try:
        return json.dumps(json.loads(text), sort_keys=True) if name.endswith(".json") else text
    except ValueError:
        return text


def contents(files):
    """torchrun's folder of a run has a name that was drawn, DeepSpeed's files have the time, prterun's its pid."""
    def name_of(name):
        name = re.sub(r"[^/]+/attempt_", "RUN/attempt_", name)
        return re.sub(r"(?<=prterun-head-)\d+(?=@)", "PID", re.sub(r"\d{14}(?=_rank)", "TIME", name))
    return {name_of(name): lines_of_workers(in_one_form(name, text)) for name, text in files.items()
            if "__pycache__" not in name}


def differences(line, theirs, ours):
    """All of them, each once."""
    found = dict.fromkeys(_differences(line, theirs, ours))
    return list(found)


def said_by(result):
    """The first sentence of sml-run."""
    for text in result["err"].splitlines():
        if text.startswith("sml-run: ") and not re.match(r"sml-run: (without effect here|\d+ ranks on|warning)", text):
            return text
    return ""


def _differences(line, theirs, ours):
    started, start = theirs["seen"], ours["seen"]
    if not started and not start:
        if (theirs["status"] == 0) != (ours["status"] == 0):
            refusal = ours["status"] != 0 and said_by(ours)
            yield ("refused", said_by(ours)) if refusal else ("status", f"{ours['status']}, not {theirs['status']}; nothing starts")
        return
    if not start:
        yield ("refused", said_by(ours)) if ours["status"] in (2, 125, 64) and said_by(ours) else (
            "ranks", f"none starts, not {len(started)}; status {ours['status']}")
        return
    if not started:
        first = next((text for text in theirs["err"].splitlines() if text.strip(" -*")), "")
        yield "accepted", f"status {ours['status']}, not {theirs['status']}: {first}"
        return
    yield from statuses(theirs["status"], ours["status"])
    if sorted(map(rank_of, started)) != sorted(map(rank_of, start)):
        yield "ranks", f"{sorted(map(rank_of, start))}, not {sorted(map(rank_of, started))}"
    else:
        for a, b in zip(sorted(started, key=key_of), sorted(start, key=key_of)):
            yield from of_worker(a, b, (sorted(started, key=key_of), sorted(start, key=key_of)), line)
    for kind, stream in (("output", "out"), ("errors", "err")):
        a, b = lines_of_workers(theirs[stream]), lines_of_workers(ours[stream])
        if a != b:
            yield kind, f"{b}, not {a}"
    if contents(theirs["files"]) != contents(ours["files"]):
        yield "files", f"{sorted(ours['files'])}, not {sorted(theirs['files'])}"
