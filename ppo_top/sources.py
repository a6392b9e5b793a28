"""What has been read of one source so far."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ppo_top.follow import Gain, Source
from ppo_top.model import ConfigValue, Ended, Line, Problem, Series
from ppo_top.rules.text import TextEvidence, match

MOST_LINES = 4_000
"""Console lines kept of one source: a tail to look at, not an archive."""

MOST_PROBLEMS = 100
"""Problems kept of one source; all are counted."""

MOST_EVIDENCE = 500
"""Telling console lines kept of one source: a flood of the same warning says nothing new."""

MOST_TAGS = 20_000
"""Tags kept of one source: a log that makes a tag of every sample must not fill the memory."""

_CREATED = re.compile(r"tfevents\.(\d+)\..*?(\d*)(?:\.v2)?$")


class FirstPoints(Mapping[str, tuple[int, float]]):
    """tag -> step and value of its first point, of all tags that a source has by now."""

    def __init__(self, source: SourceState) -> None:
        self._source = source

    @property
    def rows(self) -> int:
        """How many rows the source has: points of its longest series."""
        return max(map(len, self._source.series.values()), default=0)

    def __getitem__(self, tag: str) -> tuple[int, float]:
        series = self._source.series[tag]
        return series.steps[0], series.values[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._source.series)

    def __len__(self) -> int:
        return len(self._source.series)


@dataclass(slots=True)
class SourceState:
    """Everything that one file or store gave, in columns."""

    source: Source
    series: dict[str, Series] = field(default_factory=dict)
    config: dict[str, ConfigValue] = field(default_factory=dict)
    lines: deque[Line] = field(default_factory=lambda: deque(maxlen=MOST_LINES))
    evidence: list[tuple[Line, TextEvidence]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    tags_left_out: int = 0
    points: int = 0
    ended: Ended | None = None
    mtime: float = 0.0
    size: int = 0

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
    def created(self) -> tuple[int, int, str]:
        """Sorts the files of one folder by creation: event files carry the time in their names."""
        found = _CREATED.search(self.source.path.name)
        if found is None:
            return 0, 0, self.key
        return int(found[1]), int(found[2] or 0), self.key

    def clear(self) -> None:
        """Forget what was read: the file was replaced or begins again."""
        for kept in (self.series, self.config, self.lines, self.evidence, self.problems):
            kept.clear()
        self.points = self.problem_count = self.tags_left_out = 0
        self.ended = None

    def take(self, gain: Gain) -> bool:
        """Add what a poll brought; True when it brought a tag, a setting or a word never seen."""
        if gain.reset:
            self.clear()
        self.mtime, self.size = gain.mtime, gain.size
        batch = gain.batch
        fresh = gain.reset
        for points in batch.points:
            series = self.series.get(points.tag)
            if series is None:
                if len(self.series) >= MOST_TAGS:
                    self.tags_left_out += 1
                    continue
                series = self.series[points.tag] = Series(points.tag)
                fresh = True
            series.extend(points)
            self.points += len(points)
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

    def _take_text(self, lines: list[Line]) -> bool:
        before = len(self.evidence)
        for line in lines:
            self.lines.append(line)
            found = match(line.text)
            if found is not None and len(self.evidence) < MOST_EVIDENCE:
                self.evidence.append((line, found))
        return len(self.evidence) > before
