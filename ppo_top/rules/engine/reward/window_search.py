"""Tells by measurement whether rewards of unknown kind are moving means, and over how many rows.

A script that prints `mean reward` at each episode may mean that of this one or of the last hundred.
The latter leaves a trace: the k-th mean moves by 1/k of what is new while the window fills, later
ones by a share of what is new minus what was new a window ago.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, islice, pairwise, repeat

from ppo_top.rules.engine.reward.moving_means import WindowMean

LOOKS = (60, 80, 120, 160, 240, 320, 480, 640, 1200)
"""Rows after which they are asked what they are means of."""

WINDOWS = (
    *range(3, 21), 25, 30, 32, 40, 50, 60, 64, 75, 80, 100, 128, 150, 200, 250, 256, 300, 400, 500,
    512, 1000,
)  # fmt: skip
"""Windows in use, in rows: of 100 episodes, printed at each tenth, 10."""

FULL_FOR = 10
"""Rows after a window is full that tell it from a longer one."""

DECAYS = (0.5, 0.8, 0.9, 0.95, 0.99)
"""Of exponential means, which have no window."""

FORETOLD_BY = 5
"""A value is foretold by the mean of so many before it: training moves its level slowly."""

SPREAD_OF = 10
"""Values foretell how far the next one is off by how far so many were, or all."""

LEAST_SPREAD = 0.01
"""Of the usual spread: values that hardly differ for a while may differ by this much again."""

CERTAIN = 7.0
"""The natural logarithm of how many times likelier rows must be as moving means."""


class WindowSearch:
    """The window that explains the rows so far best: 1 if they are not surely moving means.

    What explains rows is compared by the likelihood of each after those before it (Dawid 1984).
    Means of all rows so far are not told from a reward that calms down as fast.
    """

    def __init__(self) -> None:
        self.window = 1
        self.means = array("d")
        self.is_over = False

    def copy(self) -> WindowSearch:
        """An independent copy."""
        other = WindowSearch()
        other.window, other.means, other.is_over = self.window, self.means[:], self.is_over
        return other

    def add(self, mean: float) -> bool:
        """Add a row; whether another window explains the rows best now."""
        if self.is_over:
            del self.means[:]
            return False
        self.means.append(mean)
        return len(self.means) in LOOKS and min(self.means) < max(self.means) and self._look()

    def _look(self) -> bool:
        means, before, rows = self.means, self.window, len(self.means)
        alone, walking = (_if_by_itself(means, steady=True), _if_walking(means, steady=True))
        if alone > walking + CERTAIN:  # neighbours of a moving mean are nearer than others
            self.is_over = True
            return False
        full = [window for window in WINDOWS if window + FULL_FOR <= rows]
        best = max(full, key=lambda window: _if_mean(means, window, steady=True))
        found, filling = _if_mean(means, best), _if_mean(means, math.inf)
        other = max(_if_by_itself(means), _if_walking(means), _if_calming(means), _if_fading(means))
        if found > max(filling, other) + CERTAIN:
            self.window = best
        given_up = other > max(filling, found) + CERTAIN
        self.is_over = given_up or 1 < self.window == before or rows >= LOOKS[-1]
        return self.window != before


# The logarithm of the likelihood of rows, if they are ...


def _if_mean(means: Sequence[float], window: float, *, steady: bool = False) -> float:
    """Means of the last `window` rows, or of all there are so far."""
    factors = (min(row, window) for row in range(1, len(means) + 1))
    return _likelihood(_surprises(WindowMean(window).fresh_rows(means)), factors, steady)


def _if_by_itself(means: Sequence[float], *, steady: bool = False) -> float:
    """Each a value of its own."""
    return _likelihood(_surprises(means), repeat(1.0), steady)


def _if_walking(means: Sequence[float], *, steady: bool = False) -> float:
    """Each a step away from the one before."""
    steps = [after - before for before, after in pairwise(means)][FORETOLD_BY - 1 :]
    return _likelihood(steps, repeat(1.0), steady)


def _if_calming(means: Sequence[float]) -> float:
    """Values of their own, that spread less and less."""
    rows = range(1, len(means) + 1)
    surprises = [
        row * each for row, each in zip(rows[FORETOLD_BY:], _surprises(means), strict=True)
    ]
    return _likelihood(surprises, rows)


def _if_fading(means: Sequence[float]) -> float:
    """Exponential means, in which what was new fades."""
    found = []
    for decay in DECAYS:
        new = [means[0], *((b - decay * a) / (1.0 - decay) for a, b in pairwise(means))]
        found.append(_likelihood(_surprises(new), repeat(1.0 / (1.0 - decay))))
    return max(found)


def _surprises(values: Sequence[float]) -> list[float]:
    """How far values lie from what those before them foretell."""
    sums = [0.0, *accumulate(values)]
    return [
        value - (sums[at] - sums[at - FORETOLD_BY]) / FORETOLD_BY
        for at, value in enumerate(values[FORETOLD_BY:], FORETOLD_BY)
    ]


def _likelihood(
    surprises: Sequence[float], factors: Iterable[float], steady: bool = False
) -> float:
    """The logarithm of the likelihood of rows, whose errors times factors are the surprises.

    Errors are normal and all as wide, or, if not `steady`, as wide as those just before. The first
    ones only tell how wide others are.
    """
    squares = [each * each for each in surprises]
    scored = squares[SPREAD_OF:]
    if not any(scored):
        return -math.inf
    stretch = sum(
        map(math.log, islice(factors, FORETOLD_BY + SPREAD_OF, FORETOLD_BY + len(squares)))
    )
    alike = -0.5 * len(scored) * (math.log(sum(scored) / len(scored)) + 1.0)
    return stretch + (alike if steady else max(alike, _if_changing(squares)))


def _if_changing(squares: Sequence[float]) -> float:
    """That of errors of unknown and changing width, which are t-distributed, by their squares."""
    sums = [0.0, *accumulate(squares)]
    least = LEAST_SPREAD**2 * sums[-1] / len(squares)
    half = 0.5 * (SPREAD_OF + 1.0)
    each = math.lgamma(half) - math.lgamma(half - 0.5) - 0.5 * math.log(0.5 * SPREAD_OF)
    found = 0.0
    for at, square in enumerate(squares[SPREAD_OF:]):
        spread = max(least, (sums[at + SPREAD_OF] - sums[at]) / SPREAD_OF)
        found += each - 0.5 * math.log(spread) - half * math.log1p(square / spread / SPREAD_OF)
    return found
