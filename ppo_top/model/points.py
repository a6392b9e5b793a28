"""What a parser returns (`Batch` of `Points`), and the columns that keep it (`Series`)."""

from __future__ import annotations

from array import array

from ppo_top.model.console_lines import ConsoleLines
from ppo_top.model.histogram import Histogram
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.model.verdicts import State

ConfigValue = float | int | bool | str


def as_number(value: ConfigValue | None) -> float | None:
    """A setting's value as a number; None for a text, a switch or what is unknown."""
    return None if value is None or isinstance(value, (bool, str)) else float(value)


class Points:
    """New points of one tag, in file order, as three columns of equal length.

    `steps` is array("q"), `times` array("d") in unix seconds (NaN: unknown), `values` array("d"),
    NaN and infinities included.
    """

    __slots__ = ("steps", "tag", "times", "values")

    def __init__(
        self, tag: str, steps: array[int], times: array[float], values: array[float]
    ) -> None:
        self.tag = tag
        self.steps = steps
        self.times = times
        self.values = values

    def __len__(self) -> int:
        return len(self.steps)


class Problem(NamedTuple):
    """Something unreadable: its byte offset (or the row of a store), and what is wrong."""

    offset: int
    message: str


class Sample(NamedTuple):
    """What one value of a metric is a measurement of.

    `kind`: `episode` (one episode), `window` (the mean of the last `episodes` episodes), `update`
    (the mean of what one update collected), `step` (the mean of its steps), `evaluation`, or empty
    while unknown.
    """

    kind: str = ""
    episodes: int = 0


UNKNOWN_SAMPLE = Sample()


class RunEnd(NamedTuple):
    """How a log ended: `State.FINISHED`, `DIED` or `ENDED`, and its text.

    `is_said`: the log says so; else nothing follows, which it may after all of its steps.
    """

    state: State
    text: str
    is_said: bool = True


class Batch:
    """What a parser read from one chunk of a log; empty when it needs more bytes.

    However a file is cut into chunks, all its batches together hold the same: points of each tag in
    file order, lines, configuration, problems and end. `ended` holds at the end of the chunk:
    points after a traceback mean that the run went on (None). `notes` say how the log is written,
    where that matters to its reader; each is said once. `stored_run`: of several runs in one log,
    the name of that to which this batch belongs; "" for the first of a file, of which the others
    have numbers. `counts_updates`: the step of its last record is only its number, since the log
    states none. `histograms` has the newest one of each tag; the points hold quantiles of all, at
    `<tag>@p50` and the like. `title` is what a tracker calls the run.
    """

    def __init__(
        self,
        points: list[Points] | None = None,
        config: dict[str, ConfigValue] | None = None,
        lines: ConsoleLines | None = None,
        problems: list[Problem] | None = None,
        ended: RunEnd | None = None,
        notes: list[str] | None = None,
        *,
        stored_run: str = "",
        restarted: bool = False,
        counts_updates: bool = False,
        histograms: dict[str, Histogram] | None = None,
        machine: list[Points] | None = None,
        title: str = "",
    ) -> None:
        self.points = [] if points is None else points
        self.config = {} if config is None else config
        self.lines = ConsoleLines() if lines is None else lines
        self.problems = [] if problems is None else problems
        self.ended = ended
        self.notes = [] if notes is None else notes
        self.stored_run = stored_run
        self.rest: list[Batch] = []
        """Of a file of several runs: the batches of those that begin in the same chunk."""
        self.interleaved = False
        """Of a file of several runs: whether records of one may come after those of the next."""
        self.restarted = restarted
        """Of a store: the run was written anew, so that its earlier batches are void."""
        self.counts_updates = counts_updates
        self.histograms = {} if histograms is None else histograms
        self.machine = [] if machine is None else machine
        """What a tracker measured of the machine; the steps are the times in whole seconds."""
        self.title = title

    def add(self, later: Batch) -> None:
        """Append what was read after it from the same log."""
        last = self.rest[-1] if self.rest else self
        if later.stored_run == last.stored_run:
            last._add_same(later)
            self.rest += later.rest
        else:
            self.rest += [later, *later.rest]
            later.rest = []

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
        self.title = later.title or self.title
        if later.ended is not None or later.points:
            self.ended = later.ended

    def __bool__(self) -> bool:
        said = self.config or self.problems or self.notes or self.title
        found = self.points or self.machine or self.lines or said or self.ended
        return bool(found or self.restarted or self.rest)

    def as_one(self) -> Batch:
        """The same, for readers that keep a log as one run."""
        for later in self.rest:
            self._add_same(later)
        self.rest, self.stored_run = [], ""
        return self


class Series:
    """All points of one tag of one source, as growing columns of equal length.

    To save memory the oldest points may have been dropped: `dropped` of them. They still count in
    the length, and the first element of a column is point number `dropped`.
    """

    __slots__ = ("dropped", "steps", "tag", "times", "values")

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.steps = array("q")
        self.times = array("d")
        self.values = array("d")
        self.dropped = 0

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
