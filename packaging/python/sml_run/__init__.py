"""sml-run from Python: where the program is, a job with its report, and a function on many ranks.

    import sml_run
    sml_run.path()                                 # the program
    done = sml_run.run(["-np", "2", "hostname"])   # done.status, done.report
    ranks = sml_run.launch(train, 0.1, nproc=4)    # what train(0.1) returned on each rank

`python3 -m sml_run ...` is the program itself. `sml_run.sagemaker` has the class for SageMaker's ModelTrainer.
"""
import importlib
import os

__all__ = ["path", "run", "launch", "Completed", "Report", "Results", "LaunchError", "RankFailed", "RemoteError",
           "RemoteTraceback"]

# Imported at their first use: a worker, and who only wants the path, need none of them.
_LATER = {"run": "_run", "Completed": "_run", "Report": "_report", "launch": "_launch", "Results": "_launch",
          "LaunchError": "_errors", "RankFailed": "_errors", "RemoteError": "_errors", "RemoteTraceback": "_errors"}
_passed_over = set()  # programs of which it has been said


def path():
    """The program sml-run that was installed with this package, else the first one in PATH, but none that another user could
    have put there. FileNotFoundError if there is neither."""
    here = folder = os.path.dirname(os.path.realpath(__file__))
    folders = []
    # PREFIX/lib/python3.N/site-packages/sml_run, or DIR/sml_run of `pip install --target DIR`
    for _ in range(4):
        folder = os.path.dirname(folder)
        folders.append(os.path.join(folder, "bin"))
    for folder in folders + os.get_exec_path():
        program = os.path.join(folder, "sml-run")
        if _is_program(program) and _is_trusted(program):
            # An empty element of PATH is the working directory. A name alone would be looked up again, in all of PATH.
            return program if os.path.isabs(program) else os.path.join(os.getcwd(), program)
    raise FileNotFoundError(f"there is no program sml-run beside {here} or in PATH; install it with: pip install sml-run")


def _is_program(file):
    return os.path.isfile(file) and os.access(file, os.X_OK)


def _is_trusted(file):
    """Says once why not."""
    from ._trust import obstacle
    why = obstacle(file)
    if why and file not in _passed_over:
        _passed_over.add(file)
        os.write(2, f"sml_run: {file} is not run, as {why}\n".encode("utf-8", "replace"))
    return not why


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)


def __dir__():
    return sorted(__all__)
