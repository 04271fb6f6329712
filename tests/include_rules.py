#!/usr/bin/env python3
"""Checks who includes whom: tests/include_rules.py [--self-test] [TOP]

CMakeLists.txt names the rooms: `sml_room(FOLDER ... USES rooms)`. A file of a room may include that room, those that it uses,
the standard library, the system's own headers, and the libraries that MAY_USE gives it. A room stands below those that it
uses, so there is no circle. Each header of common/ serves both programs. Nor would clang-tidy see a namespace's other name
that nobody uses, as it looks at several sources in one. Prints FILE:LINE, the offending include and the rule; exits 1 when
there is any.
"""
import fnmatch
import functools
import pathlib
import re
import sys
import tempfile

# The helper of the agent is a program in C, and no room: what it may include of ours.
HELPERS = {"launcher/agent/pmix": ()}
# Which files may use a library: patterns of paths, where * stands for folders too.
MAY_USE = {
    "asio": ("common/os/*", "launcher/agent/*", "launcher/os/*", "launcher/transport/*", "launcher/control/*", "launcher/dialin/*",
             "launcher/fleet/*", "launcher/attempt/*", "launcher/run/*", "launcher/metrics/*", "launcher/notify/*", "launcher/*.cc", "tests/*"),
    "fmt": ("common/*", "launcher/*", "tests/*"),
    "boost/system": ("common/core/*", "tests/*"),
    "boost/beast": ("launcher/agent/stores/http_request.cc",),
    "boost/unordered": ("launcher/hosts/host_collector.h",),
    "libssh": ("launcher/transport/ssh/*.cc",),
    "openssl": ("launcher/dialin/*.cc", "launcher/notify/post.cc", "launcher/transport/ssh/host_keys/hashed_name.cc",
                "launcher/transport/ssh/crypto_library.cc", "launcher/attempt/dynamic/elastic_notice.cc"),
    "CLI": ("launcher/options/parser.cc",),
    "re2": ("launcher/report/live/line_pattern.cc",),
    "nlohmann": ("launcher/hosts/json_text.h", "common/plan/launch_plan.cc", "launcher/report/*", "launcher/notify/notice.cc", "launcher/notify/progress_facts.cc",
                 "launcher/top/job_view.cc", "tests/*"),
    "ncurses": ("launcher/top/terminal.cc",),
    "libyaml": ("launcher/dialects/config_lines.cc",),
    "catch2": ("tests/*",),
}
MAY_NOT_USE = {"fmt": ("launcher/agent/*", "launcher/transport/names/*", "launcher/transport/net/*")}  # it would be large
LIBRARIES = {  # first words of an include → library
    "boost/asio": "asio", "boost/beast": "boost/beast", "boost/system": "boost/system",
    "boost/unordered": "boost/unordered", "boost/filesystem": "boost/filesystem", "boost": "other Boost",
    "libssh": "libssh", "openssl": "openssl", "CLI": "CLI",
    "nlohmann": "nlohmann", "fmt": "fmt", "re2": "re2", "catch2": "catch2", "zlib": "zlib", "ncurses.h": "ncurses", "yaml.h": "libyaml",
}
SYSTEM = re.compile(r"[a-z0-9_]+(\.h)?|(sys|linux|arpa|net|netinet|asm|sanitizer)/[a-z0-9_]+\.h")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
HAS_INCLUDE = re.compile(r'__has_include\s*\(\s*(?:"([^"]+)"|<([^>]+)>)')
ALIAS = re.compile(r"^\s*namespace (\w+) = ")
NO_CODE = re.compile(r'//.*|"(?:\\.|[^"\\\n])*"')
ROOM = re.compile(r"^sml_room\(([^)]*)\)", re.M)
LIST = re.compile(r"^set\((\w+) ([^)]*)\)", re.M)
KEYWORDS = {"FAST", "APART", "PARTS", "USES"}


class Rooms:
    """The rooms of a CMakeLists.txt: `uses` by folder, and what is wrong with how they stand there."""

    def __init__(self, text):
        lists = {name: words.split() for name, words in LIST.findall(text)}
        self.uses, self.room_of_folder, self.wrong = dict(HELPERS), {folder: folder for folder in HELPERS}, []
        for match in ROOM.finditer(text):
            folder, *words = [w for word in match.group(1).split() for w in lists.get(word.strip("${}"), [word])]
            parts, uses, to = [], [], None
            for word in words:
                if word in KEYWORDS:
                    to = {"PARTS": parts, "USES": uses}.get(word)
                elif to is not None:
                    to.append(word)
            number = text.count("\n", 0, match.start()) + 1
            for name in uses:
                if name not in self.uses:
                    self.wrong.append(("CMakeLists.txt", number, folder, f"stands before {name}, or they are a circle"))
            self.uses[folder] = uses
            for name in (folder, *(f"{folder}/{part}" for part in parts)):
                self.room_of_folder[name] = folder

    def room_of(self, path):
        """The room that a file belongs to; None when there is none."""
        if path.startswith("tests/"):
            return "tests"
        return self.room_of_folder.get(str(pathlib.PurePosixPath(path).parent))

    def judge(self, path, name):
        mine, theirs = self.room_of(path), self.room_of(name)
        if mine == "tests":
            return None
        if theirs == "tests":
            return "nothing outside tests includes tests"
        if theirs != mine and theirs not in self.uses[mine]:
            return f"{mine} may include only {', '.join((mine, *self.uses[mine]))}"
        return None


def library_of(name):
    for words in sorted(LIBRARIES, key=len, reverse=True):
        if name == words or name.startswith((words + "/", words + ".")):
            return LIBRARIES[words]
    return None


def judge_ours(top, rooms, path, name):
    if not (top / name).is_file():
        beside = (top / path).parent / name
        if beside.is_file():
            return "includes of ours are written from the top of the repository"
        return None if SYSTEM.fullmatch(name) or library_of(name) else "there is no such file"
    return rooms.judge(path, name)


def judge_library(path, name):
    library = library_of(name)
    if library is None:
        return None if SYSTEM.fullmatch(name) else "neither a system header nor a library of the list in this file"
    if any(fnmatch.fnmatch(path, p) for p in MAY_NOT_USE.get(library, ())):
        return f"{library} is not for {path}"
    if any(fnmatch.fnmatch(path, p) for p in MAY_USE.get(library, ())):
        return None
    return f"{library} is for {', '.join(MAY_USE.get(library, ())) or 'nobody'} only"


def judge(top, rooms, path, quoted, angled):
    if (quoted or angled).endswith((".cc", ".c")):
        return "a source is compiled, not included"
    if quoted is None and not (top / angled).is_file():
        return judge_library(path, angled)
    if quoted is None:
        return 'includes of ours are written with "..."'
    return judge_ours(top, rooms, path, quoted) or (None if (top / quoted).is_file() else judge_library(path, quoted))


def check_aliases(path, lines):
    """The other names of namespaces that a source gives and does not use."""
    text = "\n".join(NO_CODE.sub("", line) for line in lines)
    names = [(number, match.group(1)) for number, match in enumerate(map(ALIAS.match, lines), 1) if match]
    return [(path, number, name, "this namespace's other name is not used") for number, name in names
            if not re.search(rf"\b{name}::", text)]


def check(top, rooms):
    """All violations: (path, line number, included name, rule)."""
    found = list(rooms.wrong)
    for folder in ("common", "launcher", "tests"):
        for file in sorted((top / folder).rglob("*")):
            if file.suffix not in (".h", ".cc", ".c"):
                continue
            path = file.relative_to(top).as_posix()
            if rooms.room_of(path) is None:
                found.append((path, 1, "", "this folder belongs to no sml_room() of CMakeLists.txt"))
                continue
            lines = file.read_text(errors="replace").splitlines()
            if file.suffix == ".cc":
                found += check_aliases(path, lines)
            for number, line in enumerate(lines, 1):
                for match in filter(None, (INCLUDE.match(line), HAS_INCLUDE.search(line))):
                    rule = judge(top, rooms, path, *match.groups())
                    if rule:
                        found.append((path, number, next(filter(None, match.groups())), rule))
    return found


def check_parts(top, rooms):
    """The parts of a room stand in an order, too: the includes that close a circle between two or more of them."""
    uses = {}
    for file in sorted(file for folder in ("common", "launcher") for file in (top / folder).rglob("*")):
        path = file.relative_to(top).as_posix()
        part = file.parent.relative_to(top).as_posix()
        if file.suffix not in (".h", ".cc") or part == rooms.room_of(path):
            continue
        for match in map(INCLUDE.match, file.read_text(errors="replace").splitlines()):
            name = match and match.group(1) or ""
            other = str(pathlib.PurePosixPath(name).parent)
            if other != part and other != rooms.room_of(path) and rooms.room_of(name) == rooms.room_of(path):
                uses.setdefault(part, {}).setdefault(other, (path, name))

    def reaches(part, goal, seen):
        return part == goal or any(reaches(p, goal, seen | {p}) for p in uses.get(part, ()) if p not in seen)
    return [(path, 1, name, f"{other} includes {part}, or what it includes does: a circle of the room's parts")
            for part, others in uses.items() for other, (path, name) in others.items() if reaches(other, part, {other})]


def reached_from(top, main):
    """The files that a program is made of: what it includes, and the source of each header."""
    seen, todo = set(), [main]
    while todo:
        path = todo.pop()
        if path in seen or not (top / path).is_file():
            continue
        seen.add(path)
        matches = map(INCLUDE.match, (top / path).read_text(errors="replace").splitlines())
        todo += [match.group(1) for match in matches if match and match.group(1)]
        if path.endswith(".h"):
            todo.append(path[:-2] + ".cc")
    return seen


def check_common(top):
    """The headers of common/ that only one program uses."""
    agent, launcher = (reached_from(top, f"launcher/{main}") for main in ("agent/main.cc", "main.cc"))
    headers = sorted(file.relative_to(top).as_posix() for file in (top / "common").rglob("*.h"))
    return [(path, 1, "", "only one of the two programs uses it, so it belongs to that one") for path in headers
            if path not in agent & launcher]


UNNAMED = re.compile(r"^namespace \{\n(.*?)^\}  // namespace\n", re.M | re.S)
CONSTANT = re.compile(r"^(?:constexpr|const|thread_local) [^(={]*?\b(\w+)(?:\[[^=]*)?(?: = |\{|;)", re.M)
TYPE = re.compile(r"^(?:struct|class|enum class|enum) (\w+)\b(?! ?::)[^;\n]*(?:\{|$)", re.M)
ALIAS_OF_TYPE = re.compile(r"^using (\w+) = ([^;]*);", re.M)
FUNCTION = re.compile(r"^[\w:][^\n;={}()]*?[ &*](\w+)\(([^;{}]*?)\)(?: const| noexcept)* \{", re.M)


def own_names(text):
    """The names that a source keeps to itself, functions with the types of their parameters; and what another name stands for."""
    for part in UNNAMED.findall(text):
        yield from ((name, "") for name in CONSTANT.findall(part) + TYPE.findall(part))
        yield from ALIAS_OF_TYPE.findall(part)
        for name, parameters in FUNCTION.findall(part):
            types = [re.sub(r"\s*\b\w+$", "", " ".join(p.split())) for p in parameters.split(",")]
            yield f"{name}({', '.join(types)})", ""


def check_own_names(top, rooms):
    """Several sources of a room are compiled as one, in each build in other groups: names that two keep to themselves clash."""
    found, seen = [], {}
    for header in sorted(file for folder in ("common", "launcher") for file in (top / folder).rglob("*.h")):
        path = header.relative_to(top).as_posix()
        for name in TYPE.findall(header.read_text(errors="replace")):
            seen[rooms.room_of(path), name] = (path, "")
    for file in sorted(file for folder in ("common", "launcher") for file in (top / folder).rglob("*.cc")):
        path = file.relative_to(top).as_posix()
        if path.endswith("_machine.cc"):
            continue  # compiled by itself
        for name, meaning in own_names(file.read_text(errors="replace")):
            other, other_meaning = seen.setdefault((rooms.room_of(path), name), (path, meaning))
            if other != path and (meaning != other_meaning or not meaning):
                found.append((path, 1, name, f"{other} has a name of its own like it, and the two may be compiled as one"))
    return found


def self_test():
    """Each of these files must be refused, for the words given; the first few must pass."""
    good = {
        "common/core/a.h": "#include <vector>\n#include <boost/system/result.hpp>\n",
        "common/plan/a.cc": '#include "common/core/a.h"\n#include <sys/stat.h>\n',
        "launcher/os/child.cc": "#include <boost/asio.hpp>\n",
        "launcher/transport/ssh/a.cc": "#include <libssh/libssh.h>\n",
        "launcher/agent/a.h": '#include "common/wire/a.h"\n',
        "common/plan/h.cc": "namespace other = used;\nint one = other::one;\n",
        "common/wire/a.h": '#  include "common/plan/b.h"\n',
        "common/plan/b.h": "#include <vector>\nstd::vector<int> none();\n",
        "launcher/report/live/line_pattern.cc": '#include "launcher/report/b.h"\n#include <re2/re2.h>\n',
        "launcher/report/b.h": "",
        "launcher/report/events/c.h": '#include "launcher/report/b.h"\n',
        "launcher/run/g.cc": "namespace {\nint twice(int a) { return 2 * a; }\n}  // namespace\n",
        "tests/unit/a_test.cc": '#include "launcher/agent/a.h"\n#include "tests/support/catch.h"\n',
        "tests/support/catch.h": "#if __has_include(<catch2/catch_all.hpp>)\n#include <catch2/catch.hpp>\n#endif\n",
    }
    bad = {
        "common/core/b.cc": ('#include "common/plan/b.h"\n', "may include only"),
        "common/plan/c.cc": ("\n\n#include <boost/asio/io_context.hpp>\n", "asio is for"),
        "common/plan/d.cc": ('#include "b.h"\n', "from the top"),
        "common/plan/e.cc": ("#include <nlohmann/json.hpp>\n", "nlohmann is for"),
        "launcher/agent/machines/a.cc": ('#include "common/wire/a.h"\n', "may include only"),
        "common/os/b.cc": ("#include <boost/process/v2.hpp>\n", "other Boost is for"),
        "launcher/agent/b.cc": ('#include "launcher/transport/ssh/b.h"\n', "may include only"),
        "launcher/agent/c.cc": ("#include <libssh/libssh.h>\n", "libssh is for"),
        "launcher/transport/ssh/b.h": ("#include <libssh/libssh.h>\n", "libssh is for"),
        "launcher/main.cc": ("#include <CLI/CLI.hpp>\n", "CLI is for"),
        "launcher/report/a.cc": ("#include <re2/re2.h>\n", "re2 is for"),
        "launcher/run/a.cc": ('#include "launcher/agent/a.h"\n', "may include only"),
        "launcher/run/b.cc": ('#include "tests/support/catch.h"\n', "nothing outside tests"),
        "launcher/run/c.cc": ("#include <common/core/a.h>\n", 'with "..."'),
        "launcher/run/d.cc": ("#include <zmq/zmq.hpp>\n", "neither"),
        "launcher/run/e.cc": ("#include <catch2/catch.hpp>\n", "catch2 is for tests"),
        "launcher/run/f.cc": ('#include "launcher/run/e.cc"\n', "not included"),
        "common/plan/g.cc": ("namespace chrono = unused;", "is not used"),
        "launcher/new/a.h": ("", "belongs to no"),
        "launcher/report/live/d.h": ('#include "launcher/report/hosts/e.h"\n', "a circle of the room's parts"),
        "launcher/report/hosts/e.h": ('#include "launcher/report/live/d.h"\n', "a circle of the room's parts"),
        "launcher/run/h.cc": ("namespace {\nint twice(int b) {\n  return 2;\n}\n}  // namespace\n", "of its own like it"),
    }
    text = (pathlib.Path(__file__).parent.parent / "CMakeLists.txt").read_text()
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        for path, lines in {**good, **{p: t for p, (t, _) in bad.items()}}.items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(lines)
        rooms = Rooms(text)
        found = check(top, rooms) + check_own_names(top, rooms) + check_parts(top, rooms)
        errors = [f"{p} should pass: {rule}" for p, _, _, rule in found if p not in bad]
        found_alone = check_common(top)
    for path, (lines, words) in bad.items():
        rows = [r for r in found if r[0] == path]
        if len(rows) != 1 or words not in rows[0][3] or rows[0][1] not in (1, len(lines.splitlines())):
            errors.append(f"{path} should be refused for '{words}', once: {rows}")
    if "common/core/a.h" not in [row[0] for row in found_alone]:
        errors.append("common/core/a.h should be refused, as no program uses it")
    if not Rooms(text.replace("sml_room(common/core FAST APART)\n", "")).wrong:
        errors.append("CMakeLists.txt should be refused where a room stands before one that it uses")
    print("\n".join(errors) or f"include_rules: self-test: {len(bad)} violations seen")
    return 1 if errors else 0


def main():
    words = sys.argv[1:]
    if words[:1] == ["--self-test"]:
        return self_test()
    top = pathlib.Path(words[0] if words else pathlib.Path(__file__).parent.parent).resolve()
    rooms = Rooms((top / "CMakeLists.txt").read_text())
    found = check(top, rooms) + check_common(top) + check_own_names(top, rooms) + check_parts(top, rooms)
    for path, number, name, rule in found:
        print(f"{path}:{number}: {name}: {rule}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
