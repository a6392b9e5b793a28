"""What a parser returns (`Batch` of `Points`), and the columns that keep it (`Series`)."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ppo_top.model.console_lines import ConsoleLines
from ppo_top.model.histogram import Histogram
from ppo_top.model.verdicts import State

ConfigValue = float | int | bool | str


@dataclass(frozen=True, slots=True)
class Points:
    """New points of one tag, in file order, as three columns of equal length.

    `steps` is array("q"), `times` array("d") in unix seconds (NaN: unknown), `values` array("d"),
    NaN and infinities included.
    """

    tag: str
    steps: array[int]
    times: array[float]
    values: array[float]

    def __len__(self) -> int:
        return len(self.steps)


class Problem(NamedTuple):
    """Something unreadable: its byte offset (or the row of a store), and what is wrong."""

    offset: int
    message: str


class Sample(NamedTuple):
    """What one value of a metric is a measurement of.

    `kind`: `episode` (one episode), `window` (the mean of the last `episodes` episodes), `update`
    (the mean of what one update collected), `evaluation`, or empty while unknown.
    """

    kind: str = ""
    episodes: int = 0


UNKNOWN_SAMPLE = Sample()


class RunEnd(NamedTuple):
    """How a log ended, and its text: `State.FINISHED`, `DIED`, or `ENDED` for a closed pipe."""

    state: State
    text: str


@dataclass(slots=True)
class Batch:
    """What a parser read from one chunk of a log; empty when it needs more bytes.

    However a file is cut into chunks, all its batches together hold the same: points of each tag in
    file order, lines, configuration, problems and end. `ended` holds at the end of the chunk:
    points after a traceback mean that the run went on (None).
    """

    points: list[Points] = field(default_factory=list)
    config: dict[str, ConfigValue] = field(default_factory=dict)
    lines: ConsoleLines = field(default_factory=ConsoleLines)
    problems: list[Problem] = field(default_factory=list)
    ended: RunEnd | None = None
    notes: list[str] = field(default_factory=list)
    """How the log is written, where that matters to its reader; each is said once."""
    stored_run: str = ""
    """Of several runs in one log: the name of that to which this batch belongs; "" for the first
    of a file, of which the others have numbers."""
    rest: list[Batch] = field(default_factory=list)
    """Of a file of several runs: the batches of those that begin in the same chunk."""
    interleaved: bool = False
    """Of a file of several runs: whether records of one may come after those of the next."""
    restarted: bool = False
    """Of a store: the run was written anew, so that its earlier batches are void."""
    counts_updates: bool = False
    """Whether the step of its last record is only its number, since the log states none."""
    histograms: dict[str, Histogram] = field(default_factory=dict)
    """The newest one of each tag; the points hold quantiles of all, at `<tag>@p50` and the like."""
    machine: list[Points] = field(default_factory=list)
    """What a tracker measured of the machine; the steps are the times in whole seconds."""

    def add(self, later: Batch) -> None:
        """Append what was read after it from the same log."""
        last = self.rest[-1] if self.rest else self
        if later.stored_run == last.stored_run:
            last._add_same(later)
            self.rest += later.rest
        else:
            self.rest += [replace(later, rest=[]), *later.rest]

    def _add_same(self, later: Batch) -> None:
        """Append what belongs to the same run."""
        if later.points:
            self.counts_updates = later.counts_updates
        self.points += later.points
        self.machine += later.machine
        self.config.update(later.config)
        self.histograms.update(later.histograms)
        self.lines.extend(later.lines)
        self.problems += later.problems
        self.notes += later.notes
        self.ended = later.ended or self.ended

    def __bool__(self) -> bool:
        said = self.config or self.problems or self.notes
        found = self.points or self.machine or self.lines or said or self.ended
        return bool(found or self.restarted or self.rest)

    def as_one(self) -> Batch:
        """The same, for readers that keep a log as one run."""
        for later in self.rest:
            self._add_same(later)
        self.rest, self.stored_run = [], ""
        return self


@dataclass(slots=True)
class Series:
    """All points of one tag of one source, as growing columns of equal length.

    To save memory the oldest points may have been dropped: `dropped` of them. They still count in
    the length, and the first element of a column is point number `dropped`.
    """

    tag: str
    steps: array[int] = field(default_factory=lambda: array("q"))
    times: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("d"))
    dropped: int = 0

    def __len__(self) -> int:
        return self.dropped + len(self.steps)

    def extend(self, points: Points) -> None:
        """Append the points of a batch."""
        self.steps.extend(points.steps)
        self.times.extend(points.times)
        self.values.extend(points.values)

    def drop_before(self, until: int) -> None:
        """Drop the points before number `until`, but always keep the newest."""
        count = min(until, len(self) - 1) - self.dropped
        if count > 0:
            for column in (self.steps, self.times, self.values):
                del column[:count]
            self.dropped += count
