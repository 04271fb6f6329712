#!/usr/bin/env python3
"""Checks who includes whom: tests/include_rules.py [--self-test] [TOP]

Each folder may include itself, the standard library, the system's own headers, and what its row allows; in CMakeLists.txt
it is a library that is linked with the same rooms, and no rooms include each other in a circle. What a file outside tests
uses of the headers that are precompiled, it includes, or a header of ours that it includes does: no build would notice.
Nor would clang-tidy see a namespace's other name that nobody uses, as it looks at several sources in one. Prints FILE:LINE,
the offending include and the rule; exits 1 when there is any.
"""
import collections
import functools
import pathlib
import re
import sys
import tempfile

# A folder's row: the folders of ours that it may include, and the third-party libraries. A folder without a row is
# itself an error; only what lies below tests/ shares one row.
Row = collections.namedtuple("Row", "ours libraries")

COMMON = ("common/core", "common/plan", "common/hosts", "common/wire", "common/supervise", "common/output", "common/os",
          "common/rendezvous", "common/fifos", "common/monitor")
LAUNCHER = ("launcher/options", "launcher/control", "launcher/inputs", "launcher/names", "launcher/net", "launcher/launch", "launcher/dialin",
            "launcher/ssh", "launcher/fleet", "launcher/attempt", "launcher/run", "launcher/report", "launcher/sagemaker", "launcher/dialects")
FOLDERS = {
    "common/core": Row((), ("boost/system", "fmt")),
    "common/plan": Row(("common/core",), ("fmt",)),
    "common/hosts": Row(("common/core", "common/plan"), ("fmt",)),
    "common/wire": Row(("common/core", "common/plan"), ("fmt",)),
    "common/supervise": Row(("common/core",), ("fmt",)),
    "common/output": Row(("common/core",), ("fmt",)),
    "common/rendezvous": Row(("common/core", "common/plan", "common/wire"), ("fmt",)),
    "common/fifos": Row(("common/core", "common/plan"), ("fmt",)),
    "common/monitor": Row(("common/core", "common/plan"), ("fmt",)),
    "common/os": Row(("common/core",), ("asio", "fmt")),
    "launcher/report": Row(("common/core", "common/plan", "common/output", "common/os"), ("fmt",)),
    "launcher/dialects": Row(("common/core", "common/plan"), ("fmt",)),
    "launcher/names": Row(("common/core", "common/os"), ()),
    "launcher/net": Row(("common/core", "common/os", "launcher/names"), ()),
    "launcher/launch": Row((*COMMON, "launcher/names"), ("asio", "fmt")),
    "launcher/ssh": Row((*COMMON, "launcher/names", "launcher/net", "launcher/launch"), ("asio", "fmt")),
    "launcher/options": Row((*COMMON, "launcher/dialects", "launcher/report", "launcher/ssh"), ("fmt",)),
    "launcher/control": Row((*COMMON, "launcher/names", "launcher/options", "launcher/report"), ("asio", "fmt")),
    "launcher/inputs": Row((*COMMON, "launcher/dialects", "launcher/launch", "launcher/options", "launcher/ssh"), ("fmt",)),
    "launcher/sagemaker": Row((*COMMON, "launcher/inputs", "launcher/launch", "launcher/options", "launcher/report"),
                              ("fmt",)),
    "launcher/dialin": Row((*COMMON, "launcher/inputs", "launcher/launch", "launcher/names", "launcher/net",
                            "launcher/options", "launcher/sagemaker"), ("asio", "fmt")),
    "launcher/fleet": Row((*COMMON, "launcher/dialin", "launcher/launch", "launcher/ssh"), ("asio", "fmt")),
    "launcher/attempt": Row((*COMMON, "launcher/fleet", "launcher/launch", "launcher/options", "launcher/report"),
                            ("asio", "fmt")),
    "launcher/run": Row((*COMMON, "launcher/attempt", "launcher/control", "launcher/dialin", "launcher/fleet", "launcher/launch",
                         "launcher/options", "launcher/report", "launcher/sagemaker"), ("asio", "fmt")),
    "launcher/agent": Row(COMMON, ("asio",)),
    "launcher/pmix": Row((), ()),
    "launcher/nvml": Row(("launcher/pmix",), ()),
    "launcher": Row((*COMMON, "launcher/attempt", "launcher/control", "launcher/dialin", "launcher/fleet", "launcher/inputs",
                     "launcher/launch", "launcher/names", "launcher/options", "launcher/report", "launcher/run", "launcher/sagemaker",
                     "launcher/ssh"), ("asio", "fmt")),
    "tests": Row((*COMMON, *LAUNCHER, "launcher", "launcher/agent", "launcher/pmix", "launcher/nvml", "tests"),
                 ("asio", "boost/system", "catch2", "fmt", "nlohmann")),
}
NO_ROOMS = {"tests", "launcher/pmix", "launcher/nvml"}  # the latter are one program in C each
# Files that may use a library which the rest of their folder may not.
EXCEPTIONS = {
    "libssh": ("launcher/ssh/*.cc",),
    "openssl": ("launcher/dialin/*.cc", "launcher/ssh/hashed_name.cc", "launcher/ssh/crypto_library.cc",
                "launcher/attempt/elastic_notice.cc"),
    "boost/beast": ("common/rendezvous/http_request.cc",),
    "boost/unordered": ("common/hosts/host_collector.h",),
    "CLI": ("launcher/options/parser.cc",),
    "zlib": ("launcher/agent/gunzip.cc",),
    "re2": ("launcher/report/line_pattern.cc",),
    "nlohmann": ("common/hosts/json_text.h", "common/plan/launch_plan.cc", "launcher/report/*"),
}
LIBRARIES = {  # first words of an include → library
    "boost/asio": "asio", "boost/beast": "boost/beast", "boost/system": "boost/system",
    "boost/unordered": "boost/unordered", "boost/filesystem": "boost/filesystem", "boost": "other Boost",
    "libssh": "libssh", "openssl": "openssl", "CLI": "CLI",
    "nlohmann": "nlohmann", "fmt": "fmt", "re2": "re2", "catch2": "catch2", "zlib": "zlib",
}
SYSTEM = re.compile(r"[a-z0-9_]+(\.h)?|(sys|linux|arpa|net|netinet|asm|sanitizer)/[a-z0-9_]+\.h")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
HAS_INCLUDE = re.compile(r'__has_include\s*\(\s*(?:"([^"]+)"|<([^>]+)>)')
# Of the precompiled headers: what shows that one is used.
NAMES = {header: re.compile(rf"\bstd::(?:{words})") for header, words in {
    "algorithm": r"(?:ranges::)?(?:adjacent_find|all_of|any_of|binary_search|clamp|copy|copy_if|copy_n|count|count_if|equal|"
                 r"equal_range|fill|fill_n|find|find_end|find_if|find_if_not|for_each|generate|includes|is_sorted|"
                 r"lexicographical_compare|lower_bound|max|max_element|merge|min|min_element|minmax|mismatch|none_of|"
                 r"nth_element|partial_sort|partition|remove_if|replace|reverse|rotate|search|set_difference|"
                 r"set_intersection|set_union|shuffle|sort|stable_partition|stable_sort|swap_ranges|transform|unique|"
                 r"upper_bound)\(",
    "array": r"array\b",
    "chrono": r"chrono\b",
    "functional": r"(?:bind_front|cref|function|greater|hash|invoke|less|not_fn|plus|ref|reference_wrapper)\b",
    "map": r"(?:map|multimap)\b",
    "memory": r"(?:enable_shared_from_this|make_shared|make_unique|shared_ptr|unique_ptr|weak_ptr)\b",
    "optional": r"(?:make_optional|nullopt|optional)\b",
    "set": r"(?:multiset|set)\b",
    "span": r"(?:as_bytes|as_writable_bytes|span)\b",
    "string": r"(?:basic_string|getline|stoi|stoul|string|to_string|wstring)\b",
    "string_view": r"string_view\b",
    "variant": r"(?:get_if|holds_alternative|monostate|variant|visit)\b",
    "vector": r"vector\b",
}.items()}
ALIAS = re.compile(r"^\s*namespace (\w+) = ")
NO_CODE = re.compile(r'//.*|"(?:\\.|[^"\\\n])*"')


def folder_of(path):
    """The listed folder that a file belongs to; None when there is none."""
    folder = "tests" if path.startswith("tests/") else str(pathlib.PurePosixPath(path).parent)
    return folder if folder in FOLDERS else None


def library_of(name):
    for words in sorted(LIBRARIES, key=len, reverse=True):
        if name == words or name.startswith((words + "/", words + ".")):
            return LIBRARIES[words]
    return None


def judge_ours(top, path, name):
    if not (top / name).is_file():
        beside = (top / path).parent / name
        if beside.is_file():
            return "includes of ours are written from the top of the repository"
        return None if SYSTEM.fullmatch(name) or library_of(name) else "there is no such file"
    mine, theirs = folder_of(path), folder_of(name)
    if theirs == "tests" and mine != "tests":
        return "nothing outside tests includes tests"
    if theirs != mine and theirs not in FOLDERS[mine].ours:
        return f"{mine} may include only {', '.join((mine, *FOLDERS[mine].ours))}"
    return None


def judge_library(path, name):
    library = library_of(name)
    if library is None:
        return None if SYSTEM.fullmatch(name) else "neither a system header nor a library of the list in this file"
    if library in EXCEPTIONS and any(pathlib.PurePosixPath(path).match(p) for p in EXCEPTIONS[library]):
        return None
    mine = folder_of(path)
    if library in FOLDERS[mine].libraries:
        return None
    where = ", ".join(EXCEPTIONS.get(library, ())) or ", ".join(f for f, r in FOLDERS.items() if library in r.libraries)
    return f"{library} is for {where or 'nobody'} only"


def judge(top, path, quoted, angled):
    if (quoted or angled).endswith((".cc", ".c")):
        return "a source is compiled, not included"
    if quoted is None and not (top / angled).is_file():
        return judge_library(path, angled)
    if quoted is None:
        return 'includes of ours are written with "..."'
    return judge_ours(top, path, quoted) or (None if (top / quoted).is_file() else judge_library(path, quoted))


@functools.lru_cache(maxsize=None)
def includes_of(file):
    return [match.groups() for match in map(INCLUDE.match, file.read_text(errors="replace").splitlines()) if match]


def included(top, path, seen):
    """What a file includes, itself or by headers of ours but those in `seen`."""
    names = set()
    for quoted, angled in includes_of(top / path):
        if angled:
            names.add(angled)
        elif quoted not in seen and (top / quoted).is_file():
            seen.add(quoted)
            names |= included(top, quoted, seen)
    return names


def check_names(top, path, lines):
    """The precompiled headers that a file uses without including them, where it does so first."""
    there, found = included(top, path, {path}), {}
    for number, line in enumerate(lines, 1):
        code = NO_CODE.sub("", line)
        for header in NAMES:
            if header not in there and header not in found and "std::" in code and NAMES[header].search(code):
                found[header] = (path, number, f"<{header}>", "is used and not included")
    return list(found.values())


def check_aliases(path, lines):
    """The other names of namespaces that a source gives and does not use."""
    text = "\n".join(NO_CODE.sub("", line) for line in lines)
    names = [(number, match.group(1)) for number, match in enumerate(map(ALIAS.match, lines), 1) if match]
    return [(path, number, name, "this namespace's other name is not used") for number, name in names
            if not re.search(rf"\b{name}::", text)]


def check(top):
    """All violations: (path, line number, included name, rule)."""
    found = []
    for folder in ("common", "launcher", "tests"):
        for file in sorted((top / folder).rglob("*")):
            if file.suffix not in (".h", ".cc", ".c"):
                continue
            path = file.relative_to(top).as_posix()
            if folder_of(path) is None:
                found.append((path, 1, "", "this folder has no row in tests/include_rules.py"))
                continue
            lines = file.read_text(errors="replace").splitlines()
            if folder != "tests" and file.suffix != ".c":
                found += check_names(top, path, lines)
            if file.suffix == ".cc":
                found += check_aliases(path, lines)
            for number, line in enumerate(lines, 1):
                for match in filter(None, (INCLUDE.match(line), HAS_INCLUDE.search(line))):
                    rule = judge(top, path, *match.groups())
                    if rule:
                        found.append((path, number, next(filter(None, match.groups())), rule))
    return found


ROOM = re.compile(r"^sml_room\(([^)]*)\)", re.M)
PRECOMPILED = re.compile(r"target_precompile_headers\(\S+ PRIVATE ([^)$]*)")
LIST = re.compile(r"^set\((\w+) ([^)]*)\)", re.M)


def check_rooms(text):
    """The same for the rooms of a CMakeLists.txt: each linked as its row says."""
    lists = {name: words.split() for name, words in LIST.findall(text)}
    found, seen = [], set()
    for header in re.findall(r"<(\w+)>", " ".join(PRECOMPILED.findall(text))):
        if header not in NAMES:
            found.append(("CMakeLists.txt", 1, f"<{header}>", "is precompiled, and NAMES in tests/include_rules.py lacks it"))
    for match in ROOM.finditer(text):
        words = [w for word in match.group(1).split() for w in lists.get(word.strip("${}"), [word])]
        folder, number = words[0], text.count("\n", 0, match.start()) + 1
        row = FOLDERS.get(folder)
        if row is None or set(words[1:]) != set(row.ours):
            found.append(("CMakeLists.txt", number, folder, "its row in tests/include_rules.py names other rooms"))
        unknown = [w for w in words[1:] if w not in seen]
        if unknown:
            found.append(("CMakeLists.txt", number, folder, f"comes before {', '.join(unknown)}, or includes in a circle"))
        seen.add(folder)
    return found + [("CMakeLists.txt", 1, f, "this folder is no room") for f in FOLDERS if f not in seen | NO_ROOMS]


def self_test():
    """Each of these files must be refused, for the words given; the first few must pass."""
    good = {
        "common/core/a.h": "#include <vector>\n#include <boost/system/result.hpp>\n",
        "common/plan/a.cc": '#include "common/core/a.h"\n#include <sys/stat.h>\n',
        "common/os/child.cc": "#include <boost/asio.hpp>\n",
        "launcher/ssh/a.cc": "#include <libssh/libssh.h>\n",
        "launcher/agent/a.h": '#include "common/wire/a.h"\n',
        "common/plan/h.cc": "namespace other = used;\nint one = other::one;\n",
        "common/wire/a.h": '#  include "common/plan/b.h"\n',
        "common/plan/b.h": "#include <vector>\nstd::vector<int> none();\n",
        "common/plan/b.cc": '#include "common/plan/b.h"\nstd::vector<int> none() { return {}; }  // not std::map\n',
        "tests/unit/a_test.cc": '#include "launcher/agent/a.h"\n#include "tests/support/catch.h"\n',
        "tests/support/catch.h": "#if __has_include(<catch2/catch_all.hpp>)\n#include <catch2/catch.hpp>\n#endif\n",
    }
    bad = {
        "common/core/b.cc": ('#include "common/plan/b.h"\n', "may include only"),
        "common/plan/c.cc": ("\n\n#include <boost/asio/io_context.hpp>\n", "asio is for"),
        "common/plan/d.cc": ('#include "b.h"\n', "from the top"),
        "common/plan/e.cc": ("#include <nlohmann/json.hpp>\n", "nlohmann is for"),
        "common/supervise/a.cc": ('#include "common/wire/a.h"\n', "may include only"),
        "common/os/b.cc": ("#include <boost/process/v2.hpp>\n", "other Boost is for"),
        "launcher/agent/b.cc": ('#include "launcher/ssh/b.h"\n', "may include only"),
        "launcher/agent/c.cc": ("#include <libssh/libssh.h>\n", "libssh is for"),
        "launcher/ssh/b.h": ("#include <libssh/libssh.h>\n", "libssh is for"),
        "launcher/main.cc": ("#include <CLI/CLI.hpp>\n", "CLI is for"),
        "launcher/report/a.cc": ("#include <re2/re2.h>\n", "re2 is for"),
        "launcher/run/a.cc": ('#include "launcher/agent/a.h"\n', "may include only"),
        "launcher/run/b.cc": ('#include "tests/support/catch.h"\n', "nothing outside tests"),
        "launcher/run/c.cc": ("#include <common/core/a.h>\n", 'with "..."'),
        "launcher/run/d.cc": ("#include <zmq/zmq.hpp>\n", "neither"),
        "launcher/run/e.cc": ("#include <catch2/catch.hpp>\n", "catch2 is for tests"),
        "launcher/run/f.cc": ('#include "launcher/run/e.cc"\n', "not included"),
        "common/plan/f.cc": ('#include "common/core/a.h"\nstd::optional<int> none();\n', "used and not included"),
        "common/plan/g.cc": ("namespace chrono = unused;", "is not used"),
        "launcher/new/a.h": ("", "no row"),
    }
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        for path, text in {**good, **{p: t for p, (t, _) in bad.items()}}.items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text)
        found = check(top)
    errors = [f"{p} should pass: {rule}" for p, _, _, rule in found if p not in bad]
    for path, (text, words) in bad.items():
        rows = [r for r in found if r[0] == path]
        if len(rows) != 1 or words not in rows[0][3] or rows[0][1] != max(1, len(text.splitlines())):
            errors.append(f"{path} should be refused for '{words}', once: {rows}")
    rooms = (pathlib.Path(__file__).parent.parent / "CMakeLists.txt").read_text()
    for old, new in (("sml_room(common/wire common/core common/plan)", "sml_room(common/wire common/core)"),
                     ("sml_room(common/core)\n", ""), ("<variant> <vector>", "<deque> <vector>"),
                     ("sml_room(common/plan common/core)", "sml_room(common/plan common/os)")):
        if old not in rooms or not check_rooms(rooms.replace(old, new)):
            errors.append(f"CMakeLists.txt should be refused with '{new}' for '{old}'")
    print("\n".join(errors) or f"include_rules: self-test: {len(bad)} violations seen")
    return 1 if errors else 0


def main():
    words = sys.argv[1:]
    if words[:1] == ["--self-test"]:
        return self_test()
    top = pathlib.Path(words[0] if words else pathlib.Path(__file__).parent.parent).resolve()
    found = check(top) + check_rooms((top / "CMakeLists.txt").read_text())
    for path, number, name, rule in found:
        print(f"{path}:{number}: {name}: {rule}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
