"""Functions that test_python.py has called on ranks by sml_run.launch()."""
import atexit
import os
import sys
import threading
import time


class Odd(Exception):
    """Can be written by pickle, and not read."""

    def __init__(self, one, two):
        super().__init__(one)


class Held(Exception):
    def __init__(self):
        super().__init__("holds a file")
        self.file = open(os.devnull)


def rank():
    return int(os.environ["RANK"])


def place(word, times=1):
    print("out of", rank())
    print("err of", rank(), file=sys.stderr)
    sys.stdout.write("no end of line")
    return rank(), os.environ["SML_HOST"], word * times


def fails(which, how="raise"):
    if rank() != which:
        time.sleep(600)
    if how == "raise":
        raise KeyError("no such key")
    if how == "odd":
        raise Odd(1, 2)
    if how == "held":
        raise Held()
    if how == "exit":
        sys.exit(124)
    os.kill(os.getpid(), 9)


def fails_once():
    attempt = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
    if rank() == 1 and attempt == 0:
        raise ValueError("once")
    return attempt


def returns(what):
    return {"lambda": lambda: 1, "large": b"x" * (3 << 20), "class": Odd}[what]


def size(data):
    return len(data)


def floods(lines):
    for _ in range(lines):
        os.write(1, b"y" * 999 + b"\n")
    return rank()


def prints(mebibytes):
    line = b"y" * 1023 + b"\n"
    for _ in range(mebibytes):
        view = memoryview(line * 1024)
        while view:
            view = view[os.write(1, view):]
    return rank()


def has_no_output():
    """A daemon's way; and its process has others that hold what it holds."""
    for descriptor in (1, 2):
        os.close(descriptor)
    os.spawnlp(os.P_NOWAIT, "true", "true")
    return rank()


def waits(file):
    open(f"{file}.{rank()}", "w").close()
    time.sleep(600)


def begins_a_thread(word):
    """What is left to do when the function has returned is done before the rank ends."""
    atexit.register(print, word, "at exit of", rank())
    threading.Thread(target=lambda: (time.sleep(0.2), print(word, "by a thread of", rank(), flush=True))).start()
    return rank()


def leaves():
    sys.exit(0)


def token():
    return [name for name in os.environ if name.startswith(("SMLRUN_", "SML_RESULTS"))]


def same(what):
    return what
