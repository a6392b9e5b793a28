"""Moving means over episodes taken apart: what is new in a row, and how many episodes ended."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable


class WindowMean:
    """Takes a moving mean apart: what is new in a row, where the count of episodes is known.

    Until the window of W episodes is full, n episodes with mean m sum to n m. After that a row
    gives the sum since the row W episodes earlier, if there is one. `fresh` is None for good once a
    row is missing. Of an infinite window, all episodes so far, only the newest sum is held.
    """

    def __init__(self, episodes: float) -> None:
        self.window = float(episodes)
        self.sums: deque[tuple[float, float]] | None = deque([(0.0, 0.0)])

    def copy(self) -> WindowMean:
        """An independent copy."""
        other = WindowMean(self.window)
        other.sums = None if self.sums is None else self.sums.copy()
        return other

    def fresh(self, mean: float, total: float) -> float | None:
        """The mean of the episodes since the previous row; `total` is the number of all so far."""
        if self.sums is None:
            return None
        sums = self.sums
        start = max(0.0, total - self.window)
        while len(sums) > 1 and sums[0][0] < start:
            sums.popleft()
        count, before = sums[-1]
        if sums[0][0] != start or total <= count:
            self.sums = None
            return None
        whole = sums[0][1] + mean * (total - start)
        if self.window == math.inf and len(sums) > 1:
            sums.pop()
        sums.append((total, whole))
        return (whole - before) / (total - count)

    def fresh_rows(self, means: Iterable[float]) -> list[float]:
        """What is new in each of the first rows, each of which holds one episode more."""
        found = (self.fresh(mean, float(row)) for row, mean in enumerate(means, 1))
        return [fresh for fresh in found if fresh is not None]


PRINTED_DIGITS = 3
"""Stable-Baselines3's tables print the length of episodes with so many significant digits."""


class EpisodeCount:
    """How many episodes have ended, from the steps and the mean length of the last W episodes.

    Where one environment is logged every k episodes, steps divided by the mean length are a whole
    number until the window is full; then the count goes on by k. It is certain as long as the
    lengths of the window's episodes add up to the steps that they took.
    """

    def __init__(self, window: int) -> None:
        self.window = float(window)
        self.ends: deque[tuple[float, int]] | None = deque([(0.0, 0)])
        self.new = 0.0

    def copy(self) -> EpisodeCount:
        """An independent copy."""
        other = EpisodeCount(int(self.window))
        other.ends = None if self.ends is None else self.ends.copy()
        other.new = self.new
        return other

    def add(self, step: int, length: float | None, counted: float | None) -> float | None:
        """The number of episodes at a step; None for good once it is not certain.

        `counted` is the trainer's own count, if it logs one.
        """
        if self.ends is None:
            return None
        total = self._total(step, length, counted) if length is not None else None
        if total is None:
            self.ends = None
        else:
            self.new = total - self.ends[-1][0]
            self.ends.append((total, step))
        return total

    def _total(self, step: int, length: float, counted: float | None) -> float | None:
        assert self.ends is not None
        ends, (count, before) = self.ends, self.ends[-1]
        if length <= 0.0 or step <= before:
            return None
        total = counted
        if total is None:
            full = count + self.new > self.window
            total = count + self.new if full else float(round(step / length))
        start = max(0.0, total - self.window)
        while len(ends) > 1 and ends[0][0] < start:
            ends.popleft()
        if ends[0][0] != start or total <= count:
            return None
        size, steps = total - start, step - ends[0][1]
        off = max(1e-3 * (step - before), 1e-5 * step)
        if counted is not None:
            off = max(off, size * rounding(length))
        return total if abs(length * size - steps) <= off else None


def rounding(value: float) -> float:
    """How far a positive number may be from what it was before it was printed; 0 if it was not."""
    if float(f"{value:.{PRINTED_DIGITS}g}") != value:
        return 0.0
    return float(10.0 ** (math.floor(math.log10(value)) + 1 - PRINTED_DIGITS)) / 2.0
