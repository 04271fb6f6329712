"""What end-to-end tests are made of: hosts (Testbed), local runs (sml_run), and a TestCase that forgives no leftover.

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
import atexit
import contextlib
import ctypes
import fnmatch
import functools
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

PR_SET_CHILD_SUBREAPER = 36
# Orphans of whatever we start come to us, so that "is anything left?" is a look at our own descendants.
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


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
                atexit.register(cls._leave)

    @classmethod
    def left(cls):
        """The groups below ours that have no process, outer ones first; one in use has."""
        found = []
        for folder, inner, _ in os.walk(cls.own or "/none"):
            for group in (pathlib.Path(folder, name) for name in inner):
                with contextlib.suppress(FileNotFoundError):
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
    def _leave(cls):
        cls._move(cls.own.parent)
        cls.remove_left()
        with contextlib.suppress(OSError):
            cls.own.rmdir()


def poll(probe, within, every=0.02):
    """Calls probe until it answers something true, or the time is over; answers its last answer."""
    end = time.monotonic() + within
    while True:
        answer = probe()
        if answer or time.monotonic() > end:
            return answer
        time.sleep(every)


def patience(seconds):
    """A bound for this moment: where more wants to run than there are processors, all takes longer."""
    return seconds * max(1, os.getloadavg()[0] / os.cpu_count() / 2)


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

    def read_until(self, text, within=30):
        """Reads stdout until `text` is in it; answers what was read. Fails when it does not come in time."""
        want, got = _encode(text), bytearray()
        os.set_blocking(self.stdout.fileno(), False)

        def step():
            with contextlib.suppress(BlockingIOError):
                chunk = os.read(self.stdout.fileno(), 65536)
                got.extend(chunk)
                if not chunk:
                    return True
            return want in got

        poll(step, within)
        os.set_blocking(self.stdout.fileno(), True)
        if want not in got:
            raise AssertionError(f"{text!r} did not come within {within} s; there was: {bytes(got)!r}, "
                                 f"on stderr: {self.errors_so_far()!r}")
        return bytes(got)

    def errors_so_far(self):
        """What stderr holds at this moment."""
        if self.stderr is None:
            return b""
        os.set_blocking(self.stderr.fileno(), False)
        with contextlib.suppress(BlockingIOError):
            return os.read(self.stderr.fileno(), 65536)
        return b""

    def finish(self, timeout=60, input=None, binary=False):
        """Waits for the end; answers Completed. What is too slow is killed and fails the test."""
        timeout = patience(timeout)
        try:
            out, err = self.communicate(_encode(input), timeout)
        except subprocess.TimeoutExpired as e:
            self.kill_group()
            out, err = self._rest(e)
            done = Completed(self.args, None, _decode(out, False), _decode(err, False),
                             time.monotonic() - self._started)
            raise AssertionError(f"not finished within {timeout:.1f} s: {done}") from None
        return Completed(self.args, self.returncode, _decode(out, binary), _decode(err, binary),
                         time.monotonic() - self._started)

    def _rest(self, expired):
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.communicate(timeout=5)
        return expired.output, expired.stderr  # somebody else holds the pipe open

    def __exit__(self, *what):
        self.kill_group()
        super().__exit__(*what)


def run(argv, *, timeout=60, input=None, binary=False, env=None, cwd=None, **kw):
    """Runs a command on this machine. `env` is put over the environment; a value of None removes the name."""
    with popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL if input is None else subprocess.PIPE, **kw) as p:
        return p.finish(timeout, input, binary)


def popen(argv, *, env=None, cwd=None, **kw):
    whole = {**os.environ, **(env or {})}
    return Process(argv, env={k: v for k, v in whole.items() if v is not None}, cwd=cwd, **kw)


def sml_run(*args, **kw):
    """build/sml-run on this machine."""
    return run([SML_RUN, *args], **kw)


def sml_run_popen(*args, **kw):
    return popen([SML_RUN, *args], **kw)


# -------------------------------------------------------------------- testbed
class Testbed:
    """A testbed of this process's own; see tests/testbed/README.md for what a host is."""

    live = []
    _number = itertools.count()

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

    def _call(self, *argv, timeout=120):
        done = run([sys.executable, TESTBED, "--name", self.name, *argv], timeout=timeout)
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

    def exec(self, host, argv, *, user="root", env=None, cwd="/", timeout=60, input=None, binary=False):
        """Runs argv as if logged in there; answers Completed. Its status is the command's, 128+n for a signal."""
        return run(self._exec_argv(host, argv, user, env, cwd), timeout=timeout, input=input, binary=binary)

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
        return pathlib.Path(self._call("path", "--log", host).strip()).read_text(errors="replace")

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
        self._call("delay", *(hosts or self.names()), str(ms))

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

    def assert_clean(self, within=5.0, hosts=()):
        """Fails unless all user processes are gone from the hosts in time."""
        def gone():
            own_processes()  # what we killed together with its `testbed exec` is ours to wait for
            return not self._user_processes(hosts)

        left = not poll(gone, patience(within)) and self._user_processes(hosts)
        if left:
            rows = "\n".join(f"  {p['host']} {p['pid']} {p['state']} {p['cmd']}" for p in left)
            self.kill_processes(left)
            raise AssertionError(f"left on the hosts after {within} s:\n{rows}")

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
    timeout_s = None            # the watchdog's patience when it is to differ from run.py's --timeout
    clean_within = 5.0          # seconds that the last processes may take to go
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
        left = not poll(lambda: not own_processes(), self.clean_within) and own_processes()
        if left:
            problems.append("processes left here:\n" + "\n".join(f"  {pid} {cmd}" for pid, cmd in left))
            kill_own_processes()
        for bed in Testbed.live:
            try:
                bed.assert_clean(self.clean_within)
            except AssertionError as e:
                problems.append(str(e))
            files = poll(lambda: [] if bed.files_left(self.allowed_files) else ["none"], 1) or None
            if files is None:
                problems.append("files left on the hosts:\n  " + "\n  ".join(bed.files_left(self.allowed_files)))
        if not poll(lambda: not Cgroups.left(), self.clean_within):
            problems.append("cgroups left:\n  " + "\n  ".join(map(str, Cgroups.left())))
            Cgroups.remove_left()
        if problems:
            self.fail("\n".join(problems))

    def temporary_directory(self):
        """A directory of this test's own, removed afterwards. (Not visible on testbed hosts.)"""
        return pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="sml-e2e-")))

    def assert_within(self, done, seconds):
        self.assertLess(done.seconds, patience(seconds))

    def assert_status(self, done, status):
        self.assertEqual(done.returncode, status, f"\n{done}")


class HostsCase(TestCase):
    """Tests that share a testbed of `hosts` hosts, `bed`."""

    hosts = 2
    sshd = ()  # lines for every sshd_config

    @classmethod
    def setUpClass(cls):
        cls.bed = cls.enterClassContext(Testbed())
        cls.bed.up(cls.hosts, sshd=cls.sshd)
