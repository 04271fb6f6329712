"""What a release is made of: the two programs, what is installed with them, and what they have inside."""
import dataclasses
import datetime
import hashlib
import os
import pathlib
import re
import struct
import subprocess
import tempfile

NAME = "sml-run"
SUMMARY = "start one distributed job on many hosts"
DESCRIPTION = """\
sml-run starts many workers, on this machine and over SSH on others. It
tells each worker its rank, merges their output line by line, stops them
all when one fails, and exits with the status of the worker that failed
first. It runs PyTorch, Horovod, MPI and other jobs, and the lines of
torchrun, mpirun, horovodrun, srun, deepspeed and accelerate. It is one
static file, and needs nothing on the other hosts."""

MACHINES = {62: "x86_64", 183: "aarch64"}


class Refusal(Exception):
    """A release cannot be made; the text says why."""


@dataclasses.dataclass(frozen=True)
class File:
    """One file below the prefix, such as bin/sml-run."""
    path: str
    data: bytes
    mode: int


@dataclasses.dataclass(frozen=True)
class Component:
    """A source package of which parts are inside the programs."""
    source: str
    version: str
    packages: tuple  # of Debian, with parts that are used
    licence: str     # SPDX
    notice: bytes    # Debian's copyright file


@dataclasses.dataclass
class Release:
    repo: pathlib.Path
    build: pathlib.Path
    out: pathlib.Path
    epoch: int
    version: str
    machine: str
    files: list       # of File, sorted by path
    components: list  # of Component, sorted by source
    maintainer: str   # who answers for it: "Name <address>"
    homepage: str     # empty: it has none
    others: list = dataclasses.field(default_factory=list)  # sml-run for other processors, for the wheel

    @property
    def stem(self):
        return f"{NAME}-{self.version}-{self.machine}"

    @property
    def debian_machine(self):
        return {"x86_64": "amd64", "aarch64": "arm64"}[self.machine]

    @property
    def date(self):
        return datetime.datetime.fromtimestamp(self.epoch, datetime.timezone.utc)

    def with_homepage(self, line):
        """The line with {} replaced; nothing where there is no such page."""
        return line.format(self.homepage) if self.homepage else ""

    def notices(self):
        """(file name, bytes) for each component."""
        return [(f"{c.source}.txt", c.notice) for c in self.components]

    def all_files(self):
        """What is installed, with the notices of what is inside."""
        folder = f"share/doc/{NAME}/LICENSES"
        return sorted(self.files + [File(f"{folder}/{name}", data, 0o644) for name, data in self.notices()],
                      key=lambda f: f.path)

    def lay_out(self, folder, files=None):
        """Writes files below a folder, with the same modes and times whenever and wherever it is done."""
        folder = pathlib.Path(folder)
        for file in files if files is not None else self.all_files():
            path = folder / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.data)
            path.chmod(file.mode)
        for path in [folder, *folder.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
        for path in sorted([folder, *folder.rglob("*")], reverse=True):
            os.utime(path, (self.epoch, self.epoch), follow_symlinks=False)


def run(argv, **kw):
    """Runs a tool in an environment that is the same everywhere; its output counts only when it fails."""
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8", "TZ": "UTC", **kw.pop("env", {})}
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, check=False, **kw)
    if done.returncode != 0:
        raise Refusal(f"{argv[0]} failed:\n{done.stdout.decode(errors='replace')}")
    return done.stdout.decode()


def machine_of(program):
    """The processor of a static program; refuses one that needs an interpreter."""
    head = program[:64]
    if head[:6] != b"\x7fELF\x02\x01":
        raise Refusal("the program is no 64-bit ELF file")
    machine, = struct.unpack_from("<H", head, 18)
    table, = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    for i in range(count):
        if struct.unpack_from("<I", program, table + i * size)[0] == 3:
            raise Refusal("the program is not linked statically; a release is (see -DSML_STATIC and packaging/dependencies)")
    if machine not in MACHINES:
        raise Refusal(f"ELF machine {machine} has no release")
    return MACHINES[machine]


def cached(build, name):
    """A variable of the build's configuration."""
    text = (build / "CMakeCache.txt").read_text()
    found = re.search(rf"^{re.escape(name)}:\w+=(.*)$", text, re.M)
    if not found:
        raise Refusal(f"{build} is no folder of a build: it has no {name}")
    return found.group(1)


def installed(build):
    """What `cmake --install` puts below its prefix."""
    with tempfile.TemporaryDirectory() as folder:
        run([cached(build, "CMAKE_COMMAND"), "--install", build, "--prefix", folder])
        top = pathlib.Path(folder)
        return [File(str(path.relative_to(top)), path.read_bytes(), 0o755 if path.parent.name == "bin" else 0o644)
                for path in sorted(top.rglob("*")) if path.is_file()]
