"""sml_run.run(): a job, by the words of the command line."""
import dataclasses
import os
import signal
import subprocess
import sys
from typing import Optional

from . import _files, _process, _report, path

_OURS = ("ps", "status", "stop", "signal", "stacks", "logs", "top")  # words that start no job


@dataclasses.dataclass(frozen=True)
class Completed:
    """How a job ended. `report` is None where no job was started, as with --dry-run, and where the words are wrong."""
    status: int
    report: Optional[_report.Report] = None

    def check(self):
        """Raises LaunchError unless the status is 0; returns this."""
        if self.status != 0:
            from ._errors import LaunchError
            said = self.report.verdict if self.report else "its reason is in its output"
            raise LaunchError(f"sml-run ended with status {self.status}: {said}", self.status, self.report)
        return self


def _is_inherited(stream, fd):
    """Whether a stream of Python is the descriptor that a child would write to."""
    try:
        return stream.fileno() == fd
    except (AttributeError, OSError, ValueError):
        return False


def _own_report(words):
    """The file of the user's own --report."""
    for i, word in enumerate(words):
        if word == "--":
            break
        if word == "--report" and i + 1 < len(words):
            return words[i + 1]
        if word.startswith("--report="):
            return word.partition("=")[2]
    return None


def run(words, env=None):
    """Runs `sml-run WORDS...` and returns Completed. `words` is a list of any words of the command line; none of them is
    read by a shell. `env` is the environment of sml-run, by default that of this process. Output goes where this
    process's goes, in a notebook too. After Ctrl-C the job is stopped, and KeyboardInterrupt raised."""
    if isinstance(words, (str, bytes)):
        raise TypeError('words is a list, such as ["-np", "2", "hostname"]')
    words = [os.fspath(word) if isinstance(word, os.PathLike) else str(word) for word in words]
    with _files.File() as file:
        before = [] if words[:1] and words[0] in _OURS else ["--report", file.path]
        line = [path(), *before, *words]
        if _is_inherited(sys.stdout, 1) and _is_inherited(sys.stderr, 2):
            sys.stdout.flush()
            status = _plain(line, env, file.fd)
        else:
            status = _process.run(line, env=env, inherited=(file.fd,), stdin=None if _is_inherited(sys.stdin, 0) else subprocess.DEVNULL)
        own = _own_report(words)
        report = _report.read(own) if own else _report.of(file.read())
    return Completed(status, report)


def _plain(line, env, report):
    """In the terminal of this process, whose signals both get."""
    child = subprocess.Popen(line, env=env, pass_fds=(report,), preexec_fn=_process.end_with(os.getpid()))
    interrupted = False
    while True:
        try:
            child.wait()
            break
        except KeyboardInterrupt:
            interrupted = True
            child.send_signal(signal.SIGINT)  # one stop, where the terminal has sent it, too
    if interrupted:
        raise KeyboardInterrupt
    return child.returncode if child.returncode >= 0 else 128 - child.returncode
