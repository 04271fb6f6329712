"""Takes what the ranks of a launch send out of the output of sml-run: lines that hold the token of the job. All else is
handed on byte for byte. Pure."""
import base64


class Frames:
    """`sent[rank]` is (kind, bytes) of the last complete message of a rank; `begun` has the ranks that have called in."""

    def __init__(self, token, limit):
        self._mark = b"\x1e" + token.encode() + b" "
        self._limit = limit   # bytes of one message
        self._rest = b""      # of a line that has not ended
        self._tags = {}       # length of what stands before the lines of a rank
        self._parts = {}
        self.sent = {}
        self.begun = set()

    def take(self, data):
        """Bytes of the output; returns those that are not ours. Empty: the output is over."""
        if not data:
            rest, self._rest = self._rest, b""
            return rest
        data = self._rest + data
        end = data.rfind(b"\n") + 1
        self._rest = data[end:]
        shown = b""
        # A line without the mark's first byte need not wait for its end, as a prompt or a bar has none.
        if b"\x1e" not in self._rest:
            shown, self._rest = self._rest, b""
        whole = data[:end]
        if self._mark in whole:
            whole = b"".join(self._line(line) for line in whole.splitlines(keepends=True))
        return whole + shown

    def _line(self, line):
        at = line.find(self._mark)
        if at < 0:
            return line
        words = line[at + len(self._mark):].split()
        if len(words) < 4 or not all(word.isdigit() for word in (words[0], words[2], words[3])):
            return line
        rank, kind = int(words[0]), words[1].decode("ascii", "replace")
        self._add(rank, kind, int(words[2]), int(words[3]), words[4] if len(words) > 4 else b"")
        before = line[:at]
        if kind == "begin":
            self.begun.add(rank)
            self.sent.pop(rank, None)  # of an attempt before
            self._tags[rank] = len(before)
            return b""
        # What the function wrote last had no end of line.
        return before + b"\n" if len(before) > self._tags.get(rank, 0) else b""

    def _add(self, rank, kind, number, count, text):
        parts = self._parts.setdefault(rank, [])
        if number == 0:
            parts.clear()
        if number != len(parts):
            return
        parts.append(base64.b64decode(text))
        if number == count - 1:
            data = b"".join(parts)
            parts.clear()
            if kind != "begin" and len(data) <= self._limit + (1 << 20):
                self.sent[rank] = (kind, data)
