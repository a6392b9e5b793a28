"""Segments of a run, which begin where it was resumed, and steps that count something else."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from ppo_top.model import Series

HighestSteps = tuple[int, int]
"""The highest step of a segment so far and the one before it."""


_QUICKEST_RESUME = 0.5
"""Seconds: no process ends, and another one starts and trains, in less."""


def is_too_quick(step: int, first: int, passed: float) -> bool:
    """Whether a step that goes back, but not to the first one, is none of a resumed run.

    `passed` are the seconds since the point before. stable-baselines writes the minibatches of an
    update at steps that reach into those of the next one.
    """
    return step > first and 0.0 <= passed < _QUICKEST_RESUME


def advance(highest: HighestSteps | None, step: int) -> tuple[HighestSteps, bool]:
    """The highest steps after a point at `step`, and whether the point begins a segment."""
    if highest is None or step <= highest[1]:
        return (step, step - 1), True
    return (step, highest[0]) if step > highest[0] else highest, False


class SegmentStarts:
    """The times (unix seconds) at which the segments of a chain of series began."""

    def __init__(self, parts: Sequence[Series] = ()) -> None:
        self.times: list[float] = []
        self._parts = parts
        self._seen = [0] * len(parts)
        self._highest: HighestSteps | None = None
        self._first = 0
        self._time = float("nan")

    def refresh(self) -> None:
        """Read the points added since the last call."""
        for number, part in enumerate(self._parts):
            for at in range(self._seen[number] - part.dropped, len(part.steps)):
                step, time = part.steps[at], part.times[at]
                passed, self._time = time - self._time, time
                highest, begins_segment = advance(self._highest, step)
                is_resume = self._highest is not None and begins_segment
                if is_resume and is_too_quick(step, self._first, passed):
                    continue
                self._highest = highest
                if begins_segment:
                    self._first = step
                    self.times.append(time)
            self._seen[number] = len(part)

    def segment_at(self, time: float) -> int:
        """The segment that a time falls into; 0 if the time is NaN."""
        return max(bisect_right(self.times, time) - 1, 0) if time == time else 0


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
