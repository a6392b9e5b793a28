"""What has been read of one source so far."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

from ppo_top.files.update import Source, SourceUpdate
from ppo_top.model import ConfigValue, ConsoleLine, ConsoleLines, Problem, RunEnd, Series
from ppo_top.rules.console_text import TextEvidence, find_text_evidence
from ppo_top.text.format import count, plural

MAX_CONSOLE_LINES = 4_000
"""Console lines kept of one source: a tail to look at, not an archive."""

MAX_PROBLEMS_KEPT = 100
"""Problems kept of one source; all are counted."""

MAX_CONSOLE_EVIDENCE = 500
"""Telling console lines kept of one source: a flood of the same warning says nothing new."""

MAX_TAGS_KEPT = 20_000
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
    first_points: FirstPoints = field(default_factory=FirstPoints)
    config: dict[str, ConfigValue] = field(default_factory=dict)
    lines: deque[ConsoleLine] = field(default_factory=lambda: deque(maxlen=MAX_CONSOLE_LINES))
    evidence: list[tuple[ConsoleLine, TextEvidence]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    left_out_values: int = 0
    """values of tags beyond `MAX_TAGS_KEPT`"""
    points: int = 0
    ended: RunEnd | None = None
    mtime: float = 0.0
    size: int = 0
    more: bool = False
    """Whether it was known to hold more when it was last read."""
    held_points: int = 0
    """How many of the points are here."""
    newest_values: dict[str, float] = field(default_factory=dict)
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
        return self.source.format.precedence

    @property
    def left_out_text(self) -> str:
        """What was not kept, in words; empty where everything was."""
        if not self.left_out_values:
            return ""
        return (
            f"{plural(self.left_out_values, 'value')} left out: "
            f"only the first {count(MAX_TAGS_KEPT)} tags of a log are kept"
        )

    @property
    def creation_order(self) -> tuple[int, int, str]:
        """Sorts the files of one folder by creation: event files carry the time in their names."""
        found = _CREATED.search(self.source.path.name)
        if found is None:
            return 0, 0, self.key
        return int(found[1]), int(found[2] or 0), self.key

    @property
    def is_partial(self) -> bool:
        """Whether the beginning of a series was let go."""
        return any(series.dropped for series in self.series.values())

    def drop_unused(self, read: Container[int]) -> None:
        """Drop the points of series that nobody reads (`read`: ids of those that somebody does)."""
        for series in self.series.values():
            if id(series) not in read:
                series.drop_before(len(series))
        self.held_points = sum(len(series.steps) for series in self.series.values())

    def detach_state(self) -> tuple[Any, ...]:
        """Hand over what only judging and drawing need; `restore_state` comes before new points."""
        inner = self.series, self.lines, self.evidence
        self.series, self.lines, self.evidence = {}, deque(), []
        return inner

    def restore_state(self, inner: tuple[Any, ...]) -> None:
        """Take back what `detach_state` gave."""
        self.series, self.lines, self.evidence = inner

    def clear(self) -> None:
        """Forget what was read: the file was replaced or begins again."""
        for kept in (self.series, self.first_points, self.config, self.lines, self.evidence):
            kept.clear()
        self.problems.clear()
        self.points = self.held_points = self.first_points.rows = 0
        self.problem_count = self.left_out_values = 0
        self.ended = None

    def set_newest_values(self, gain: SourceUpdate) -> None:
        """Keep what stands at the end of a long log until it has been read that far."""
        self.newest_values = {points.tag: points.values[-1] for points in gain.batch.points}

    def add_update(self, gain: SourceUpdate) -> bool:
        """Add what a poll brought; True when it brought a tag, a setting or a word never seen."""
        if gain.reset:
            self.clear()
        self.mtime, self.size, self.more = gain.mtime, gain.size, gain.more
        batch = gain.batch
        fresh = gain.reset
        for points in batch.points:
            series = self.series.get(points.tag)
            if series is None:
                if len(self.series) >= MAX_TAGS_KEPT:
                    self.left_out_values += len(points)
                    continue
                if not len(points):
                    continue
                series = self.series[points.tag] = Series(points.tag)
                self.first_points[points.tag] = points.steps[0], points.values[0]
                fresh = True
            series.extend(points)
            self.first_points.rows = max(self.first_points.rows, len(series))
            self.points += len(points)
            self.held_points += len(points)
        for key, value in batch.config.items():
            fresh = fresh or self.config.get(key) != value
            self.config[key] = value
        fresh = self._add_lines(batch.lines) or fresh
        self.problem_count += len(batch.problems)
        self.problems.extend(batch.problems[: MAX_PROBLEMS_KEPT - len(self.problems)])
        if batch.ended is not None:
            self.ended = batch.ended
        elif batch.points:
            self.ended = None  # points behind an end: the run went on
        return fresh

    def _add_lines(self, lines: ConsoleLines) -> bool:
        """Keep the last lines, and those that are evidence."""
        self.lines.extend(lines.tail(MAX_CONSOLE_LINES))
        before = len(self.evidence)
        for part in lines.parts:
            if isinstance(part, ConsoleLine):
                self._add_if_evidence(part)
            elif find_text_evidence(part.first_line.text) is not None:
                for line in part.lines():
                    self._add_if_evidence(line)
        return len(self.evidence) > before

    def _add_if_evidence(self, line: ConsoleLine) -> None:
        found = (
            None if line.text.startswith("|") else find_text_evidence(line.text)
        )  # a row of a table
        if found is not None and len(self.evidence) < MAX_CONSOLE_EVIDENCE:
            self.evidence.append((line, found))
