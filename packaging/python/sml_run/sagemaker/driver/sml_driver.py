"""Runs in the container of a training job of SageMaker's SDK v3, in the place of torchrun_driver.py: unpacks sml-run for
this processor and becomes `sml-run train`. S3 keeps no modes, and /tmp may allow no programs: the program is unpacked into
memory, or where that is forbidden, into a folder from which it can be run. For Python 3.6 and later; imports nothing else.
"""
import json
import os
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
BASE = os.environ.get("SAGEMAKER_BASE_DIR", "")
FAILURE = BASE + "/opt/ml/output/failure"
LONGEST = 1024  # characters that the platform shows
FOLDERS = ("/dev/shm", os.environ.get("TMPDIR", "/tmp"), "/tmp", "/var/tmp", os.path.expanduser("~"), "/opt/ml/input/data")


class Refusal(Exception):
    """The job cannot be started; the text says why."""


def settings():
    """What the class SmlRun has written."""
    file = os.path.join(os.path.dirname(HERE), "distributed.json")
    try:
        with open(file, encoding="utf-8") as source:
            return json.load(source) or {}
    except (OSError, ValueError) as error:
        raise Refusal("%s, the settings of SmlRun, cannot be read: %s" % (file, error))


def plain(text):
    return text.replace("%27", "'").replace("%25", "%")


def words_of(values):
    """The options of sml-run. process_count_per_node is read from the file by sml-run itself."""
    words = []
    for key, option in (("preset", "--preset"), ("binding", "--bind-to"), ("max_restarts", "--max-restarts"),
                        ("spares", "--spares"), ("min_hosts", "--min-hosts")):
        if values.get(key):
            words += [option, plain(str(values[key]))]
    for name in sorted(values.get("environment") or {}):
        os.environ[plain(name)] = plain(values["environment"][name])
        words += ["-x", plain(name)]
    return words + [plain(word) for word in values.get("options") or []]


def program():
    """The bytes of sml-run."""
    machine = os.uname().machine
    there = sorted(name[len("sml-run-"):-len(".gz")] for name in os.listdir(HERE) if name.startswith("sml-run-") and name.endswith(".gz"))
    if machine not in there:
        raise Refusal("this container runs on %s, and the job brings sml-run for %s only: give the file of the other as "
                      "SmlRun(programs=[...]), such as that of a release for %s" % (machine, ", ".join(there) or "none", machine))
    file = os.path.join(HERE, "sml-run-%s.gz" % machine)
    try:
        with open(file, "rb") as packed:
            return zlib.decompress(packed.read(), 31)  # a gzip file
    except (OSError, zlib.error) as error:
        raise Refusal("%s, which the SDK has sent, is damaged: %s" % (file, error))


def write(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]


def start_from_memory(data, words):
    """Does not return, unless programs cannot be run like that here; returns why."""
    if not hasattr(os, "memfd_create"):
        return "memory: this Python has no memfd_create"
    MFD_CLOEXEC, MFD_EXEC = 1, 16
    try:
        try:
            fd = os.memfd_create("sml-run", MFD_CLOEXEC | MFD_EXEC)
        except OSError:  # a kernel before 6.3
            fd = os.memfd_create("sml-run", MFD_CLOEXEC)
        write(fd, data)
        os.execv("/proc/self/fd/%d" % fd, words)
    except OSError as error:
        return "memory: %s" % error.strerror


def start_from_file(data, words):
    """The same, from a file that has lost its name before it runs, so that nothing is left of it."""
    import tempfile
    reasons = []
    for where in FOLDERS:
        try:
            fd, file = tempfile.mkstemp(prefix="sml-run-", dir=where)
            try:
                write(fd, data)
                os.fchmod(fd, 0o500)
                ready = os.open("/proc/self/fd/%d" % fd, os.O_RDONLY)  # not by its name, which others may have taken
            finally:
                os.close(fd)
                os.unlink(file)
            os.execv("/proc/self/fd/%d" % ready, words)
        except OSError as error:
            reasons.append("%s: %s" % (where, error.strerror))
    return "; ".join(reasons)


def main():
    sys.stdout.flush()
    words = ["sml-run"] + words_of(settings()) + ["train"]
    data = program()
    reasons = [start_from_memory(data, words), start_from_file(data, words)]
    raise Refusal("sml-run cannot be run from anywhere in this container: %s" % "; ".join(reasons))


def tell(text):
    """The reason, for the platform, unless somebody has written one."""
    sys.stderr.write("sml-run: %s\n" % text)
    try:
        os.makedirs(os.path.dirname(FAILURE), exist_ok=True)
        if not os.path.exists(FAILURE) or os.path.getsize(FAILURE) == 0:
            with open(FAILURE, "w", encoding="utf-8") as file:
                file.write(text[:LONGEST])
    except OSError as error:
        sys.stderr.write("sml-run: %s: %s\n" % (FAILURE, error))


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        tell(str(refusal))
        sys.exit(1)
