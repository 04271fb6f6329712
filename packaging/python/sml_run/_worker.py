"""A rank of sml_run.launch(). The text of this file travels with the job (SMLRUN_TEXT), after that of _trust.py, and is
executed by `python3 -c`, so that the other hosts need nothing but Python. It calls the function, and sends one message to the
descriptor that `sml-run --results` gives it (_results.py reads these): how it went, and a pickle."""


def joined(own, first, last, is_taken):
    """sys.path, with the folders that the caller searches before Python's own modules and after them. Of those that are not
    in it yet, the ones that is_taken() says."""
    more = [folder for folder in dict.fromkeys(first + last) if folder not in own and is_taken(folder)]
    first = [folder for folder in dict.fromkeys(first) if folder in own or folder in more]
    return first + [folder for folder in own if folder not in first] + [folder for folder in more if folder not in first]


def main():
    # Only what is quick to import: a rank's start is as long as that of Python.
    import os
    import sys
    from binascii import a2b_base64

    try:
        import _pickle as pickle
    except ImportError:  # another Python than CPython
        import pickle

    limit = int(os.environ.pop("SMLRUN_LIMIT"))
    out = int(os.environ.pop("SML_RESULTS_FD"))
    os.set_inheritable(out, False)  # of processes that the function starts

    def send(kind, data):
        for part in (kind + len(data).to_bytes(8, "big"), data):
            view = memoryview(part)
            while view:
                view = view[os.write(out, view):]

    def flush():
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass

    def load():
        count = int(os.environ.pop("SMLRUN_CALL"))
        if count:
            return a2b_base64("".join(os.environ.pop("SMLRUN_CALL_%d" % i) for i in range(count)))
        data = sys.stdin.buffer.read()
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        return data

    def text_of(error, whole=True):
        import traceback
        if whole:
            return "".join(traceback.format_exception(type(error), error, error.__traceback__))
        return "".join(traceback.format_exception_only(type(error), error)).strip()

    def tell(error):
        """The error file, from which sml-run takes the reason of the failure for its report."""
        file = os.environ.get("TORCHELASTIC_ERROR_FILE")
        if not file:
            return
        import json
        import time
        extra = {"py_callstack": text_of(error), "timestamp": str(int(time.time()))}
        try:
            with open(file, "w") as f:
                json.dump({"message": {"message": text_of(error, False), "extraInfo": extra}}, f)
        except OSError:
            pass

    def fail(error, kind, depth):
        """Sends an exception, without the frames of this file, and ends."""
        for _ in range(depth):
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                error.__traceback__ = error.__traceback__.tb_next
        text, said = text_of(error), text_of(error, False)
        flush()
        data = None
        try:
            data = dump(error)
            pickle.loads(data)  # some can be written and not read again
            if len(data) > limit:
                data = None
        except Exception:
            data = None
        send(kind, pickle.dumps((said[:4096], text[-65536:], data)))
        tell(error)
        os.write(2, text.encode("utf-8", "replace"))
        os._exit(1)

    def leave(signo):
        import signal
        flush()
        signal.signal(signo, signal.SIG_DFL)
        os.kill(os.getpid(), signo)

    more = False

    def take(folder):
        """Whether modules of the caller's folder are looked up here, too: on its own host as the caller does."""
        if not os.path.isdir(folder):
            return False
        why = "" if caller and caller == place() else obstacle(folder)
        if why and os.environ.get("LOCAL_RANK", "0") == "0":
            os.write(2, ("sml_run: no module is imported from %s, as %s\n" % (folder, why)).encode("utf-8", "replace"))
        return not why

    def dump(value):
        try:
            return pickle.dumps(value)
        except Exception:
            if not more:
                raise
            try:
                import cloudpickle
            except ImportError:
                cloudpickle = None
            if cloudpickle is None:
                raise
            return cloudpickle.dumps(value)

    try:
        how, more, caller, first, last, body = pickle.loads(load())
        sys.path[:] = joined(sys.path, first, last, take)
        if how == "cloudpickle":
            import cloudpickle
            dump = cloudpickle.dumps
        function, args, kwargs = pickle.loads(body)
    except KeyboardInterrupt:
        leave(2)
    except BaseException as error:
        fail(error, b"L", 1)
    try:
        result = function(*args, **kwargs)
    except KeyboardInterrupt:
        leave(2)
    except SystemExit:
        flush()
        raise
    except BaseException as error:
        fail(error, b"X", 1)
    try:
        data = dump(result)
        if "cloudpickle" in sys.modules:
            pickle.loads(data)
    except BaseException as error:
        fail(error, b"U", 2)
    if len(data) > limit:
        fail(ValueError("the result has %d bytes, more than max_result=%d" % (len(data), limit)), b"U", 0)
    # As Python's own exit, without its taking apart of all modules, which takes time, and where some libraries abort.
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()
    if "atexit" in sys.modules:
        try:
            sys.modules["atexit"]._run_exitfuncs()
        except BaseException as error:
            os.write(2, text_of(error).encode("utf-8", "replace"))
    flush()
    send(b"R", data)
    os._exit(0)


if __name__ == "__main__":
    main()
