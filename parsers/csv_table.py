"""Tables in files: progress.csv of SB3 and RLlib, progress.txt of Spinning Up, any CSV.

SB3 writes its columns in no fixed order and rewrites the file from the start when a key appears;
the follower then starts this parser anew. Words, booleans and empty cells give no point.
"""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Sequence
from itertools import compress

from ppo_top.model import UNKNOWN_TIME, Batch, ConfigValue, Ended, Problem, State
from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared import metric_names as vocabulary
from ppo_top.parsers.shared.axes import STEPS, TIMES, step_name, unix
from ppo_top.parsers.shared.columns import Sheet
from ppo_top.parsers.shared.last_values import of_table
from ppo_top.parsers.shared.line_splitter import LONGEST, Segment, Segments
from ppo_top.parsers.shared.number_text import number, whole

_BLOCK = 1 << 18
"""Bytes that are turned into columns at once."""
_MOST_COLUMNS = 20_000
_SETTING = "config/"


class CsvLog:
    """Reads one table with a header; the delimiter (comma, tab, semicolon) is the header's."""

    def __init__(self, longest: int = LONGEST) -> None:
        self._segments = Segments(longest)
        self._longest = longest
        self._delimiter = ","
        self._tags: list[str] = []
        self._step_at: int | None = None
        self._time_at: int | None = None
        self._row: list[Segment] = []  # a row that a quoted line end has cut
        self._row_bytes = 0
        self._count = 0
        self._step = 0
        self._begin()

    def _begin(self) -> None:
        self._sheet = Sheet()
        self._config: dict[str, ConfigValue] = {}
        self._problems: list[Problem] = []
        self._ended: Ended | None = None

    def feed(self, data: bytes) -> Batch:
        """Take the next bytes of the file and give the complete rows."""
        piece, place = self._segments.add(data)
        position = plain_from = 0
        while position < len(piece):
            end = piece.find(b"\n", min(position + _BLOCK, len(piece) - 1)) + 1
            block = piece[position:end] if end else piece[position:]
            if self._tags and not self._row and position >= plain_from:
                if self._columns(block):
                    position += len(block)
                    continue
                plain_from = position + len(block)  # row by row: to try again would cost a square
            segment, position = self._segments.cut(piece, place, position)
            if segment is not None and (segment.data.strip() or self._row):
                self._line(segment)
        return self._take()

    def finish(self) -> Batch:
        """Nothing: a row without its end may be cut in the middle of a number."""
        return self._take()

    def _take(self) -> Batch:
        problems = self._segments.take_problems() + self._problems
        problems.sort(key=lambda problem: problem.offset)
        batch = Batch(self._sheet.take(), self._config, problems=problems, ended=self._ended)
        self._begin()
        return batch

    # --- row by row ------------------------------------------------------------------------------

    def _line(self, segment: Segment) -> None:
        """Take a line; a row is complete when its quotes are."""
        self._row.append(segment)
        self._row_bytes += len(segment.data) + 1
        quotes = sum(part.data.count(b'"') for part in self._row)
        if quotes % 2 and self._row_bytes <= self._longest:
            return
        start = self._row[0].offset
        text = b"\n".join(part.data for part in self._row).decode("utf-8", "replace")
        self._row, self._row_bytes = [], 0
        if quotes % 2:
            self._problems.append(Problem(start, "a quote that is never closed"))
            return
        try:
            cells = self._cells(text)
        except csv.Error as problem:
            self._problems.append(Problem(start, f"quotes that cannot be read: {problem}"))
            return
        if self._tags:
            self._cells_of_row(cells, start)
        else:
            self._header(cells, start)

    def _cells(self, text: str) -> list[str]:
        if not self._tags:
            self._delimiter = delimiter_of(text)
        if '"' not in text:
            return text.split(self._delimiter)
        return next(csv.reader([text], delimiter=self._delimiter), [])

    def _header(self, cells: Sequence[str], start: int) -> None:
        tags = [cell.strip().lstrip("\ufeff") for cell in cells]
        if len(tags) > _MOST_COLUMNS:
            self._problems.append(Problem(start, f"only {_MOST_COLUMNS:,} columns are read"))
        self._tags = tags[:_MOST_COLUMNS]
        time = next((name for name in TIMES if name in self._tags), None)
        self._step_at = _index(self._tags, step_name(self._tags))
        self._time_at = _index(self._tags, time)

    def _cells_of_row(self, cells: Sequence[str], start: int) -> None:
        if len(cells) > len(self._tags):
            what = f"a row of {len(cells)} cells below a header of {len(self._tags)}"
            self._problems.append(Problem(start, what))
            return
        numbers = [number(cell) if cell else None for cell in cells]
        self._count += 1
        at = None if self._step_at is None else _at(numbers, self._step_at)
        step = None if at is None else whole(at)
        self._step = step if step is not None else (self._step or self._count)
        if self._step_at is None:
            self._step = self._count
        time = unix(_at(numbers, self._time_at))
        for tag, cell, value in zip(self._tags, cells, numbers, strict=False):
            self._cell(tag, cell, value, time)

    def _cell(self, tag: str, cell: str, value: float | None, time: float) -> None:
        if value is None:
            if tag == "done" and cell == "True":
                self._ended = Ended(State.FINISHED, "done: True")
        elif tag.startswith(_SETTING):
            self._config[tag.removeprefix(_SETTING)] = value
        elif tag:
            self._sheet.add(tag, self._step, time, value)

    # --- column by column ------------------------------------------------------------------------

    def _columns(self, block: bytes) -> bool:
        """Turn many plain rows at once; False when a row is not plain or says no step."""
        if (
            len(block) > min(2 * _BLOCK, self._longest)
            or b'"' in block
            or b"\r" in block
            or self._step_at is None
        ):
            return False
        delimiter = self._delimiter.encode()
        rows = [line.split(delimiter) for line in block.split(b"\n")[:-1]]
        width = len(self._tags)
        if any(len(row) != width for row in rows):
            return False
        columns = list(zip(*rows, strict=True))
        try:
            steps = array("q", map(_whole, columns[self._step_at]))
            times = _times(columns[self._time_at] if self._time_at is not None else (), len(rows))
        except (ValueError, OverflowError):
            return False
        if not rows or not _distinct_plain(self._tags):
            return False
        for tag, cells in zip(self._tags, columns, strict=True):
            self._column(tag, cells, steps, times)
        self._count += len(rows)
        self._step = steps[-1]
        return True

    def _column(
        self, tag: str, cells: Sequence[bytes], steps: array[int], times: array[float]
    ) -> None:
        if b"" in cells:
            there = [bool(cell) for cell in cells]
            cells = list(compress(cells, there))
            steps = array("q", compress(steps, there))
            times = array("d", compress(times, there))
        try:
            self._sheet.column(tag, steps, times, array("d", map(float, cells)))
        except ValueError:
            for cell, step, time in zip(cells, steps, times, strict=True):
                value = number(cell.decode("utf-8", "replace"))
                if value is not None:
                    self._sheet.add(tag, step, time, value)


def _index(tags: Sequence[str], name: str | None) -> int | None:
    return None if name is None else tags.index(name)


def _at(numbers: Sequence[float | None], place: int | None) -> float | None:
    return numbers[place] if place is not None and place < len(numbers) else None


def _whole(cell: bytes) -> int:
    """A step of a plain row, `2048` or `2.048e+06`; a ValueError where it is none."""
    if cell.isdigit():
        return int(cell)
    step = whole(float(cell))
    if step is None:
        raise ValueError("no step")
    return step


def _times(cells: Sequence[bytes], rows: int) -> array[float]:
    if not cells:
        return array("d", [UNKNOWN_TIME]) * rows
    return array("d", (unix(float(cell)) for cell in cells))


def _distinct_plain(tags: Sequence[str]) -> bool:
    """Whether every column is one of numbers over steps (RLlib's settings and end are not).

    Two of one name would give their points by column, not by row.
    """
    plain = all(tag and tag != "done" and not tag.startswith(_SETTING) for tag in tags)
    return plain and len(set(tags)) == len(tags)


def delimiter_of(header: str) -> str:
    """The character that parts the columns of a header."""
    return max(",\t;", key=header.count)


_NAMES = re.compile(r"\.(?:csv|tsv)$|^progress\.txt$", re.IGNORECASE)
_FEWEST = 2
_LONG_FORM = "tag"
"""A column of tables that hold one point a row, such as what `ppo-top export` writes."""


def columns_of(head: bytes) -> list[str] | None:
    """The column names at the start of a file; None when the header is not complete yet."""
    line, end, _ = head.partition(b"\n")
    if not end and len(head) < HEAD_BYTES:
        return None
    text = line.decode("utf-8", "replace").strip().lstrip("\ufeff")
    return [name.strip('"') for name in text.split(delimiter_of(text))]


def claims(name: str, head: bytes) -> bool | None:
    """Whether the header names a step and a metric."""
    if b"\x00" in head or head.startswith(b"#{"):
        return False
    columns = columns_of(head)
    if columns is None:
        return None
    if (
        len(columns) < _FEWEST
        or _LONG_FORM in columns
        or any(number(column) is not None for column in columns if column)
    ):
        return False
    ends = [column.rpartition("/")[2] for column in columns]
    stepped = any(vocabulary.axis(end) for end in ends) or bool(set(columns) & set(STEPS))
    charted = any(vocabulary.is_metric(column) for column in columns)
    return charted and (stepped or name.startswith("progress."))


def claims_sb3(name: str, head: bytes) -> bool | None:
    """Whether a progress.csv is Stable-Baselines3's; its header may still grow until it says so."""
    answer = claims(name, head)
    columns = columns_of(head) or []
    ours = any(column.startswith(("time/", "rollout/", "train/")) for column in columns)
    if ours and answer is False:
        return None
    return ours if answer else answer


FORMATS = (
    Format(
        name="sb3-csv",
        names=re.compile(r"^progress\.csv$"),
        claims=claims_sb3,
        order=20,
        rank=60,
        parser=CsvLog,
        rewritten=True,
        newest=of_table(CsvLog),
        held=True,
    ),
    Format(
        name="csv",
        names=_NAMES,
        claims=claims,
        order=60,
        rank=50,
        parser=CsvLog,
        newest=of_table(CsvLog),
    ),
)
