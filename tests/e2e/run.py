#!/usr/bin/python3
"""Runs the end-to-end tests: tests/e2e/run.py [-k PATTERN] [--timeout S] [--counts FILE] [MODULE...]

Prints every test with its duration, the reason of every skip, and a last line with the counts. A watchdog fails each
test (and each class's set-up) that takes longer than its time. Writes nothing into the source tree. The tests of root
have a network of their own, unless a module that is loaded says NEEDS_THE_NETWORK: something is fetched, or names are
looked up.
"""
import argparse
import faulthandler
import os
import pathlib
import signal
import sys
import time
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
# Modules are known by their name alone; those of ../frameworks and ../release run when they are named.
sys.path[:0] = [str(HERE), str(HERE / "security"), str(HERE.parent / "frameworks"), str(HERE.parent / "release")]
import harness  # noqa: E402


class TookTooLong(Exception):
    pass


class Result(unittest.TestResult):
    def __init__(self, timeout):
        super().__init__()
        self.timeout = timeout
        self.passed = 0
        self.failed = 0
        self._is_bad = False
        self._started = time.monotonic()
        signal.signal(signal.SIGALRM, self._alarm)
        self._arm(None)

    def _arm(self, test):
        self._limit = getattr(test, "timeout_s", None) or self.timeout
        self._armed = time.monotonic()
        # Again every 20 s, in case a clean-up swallows the first one.
        signal.setitimer(signal.ITIMER_REAL, self._limit, 20)

    def _alarm(self, *_):
        if time.monotonic() - self._armed < min(harness.patience(self._limit), 3 * self._limit):
            return  # a busy machine; it comes again
        faulthandler.dump_traceback(sys.stdout)
        raise TookTooLong(f"took longer than {self._limit} s")

    def startTest(self, test):
        super().startTest(test)
        self._arm(test)
        self._started = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self._arm(None)
        self._is_bad = False

    def _say(self, word, test, more=""):
        name = test.id() if hasattr(test, "id") else str(test)
        print(f"{word:4} {time.monotonic() - self._started:7.2f} s  {name}{more}", flush=True)

    def addSuccess(self, test):
        if not self._is_bad:
            self.passed += 1
            self._say("ok", test)

    def _bad(self, test, err):
        if isinstance(test, unittest.TestCase):  # else the set-up of a class or module
            again, self._is_bad = self._is_bad, True
        else:
            again = False
        self.failed += not again  # one test is one failure, however much is wrong with it
        self._say("FAIL", test)
        print("    " + self._exc_info_to_string(err, test).replace("\n", "\n    "), flush=True)

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
        self._say("skip", test, f"  ({reason})")

    def addExpectedFailure(self, test, err):
        self._bad(test, err)  # a known failure is a failure

    def addUnexpectedSuccess(self, test):
        self.addSuccess(test)


def heed_signals():
    """A shell's background jobs, and nohup's, ignore signals that the tests send, and all they start inherits that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for signo in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(signo, signal.SIG_DFL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", metavar="PATTERN", action="append", help="only tests whose name holds this (or fnmatch)")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one test (default 120)")
    parser.add_argument("--counts", metavar="FILE", help="write 'PASSED FAILED SKIPPED' there")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="e.g. test_ssh; default: all")
    a = parser.parse_args()

    heed_signals()
    harness.Cgroups.enter()
    loader = unittest.TestLoader()
    if a.k:
        loader.testNamePatterns = [p if "*" in p else f"*{p}*" for p in a.k]
    if a.modules:
        suite = loader.loadTestsFromNames([pathlib.Path(m).stem if m.endswith(".py") else m for m in a.modules])
    else:
        suite = loader.loadTestsFromNames(sorted(p.stem for p in HERE.rglob("test_*.py")))
    if os.geteuid() == 0 and not any(hasattr(module, "NEEDS_THE_NETWORK") for module in list(sys.modules.values())):
        harness.enter_own_network()
    result = Result(a.timeout)
    begin = time.monotonic()
    suite.run(result)
    signal.setitimer(signal.ITIMER_REAL, 0)
    harness.kill_own_processes()  # what a test that was too slow may have left
    skipped = len(result.skipped)
    if a.counts:
        pathlib.Path(a.counts).write_text(f"{result.passed} {result.failed} {skipped}\n")
    print(f"e2e: {result.passed} passed, {result.failed} failed, {skipped} skipped in {time.monotonic() - begin:.1f} s")
    return 1 if result.failed else 0


if __name__ == "__main__":
    sys.exit(main())
