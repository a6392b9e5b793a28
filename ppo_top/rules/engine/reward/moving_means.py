"""Moving means over episodes taken apart: what is new in a row, and how many episodes ended."""

from __future__ import annotations

from collections import deque


class WindowMean:
    """Takes a moving mean apart: what is new in a row, where the count of episodes is known.

    Until the window of W episodes is full, n episodes with mean m sum to n m. After that a row
    gives the sum since the row W episodes earlier, if there is one. `fresh` is None for good once a
    row is missing.
    """

    def __init__(self, episodes: int) -> None:
        self.window = float(episodes)
        self.sums: deque[tuple[float, float]] | None = deque([(0.0, 0.0)])

    def copy(self) -> WindowMean:
        """An independent copy."""
        other = WindowMean(int(self.window))
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
        sums.append((total, whole))
        return (whole - before) / (total - count)


class EpisodeCount:
    """How many episodes have ended, from the steps and the mean length of the last W episodes.

    Where one environment is logged every k episodes, steps divided by the mean length are a whole
    number until the window is full; then the count goes on by k, as long as the new lengths add up
    to the new steps.
    """

    def __init__(self, window: int) -> None:
        self.lengths = WindowMean(window)
        self.total = self.new = 0.0
        self.step = 0

    def copy(self) -> EpisodeCount:
        """An independent copy."""
        other = EpisodeCount(0)
        other.__dict__.update(self.__dict__)
        other.lengths = self.lengths.copy()
        return other

    def add(self, step: int, length: float | None, counted: float | None) -> float | None:
        """The number of episodes at a step; None for good once it is not certain.

        `counted` is the trainer's own count, if it logs one.
        """
        if self.lengths.sums is None or length is None or length <= 0.0 or step <= self.step:
            self.lengths.sums = None
            return None
        total = counted
        if total is None:
            full = self.total + self.new > self.lengths.window
            total = self.total + self.new if full else float(round(step / length))
        fresh = self.lengths.fresh(length, total)
        self.new, self.total = total - self.total, total
        steps, self.step = step - self.step, step
        if fresh is None or abs(fresh * self.new - steps) > max(1e-3 * steps, 1e-5 * step):
            self.lengths.sums = None
            return None
        return total
