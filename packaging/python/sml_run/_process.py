"""sml-run as a child process, whose output goes to sys.stdout and sys.stderr, wherever these lead: in a notebook they are
not descriptors 1 and 2."""
import codecs
import ctypes
import os
import selectors
import signal
import subprocess
import sys

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def end_with(parent):
    """A function for the child: when the thread that started it is no more, it is stopped as by a user."""
    def prepare():
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(143)
    return prepare


class Writer:
    """Passes bytes on to a text stream of Python, as they come."""

    def __init__(self, stream):
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, data):
        if self._stream is None:  # a process without a standard output
            return
        buffer = getattr(self._stream, "buffer", None)
        if buffer is not None:
            self._stream.flush()
            buffer.write(data)
        else:
            self._stream.write(self._decoder.decode(data))
        self._stream.flush()


def run(words, env=None, stdin=subprocess.DEVNULL, inherited=()):
    """Runs sml-run and returns its exit status, 128 and the number for a signal. `inherited` are further descriptors for it.
    On Ctrl-C sml-run is interrupted, as in a terminal, and KeyboardInterrupt is raised when the job is over; a second Ctrl-C
    kills the workers at once."""
    child = subprocess.Popen(words, env=env, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             pass_fds=inherited, start_new_session=True, preexec_fn=end_with(os.getpid()))
    interrupted = False
    out, err = Writer(sys.stdout), Writer(sys.stderr)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdout, selectors.EVENT_READ, out)
            selector.register(child.stderr, selectors.EVENT_READ, err)
            while selector.get_map():
                try:
                    for key, _ in selector.select():
                        _pass_on(key, selector)
                except KeyboardInterrupt:
                    interrupted = True
                    child.send_signal(signal.SIGINT)
        child.wait()
    finally:
        if child.poll() is None:  # what is shown cannot be written, or something else has gone wrong here
            child.terminate()
            _drain(child)
        child.stdout.close()
        child.stderr.close()
    if interrupted:
        raise KeyboardInterrupt
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _pass_on(key, selector):
    data = os.read(key.fd, 1 << 16)
    if data:
        key.data.write(data)
    else:
        selector.unregister(key.fileobj)


def _drain(child):
    """The job ends by itself now; nobody reads its output."""
    for stream in (child.stdout, child.stderr):
        while os.read(stream.fileno(), 1 << 16):
            pass
    child.wait()
