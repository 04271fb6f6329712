"""The build backend: scikit-build-core, after a look at what a build needs, so that what is missing is named in one sentence
and not after minutes."""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

from scikit_build_core.build import *  # noqa: F401,F403
from scikit_build_core import build as _cmake

TOP = pathlib.Path(__file__).resolve().parents[3]
HEADERS = ("CLI/CLI.hpp", "boost/asio.hpp", "boost/process/v2.hpp", "boost/filesystem.hpp", "fmt/format.h", "libssh/libssh.h",
           "nlohmann/json.hpp", "openssl/ssl.h", "re2/re2.h", "zlib.h", "ncurses.h", "yaml.h")
ARCHIVES = ("libre2.a", "libz.a", "libncurses.a", "libtinfo.a", "libyaml.a")  # are linked into the program, whatever else is not


class Missing(Exception):
    """The build cannot succeed; the text says why."""


def compiler():
    for name in ([os.environ["CXX"]] if os.environ.get("CXX") else ["c++", "g++", "clang++"]):
        words = shlex.split(name)
        if shutil.which(words[0]):
            return words
    raise Missing("there is no C++ compiler (c++, g++ or clang++; or name one in CXX)")


def compiles(words, source):
    done = subprocess.run([*words, "-std=c++20", "-x", "c++", "-fsyntax-only", "-"], input=source.encode(), stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False)
    return done.returncode == 0


def has_header(words, header):
    return compiles(words, f"#if !__has_include(<{header}>)\n#error\n#endif\n")


def has_archive(words, name):
    done = subprocess.run([*words, f"-print-file-name={name}"], stdout=subprocess.PIPE, check=False)
    return os.path.isabs(done.stdout.decode().strip())


def missing():
    """Names of what is not there. Raises Missing where nothing can be compiled at all."""
    words = compiler()
    if not compiles(words, "#include <concepts>\n#include <span>\nstatic_assert(__cplusplus > 201703L);\n"):
        raise Missing(f"{shlex.join(words)} does not know C++20; GCC 12 and Clang 14 do")
    return [f"<{header}>" for header in HEADERS if not has_header(words, header)] + [name for name in ARCHIVES if not has_archive(words, name)]


def advice():
    """The packages of Debian, from the project's only list of them."""
    try:
        listed = subprocess.run([TOP / "packaging/dependencies", "list", "build"], stdout=subprocess.PIPE, check=True).stdout.decode().split()
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"; on Debian and Ubuntu: apt install {' '.join(name for name in listed if name not in ('catch2', 'cmake', 'ninja-build'))}"


def check():
    if not (TOP / "CMakeLists.txt").is_file():
        raise Missing("the sources of sml-run are not around this folder: build from a checkout, with pip install ./packaging/python or "
                      "pip install 'git+URL#subdirectory=packaging/python'")
    lack = missing()
    if lack:
        raise Missing(f"these are missing: {', '.join(lack)}{advice()}")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    try:
        check()
    except Missing as error:
        sys.stderr.write(f"\nsml-run cannot be built here: {error}.\n\n")
        sys.stderr.flush()
        raise SystemExit(1) from None
    return _cmake.build_wheel(wheel_directory, config_settings, metadata_directory)
