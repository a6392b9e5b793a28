"""The noise of a row's reward, where each row is a mean."""

from __future__ import annotations

import math

from ppo_top.rules.engine.stats import NOISE_VALUES, Noise

NOISE_LAGS = (1, 2, 4, 8, 16)
"""Distances, in rows, at which the noise of rewards of unknown kind is measured."""

LAG_PERIODS = 12
"""A lag counts from this many times its length on: earlier it would measure the learning curve."""

GROWTH = 1.2
"""Of independent rows, noise is the same at all distances; of a moving mean, it is 1.4 times as
large at twice the distance. What lies between is told apart here."""

LEAST_NOISE = 1e-6
"""Of a reward's size: the noise of rewards on a straight line, which show none."""

DIFFERING_ROWS = 8
"""So many rewards in a row that differ, and show no noise, lie on such a line."""

MEASURED_EVERY = 4
"""Rows from one measurement of noise to the next, once its window of values is full."""


MOVING_MEAN_NOISE = 1.22
"""What a row of a moving mean shows is so many times too little, times the root of its rows."""
OVERLAP_ROWS, OVERLAP_LOOKS, OVERLAP_ERRORS = 5.0, 6, 5.0
"""Rows are no moving mean over so many of them if it would be far noisier than all of them spread:
by so many standard errors of that spread, of so many independent rows or more."""

FAR_ROWS, FAR_LOOKS = 16, 12
"""Rows so far apart are compared with neighbours, where there are so many independent ones."""


class RowSpread:
    """How far rows spread: all of them, trend and noise together, and those that are far apart.

    The first is their standard deviation (Welford 1962); the second does not see a trend.
    """

    def __init__(self) -> None:
        self.count, self.mean, self.squares = 0, 0.0, 0.0
        self.far = Noise()

    def copy(self) -> RowSpread:
        """An independent copy."""
        other = RowSpread()
        other.count, other.mean, other.squares = self.count, self.mean, self.squares
        other.far = self.far.copy()
        return other

    def add(self, value: float) -> None:
        """Add a row's reward."""
        if self.count % FAR_ROWS == 0:
            self.far.push(value)
        self.count += 1
        apart = value - self.mean
        self.mean += apart / self.count
        self.squares += apart * (value - self.mean)

    def forbids(self, rows_per_window: float, noise: float) -> bool:
        """Whether rows of a moving mean of this noise would have spread far wider."""
        if rows_per_window < OVERLAP_ROWS or not self.count:
            return False
        overlap = max(1.0, MOVING_MEAN_NOISE * math.sqrt(rows_per_window / FAR_ROWS))
        spreads = (
            (math.sqrt(self.squares / self.count), self.count / rows_per_window, OVERLAP_LOOKS),
            (self.far.robust * overlap, self.count / FAR_ROWS / overlap**2, FAR_LOOKS),
        )
        return any(
            noise > (1.0 + OVERLAP_ERRORS / math.sqrt(looks)) * spread > 0.0
            for spread, looks, least in spreads
            if looks >= least
        )


class RowNoise:
    """The noise of one row's reward, from second differences, which do not see a trend.

    Of independent rows: that of neighbours. Of a mean over a window that moves by a share 1/s each
    row, 1.22 sqrt(s) times as much: its second difference has the standard deviation
    2 sigma sqrt(k) / W, the mean itself sigma / sqrt(W), with k new episodes of W. Of unknown
    kind: the largest over several distances, as it grows with the distance in a moving mean.
    """

    def __init__(self, lags: tuple[int, ...]) -> None:
        self.estimators = [Noise(lag) for lag in lags]
        self.count = 0
        self.known = math.nan
        self.grows = False
        self._last = math.nan
        self._differing = 0

    def copy(self) -> RowNoise:
        """An independent copy."""
        other = RowNoise(())
        other.estimators = [each.copy() for each in self.estimators]
        other.count, other.known, other.grows = self.count, self.known, self.grows
        other._last, other._differing = self._last, self._differing
        return other

    def add(self, value: float, rows_per_window: float) -> float:
        """Add a row's reward; returns the noise, NaN while too few rows have differed.

        `rows_per_window` is s, 1 for independent rows.
        """
        self.count += 1
        self._differing = self._differing + 1 if value != self._last else 0
        self._last = value
        for estimator in self.estimators:
            estimator.push(value)
        if self.count <= NOISE_VALUES or self.count % MEASURED_EVERY == 0:
            self._measure(rows_per_window)
        known = self.known
        if self._differing >= DIFFERING_ROWS and not known > 0.0:
            known = LEAST_NOISE * abs(value)
        return known * max(1.0, MOVING_MEAN_NOISE * math.sqrt(rows_per_window))

    def _measure(self, rows_per_window: float) -> None:
        """The noise now, and whether it grows with the distance, as in a moving mean."""
        count = self.count
        far_too = rows_per_window == 1.0
        found = [
            each.robust
            for each in self.estimators
            if each.lag == 1 or (far_too and count >= LAG_PERIODS * each.lag)
        ]
        self.known = max(found) or self.known
        if len(self.estimators) > 1 and count >= LAG_PERIODS * NOISE_LAGS[1]:
            near, far, farther = (each.std for each in self.estimators[:3])
            goes_on = count < LAG_PERIODS * NOISE_LAGS[2] or farther > GROWTH * far
            self.grows = far > GROWTH * near and goes_on
