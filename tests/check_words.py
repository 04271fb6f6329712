"""The sources of the programs and the documents are plain English: names are those of GLOSSARY.md, and each comment and each
sentence has a subject. A protocol does not speak: programs send, print, report or name. Examples: self_test(),
which --self-test runs."""
import pathlib
import re
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parent.parent
BEGINNINGS = re.compile(r"(Of|What|Whose|Who|Whoever|Those|Nothing|Nobody)\b")
ANYWHERE = re.compile(r"\b(is|are|be|been|was|were) told\b")
SENTENCE_END = re.compile(r"(?<=[.:;?]) (?=[A-Z])")
# Verbs of people, for which a comment or a message has a better one: sends, prints, reports, names, receives, asks.
SPEECH = r"\b(says?|said|hears?|heard|tells?|told|speaks?|spoken?)\b"
IN_COMMENTS = re.compile(SPEECH, re.IGNORECASE)
QUOTED = re.compile(r'"[^"]*"|`[^`]*`')  # words of others, or of the code
# The same, and words of the project's past that no user knows.
IN_MESSAGES = re.compile(SPEECH + r"|\b(wish(es)?|obstacles?|remarks?|words on|vouch(es|ed)?|nobody (knows|saw)|has not been asked for)\b",
                         re.IGNORECASE)
# This room still has its old words: only the names and the first sentences of its comments are looked at.
NOT_YET = "launcher/attempt/"
# Words that GLOSSARY.md has replaced, as parts of names in the code.
OLD_NAMES = re.compile(r"\b(Reach|LoginReach|CallReach|LocalReach|SshReach|CommandReach|AgentConduct|AttemptConduct|AnswersConduct|Judgement|Chore|Guest|"
                       r"GuestList|Entrance|Doorkeeper|Roster|HealthGate|LateHosts|PlanGrowth|Additions|LastingLink|LinkHold|ReturnDoor|Unheard|Vouch|Ruled|"
                       r"MpiMeeting|LoneMpi|HostedAgent|OwnPart|HeadsChoice|PlanCheck|CheckpointPause|Decider|Verdict|Happening|culprit|Occurrence|Obstacle|Pact|"
                       r"Surroundings|Around|Conduct|Wish|Said|Told|GoesOn|Meetings?|Speech|MpiSpeech|StoreDoor|NoticeDoor|Door|Callee|CallOwner|LastCall|"
                       r"Preparation|messenger|Shares|WorkerShare|Chatter|Inquiry|Questions|HostPoll|UseLooks|Fruitless|IsOurs|AskVouch|Seat|Facts|Untold|"
                       r"patience|keeper|Reckon|reckon|reckoned|Dealer|LastWords|last_words|say_last_words|hear|hear_out|hear_[a-z]+|come_back|go_on_for|Handlers)\b")
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
        for sentence in SENTENCE_END.split(text):
            yield source.count("\n", 0, found.start()) + 1, sentence


def bad_in_comment(text, all_rules=True):
    """The first wrong words of a comment, or None."""
    first, *others = SENTENCE_END.split(text)
    found = BEGINNINGS.match(first) or ANYWHERE.search(text)
    if not found and all_rules:
        found = next(filter(None, map(BEGINNINGS.match, others)), None) or IN_COMMENTS.search(QUOTED.sub("", text))
    return found and found.group()


def old_names(code):
    return [one.group() for one in OLD_NAMES.finditer(code)]


def code_without_comments(path):
    """The lines of a source, without comments and what it includes."""
    for line in path.read_text().splitlines():
        found = COMMENT.match(line)
        yield "" if line.startswith("#include") else found["code"] if found else line


def messages(path):
    """(line, text) of each literal in the code, adjacent ones together."""
    code = "\n".join(code_without_comments(path))
    for found in TEXT.finditer(code):
        yield code.count("\n", 0, found.start()) + 1, re.sub(r'"\s*"', "", found.group()[1:-1])


def bad_in_message(text):
    found = IN_MESSAGES.search(text)
    return found and found.group()


def self_test():
    """What the rules find, and what they let pass."""
    for text, words in (("What the agent knows.", "What"), ("Starts it. Those that wait come last.", "Those"),
                        ("Begins. Nothing: it is over.", "Nothing"), ("The agent tells its name.", "tells"),
                        ("The agent was told to end.", "was told"), ('A row, such as "nobody says why". Sends it.', None),
                        ("The launcher sends `told`, and prints what it has.", None)):
        assert bad_in_comment(text) == words, text
    assert bad_in_comment("Starts it. Those that wait say so.", all_rules=False) is None
    for text, words in (("sent wishes for ranks", "wishes"), ("104 obstacles", "obstacles"), ("the host speaks no protocol", "speaks"),
                        ("workers were ended, and nobody knows by whom", "nobody knows"), ("nothing heard for 2 s", "heard"),
                        ("nothing received for 2 s", None), ("not_started,_see_what_sml-run_said", None)):
        assert bad_in_message(text) == words, text
    for code, words in (("Handlers handlers;", ["Handlers"]), ("Dealer dealer_;", ["Dealer"]), ("hear_status();", ["hear_status"]), ("shear();", [])):
        assert old_names(code) == words, code


def documents(tracked):
    """Manual pages and documents; those of tests/ are not for readers of the product."""
    notes = [REPO / name for name in tracked if name.endswith(".md") and (REPO / name).is_file()]
    return (*sorted((REPO / "man").iterdir()), *notes)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    tracked = subprocess.run(["git", "-C", REPO, "ls-files", "common", "launcher", "*.md", ":!tests"], stdout=subprocess.PIPE, text=True, check=True)
    bad = 0
    for name in tracked.stdout.split():
        if not name.endswith((".h", ".cc", ".c")) or not (REPO / name).is_file():
            continue
        all_rules = not name.startswith(NOT_YET)
        for number, line in enumerate((REPO / name).read_text().splitlines(), 1):
            code = re.sub(r'"(?:\\.|[^"\\])*"', "", line).split("//")[0]
            for word in old_names(code):
                print(f"{name}:{number}: the name {word}; GLOSSARY.md has the word in its place")
                bad += 1
        for line, text in comments(REPO / name):
            if word := bad_in_comment(text, all_rules):
                print(f'{name}:{line}: "{word}" in "{text[:70]}"; write a subject that names the thing, and an active verb')
                bad += 1
        for line, text in messages(REPO / name) if all_rules else ():
            if word := bad_in_message(text):
                print(f'{name}:{line}: "{word}" in the text "{text[:70]}"; write what failed, where, why and what to do')
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
