"""Files without a name, for what sml-run writes: nothing is left of them, whatever becomes of this process."""
import os


class File:
    """For an option of sml-run that takes a file."""

    def __init__(self, data=b""):
        self.file = _nameless()
        self.file.write(data)
        self.file.seek(0)
        self.fd = self.file.fileno()            # to be inherited by sml-run
        self.path = f"/proc/self/fd/{self.fd}"  # there

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def read(self):
        """All of it."""
        self.file.seek(0)
        return self.file.read()


def _nameless():
    try:  # as tempfile does, whose import takes longer than all else here
        return os.fdopen(os.open(os.environ.get("TMPDIR") or "/tmp", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600), "w+b")
    except OSError:
        import tempfile
        return tempfile.TemporaryFile()
