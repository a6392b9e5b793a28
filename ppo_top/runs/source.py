"""What has been read of one source so far."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

from ppo_top.files.update import Gain, Source
from ppo_top.model import ConfigValue, Ended, Line, Lines, Problem, Series
from ppo_top.rules.console_text import TextEvidence, match
from ppo_top.text.format import count, plural

MOST_LINES = 4_000
"""Console lines kept of one source: a tail to look at, not an archive."""

MOST_PROBLEMS = 100
"""Problems kept of one source; all are counted."""

MOST_EVIDENCE = 500
"""Telling console lines kept of one source: a flood of the same warning says nothing new."""

MOST_TAGS = 20_000
"""Tags kept of one source: a log that makes a tag of every sample must not fill the memory."""

_CREATED = re.compile(r"tfevents\.(\d+)\..*?(\d*)(?:\.v2)?$")


class FirstPoints(dict[str, tuple[int, float]]):
    """tag -> step and value of its first point, of all tags that a source has by now.

    `rows` tells how many rows the source has: points of its longest series.
    """

    rows = 0


@dataclass(slots=True)
class SourceState:
    """Everything that one file or store gave, in columns."""

    source: Source
    series: dict[str, Series] = field(default_factory=dict)
    first: FirstPoints = field(default_factory=FirstPoints)
    config: dict[str, ConfigValue] = field(default_factory=dict)
    lines: deque[Line] = field(default_factory=lambda: deque(maxlen=MOST_LINES))
    evidence: list[tuple[Line, TextEvidence]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    left_out_values: int = 0
    """values of tags beyond `MOST_TAGS`"""
    points: int = 0
    ended: Ended | None = None
    mtime: float = 0.0
    size: int = 0
    more: bool = False
    """Whether it was known to hold more when it was last read."""
    held: int = 0
    """How many of the points are here."""
    newest: dict[str, float] = field(default_factory=dict)
    """tag -> the value at the end of a long log, while that is read from its beginning."""

    @property
    def key(self) -> str:
        """The path below the watched one: what `source` says in exports."""
        return self.source.key

    @property
    def format(self) -> str:
        """The name of the format."""
        return self.source.format.name

    @property
    def rank(self) -> int:
        """How good the source is beside others that hold the same."""
        return self.source.format.rank

    @property
    def left_out(self) -> str:
        """What was not kept, in words; empty where everything was."""
        if not self.left_out_values:
            return ""
        return (
            f"{plural(self.left_out_values, 'value')} left out: "
            f"only the first {count(MOST_TAGS)} tags of a log are kept"
        )

    @property
    def created(self) -> tuple[int, int, str]:
        """Sorts the files of one folder by creation: event files carry the time in their names."""
        found = _CREATED.search(self.source.path.name)
        if found is None:
            return 0, 0, self.key
        return int(found[1]), int(found[2] or 0), self.key

    @property
    def is_partial(self) -> bool:
        """Whether the beginning of a series was let go."""
        return any(series.dropped for series in self.series.values())

    def let_go(self, read: Container[int]) -> None:
        """Drop the points of series that nobody reads (`read`: ids of those that somebody does)."""
        for series in self.series.values():
            if id(series) not in read:
                series.let_go(len(series))
        self.held = sum(len(series.steps) for series in self.series.values())

    def take_out(self) -> tuple[Any, ...]:
        """Hand over all that only judging and drawing need; nothing may be taken until `put_in`."""
        inner = self.series, self.lines, self.evidence
        self.series, self.lines, self.evidence = {}, deque(), []
        return inner

    def put_in(self, inner: tuple[Any, ...]) -> None:
        """Take back what `take_out` gave."""
        self.series, self.lines, self.evidence = inner

    def clear(self) -> None:
        """Forget what was read: the file was replaced or begins again."""
        for kept in (self.series, self.first, self.config, self.lines, self.evidence):
            kept.clear()
        self.problems.clear()
        self.points = self.held = self.first.rows = 0
        self.problem_count = self.left_out_values = 0
        self.ended = None

    def take_ahead(self, gain: Gain) -> None:
        """Keep what stands at the end of a long log until it has been read that far."""
        self.newest = {points.tag: points.values[-1] for points in gain.batch.points}

    def take(self, gain: Gain) -> bool:
        """Add what a poll brought; True when it brought a tag, a setting or a word never seen."""
        if gain.reset:
            self.clear()
        self.mtime, self.size, self.more = gain.mtime, gain.size, gain.more
        batch = gain.batch
        fresh = gain.reset
        for points in batch.points:
            series = self.series.get(points.tag)
            if series is None:
                if len(self.series) >= MOST_TAGS:
                    self.left_out_values += len(points)
                    continue
                if not len(points):
                    continue
                series = self.series[points.tag] = Series(points.tag)
                self.first[points.tag] = points.steps[0], points.values[0]
                fresh = True
            series.extend(points)
            self.first.rows = max(self.first.rows, len(series))
            self.points += len(points)
            self.held += len(points)
        for key, value in batch.config.items():
            fresh = fresh or self.config.get(key) != value
            self.config[key] = value
        fresh = self._take_text(batch.lines) or fresh
        self.problem_count += len(batch.problems)
        self.problems.extend(batch.problems[: MOST_PROBLEMS - len(self.problems)])
        if batch.ended is not None:
            self.ended = batch.ended
        elif batch.points:
            self.ended = None  # points behind an end: the run went on
        return fresh

    def _take_text(self, lines: Lines) -> bool:
        """Keep the last lines, and those that are evidence."""
        self.lines.extend(lines.tail(MOST_LINES))
        before = len(self.evidence)
        for part in lines.parts:
            if isinstance(part, Line):
                self._look(part)
            elif match(part.first.text) is not None:
                for line in part.lines():
                    self._look(line)
        return len(self.evidence) > before

    def _look(self, line: Line) -> None:
        found = None if line.text.startswith("|") else match(line.text)  # a row of a table
        if found is not None and len(self.evidence) < MOST_EVIDENCE:
            self.evidence.append((line, found))
