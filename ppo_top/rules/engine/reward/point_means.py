"""The whole course of a reward as means of equally many points, of bounded number."""

from __future__ import annotations

from itertools import pairwise


class PointMeans:
    """Means of `size` consecutive points each, at most `most` of them.

    `sums` are those of their values; the last one may still grow.
    """

    most = 64

    def __init__(self) -> None:
        self.sums: list[float] = []
        self.size = 1
        self._newest = 1
        """How many points the last sum has."""

    def copy(self) -> PointMeans:
        """An independent copy."""
        other = PointMeans()
        other.sums, other.size, other._newest = self.sums.copy(), self.size, self._newest
        return other

    def add(self, value: float) -> bool:
        """Add a point; True if it begins a mean."""
        if self._newest < self.size:
            self.sums[-1] += value
            self._newest += 1
            return False
        if len(self.sums) == self.most:
            self.size *= 2
            self.sums = [a + b for a, b in zip(self.sums[::2], self.sums[1::2], strict=True)]
        self.sums.append(value)
        self._newest = 1
        return True

    @property
    def means(self) -> list[float]:
        """The means of `size` points."""
        full = self.sums if self._newest == self.size else self.sums[:-1]
        return [each / self.size for each in full]

    def quarters(self) -> list[tuple[int, float]]:
        """(points, mean) of each quarter of the points; empty with fewer than four means."""
        size, sums = len(self.sums), self.sums
        if size < 4:
            return []
        found, missing = [], self.size - self._newest
        for start, stop in pairwise([size * part // 4 for part in range(5)]):
            count = (stop - start) * self.size - (missing if stop == size else 0)
            found.append((count, sum(sums[start:stop]) / count))
        return found
