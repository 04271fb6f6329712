"""What end-to-end tests are made of: hosts (Testbed), local runs (sml_run), and a TestCase that forgives no leftover.

No verdict depends on a clock. A test waits for a state (`wait_until`, `Process.finish`, `Process.read_until`), and only
the watchdog ends a wait: it is there for hangs, and far longer than anything that works. That something happened *before*
a timer of sml-run is shown by giving that timer an hour.

    class Ranks(HostsCase):
        hosts = 4

        def test_hosts_are_reached(self):
            done = self.bed.sml_run("algo-1", "-np", "4", "-H", self.bed.hosts(), "hostname")
            self.assertEqual(done.returncode, 0, done.stderr)

        def test_exit_code_is_kept(self):
            self.assertEqual(sml_run("-np", "2", "sh", "-c", "exit 3").returncode, 3)

After every test TestCase looks for what may have been left: processes and files on every testbed host, descendants of
this process on the machine, cgroups of jobs. Text is decoded as UTF-8 with surrogateescape and newlines are not touched; with
binary=True bytes are returned.
"""
import contextlib
import ctypes
import fnmatch
import functools
import hashlib
import importlib.machinery
import importlib.util
import itertools
import json
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SML_BUILD_DIR", REPO / "build")).resolve()
SML_RUN = BUILD / "sml-run"
HELPERS = BUILD / "tests" / "helpers"
TRAIN_DDP = REPO / "packaging" / "examples" / "train_ddp.py"
# Debian's interpreter, where python3-torch and python3-numpy live, whatever `python3` is on PATH.
PYTHON = "/usr/bin/python3"
TESTBED = REPO / "tests" / "testbed" / "testbed"

def adopt_orphans():
    """Orphans of whatever this process starts come to it, so that "is anything left?" is a look at its own descendants."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


adopt_orphans()


# ------------------------------------------------------------------ processes
def _decode(data, binary):
    if binary or data is None:
        return data
    return data.decode("utf-8", "surrogateescape")


def _encode(data):
    return data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data


def _stat(pid):
    """(state, ppid) of a process; None when it is gone."""
    try:
        rest = pathlib.Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return rest[0], int(rest[1])


def _command(pid):
    with contextlib.suppress(OSError):
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return " ".join(w.decode(errors="replace") for w in words if w)[:200]
    return "?"


def _descendants(top):
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (st := _stat(name)):
            children.setdefault(st[1], []).append((int(name), st[0]))
    found, todo = [], [top]
    while todo:
        for pid, state in children.get(todo.pop(), []):
            found.append((pid, state))
            todo.append(pid)
    return found


def _pid_namespace(pid):
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/ns/pid")
    return None


def own_processes():
    """Living descendants of this process on the machine itself: [(pid, command line)]. Testbed hosts do not count."""
    mine = _pid_namespace("self")
    relays = {bed.relay_pid() for bed in Testbed.live}
    found = []
    for pid, state in _descendants(os.getpid()):
        if state in "ZX":
            with contextlib.suppress(OSError):  # an orphan that came to us; nobody else waits for it
                if pid not in Process.waited_for():
                    os.waitpid(pid, os.WNOHANG)
        elif pid not in relays and _pid_namespace(pid) == mine:
            found.append((pid, _command(pid)))
    return found


def kill_own_processes():
    for _ in range(100):  # what forks while we look is found in the next round
        found = own_processes()
        if not found:
            return
        for pid, _ in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def enter_own_network():
    """From now on this process and all that it starts have a network of their own, with an eth0 that leads nowhere: the
    interfaces of test-beds of others, which come and go, are not seen by what looks at all that there are, as libraries
    of MPI do when they begin. Only root can."""
    CLONE_NEWNET = 0x40000000
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare: " + os.strerror(ctypes.get_errno()))
    for line in ("link set lo up", "link add eth0 type veth peer name eth0-peer", "address add 192.0.2.2/24 dev eth0",
                 "link set eth0-peer up", "link set eth0 up"):
        subprocess.run(["ip", *line.split()], check=True)


class Cgroups:
    """A group (cgroup v2) of this process and all that it starts, so that those which jobs make are below it, and those
    of other people's jobs are not. Where none can be made, jobs make none either."""

    own = None

    @classmethod
    def enter(cls):
        own = [ln.split(":", 2)[2] for ln in pathlib.Path("/proc/self/cgroup").read_text().splitlines() if ln[:2] == "0:"]
        for mount in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
            above = pathlib.Path(mount + "".join(own))
            if own and os.access(above / "cgroup.procs", os.W_OK):
                cls.own = above / f"sml-e2e-{os.getpid()}"
                cls.own.mkdir()
                cls._move(cls.own)

    @classmethod
    def left(cls):
        """The groups below ours that have no process, outer ones first; one in use has."""
        found = []
        for folder, inner, _ in os.walk(cls.own or "/none"):
            for group in (pathlib.Path(folder, name) for name in inner):
                with contextlib.suppress(OSError):  # it goes just now
                    if "populated 0" in (group / "cgroup.events").read_text():
                        found.append(group)
        return found

    @classmethod
    def remove_left(cls):
        for group in reversed(cls.left()):
            with contextlib.suppress(OSError):
                group.rmdir()

    @staticmethod
    def _move(group):
        (group / "cgroup.procs").write_text("0")  # the writer

    @classmethod
    def leave(cls):
        if cls.own:
            cls._move(cls.own.parent)
            cls.remove_left()
            with contextlib.suppress(OSError):
                cls.own.rmdir()


def machine_factor():
    """How many times longer a fixed piece of work takes here and now than on an idle machine of two cores; 1 at least.
    tests/run measures it once, before anything else runs, and hands it on in MACHINE_FACTOR."""
    begin = time.monotonic()
    data = b"x" * (1 << 20)
    for _ in range(300):
        subprocess.run(["/bin/true"], check=True)
        hashlib.sha256(data).digest()
    return max(1.0, (time.monotonic() - begin) / IDLE_MACHINE_S)


IDLE_MACHINE_S = 0.4  # what machine_factor's work takes on an idle machine
FACTOR = float(os.environ.get("MACHINE_FACTOR") or machine_factor())
os.environ["MACHINE_FACTOR"] = f"{FACTOR:.2f}"


class Watchdog:
    """The only limit of time in these tests, of each single wait: 120 s on an idle machine. It ends hangs, it judges
    nothing. A class of tests whose steps take minutes when all is well (a compiler runs, something is downloaded) has
    a `watchdog_times` above 1."""

    SECONDS = 120
    times = 1
    has_bitten = False  # the run has failed: what hangs after that is not waited for so long


def watchdog():
    """Seconds after which a wait is a hang. After the first it is what the longest timer needs that a test waits for."""
    return (45 if Watchdog.has_bitten else Watchdog.SECONDS) * FACTOR * Watchdog.times


@contextlib.contextmanager
def watchdog_times(times):
    """For a step that takes so many times as long when all is well; below 1 where a test wants to see it bite."""
    was, Watchdog.times, bitten = Watchdog.times, times, Watchdog.has_bitten
    try:
        yield
    finally:
        Watchdog.times = was
        if times < 1:
            Watchdog.has_bitten = bitten


def bite(what):
    """What a wait raises when it is over: the error."""
    seconds = watchdog()
    Watchdog.has_bitten = True
    return AssertionError(f"hangs: waited {seconds:.0f} s: {what}")


def scaled(seconds):
    """A duration for an option of sml-run (a heartbeat, a silence) that must not pass by itself on a slow machine."""
    return round(seconds * FACTOR, 1)


def wait_until(probe, otherwise=None):
    """Calls probe until it answers something true, and returns that. A hang fails the test, with its last answer or
    with what `otherwise` says."""
    end = time.monotonic() + watchdog()
    while True:
        answer = probe()
        if answer:
            return answer
        if time.monotonic() > end:
            raise bite(otherwise() if otherwise else f"the last answer was {answer!r}")
        time.sleep(0.02)


def stays(probe, looks=50):
    """Whether probe answers something true each time it is looked at, over about a second. Only for what no event can
    show, and only ever to see that something does NOT happen: on a slow machine it sees less, and never fails for it."""
    for _ in range(looks):
        if not probe():
            return False
        time.sleep(0.02)
    return True


def gate(test):
    """Marks a class or a test for the gate (`tests/run` without words): it carries one of the product's promises, or one
    of its main ways, and it is the cheapest test that does."""
    test.is_in_gate = True
    return test


class Completed(subprocess.CompletedProcess):
    """CompletedProcess and `seconds`, the wall time."""

    def __init__(self, args, returncode, stdout, stderr, seconds):
        super().__init__(args, returncode, stdout, stderr)
        self.seconds = seconds

    def __str__(self):
        return (f"{shlex.join(map(str, self.args))}\nreturned {self.returncode} after {self.seconds:.2f} s\n"
                f"--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}")


@functools.cache
def _testbed_program():
    """tests/testbed/testbed, as a module."""
    loader = importlib.machinery.SourceFileLoader("testbed", os.fspath(TESTBED))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("testbed", loader))
    loader.exec_module(module)
    return module


def _be_testbed(argv, env):
    """In a new process, in the place of executing `testbed ARGV`, and the same for all that looks at it."""
    status = 255
    try:
        os.closerange(3, 65536)  # Popen waits for the end of one of them, as where a program has been executed
        os.environ.clear()
        os.environ.update(env)
        sys.stdout, sys.stderr = (os.fdopen(fd, "w", closefd=False) for fd in (1, 2))
        for signo in (signal.SIGALRM, signal.SIGINT):
            signal.signal(signo, signal.SIG_DFL)
        sys.argv = [os.fspath(TESTBED), *argv]
        try:
            _testbed_program().main()
        except SystemExit as e:
            status = e.code or 0
        except BaseException:  # else nobody would see it
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


class Process(subprocess.Popen):
    """A Popen in a session of its own. Use it in a with-block: leaving it kills what still runs of the session."""

    _all = set()

    def __init__(self, argv, **kw):
        kw.setdefault("stdin", subprocess.DEVNULL)
        kw.setdefault("stdout", subprocess.PIPE)
        kw.setdefault("stderr", subprocess.PIPE)
        kw.setdefault("start_new_session", True)
        self._started = time.monotonic()
        argv = [os.fspath(a) for a in argv]
        if argv[:2] == [sys.executable, os.fspath(TESTBED)] and argv[4:5] == ["exec"]:
            # Thousands of times: an interpreter's start is most of what it costs.
            _testbed_program()
            kw["preexec_fn"] = functools.partial(_be_testbed, argv[2:], kw.get("env", os.environ))
        super().__init__(argv, **kw)
        Process._all.add(self)

    @classmethod
    def waited_for(cls):
        cls._all = {p for p in cls._all if p.returncode is None}
        return {p.pid for p in cls._all}

    def kill_group(self):
        if self.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)

    def read_until(self, text):
        """Reads stdout until `text` is in it; answers what was read. Fails when stdout ends before."""
        want, got = _encode(text), bytearray()
        os.set_blocking(self.stdout.fileno(), False)

        def step():
            with contextlib.suppress(BlockingIOError):
                chunk = os.read(self.stdout.fileno(), 65536)
                got.extend(chunk)
                if not chunk:
                    return True
            return want in got

        said = lambda: f"no {text!r}; there was: {bytes(got)!r}, on stderr: {self.errors_so_far()!r}"  # noqa: E731
        wait_until(step, said)
        os.set_blocking(self.stdout.fileno(), True)
        if want not in got:
            raise AssertionError(said())
        return bytes(got)

    def errors_so_far(self):
        """What stderr holds at this moment."""
        if self.stderr is None:
            return b""
        os.set_blocking(self.stderr.fileno(), False)
        with contextlib.suppress(BlockingIOError):
            return os.read(self.stderr.fileno(), 65536)
        return b""

    def finish(self, input=None, binary=False):
        """Waits for the end; answers Completed. What hangs is killed and fails the test."""
        try:
            out, err = self.communicate(_encode(input), watchdog())
        except subprocess.TimeoutExpired as e:
            self.kill_group()
            out, err = self._rest(e)
            done = Completed(self.args, None, _decode(out, False), _decode(err, False),
                             time.monotonic() - self._started)
            raise bite(f"it has not ended: {done}") from None
        return Completed(self.args, self.returncode, _decode(out, binary), _decode(err, binary),
                         time.monotonic() - self._started)

    def _rest(self, expired):
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.communicate(timeout=scaled(5))
        return expired.output, expired.stderr  # somebody else holds the pipe open

    def __exit__(self, *what):
        self.kill_group()
        super().__exit__(*what)


def run(argv, *, input=None, binary=False, env=None, cwd=None, **kw):
    """Runs a command on this machine. `env` is put over the environment; a value of None removes the name."""
    with popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL if input is None else subprocess.PIPE, **kw) as p:
        return p.finish(input, binary)


OF_TESTS = ("MACHINE_FACTOR", "SML_BUILD_DIR", "SML_NO_SKIP", "SML_TESTBED")  # sml-run would say that it does not read them


def popen(argv, *, env=None, cwd=None, **kw):
    whole = {**os.environ, **(env or {})}
    if TESTBED not in argv:
        whole = {k: v for k, v in whole.items() if not k.startswith(OF_TESTS)}
    return Process(argv, env={k: v for k, v in whole.items() if v is not None}, cwd=cwd, **kw)


def sml_run(*args, **kw):
    """build/sml-run on this machine."""
    return run([SML_RUN, *args], **kw)


def sml_run_popen(*args, **kw):
    return popen([SML_RUN, *args], **kw)


# -------------------------------------------------------------------- testbed
# How long it takes until another host answers, if only that nobody listens there.
CONNECT = """
import socket, sys, time
begin = time.monotonic()
with socket.socket() as s: s.connect_ex((sys.argv[1], 22))
print(time.monotonic() - begin)
"""


class Testbed:
    """A testbed of this process's own; see tests/testbed/README.md for what a host is."""

    live = []
    _number = itertools.count()
    _shared = None  # (testbed, hosts that it was made with)

    def __init__(self):
        self.name = f"t{os.getpid()}{'abcdefghijklmnopqrstuvwxyz'[next(Testbed._number) % 26]}"

    def __enter__(self):
        if os.geteuid() != 0:
            raise unittest.SkipTest("the testbed makes network namespaces and needs root")
        for tool in ("ip", "sshd", "ssh"):
            if not shutil.which(tool, path="/usr/sbin:/sbin:" + os.environ.get("PATH", "")):
                raise unittest.SkipTest(f"the testbed needs '{tool}' (tests/run installs it)")
        return self

    def __exit__(self, *_):
        self.down()

    @classmethod
    def shared(cls, n):
        """The testbed that this process keeps, with N hosts that are as new: booted again, their files made anew."""
        if cls._shared and cls._shared[1] < n:
            cls._shared[0].down()
            cls._shared = None
        if cls._shared:
            bed = cls._shared[0]
            bed._call("renew", str(n))
            return bed
        bed = cls().__enter__()
        size = max(n, 4)
        bed.up(size)
        cls._shared = bed, size
        if size != n:
            bed._call("renew", str(n))
        return bed

    def _call(self, *argv):
        done = run([sys.executable, TESTBED, "--name", self.name, *argv])
        if done.returncode:
            raise AssertionError(f"testbed {argv[0]}: {done}")
        return done.stdout

    def up(self, n, *, prefix=None, sshd=(), share=(), delay_ms=0, root_link=True):
        """N hosts algo-1..algo-N and `head`. sshd: lines for every sshd_config. The source and the build tree are
        visible on every host at their own paths."""
        hidden = ("/tmp/", "/var/tmp/", "/run/", "/dev/shm/")
        shares = [*map(str, share), *{str(d) for d in (REPO, BUILD) if str(d).startswith(hidden)}]
        argv = ["up", str(n), "-q"]
        argv += ["--prefix", prefix] if prefix else []
        argv += [f"--sshd={line}" for line in sshd] + [f"--share={d}" for d in shares]
        argv += ["--delay-ms", str(delay_ms)] if delay_ms else []
        argv += [] if root_link else ["--no-root"]
        Testbed.live.append(self)
        self._shares = tuple(os.path.realpath(s) for s in shares)
        self._call(*argv)
        return self

    def down(self):
        self._call("down")
        if self in Testbed.live:
            Testbed.live.remove(self)

    def _state(self):
        base = pathlib.Path(os.environ.get("SML_TESTBED_DIR", "/run/sml-testbed"))
        with contextlib.suppress(OSError, ValueError):
            return json.loads((base / self.name / "state.json").read_text())
        return {"hosts": {}}

    def relay_pid(self):
        return self._state().get("relay_pid")

    def names(self):
        """algo-1, algo-2, ... without head."""
        return [n for n in self._state()["hosts"] if n != "head"]

    def hosts(self, slots=None, names=None):
        """The value of -H: "algo-1:2,algo-2:2"."""
        return ",".join(f"{n}:{slots}" if slots else n for n in names or self.names())

    def address(self, host):
        return self._state()["hosts"][host]["ip"]

    def _exec_argv(self, host, argv, user, env, cwd):
        options = ["-u", user, "-C", cwd] + [w for k, v in (env or {}).items() for w in ("-e", f"{k}={v}")]
        return [sys.executable, TESTBED, "--name", self.name, "exec", *options, host, "--", *argv]

    def exec(self, host, argv, *, user="root", env=None, cwd="/", input=None, binary=False):
        """Runs argv as if logged in there; answers Completed. Its status is the command's, 128+n for a signal."""
        return run(self._exec_argv(host, argv, user, env, cwd), input=input, binary=binary)

    def popen(self, host, argv, *, user="root", env=None, cwd="/", **kw):
        """The same, running. Signals sent to it reach the command, except SIGKILL, which kills it at once."""
        return popen(self._exec_argv(host, argv, user, env, cwd), **kw)

    def sml_run(self, host, *args, binary_path=None, **kw):
        return self.exec(host, [binary_path or SML_RUN, *args], **kw)

    def sml_run_popen(self, host, *args, binary_path=None, **kw):
        return self.popen(host, [binary_path or SML_RUN, *args], **kw)

    def path(self, host, inside="/"):
        """Where a path of a host is seen from outside."""
        return pathlib.Path(f"/proc/{self._state()['hosts'][host]['pid']}/root") / str(inside).lstrip("/")

    def put(self, host, inside, data, *, mode=0o644, user="root"):
        """Writes a file on a host."""
        target = self.path(host, inside)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_encode(data) if isinstance(data, (str, bytes)) else pathlib.Path(data).read_bytes())
        target.chmod(mode)
        if user != "root":
            os.chown(target, 7700, 7700)
        return target

    def sshd_log(self, host):
        return (_testbed_program().Bed(self.name).hostdir(host) / "sshd.log").read_text(errors="replace")

    def cut(self, *hosts):
        self._call("cut", *hosts)

    def heal(self, *hosts):
        self._call("heal", *hosts)

    def kill(self, *hosts, fin=False):
        """Hosts lose power, or go down in order (`fin`). What a real one would lose with its memory is the machine's
        here: the cgroups of its agents, which had no time to remove them."""
        self._call("kill", *(["--fin"] if fin else []), *hosts)
        Cgroups.remove_left()

    def start(self, *hosts):
        self._call("start", *hosts)

    def freeze(self, *hosts):
        self._call("freeze", *hosts)

    def thaw(self, *hosts):
        self._call("thaw", *hosts)

    def delay(self, ms, *hosts):
        """Holds what these hosts send for so long, and sees that it does: a connection from there cannot be quicker."""
        hosts = hosts or self.names()
        self._call("delay", *hosts, str(ms))
        for host in hosts if ms else ():
            other = self.address(next(name for name in self._state()["hosts"] if name not in hosts))
            took = float(self.exec(host, [PYTHON, "-c", CONNECT, other]).stdout)
            if took < ms / 1000:
                raise AssertionError(f"{host} is not slow: it reached {other} in {took:.3f} s, and {ms} ms were asked for")

    def ps(self, *hosts):
        """User processes on the hosts that are up: [{"host", "pid", "cmd", "state", "uid", ...}]."""
        return json.loads(self._call("ps", "--json", *hosts))

    def _user_processes(self, hosts):
        """What `ps` answers, read by this process itself: after every test, and an interpreter's start costs more."""
        testbed = _testbed_program()
        try:
            return testbed.processes(testbed.Bed(self.name), hosts)
        except SystemExit as e:
            raise AssertionError(f"the testbed cannot say what runs on {hosts or 'its hosts'}") from e

    def assert_clean(self, hosts=()):
        """Fails unless all user processes go from the hosts. Those that are stopped, or sleep as they were told to by a
        test for ten minutes, do not go before the watchdog's time is over; it is a leftover's price, paid once."""
        def gone():
            own_processes()  # what we killed together with its `testbed exec` is ours to wait for
            return not self._user_processes(hosts)

        def rows():
            return "left on the hosts:\n" + "\n".join(
                f"  {p['host']} {p['pid']} {p['state']} {p['cmd']}" for p in self._user_processes(hosts))

        try:
            wait_until(gone, rows)
        except AssertionError:
            self.kill_processes(self._user_processes(hosts))
            raise

    def kill_processes(self, rows):
        for host in {p["host"] for p in rows}:
            pids = [str(p["pid"]) for p in rows if p["host"] == host]
            self.exec(host, ["/bin/sh", "-c", 'kill -CONT "$@"; kill -KILL "$@"', "sh", *pids])

    def files_left(self, allowed=()):
        """Files on the hosts where programs leave things behind, without those that match an allowed pattern. The
        agent's cache and what ssh keeps are expected, and the sockets of launchers that a test has killed."""
        self.remove_dead_sockets()
        expected = ("/home/*/.ssh", "/home/*/.ssh/*", "/home/*/.cache", "/home/*/.cache/sml-run",
                    "/home/*/.cache/sml-run/*", *allowed)
        found = []
        for host, facts in self._state()["hosts"].items():
            root = f"/proc/{facts.get('pid')}/root"
            for top in ("/tmp", "/var/tmp", "/dev/shm", "/home/root", "/home/tester"):
                found += [f"{host}:{p}" for p in self._walk(root, top, expected)]
        return found

    def assert_no_files(self, allowed=()):
        wait_until(lambda: not self.files_left(allowed),
                   lambda: "files left on the hosts:\n  " + "\n  ".join(self.files_left(allowed)))

    def remove_dead_sockets(self):
        for host, facts in self._state()["hosts"].items():
            for folder in pathlib.Path(f"/proc/{facts.get('pid')}/root/tmp").glob("sml-run-*"):
                for entry in folder.iterdir():
                    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as asked:
                        try:
                            asked.connect(os.fspath(entry))
                        except ConnectionRefusedError:
                            entry.unlink()
                with contextlib.suppress(OSError):
                    folder.rmdir()

    def _walk(self, root, top, expected):
        for directory, subdirectories, files in os.walk(root + top):
            inside = directory[len(root):]
            for name in list(subdirectories) + files:
                path = f"{inside}/{name}"
                shared = any(s == path or s.startswith(path + "/") for s in self._shares)
                if path in self._shares:
                    subdirectories.remove(name)
                elif not shared and not any(fnmatch.fnmatchcase(path, e) for e in expected):
                    yield path


# ------------------------------------------------------------------- TestCase
class TestCase(unittest.TestCase):
    """After every test: no process of ours here, none and no stray file on any testbed host, no cgroup of a job."""

    maxDiff = None
    watchdog_times = 1          # see Watchdog
    allowed_files = ()          # fnmatch patterns of paths that a test leaves on hosts on purpose

    def __init__(self, *args, **kw):
        super().__init__(*args, **kw)
        self.addCleanup(self._check_nothing_left)  # first in, so the last to run

    def doCleanups(self):
        answer = super().doCleanups()
        self._cleanups.append((self._check_nothing_left, (), {}))  # for the next run of this object
        return answer

    def _check_nothing_left(self):
        problems = []
        try:
            wait_until(lambda: not own_processes(), lambda: "processes left here:\n" + "\n".join(
                f"  {pid} {cmd}" for pid, cmd in own_processes()))
        except AssertionError as e:
            problems.append(str(e))
            kill_own_processes()
        for bed in Testbed.live:
            looks = [bed.assert_clean]
            if bed is getattr(self, "bed", None):  # on a testbed that stays there may be what another class was allowed
                looks.append(lambda bed=bed: bed.assert_no_files(self.allowed_files))
            for look in looks:
                try:
                    look()
                except AssertionError as e:
                    problems.append(str(e))
        try:
            wait_until(lambda: not Cgroups.left(), lambda: "cgroups left:\n  " + "\n  ".join(map(str, Cgroups.left())))
        except AssertionError as e:
            problems.append(str(e))
            Cgroups.remove_left()
        if problems:
            self.fail("\n".join(problems))

    def temporary_directory(self):
        """A directory of this test's own, removed afterwards. (Not visible on testbed hosts.)"""
        return pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="sml-e2e-")))

    def assert_status(self, done, status):
        self.assertEqual(done.returncode, status, f"\n{done}")


def leave():
    """At the end of a process that runs tests: its testbed and its cgroup go."""
    for bed in list(Testbed.live):
        bed.down()
    Testbed._shared = None
    Cgroups.leave()


class HostsCase(TestCase):
    """Tests that share a testbed of `hosts` hosts, `bed`."""

    hosts = 2
    sshd = ()  # lines for every sshd_config

    @classmethod
    def setUpClass(cls):
        if cls.sshd or cls.hosts > 8:
            cls.bed = cls.enterClassContext(Testbed())
            cls.bed.up(cls.hosts, sshd=cls.sshd)
        else:
            cls.bed = Testbed.shared(cls.hosts)
