"""SwanLab's local store of 0.4 to 0.7: `runs.swanlab`, an SQLite database, and one folder a run.

The database knows the runs, how they ended, and in which numbered folder the points of a tag are;
the points are JSON lines in `run-*/logs/<folder>/<1000, 2000, ...>.log`, a thousand to a file.
SwanLab's measurements of the machine (`__swanlab__...`) are left out.
"""

from __future__ import annotations

import re
import sqlite3
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from ppo_top.model import Batch, Columns, Ended, Problem, State
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.json_values import as_float, load
from ppo_top.parsers.shared.number_text import whole
from ppo_top.parsers.shared.sqlite_snapshot import MAGIC, Busy, Row, Snapshot
from ppo_top.parsers.shared.timestamps import iso

_SYSTEM = "__swanlab__."
_RUNS = "SELECT id, run_id, status FROM experiment ORDER BY id"
_TAGS = "SELECT experiment_id, name, folder FROM tag ORDER BY id"
_ENDS = {1: Ended(State.FINISHED, "finished"), -1: Ended(State.DIED, "crashed")}
_PIECE = 1 << 20
_LOOKS = 256
"""Files that are looked at in one go for growth; the others have their turn at the next."""


@dataclass
class _Tag:
    """One tag's files, as far as they were read."""

    name: str
    folder: Path
    number: int = 1000
    offset: int = 0

    @property
    def path(self) -> Path:
        return self.folder / f"{self.number}.log"

    def next_path(self) -> Path | None:
        """The next file, once it exists."""
        path = self.folder / f"{self.number + 1000}.log"
        return path if path.exists() else None

    def grown(self) -> bool:
        """Whether there is more to read."""
        try:
            return self.path.stat().st_size > self.offset or self.next_path() is not None
        except OSError:
            return False


@dataclass
class _Run:
    """One run of the store."""

    part: str
    tags: dict[str, _Tag] = field(default_factory=dict)
    status: int = 0
    told: int = 0


class SwanlabStore:
    """Follows all runs of one `runs.swanlab`; each is a part, named as its folder."""

    def __init__(self, path: Path) -> None:
        self._folder = path.parent
        self._snapshot = Snapshot(path)
        self._runs: dict[int, _Run] = {}
        self._waiting: deque[Batch] = deque()
        self._turn: deque[_Tag] = deque()
        self._complained = ""

    def poll(self, limit: int) -> Batch:
        """New points of one run, or how it ended."""
        if not self._waiting:
            problem = self._refresh()
            if problem is not None:
                return Batch(problems=[problem])
            for run in self._runs.values():
                batch = self._read(run, limit)
                if batch:
                    self._waiting.append(batch)
        return self._waiting.popleft() if self._waiting else Batch()

    def changed(self) -> bool:
        """Whether one of the files grew; those of many runs are looked at in turn."""
        for _ in range(min(_LOOKS, len(self._turn))):
            self._turn.rotate(-1)
            if self._turn[-1].grown():
                return True
        return False

    def close(self) -> None:
        """Delete the private copy."""
        self._snapshot.close()

    def _refresh(self) -> Problem | None:
        """Ask the database for runs and tags; what it cannot say is said once."""
        try:
            self._snapshot.refresh()
            self._know(self._snapshot.rows(_RUNS), self._snapshot.rows(_TAGS))
        except Busy:
            return None
        except (sqlite3.Error, OSError) as error:
            what = f"cannot be read: {error}"
            known, self._complained = self._complained, what
            return Problem(0, what) if what != known else None
        self._complained = ""
        return None

    def _know(self, runs: list[Row], tags: list[Row]) -> None:
        for number, name, status in runs:
            part = _plain(name)
            if part and isinstance(number, int):
                run = self._runs.setdefault(number, _Run(part))
                run.status = status if isinstance(status, int) else 0
        for number, name, folder in tags:
            known = self._runs.get(number)
            words = _word(name)
            if known is None or words in known.tags or words.startswith(_SYSTEM):
                continue
            place = _plain(folder) or quote(words, safe="")
            tag = _Tag(words, self._folder / known.part / "logs" / place)
            known.tags[words] = tag
            self._turn.append(tag)

    def _read(self, run: _Run, limit: int) -> Batch:
        """The new lines of all tags; the end only when no line is left."""
        found = Columns()
        problems: list[Problem] = []
        left = max(1, limit // max(1, len(run.tags)))
        more = False
        for tag in run.tags.values():
            told = 0  # an answer without anything would say that there is nothing more
            for line in self._lines(tag):
                what = _point(found, tag.name, line)
                told += what is not None
                if what:
                    problems.append(Problem(tag.offset, f"{tag.path.name} of {tag.name}: {what}"))
                if told >= left:
                    more = True
                    break
        batch = Batch(points=found.take(), problems=problems, part=run.part)
        if not more and run.status != run.told:
            run.told = run.status
            batch.ended = _ENDS.get(run.status)
        return batch

    def _lines(self, tag: _Tag) -> Iterator[bytes]:
        """The complete lines that were not read yet; a line counts as read when it is given."""
        while True:
            try:
                with open(tag.path, "rb") as file:
                    file.seek(tag.offset)
                    data = file.read(_PIECE)
            except OSError:
                return
            for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
                tag.offset += len(line)
                yield line
            if b"\n" in data:
                continue
            if len(data) == _PIECE:  # a line without end
                tag.offset += len(data)
                continue
            if tag.next_path() is None:
                return
            tag.number, tag.offset = tag.number + 1000, 0


def _point(found: Columns, name: str, line: bytes) -> str | None:
    """Add the point of one line; gives what is wrong with it, None where there is nothing in it."""
    if not line.strip():
        return None
    try:
        record = load(line)
    except ValueError as error:
        return f"a line cannot be read: {error}"
    if not isinstance(record, dict):
        return "a line is no object"
    index, value = as_float(record.get("index")), as_float(record.get("data"))
    step = None if index is None else whole(index)
    if step is None or value is None:
        return None
    found.add(name, step, iso(record.get("create_time")), value)
    return ""


def _word(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _plain(value: object) -> str:
    """The name of a folder; nothing that leads elsewhere."""
    name = _word(value)
    return "" if not name or "/" in name or "\0" in name or name.startswith(".") else name


class _Silent:
    """For files that are read by way of their store."""

    def feed(self, data: bytes) -> Batch:
        """Nothing: the database knows the names."""
        return Batch()

    def finish(self) -> Batch:
        """Nothing."""
        return Batch()


def claims(_name: str, head: bytes) -> bool | None:
    """Whether the file is an SQLite database."""
    if len(head) < len(MAGIC):
        return None if MAGIC.startswith(head) else False
    return head.startswith(MAGIC)


def claims_points(_name: str, head: bytes) -> bool | None:
    """Whether the file holds points of the store."""
    if not head:
        return None
    return head.startswith(b'{"index":') and b'"create_time"' in head[:300]


FORMATS = (
    Format(
        name="swanlab-store",
        names=re.compile(r"^runs\.swanlab$"),
        claims=claims,
        order=9,
        rank=86,
        store=SwanlabStore,
    ),
    Format(
        name="swanlab-store-points",
        names=re.compile(r"^[1-9]\d{0,6}000\.log$"),
        claims=claims_points,
        order=9,
        parser=_Silent,
    ),
)
