"""sml_run.launch(): calls a function on many ranks, and returns what each returned."""
import base64
import functools
import importlib.util
import marshal
import os
import pickle
import secrets
import subprocess
import sys
import tempfile

from . import _errors, _frames, _process, _report, path

_IN_ENVIRONMENT = 384 << 10   # bytes of a call that travels as variables; a larger one is the input of each rank
_CHUNK = 96 << 10             # of a variable: the kernel takes no string of 128 KiB
_BEGIN = ("import os, marshal, binascii, _frozen_importlib_external as f; text, code = map(os.environ.pop, ('SMLRUN_TEXT', 'SMLRUN_CODE')); "
          "m = f.MAGIC_NUMBER.hex(); exec(marshal.loads(binascii.a2b_base64(code[len(m):])) if code.startswith(m) else text)")
# What would keep results from coming here, or input from the ranks.
_NOT_HERE = ("--quiet-workers", "--show-ranks", "--show-local-ranks", "--redirects", "--stdin", "-stdin", "--report", "--pty",
             "--dedup", "--collapse-cr", "--sanitize", "--array-file", "--dry-run", "--check", "--plan",
             "--preload", "--merge-stderr", "--tee")


class Results(list):
    """What the function returned, by rank: results[rank]. `report` is the report of the job."""

    def __init__(self, values, report=None):
        super().__init__(values)
        self.report = report


def launch(fn, *args, hosts=None, nproc=None, env=None, timeout=None, max_restarts=0, options=(), python=None,
           max_result=64 << 20, **kwargs):
    """Calls fn(*args, **kwargs) on every rank of a job of sml-run, and returns Results: what each rank returned.

    hosts         as for -H: "a:2,b:2", or a list of such words. Default: this machine, or the hosts of the batch job
    nproc         ranks of each host, a number or "gpu". Default: one for each slot
    env           further variables of the ranks
    timeout       seconds after which the job is ended, and TimeoutError raised
    max_restarts  when a rank fails, all begin anew, so often
    options       further words of the command line, such as ["--log-dir", "logs"]
    python        the interpreter on the hosts. Default: the one that runs this
    max_result    bytes that the result of a rank may have, pickled

    Raises the exception of the rank that failed first, with its traceback there as the cause (RemoteTraceback); RankFailed
    if that rank ended otherwise; LaunchError if the job could not be run. Ctrl-C ends the job.

    The function is sent by name, so it must be in a module that the ranks can import; with the package cloudpickle it may
    be any function, of a notebook too. It travels in the connections of the job, never in the words of a command.
    """
    if not callable(fn):
        raise TypeError(f"launch() calls a function, and {fn!r} is none")
    call = _pickled(fn, args, kwargs)
    token = secrets.token_hex(16)
    frames = _frames.Frames(token, max_result)
    with _report.File() as file:
        by_input = len(call) > _IN_ENVIRONMENT
        if by_input and max_restarts:
            raise ValueError(f"the function and its arguments have {len(call)} bytes; with max_restarts no more than "
                             f"{_IN_ENVIRONMENT} can be sent, as a rank reads its input once. Put the data into a file")
        variables = {"SMLRUN_TOKEN": token, "SMLRUN_LIMIT": str(max_result), **_worker(), **_variables_of(call, by_input), **{str(k): str(v) for k, v in (env or {}).items()}}
        words = [path(), "--report", file.path, *_words(hosts, nproc, timeout, max_restarts, by_input, options)]
        for name in variables:
            words += ["-x", name]
        words += ["--", python or sys.executable or "python3", "-c", _BEGIN]
        with tempfile.TemporaryFile() as source:
            source.write(call if by_input else b"")
            source.seek(0)
            status = _process.run(words, env={**_environment(), **variables}, filter_output=frames.take, inherited=(file.fd,),
                                  stdin=source if by_input else subprocess.DEVNULL)
        return _outcome(status, file.read(), frames, timeout)


@functools.lru_cache(maxsize=None)
def _worker():
    """The rank's program: its text, and for the same version of Python, whose start it makes quicker, its code."""
    with open(os.path.join(os.path.dirname(__file__), "_worker.py"), encoding="utf-8") as file:
        text = file.read()
    code = marshal.dumps(compile(text, "<sml_run>", "exec"))
    return {"SMLRUN_TEXT": text, "SMLRUN_CODE": importlib.util.MAGIC_NUMBER.hex() + base64.b64encode(code).decode()}


def _environment():
    """That of this process, without what would do the same as options that are refused."""
    unwanted = {"SML_" + option.lstrip("-").upper().replace("-", "_") for option in _NOT_HERE}
    return {name: value for name, value in os.environ.items() if name not in unwanted}


def _name_of(fn):
    return getattr(fn, "__qualname__", None) or type(fn).__qualname__


def _pickled(fn, args, kwargs):
    try:
        import cloudpickle
        how, dumps = "cloudpickle", cloudpickle.dumps
    except ImportError:
        how, dumps = "pickle", pickle.dumps
    if how == "pickle" and getattr(fn, "__module__", None) == "__main__":
        raise pickle.PicklingError(f"{_name_of(fn)} is a function of __main__ (a notebook, or the script itself), which the ranks "
                                   "cannot import: install cloudpickle (pip install cloudpickle), or put it into a module")
    try:
        body = dumps((fn, args, kwargs))
    except Exception as error:
        hint = "" if how == "cloudpickle" else "; with the package cloudpickle more can be sent"
        raise pickle.PicklingError(f"{_name_of(fn)} or its arguments cannot be sent to the ranks: {error}{hint}") from error
    folders = [os.path.abspath(folder) for folder in sys.path if folder and not folder.endswith(".zip")]
    return pickle.dumps((how, folders, body))


def _variables_of(call, by_input):
    if by_input:
        return {"SMLRUN_CALL": "0"}
    text = base64.b64encode(call).decode()
    chunks = [text[i:i + _CHUNK] for i in range(0, len(text), _CHUNK)]
    return {"SMLRUN_CALL": str(len(chunks)), **{f"SMLRUN_CALL_{i}": chunk for i, chunk in enumerate(chunks)}}


def _words(hosts, nproc, timeout, max_restarts, by_input, options):
    if isinstance(options, (str, bytes)):
        raise TypeError('options is a list of words, such as ["--log-dir", "logs"]')
    options = [str(word) for word in options]
    for word in options:
        if word == "--" or word.partition("=")[0] in _NOT_HERE:
            raise ValueError(f"options of launch() cannot have {word}: the ranks' input and output carry the function and its results")
    words = ["--stdin", "all" if by_input else "none"]
    if hosts is not None:
        words += ["-H", hosts if isinstance(hosts, str) else ",".join(map(str, hosts))]
    if nproc is not None:
        words += ["--nproc-per-node", str(nproc)]
    if timeout is not None:
        words += ["--timeout", f"{timeout}s"]
    if max_restarts:
        words += ["--max-restarts", str(max_restarts)]
    return words + options


def _loaded(rank, data):
    try:
        return pickle.loads(data)
    except Exception as error:
        raise _errors.RemoteError(f"what rank {rank} has sent cannot be read here: {type(error).__name__}: {error}", rank) from error


def _raise(rank, host, kind, data, status, report):
    """The exception of a rank."""
    said, trace, pickled = pickle.loads(data)
    cause = _errors.RemoteTraceback(f"rank {rank} on {host}:\n{trace}")
    if kind == "load":
        raise _errors.RemoteError(f"rank {rank} on {host} cannot load the function or its arguments: {said}. It imports modules by "
                                  "their names; what is in __main__ needs the package cloudpickle, there too", rank, host, status, report) from cause
    if kind == "unsent":
        raise _errors.RemoteError(f"the result of rank {rank} on {host} cannot be sent: {said}. Let the function return plain values, or "
                                  "write to a file and return its name", rank, host, status, report) from cause
    error = None
    if pickled is not None:
        try:
            error = pickle.loads(pickled)
        except Exception:
            error = None
    if not isinstance(error, BaseException):
        error = _errors.RemoteError(f"rank {rank} on {host} raised {said}", rank, host, status, report)
    if hasattr(error, "add_note"):
        error.add_note(f"raised by rank {rank} on {host}")
    raise error from cause


def _outcome(status, report, frames, timeout):
    failed = {rank: message for rank, message in frames.sent.items() if message[0] != "result"}
    culprit = report.culprit if report else None
    if status == 124 and timeout is not None and culprit is None:
        raise TimeoutError(f"the job did not end within {timeout} s")
    if status != 0 and culprit is not None and culprit.rank in failed:
        _raise(culprit.rank, culprit.host, *failed[culprit.rank], status, report)
    if status != 0 and culprit is not None:
        lines = "".join(f"\n  | {line}" for line in culprit.last_lines)
        raise _errors.RankFailed(f"{report.verdict}{lines}", culprit.rank, culprit.host, status, report)
    if failed and culprit is None:
        rank = min(failed)
        _raise(rank, "its host", *failed[rank], status, report)
    if status != 0:
        said = report.verdict if report and report.verdict else "its reason is in its output"
        raise _errors.LaunchError(f"sml-run ended with status {status}: {said}", status, report)
    hosts = {end.rank: end.host for end in report.ranks} if report else {}
    ranks = sorted(hosts) or sorted(frames.begun)
    for rank in ranks:
        if rank not in frames.sent:
            raise _errors.RankFailed(f"rank {rank} on {hosts.get(rank, 'its host')} ended with status 0 and without a result, as after "
                                     "sys.exit() or os._exit()", rank, hosts.get(rank), status, report)
    return Results([_loaded(rank, frames.sent[rank][1]) for rank in ranks], report)
