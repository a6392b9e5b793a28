"""SwanLab's local store of 0.4 to 0.7: an SQLite database `runs.swanlab`, and a folder per run.

The database holds the runs, how they ended, and the folder of each tag. The points are JSON lines
in `run-*/logs/<folder>/<1000, 2000, ...>.log`, a thousand per file; those of the hardware have tags
that begin with `__swanlab__.`.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from ppo_top.model import Batch, Problem, RunEnd, State
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.columns import ColumnBuilder, MachineColumns
from ppo_top.parsers.shared.documents.json_values import as_float, parse_json
from ppo_top.parsers.shared.stores.magic import claims_by_magic
from ppo_top.parsers.shared.stores.sqlite_snapshot import (
    SQLITE_MAGIC,
    DatabaseBusy,
    SqliteRow,
    SqliteSnapshot,
)
from ppo_top.parsers.shared.stores.timestamps import parse_iso_time
from ppo_top.parsers.shared.text.number_text import as_step
from ppo_top.parsers.swanlab.parser import SYSTEM_TAG_PREFIX

_RUNS_QUERY = "SELECT id, run_id, status FROM experiment ORDER BY id"
_TAGS_QUERY = "SELECT experiment_id, name, folder FROM tag ORDER BY id"
_END_BY_STATUS = {1: RunEnd(State.FINISHED, "finished"), -1: RunEnd(State.DIED, "crashed")}
_READ_BYTES = 1 << 20
_FILES_PER_CHECK = 256
"""Files checked for growth per call; the others follow in the next."""


class _TagFiles:
    """One tag's files, and how far they have been read."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.file_number = 1000
        self.offset = 0

    @property
    def path(self) -> Path:
        return self.folder / f"{self.file_number}.log"

    def next_path(self) -> Path | None:
        """The next file, once it exists."""
        path = self.folder / f"{self.file_number + 1000}.log"
        return path if path.exists() else None

    def has_grown(self) -> bool:
        """Whether there is more to read."""
        try:
            return self.path.stat().st_size > self.offset or self.next_path() is not None
        except OSError:
            return False


class _StoredRun:
    """One run of the store."""

    def __init__(self, part: str) -> None:
        self.part = part
        self.tags: dict[str, _TagFiles] = {}
        self.status = 0
        self.reported_status = 0


class SwanlabStore:
    """Follows all runs of one `runs.swanlab`, named after their folders."""

    def __init__(self, path: Path) -> None:
        self._folder = path.parent
        self._snapshot = SqliteSnapshot(path)
        self._runs: dict[int, _StoredRun] = {}
        self._pending: deque[Batch] = deque()
        self._check_queue: deque[_TagFiles] = deque()
        self._last_problem = ""

    def poll(self, limit: int) -> Batch:
        """The new points of one run, or how it ended."""
        if not self._pending:
            problem = self._refresh_runs()
            if problem is not None:
                return Batch(problems=[problem])
            for run in self._runs.values():
                batch = self._read_run(run, limit)
                if batch:
                    self._pending.append(batch)
        return self._pending.popleft() if self._pending else Batch()

    def side_files_changed(self) -> bool:
        """Whether one of the files grew; many files are checked in turn."""
        if self._snapshot.is_due:
            return True
        for _ in range(min(_FILES_PER_CHECK, len(self._check_queue))):
            self._check_queue.rotate(-1)
            if self._check_queue[-1].has_grown():
                return True
        return False

    def close(self) -> None:
        """Delete the private copy."""
        self._snapshot.close()

    def _refresh_runs(self) -> Problem | None:
        """Read runs and tags from the database; a failure is reported once."""
        try:
            self._snapshot.refresh()
            self._update_runs(self._snapshot.rows(_RUNS_QUERY), self._snapshot.rows(_TAGS_QUERY))
        except DatabaseBusy:
            return None
        except (sqlite3.Error, OSError) as error:
            what = f"cannot be read: {error}"
            known, self._last_problem = self._last_problem, what
            return Problem(0, what) if what != known else None
        self._last_problem = ""
        return None

    def _update_runs(self, runs: list[SqliteRow], tags: list[SqliteRow]) -> None:
        for number, name, status in runs:
            part = _folder_name(name)
            if part and isinstance(number, int):
                run = self._runs.setdefault(number, _StoredRun(part))
                run.status = status if isinstance(status, int) else 0
        for number, name, folder in tags:
            known = self._runs.get(number)
            words = _decode_text(name)
            if known is None or words in known.tags:
                continue
            place = _folder_name(folder) or quote(words, safe="")
            tag = _TagFiles(words, self._folder / known.part / "logs" / place)
            known.tags[words] = tag
            self._check_queue.append(tag)

    def _read_run(self, run: _StoredRun, limit: int) -> Batch:
        """The new lines of all tags; how the run ended only when none is left."""
        found, machine = ColumnBuilder(), MachineColumns()
        problems: list[Problem] = []
        left = max(1, limit // max(1, len(run.tags)))
        more = False
        for tag in run.tags.values():
            count = 0  # an empty batch would mean that there is nothing more
            for line in self._new_lines(tag):
                what = _add_point(found, machine, tag.name, line)
                count += what is not None
                if what:
                    problems.append(Problem(tag.offset, f"{tag.path.name} of {tag.name}: {what}"))
                if count >= left:
                    more = True
                    break
        batch = Batch(found.pop_points(), problems=problems, stored_run=run.part)
        batch.machine = machine.pop_points()
        if not more and run.status != run.reported_status:
            run.reported_status = run.status
            batch.ended = _END_BY_STATUS.get(run.status)
        return batch

    def _new_lines(self, tag: _TagFiles) -> Iterator[bytes]:
        """The complete lines that were not read yet; a line counts as read once it is yielded."""
        while True:
            try:
                with open(tag.path, "rb") as file:
                    file.seek(tag.offset)
                    data = file.read(_READ_BYTES)
            except OSError:
                return
            for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
                tag.offset += len(line)
                yield line
            if b"\n" in data:
                continue
            if len(data) == _READ_BYTES:  # a line without end
                tag.offset += len(data)
                continue
            if tag.next_path() is None:
                return
            tag.file_number, tag.offset = tag.file_number + 1000, 0


def _add_point(found: ColumnBuilder, machine: MachineColumns, name: str, line: bytes) -> str | None:
    """Add the point of one line; "" if it has one, None if it is empty, else what is wrong."""
    if not line.strip():
        return None
    try:
        record = parse_json(line)
    except ValueError as error:
        return f"unreadable line: {error}"
    if not isinstance(record, dict):
        return "line is not a JSON object"
    step, value = as_step(as_float(record.get("index"))), as_float(record.get("data"))
    if step is None or value is None:
        return None
    time = parse_iso_time(record.get("create_time"))
    if name.startswith(SYSTEM_TAG_PREFIX):
        machine.add_sample(name, time, value)
    else:
        found.add_point(name, step, time, value)
    return ""


def _decode_text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def _folder_name(value: object) -> str:
    """A folder name; "" if it is a path to somewhere else."""
    name = _decode_text(value)
    return "" if not name or "/" in name or "\0" in name or name.startswith(".") else name


class _NoPointsParser:
    """For files that are read through their store."""

    def feed(self, data: bytes) -> Batch:
        """Nothing: the database knows the names."""
        return Batch()

    def finish(self) -> Batch:
        """Nothing."""
        return Batch()


def claims_points(_name: str, head: bytes) -> bool | None:
    """Whether the file holds points of the store."""
    if not head:
        return None
    return head.startswith(b'{"index":') and b'"create_time"' in head[:300]


FORMATS = (
    Format(
        name="swanlab-store",
        claims=claims_by_magic(SQLITE_MAGIC),
        claim_order=9,
        precedence=86,
        store=SwanlabStore,
    ),
    Format(
        name="swanlab-store-points",
        claims=claims_points,
        claim_order=9,
        parser=_NoPointsParser,
    ),
)
