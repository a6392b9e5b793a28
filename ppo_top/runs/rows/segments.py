"""Segments of a run, which begin where it was resumed, and steps that count something else."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from ppo_top.model import Series
from ppo_top.model.named_tuple import NamedTuple

MOST_LATE = 8
"""Actors side by side write the end of an episode so many records late, mostly one or two."""

_FEWEST_TAKEN_AGAIN = 3
"""So many late steps that rise one after another are those of a run that was resumed."""


class HighestSteps(NamedTuple):
    """The highest steps of a segment so far, rising, as many as a point may come late.

    `late`: the points since the highest one that rise and were left out until they came.
    """

    steps: tuple[int, ...] = ()
    late: tuple[int, ...] = ()

    def with_higher(self, steps: Iterable[int]) -> HighestSteps:
        """Those after further ones, which are higher and rise."""
        return HighestSteps((*self.steps, *steps)[-MOST_LATE:])


_QUICKEST_RESUME = 0.5
"""Seconds: no process ends, and another one starts and trains, in less."""


def advance(
    highest: HighestSteps, step: int, first: int, passed: float
) -> tuple[HighestSteps, bool]:
    """The highest steps after a point at `step`, and whether the point begins a segment.

    A run that is resumed takes steps that it had taken, one after another; a step among the last
    few that was left out until now is late. `first` is the first step of the segment so far,
    `passed` are the seconds since the point before: stable-baselines writes the minibatches of an
    update at once, at steps that reach into those of the next one.
    """
    steps, late = highest.steps, highest.late
    if not steps:
        return HighestSteps((step,)), True
    if step > steps[-1]:
        return highest.with_higher((step,)), False
    if steps[0] < step and step not in steps:
        late = (*late, step) if late and step > late[-1] else (step,)
        if len(late) < _FEWEST_TAKEN_AGAIN:
            return HighestSteps(steps, late), False
    elif step > steps[-2] if len(steps) > 1 else step == steps[0]:
        return highest, False
    if step > first and 0.0 <= passed < _QUICKEST_RESUME:
        return highest, False
    return HighestSteps((step,)), True


class SegmentStarts:
    """The times (unix seconds) at which the segments of a chain of series began."""

    def __init__(self, parts: Sequence[Series] = ()) -> None:
        self.times: list[float] = []
        self._parts = parts
        self._seen = [0] * len(parts)
        self._highest = HighestSteps()
        self._first = 0
        self._time = float("nan")

    def refresh(self) -> None:
        """Read the points added since the last call."""
        for number, part in enumerate(self._parts):
            for at in range(self._seen[number] - part.dropped, len(part.steps)):
                step, time = part.steps[at], part.times[at]
                passed, self._time = time - self._time, time
                self._highest, begins = advance(self._highest, step, self._first, passed)
                if begins:
                    self._first = step
                    self.times.append(time)
            self._seen[number] = len(part)

    def segment_at(self, time: float) -> int:
        """The segment that a time falls into; 0 if the time is NaN."""
        return max(bisect_right(self.times, time) - 1, 0) if time == time else 0

    def segment_begun(self, time: float) -> int:
        """The segment of what a file holds first, which may be written before what tells its start.

        0 if the time is NaN.
        """
        return self.segment_at(time + _QUICKEST_RESUME)


class StepMapping:
    """Translates the steps of a source that counts something else than the run does.

    If a console counts iterations and an event file environment steps, the k-th step at which one
    logs a concept is the k-th step at which the other logs it. Both may still grow.
    """

    def __init__(self, theirs: Sequence[Series], ours: Sequence[Series]) -> None:
        self._series = (theirs, ours)
        self._seen = ([0] * len(theirs), [0] * len(ours))
        self._steps: tuple[dict[int, None], dict[int, None]] = ({}, {})
        self._pairs: dict[int, int] = {}

    def run_step(self, step: int) -> int | None:
        """The run's step for a step of the source; None if not known yet."""
        if step not in self._pairs:
            self.refresh()
        return self._pairs.get(step)

    def refresh(self) -> None:
        """Read the steps logged since the last call."""
        for series, seen, steps in zip(self._series, self._seen, self._steps, strict=True):
            for number, part in enumerate(series):
                steps.update(dict.fromkeys(part.steps[seen[number] - part.dropped :]))
                seen[number] = len(part)
        if len(self._pairs) < min(map(len, self._steps)):
            self._pairs = dict(zip(*self._steps, strict=False))
