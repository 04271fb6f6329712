#!/usr/bin/env python3
"""Reads off both programs what they were built with: tests/check_hardening.py [--self-test] BUILD_DIRECTORY

Not what the compiler was asked for, but what is there: in the programs, and in the objects of ours that they are made
of. Prints a line for each thing that is missing; exits 1 when there is any.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

LIBRARIES = {  # what each program is made of
    "sml-run-agent": ("libsml_launcher_agent.a", "libsml_launcher_agent_workers.a", "libsml_common_os.a", "libsml_common_core.a"),
    "sml-run": ("libsml_launcher_transport.a", "libsml_launcher_report.a", "libsml_launcher_dialects.a", "libsml_common_os.a", "libsml_common_core.a"),
}
ASSERTION = "_ZSt21__glibcxx_assert_fail"
CHECKED = re.compile(r"\b__(?!stack)\w+_chk\b")  # the functions of _FORTIFY_SOURCE
PROBE = re.compile(r"\b(orq?|movq)\s+\$0x0,\(%rsp\)")  # a page of the stack is touched before the next


def read(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    if done.returncode != 0:
        sys.exit(f"check_hardening: {' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


def lacks_of_layout(program):
    """What the program's headers do not say."""
    headers, dynamic = read("readelf", "-hlW", program), read("readelf", "-dW", program)
    found = {
        "is not position independent": re.search(r"Type:\s+DYN", headers) and "PIE" in dynamic,
        "has an executable stack, or none that is marked": re.search(r"GNU_STACK\s.*\sRW\s", headers),
        "has pages that can be written and executed": not re.search(r"LOAD\s.*\sR?WE\s", headers),
        "has no RELRO": "GNU_RELRO" in headers,
        "binds functions late": re.search(r"FLAGS.*\b(BIND_NOW|NOW)\b", dynamic),
        "has a search path for libraries, or relocations in its code": not re.search("RPATH|RUNPATH|TEXTREL", dynamic),
    }
    return [what for what, good in found.items() if not good]


def lacks_of_code(program, symbols):
    """What the program's code does not do; SYMBOLS names a file that has its symbols."""
    names = read("readelf", "-sW", symbols)
    found = {
        "has no stack protector": "__stack_chk_fail" in names,
        "calls none of the checked functions of libc (_FORTIFY_SOURCE)": CHECKED.search(names),
        "checks no index and no iterator (_GLIBCXX_ASSERTIONS)": ASSERTION in names,
    }
    if "X86-64" in read("readelf", "-hW", program):
        code = read("objdump", "-d", "--no-show-raw-insn", program)
        found["does not probe its stack (-fstack-clash-protection)"] = PROBE.search(code)
    return [what for what, good in found.items() if not good]


def lacks_of_objects(archive):
    """What objects of ours lack: the programs hold those of the system's archives, too, which may have what ours lack."""
    names = read("nm", archive)
    lacks = []
    if not CHECKED.search(names):
        lacks.append("has no object that calls a checked function (_FORTIFY_SOURCE)")
    if "__stack_chk_fail" not in names:
        lacks.append("has no object with a stack protector")
    if ASSERTION not in names:
        lacks.append("has no object that checks indexes (_GLIBCXX_ASSERTIONS)")
    if "X86-64" in read("readelf", "-hW", archive):
        objects = len(read("ar", "t", archive).split())
        marked = len(re.findall(r"x86 feature: IBT, SHSTK", read("readelf", "-nW", archive)))
        if marked != objects:
            lacks.append(f"has {objects - marked} of {objects} objects without the notes of -fcf-protection")
    return lacks


def lacks_of_helper(helper):
    """A program that the agent carries for a library of the host is to start with the C library of any host."""
    names = read("readelf", "-sW", helper)
    lacks = lacks_of_layout(helper)
    if "__stack_chk_fail" not in names:
        lacks.append("has no stack protector")
    oldest = {"X86-64": {"GLIBC_2.2.5", "GLIBC_2.4"}, "AArch64": {"GLIBC_2.17"}}  # 2.4: the stack protector's
    machine = re.search(r"Machine:\s+.*?(X86-64|AArch64)", read("readelf", "-hW", helper))
    newer = set(re.findall(r"@(\w+_[\d.]+)", names)) - oldest.get(machine and machine[1], set())
    if newer:
        lacks.append(f"needs {', '.join(sorted(newer))}")
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", read("readelf", "-dW", helper)))
    needed.discard("ld-linux-aarch64.so.1")  # the one that loads it; on that processor it has the stack protector's value
    if needed != {"libc.so.6", "libdl.so.2", "libpthread.so.0"}:
        lacks.append(f"needs {', '.join(sorted(needed))}, not just what every system has")
    if helper.stat().st_size > 24_000:
        lacks.append(f"has {helper.stat().st_size} bytes; the limit is 24000")
    return lacks


def check(build):
    lacks = [f"sml-run-pmix {lack}" for lack in lacks_of_helper(build / "sml-run-pmix")]
    for name, archives in LIBRARIES.items():
        program, symbols = build / name, build / f"{name}.symbols"  # the agent's are cut off it
        lacks += [f"{name} {lack}" for lack in lacks_of_layout(program)]
        lacks += [f"{name} {lack}" for lack in lacks_of_code(program, symbols if symbols.exists() else program)]
        lacks += [f"{archive}, of {name}, {lack}" for archive in archives for lack in lacks_of_objects(build / archive)]
    return lacks


def self_test():
    """A program with everything passes, and each of the flags is missed when it is not given."""
    source = ("#include <cstdio>\n#include <cstring>\n#include <vector>\n"
              "int main(int count, char** words) {\n"
              "  volatile char large[65536] = {};\n  char text[16];\n  std::vector<int> numbers(2);\n"
              "  std::snprintf(text, static_cast<std::size_t>(count), \"%s\", words[0]);\n"
              "  return numbers[static_cast<std::size_t>(count)] + large[count * 100] + text[count];\n}\n")
    layout = {"-fPIE -pie": "position independent", "-Wl,-z,noexecstack": "executable stack", "-Wl,-z,relro": "RELRO",
              "-Wl,-z,now": "binds functions late"}
    code = {"-fstack-protector-strong": "stack protector", "-D_FORTIFY_SOURCE=3": "checked functions",
            "-D_GLIBCXX_ASSERTIONS": "_GLIBCXX_ASSERTIONS", "-fstack-clash-protection": "probe", "-fcf-protection=full": "notes of -fcf-protection"}
    instead = {"-fPIE -pie": "-fno-pie -no-pie", "-Wl,-z,noexecstack": "-Wl,-z,execstack", "-Wl,-z,relro": "-Wl,-z,norelro",
               "-Wl,-z,now": "-Wl,-z,lazy", "-fstack-protector-strong": "-fno-stack-protector", "-D_FORTIFY_SOURCE=3": "",
               "-D_GLIBCXX_ASSERTIONS": "", "-fstack-clash-protection": "-fno-stack-clash-protection",
               "-fcf-protection=full": "-fcf-protection=none"}
    def fault_without(missing):
        flags = [instead[flag] if flag == missing else flag for flag in (*layout, *code)]
        compiler = ("g++", "-std=c++20", "-O2", "-U_FORTIFY_SOURCE", *" ".join(flags).split(), "-o")
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "source.cc").write_text(source)
            read(*compiler, folder / "object.o", "-c", folder / "source.cc")
            read(*compiler, folder / "program", folder / "object.o")
            read("ar", "rcs", folder / "archive.a", folder / "object.o")
            lacks = lacks_of_layout(folder / "program") + lacks_of_code(folder / "program", folder / "program")
            lacks += lacks_of_objects(folder / "archive.a")
        expected = {**layout, **code}.get(missing)
        found = any(expected in lack for lack in lacks) if expected else not lacks
        return "" if found else f"check_hardening: self-test without {missing}: {lacks}"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [fault for fault in pool.map(fault_without, (None, *instead)) if fault]
    if faults:
        sys.exit("\n".join(faults))


def main():
    words = [word for word in sys.argv[1:] if word != "--self-test"]
    if "--self-test" in sys.argv:
        self_test()
    lacks = check(pathlib.Path(words[0])) if words else []
    for lack in lacks:
        print(lack)
    sys.exit(1 if lacks else 0)


if __name__ == "__main__":
    main()
