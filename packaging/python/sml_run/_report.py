"""The report of a job (sml-run --report) as typed values. The manual, sml-run(1), REPORT, says what each field means."""
import dataclasses
import json
from typing import Any, Dict, List, Optional


@dataclasses.dataclass(frozen=True)
class RankEnd:
    """How a rank ended."""
    rank: int
    host: str
    pid: Optional[int] = None
    end_s: Optional[float] = None
    text: str = ""                    # such as "exited with status 1"
    exit_code: Optional[int] = None
    signal: Optional[int] = None
    stopped_by: Optional[str] = None  # None: it ended by itself
    usage: Dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Culprit:
    """The rank that failed first by itself."""
    rank: int
    host: str
    error: Optional[str] = None       # the exception that it has reported
    callstack: Optional[str] = None
    out_of_memory: Optional[str] = None
    cause: Optional[Dict[str, Any]] = None  # kind, words and line
    last_lines: List[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class Attempt:
    attempt: int
    exit_code: int
    verdict: str
    started: float = 0.0
    duration_s: float = 0.0
    world_size: int = 0
    hosts: List[str] = dataclasses.field(default_factory=list)
    culprit: Optional[int] = None     # a rank
    culprit_host: Optional[str] = None
    failure: Optional[Culprit] = None  # why that rank failed


@dataclasses.dataclass(frozen=True)
class Report:
    job_id: str
    exit_code: int
    verdict: str
    started: float = 0.0              # seconds since 1970
    duration_s: float = 0.0
    culprit: Optional[Culprit] = None
    ranks: List[RankEnd] = dataclasses.field(default_factory=list)
    attempts: List[Attempt] = dataclasses.field(default_factory=list)
    data: Dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)  # all of it, as it stands in the file


def _taken(kind, values):
    """The fields that the class has; a newer program may write others."""
    names = {field.name for field in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in values.items() if name in names and value is not None})


def _rank_end(values):
    return _taken(RankEnd, {**values, **(values.get("status") or {})})


def _attempt(values):
    failure = values.get("failure")
    return _taken(Attempt, {**values, "failure": _taken(Culprit, failure) if failure else None})


def parse(text):
    """The report in a JSON text."""
    data = json.loads(text)
    culprit = data.get("culprit")
    parts = {"culprit": _taken(Culprit, culprit) if culprit else None,
             "ranks": [_rank_end(rank) for rank in data.get("ranks") or []],
             "attempts": [_attempt(attempt) for attempt in data.get("attempts") or []], "data": data}
    return _taken(Report, {**data, **parts})


def of(data):
    """The report in what a file for --report holds; None if the job has written none."""
    text = data.decode("utf-8", "replace")
    try:
        return parse(text) if text.strip() else None
    except ValueError:
        return None


def read(path):
    """The report in a file; None if the job has written none."""
    try:
        with open(path, "rb") as file:
            return of(file.read())
    except FileNotFoundError:
        return None
