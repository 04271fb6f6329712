"""A file system that stands still when a test wants it to, as that of a server that has gone: with FUSE, by this process."""
import contextlib
import ctypes
import errno
import os
import select
import stat
import struct
import threading
import unittest

LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE, RELEASE, FLUSH, INIT, ACCESS, CREATE, INTERRUPT, BATCH_FORGET = (
    1, 2, 3, 4, 14, 15, 16, 18, 25, 26, 34, 35, 36, 42)
NO_REPLY = (FORGET, BATCH_FORGET, INTERRUPT)
TOP = 1  # the number of the folder
# What is open is not kept in memory (FOPEN_DIRECT_IO), and can be closed while the server stalls (FOPEN_NOFLUSH): else the
# kernel would hold up the end of a process.
OPENED = struct.pack("<QII", 0, 1 | 32, 0)


class StallingFiles:
    """One folder of files, which are in `files`: name → bytes. The test's own process must not touch the folder."""

    def __init__(self, folder):
        self.folder, self.files, self.names = folder, {}, []
        self.asked = 0  # requests that have come
        self._goes, self._lock = threading.Event(), threading.Lock()
        self._goes.set()

    def __enter__(self):
        if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
            raise unittest.SkipTest("a file system of the test's own needs root and /dev/fuse")
        self.folder.mkdir()
        self._device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        data = f"fd={self._device},rootmode=40000,user_id=0,group_id=0,allow_other"
        self._libc("mount", b"stalling", os.fsencode(self.folder), b"fuse", 0, data.encode())
        self._server = threading.Thread(target=self._serve, daemon=True)
        self._server.start()
        return self

    def __exit__(self, *_):
        self.go_on()
        self._libc("umount2", os.fsencode(self.folder), 2)  # MNT_DETACH
        self._server.join()
        os.close(self._device)

    def stall(self):
        """No request is taken any more: whoever waits can be killed, as with NFS."""
        with self._lock:
            self._goes.clear()

    def is_waited_for(self):
        """Whether there is a request that has not been taken."""
        return bool(select.select([self._device], [], [], 0)[0])

    def go_on(self):
        self._goes.set()

    @staticmethod
    def _libc(name, *words):
        libc = ctypes.CDLL(None, use_errno=True)
        if getattr(libc, name)(*words) != 0:
            raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")

    def _serve(self):
        with contextlib.suppress(OSError):  # it is unmounted
            while True:
                select.select([self._device], [], [])
                with self._lock:
                    if self._goes.is_set():
                        self._reply(os.read(self._device, 1 << 18))
                self._goes.wait()

    def _reply(self, request):
        _, what, unique, node = struct.unpack_from("<IIQQ", request)
        self.asked += 1
        if what in NO_REPLY:
            return
        try:
            error, body = 0, self._answer(what, node, request[40:])
        except OSError as e:
            error, body = -e.errno, b""
        with contextlib.suppress(FileNotFoundError):  # whoever asked is dead
            os.write(self._device, struct.pack("<IiQ", 16 + len(body), error, unique) + body)

    def _answer(self, what, node, body):
        if what == INIT:
            return struct.pack("<IIIIHHIIHH32x", 7, 31, 1 << 16, 0, 16, 12, 1 << 16, 1, 16, 0)
        if what == LOOKUP:
            return self._entry(self._name(body))
        if what == CREATE:
            name = self._name(body[16:])
            self.files.setdefault(name, b"")
            return self._entry(name) + OPENED
        if what == SETATTR:
            valid, size = struct.unpack_from("<I", body)[0], struct.unpack_from("<Q", body, 16)[0]
            if valid & 8 and node != TOP:
                self.files[self.names[node - 2]] = self.files[self.names[node - 2]][:size]
        if what in (GETATTR, SETATTR):
            return struct.pack("<QII", 0, 0, 0) + self._attributes(node)
        if what == OPEN:
            return OPENED
        if what == READ:
            offset, size = struct.unpack_from("<QI", body, 8)
            return self.files[self.names[node - 2]][offset:offset + size]
        if what == WRITE:
            offset, size = struct.unpack_from("<QI", body, 8)
            old = self.files[self.names[node - 2]]
            self.files[self.names[node - 2]] = old[:offset].ljust(offset, b"\0") + body[40:40 + size] + old[offset + size:]
            return struct.pack("<II", size, 0)
        if what in (ACCESS, RELEASE, FLUSH):
            return b""
        raise OSError(errno.ENOSYS, "unknown")

    @staticmethod
    def _name(body):
        return body.split(b"\0", 1)[0].decode()

    def _entry(self, name):
        if name not in self.files:
            raise OSError(errno.ENOENT, name)
        if name not in self.names:
            self.names.append(name)
        node = self.names.index(name) + 2
        return struct.pack("<QQQQII", node, 0, 0, 0, 0, 0) + self._attributes(node)

    def _attributes(self, node):
        text = b"" if node == TOP else self.files[self.names[node - 2]]
        mode = stat.S_IFDIR | 0o755 if node == TOP else stat.S_IFREG | 0o644
        return struct.pack("<QQQQQQIIIIIIIIII", node, len(text), 1, 0, len(text), 0, 0, 0, 0, mode, 1, 0, 0, 0, 512, 0)
