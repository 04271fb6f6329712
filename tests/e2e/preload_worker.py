"""What a worker is, as one line of JSON: preload_worker.py [WHAT]; WHAT is what it does then."""
import atexit
import json
import os
import random
import signal
import sys
import threading


def fail():
    try:
        {}["none"]
    except KeyError as e:
        raise ValueError("words") from e


def exe(pid):
    return os.path.basename(os.readlink(f"/proc/{pid}/exe"))


print(json.dumps({
    "argv": sys.argv, "orig_argv": getattr(sys, "orig_argv", None), "path0": sys.path[0], "file": __file__, "name": __name__,
    "spec": __spec__ and __spec__.name, "package": __package__, "doc": __doc__[:10], "cwd": os.getcwd(),
    "env": dict(os.environ), "descriptors": sorted(set(os.listdir("/proc/self/fd")), key=int)[:-1],
    "group": os.getpgid(0) == os.getpid() != os.getsid(0), "parent": exe(os.getppid()),
    "cmdline": open("/proc/self/cmdline").read().split("\0")[:-1], "threads": threading.active_count(),
    "main": threading.main_thread() is threading.current_thread(), "cpus": sorted(os.sched_getaffinity(0)), "nice": os.nice(0),
    "handlers": [str(signal.getsignal(s)) for s in (2, 13, 15, 25)], "mask": list(signal.pthread_sigmask(0, [])),
    "globals": sorted(globals()), "death": None, "umask": os.umask(0o22), "flags": str(sys.flags),
    "buffered": [sys.stdout.line_buffering, getattr(sys.stdout, "write_through", None)], "encoding": sys.stdout.encoding}))
print(json.dumps({"pid": os.getpid(), "random": random.random(), "imports": getattr(sys.modules.get("slow_module"), "PID", None)}))
atexit.register(print, "at exit")
what = sys.argv[1] if len(sys.argv) > 1 else ""
if what == "fail":
    fail()
if what == "interrupt":
    raise KeyboardInterrupt
if what == "words":
    sys.exit("last words")
if what == "status":
    sys.exit(7)
if what == "kill":
    os.kill(os.getpid(), signal.SIGSEGV)
if what == "hook":
    sys.excepthook = lambda kind, value, trace: print("hook", kind, value, trace.tb_frame.f_code.co_name)
    fail()
if what == "thread":
    threading.Thread(target=lambda: (threading.main_thread().join(), print("thread"))).start()
if what == "input":
    print(sys.stdin.read())
