"""The sources of the programs and the documents are plain English: names are those of GLOSSARY.md, and each comment and each
sentence has a subject."""
import pathlib
import re
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parent.parent
BEGINNINGS = re.compile(r"(Of|What|Whose|Who|Whoever|Those|Nothing|Nobody)\b")
ANYWHERE = re.compile(r"\b(is|are|be|been|was|were) told\b")
# Words that GLOSSARY.md has replaced, as parts of names in the code.
OLD_NAMES = re.compile(r"\b(Reach|LoginReach|CallReach|LocalReach|SshReach|CommandReach|AgentConduct|AttemptConduct|AnswersConduct|Judgement|Chore|Guest|"
                       r"GuestList|Entrance|Doorkeeper|Roster|HealthGate|LateHosts|PlanGrowth|Additions|LastingLink|LinkHold|ReturnDoor|Unheard|Vouch|Ruled|"
                       r"MpiMeeting|LoneMpi|HostedAgent|OwnPart|HeadsChoice|PlanCheck|CheckpointPause|Decider|Verdict|Happening|culprit|Occurrence|Obstacle|Pact|"
                       r"Surroundings|Around|Conduct|Wish|Said|Told|GoesOn|Meetings?|Speech|MpiSpeech|StoreDoor|NoticeDoor|Door|Callee|CallOwner|LastCall|"
                       r"Preparation|messenger|Shares|WorkerShare|Chatter|Inquiry|Questions|HostPoll|UseLooks|Fruitless|IsOurs|AskVouch|Seat|Facts|Untold|"
                       r"patience|keeper)\b")
ITEM = re.compile(r"^\s*([*-] |\| )")  # begins an item of a list, or a row of a table, of Markdown
# a comment of a line, not the inside of a string
COMMENT = re.compile(r"""^(?P<code>(?:[^"'/]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|/(?!/))*)//\s?(?P<text>.*)$""")


def comments(path):
    """(line, text) of each comment; lines that follow each other are one."""
    begun, words = 0, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = COMMENT.match(line)
        alone = found and not found["code"].strip()
        if words and not alone:
            yield begun, " ".join(words)
            words = []
        if not found:
            continue
        if not words:
            begun = number
        words.append(found["text"].strip())
        if not alone:
            yield begun, " ".join(words)
            words = []
    if words:
        yield begun, " ".join(words)


# Adjacent string literals, which are one text.
TEXT = re.compile(r'"(?:\\.|[^"\\])*"(?:\s*"(?:\\.|[^"\\])*")*')


def sentences_of_help(path):
    """(line, sentence) of the texts in a file of option rows."""
    source = path.read_text()
    for found in TEXT.finditer(source):
        text = re.sub(r'"\s*"', "", found.group()[1:-1])
        for sentence in re.split(r"(?<=[.:;?]) (?=[A-Z])", text):
            yield source.count("\n", 0, found.start()) + 1, sentence


def documents(tracked):
    """Manual pages and documents; those of tests/ are not for readers of the product."""
    notes = [REPO / name for name in tracked if name.endswith(".md") and (REPO / name).is_file()]
    return (*sorted((REPO / "man").iterdir()), *notes)


def main():
    tracked = subprocess.run(["git", "-C", REPO, "ls-files", "common", "launcher", "*.md", ":!tests"], stdout=subprocess.PIPE, text=True, check=True)
    bad = 0
    for name in tracked.stdout.split():
        if not name.endswith((".h", ".cc", ".c")) or not (REPO / name).is_file():
            continue
        for number, line in enumerate((REPO / name).read_text().splitlines(), 1):
            code = re.sub(r'"(?:\\.|[^"\\])*"', "", line).split("//")[0]
            for word in OLD_NAMES.findall(code):
                print(f"{name}:{number}: the name {word}; GLOSSARY.md has the word in its place")
                bad += 1
        for line, text in comments(REPO / name):
            word = BEGINNINGS.match(text) or ANYWHERE.search(text)
            if word:
                print(f'{name}:{line}: "{word.group()}" in "{text[:70]}"; write a subject that names the thing, and an active verb')
                bad += 1
    for path in sorted((REPO / "launcher/options/rows").glob("*.cc")):
        for number, sentence in sentences_of_help(path):
            word = BEGINNINGS.match(sentence) or ANYWHERE.search(sentence)
            if word:
                print(f'{path.relative_to(REPO)}:{number}: "{word.group()}" in "{sentence[:70]}"; write a subject that names the thing')
                bad += 1
    for path in documents(tracked.stdout.split()):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            word = BEGINNINGS.match(ITEM.sub("", line)) or ANYWHERE.search(line)
            if word:
                print(f'{path.relative_to(REPO)}:{number}: "{word.group()}" in "{line[:70]}"; write a subject that names the thing')
                bad += 1
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
