"""sml_run.launch(): calls a function on many ranks, and returns what each returned."""
import binascii
import functools
import importlib.util
import json
import marshal
import os
import subprocess
import sys

try:
    import _pickle as pickle  # without the module around it, which takes longer to import than all else here
except ImportError:  # another Python than CPython
    import pickle

# What is imported here is part of the time that a launch takes: little.
from . import _files, _process, _results, _trust, path

_IN_ENVIRONMENT = 384 << 10   # bytes of a call that travels as variables; a larger one is the input of each rank
_CHUNK = 96 << 10             # of a variable: the kernel takes no string of 128 KiB
# The working directory, which -c puts first in sys.path, goes before anything is imported: it may contain anybody's modules.
_BEGIN = ("import sys; sys.path[:1] == [''] and sys.path.pop(0); "
          "import os, marshal, binascii, _frozen_importlib_external as f; text, code = map(os.environ.pop, ('SMLRUN_TEXT', 'SMLRUN_CODE')); "
          "m = f.MAGIC_NUMBER.hex(); parts = marshal.loads(binascii.a2b_base64(code[len(m):])) if code.startswith(m) else [text]; "
          "[exec(part, globals()) for part in parts]")
_SLACK = 1 << 20              # of what a rank may send beyond max_result: its traceback
# What would keep results or the report from coming here, or input from the ranks.
_NOT_HERE = ("--stdin", "-stdin", "--report", "--results", "--results-limit", "--array-file", "--dry-run", "--check", "--plan", "--preload")


class Results(list):
    """What the function returned, by rank: results[rank]."""

    def __init__(self, values, report=b""):
        super().__init__(values)
        self._report = report

    @property
    def report(self):
        """The report of the job."""
        from . import _report
        return _report.of(self._report)


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

    The function is sent by name, so it must be in a module that the ranks can import; with the package cloudpickle, here and
    there, it may be any function, of a notebook too. It travels in the connections of the job, never in the words of a command.
    """
    if not callable(fn):
        raise TypeError(f"launch() calls a function, and {fn!r} is none")
    call = _pickled(fn, args, kwargs)
    with _files.File() as report, _files.File() as results:
        by_input = len(call) > _IN_ENVIRONMENT
        if by_input and max_restarts:
            raise ValueError(f"the function and its arguments have {len(call)} bytes; with max_restarts no more than "
                             f"{_IN_ENVIRONMENT} can be sent, as a rank reads its input once. Put the data into a file")
        variables = {"SMLRUN_LIMIT": str(max_result), **_worker(), **_variables_of(call, by_input), **{str(k): str(v) for k, v in (env or {}).items()}}
        words = [path(), "--report", report.path, "--results", results.path, "--results-limit", str(max_result + _SLACK),
                 *_words(hosts, nproc, timeout, max_restarts, by_input, options)]
        for name in variables:
            words += ["-x", name]
        words += ["--", python or sys.executable or "python3", "-c", _BEGIN]
        with _files.File(call if by_input else b"") as source:
            status = _process.run(words, env={**_environment(), **variables}, inherited=(report.fd, results.fd),
                                  stdin=source.fd if by_input else subprocess.DEVNULL)
        results.file.seek(0)
        return _outcome(status, report.read(), results.file, timeout)


@functools.lru_cache(maxsize=None)
def _worker():
    """The rank's program: its text, and for the same version of Python, whose start it makes quicker, its code."""
    texts, codes = [], []
    for name in ("_trust", "_worker"):
        with open(os.path.join(os.path.dirname(__file__), name + ".py"), encoding="utf-8") as file:
            texts.append(file.read())
        name = f"{__package__}.{name}"
        codes.append(importlib.util.find_spec(name).loader.get_code(name))
    return {"SMLRUN_TEXT": "\n".join(texts), "SMLRUN_CODE": importlib.util.MAGIC_NUMBER.hex() + _as_text(marshal.dumps(codes))}


def _as_text(data):
    return binascii.b2a_base64(data, newline=False).decode()


def _environment():
    """That of this process, without what would do the same as options that are refused."""
    unwanted = {"SML_" + option.lstrip("-").upper().replace("-", "_") for option in _NOT_HERE}
    return {name: value for name, value in os.environ.items() if name not in unwanted}


def _name_of(fn):
    return getattr(fn, "__qualname__", None) or type(fn).__qualname__


def _by_name(what):
    """What plain pickle makes of it, or None if it cannot, or only with things of __main__, which the ranks do not have."""
    if "cloudpickle" in sys.modules:  # it may have been given modules to send by value; and its import costs nothing now
        return None
    try:
        body = pickle.dumps(what)
    except Exception:
        return None
    return None if b"__main__" in body else body


def _pickled(fn, args, kwargs):
    how, body = "pickle", _by_name((fn, args, kwargs))
    if body is None:
        how, body = _by_value(fn, args, kwargs)
    more = how == "cloudpickle" or importlib.util.find_spec("cloudpickle") is not None
    return pickle.dumps((how, more, _trust.place(), *_folders(), body))


def _folders():
    """Those of sys.path: before the folder of Python's own modules, such as that of the script, and after it."""
    own = os.path.dirname(os.__file__)
    folders = [_absolute(folder) for folder in sys.path if not folder.endswith(".zip")]
    at = folders.index(own) if own in folders else 0
    return [[folder for folder in some if folder] for some in (folders[:at], folders[at:])]


def _absolute(folder):
    try:
        return os.path.abspath(folder)
    except OSError:  # the working directory has been removed
        return None


def _by_value(fn, args, kwargs):
    try:
        import cloudpickle
        how, dumps = "cloudpickle", cloudpickle.dumps
    except ImportError:
        how, dumps = "pickle", pickle.dumps
    if how == "pickle" and getattr(fn, "__module__", None) == "__main__":
        raise pickle.PicklingError(f"{_name_of(fn)} is a function of __main__ (a notebook, or the script itself), which the ranks "
                                   "cannot import: install cloudpickle (pip install cloudpickle), or put it into a module")
    try:
        return how, dumps((fn, args, kwargs))
    except Exception as error:
        hint = "" if how == "cloudpickle" else "; with the package cloudpickle more can be sent"
        raise pickle.PicklingError(f"{_name_of(fn)} or its arguments cannot be sent to the ranks: {error}{hint}") from error


def _variables_of(call, by_input):
    if by_input:
        return {"SMLRUN_CALL": "0"}
    text = _as_text(call)
    chunks = [text[i:i + _CHUNK] for i in range(0, len(text), _CHUNK)]
    return {"SMLRUN_CALL": str(len(chunks)), **{f"SMLRUN_CALL_{i}": chunk for i, chunk in enumerate(chunks)}}


def _words(hosts, nproc, timeout, max_restarts, by_input, options):
    if isinstance(options, (str, bytes)):
        raise TypeError('options is a list of words, such as ["--log-dir", "logs"]')
    options = [str(word) for word in options]
    for word in options:
        if word == "--" or word.partition("=")[0] in _NOT_HERE:
            raise ValueError(f"options of launch() cannot have {word}: launch() uses it itself, or no results would come")
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
        from . import _errors
        raise _errors.RemoteError(f"what rank {rank} has sent cannot be read here: {type(error).__name__}: {error}", rank) from error


def _raise(rank, host, kind, data, status, report):
    """The exception of a rank."""
    from . import _errors
    said, trace, pickled = pickle.loads(data)
    cause = _errors.RemoteTraceback(f"rank {rank} on {host}:\n{trace}")
    if kind == _results.UNLOADED:
        raise _errors.RemoteError(f"rank {rank} on {host} cannot load the function or its arguments: {said}. It imports modules by "
                                  "their names; what is in __main__ needs the package cloudpickle, there too", rank, host, status, report) from cause
    if kind == _results.UNSENT:
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


def _outcome(status, written, file, timeout):
    """Results, if the job and every rank ended well; `written` is the report, and `file` has what the ranks have sent."""
    try:
        data = json.loads(written) if written.strip() else {}
    except ValueError:
        data = {}
    attempts = data.get("attempts") or [{}]
    sent = _results.read(file, attempts[-1].get("attempt"))
    hosts = {end["rank"]: end["host"] for end in data.get("ranks") or []}
    ranks = sorted(hosts) or sorted(sent)
    if status != 0 or any(rank not in sent or sent[rank][0] != _results.RESULT for rank in ranks):
        from . import _report
        _fail(status, _report.of(written), sent, hosts, timeout)
    return Results([_loaded(rank, sent[rank][1]) for rank in ranks], written)


def _fail(status, report, sent, hosts, timeout):
    from . import _errors
    failed = {rank: message for rank, message in sent.items() if message[0] != _results.RESULT}
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
    rank = min(rank for rank in hosts if rank not in sent)
    raise _errors.RankFailed(f"rank {rank} on {hosts[rank]} ended with status 0 and without a result, as after sys.exit() or os._exit()",
                             rank, hosts[rank], status, report)
