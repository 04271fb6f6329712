"""Every option that a launcher's own --help tells of (as recorded) is one of sml-run's under that launcher's name: it is taken
with as many values, or refused with a sentence. Else people's lines fail, or mean something else, without a test that says so.
"""
import json
import os
import re
import subprocess
import tempfile

PROGRAM = "/bin/the-program-of-the-check"  # --dry-run starts nothing
# Named in a help text, and no options: examples, and words of the text.
NO_OPTIONS = {"--", "-", "-h", "--help", "-help"}

NO_OPTIONS |= {"--container"}  # of srun, whose help does not say that a path follows
# Answered, and no program is started.
QUESTIONS = {"--version", "--print-completion", "-v", "-V", "-cb", "--check-build"}


def argparse_options(text):
    """(spellings, number of values or None where the text does not say it) of Python's argparse."""
    for line in text.splitlines():
        found = re.match(r"  (-\S.*)", line)
        if not found:
            continue
        words = re.split(r" {2,}", found[1])[0]
        names = re.findall(r"(?<![\w-])(--?[\w-]+)", words)
        yield names, 1 if re.search(r"--?[\w-]+[ =][A-Z{\[]", words) else 0


def openmpi_options(text):
    for line in text.splitlines():
        found = re.match(r" {0,3}(-[\w|-]+)((?: <arg\d>)*)", line)
        if found:
            yield found[1].split("|"), found[2].count("<")


def prterun_options(text):
    """A table, in whose first column long names are broken."""
    for block in re.split(r"^\+[-+]+\+$", text, flags=re.M):
        cell = "".join(row.strip() + ("" if row.strip().endswith("-") else " ")
                       for row in re.findall(r"^\| (.{20}) \|", block, re.M))
        yield re.findall(r"\"(-[\w-]+)", cell), None


def hydra_options(text):
    for line in text.splitlines():
        found = re.match(r" {2,4}((?:-[\w-]+/?)+)(?: |$)", line)
        if found:
            first = re.match(r"-[\w-]+", found[1])[0]
            yield [first, *("-" + name.lstrip("-") for name in found[1].split("/")[1:])], None


def srun_options(text):
    for line in text.splitlines():
        found = re.match(r" {2,6}(-\w, )?(--[\w-]+)(\[?=\S+)?", line)
        if found:
            names = [found[2], *([found[1][:2]] if found[1] else [])]
            yield names, None if (found[3] or "").startswith("[") else 1 if found[3] else 0


READERS = {"openmpi-5.0": prterun_options, "openmpi": openmpi_options, "hydra": hydra_options, "srun": srun_options}


def ask(link, spelling, values):
    """What sml-run makes of one option: taken, refused, or what is wrong."""
    end = [PROGRAM, "--of-the-program"]
    words = [spelling, *["1"] * (values or 0)]
    done = subprocess.run([link, "--dry-run", "--format", "json", *words, *end], capture_output=True, text=True, timeout=30,
                          env={"PATH": "/usr/bin:/bin"}, stdin=subprocess.DEVNULL, cwd="/")
    said = done.stderr.strip().splitlines()
    if f"unknown option {spelling};" in done.stderr:
        return "unknown"
    if spelling in QUESTIONS:
        return "taken"
    if done.returncode == 0 and values is not None and done.stdout.startswith("{"):
        command = json.dumps(json.loads(done.stdout))
        if PROGRAM not in command or f'"{PROGRAM}"' not in command:
            return f"takes other values than {values}"
        return "taken"
    if done.returncode == 0:
        return "taken"
    by_our_name = re.search(r"sml-run: --(hostfile|rankfile|app) 1: no such file", done.stderr)
    if values is None or by_our_name or any(spelling.lstrip("-").replace("_", "-") in line.replace("_", "-") for line in said):
        return "refused"
    return f"is taken with other values than {values}: {said[:1]}"


def check(binary, launchers, records):
    """Messages of what is wrong, and a line that sums up."""
    counts, wrong = {"taken": 0, "refused": 0}, []
    with tempfile.TemporaryDirectory() as folder:
        for launcher in launchers:
            link = os.path.join(folder, next(iter(launcher.calls)))
            if not os.path.lexists(link):
                os.symlink(binary, link)
            reader = READERS.get(launcher.name) or READERS.get(launcher.table, argparse_options)
            for names, values in reader(records[launcher.name].get("help", "")):
                for spelling in names:
                    if spelling in NO_OPTIONS or spelling.startswith("---"):
                        continue
                    answer = ask(link, spelling, values)
                    if answer in counts:
                        counts[answer] += 1
                    else:
                        wrong.append(f"{launcher.name}: {spelling}: {answer}")
    return sorted(set(wrong)), f"options of their help: {counts['taken']} taken, {counts['refused']} refused, {len(set(wrong))} wrong"
