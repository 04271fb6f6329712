"""Which libraries are inside the programs: read off the build, never written down by hand."""
import pathlib
import re
import subprocess

import release as rel

# SPDX, by source package. A library that is not here stops the release.
LICENCES = {
    "abseil": "Apache-2.0",
    "boost1.81": "BSL-1.0",
    "cli11": "BSD-3-Clause",
    "cross-toolchain-base": "LGPL-2.1-or-later AND GPL-2.0-only WITH Linux-syscall-note",  # C library and kernel of a cross build
    "fmtlib": "MIT",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "gcc-12-cross": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "libssh": "LGPL-2.1-or-later",
    "libyaml": "MIT",
    "linux": "GPL-2.0-only WITH Linux-syscall-note",
    "ncurses": "MIT-open-group",
    "nlohmann-json3": "MIT",
    "openssl": "Apache-2.0",
    "re2": "BSD-3-Clause",
    "zlib": "Zlib",
}
PROGRAMS = ("sml-run", "sml-run-agent")
OF_THE_COMPILER = ("libstdc++.a", "libgcc.a", "libgcc_eh.a", "libc.a", "libm.a", "rcrt1.o")


def link_command(build, program):
    """The words by which the build links a program."""
    commands = rel.run([rel.cached(build, "CMAKE_MAKE_PROGRAM"), "-C", build, "-t", "commands", program])
    for line in reversed(commands.splitlines()):
        found = re.match(rf": && (\S+ .* -o {re.escape(program)} .*?)(?: &&|$)", line)
        if found:
            return found.group(1).split()
    raise rel.Refusal(f"{build} has no rule that links {program}; a release is made of a build by Ninja")


def archives_of(build):
    """Paths of all archives of the system that are linked."""
    paths = set()
    for program in PROGRAMS:
        command = link_command(build, program)
        paths.update(word for word in command if word.startswith("/") and word.endswith(".a"))
        paths.update(rel.run([command[0], f"-print-file-name={name}"]).strip() for name in OF_THE_COMPILER)
    return {str(pathlib.Path(path).resolve()) for path in paths}


def headers_of(build):
    """Paths of all headers of the system that our objects are compiled from; a compiler's cache may have made them relative."""
    words = rel.run([rel.cached(build, "CMAKE_MAKE_PROGRAM"), "-C", build, "-t", "deps"])
    headers, ours = set(), False
    for line in words.splitlines():
        if not line.startswith(" "):
            ours = line.startswith("CMakeFiles/")  # not those of tests/
        elif ours and line.strip():
            path = pathlib.Path(build, line.strip()).resolve()
            if path.is_relative_to("/usr"):
                headers.add(str(path))
    return headers


def packages_with(paths):
    """Debian's packages that have these files."""
    done = subprocess.run(["dpkg-query", "--search", *sorted(paths)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}, check=False)
    packages, found = set(), set()
    for line in done.stdout.decode().splitlines():
        owners, path = line.rsplit(": ", 1)
        found.add(path)
        packages.update(owners.split(", "))
    if paths - found:
        raise rel.Refusal(f"no package of Debian has {sorted(paths - found)[0]}, which is inside the programs")
    return packages


def notice_of(packages):
    for package in packages:
        path = pathlib.Path("/usr/share/doc", package.split(":")[0], "copyright")
        if path.is_file():
            return path.read_bytes()
    raise rel.Refusal(f"{packages[0]} has no copyright file")


def check_age(build):
    """What `sml-run --version --verbose` tells is what the release names."""
    rows = [line.split() for line in pathlib.Path(build, "linked_versions").read_text().splitlines() if line]
    for package, version in rows:
        now = rel.run(["dpkg-query", "--show", "--showformat=${Version}\n", package]).split()
        if version not in now:
            raise rel.Refusal(f"{build} was made with {package} {version}, and {now[0]} is installed: configure and build it anew")


def find(build):
    """The components, sorted by their source."""
    check_age(build)
    packages = sorted(packages_with(archives_of(build) | headers_of(build)))
    shown = rel.run(["dpkg-query", "--show", "--showformat=${source:Package}\t${source:Version}\t${binary:Package}\n", *packages])
    by_source = {}
    for line in shown.splitlines():
        source, version, package = line.split("\t")
        by_source.setdefault((source, version), []).append(package)
    unknown = sorted({source for source, _ in by_source} - set(LICENCES))
    if unknown:
        raise rel.Refusal(f"the licence of {', '.join(unknown)} is not in packaging/forms/components.py")
    return [rel.Component(source, version, tuple(sorted(names)), LICENCES[source], notice_of(sorted(names)))
            for (source, version), names in sorted(by_source.items())]
