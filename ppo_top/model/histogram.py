"""A histogram, and its quantiles, which TensorBoard's "distributions" page draws."""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import accumulate

from ppo_top.model.named_tuple import NamedTuple

QUANTILE_PERCENTS = (1, 50, 99)
_TOTAL_WEIGHT = 10_000.0


class Histogram(NamedTuple):
    """The least and greatest value seen, and buckets: their upper limits and their counts."""

    low: float
    high: float
    limits: list[float]
    counts: list[float]

    @classmethod
    def from_rows(cls, rows: list[float]) -> Histogram:
        """From rows of lower limit, upper limit and count, one after another (new style)."""
        low, high = (rows[0], rows[-2]) if len(rows) >= 3 else (0.0, 0.0)
        return cls(low, high, rows[1::3], rows[2::3])

    def quantiles(self) -> dict[str, float]:
        """Quantiles by the name that is appended to the tag; nothing for an empty histogram."""
        if not any(self.counts):
            return {}
        total = sum(self.counts) or 1.0
        weights = list(accumulate(count * _TOTAL_WEIGHT / total for count in self.counts))
        found = {
            f"p{each}": self._quantile(weights, each * _TOTAL_WEIGHT / 100)
            for each in QUANTILE_PERCENTS
        }
        return found | {"max": self.high, "min": self.low}

    def in_equal_bins(self, bins: int) -> list[float]:
        """The counts in `bins` equally wide bins from `low` to `high`.

        Writers choose bins of unequal width, whose counts cannot be compared with each other.
        Empty if the values are all the same, or not finite.
        """
        width = (self.high - self.low) / bins if bins else 0.0
        if not 0.0 < width < math.inf:
            return []
        found = [0.0] * bins
        for index, (limit, count) in enumerate(zip(self.limits, self.counts, strict=False)):
            left = max(self.limits[index - 1], self.low) if index else self.low
            right = min(limit, self.high)
            first = min(max(int((left - self.low) / width), 0), bins - 1)
            last = min(max(int((right - self.low) / width), first), bins - 1)
            for at in range(first, last + 1):
                start = self.low + at * width
                inside = min(right, start + width) - max(left, start)
                share = inside / (right - left) if right > left else 1.0 if at == first else 0.0
                found[at] += count * max(share, 0.0)
        return found

    def _quantile(self, weights: list[float], share: float) -> float:
        """The value below which `share` ten-thousandths lie, linear inside a bucket."""
        for at in range(bisect_right(weights, share), min(len(weights), len(self.limits))):
            before = weights[at - 1] if at else 0.0
            if weights[at] == before:
                continue
            left = max(self.limits[at - 1], self.low) if before else self.low
            right = min(self.limits[at], self.high)
            return left + (share - before) * (right - left) / (weights[at] - before)
        return self.high
