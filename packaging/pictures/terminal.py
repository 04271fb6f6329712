#!/usr/bin/python3
"""The moving picture in README.md, failure.svg: a terminal in which a rank fails, and the job goes on.

  packaging/pictures/terminal.py record     (as root, after a build) runs the job on hosts of the testbed, and writes what its
                                            terminal gets, and when, to failure.cast, in the format of asciinema
  packaging/pictures/terminal.py draw       makes failure.svg of failure.cast

The picture has no script; who prefers less motion sees the last screen. A test runs the job again and compares."""
import fcntl
import itertools
import json
import os
import pathlib
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
import time
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parents[1]
TESTBED = REPO / "tests/testbed/testbed"
CAST, PICTURE = HERE / "failure.cast", HERE / "failure.svg"
COLUMNS, ROWS = 92, 20
LINE = "sml-run -H algo-[1-2]:4 --max-restarts 1 python3 train.py"
HOSTS = 2

# ---- what a terminal does with the bytes; others than these stop the drawing

TOKEN = re.compile(r"\x1b\[(?P<number>[\d;]*)(?P<end>[A-Za-z])|(?P<control>[\r\n])|(?P<text>[^\x00-\x1f\x7f]+)")


class Screen:
    """Rows of (letter, colour), the colour as the number of SGR or ""."""

    def __init__(self):
        self.lines, self.row, self.column, self.colour = [[]], 0, 0, ""

    def feed(self, text):
        at = 0
        while at < len(text):
            token = TOKEN.match(text, at)
            if token is None:
                raise ValueError(f"a terminal's {text[at:at + 8]!r} is not known here")
            at = token.end()
            if token["text"]:
                self.put(token["text"])
            elif token["control"] == "\r":
                self.column = 0
            elif token["control"] == "\n":
                self.down()
            elif token["end"] == "m":
                self.colour = token["number"].strip("0")
            elif token["end"] in "JK" and token["number"] in ("", "0"):  # to the end of the screen, or of the line
                del self.lines[self.row][self.column:]
                if token["end"] == "J":
                    del self.lines[self.row + 1:]
            else:
                raise ValueError(f"a terminal's {token[0]!r} is not known here")

    def put(self, text):
        for char in text:
            if self.column == COLUMNS:
                self.column = 0
                self.down()
            line = self.lines[self.row]
            line.extend([(" ", "")] * (self.column - len(line)))
            line[self.column:self.column + 1] = [(char, self.colour)]
            self.column += 1

    def down(self):
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append([])

    def shown(self):
        """Its last rows, each a tuple of (text, colour)."""
        return [pieces(line) for line in self.lines[-ROWS:]]


def pieces(line):
    groups = [(colour, "".join(char for char, _ in group)) for colour, group in itertools.groupby(line, key=lambda cell: cell[1])]
    return tuple((text, colour) for colour, text in groups)


def text_of(cast):
    """All lines that stay, those that have scrolled away, too."""
    screen = Screen()
    for _, chunk in cast:
        screen.feed(chunk)
    lines = ["".join(char for char, _ in line).rstrip() for line in screen.lines]
    return [line for line in lines if line]


def masked(lines):
    """Without times and numbers that differ from run to run."""
    return [re.sub(r"\(pid \d+\)", "(pid N)", re.sub(r"\b\d+\.\d+ s\b", "N s", line)) for line in lines]


# ---- the run

def run_in_terminal(command):
    """[(seconds, text)] that a terminal gets from it, and its status."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    began, cast = time.monotonic(), []
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True) as job:
        os.close(slave)
        left = b""
        while True:
            try:
                left += os.read(master, 65536)
            except OSError:  # nobody has it open any more
                break
            text = left.decode(errors="ignore")
            left = left[len(text.encode()):]
            cast.append((round(time.monotonic() - began, 3), text))
    os.close(master)
    return cast, job.returncode


def on_testbed(folder, programs):
    """The words that run LINE on the first host of a testbed that is up, in that folder, which all hosts see and has train.py."""
    return [TESTBED, "exec", "head", "sh", "-c", f"cd {shlex.quote(str(folder))} && PATH={shlex.quote(str(programs))}:/usr/bin:/bin exec {LINE}"]


def record():
    os.environ["SML_TESTBED"] = "pic"
    with tempfile.TemporaryDirectory(prefix="sml-picture-") as folder:
        (pathlib.Path(folder) / "train.py").write_text((HERE / "train.py").read_text())
        subprocess.run([TESTBED, "up", str(HOSTS), "-q", "--share", folder, "--share", REPO], check=True)
        try:
            subprocess.run(on_testbed(folder, REPO / "build"), capture_output=True)  # sends the agent to the hosts
            for left in pathlib.Path(folder).iterdir():
                if left.name != "train.py":
                    left.unlink()
            cast, status = run_in_terminal(on_testbed(folder, REPO / "build"))
        finally:
            subprocess.run([TESTBED, "down"], check=True)
    if status != 0:
        raise SystemExit(f"the job ended with status {status}:\n" + "\n".join(text_of(cast)))
    with CAST.open("w") as file:
        print(json.dumps({"version": 2, "width": COLUMNS, "height": ROWS, "command": LINE}), file=file)
        for at, text in cast:
            print(json.dumps([at, "o", text]), file=file)


def recorded():
    _, *rows = CAST.read_text().splitlines()
    return [(at, text) for at, _, text in map(json.loads, rows)]


# ---- the picture

TYPING, BEFORE, AFTER = 0.045, 0.7, 6.0  # seconds for a letter of the command, and at rest before it runs and at the end
WIDTH, HEIGHT, LEFT, TOP = 8.4, 19, 16, 46  # of a letter and a line, and where the first one is

COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#d6a84b", "34": "#79b8ff", "35": "#d2a8ff", "36": "#56c8d8",
           "91": "#ffa198", "92": "#9be9a8", "93": "#f2cc60", "94": "#a5d6ff", "95": "#e2c5ff", "96": "#8be9f5"}


def frames():
    """[(seconds, lines)], each as long as until the next."""
    out = [(0.0, [(("$ ", ""),)])]
    for length in (*range(2, len(LINE), 2), len(LINE)):
        out.append((out[-1][0] + 2 * TYPING, [(("$ " + LINE[:length], ""),)]))
    begin = out[-1][0] + BEFORE
    screen = Screen()
    screen.feed("$ " + LINE + "\r\n")
    for at, text in recorded():
        screen.feed(text)
        if out and begin + at - out[-1][0] < 0.03:
            out.pop()  # an eye sees the later one
        out.append((begin + at, screen.shown()))
    return out


def intervals(states, end):
    """[(row, line, from, to)]: each line as long as it stands in its row."""
    found = []
    for row in range(ROWS):
        at = [(begin, lines[row] if row < len(lines) else ()) for begin, lines in states]
        for text, group in itertools.groupby(at, key=lambda one: one[1]):
            begin = next(group)[0]
            if text:
                later = [one for one, other in at if one > begin and other != text]
                found.append((row, text, begin, later[0] if later else end))
    return found


def kind(text):
    text = text.lstrip()
    if text.startswith("$ "):
        return "typed"
    if re.match(r"sml-run: (rank \d+ .*(exited|was killed)|attempt \d+ failed)", text) or "RuntimeError" in text:
        return "bad"
    if text.startswith("sml-run: "):
        return "own"
    return "out"


def drawn():
    states = frames()
    end = states[-1][0] + AFTER
    height = TOP + ROWS * HEIGHT
    width = round(2 * LEFT + COLUMNS * WIDTH)
    rules, texts = {}, []
    for row, line, begin, until in intervals(states, end):
        text = "".join(piece for piece, _ in line)
        inside = "".join(f'<tspan class="c{colour}">{escape(piece)}</tspan>' if colour else escape(piece) for piece, colour in line)
        rule = ""
        if begin > 0 or until < end:
            a, b = (f"{100 * value / end:.2f}%" for value in (begin, until))
            steps = [f"0%{{visibility:{'visible' if begin == 0 else 'hidden'}}}"] + ([f"{a}{{visibility:visible}}"] if begin > 0 else [])
            steps += [f"{b}{{visibility:hidden}}"] if until < end else []
            rule = rules.setdefault("".join(steps), f"k{len(rules)}")
        gone = "" if until == end else " g"
        texts.append(f'<text class="{kind(text)}{gone}" x="{LEFT}" y="{TOP + row * HEIGHT + 14}" textLength="{len(text) * WIDTH:.1f}"'
                     + (f' style="animation-name:{rule}"' if rule else "") + f'>{inside}</text>')
    keyframes = "\n".join(f"@keyframes {name}{{{steps}}}" for steps, name in rules.items())
    colours = sorted({colour for _, lines in states for line in lines for _, colour in line if colour})
    shades = "".join(f".c{colour}{{fill:{COLOURS[colour]}}}" for colour in colours)
    lines = "\n".join(text_of(recorded()))
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + 12}" width="{width}" height="{height + 12}" role="img">
<title>A terminal: {escape(LINE)}</title>
<desc>{escape(lines)}</desc>
<style>
text{{font:14px "DejaVu Sans Mono",Menlo,Consolas,monospace;white-space:pre;fill:#d5dbe3;animation:{end:.2f}s step-end infinite}}
.typed{{fill:#fff;font-weight:bold}}.own{{fill:#8fb8e8}}.bad{{fill:#ff8b7d}}{shades}
.g{{visibility:hidden}}
@media (prefers-reduced-motion:reduce){{text{{animation:none}}}}
{keyframes}
</style>
<rect width="100%" height="100%" rx="9" fill="#14181f"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
{chr(10).join(texts)}
</svg>
"""


if __name__ == "__main__":
    if sys.argv[1:] not in (["record"], ["draw"]):
        sys.exit(__doc__)
    record() if sys.argv[1] == "record" else PICTURE.write_text(drawn())
