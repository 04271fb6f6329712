#!/usr/bin/env python3
"""Counts test cases in the output of `ctest --verbose` or of a Catch2 program: prints "PASSED FAILED SKIPPED".

A ctest test that is a Catch2 program counts as its test cases, every other one as itself. A test that failed in any
other way than by a failed case (crash, time-out, sanitizer report) adds one failure.
"""
import re
import sys

CASES = re.compile(r"test cases:\s*(\d+)(.*)")
ALL_PASSED = re.compile(r"All tests passed \(.* in (\d+) test cases?\)")
RESULT = re.compile(r"^\s*\d+/\d+ Test\s+#(\d+): (\S+) \.*\s*(Passed|\*\*\*\S+|.*Not Run)")


SKIPPED = re.compile(r"^(?:\d+: )?\s+skipped: ", re.M)


def cases_of(text):
    """(passed, failed, skipped) as a Catch2 program sums them up; None when it does not. A case that warns that it is
    skipped (tests/support/skip.h) has not passed."""
    cases = summed_up(text)
    skips = len(SKIPPED.findall(text))
    return cases and (cases[0] - skips, cases[1], cases[2] + skips)


def summed_up(text):
    found = ALL_PASSED.search(text)
    if found:
        return int(found[1]), 0, 0
    found = CASES.search(text)
    if not found:
        return None
    part = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|skipped)", found[2])}
    return part.get("passed", 0), part.get("failed", 0), part.get("skipped", 0)


def count(text):
    total = [0, 0, 0]
    results = [m for m in map(RESULT.match, text.splitlines()) if m]
    for result in results:
        number, word = result[1], result[3]
        own = "\n".join(line for line in text.splitlines() if line.startswith(f"{number}: "))
        cases = cases_of(own)
        good = word == "Passed"
        if word.startswith("***Skipped"):
            cases = (0, 0, 1)
        elif cases is None:
            cases = (1, 0, 0) if good else (0, 1, 0)
        elif not good and cases[1] == 0:
            cases = (cases[0], 1, cases[2])
        total = [a + b for a, b in zip(total, cases)]
    return tuple(total) if results else cases_of(text)


def self_test():
    sample = """\
1: ...
1: All tests passed (12 assertions in 5 test cases)
1/5 Test #1: unit .............................   Passed    0.31 sec
2: test cases:  9 |  7 passed | 2 failed
2/5 Test #2: integration ......................***Failed    0.31 sec
3: All tests passed (1 assertion in 1 test case)
3: ==1==ERROR: AddressSanitizer
3/5 Test #3: late .............................***Failed    0.31 sec
4/5 Test #4: include_rules ....................   Passed    0.31 sec
5/5 Test #5: slow .............................***Timeout   0.31 sec
"""
    assert count(sample) == (5 + 7 + 1 + 1, 2 + 1 + 1, 0), count(sample)
    assert count("test cases: 3 | 1 passed | 1 failed | 1 skipped\n") == (1, 1, 1)
    assert count("Segmentation fault\n") is None
    warned = "warning:\n  skipped: only root\nAll tests passed (3 assertions in 4 test cases)\n"
    assert count(warned) == (3, 0, 1)
    print("ctest_counts: self-test passed")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        counted = count(sys.stdin.read())
        if counted is None:
            sys.exit("ctest_counts: there are no results in the output")
        print(*counted)
