"""What hostile workers, hosts, servers, names and neighbours can not do. tests/security.md says which attack each test is."""
import contextlib
import importlib
import json
import os
import pty
import re
import select
import shlex
import shutil
import threading
import tty
import unittest

from harness import BUILD, PYTHON, REPO, SML_RUN, HostsCase, TestCase, poll, popen, run, sml_run
from jobs import (CACHE, PROBE, by_rank, cached_agents, complaints, edit_file, forget_agents, keep_file, sh, shown,
                  ssh_config, wait_for_workers)

SECRET = "s3cr3t-of-mine"


class OnHosts(HostsCase):
    hosts = 3

    def job(self, *words, **kw):
        return self.bed.sml_run("algo-1", "-H", "algo-1,algo-2", *words, **kw)

    def put(self, host, path, data, **kw):
        self.addCleanup(self.bed.put(host, path, data, **kw).unlink, missing_ok=True)
        return path

    @contextlib.contextmanager
    def running(self, *words, at="algo-1", **kw):
        """A job whose workers run until the block ends; yields it."""
        with self.bed.sml_run_popen(at, *words, "sh", "-c", "exec sleep 987", **kw) as job:
            wait_for_workers(self.bed, "sleep 987", words[1].count(",") + 1)
            yield job
            job.terminate()
            self.done = job.finish(15)
        self.assertEqual(self.done.returncode, 143, self.done)


# ------------------------------------------------------------------ the table
class Table(unittest.TestCase):
    """tests/security.md against the tests that it names."""

    @classmethod
    def setUpClass(cls):
        cls.text = (REPO / "tests/security.md").read_text()

    def test_every_end_to_end_test_that_it_names_exists(self):
        named = re.findall(r"`(test_\w+)\.(\w+)\.(test_\w+)`", self.text)
        self.assertGreater(len(named), 50)
        self.assertEqual([n for n in named if not hasattr(
            getattr(importlib.import_module(n[0]), n[1], None), n[2])], [])

    def test_every_unit_test_that_it_names_exists(self):
        named = re.findall(r"`(\w+_test\.cc)` \"([^\"]+)\"", self.text)
        self.assertGreater(len(named), 10)
        cases = {}
        for name, case in named:
            file = REPO / "tests/unit" / name
            cases.setdefault(name, file.read_text() if file.exists() else "")
            with self.subTest(file=name):
                self.assertIn(f'TEST_CASE("{case}"', cases[name])

    def test_every_row_names_a_test(self):
        rows = dict(re.findall(r"^\| (S\d+) \| (.*)$", self.text, re.M))
        self.assertEqual(list(rows), [f"S{n}" for n in range(1, 28) if n not in (24, 26)])
        self.assertEqual([n for n, row in rows.items() if "test_" not in row and "_test.cc" not in row], [])


# ------------------------------------------------------------------ terminals
def on_terminal(argv, timeout=30, streams=("stdout", "stderr"), **kw):
    """Runs argv with these streams on a terminal; answers (status, what the terminal got, the other streams)."""
    master, slave = pty.openpty()
    tty.setraw(slave)  # so that the line discipline adds nothing
    got, over = bytearray(), threading.Event()

    def drain():
        while not over.is_set() or select.select([master], [], [], 0)[0]:
            if select.select([master], [], [], 0.05)[0]:
                try:
                    got.extend(os.read(master, 65536))
                except OSError:  # the last slave is closed
                    return

    reader = threading.Thread(target=drain)
    reader.start()
    try:
        with popen(argv, **{name: slave for name in streams}, **kw) as process:
            done = process.finish(timeout, binary=True)
    finally:
        os.close(slave)
        over.set()
        reader.join()
        os.close(master)
    return done.returncode, bytes(got), done.stdout or b"", done.stderr or b""


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

    def test_escape_sequences_are_shown_and_not_obeyed(self):
        data = b"".join(b"<" + s + b">\n" for s in self.SEQUENCES)
        lines = [b"<" + self.visible(s) + b">" for s in self.SEQUENCES]
        for to in ("stdout", "stderr"):
            with self.subTest(to=to):
                status, got, _, _ = self.worker("1", data, to=to)
                self.assertEqual((status, got.splitlines()), (0, lines))
                status, got, _, _ = self.worker("2", data, "--color", "never", to=to)
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

    def test_no_rank_can_write_as_another(self):
        status, got, _, _ = on_terminal([SML_RUN, "-q", "-np", "2", "--color", "never", PYTHON, "-c", FORGERY], timeout=60)
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

    def test_a_line_without_end_fills_no_memory(self):
        code = "import sys\nfor _ in range(320): sys.stdout.write('\\x1b]0;' + 'Z' * 65536)"
        peak = "import resource, subprocess, sys; s = subprocess.call(sys.argv[1:]); " \
               "sys.stderr.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)); sys.exit(s)"
        status, got, _, err = on_terminal([PYTHON, "-c", peak, SML_RUN, "-q", "-np", "2", PYTHON, "-c", code],
                                          streams=("stdout",), timeout=60)
        self.assertEqual(status, 0)
        self.assertEqual(got.count(b"Z"), 2 * 320 * 65536)
        self.assertNotIn(b"\x1b]", got)
        self.assertLess(int(err) / 1024, 64)


# ---------------------------------------------------- names and what they name
BAD_NAMES = ["-oProxyCommand=touch${IFS}/run/pwned", "a;id", "$(touch /run/pwned)", "`touch /run/pwned`", "a b", "a%h", "a'b",
             "x" * 10000, "a\nb", "hôst", "\x1b[2Ja", "|id", "&id", "../a", "a>b"]


class Names(OnHosts):
    def assert_refused(self, done):
        self.assert_status(done, 2)
        self.assertLess(len(done.stderr), 1000)
        self.assertNotRegex(done.stderr, "[\x1b\x00]")

    def setUp(self):
        self.before = [self.bed.sshd_log(h).count("Connection from") for h in self.bed.names()]
        self.addCleanup(self.check_untouched)

    def check_untouched(self):
        self.assertEqual([self.bed.sshd_log(h).count("Connection from") for h in self.bed.names()], self.before)
        for host in self.bed.names():
            self.assertFalse(self.bed.path(host, "/run/pwned").exists())

    def test_hosts(self):
        for name in BAD_NAMES:
            with self.subTest(name=name[:40]):
                self.assert_refused(self.bed.sml_run("algo-1", "-H", f"algo-2,{name}", "true"))

    def test_hosts_of_a_resource_config(self):
        for name in [*BAD_NAMES, "a\0b"]:
            with self.subTest(name=name[:40]):
                text = json.dumps({"current_host": "algo-1", "hosts": ["algo-1", name]})
                self.put("algo-1", "/run/rc.json", text)
                self.assert_refused(self.bed.sml_run("algo-1", "--resource-config", "/run/rc.json", "true"))

    def test_users(self):
        for name in [*BAD_NAMES, "-l", "x" * 65]:
            with self.subTest(name=name[:40]):
                if "@" not in name:
                    self.assert_refused(self.bed.sml_run("algo-1", "-H", f"{name}@algo-2", "true"))
                self.assert_refused(self.bed.sml_run("algo-1", "-H", "algo-2", f"--ssh-user={name}", "true"))

    def test_variables(self):
        for word in ("A;B", "A;B=1", "1A=2", "BASH_FUNC_x%%", "BASH_FUNC_x%%=() { id; }", "A B=1", "=x", "A\nB=1", "$(id)=1"):
            with self.subTest(word=word):
                self.assert_refused(self.bed.sml_run("algo-1", "-H", "algo-2", "-x", word, "true"))


# ------------------------------------------------------ arguments, environment
class Environment(OnHosts):
    def test_too_much_for_the_system_is_a_clear_error(self):
        """What the launcher was given may be too much for a host where less is allowed: a quarter of the stack's limit."""
        edit_file(self, self.bed, "algo-2", "/home/root/.bashrc", lambda _: "ulimit -s 1024\n")
        words = ["x" * 1000] * 200
        self.assert_status(self.job("true", *words), 0)
        self.assert_too_much(self.job("true", *words, *words), "rank 1 on algo-2")

    def test_a_value_that_no_process_can_be_given(self):
        """The kernel takes 128 KiB in one piece, but a file can hold more."""
        self.put("algo-1", "/run/large.env", "LARGE=" + "x" * (128 << 10) + "\n")
        self.assert_too_much(self.job("--env-file", "/run/large.env", "true"), r"rank \d on algo-\d")

    def assert_too_much(self, done, who):
        self.assert_status(done, 126)
        self.assertRegex(complaints(done)[0], f"^{who} did not start: cannot execute the program: argument list too long ")
        self.assertLess(len(done.stderr), 1000)

    def test_variables_of_the_loader_and_shell_reach_workers_only(self):
        """They are part of the workers' environment: neither the start script nor the agent has them."""
        trap = "touch /run/trapped"
        for host in self.bed.names():
            self.put(host, "/run/trap.sh", trap + "\n")
        values = {"LD_PRELOAD": "libm.so.6", "LD_LIBRARY_PATH": "/run", "BASH_ENV": "/run/trap.sh", "ENV": "/run/trap.sh",
                  "PATH": "/run/traps:/usr/bin:/bin", "GLIBC_TUNABLES": "glibc.malloc.check=0", "IFS": "x"}
        options = [w for k, v in values.items() for w in ("-x", f"{k}={v}")]
        forget_agents(self.bed)
        with self.running("-H", "algo-1,algo-2", *options):
            for host in ("algo-1", "algo-2"):
                rows = [p for p in self.bed.ps(host) if re.search(r"agent.* --mark", p["cmd"])]
                self.assertTrue(rows, self.bed.ps(host))
                for row in rows:
                    place = self.bed.path(host, f"/proc/{row['pid']}/environ")
                    environ = place.read_bytes().split(b"\0")
                    for name, value in values.items():
                        self.assertNotIn(f"{name}={value}".encode(), environ, f"{name} in {row}")
        done = self.job(*options, PROBE, "show", "env")
        self.assert_status(done, 0)
        for answer in shown(done.stdout, 2).values():
            env = answer.env()
            self.assertEqual({k: env[k.encode()].decode() for k in values}, values)
        for host in self.bed.names():
            self.assertFalse(self.bed.path(host, "/run/trapped").exists())

    def test_a_login_that_preloads_is_the_workers_own(self):
        edit_file(self, self.bed, "algo-2", "/home/root/.bashrc", lambda _: "export LD_PRELOAD=/run/nothing.so\n")
        forget_agents(self.bed)
        done = self.job("--export", "none", "sh", "-c", "echo $LD_PRELOAD.")
        self.assert_status(done, 0)
        self.assertEqual(by_rank(done.stdout), {0: ["."], 1: ["/run/nothing.so."]})


class Secrets(OnHosts):
    def seen_by_others(self, host, text):
        """Commands of processes of any user that hold the text, as an unprivileged user sees them."""
        script = ("for p in /proc/[0-9]*; do if grep -aqs -f /run/pattern $p/cmdline; then "
                  "tr '\\0' ' ' < $p/cmdline | head -c 300; echo; fi; done")
        self.put(host, "/run/pattern", text + "\n")
        return sh(self.bed, host, script, user="tester").splitlines()

    def test_a_value_on_the_command_line_is_seen_nowhere_else_and_warned_of(self):
        with self.running("-H", "algo-1,algo-2", "-x", f"API_TOKEN={SECRET}"):
            seen = self.seen_by_others("algo-1", SECRET)
            self.assertTrue(seen)  # our own arguments, and whatever started us with them
            self.assertEqual([row for row in seen if "sml-run" not in row.split("API_TOKEN")[0]], [])
            self.assertEqual(self.seen_by_others("algo-2", SECRET), [])
        self.assertRegex("\n".join(complaints(self.done)), r"(?m)^warning: -x API_TOKEN.*list of processes.*-x API_TOKEN$")
        self.assertNotIn(SECRET, self.done.stderr)

    def test_a_name_alone_shows_nothing_anywhere(self):
        with self.running("-H", "algo-1,algo-2", "-x", "API_TOKEN", env={"API_TOKEN": SECRET}):
            for host in ("algo-1", "algo-2"):
                self.assertEqual([r for r in self.seen_by_others(host, SECRET) if "API_TOKEN=" not in r], [])
        self.assertEqual([ln for ln in complaints(self.done) if "API_TOKEN" in ln], [])

    def test_nothing_that_we_say_or_write_holds_a_value(self):
        names = ["API_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "PLAIN"]
        env = {name: SECRET for name in names}
        self.put("algo-1", "/run/job.env", f"FILE_KEY={SECRET}\n", mode=0o600)
        options = [w for n in names for w in ("-x", n)] + ["--env-file", "/run/job.env", "-x", f"SET_PASS={SECRET}"]
        said = []
        for format_words in (["--dry-run"], ["--dry-run", "--format", "json"]):
            done = self.job(*options, *format_words, "true", env=env)
            self.assert_status(done, 0)
            self.assertIn("API_TOKEN", done.stdout)
            said += [done.stdout, done.stderr]
        self.addCleanup(sh, self.bed, "algo-1", "rm -f /run/report.json")
        done = self.job("-v", "--report", "/run/report.json", *options, "sh", "-c", "echo no >&2; exit 3", env=env)
        self.assert_status(done, 3)
        said += [done.stdout, done.stderr, sh(self.bed, "algo-1", "cat /run/report.json")]
        done = self.bed.sml_run("algo-1", "-v", "-H", "algo-1,nowhere", *options, "true", env=env)
        self.assert_status(done, 125)
        said.append(done.stderr)
        for text in said:
            self.assertNotIn(SECRET, text)

    def test_no_file_on_any_host_holds_a_value(self):
        find = "grep -rlasF --exclude=job.env -f /run/pattern /tmp /var/tmp /dev/shm /home/root /home/tester /run 2>/dev/null; true"
        with self.running("-H", "algo-1,algo-2", "-x", "API_TOKEN", env={"API_TOKEN": SECRET}):
            for host in ("algo-1", "algo-2"):
                self.put(host, "/run/pattern", SECRET + "\n")
                self.assertEqual([f for f in sh(self.bed, host, find).splitlines() if f != "/run/pattern"], [])

    def test_an_environment_file_that_is_wrong_is_not_quoted(self):
        self.put("algo-1", "/run/job.env", f"API_TOKEN {SECRET}\nOTHER='{SECRET}\n")
        done = self.job("--env-file", "/run/job.env", "true")
        self.assert_status(done, 2)
        self.assertNotIn(SECRET, done.stderr)


# ------------------------------------------------------------------ the network
class Network(OnHosts):
    def listeners(self, host):
        rows = sh(self.bed, host, "ss -Htlnp").splitlines()
        return [row for row in rows if '"sshd"' not in row]

    def test_no_port_is_open_while_workers_run_but_those_of_the_stores(self):
        before = {h: self.listeners(h) for h in self.bed.names()}
        for options in ([], ["--ssh-command", "ssh -o BatchMode=yes"]):
            with self.subTest(options=options), self.running("-H", "algo-1,algo-2,algo-3", *options):
                opened = {h: [row for row in self.listeners(h) if row not in before[h]] for h in self.bed.names()}
                stores = opened.pop("algo-1")
                self.assertEqual([row.count('"sml-run-agent"') for row in stores], [1, 1], stores)
                self.assertEqual(opened, {h: [] for h in opened})

    def test_the_ssh_agent_is_not_forwarded(self):
        self.addCleanup(sh, self.bed, "algo-1", "rm -rf /run/agent*")
        ssh_config(self, self.bed, "algo-1", "ForwardAgent yes\nForwardX11 yes\nForwardX11Trusted yes\n"
                                             "RemoteForward 7001 127.0.0.1:22\nLocalForward 7002 127.0.0.1:22")
        self.addCleanup(sh, self.bed, "algo-3", "rm -f /root/.Xauthority")
        script = ("eval $(ssh-agent -a /run/agent.sock) >/dev/null; ssh-add -q ~/.ssh/id_ed25519; DISPLAY=:7 \"$@\"; s=$?; "
                  "kill $SSH_AGENT_PID; exit $s")
        look = "echo agent $SSH_AUTH_SOCK.; echo display $DISPLAY.; ls -d /tmp/ssh-*; ss -Htln 'sport = 7001'; true"
        done = self.bed.exec("algo-1", ["sh", "-c", script, "sh", SML_RUN, "-H", "algo-3", "sh", "-c", look])
        self.assert_status(done, 0)
        self.assertEqual(done.stdout.splitlines(), ["agent .", "display ."])
        self.assertNotIn("forward", self.bed.sshd_log("algo-3").lower())

    def test_a_banner_is_no_obstacle_and_is_not_obeyed(self):
        banner = self.bed.path("algo-2", "/run/banner")
        banner.write_bytes(b"\x1b[2J\x1b]0;pwned\x07 authorized users only\n" * 50)
        self.addCleanup(banner.unlink)
        with SecondServer(self, "Banner /run/banner") as options:
            done = self.bed.sml_run("algo-1", *options, "hostname")
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "algo-2\n")
        self.assertNotIn("\x1b", done.stderr)

    def test_words_of_a_login_that_fails_are_not_obeyed(self):
        edit_file(self, self.bed, "algo-2", "/home/root/.bashrc", lambda _: "printf '\\033]0;pwned\\007closed\\n'; exit 3\n")
        status, got, _, _ = on_terminal(self.bed._exec_argv("algo-1", [SML_RUN, "-H", "algo-2", "true"], "root", None, "/"))
        self.assertEqual(status, 125)
        self.assertIn(b"\\x1b]0;pwned\\x07closed", got)
        self.assertNotIn(b"\x1b", got)

    def test_noise_without_end_is_not_listened_to(self):
        for noise in ("exec yes $(printf '%01000d' 1)", "while :; do printf %01000d 1; done", "exec yes >&2"):
            with self.subTest(noise=noise):
                edit_file(self, self.bed, "algo-2", "/home/root/.bashrc", lambda _: noise + "\n")
                done, peak = peak_of(self.bed, "-H", "algo-2", "--start-timeout", "4s", "true")
                self.assert_status(done, 125)
                self.assertRegex("\n".join(complaints(done)), r"(?m)^algo-2: ")
                self.assert_within(done, 10)
                self.assertLess(len(done.stderr), 4000)
                self.assertLess(peak, 48)


def peak_of(bed, *words, **kw):
    """sml-run on algo-1; answers (Completed, the most memory that it had, in MB)."""
    code = ("import resource, subprocess, sys; s = subprocess.call(sys.argv[2:]); "
            "open(sys.argv[1], 'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)); sys.exit(s)")
    done = bed.exec("algo-1", [PYTHON, "-c", code, "/run/peak", SML_RUN, *words], **kw)
    place = bed.path("algo-1", "/run/peak")
    peak = int(place.read_text()) / 1024
    place.unlink()
    return done, peak


class SecondServer:
    """Another sshd on algo-2, port 2299, with these lines of configuration; yields options that reach it as `second`."""

    def __init__(self, test, *lines, key="/run/sshd/ssh_host_ed25519_key", name="algo-2"):
        self.test, self.bed, self.lines, self.key, self.name = test, test.bed, lines, key, name

    def __enter__(self):
        config = [*self.lines, "Port 2299", f"HostKey {self.key}", "PidFile none", "PermitRootLogin prohibit-password",
                  "UsePAM no", "StrictModes no", "LogLevel VERBOSE"]
        self.test.put("algo-2", "/run/second.conf", "\n".join(config) + "\n")
        ssh_config(self.test, self.bed, "algo-1", f"Host second\n HostName algo-2\n Port 2299\n HostKeyAlias {self.name}\n")
        self.server = self.bed.popen("algo-2", [shutil.which("sshd", path="/usr/sbin:/sbin"), "-D", "-e", "-f", "/run/second.conf"])
        if not poll(lambda: sh(self.bed, "algo-2", "ss -Htln 'sport = 2299'"), 10):
            self.server.kill_group()
            raise AssertionError(str(self.server.finish(5)))
        return ["-H", "second"]

    def __exit__(self, *_):
        self.server.terminate()
        self.log = self.server.finish(10).stderr


# ------------------------------------------------------------- weak servers, keys
# Offers one set of algorithms, tells what the client offers, and goes no further.
OFFER = r"""
import os, socket, struct, sys
def packet(payload):
    pad = 8 - (len(payload) + 5) % 8 + 8
    return struct.pack('>IB', len(payload) + pad + 1, pad) + payload + bytes(pad)
ciphers = sys.argv[1]
lists = ['curve25519-sha256', 'ssh-ed25519', ciphers, ciphers, 'hmac-sha2-256', 'hmac-sha2-256', 'none', 'none', '', '']
offer = b'\x14' + bytes(16) + b''.join(struct.pack('>I', len(l)) + l.encode() for l in lists) + bytes(5)
l = socket.create_server(('', 2299)); print('ready', flush=True)
c = l.accept()[0]; c.sendall(b'SSH-2.0-OpenSSH_8.0\r\n')
f = c.makefile('rb'); f.readline()
n, pad = struct.unpack('>IB', f.read(5)); body = f.read(n - 1)[17:]
for _ in range(6):
    k, = struct.unpack('>I', body[:4]); print(body[4:4 + k].decode()); body = body[4 + k:]
sys.stdout.flush(); c.sendall(packet(offer)); f.read()
"""


class WeakServers(OnHosts):
    def assert_nothing_in_common(self, done):
        self.assert_status(done, 125)
        self.assertRegex("\n".join(complaints(done)), r"(?m)^second: no algorithm in common with the host")
        self.assert_within(done, 10)

    def test_algorithms_that_are_broken_are_refused(self):
        supported = {w: run(["ssh", "-Q", w]).stdout.split() for w in ("cipher", "kex", "mac")}
        tried = 0
        for word, kind, names in (("Ciphers", "cipher", ["3des-cbc", "aes128-cbc", "aes256-cbc"]),
                                  ("KexAlgorithms", "kex", ["diffie-hellman-group1-sha1", "diffie-hellman-group14-sha1",
                                                            "diffie-hellman-group-exchange-sha1"]),
                                  ("MACs", "mac", ["hmac-md5", "hmac-md5-96", "umac-64@openssh.com"])):
            for name in set(names) & set(supported[kind]):
                # Ciphers that authenticate by themselves make no use of MACs.
                lines = [f"{word} {name}"] + (["Ciphers aes128-ctr"] if word == "MACs" else [])
                with self.subTest(name=name), SecondServer(self, *lines) as options:
                    self.assert_nothing_in_common(self.bed.sml_run("algo-1", *options, "true"))
                    tried += 1
        self.assertGreater(tried, 3)

    def test_a_host_key_signed_with_sha1_is_refused(self):
        sh(self.bed, "algo-2", "ssh-keygen -q -t rsa -b 2048 -N '' -f /run/rsa_key")
        self.addCleanup(sh, self.bed, "algo-2", "rm -f /run/rsa_key*")
        public = " ".join(sh(self.bed, "algo-2", "cat /run/rsa_key.pub").split()[:2])
        edit_file(self, self.bed, "algo-1", "/home/root/.ssh/known_hosts", lambda old: old + f"rsa-host {public}\n")
        with SecondServer(self, key="/run/rsa_key", name="rsa-host") as options:  # with SHA-2 it is good
            self.assert_status(self.bed.sml_run("algo-1", *options, "true"), 0)
        with SecondServer(self, "HostKeyAlgorithms ssh-rsa", key="/run/rsa_key", name="rsa-host") as options:
            self.assert_nothing_in_common(self.bed.sml_run("algo-1", *options, "true"))

    def offer(self, ciphers):
        ssh_config(self, self.bed, "algo-1", "Host second\n HostName algo-2\n Port 2299\n HostKeyAlias algo-2\n")
        with self.bed.popen("algo-2", [PYTHON, "-c", OFFER, ciphers]) as server:
            server.read_until("ready")
            done = self.bed.sml_run("algo-1", "-H", "second", "--connect-timeout", "2s", "true")
            return done, server.finish(10).stdout.splitlines()

    def test_chacha20_is_refused_of_servers_that_may_lack_strict_key_exchange(self):
        done, _ = self.offer("chacha20-poly1305@openssh.com")
        self.assert_nothing_in_common(done)

    def test_what_is_offered(self):
        _, (kex, keys, to_server, to_client, macs, _) = self.offer("3des-cbc")
        self.assertIn("kex-strict-c-v00@openssh.com", kex.split(","))
        self.assertNotRegex(kex, "sha1(,|$)")
        self.assertNotIn("ssh-rsa", keys.split(","))
        self.assertNotIn("ssh-dss", keys)
        self.assertEqual(to_server, to_client)
        self.assertNotRegex(to_server, "cbc|arcfour|none")
        self.assertRegex(to_server.split(",")[0], "gcm@openssh.com$")
        self.assertNotRegex(macs, "md5|none|96|umac-64")


class Keys(OnHosts):
    def test_more_keys_than_the_host_lets_try(self):
        self.addCleanup(sh, self.bed, "algo-1", "rm -rf /run/agent* /run/many")
        script = ("mkdir /run/many; eval $(ssh-agent -a /run/agent.sock) >/dev/null; for i in $(seq 20); do "
                  "ssh-keygen -q -t ed25519 -N '' -f /run/many/$i; done; ssh-add -q /run/many/*[0-9]; \"$@\"; s=$?; "
                  "kill $SSH_AGENT_PID; exit $s")
        done = self.bed.exec("algo-1", ["sh", "-c", script, "sh", SML_RUN, "-H", "algo-2", "true"])
        self.assert_status(done, 125)
        self.assertRegex("\n".join(complaints(done)), r"(?m)^algo-2: .*too many keys")
        self.assertIn("--ssh-identity-file", done.stderr)
        # Named, the right key goes first.
        rest = script.replace("mkdir /run/many; ", "").replace("for i in $(seq 20); do ssh-keygen -q -t ed25519 -N '' -f "
                                                              "/run/many/$i; done; ", "")
        sh(self.bed, "algo-1", "rm -f /run/agent.sock")
        argv = ["sh", "-c", rest, "sh", SML_RUN, "-i", "/home/root/.ssh/id_ed25519", "-H", "algo-2", "true"]
        self.assert_status(self.bed.exec("algo-1", argv), 0)

    def test_a_key_that_cannot_be_read(self):
        self.put("algo-1", "/run/key", "nobody can read this\n", mode=0)
        ssh_dir = "/home/tester/.ssh"
        edit_file(self, self.bed, "algo-1", f"{ssh_dir}/config", lambda _: "IdentityFile /run/key\n")
        done = self.bed.sml_run("algo-1", "-H", "algo-2", "true", user="tester")
        self.assert_status(done, 125)
        self.assertRegex("\n".join(complaints(done)), r"(?m)^algo-2: .*/run/key: unreadable")

    def test_an_encrypted_key_asks_nothing_of_a_terminal(self):
        sh(self.bed, "algo-1", "ssh-keygen -q -t ed25519 -N secret -f /run/locked_key")
        self.addCleanup(sh, self.bed, "algo-1", "rm -f /run/locked_key*")
        edit_file(self, self.bed, "algo-1", "/home/root/.ssh/config", lambda _: "IdentityFile /run/locked_key\n")
        argv = self.bed._exec_argv("algo-1", [SML_RUN, "-H", "algo-2", "true"], "root", None, "/")
        status, got, _, _ = on_terminal(argv, timeout=10)
        self.assertEqual(status, 125)
        self.assertIn(b"locked_key: encrypted", got)
        self.assertNotIn(b"assphrase", got)

    def test_keys_of_new_hosts_are_kept_once_however_many_ask(self):
        known = keep_file(self, self.bed, "algo-1", "/home/root/.ssh/known_hosts")
        known.unlink()
        jobs = [self.bed.sml_run_popen("algo-1", "--accept-new-host-keys", "-H", "algo-2,algo-3", "true") for _ in range(6)]
        for job in jobs:
            with job:
                self.assert_status(job.finish(), 0)
        self.assertEqual(sorted(ln.split()[0] for ln in known.read_text().splitlines()), ["algo-2", "algo-3"])

    def test_the_home_is_the_users_whatever_the_environment_says(self):
        """As under sudo, which may leave HOME and the names of the one who called it."""
        for name in ("config", "known_hosts", "id_ed25519"):
            edit_file(self, self.bed, "algo-1", f"/home/tester/.ssh/{name}", lambda _: "Port 1\nProxyCommand touch /run/pwned\n")
        env = {"HOME": "/home/tester", "SUDO_USER": "tester", "SUDO_UID": "7700", "LOGNAME": "tester", "USER": "tester"}
        done = self.bed.sml_run("algo-1", "-H", "algo-2", "id", "-un", env=env)
        self.assert_status(done, 0)
        self.assertEqual(done.stdout, "root\n")
        self.assertFalse(self.bed.path("algo-1", "/run/pwned").exists())
        self.assertFalse(self.bed.path("algo-1", "/home/tester/.cache").exists())


# ------------------------------------------------------------- malicious servers
EVIL = r"""
import os, socket, struct, sys, time
what = sys.argv[1]
def packet(payload):
    pad = 8 - (len(payload) + 5) % 8 + 8
    return struct.pack('>IB', len(payload) + pad + 1, pad) + payload + bytes(pad)
lists = ['curve25519-sha256', 'ssh-ed25519', 'aes128-ctr', 'aes128-ctr', 'hmac-sha2-256', 'hmac-sha2-256', 'none', 'none', '', '']
offer = packet(b'\x14' + bytes(16) + b''.join(struct.pack('>I', len(l)) + l.encode() for l in lists) + bytes(5))
version = b'SSH-2.0-OpenSSH_9.2\r\n'
def slowly(data):
    for b in data: c.sendall(bytes([b])); time.sleep(1)
def for_ever(data):
    while True: c.sendall(data)
def serve():
    if what == 'silence': time.sleep(60)
    if what == 'endless lines': for_ever(b'hello there\r\n' * 1000)
    if what == 'endless line': for_ever(b'x' * 65536)
    if what == 'long version': c.sendall(b'SSH-2.0-' + b'x' * 100000 + b'\r\n'); time.sleep(60)
    if what == 'slow version': slowly(version * 10)
    if what == 'slow offer': c.sendall(version); slowly(offer)
    if what == 'old version': c.sendall(b'SSH-1.5-old\n'); time.sleep(60)
    if what == 'close at once': return
    if what == 'close after version': return c.sendall(version)
    if what == 'reset after version':
        c.sendall(version); c.recv(10); c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0)); return
    if what == 'close after offer': return c.sendall(version + offer)
    if what == 'close within offer': return c.sendall(version + offer[:50])
    if what == '4 GB packet': c.sendall(version + b'\xff\xff\xff\xff\x04'); for_ever(bytes(65536))
    if what == '1 GB packet': c.sendall(version + b'\x40\x00\x00\x00\x04'); for_ever(bytes(65536))
    if what == 'empty packets': c.sendall(version); for_ever(bytes(65536))
    if what == 'long list': c.sendall(version + packet(b'\x14' + bytes(16) + b'\xff\xff\xff\xf0' + bytes(100))); time.sleep(60)
    if what == 'silence after offer': c.sendall(version + offer); time.sleep(60)
    if what == 'endless ignore': c.sendall(version + offer); for_ever(packet(b'\x02' + struct.pack('>I', 30000) + bytes(30000)))
    if what == 'endless debug': c.sendall(version + offer); for_ever(packet(b'\x04\x01' + struct.pack('>I', 30000) + bytes(30004)))
    if what == 'endless offers': c.sendall(version); for_ever(offer * 100)
    if what == 'noise': c.sendall(version); for_ever(os.urandom(65536))
    if what == 'words': c.sendall(version + packet(b'\x01\x00\x00\x00\x02\x00\x00\x00\x0a\x1b[2J\x1b]0;x\x07' + bytes(4))); time.sleep(60)
l = socket.create_server(('', 2299)); print('ready', flush=True)
while True:
    c = l.accept()[0]
    try: serve()
    except OSError: pass
    c.close()
"""

# Between a client and the true server: lets through so many bytes of the server, then does something else.
BETWEEN = r"""
import os, select, socket, sys, threading, time
what, limit = sys.argv[1], int(sys.argv[2])
l = socket.create_server(('', 2299)); print('ready', flush=True)
def serve(c):
    s = socket.create_connection(('127.0.0.1', 22)); left = limit
    try:
        while True:
            for f in select.select([c, s], [], [])[0]:
                data = f.recv(65536)
                if not data: return
                if f is c: s.sendall(data); continue
                c.sendall(data[:left])
                if len(data) < left: left -= len(data); continue
                if what == 'close': return
                if what == 'silence': return time.sleep(60)
                if what == 'noise':
                    for _ in range(1000): c.sendall(os.urandom(65536))
                    return
                if what == 'slowly':
                    for b in data[left:] + s.recv(65536): c.sendall(bytes([b])); time.sleep(1)
                    return
    except OSError: pass
    finally: c.close(); s.close()
while True: threading.Thread(target=serve, args=(l.accept()[0],), daemon=True).start()
"""


class MaliciousServers(OnHosts):
    timeout_s = 300

    @contextlib.contextmanager
    def server(self, *argv):
        with self.bed.popen("algo-2", [PYTHON, "-c", *argv]) as server:
            server.read_until("ready")
            try:
                yield
            finally:
                server.terminate()
                server.finish(10)

    def setUp(self):
        ssh_config(self, self.bed, "algo-1", "Host evil\n HostName algo-2\n Port 2299\n HostKeyAlias algo-2\n")

    def assert_survived(self, done, peak, within):
        self.assert_status(done, 125)
        self.assertRegex("\n".join(complaints(done)), r"(?m)^evil: \S")
        self.assertNotIn("\x1b", done.stderr)
        self.assertLess(len(done.stderr), 3000)
        self.assert_within(done, within)
        self.assertLess(peak, 48)
        self.assertNotIn("ran", done.stdout)

    def test_before_the_key_exchange(self):
        """One deadline, and little memory, for whatever answers instead of an ssh server."""
        for what in re.findall(r"if what == '([^']+)'", EVIL):
            with self.subTest(what=what), self.server(EVIL, what):
                done, peak = peak_of(self.bed, "-H", "evil", "--connect-timeout", "1s", "echo", "ran")
                self.assert_survived(done, peak, 3.5)

    def test_in_each_later_state(self):
        """The first of these cuts fall into the key exchange, the last ones into a running job."""
        forget_agents(self.bed)
        self.assert_status(self.bed.sml_run("algo-1", "-H", "algo-2", "true"), 0)  # so that the agent need not travel
        flood = "head -c 100000 /dev/zero; exec sleep 60"
        for what in ("close", "silence", "noise", "slowly"):
            for limit in (60, 1200, 1700, 2200, 2700, 3200, 20000):
                with self.subTest(what=what, limit=limit), self.server(BETWEEN, what, str(limit)):
                    done, peak = peak_of(self.bed, "-H", "evil", "--connect-timeout", "1s", "--start-timeout", "3s",
                                         "--heartbeat-timeout", "2s", "--grace", "1s", "sh", "-c", flood)
                    self.assert_survived(done, peak, 8)


# ------------------------------------------------------------------------ files
class Files(OnHosts):
    def test_a_cache_that_others_can_write_is_closed(self):
        forget_agents(self.bed)
        sh(self.bed, "algo-2", f"mkdir -p {CACHE}; chmod 777 {CACHE}")
        self.assert_status(self.job("true"), 0)
        self.assertEqual(sh(self.bed, "algo-2", f"stat -c %a {CACHE}"), "700\n")

    def test_links_in_the_way_are_not_followed(self):
        """Of anybody, at every place that we use on a host whose home takes no agent."""
        forget_agents(self.bed)
        for host in ("algo-1", "algo-2"):
            script = ("echo precious > /run/precious; chmod 666 /run/precious; for d in /tmp /var/tmp /dev/shm; do for n in "
                      "sml-run sml-run-agent sml-run-XXXXXX .sml-run; do ln -s /run/precious $d/$n; done; done")
            sh(self.bed, host, script)
            self.addCleanup(sh, self.bed, host, "rm /run/precious; find /tmp /var/tmp /dev/shm -type l -delete")
        edit_file(self, self.bed, "algo-2", "/home/root/.bashrc", lambda _: "export XDG_CACHE_HOME=/proc/nowhere\n")
        self.assert_status(self.job("true"), 0)
        for host in ("algo-1", "algo-2"):
            self.assertEqual(sh(self.bed, host, "cat /run/precious"), "precious\n")
            self.assertEqual(sh(self.bed, host, "find /tmp /var/tmp /dev/shm -name '*sml-run*' ! -type l"), "")

    def check_modes(self, mask):
        forget_agents(self.bed)
        known, report = "/home/root/.ssh/known_hosts", "/run/report.json"
        keep_file(self, self.bed, "algo-1", known).unlink()
        edit_file(self, self.bed, "algo-2", "/home/root/.bashrc", lambda _: f"umask {mask}\n")
        self.addCleanup(sh, self.bed, "algo-1", f"rm -f {report}")
        job = f"umask {mask}; exec {shlex.quote(str(SML_RUN))} --accept-new-host-keys --report {report} -H algo-1,algo-2 true"
        self.assert_status(self.bed.exec("algo-1", ["sh", "-c", job]), 0)
        self.assertEqual(sh(self.bed, "algo-1", f"stat -c %a {known} {report}").split(), ["600", "600"])
        self.assertEqual(sh(self.bed, "algo-2", f"stat -c %a {CACHE} {CACHE}/*").split(), ["700", "700"])

    def test_what_we_make_is_ours_alone_under_an_open_umask(self):
        self.check_modes("000")

    def test_what_we_make_is_ours_alone_under_a_closed_umask(self):
        self.check_modes("077")


# --------------------------------------------------------------------- binaries
def readelf(*words):
    return run(["readelf", "-W", *words], env={"LC_ALL": "C"}).stdout


class Binaries(TestCase):
    def check(self, name):
        path = BUILD / name
        headers, dynamic = readelf("-hl", path), readelf("-d", path)
        self.assertRegex(headers, r"Type:\s+DYN")  # position independent
        self.assertIn("PIE", dynamic)
        self.assertRegex(headers, r"GNU_STACK\s.*\sRW\s")
        self.assertNotRegex(headers, r"(GNU_STACK|LOAD)\s.*\sR?WE\s")
        self.assertIn("GNU_RELRO", headers)
        self.assertRegex(dynamic, r"FLAGS.*\b(BIND_NOW|NOW)\b")
        self.assertNotRegex(dynamic, "RPATH|RUNPATH|TEXTREL")
        return path

    def sanitized(self):
        return b"__asan_init" in SML_RUN.read_bytes() or b"__tsan_init" in SML_RUN.read_bytes()

    def test_the_launcher(self):
        if self.sanitized():
            raise unittest.SkipTest("built with a sanitizer")
        symbols = readelf("--dyn-syms", self.check("sml-run"))
        self.assertIn("__stack_chk_fail", symbols)
        self.assertRegex(symbols, r"__(memcpy|snprintf|vsnprintf|read)_chk")  # FORTIFY
        needed = re.findall(r"Shared library: \[(.*)\]", readelf("-d", SML_RUN))
        self.assertEqual([n for n in needed if not re.match(r"lib(ssh|ssl|crypto|stdc\+\+|gcc_s|c|m)\.so|ld-linux", n)], [])

    def test_the_agent(self):
        if self.sanitized():
            raise unittest.SkipTest("built with a sanitizer")
        path = self.check("sml-run-agent")
        self.assertNotIn("NEEDED", readelf("-d", path))
        self.assertNotIn("INTERP", readelf("-l", path))
        self.assertIn(b"stack smashing detected", path.read_bytes())
