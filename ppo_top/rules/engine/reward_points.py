"""Rewards as measurements of known noise: rows, blocks of episodes, or what is new in a mean."""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple

from ppo_top.model import Sample
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.stats import Noise, median

BLOCK_EPISODES = 10
"""The fewest episodes in a block; the outcome of a single one says little."""

FULL_ROW_EPISODES = 20
"""A first row with this many episodes is a mean by itself: rows are not put into blocks."""

MIN_BLOCK_ROWS = 3
"""The fewest rows in a block: its noise is that of their mean."""

MAX_BLOCKS = 60
"""When there are more blocks than this, neighbours are merged: a dip of 1 % of a run is no news."""

NOISE_LAGS = (1, 2, 4, 8, 16)
"""Distances, in rows, at which the noise of rewards of unknown kind is measured."""

LAG_PERIODS = 12
"""A lag counts from this many times its length on: earlier it would measure the learning curve."""

OTHER_UNIT = 2.0
"""Steps are not those of an environment if the episodes that must have ended need so many times
more: each new value of the reward needs one."""

USUAL_WINDOW = 100
"""Episodes in a moving mean, if rewards of unknown kind are one: Gym's, SB3's and CleanRL's."""

UNDER_WAY = 20
"""Episodes that may be under way at a row, in parallel environments."""

GROWTH = 1.2
"""Of independent rows, noise is the same at all distances; of a moving mean, it is 1.4 times as
large at twice the distance. What lies between is told apart here."""

MEASURED_EVERY = 4
"""Rows from one measurement of noise to the next, once its window of values is full."""

FEW_VALUES_AFTER = (20, 40, 60)
"""Rows after which rewards with few different values count as single episodes."""


class RewardPoint(NamedTuple):
    """A measurement of the reward's level.

    Its standard error is `excess` (1 or more) times the usual one, `RewardPoints.noise`.
    """

    value: float
    excess: float


class Block(NamedTuple):
    """Consecutive values: how many, their mean, their summed squared deviations from it."""

    size: float
    mean: float
    squares: float

    def merged(self, other: Block) -> Block:
        """Both together (Chan et al. 1979)."""
        size = self.size + other.size
        apart = other.mean - self.mean
        squares = self.squares + other.squares + apart * apart * self.size * other.size / size
        return Block(size, self.mean + apart * other.size / size, squares)

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return math.sqrt(self.squares / (self.size - 1.0) / self.size) if self.size > 1.0 else 0.0


class EpisodeBlocks:
    """Means of equally many consecutive rows that hold an episode or a few each.

    A block holds `BLOCK_EPISODES` or more; with more than `MAX_BLOCKS` blocks they are merged two
    by two. The usual noise is the median of the blocks' own standard errors.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.open_block: Block | None = None
        self.open_episodes = 0.0
        self.size = float(BLOCK_EPISODES)

    def copy(self) -> EpisodeBlocks:
        """An independent copy."""
        other = EpisodeBlocks.__new__(EpisodeBlocks)
        other.__dict__.update(self.__dict__)
        other.blocks = self.blocks.copy()
        return other

    def add(self, value: float, episodes: float) -> bool:
        """Add a row; True if it completes a block."""
        row = Block(1.0, value, 0.0)
        self.open_block = row if self.open_block is None else self.open_block.merged(row)
        self.open_episodes += episodes
        if self.open_episodes < self.size or self.open_block.size < MIN_BLOCK_ROWS:
            return False
        self.blocks.append(self.open_block)
        self.open_block, self.open_episodes = None, 0.0
        return True

    def merge_pairs(self) -> bool:
        """Merge neighbours if there are too many blocks; True if they were merged."""
        if len(self.blocks) <= MAX_BLOCKS:
            return False
        if len(self.blocks) % 2:
            self.open_block = self.blocks.pop()
            self.open_episodes = self.size
        pairs = zip(self.blocks[::2], self.blocks[1::2], strict=True)
        self.blocks = [early.merged(late) for early, late in pairs]
        self.size *= 2.0
        return True

    def noise(self) -> float:
        """The usual standard error of a block; NaN while no block's values differ.

        Where most blocks hold equal values only (a sparse reward), the mean of their errors.
        """
        errors = [block.error for block in self.blocks]
        return median(errors) or sum(errors) / len(errors) or math.nan

    def points(self, count: int = 0) -> list[RewardPoint]:
        """The newest `count` blocks as points; all if 0."""
        usual = self.noise()
        return [
            RewardPoint(block.mean, max(1.0, block.error / usual) if usual == usual else 1.0)
            for block in self.blocks[-count:]
        ]


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

    def copy(self) -> RowNoise:
        """An independent copy."""
        other = RowNoise(())
        other.estimators = [each.copy() for each in self.estimators]
        other.count, other.known, other.grows = self.count, self.known, self.grows
        return other

    def add(self, value: float, rows_per_window: float) -> float:
        """Add a row's reward; returns the noise, NaN if no row has differed from its neighbours.

        `rows_per_window` is s, 1 for independent rows.
        """
        self.count += 1
        for estimator in self.estimators:
            estimator.push(value)
        if self.count <= Noise.size or self.count % MEASURED_EVERY == 0:
            self._measure(rows_per_window)
        return self.known * max(1.0, 1.22 * math.sqrt(rows_per_window))

    def _measure(self, rows_per_window: float) -> None:
        """The noise now, and whether it grows with the distance, as in a moving mean."""
        count = self.count
        far_too = rows_per_window == 1.0
        found = [
            max(each.std, 0.75 * each.mean)
            for each in self.estimators
            if each.lag == 1 or (far_too and count >= LAG_PERIODS * each.lag)
        ]
        self.known = max(found) or self.known
        if len(self.estimators) > 1 and count >= LAG_PERIODS * NOISE_LAGS[1]:
            near, far, farther = (each.std for each in self.estimators[:3])
            goes_on = count < LAG_PERIODS * NOISE_LAGS[2] or farther > GROWTH * far
            self.grows = far > GROWTH * near and goes_on


class RewardPoints:
    """Turns a run's rewards into points, by what one row is."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.blocks = EpisodeBlocks() if sample.kind == "episode" else None
        self.low, self.high, self.last = math.inf, -math.inf, math.nan
        self.changes = 0
        self.window = WindowMean(sample.episodes) if sample.kind == "window" else None
        self.count = EpisodeCount(sample.episodes)
        self.row_noise = RowNoise(NOISE_LAGS if sample.kind == "" else NOISE_LAGS[:1])
        self.noise = math.nan
        self.rows_per_window = 1.0
        self.rows = self.step = 0
        self.length = 0.0
        self.episodes = 0.0
        self.counted = True
        self.total: float | None = None
        self.same = 0
        self.most_ended = self.last_length = self.longer = 0.0
        self.may_be_window = True

    def copy(self) -> RewardPoints:
        """An independent copy."""
        other = RewardPoints.__new__(RewardPoints)
        other.__dict__.update(self.__dict__)
        other.blocks = self.blocks.copy() if self.blocks is not None else None
        other.window = self.window.copy() if self.window is not None else None
        other.row_noise, other.count = self.row_noise.copy(), self.count.copy()
        return other

    @property
    def has_other_unit(self) -> bool:
        """Whether steps turn out to be updates, thousands, ...: too few for these episodes."""
        if self.total is not None:
            return False
        few = self.rows == 1 and 0.0 < OTHER_UNIT * self.step < self.length
        return few or (
            self.changes > MIN_BLOCK_ROWS and self.length * self.changes > OTHER_UNIT * self.step
        )

    def _rows_per_window(self) -> float:
        """How many rows one independent measurement takes."""
        size = self.window_episodes
        if not size or not self.counted or self.window is not None:
            return 1.0
        each = max(self.episodes / self.rows, 1e-3)
        return max(1.0, min(self.episodes, size) / each)

    @property
    def window_episodes(self) -> int:
        """The episodes of a moving mean; 0 if rewards are none."""
        unknown = self.sample.kind == "" and self.blocks is None
        if unknown and self.may_be_window and self.row_noise.grows:
            return USUAL_WINDOW
        return self.sample.episodes if self.sample.kind == "window" else 0

    def add(
        self, value: float, step: int, length: float | None, counted: float | None
    ) -> list[RewardPoint] | None:
        """Add a row; returns its new points, or None if all points have changed (see `blocks`).

        `step` counts from the start of the log, `length` is the mean length of episodes, `counted`
        the trainer's own count of them.
        """
        episodes = self._new_episodes(counted)
        if length is not None and length > 0.0:
            self.length = length
            if episodes != episodes:
                episodes = max(0, step - self.step) / length
        total = self.count.add(step, length, counted) if self.window is not None else None
        steps = max(0, step - self.step)
        self.step = step
        self.rows += 1
        self.changes += value != self.last
        self.same = self.same + 1 if value == self.last else 0
        self.low, self.high, self.last = min(self.low, value), max(self.high, value), value
        self.counted = self.counted and episodes == episodes and not self.has_other_unit
        few = self.counted and episodes < FULL_ROW_EPISODES
        if self.rows == 1 and self.sample.kind == "update" and few:
            self.blocks = EpisodeBlocks()
        if self.rows == 1 and self.sample.kind == "episode" and episodes >= FULL_ROW_EPISODES:
            self.blocks = None  # each row holds enough of them
        episodes = max(1.0, episodes) if self.counted else 1.0
        self.episodes += episodes
        self._compare_with_window(steps)
        fresh = self._fresh(value, total)
        if self.blocks is not None:
            self.rows_per_window = self._rows_per_window()
            if not self.blocks.add(value if fresh is None else fresh, episodes):
                return []
            merged = self.blocks.merge_pairs()
            self.noise = self.blocks.noise()
            return None if merged else self.blocks.points(1)
        if (
            self.sample.kind == "window"
            and not self.counted
            and len(self.row_noise.estimators) == 1
        ):
            self.row_noise = RowNoise(NOISE_LAGS)
        filled = math.sqrt(self._filled_share())
        noise = self.row_noise.add(value, self._rows_per_window()) * filled
        self.rows_per_window = self._rows_per_window()
        self.noise = max(noise, self._chance()) if noise == noise else noise
        return [RewardPoint(value, 1.0 / filled)]

    def _compare_with_window(self, steps: int) -> None:
        """Rule out that rows are means of the last `USUAL_WINDOW` episodes, by their lengths.

        While fewer have ended, their number is steps / length, which does not fall. Later on, the
        sum of the window's lengths grows by no more than the new `steps`, and those of the episodes
        that were under way.
        """
        before, self.last_length = self.last_length, self.length
        if not self.counted or self.length <= 0.0:
            return
        ended = self.step / self.length
        self.most_ended = max(self.most_ended, ended)
        if ended < USUAL_WINDOW:
            self.may_be_window = self.may_be_window and ended >= 0.5 * self.most_ended
            return
        grown = USUAL_WINDOW * max(0.0, self.length - before) - steps
        self.longer = max(0.0, self.longer + grown)
        if self.longer > UNDER_WAY * max(self.length, before):
            self.may_be_window = False

    def _new_episodes(self, counted: float | None) -> float:
        """The episodes since the previous row by the trainer's running count; NaN without one.

        What counts each rollout's episodes anew falls sooner or later, and is not used then.
        """
        before, self.total = self.total, counted
        if counted is None or (self.rows and before is None) or counted < (before or 0.0):
            self.total = None
            return math.nan
        return counted - before if before is not None else min(counted, USUAL_WINDOW)

    def _chance(self) -> float:
        """The most noise that a mean of rewards from 0 to 1 can have, where episodes are counted.

        If few succeed (some rows have no success at all), second differences show less than that.
        """
        if not (self.counted and self.sample.kind and 0.0 == self.low < self.high <= 1.0):
            return 0.0
        each = self.sample.episodes or max(1.0, self.episodes / self.rows)
        if self.high * each < 1.0:  # less than one success: rewards are on another scale
            return 0.0
        middle = min(0.5, self.high)
        return math.sqrt(middle * (1.0 - middle) / each)

    def _filled_share(self) -> float:
        """The share of a moving mean's window that is filled: it begins as a mean of few."""
        window = self.window_episodes if self.counted else 0
        return min(1.0, max(self.episodes, 1.0) / window) if window else 1.0

    def _fresh(self, value: float, total: float | None) -> float | None:
        """What is new in a moving mean, if that is known: it goes into blocks as episodes do."""
        if self.window is None:
            return None
        fresh = self.window.fresh(value, total) if total is not None else None
        if fresh is None:
            self.window = self.blocks = None
        elif self.blocks is None:
            self.blocks = EpisodeBlocks()
        return fresh

    def split_into_episodes(self, history: History) -> bool:
        """Whether rewards turn out to be single episodes: few different values."""
        if self.rows not in FEW_VALUES_AFTER or self.blocks is not None:
            return False
        rewards = history.newest(self.rows)
        told = self.sample.kind == "window" or (self.sample.kind and self.counted)
        if told or not 1 < len(set(rewards)) <= self.rows // 4:
            return False
        self.blocks = EpisodeBlocks()
        each = self.episodes / self.rows if self.counted else 1.0
        for reward in rewards:
            self.blocks.add(reward, each)
        self.noise = self.blocks.noise() if self.blocks.blocks else math.nan
        self.rows_per_window = 1.0
        return True
