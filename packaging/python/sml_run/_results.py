"""What the ranks of a launch have sent: the file of `sml-run --results`. Pure."""
import struct

HEAD = struct.Struct(">cQ")   # before each message: its kind, and the bytes that follow
RESULT, RAISED, UNLOADED, UNSENT = b"R", b"X", b"L", b"U"


def read(file, attempt=None):
    """{rank: (kind, bytes)}: the last message of each rank in that attempt, by default the last one of the file. `file` is
    read from where it stands. What has no end is left out."""
    streams = {}
    for number, rank, data in _records(file):
        streams.setdefault(number, {}).setdefault(rank, []).append(data)
    if not streams:
        return {}
    pieces = streams.get(max(streams) if attempt is None else attempt, {})
    messages = {rank: _last_message(b"".join(data)) for rank, data in pieces.items()}
    return {rank: message for rank, message in messages.items() if message is not None}


def _records(file):
    """(attempt, rank, bytes) of each record."""
    while True:
        words = file.readline(100).split()
        if len(words) != 3 or not all(word.isdigit() for word in words):
            return
        attempt, rank, size = map(int, words)
        data = file.read(size)
        if len(data) < size:
            return
        yield attempt, rank, data


def _last_message(stream):
    at, last = 0, None
    while at + HEAD.size <= len(stream):
        kind, size = HEAD.unpack_from(stream, at)
        at += HEAD.size + size
        if at > len(stream):
            break
        last = kind, stream[at - size:at]
    return last
