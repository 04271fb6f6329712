"""Judges what tests/gpu/run has seen: answers.py WHAT GPUS [WANTED...] <OUTPUT. Says what is there, or exits with 1."""
import json
import pathlib
import pickle
import sys


def lines(text):
    return sorted((json.loads(line) for line in text.splitlines() if line.startswith("{")), key=lambda row: row["rank"])


def wrong(message):
    print(message)
    sys.exit(1)


def seen(text, ranks, each):
    """So many ranks see so many GPUs each, and none sees another's."""
    rows = lines(text)
    if [row["rank"] for row in rows] != list(range(ranks)):
        wrong(f"wanted ranks 0 to {ranks - 1}, there were {[row['rank'] for row in rows]}")
    for row in rows:
        if len(row["gpus"]) != each:
            wrong(f"rank {row['rank']} sees {len(row['gpus'])} GPUs instead of {each}: "
                  f"CUDA_VISIBLE_DEVICES={row['variable']}")
    every = [gpu for row in rows for gpu in row["gpus"]]
    if len(set(every)) != ranks * each:
        wrong(f"a GPU is seen by several ranks: {every}")
    return "CUDA_VISIBLE_DEVICES by rank: " + " ".join(str(row["variable"]) for row in rows)


def reduced(text, ranks):
    rows = lines(text)
    want = ranks * (ranks + 1) / 2
    if [row["rank"] for row in rows] != list(range(ranks)) or any(row["world"] != ranks for row in rows):
        wrong(f"wanted ranks 0 to {ranks - 1} of {ranks}, there were {[(row['rank'], row['world']) for row in rows]}")
    if any(row["total"] != want for row in rows):
        wrong(f"the sum is {[row['total'] for row in rows]} instead of {want}")
    if len({row["gpus"][0] for row in rows}) != ranks:
        wrong(f"ranks share GPUs: {[row['gpus'][0] for row in rows]}")
    return f"{ranks} ranks, each on a GPU of its own, summed to {want:g}"


def table(text, gpus, driver):
    devices = json.loads(text)["hosts"][0]["facts"]["devices"]
    if devices != {"kind": "NVIDIA GPU", "count": gpus, "driver": driver}:
        wrong(f"--check says {devices}; nvidia-smi says {gpus} with driver {driver}")
    return f"{gpus} with driver {driver}"


def slots(text, gpus):
    world = json.loads(text)["world_size"]
    if world != gpus:
        wrong(f"{world} ranks instead of {gpus}")
    return f"{world} ranks"


def usage(text, gpus):
    """Of a job that kept all of them busy."""
    used = json.loads(text)["hosts"][0]["usage"]["accelerators"]
    if [one["name"] for one in used] != [f"gpu{i}" for i in range(gpus)]:
        wrong(f"the report has {[one['name'] for one in used]} for {gpus} GPUs")
    idle = [one for one in used if one["peak_busy_percent"] < 20 or not 0 < one["peak_memory_used_bytes"] <= one["memory_bytes"]]
    if idle:
        wrong(f"all were kept busy; the report says {idle}")
    return ", ".join(f"{one['name']} {one['peak_busy_percent']} %, {one['peak_memory_used_bytes'] >> 20} of {one['memory_bytes'] >> 20} MiB"
                     for one in used)


def forked(text, ranks):
    if not all(row["imported_before"] for row in lines(text)):
        wrong("a rank had to import torch itself")
    return reduced(text, ranks) + ", torch imported before they began"


def waited(text, ranks, given_back):
    """The second attempt began after somebody's memory had been given back."""
    late = min(row["began"] for row in lines(text)) - float(given_back)
    if late < 0:
        wrong(f"the second attempt began {-late:.1f} s before the memory was given back")
    return reduced(text, ranks) + f", begun {late:.1f} s after the memory was given back"


def recorded(_, ranks, folder):
    """Every rank's record can be read, and has the collectives of the job in order."""
    told = []
    for rank in range(ranks):
        path = pathlib.Path(folder, f"nccl_trace_rank_{rank}")
        if not path.exists():
            wrong(f"nothing was recorded of rank {rank}; there are {sorted(one.name for one in path.parent.iterdir())}")
        record = pickle.loads(path.read_bytes())
        entries = [(one["collective_seq_id"], one["profiling_name"], one["state"]) for one in record["entries"]]
        if [name for _, name, _ in entries[:3]] != ["nccl:all_reduce"] * 3 or {state for *_, state in entries[:3]} != {"completed"}:
            wrong(f"rank {rank} recorded {entries}")
        told.append(f"rank {rank} {len(entries)}")
    return "collectives of " + ", ".join(told)


what, *rest = sys.argv[1:]
numbers = [int(word) if word.isdigit() else word for word in rest]
judges = {judge.__name__: judge for judge in (seen, reduced, table, slots, usage, forked, waited, recorded)}
print(judges[what](sys.stdin.read(), *numbers))
