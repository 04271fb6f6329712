#!/usr/bin/python3
"""make_seeds.py FOLDER: writes the seeds of fuzz targets whose inputs are binary into FOLDER/TARGET, by the formats that
the targets and the headers of what they try describe. The build runs it, and message_seeds for messages between launcher
and agent; tests/fuzz/corpus has those written by hand."""
import pathlib
import re
import struct
import sys

REPO = pathlib.Path(__file__).resolve().parents[2]
CORPUS = pathlib.Path(sys.argv[1])


def put(target, name, data):
    folder = CORPUS / f"{target}_fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


# ---- frames (common/wire/frame.h, bytes.h)
def types_of(header, side, first):
    text = (REPO / header).read_text()
    names = re.search(rf"{side} =\s+std::variant<([^>]*)>", text)[1].replace(",", " ").split()
    return {name: first + i for i, name in enumerate(names)}


def text(data):
    return struct.pack(">I", len(data)) + data


def texts(*all_of):
    return struct.pack(">I", len(all_of)) + b"".join(map(text, all_of))


def u8(*values):
    return bytes(values)


def u32(*values):
    return struct.pack(f">{len(values)}I", *values)


def u64(*values):
    return struct.pack(f">{len(values)}Q", *values)


def frame(kind, payload):
    return struct.pack(">IB", len(payload), kind) + payload


# ---- frames of the helper that lends libpmix (launcher/agent/mpi/pmix_frames.h)
def pmix():
    types = types_of("launcher/agent/mpi/pmix_frames.h", "FromHelper", 16)
    every = struct.pack(">I", 0xFFFFFFFE)
    one = {"Connected": u32(0), "Finalized": u32(1, 2), "Abort": u32(2, 0, 7) + text(b"N/A"),
           "Fence": u32(3, 1) + every + text(b"card"),
           "Group": u32(9) + text(b"even") + u32(0, 2, 0, 2, 1) + text(b"card"),
           "AskSpawn": u32(5, 0, 1) + texts(b"child", b"-x") + texts(b"OMPI_PARENT_PORT=p") + text(b"/srv") + text(b"a,b") + u32(2)
           + u32(1) + text(b"pmix.mapby") + text(b"node"),
           "Publish": u32(6, 2) + text(b"port") + text(b"x") + u32(1), "LookUp": u32(7) + text(b"port") + u32(1),
           "Unpublish": u32(8) + text(b"port"), "Log": u32(10, 2) + text(b"") + text(b"MPI_ERR_RANK\n"), "AskModex": u32(4, 3), "ModexData": u32(0, 0) + text(b"card"),
           "Loaded": text(b"libpmix.so.2") + text(b"4.2.2"), "Refused": text(b"no libpmix") + text(b"none"),
           "Serving": u32(1, 0) + texts(b"PMIX_RANK=0")}
    for name, payload in one.items():
        put("pmix_helper", name.lower(), b"\xff" + frame(types[name], payload))
    order = ("Connected", "Fence", "AskModex", "Finalized", "Abort")
    put("pmix_helper", "conversation", b"\x06" + b"".join(frame(types[n], one[n]) for n in order))
    put("pmix_helper", "ask", b"\xff" + u8(0) + u32(7, 0) + text(b""))  # of another host
    put("pmix_helper", "give", b"\xff" + u8(0) + u32(7, 0) + text(b"") + frame(types["ModexData"], one["ModexData"]))
    group = frame(types["Group"], u32(9) + text(b"all") + u32(0, 3, 0, 1, 2, 1) + text(b"card"))
    part = u64(5) + text(b"theirs")  # of another host
    put("pmix_helper", "group_of_hosts", u8(len(group) - 1) + group + part)


def plans():
    put("plan_verifier", "honest", b"\x01")
    put("plan_verifier", "repeated", b"\x01\x03\x00\x00\xff")
    put("plan_verifier", "a_byte_exchanged", b"\x01\x00\x00\x20X")
    put("plan_verifier", "a_name_lost", b"\x01\xb0\x00\x69\x08")
    put("agent_protocol_validator", "honest", b"\x01")
    put("agent_protocol_validator", "repeated", b"\x01\x03\x00\x60\xff")
    pong = types_of("common/wire/messages.h", "ToLauncher", 64)["Pong"]
    put("agent_protocol_validator", "bytes", b"\x00" + frame(pong, u64(1, 5)))
    put("connection_limiter", "flood", bytes([127, 1, 0] * 40 + [0, 2, 0] + [255, 1, 1] * 20 + [0, 1, 0] * 5 + [129, 0, 255]))
    append, acknowledge, forget = 0, 2, 3
    put("resumable_stream", "some", bytes([append, 32, acknowledge, 2, append, 16, forget, 8, acknowledge, 4]))


# ---- first lines (common/wire/handshake.h); the target's mark is "m"
def handshake():
    for name, line in (("agent", "m AGENT 7"), ("need", "m NEED x86_64 /home/u/.cache/sml-run"), ("fail", "m FAIL no space"),
                       ("noise", "Welcome\nm\n\x1b[2Jm AGENT\nm AGENT 7")):
        put("handshake", name, line.encode() + b"\nrest")
    put("handshake", "without_its_end", b"Welcome\nm AGENT 7")


# ---- PMI: runs of bytes as of the stores
def pmi():
    def run(rank, data):
        return bytes([len(data) * 3 + rank]) + data

    def frame_of(data):
        return f"{len(data):6}".encode() + data

    init, store, get, fence = (b"cmd=init pmi_version=1 pmi_subversion=1\n", b"cmd=put kvsname=job key=a value=b\n",
                             b"cmd=get kvsname=job key=PMI_process_mapping\n", b"cmd=barrier_in\n")
    greet = b"".join(run(r, init) + run(r, store) + run(r, get) for r in range(3))
    put("pmi", "one", greet + b"".join(run(r, fence) for r in range(3)) + run(0, b"cmd=finalize\n"))
    two = b"cmd=init pmi_version=2 pmi_subversion=0\n"
    words = [b"cmd=fullinit;pmirank=0;", b"cmd=kvs-put;key=a;value=b;;c;", b"cmd=info-getnodeattr;key=x;wait=TRUE;thrid=1;",
             b"cmd=name-publish;name=n;port=p;"]
    put("pmi", "two", run(0, two) + b"".join(run(0, frame_of(w)) for w in words))
    put("pmi", "abort", run(1, init) + run(1, b"cmd=abort exitcode=7\n"))
    put("pmi", "spawn", run(1, init) + run(1, b"mcmd=spawn\nnprocs=1\nexecname=a\nendcmd\n"))
    put("pmi", "spawn_two", run(0, init) + b"".join(run(0, b"mcmd=spawn\nexecname=a\ntotspawns=2\nspawnssofar=%d\n" % n) + run(
        0, b"arg1=x y\nargcnt=1\ninfo_num=1\ninfo_key_0=host\n") + run(0, b"info_val_0=a,b\nendcmd\n") for n in (1, 2)))
    put("pmi", "spawn_by_two", run(0, two) + run(0, frame_of(b"cmd=fullinit;pmirank=0;")) + run(
        0, frame_of(b"cmd=spawn;preputcount=0;subcmd=a;maxprocs=2;argc=1;argv0=x;")))
    put("pmi", "names", run(1, init) + run(1, b"cmd=lookup_name service=x\n"))


# ---- the stores: runs of bytes, each with a byte before it that tells whose and how long (see the targets)
def native(data):
    return struct.pack("=Q", len(data)) + data


def torch_run(client, data, clients=3):
    return bytes([len(data) * clients + client]) + data


def stores():
    hello = b"\0" + struct.pack("=I", 0x3C85F7CE)
    key = native(b"init/")
    asks = {"set_get": b"\1" + native(b"k") + native(b"v") + b"\3" + native(b"k"), "add": b"\4" + key + struct.pack("=q", 1),
            "check": b"\5" + struct.pack("=Q", 1) + native(b"k"), "wait": b"\6" + struct.pack("=Q", 1) + native(b"w"),
            "compare": b"\2" + native(b"k") + native(b"") + native(b"v"), "keys": b"\7", "delete": b"\x08" + native(b"k"),
            "append": b"\x09" + native(b"k") + native(b"v"), "multi": b"\x0a" + struct.pack("=Q", 1) + native(b"k"),
            "queue": b"\x0e" + native(b"q") + native(b"v") + b"\x0f" + native(b"q")}
    for name, ask in asks.items():
        put("torch_store", f"new_{name}", torch_run(0, hello + ask))
        put("torch_store", f"old_{name}", torch_run(0, bytes([ask[0] - 1]) + ask[1:]))
    put("torch_store", "waiter_and_setter", torch_run(0, hello + asks["wait"]) + torch_run(1, hello + b"\1" + native(b"w") + native(b"v")))
    put("torch_store", "half", torch_run(0, hello) + torch_run(1, hello + b"\3\5"))

    def run(data):
        return bytes([len(data)]) + data
    put_one = b"PUT /global/k HTTP/1.1\r\nContent-Length: 4\r\n\r\nevil"
    get_one = b"GET /global/k HTTP/1.1\r\n\r\n"
    put("horovod_store", "put_get", run(put_one) + run(get_one))
    put("horovod_store", "get_before_put", run(get_one) + run(put_one))
    put("horovod_store", "delete", run(put_one) + run(b"DELETE /global/k HTTP/1.0\r\nContent-Length: 0\r\n\r\n"))
    put("horovod_store", "chunked", run(b"PUT /a/b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n"))
    put("horovod_store", "chunked_oddly", run(b"PUT /a/b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\x0fvil\r\n0\r\n\x0f\n"))


# ---- channels: two bytes of choices, then the stream (see the target); RecordIO of MXNet
def record(data, part=0):
    return struct.pack("<II", 0xCED7230A, len(data) | part << 29) + data + bytes(-len(data) % 4)


def fifos():
    for framing in range(3):
        for readers in (0, 48):
            put("fifos", f"framing_{framing}_{readers}", bytes([framing + readers, 5]) + record(b"first") + record(b"second\n") + b"a\nb\n")
    put("fifos", "record_in_parts", bytes([0, 7]) + record(b"one", 1) + record(b"two", 2) + record(b"end", 3))
    put("fifos", "words", b"train:records,group=2,equalize=drop")


def sockets():
    def line(local, remote, state=1, uid=1000, inode=99):
        return f"   0: {local} {remote} {state:02X} 00000000:00000000 00:00000000 00000000  {uid:4}        0 {inode} 1\n".encode()
    head = b"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    ports = bytes([0x73, 0x3C, 0x10, 0x92])
    put("socket_tables", "tcp", ports + b"\0" + head + line("0100007F:733C", "0100007F:1092") + line("0100007F:733C", "00000000:0000", 10))
    put("socket_tables", "closed", ports + b"\0" + head + line("0100007F:733C", "0100007F:1092", 6, 0, 0))
    six = "000080FE000000000000000001000000"
    put("socket_tables", "tcp6", ports + b"\1" + head + line(f"{six}:733C", f"{six}:1092"))
    mapped = "0000000000000000FFFF00000100007F"
    put("socket_tables", "mapped", ports + b"\0" + head + line(f"{mapped}:733C", f"{mapped}:1092"))
    ends = struct.pack(">HH", 0x733C, 0x1092) + bytes(40)
    answer = struct.pack("=IHHII", 88, 20, 0, 0, 0) + struct.pack("=BBBB", 2, 1, 0, 0) + ends + struct.pack("=IIIII", 0, 0, 0, 4711, 99)
    put("socket_tables", "diag", ports + b"\0" + answer)
    put("socket_tables", "diag_error", ports + b"\0" + struct.pack("=IHHII", 36, 2, 0, 0, 0) + struct.pack("=i", -2) + bytes(16))


def texts_of_others():
    put("cgroup_path", "v1", b"12:cpuset:/docker/a\n3:cpu,memory:/docker/b\n0::/\n")
    put("cgroup_path", "v2", b"0::/user.slice/sml-run-abcdef\n")
    put("cgroup_path", "path", b"/a/b//c/../d")
    put("app_file", "programs", b"# two\n-np 2 -x A='b c' python3 train.py --lr 1\n\n--role ps --wdir /w ps --flag\n")
    put("app_file", "crlf", b"-np 1 true\r\n")
    put("app_file", "unknown", b"--nq 1 true\n")
    put("secret_file", "private", b"\x81\x80" + b"0123456789abcdef\n")
    put("secret_file", "open", b"\x81\xb6" + b"0123456789abcdef\r\n\n")
    put("own_words", "escapes", b"\x1b[2J\x1b]0;x\x07\xc2\x9b31m\rsml-run: all is well\n\xff\xe2\x80\xae")
    put("own_words", "secrets", b"--hf_token abc PASSWORD='x y' {\"api_key\": \"1\"} n001 n002")


def jobs():
    def request(topic, version=1, ranks=b""):
        return frame(1, u32(version) + u8(topic, 0, 1) + u32(10) + text(ranks))

    summary = b"".join(map(text, (b"sml-01", b"0.1.0", b"python3 train.py", b"running", b"host"))) + u32(7) + u64(1000) + u32(2, 4, 4, 0)
    put("control", "status", request(1))
    put("control", "signal", request(3, ranks=b"0,4-7"))
    put("control", "other_version", request(0, version=2))
    put("control", "summary", frame(64, summary))
    put("control", "logs", frame(67, u32(3) + u8(2) + text(b"a line\n")) + frame(68, u64(70000)) + frame(69, b""))
    put("control", "ended", frame(66, text(b"no")) + frame(65, text(b"{}")) + frame(70, u8(143) + text(b"stopped by SIGTERM")))


# ---- what a real client of NVRx says to its monitor (tests/support/nvrx_messages.h)
def rank_messages():
    recorded = (REPO / "tests/support/nvrx_messages.h").read_text()
    for name, lines in re.findall(r"std::string k(\w+) = from_hex\(([^)]*)\)", recorded):
        put("rank_monitor", name.lower(), bytes.fromhex("".join(re.findall(r'"(\w+)"', lines))))


for part in (jobs, pmix, pmi, plans, handshake, stores, fifos, sockets, texts_of_others, rank_messages):
    part()
