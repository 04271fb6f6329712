#!/usr/bin/python3
"""Runs the end-to-end tests: tests/e2e/run.py [--gate] [-k PATTERN] [--jobs N] [--counts FILE] [--times FILE] [MODULE...]

Prints every test with its duration, the reason of every skip, and a last line with the counts. Classes of tests are
dealt to N processes (by default as many as there are processors), those that took longest the last time first; each
process keeps one testbed (harness.Testbed.shared). A watchdog ends each test that hangs. Writes nothing into the source
tree. The tests of root have a network of their own, unless their module says NEEDS_THE_NETWORK: something is fetched,
or names are looked up.
"""
import argparse
import faulthandler
import json
import os
import pathlib
import signal
import struct
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
# Modules are known by their name alone; those of ../frameworks and ../release run when they are named.
sys.path[:0] = [str(HERE), str(HERE / "security"), str(HERE.parent / "frameworks"), str(HERE.parent / "release")]
import harness  # noqa: E402

UNKNOWN_S = 3  # how long a test is taken to last that has never run
WAITS = 3  # hangs in so many waits of one test end it, wherever it is


class Hangs(Exception):
    pass


class Result(unittest.TestResult):
    """Writes each test's outcome as a line of JSON to a file, and shows it."""

    def __init__(self, record):
        super().__init__()
        self._record = record
        self._is_bad = False
        self._started = time.monotonic()
        signal.signal(signal.SIGALRM, self._alarm)

    def _arm(self):
        # Again every 20 s, in case a clean-up swallows the first one.
        signal.setitimer(signal.ITIMER_REAL, WAITS * harness.watchdog(), 20)

    def _alarm(self, *_):
        faulthandler.dump_traceback(sys.stdout)
        raise Hangs("the test as a whole hangs")

    def begin_class(self, case):
        harness.Watchdog.times = getattr(case, "watchdog_times", 1)
        self._arm()

    def startTest(self, test):
        super().startTest(test)
        self._arm()
        self._is_bad = False
        self._started = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self._arm()

    def _tell(self, outcome, test, more=""):
        name = test.id() if hasattr(test, "id") else str(test)
        seconds = time.monotonic() - self._started
        write(self._record, json.dumps({"outcome": outcome, "test": name, "seconds": round(seconds, 2)}) + "\n")
        write(1, f"{outcome:4} {seconds:7.2f} s  {name}{more}\n")

    def addSuccess(self, test):
        if not self._is_bad:
            self._tell("ok", test)

    def _bad(self, test, err):
        text = "\n    " + self._exc_info_to_string(err, test).replace("\n", "\n    ").rstrip()
        again = isinstance(test, unittest.TestCase) and self._is_bad  # else the set-up of a class or module
        self._is_bad = self._is_bad or isinstance(test, unittest.TestCase)
        # One test is one failure, however much is wrong with it.
        self._tell("more" if again else "FAIL", test, text)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._bad(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self._bad(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._bad(subtest, err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._tell("skip", test, f"  ({reason})")

    def addExpectedFailure(self, test, err):
        self._bad(test, err)  # a known failure is a failure

    def addUnexpectedSuccess(self, test):
        self.addSuccess(test)


def write(fd, text):
    """In one piece, as other processes write there, too."""
    data = text.encode(errors="backslashreplace")
    while data:
        data = data[os.write(fd, data):]


# ------------------------------------------------------------------------------------------------ which tests, in which order
def flatten(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flatten(test)
        else:
            yield test


def is_in_gate(test):
    method = getattr(test, getattr(test, "_testMethodName", ""), None)
    if vars(type(test)).get("is_in_gate") is False:  # the same tests somewhere else
        return False
    return getattr(type(test), "is_in_gate", False) or getattr(method, "is_in_gate", False)


def classes_of(tests, times):
    """[[tests of one class, or of a module that is set up as a whole]]: those that took longest the last time first."""
    by_class = {}
    for test in tests:
        whole = hasattr(sys.modules.get(type(test).__module__), "setUpModule")
        by_class.setdefault(type(test).__module__ if whole else type(test), []).append(test)

    def seconds(group):
        return sum(times.get(test.id(), UNKNOWN_S) for test in group)

    return sorted(by_class.values(), key=seconds, reverse=True)


def needs_the_network(group):
    """Its module says so, or that of a class that it is made of."""
    return any(hasattr(sys.modules.get(case.__module__), "NEEDS_THE_NETWORK") for case in type(group[0]).__mro__)


# ------------------------------------------------------------------------------------------------------------ the processes
def heed_signals():
    """A shell's background jobs, and nohup's, ignore signals that the tests send, and all they start inherits that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for signo in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(signo, signal.SIG_DFL)


def work(groups, queue, record, own_network):
    """A process that takes classes from the queue until it is empty. The exit status 0 says that it came to the end."""
    harness.adopt_orphans()
    harness.Cgroups.enter()
    if own_network:
        harness.enter_own_network()
    result = Result(record)
    while number := os.read(queue, 4):
        group = groups[struct.unpack("I", number)[0]]
        write(record, json.dumps({"outcome": "begins", "tests": [test.id() for test in group]}) + "\n")
        result.begin_class(group[0])
        unittest.TestSuite(group).run(result)
    signal.setitimer(signal.ITIMER_REAL, 0)
    harness.kill_own_processes()  # what a test that was ended may have left


def start(groups, queue, record, own_network):
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        work(groups, queue, record, own_network)
        harness.leave()
        status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        os._exit(status)


def run(groups, jobs, record, own_network):
    """Deals the classes to so many processes; one that ends before its time is replaced."""
    if not groups:
        return
    queue, deal = os.pipe()
    os.write(deal, b"".join(struct.pack("I", i) for i in range(len(groups))))
    os.close(deal)
    living = {start(groups, queue, record, own_network) for _ in range(min(jobs, len(groups)))}
    while living:
        pid, status = os.wait()
        if pid in living:
            living.remove(pid)
            if status:
                living.add(start(groups, queue, record, own_network))
    os.close(queue)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gate", action="store_true", help="only tests that are marked for the gate")
    parser.add_argument("-k", metavar="PATTERN", action="append", help="only tests whose name holds this (or fnmatch)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes that run tests (default: one for each processor)")
    parser.add_argument("--counts", metavar="FILE", help="write 'PASSED FAILED SKIPPED' there")
    parser.add_argument("--times", metavar="FILE", help="times.json of the last run: what took longest begins first")
    parser.add_argument("--durations", metavar="FILE", help="append 'test<TAB>NAME<TAB>SECONDS' there")
    parser.add_argument("--list", action="store_true", help="print the names of the tests, and run none")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="e.g. test_ssh; default: all")
    a = parser.parse_args()

    heed_signals()
    loader = unittest.TestLoader()
    if a.k:
        loader.testNamePatterns = [p if "*" in p else f"*{p}*" for p in a.k]
    names = [pathlib.Path(m).stem if m.endswith(".py") else m for m in a.modules]
    suite = loader.loadTestsFromNames(names or sorted(p.stem for p in [*HERE.glob("test_*.py"), *HERE.glob("security/test_*.py")]))
    tests = [test for test in flatten(suite) if not a.gate or is_in_gate(test) or type(test).__module__ == "unittest.loader"]
    if a.list:
        print(*(test.id() for test in tests), sep="\n")
        return 0
    times = {}
    if a.times and os.path.exists(a.times):
        times = json.loads(pathlib.Path(a.times).read_text()).get("tests", {})
    groups = classes_of(tests, times)
    begin = time.monotonic()
    with tempfile.NamedTemporaryFile(buffering=0) as file:
        record = os.open(file.name, os.O_WRONLY | os.O_APPEND)
        for outside in (False, True):
            run([g for g in groups if needs_the_network(g) == outside], a.jobs, record, os.geteuid() == 0 and not outside)
        rows = [json.loads(line) for line in pathlib.Path(file.name).read_text().splitlines()]
    outcomes = {row["test"]: row["outcome"] for row in rows if row["outcome"] in ("ok", "skip")}
    told = {row["test"] for row in rows if row["outcome"] != "begins"}
    bad = {row["test"] for row in rows if row["outcome"] == "FAIL"}
    for test in tests:  # a process that died in the middle of a class has told nothing of the tests that were left
        case = f"{type(test).__module__}.{type(test).__qualname__}"
        if told.isdisjoint({test.id(), f"setUpClass ({case})", f"setUpModule ({type(test).__module__})"}) and \
                not any(name.startswith(test.id() + " ") for name in told):  # the name of a subtest
            bad.add(test.id())
            print(f"FAIL  {test.id()} did not run to its end")
    passed = sum(outcome == "ok" for outcome in outcomes.values())
    skipped = sum(outcome == "skip" for outcome in outcomes.values())
    if a.counts:
        pathlib.Path(a.counts).write_text(f"{passed} {len(bad)} {skipped}\n")
    if a.durations:
        with open(a.durations, "a") as file:
            file.writelines(f"test\t{row['test']}\t{row['seconds']}\n" for row in rows if row["outcome"] in ("ok", "FAIL"))
    print(f"e2e: {passed} passed, {len(bad)} failed, {skipped} skipped in {time.monotonic() - begin:.1f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
