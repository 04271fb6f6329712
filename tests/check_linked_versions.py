#!/usr/bin/env python3
"""Whether what is inside sml-run is as new as this machine's packages: tests/check_linked_versions.py [--self-test] BUILD_DIRECTORY

Libraries are linked statically, so their fixes are ours to ship. Prints a line for each package of `sml-run --version
--verbose` that is newer here than when the build was configured; exits 1 when there is any. Where there is no dpkg there is
nothing to compare.
"""
import shutil
import subprocess
import sys


def inside(program):
    """{package: version}"""
    done = subprocess.run([program, "--version", "--verbose"], stdout=subprocess.PIPE, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines()[2:]]
    return {row[0]: row[1] for row in rows if len(row) == 2}


def on_machine(package):
    """None: it is not installed."""
    done = subprocess.run(["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Version}\n", package],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    words = done.stdout.split()  # of each architecture, and they have the same
    return words[1] if done.returncode == 0 and len(words) > 1 and words[0] == "installed" else None


def is_newer(one, other):
    return subprocess.run(["dpkg", "--compare-versions", one, "gt", other], check=False).returncode == 0


def faults(built, installed):
    found = [f"{package} is {installed(package)} on this machine, and {version} in the build: configure and build anew"
             for package, version in sorted(built.items()) if installed(package) and is_newer(installed(package), version)]
    return found or ([] if built else ["the build names no package, though this machine has dpkg"])


def self_test():
    now = {"a-dev": "1.2-1+deb12u2", "b-dev": "3", "c-dev": None}.get
    assert not faults({"a-dev": "1.2-1+deb12u2", "b-dev": "4", "c-dev": "1"}, now)
    assert len(faults({"a-dev": "1.2-1+deb12u1", "b-dev": "2.9~rc1"}, now)) == 2
    assert faults({}, now)


def main():
    if shutil.which("dpkg-query") is None:
        return 0
    if sys.argv[1] == "--self-test":
        self_test()
        return 0
    found = faults(inside(f"{sys.argv[1]}/sml-run"), on_machine)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
