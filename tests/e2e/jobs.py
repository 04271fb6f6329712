"""What several modules of end-to-end tests share: the probe's answers, ssh accounts, and small looks at hosts."""
import base64
import hashlib
import os
import re
import select
import shlex
import shutil

from harness import HELPERS, scaled, wait_until
from schemas import checked_lines

PROBE = HELPERS / "probe"
PROBE_WORD = shlex.quote(str(PROBE))  # for shells
CACHE = "/home/root/.cache/sml-run"
# Every byte that an argument or a value can hold, and what shells and printf trip over.
ALL_BYTES = bytes(range(1, 256))
AWKWARD = [b"", b" ", b"a b", b"'", b'"', b"'\"'", b"\\", b"\\n", b"line\nline\n", b"\n", b"$HOME", b"${HOME}", b"$(id)",
           b"`id`", b"*", b"?", b"[a-z]", b"~", b"!", b"!!", b"#", b"a;b", b"&", b"|", b">x", b"%s%n%d", b"-n", b"--",
           b"\t", b"\r", b"\xff\xfe", b"\xc3(", "grün".encode(), b"{a,b}", b"=", b"A=B", b"^", b"@", ALL_BYTES]

# Prints COUNT blocks with PAUSE seconds after each, tells the digest of all in a file, and ends with STATUS.
LINES = """
import hashlib, os, sys
count, pause = int(sys.argv[1]), float(sys.argv[2])
import time
told = hashlib.sha256()
for i in range(count):
    block = "".join(f"{i:06d}{j:04d} {'x' * 88}\\n" for j in range(100)).encode()
    told.update(block)
    sys.stdout.buffer.write(block)
    sys.stdout.buffer.flush()
    if pause: time.sleep(pause)
with open(f"/run/told-{os.environ['RANK']}", "w") as f: f.write(told.hexdigest())
while sys.argv[4:] and not os.path.exists(sys.argv[4]): time.sleep(0.02)
sys.exit(int(sys.argv[3]))
"""
BLOCK = 10_000  # bytes


class Output:
    """What a job prints, as it comes: its size and its digest."""

    def __init__(self, job):
        self.job = job
        self.size = 0
        self.hash = hashlib.sha256()

    def read(self, until):
        """Until there are so many bytes, or no more."""
        while self.size < until:
            piece = self.job.stdout.read1(1 << 20)
            if not piece:
                return
            self.hash.update(piece)
            self.size += len(piece)

    def read_all(self):
        self.read(1 << 40)

    def read_ready(self):
        """What is there already."""
        while select.select([self.job.stdout], [], [], 0)[0]:
            before = self.size
            self.read(before + 1)
            if self.size == before:
                return

    def read_until_resent(self, bed, hosts, port, times="[2-9]"):
        """Waits until one of the hosts, which cannot reach each other, has sent something so many times in vain on a
        connection at the port; the pause doubles, from 0.2 s. Reads meanwhile, as a host with a full buffer sends nothing."""
        look = f"ss -Htin '( sport = :{port} or dport = :{port} )' | grep -oE 'backoff:{times}' || true"

        def resent():
            self.read_ready()
            return any(sh(bed, host, look) for host in hosts)
        wait_until(resent)

    def digest(self):
        return self.hash.hexdigest()


def heartbeat(seconds):
    """The option for silence of that length, and how reports name it. It is longer on a slow machine, where a process may
    wait so long itself, but below the 30 s after which TCP gives a silent connection up."""
    limit = f"{min(scaled(seconds), max(seconds, 25)):g}"
    return ["--heartbeat-timeout", f"{limit}s"], f"{limit} s"


class Shown(dict):
    """One probe's answer: name -> list of byte strings."""

    def one(self, name):
        values = self[name]
        if len(values) != 1:
            raise AssertionError(f"{len(values)} values of {name}")
        return values[0]

    def env(self):
        return dict(entry.split(b"=", 1) for entry in self["env"])

    def descriptors(self):
        return {int(name[3:]): values[0] for name, values in self.items() if name.startswith("fd ")}


def shown(text, ranks=None):
    """The answers of `probe show`: of the only rank when `ranks` is None, else {rank: Shown} from tagged lines."""
    answers = {}
    for line in text.splitlines():
        rank = None
        if ranks is not None:
            tag, line = re.fullmatch(r"\[(\d+)\] (.*)", line).groups()
            rank = int(tag)
        answer = answers.setdefault(rank, (Shown(), []))
        if line.startswith("  "):
            answer[0][answer[1][-1]][-1] += bytes.fromhex(line[2:])
        else:
            answer[1].append(line)
            answer[0].setdefault(line, []).append(b"")
    if ranks is None:
        return answers[None][0]
    if sorted(answers) != list(range(ranks)):
        raise AssertionError(f"answers of ranks {sorted(answers)}, wanted {ranks}")
    return {rank: answer for rank, (answer, _) in answers.items()}


def by_rank(text):
    """{rank: lines} of tagged output."""
    ranks = {}
    for line in text.splitlines():
        rank, rest = re.fullmatch(r"\[(\d+)\] (.*)", line).groups()
        ranks.setdefault(int(rank), []).append(rest)
    return ranks


# Lines of sml-run that only tell how long something takes. A slow machine prints them, so no test may rest on them. A
# connection over which nothing comes for half of the heartbeat's time is made anew.
NOTICES = re.compile(r"\d+ ranks? on \d+ hosts?, from |waiting for |\d+ hosts?: waiting|"
                     r"hint: does a start-up file there start another program |"
                     r"\S+: the connection to it had broken, and has been made again$")
# A word that makes a user look: where all is well no line of sml-run has one.
TROUBLE = (r"(?i)warning|error|cannot|could not|did not|not ready|no connection|lost|broke|refused|failed|killed|gone|stopp|"
           r"exit(ed with)? status|hint: ")


def own_lines(done):
    """What sml-run itself printed, line by line, without NOTICES."""
    lines = [ln.removeprefix("sml-run: ") for ln in done.stderr.splitlines() if ln.startswith("sml-run: ")]
    return [ln for ln in lines if not NOTICES.match(ln)]


def causes(done):
    """The lines that tell how ranks ended, the root cause first. A process that a slow machine has not ended yet has a line, too."""
    return [ln for ln in own_lines(done) if ln.startswith("rank ") and "still holds its output" not in ln]


def assert_says(test, done, *must, never=None):
    """Each pattern of `must` is found in a line of sml-run's, in this order; no other line holds the pattern `never`."""
    lines, at = own_lines(done), 0
    for pattern in must:
        found = next((n for n in range(at, len(lines)) if re.search(pattern, lines[n])), None)
        test.assertIsNotNone(found, f"no line has {pattern!r}\n{done}")
        at = found + 1
    if never is not None:
        wrong = [ln for ln in lines if re.search(never, ln) and not any(re.search(pattern, ln) for pattern in must)]
        test.assertEqual(wrong, [], f"\n{done}")


def events_in(path):
    """What --events has written into that file so far."""
    text = path.read_text() if path.exists() else ""
    return checked_lines("event", text[:text.rfind("\n") + 1])


def wait_for_event(path, event, **fields):
    """Until that has happened with those fields; answers it."""
    def look():
        found = [e for e in events_in(path) if e["event"] == event and all(e.get(k) == v for k, v in fields.items())]
        return found[:1]

    return wait_until(look, lambda: f"no {event} {fields} in {events_in(path)}")[0]


def insist(job, signo):
    """As somebody who does not want to wait for the grace: again and again, until the job says that it is cut short.
    Answers what it has said on stderr."""
    said = bytearray()

    def is_heard():
        said.extend(job.errors_so_far())
        if b"again: the workers are killed at once" in said or job.poll() is not None:
            return True
        job.send_signal(signo)
        return False

    wait_until(is_heard, lambda: bytes(said))
    return said.decode()


def sh(bed, host, script, *args, check=True, **kw):
    """Runs a line of shell on a host; answers its output."""
    done = bed.exec(host, ["/bin/sh", "-c", script, "sh", *args], **kw)
    if check and done.returncode:
        raise AssertionError(str(done))
    return done.stdout


def let_lines_end(test, host, go):
    """Makes the file that LINES waits for there, until it has ended."""
    test.bed.put(host, go, "")
    wait_until(lambda: not sh(test.bed, host, f"pgrep -f '^[^ ]*python3[^ ]* .* {go}$' || true"), lambda: "it has not ended")
    sh(test.bed, host, f"rm {go}")


def destroy_sockets(bed, host, port, around="{}"):
    """As a system does that gives connections up: its end of those with that port is gone, and the other end is told so,
    unless `around` the command there is no way. Answers a line for each; none where the kernel cannot do it, too."""
    return sh(bed, host, around.format(f"ss -HtK 'sport = :{port} or dport = :{port}'"))


def reset_connection(test, host, port, around="{}"):
    """The same to one that is there, or is being made again."""
    wait_until(lambda: destroy_sockets(test.bed, host, port, around),
               lambda: f"{host}: no connection with port {port}, or a kernel without INET_DIAG_DESTROY")


def stop_sshd(bed, host):
    """Where one runs. It listens until it gets a processor to end on."""
    sh(bed, host, "pkill -x sshd", check=False)
    wait_until(lambda: not sh(bed, host, "pgrep -x sshd || true"))


# In the place of `head`, which takes the agent's bytes on a host.
RECEIVER = """#!/bin/sh
[ -e /run/held ] || { touch /run/held; kill -STOP $$; }
exec /run/head "$@"
"""


def hold_receiver(test, bed, host):
    """The first program there that is to take an agent stops before it takes a byte."""
    sh(bed, host, "cp /usr/bin/head /run/head")
    bed.put(host, "/run/receiver", RECEIVER, mode=0o755)
    sh(bed, host, "mount --bind /run/receiver /usr/bin/head")
    test.addCleanup(sh, bed, host, "umount -l /usr/bin/head; rm -f /run/head /run/receiver /run/held")


def await_receiver(bed, host):
    """Until it has stopped: the launcher is sending the agent, or is about to."""
    wait_until(lambda: any((p["comm"], p["state"]) == ("head", "T") for p in bed.ps(host)), lambda: bed.ps(host))


def forget_agents(bed):
    for host in [*bed.names(), "head"]:
        for user in ("root", "tester"):
            shutil.rmtree(bed.path(host, f"/home/{user}/.cache"), ignore_errors=True)


def cached_agents(bed, host, folder=CACHE):
    """{name: (inode, mtime, size)}"""
    rows = sh(bed, host, f"cd {folder} 2>/dev/null && stat -c '%n %i %Y %s' * 2>/dev/null || true").splitlines()
    return {row.split()[0]: tuple(row.split()[1:]) for row in rows}


def keep_file(test, bed, host, path):
    """Puts a file back as it was when the test ends."""
    place = bed.path(host, path)
    if not place.exists():
        test.addCleanup(lambda: place.unlink(missing_ok=True))
        return place
    was, status = place.read_bytes(), place.stat()

    def restore():
        place.unlink(missing_ok=True)
        place.write_bytes(was)
        place.chmod(status.st_mode & 0o7777)
        os.chown(place, status.st_uid, status.st_gid)

    test.addCleanup(restore)
    return place


def edit_file(test, bed, host, path, change, mode=None):
    """change(text) -> text; as it was when the test ends. Ownership and mode stay."""
    place = keep_file(test, bed, host, path)
    text = place.read_text() if place.exists() else ""
    place.write_text(change(text))
    if mode is not None:
        place.chmod(mode)
    return place


def ssh_config(test, bed, host, text):
    """Before what the testbed says in ~/.ssh/config; first match wins."""
    return edit_file(test, bed, host, "/home/root/.ssh/config", lambda old: text + "\nHost *\n" + old, 0o600)


def fingerprint(public_key):
    """SHA256:... of "ssh-ed25519 AAAA...", as ssh-keygen -l prints it."""
    digest = hashlib.sha256(base64.b64decode(public_key.split()[1])).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def wait_for_workers(bed, pattern, count):
    """Waits until `count` processes whose command holds `pattern` run on the hosts; answers them."""
    found = []

    def look():
        found[:] = [p for p in bed.ps() if pattern in p["cmd"] and "sml-run" not in p["cmd"] and "testbed" not in p["cmd"]]
        return len(found) == count

    wait_until(look, lambda: f"{len(found)} instead of {count} processes {pattern!r}: {[p['cmd'] for p in found]}")
    return found


def rows_of(done):
    """{host: {column: cell}} of the table of --check; a state may be two words."""
    head, *lines = done.stdout.splitlines()
    columns = head.split()
    out = {}
    for line in lines:
        if line.startswith(("program: ", "MPI: ", "PMIx: ")):
            continue
        cells = re.sub(r"^(\S+ +)(\w+) (\w+)\b", r"\1\2_\3", line) if re.match(r"\S+ +[a-z]+ [a-z]", line) else line
        out[line.split()[0]] = dict(zip(columns, cells.split()))
    return out
