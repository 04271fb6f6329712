"""deny.py ERRNO FIRST LAST COMMAND...: the command, with system calls of these numbers (x86-64) answered by that error."""
import ctypes
import errno
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_AT_LEAST, JUMP_IF_ABOVE, RETURN = 0x20, 0x35, 0x25, 0x06
RETURNS_ERRNO, ALLOWS = 0x00050000, 0x7FFF0000


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def deny(error, first, last):
    rows = [(LOAD, 0, 0, 0), (JUMP_IF_AT_LEAST, 0, 2, first), (JUMP_IF_ABOVE, 1, 0, last), (RETURN, 0, 0, RETURNS_ERRNO | error),
            (RETURN, 0, 0, ALLOWS)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in rows))
    program = Program(len(rows), ctypes.cast(text, ctypes.c_void_p).value)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program)) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


deny(getattr(errno, sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
os.execvp(sys.argv[4], sys.argv[4:])
