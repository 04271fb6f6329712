#!/usr/bin/env python3
"""Holds the documentation against the program: tests/check_docs.py BUILD_FOLDER

* every option of `sml-run --help all` is in man/sml-run.1, those of `--help rare` in man/sml-run-launchers.7, every other
  spelling in either or in the table of the latter, and they have no other; what the dialects translate stands in that page's tables;
* what counts when an option is not given, as `sml-run --explain` has it from the same table, stands in its item there;
* --help all fits 100 columns and ends with three examples;
* every variable that workers get is in a manual, and every exit status in man/sml-run.1;
* man/sml-run.1 has at most 1500 lines of 80 columns, and references between the manuals lead somewhere;
* no macro of a manual does what its writer did not mean: a name that is the page's own, quotes within quotes, words taken for options;
* README.md, SKILL.md and the examples of the manuals use only options that exist, and relative links lead somewhere;
* ARCHITECTURE.md has a row for each room, and names no file that is not there.
"""
import json
import pathlib
import re
import subprocess
import sys

MOST_LINES = 1500
MOST_OPTIONS = 140
TABLES = {"mpirun": "mpirun of Open MPI", "hydra": "mpiexec.hydra", "horovodrun": "horovodrun", "torchrun": "torchrun", "srun": "srun",
          "deepspeed": "deepspeed", "accelerate": "accelerate launch"}
REPO = pathlib.Path(__file__).resolve().parents[1]
OPTION = re.compile(r"(?<![\w\[-])(--?[a-zA-Z][\w-]*)")


def options_of_help(text):
    """Every spelling at the head of an option's paragraph or after its "Also"."""
    found = set()
    for paragraph in re.findall(r"^ {1,8}-.*(?:\n {20,}.*)*", text, re.M):
        head, _, rest = re.sub(r"\n {20,}", "  ", paragraph).strip().partition("  ")
        found.update(OPTION.findall(head))
        for also in re.findall(r"\bAlso ((?: *--?[\w-]+)+)", re.sub(r"\s+", " ", rest)):
            found.update(also.split())
    return found


def options_of_man(text, heading="OPTIONS"):
    """The spellings in the list items and the "Also" lines of that section."""
    section = text.split(f"\n.Sh {heading}\n")[1].split("\n.Sh ")[0]
    found = set()
    for line in section.splitlines():
        if line.startswith((".It Fl", ".Pq Also Fl")):
            words = re.sub(r"^\.(It|Pq Also) Fl ", "", line).replace(" .", "").split(" , ")
            words = [w.removeprefix("Fl ") for w in words] if line.startswith(".Pq") else [words[0]]
            found.update("-" + w.split()[0] for w in words)
    return found


def other_spellings(launchers):
    """Those of the table "Other spellings"."""
    table = launchers.split(".Ss Other spellings")[1].split(".El")[0]
    return set(OPTION.findall("\n".join(line.partition(" Ta ")[0] for line in table.splitlines() if line.startswith(".It"))))


def missing_translations(launchers):
    """Options that a dialect's table translates one to one, and that the page's table of this launcher does not have."""
    for name, title in TABLES.items():
        source = (REPO / f"launcher/dialects/{name}.cc").read_text()
        table = launchers.split(f".Ss Options of {title}\n")[1].split(".El")[0].replace("_", "-")
        rows = re.findall(r'as_(?:option|count)\("([^"]+)", "([^"]+)"\)', source)
        if len(rows) < 3:
            raise SystemExit(f"the options cannot be found in launcher/dialects/{name}.cc any more")
        for names, ours in rows:
            for spelling in names.split():
                if not re.search(rf"^\.It .*-{spelling}\b(?!-).* Ta .*{ours}\b", table, re.M):
                    yield f"man/sml-run-launchers.7 does not say that {spelling} of {title} is {ours}"


def wrong_defaults(program, sections):
    """Values of the table that the items of these sections do not name."""
    text = subprocess.run([program, "--explain", "--format", "json", "true"], stdout=subprocess.PIPE, text=True, check=True,
                          env={}).stdout
    items = {}
    for item in re.split(r"\n(?=\.It Fl )", sections):
        if name := re.match(r"\.It Fl (\S+)", item):
            items["-" + name.group(1)] = re.sub(r"\s+", " ", item)
    rows = [row for row in json.loads(text)["options"] if row["source"] == "built-in" and row["value"] not in (None, "", "no")]
    if len(rows) < 15:
        raise SystemExit("the values cannot be found in --explain any more")
    for row in rows:
        words = re.split(r"(?<=\d)(?=s$)|,", row["value"])  # 10s may be "10 s", and a list has macros between
        if not re.search(r"(?<![\w.])" + r"[ ,]*(?:\.Cm )?".join(map(re.escape, words)) + r"(?!\w)",
                         items.get(row["option"], "")):
            yield f"no manual says that {row['option']} is {row['value']} where it is not given"


def wrong_references(pages):
    """Headings that a page does not have, and pages of ours that are not there."""
    for name, text in pages.items():
        headings = re.findall(r"^\.S[hs] (.*)", text, re.M)
        for line in re.findall(r"^\.(?:.* )?Sx (.*)", text, re.M):
            if not any(re.match(rf"{re.escape(heading)}(?= [.,;:)]|$| No )", line) for heading in headings):
                yield f"man/{name}: it has no heading {line}"
        for page, section in re.findall(r"Xr (sml-run\S*) (\d)", text):
            if f"{page}.{section}" not in pages:
                yield f"man/{name}: there is no {page}({section})"


MACRO = re.compile("[A-Z][a-z]$")
QUOTES = re.compile(r"\b(Qq|Dq|Sq|Aq|Bq|Brq)\b.*[ .]\1\b")  # each of these goes on to the end of its line


def words_as_options(line):
    """Words that Fl gives a dash: what follows a comma is an option too, what follows a word is not meant to be."""
    macro, given = "", []
    for word in line[1:].split() + ["No"]:
        if MACRO.match(word):
            yield from (second for first, second in zip(given, given[1:]) if first[0] not in ",|(" and second[0].isalnum())
            macro, given = word, []
        elif macro == "Fl":
            given.append(word)


def wrong_markup(pages):
    """Macros whose result is not what their line looks like."""
    for name, text in pages.items():
        for number, line in enumerate(text.splitlines(), 1):
            if not line.startswith(".") or line.startswith((".Dl", '.\\"')):
                continue
            where = f"man/{name}:{number}:"
            if not name.endswith(".1") and re.search(r"\bNm(?= *$| +[.,;:)]| +[A-Z][a-z]\b)", line):
                yield f"{where} Nm without a name stands for the page, not for sml-run"
            if QUOTES.search(line):
                yield f"{where} quotes within quotes; write each on a line of its own"
            for word in words_as_options(line):
                yield f"{where} Fl makes {word} an option"
        rendered = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=200", REPO / "man" / name], stdout=subprocess.PIPE, check=True).stdout.decode()
        rendered = re.sub(".\x08", "", rendered)
        for doubled in re.findall(r'.{0,30}(?:""|\.\.(?=\s)(?<!\.\.\.)).*', rendered):
            yield f"man/{name}: a mark is shown twice in: {doubled.strip()}"


def variables_of_source():
    text = (REPO / "common/plan/environment/worker_env.cc").read_text()
    names = re.findall(r'\b(?:Rank|Default)Variable\{"(\w+)"', text)
    names += re.findall(r'^constexpr std::string_view k\w+ = "([A-Z_]+)";', text, re.M)
    presets = re.findall(r'\bPreset(?:Variable|Default)\{Preset::\w+, "(\w+)"',
                         (REPO / "common/plan/environment/presets.cc").read_text())
    if len(presets) < 30:
        raise SystemExit("the variables cannot be found in common/plan/environment/presets.cc any more")
    return names + presets


def main():
    errors = []
    program = pathlib.Path(sys.argv[1]).resolve() / "sml-run"
    text, of_rare = (subprocess.run([program, "--help", topic], stdout=subprocess.PIPE, text=True, check=True).stdout for topic in ("all", "rare"))
    man = (REPO / "man/sml-run.1").read_text()
    readme = (REPO / "README.md").read_text() + (REPO / "SKILL.md").read_text()

    launchers = (REPO / "man/sml-run-launchers.7").read_text()
    common, rare = options_of_help(text), options_of_help(of_rare)
    apart = options_of_man(launchers, "RARE OPTIONS") | options_of_man(launchers, "OPTIONS UNDER OTHER NAMES")
    errors += [f"man/sml-run-launchers.7 has no rare option {o}" for o in sorted(rare - apart - other_spellings(launchers))]
    errors += [f"man/sml-run.1 has {o}, which is rare" for o in sorted(rare & options_of_man(man))]
    listed = text.count("\n       --") + len(re.findall(r"^ {2,3}-.*", text, re.M))
    if listed > MOST_OPTIONS:
        errors.append(f"--help all lists {listed} options, more than {MOST_OPTIONS}")
    known, described = common | rare, options_of_man(man) | apart | other_spellings(launchers)
    errors += [f"no manual has the option {o}" for o in sorted(known - described)]
    errors += missing_translations(launchers)
    errors += [f"the manuals have the option {o}, which --help does not" for o in sorted(described - known)]
    errors += wrong_defaults(program, "".join(page.split(f"\n.Sh {heading}\n")[1].split("\n.Sh ")[0] for page, heading in ((man, "OPTIONS"), (launchers, "RARE OPTIONS"))))
    errors += [f"--help all is wider than 100 columns: {line}" for line in text.splitlines() if len(line) > 100]
    examples = text.partition("\nExamples:\n")[2].splitlines()
    examples = [line for line in examples if re.match(" +sml-run ", line)]
    if len(examples) != 3:
        errors.append("--help all does not end with three examples")

    pages = {path.name: path.read_text() for path in sorted((REPO / "man").iterdir())}
    errors += wrong_references(pages)
    errors += wrong_markup(pages)
    screen = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=80", REPO / "man/sml-run.1"], stdout=subprocess.PIPE, check=True)
    if (lines := screen.stdout.count(b"\n")) > MOST_LINES:
        errors.append(f"man/sml-run.1 has {lines} lines of 80 columns, more than {MOST_LINES}")
    plain = man.replace("\\-", "-")
    everywhere = "".join(pages.values()).replace("\\-", "-")
    variables = variables_of_source()
    if len(variables) < 30:
        errors.append("the variables cannot be found in common/plan/environment/worker_env.cc any more")
    errors += [f"no manual has the variable {v}" for v in variables if not re.search(rf"\b{v}\b", everywhere)]
    statuses = plain.split(".Sh EXIT STATUS")[1].split("\n.Sh ")[0]
    for status in ("0", "2", "124", "125", "126", "127"):
        if f".It {status}\n" not in statuses:
            errors.append(f"man/sml-run.1 lacks the exit status {status}")

    calls = re.findall(r"^\s*(?:\.Dl )?\$? ?((?:build/)?sml-run .*)", readme + "".join(pages.values()), re.M)
    of_jobs = subprocess.run([program, "--help", "running"], stdout=subprocess.PIPE, text=True, check=True).stdout
    words = {line.split()[1]: set(re.findall(r"--?[a-z]+", line)) for line in of_jobs.splitlines() if line.startswith("  sml-run ")}
    for call in calls:
        known_here = words.get(call.split()[1], known)
        for word in re.sub(r"'[^']*'", "", call).split()[1:]:
            if not word.startswith("-"):
                if re.match(r"(python3|hostname|true|sh|/usr/bin/python3)$", word):
                    break  # the rest is the program's
            elif word in ("#", "--"):
                break
            elif word.split("=")[0] not in known_here:
                errors.append(f"'{call}' uses {word}, which is no option")
    if len(calls) < 5:
        errors.append("the examples cannot be found any more")

    for page in ("README.md", "SKILL.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGES.md"):
        for link in re.findall(r"\]\(([^)#:]+)\)", (REPO / page).read_text()):
            if not (REPO / link).exists():
                errors.append(f"{page}: the link to {link} leads nowhere")

    page = (REPO / "ARCHITECTURE.md").read_text()
    rooms = re.findall(r"^sml_room\(([\w/]+)", (REPO / "CMakeLists.txt").read_text(), re.M)
    errors += [f"ARCHITECTURE.md has no row for the room {room}" for room in rooms if f"\n| `{room}` |" not in page]
    errors += [f"ARCHITECTURE.md: there is no {path}" for path in re.findall(r"`((?:common|launcher|tests)/[\w/.]*\w)`", page)
               if not (REPO / path).exists()]

    print("\n".join(errors) or f"{listed} options of {len(known)} spellings, {len(variables)} variables, {len(calls)} examples agree")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
