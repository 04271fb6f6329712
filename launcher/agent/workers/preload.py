# Imports modules once, then forks a worker for each request of the agent (launcher/agent/workers/preload.cc). Descriptor 3 held
# this script, 4 is a socket to the agent. A message is its length (4 bytes, little endian), then strings, each with its
# length before it. The first message names the modules to import; the reply is "ready" or an error. Each later message
# requests a worker, which starts its program when a byte arrives on the last of its descriptors: then the agent has
# received its process id. This process exits when the socket closes. The working directory, which -c puts first in
# sys.path, has been removed from it already.
import _signal, _socket, ctypes, fcntl, gc, importlib.machinery, importlib.util, os, pkgutil, runpy, sys

ME = sys._getframe().f_code.co_filename
AGENT = os.getppid()
RESERVED = range(3, 16)  # numbers for the descriptors that workers get from services
MOST = 16 + 1  # most descriptors of a message: these, the standard ones, and the last
SEIZED = ("/dev/nvidia", "/dev/kfd", "/dev/dri", "/dev/accel", "/dev/neuron", "/dev/hl", "/dev/infiniband", "socket:")
# Modules that are otherwise imported at their first use, in the first step of training.
PUT_OFF = {"torch": ("torch._dynamo",)}
NOTICES = (_signal.SIGUSR1, _signal.SIGUSR2, _signal.SIGALRM, _signal.SIGPWR, _signal.SIGXCPU)  # common/core/stop_signals.h
channel = None
libc = ctypes.CDLL(None, use_errno=True)


def read(size):
    data, fds = b"", []
    while len(data) < size:
        part, extra, _, _ = channel.recvmsg(size - len(data), _socket.CMSG_SPACE(4 * MOST))
        if not part:
            os._exit(0)
        data += part
        for _, _, numbers in extra:
            fds += [int.from_bytes(numbers[i:i + 4], sys.byteorder) for i in range(0, len(numbers) - 3, 4)]
    return data, fds


def hear():
    head, fds = read(4)
    body, more = read(int.from_bytes(head, "little"))
    out, at = [], 0
    while at < len(body):
        size = int.from_bytes(body[at:at + 4], "little")
        out.append(body[at + 4:at + 4 + size])
        at += 4 + size
    return out, fds + more


def say(text):
    data = text.encode("utf-8", "replace")[:4000]
    channel.sendall(len(data).to_bytes(4, "little") + data)


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def ignore(signo, frame):
    pass


def begin():
    global channel
    for signo in NOTICES:
        _signal.signal(signo, ignore)
    channel = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, fcntl.fcntl(4, fcntl.F_DUPFD_CLOEXEC, 64))
    for fd in RESERVED:
        os.dup2(0, fd, False)


# Returns why a fork of this process would differ from a process that has imported the same modules; "" if it would not.
def doubt():
    fork = os.fork()  # libraries that support fork end their threads before it; such threads do not count
    if fork == 0:
        os._exit(0)
    os.waitpid(fork, 0)
    task = "/proc/self/task/"
    names = []
    for thread in os.listdir(task):
        if int(thread) != os.getpid():
            with open(task + thread + "/comm") as f:
                names.append(f.read().strip())
    if names:
        return "they leave %d threads running (%s), which a fork would not have" % (len(names), ", ".join(sorted(set(names))[:5]))
    for fd in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink("/proc/self/fd/" + fd)
        except OSError:
            continue
        if target.startswith(SEIZED) and int(fd) != channel.fileno():
            return "they leave %s open, which workers cannot share" % ("a socket" if target.startswith("socket") else target)
    children = task + "%d/children" % os.getpid()
    if os.path.exists(children):
        with open(children) as f:
            if f.read().strip():
                return "they leave a process running, which each worker would take for its own"
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized():
        return "they have begun to speak MPI"
    return ""


# The path of a script as Python itself puts it in __file__ and tracebacks.
def place_of(program):
    if sys.version_info < (3, 9) or os.path.isabs(program):
        return program
    return os.getcwd() + "/" + program


def first_path(runs, program):
    if runs == "module":
        return os.getcwd()
    return place_of(program) if pkgutil.get_importer(program) else os.path.dirname(os.path.realpath(program))


def prepare():
    words, _ = hear()
    runs, program, names = words[0].decode(), os.fsdecode(words[1]), [w.decode() for w in words[2:]]
    if not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated):
        sys.path.insert(0, first_path(runs, program))
    try:
        for name in names:
            importlib.import_module(name)
            for more in PUT_OFF.get(name, ()):
                if importlib.util.find_spec(more):
                    importlib.import_module(more)
    except BaseException as e:
        flush()
        say("they cannot be imported: %s: %s" % (type(e).__name__, e))
        return False
    flush()
    why = doubt()
    gc.collect()
    if hasattr(gc, "freeze"):
        gc.freeze()  # keeps memory pages shared after a fork
    say(why or "ready")
    return not why


# Sets what ps and /proc/PID/environ show, as if the worker had been executed. If the kernel refuses, nothing changes.
def show(argv, environment):
    try:
        with open("/proc/self/stat", "rb") as f:
            field = [0] * 2 + f.read().rpartition(b")")[2].split()
        at = [int(field[i - 1]) for i in (26, 27, 45, 46, 47)]
        one, two = b"\0".join(argv) + b"\0", b"\0".join(environment) + b"\0"
        show.kept = memory = ctypes.create_string_buffer(one + two)
        begin = ctypes.addressof(memory)
        middle, end = begin + len(one), begin + len(one) + len(two)
        libc.sbrk.restype = ctypes.c_void_p
        table = (ctypes.c_uint64 * 13)(*at, libc.sbrk(0), int(field[27]), begin, middle, middle, end, 0, 0xffffffff << 32)
        libc.prctl(35, 14, ctypes.byref(table), ctypes.c_ulong(ctypes.sizeof(table)), ctypes.c_ulong(0))  # PR_SET_MM_MAP
    except Exception:
        pass


# Makes a system call, given as a line of os::text_of() (common/os/affinity.h).
def ask_kernel(call):
    def argument(text):
        words = [int(n) for n in text.strip(b"@").split(b",")]
        return (ctypes.c_ulong * len(words))(*words) if text[:1] == b"@" else ctypes.c_long(words[0])
    if libc.syscall(*map(argument, call.split())) < 0:
        raise OSError(ctypes.get_errno(), "")


# Runs in the new process. Returns the step that failed (common/core/exit_status.h) and its errno, or None.
def settle(folder, calls, fds):
    os.setpgid(0, 0)
    for signo in NOTICES:
        if _signal.getsignal(signo) is ignore:  # else an imported module has its own
            _signal.signal(signo, _signal.SIG_DFL)
    libc.prctl(1, ctypes.c_ulong(9), 0, 0, 0)  # PR_SET_PDEATHSIG, SIGKILL
    if os.getppid() != AGENT:
        os._exit(127)
    step = 0
    try:
        for number, fd in enumerate(fds):
            os.dup2(fd, number)
        for fd in fds + list(RESERVED[len(fds) - 3:]):
            os.close(fd)
        step = 2
        os.chdir(folder)
        step = 5
        for call in calls.splitlines():
            ask_kernel(call)
    except OSError as e:
        return step, e.errno
    return None


# Renews what every executed process starts with: its environment, random seeds and authentication key.
def renew(environment):
    os.environ.clear()
    for entry in environment:
        name, _, value = entry.partition(b"=")
        try:
            os.environb[name] = value
        except (OSError, ValueError):
            pass
    for name in ("random", "numpy.random"):
        if name in sys.modules:
            sys.modules[name].seed()
    if "torch" in sys.modules:
        sys.modules["torch"].default_generator.seed()  # the CPU's; those of devices start alike in every process
    if "multiprocessing.process" in sys.modules:
        sys.modules["multiprocessing.process"].current_process().authkey = os.urandom(32)


def fork(ready):
    try:
        return os.fork()
    except OSError as e:
        os.write(ready, b"0 1 %d" % e.errno)
        return -1


# Forks workers on request. Returns only in a worker, with the program that it has to run.
def serve():
    while True:
        (runs, folder, calls, argc, wordc, *rest), (*fds, begins) = hear()
        argc, wordc = int(argc), int(wordc)
        argv, words, environment = rest[:argc], rest[argc:argc + wordc], rest[argc + wordc:]
        flush()
        go, ready = os.pipe(), os.pipe()
        between = fork(ready[1])  # exits at once, so that its child becomes a child of the agent, a subreaper
        if between == 0:
            if fork(ready[1]) != 0:
                os._exit(0)
            os.close(go[1])
            os.close(ready[0])
            os.write(ready[1], b"%d" % os.getpid())
            if not os.read(go[0], 1):
                os._exit(127)
            fault = settle(folder, calls, fds)
            if fault:
                os.write(ready[1], b" %d %d" % fault)
                os._exit(127)
            renew(environment)
            show(argv, environment)
            os.close(go[0])
            os.close(ready[1])
            channel.close()
            if not os.read(begins, 1):
                os._exit(127)  # the agent has started another worker instead
            os.close(begins)
            return runs.decode(), [os.fsdecode(w) for w in argv], [os.fsdecode(w) for w in words]
        os.close(go[0])
        os.close(ready[1])
        if between > 0:
            os.waitpid(between, 0)
        os.write(go[1], b"g")
        answer = b""
        for part in iter(lambda: os.read(ready[0], 100), b""):
            answer += part
        for fd in [go[1], ready[0], begins] + fds:
            os.close(fd)
        say(answer.decode())


def run_script(program):
    if pkgutil.get_importer(program):
        return runpy._run_module_as_main("__main__", False)
    path = place_of(program)
    try:
        with open(program, "rb") as f:
            text = f.read()
    except OSError as e:
        sys.stderr.write("%s: can't open file %r: [Errno %d] %s\n" % (sys.executable, path, e.errno, e.strerror))
        sys.exit(2)
    main = sys.modules["__main__"].__dict__
    main.update(__file__=path, __cached__=None, __loader__=importlib.machinery.SourceFileLoader("__main__", path))
    exec(compile(text, path, "exec", 0, True), main)


def run(runs, argv, words):
    sys.argv = words
    if hasattr(sys, "orig_argv"):
        sys.orig_argv = argv
    try:
        if runs == "module":
            name, sys.argv[0] = words[0], "-m"
            runpy._run_module_as_main(name)
        else:
            run_script(words[0])
    except SystemExit:
        raise
    except BaseException as e:  # the traceback leaves out this file; then Python exits as usual
        trace = e.__traceback__
        while trace and trace.tb_frame.f_code.co_filename == ME:
            trace = trace.tb_next
        sys.excepthook(type(e), e.with_traceback(trace), trace)
        sys.excepthook = lambda *_: None
        raise


begin()
if prepare():
    run(*serve())
