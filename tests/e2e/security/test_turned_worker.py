"""What a worker of the job that turns can not do: it runs as the job's user."""
import re

from harness import PYTHON, REPO, SML_RUN, HostsCase, TestCase, gate, run, sml_run
from jobs import TROUBLE, assert_says, by_rank
from on_hosts import on_terminal

GRAB = REPO / "tests/e2e/security/grab.py"


class ItsAgent(HostsCase):
    @gate
    def test_a_worker_gets_at_neither_agent_nor_launcher(self):
        """Rank 1 beside the launcher and rank 2 on another host turn; rank 0 is whom they want to speak for."""
        script = 'if [ $RANK = 0 ]; then echo honest; else exec "$@"; fi'
        done = self.bed.sml_run("algo-1", "-H", "algo-1:2,algo-2", "sh", "-c", script, "sh", PYTHON, "-B", GRAB, user="tester")
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {0: ["honest"], 1: ["dumpable 1"], 2: ["dumpable 1"]})
        assert_says(self, done, never=TROUBLE)


# Fills torch's store, first with what is waited for, then with values, each until somebody is closed; says how many MiB that
# took, whether an honest client is served all the time, and how much memory its agent has had.
FILL = r"""
import os, select, socket, struct
MIB = 1 << 20
text = lambda data: struct.pack("Q", len(data)) + data
where = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))

def client(words=b""):
    s = socket.create_connection(where)
    s.sendall(b"\0" + struct.pack("I", 0x3C85F7CE) + words)
    return s

def closed(clients):
    ready = select.select(clients, [], [], 0)[0]
    return any(not s.recv(1) for s in ready)

def be_honest():
    "Answered when what the others have sent before is read."
    honest.sendall(b"\5" + struct.pack("Q", 1) + text(b"mine"))
    assert honest.recv(1) == b"\0", "the honest one is not served"

honest = client(b"\1" + text(b"mine") + text(b"v"))
waiters, sent = [], 0
while sent < 2048 and not (waiters and closed(waiters)):
    keys = b"".join(text(b"%08d" % i * 1000) for i in range(sent * 128, sent * 128 + 1024))
    try: waiters.append(client(b"\6" + struct.pack("Q", 1024) + keys))
    except OSError: break
    sent += 8
    be_honest()
print("waits", sent, flush=True)
for s in waiters: s.close()

filler, sent = client(), 0
try:
    while sent < 2048:
        filler.sendall(b"\1" + text(b"k%d" % sent) + text(bytes(8 * MIB - 100)))
        sent += 8
        be_honest()
except OSError: pass
print("values", sent, flush=True)
honest.sendall(b"\3" + text(b"mine"))
print("honest", honest.recv(9)[-1:].decode(), flush=True)
status = open(f"/proc/{os.getppid()}/status").read()
print("peak", int(status.split("VmHWM:")[1].split()[0]) // 1024, flush=True)
"""


class Stores(TestCase):
    watchdog_times = 2

    def test_they_take_no_more_than_a_gibibyte(self):
        """Of all that clients cause, which is free again when they close; real memory, as the limit cannot be chosen."""
        done = sml_run("-np", "1", "-x", "TORCHELASTIC_USE_AGENT_STORE=True", PYTHON, "-c", FILL)
        self.assert_status(done, 0)
        told = dict(line.split() for line in done.stdout.splitlines())
        self.assertEqual(told["honest"], "v")
        self.assertTrue(300 <= int(told["waits"]) <= 1040, done)  # what keeps them counts, too
        self.assertTrue(900 <= int(told["values"]) <= 1040, done)
        self.assertLess(int(told["peak"]), 1800)
        self.assertIn("torch's store closed a connection from 127.0.0.1", done.stderr)


class Screen:
    """A terminal as wide as the longest line, which obeys only what may reach it. `rows` holds what is to be seen."""

    def __init__(self, text):
        self.rows, self.coloured, self.column, self.colour = [[]], [[]], 0, False
        for piece in re.findall(r"\x1b\[[0-9;:]*m|.", text, re.S):
            self.take(piece)

    def take(self, piece):
        if piece.startswith("\x1b["):
            self.colour = piece.strip("\x1b[0m") != ""
        elif piece == "\n":
            self.rows.append([])
            self.coloured.append([])
            self.column = 0  # a terminal that is not raw makes \r\n of it
        elif piece == "\r":
            self.column = 0
        elif piece == "\t" or (piece.isprintable() and piece != "\x1b"):
            row, colours = self.rows[-1], self.coloured[-1]
            row.extend(" " * (self.column + 1 - len(row)))
            colours.extend([False] * (self.column + 1 - len(colours)))
            row[self.column], colours[self.column] = piece, self.colour
            self.column += 1
        else:
            raise AssertionError(f"{piece!r} reached the terminal")

    def lines(self):
        return ["".join(row) for row in self.rows]


# What rank 1 tries; what it writes of itself is Z, what rank 0 writes is a.
FORGERY = r"""
import os, random, sys
rank, out = int(os.environ['RANK']), sys.stdout.buffer
attacks = [b'\r[0] ZZ\n', b'ZZZZ\r[0] ZZ\n', b'\b\b\b\b[0] ZZ\n', b'\x1b[2K\x1b[1G[0] ZZ\n', b'\x1b[A\r[0] Z\n',
           b'Z\x0b\x0c[0] Z\n', b'Z\x85[0] Z\n', b'Z\xc2\x85[0] Z\n', b'\x1bM\x1bE\x84\x8d[0] Z\n', b'\x1b[31mZ\n',
           b'\x1b[8mZ\r', b'          ZZZ\r', b'                 ZZ [0] ZZ\r', b'\x1b[7m' + b'Z' * 70000,
           b'Z' * 70000 + b'\r[0] ZZ\n', b'\x1b[1049h\x1bc\x1b[3J[0] Z\n', b'\x1b[', b'\x1b', b'Z\r\r\n', b'\xc2', b'\r',
           b'\x1b]0;Z\x07\x1b]52;c;Zg==\x07\x1bP$qm\x1b\\\x1b[6n\n', b'\x7f\x00Z\n', b'\t\tZ\n', b'\xff\xfeZ\xe2\x82\n']
dice = random.Random(rank)
for i in range(400):
    out.write(b'a' * dice.randrange(1, 30) + b'\n' if rank == 0 else dice.choice(attacks))
    if dice.random() < .5: out.flush()
"""


class Terminals(TestCase):
    def worker(self, np, data, *options, streams=("stdout", "stderr"), to="stdout", exits=0):
        """np workers that write `data` onto the terminal."""
        code = f"import sys; sys.{to}.buffer.write(bytes.fromhex('{data.hex()}')); sys.exit({exits})"
        return on_terminal([SML_RUN, "-q", "-np", np, *options, PYTHON, "-c", code], streams=streams)

    SEQUENCES = (b"\x1b]0;title\x07", b"\x1b]8;;http://x\x1b\\", b"\x1b]52;c;cm0gLXJmIC8K\x07", b"\x1bP$qm\x1b\\", b"\x1b[2J",
                 b"\b", b"\x1b[6n", b"\x1b[c", b"\x9b2J", b"\xc2\x9b2J", b"\xff\xfe", b"\x00", b"\x07", b"\x0b", b"\x0c",
                 b"\x0e", b"\x7f", b"\x1bc", b"\x1b[>4;2m", b"\x1b_x\x1b\\", b"\x1b[?1049h")

    def visible(self, data):
        return re.sub(rb"[^\x20-\x7e]", lambda m: b"\\x%02x" % m[0][0], data)

    @gate
    def test_escape_sequences_are_shown_and_not_obeyed(self):
        data = b"".join(b"<" + s + b">\n" for s in self.SEQUENCES)
        lines = [b"<" + self.visible(s) + b">" for s in self.SEQUENCES]
        for to in ("stdout", "stderr"):
            with self.subTest(to=to):
                status, got, _, _ = self.worker("1", data, to=to)
                self.assertEqual((status, got.splitlines()), (0, lines))
                status, got, _, _ = self.worker("2", data, "--color", "never", "--all-lines", to=to)
                for rank in (b"[0] ", b"[1] "):
                    self.assertEqual([ln for ln in got.splitlines() if ln.startswith(rank)], [rank + ln for ln in lines])

    def test_colours_text_and_progress_bars_pass(self):
        data = "\x1b[1;32mgrün\x1b[0m\ttab\n10%\r20%\r\n日本 😀\n".encode()
        self.assertEqual(self.worker("1", data)[:2], (0, data))

    def test_each_stream_by_itself(self):
        data = b"\x1b[2J\n"
        code = f"import sys; [f.buffer.write(bytes.fromhex('{data.hex()}')) for f in (sys.stdout, sys.stderr)]"
        argv = [SML_RUN, "-q", "-np", "1", PYTHON, "-c", code]
        self.assertEqual(on_terminal(argv, streams=("stdout",)), (0, b"\\x1b[2J\n", b"", data))
        self.assertEqual(on_terminal(argv, streams=("stderr",)), (0, b"\\x1b[2J\n", data, b""))

    @gate
    def test_pipes_and_files_get_the_bytes(self):
        data = b"".join(self.SEQUENCES).replace(b"\n", b"") + bytes(range(14, 256)) + b"\n"
        code = f"import sys; sys.stdout.buffer.write(bytes.fromhex('{data.hex()}'))"
        argv = [SML_RUN, "-np", "2", PYTHON, "-c", code]
        expected = sorted([b"[0] " + data, b"[1] " + data])
        done = run(argv, binary=True)
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines(True), key=lambda ln: ln[:3])), (0, expected))
        file = self.temporary_directory() / "out"
        with open(file, "wb") as out:
            self.assertEqual(run(argv, stdout=out).returncode, 0)
        self.assertEqual(sorted(file.read_bytes().splitlines(True), key=lambda ln: ln[:3]), expected)

    def test_the_user_may_choose(self):
        data = b"\x1b[2J\x07\n"
        self.assertEqual(self.worker("1", data, "--sanitize", "never")[:2], (0, data))
        code = f"import sys; sys.stdout.buffer.write(bytes.fromhex('{data.hex()}'))"
        done = run([SML_RUN, "-np", "1", "--sanitize", "always", PYTHON, "-c", code], binary=True)
        self.assertEqual(done.stdout, b"\\x1b[2J\\x07\n")

    @gate
    def test_no_rank_can_write_as_another(self):
        status, got, _, _ = on_terminal([SML_RUN, "-q", "-np", "2", "--color", "never", PYTHON, "-c", FORGERY])
        self.assertEqual(status, 0)
        screen = Screen(got.decode())
        seen = set()
        for line, colours in zip(screen.lines(), screen.coloured):
            if "Z" in line:
                self.assertTrue(line.startswith("[1] "), line[:200])
                self.assertNotIn("a", line)
                seen.add(1)
            elif "a" in line:
                self.assertRegex(line, r"^\[0\] a+$")
                self.assertNotIn(True, colours)
                seen.add(0)
            self.assertNotIn(True, colours[:4], line[:200])
        self.assertEqual(seen, {0, 1})

    def test_the_tag_stays_first_whatever_a_line_says(self):
        for argv_of_tag in ([], ["--sanitize", "never"]):
            done = sml_run("-np", "2", *argv_of_tag, "sh", "-c", "test $RANK = 0 || printf '[0]<stdout>: fake\\n[0] fake\\n'")
            self.assert_status(done, 0)
            self.assertEqual(done.stdout, "[1] [0]<stdout>: fake\n[1] [0] fake\n")

    @gate
    def test_our_own_words_hold_nothing_of_a_worker(self):
        """The report shows a worker's last lines, and its error file; to a pipe, too, escaped."""
        code = (r"import json, os, sys; sys.stderr.write('\x1b]0;x\x07last\rwords\x9b\n'); sys.stderr.flush()"
                r"; open(os.environ['TORCHELASTIC_ERROR_FILE'], 'w').write(json.dumps({'message': {'message': 'E\x1b[2J: x',"
                r" 'extraInfo': {'py_callstack': 'T\x1b[2J\n', 'timestamp': '1'}}})); sys.exit(3)")
        done = sml_run("-np", "2", PYTHON, "-c", code)
        self.assert_status(done, 3)
        own = [ln for ln in done.stderr.splitlines() if ln.startswith("sml-run: ")]
        self.assertTrue(any("\\x1b]0;x\\x07last" in ln for ln in own), done)
        self.assertEqual([ln for ln in own if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", ln)], [])
        status, got, _, _ = on_terminal([SML_RUN, "--no-status", "-np", "2", PYTHON, "-c", code])
        self.assertEqual(status, 3)
        Screen(got.decode())

    @gate
    def test_a_line_without_end_fills_no_memory(self):
        code = "import sys\nfor _ in range(320): sys.stdout.write('\\x1b]0;' + 'Z' * 65536)"
        peak = "import resource, subprocess, sys; s = subprocess.call(sys.argv[1:]); " \
               "sys.stderr.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)); sys.exit(s)"
        status, got, _, err = on_terminal([PYTHON, "-c", peak, SML_RUN, "-q", "-np", "2", PYTHON, "-c", code],
                                          streams=("stdout",))
        self.assertEqual(status, 0)
        self.assertEqual(got.count(b"Z"), 2 * 320 * 65536)
        self.assertNotIn(b"\x1b]", got)
        self.assertLess(int(err) / 1024, 64)
