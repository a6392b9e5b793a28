"""Rewards as measurements of known noise: rows, blocks of episodes, or what is new in a mean."""

from __future__ import annotations

import math

from ppo_top.model import Sample
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.reward.episode_blocks import MIN_BLOCK_ROWS, EpisodeBlocks, RewardPoint
from ppo_top.rules.engine.reward.moving_means import EpisodeCount, WindowMean
from ppo_top.rules.engine.reward.row_noise import MOVING_MEAN_NOISE, NOISE_LAGS, RowNoise, RowSpread
from ppo_top.rules.engine.reward.window_search import WindowSearch

FULL_ROW_EPISODES = 20
"""A first row with this many episodes is a mean by itself: rows are not put into blocks."""

OTHER_UNIT = 2.0
"""Steps are not those of an environment if the episodes that must have ended need so many times
more: each new value of the reward needs one."""

USUAL_WINDOW = 100
"""Episodes in a moving mean, if rewards of unknown kind are one: Gym's, SB3's and CleanRL's."""

UNDER_WAY = 20
"""Episodes that may be under way at a row, in parallel environments."""

FEW_VALUES_AFTER = (20, 40, 60)
"""Rows after which rewards with few different values count as single episodes."""

FEWEST_VALUES = 4
"""Until so many different rewards of unknown kind are seen, or `FEW_VALUES_AFTER` tells what they
are, all of their range is noise: Pong's first episodes end at -21 or -20."""

NOISE_AFTER, NOISE_SHARE = 120, 0.5
"""After so many rows of unknown kind, and each time there are twice as many, they are put into
blocks if more than this share of their spread is within blocks: alone, a row says too little."""


class RewardPoints:
    """Turns a run's rewards into points, by what one row is."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.blocks = EpisodeBlocks() if sample.kind == "episode" else None
        self.row_blocks = EpisodeBlocks(by_rows=True) if sample.kind == "" else None
        self.noise_asked_at = NOISE_AFTER
        self.low, self.high, self.last = math.inf, -math.inf, math.nan
        self.changes = 0
        self.window = WindowMean(sample.episodes) if sample.kind == "window" else None
        self.first_values: frozenset[float] = frozenset()
        self.search = WindowSearch() if sample.kind in ("", "window") else None
        self.found_window = False
        self.held: list[tuple[float, int, float]] = []
        self.count = EpisodeCount(sample.episodes)
        self.row_noise = RowNoise(NOISE_LAGS if sample.kind == "" else NOISE_LAGS[:1])
        self.spread = RowSpread()
        self.may_overlap = True
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
        other.row_blocks = self.row_blocks.copy() if self.row_blocks is not None else None
        other.window = self.window.copy() if self.window is not None else None
        other.row_noise, other.count = self.row_noise.copy(), self.count.copy()
        other.search = self.search.copy() if self.search is not None else None
        other.held = self.held.copy()
        other.spread = self.spread.copy()
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

    def episodes_in(self, rows: int) -> float:
        """About how many episodes end in so many rows, by their length; infinite if unknown."""
        if not (self.counted and self.length > 0.0):
            return math.inf
        return rows * self.step / (self.rows * self.length)

    def _rows_per_window(self, size: int) -> float:
        """How many rows one independent measurement takes, of a window of `size` episodes."""
        if self.window is not None or not self.may_overlap:
            return 1.0
        return max(1.0, min(self.episodes, size) / (self.episodes / self.rows))

    def may_be_in_blocks(self, rows: int) -> bool:
        """Whether rows are put into blocks, or may be within so many more."""
        searched = self.search is not None and not self.search.is_over
        if self.blocks is not None or searched or self.rows <= FEW_VALUES_AFTER[-1]:
            return True
        return self.row_blocks is not None and self.noise_asked_at <= self.rows + rows

    @property
    def window_episodes(self) -> int:
        """The episodes of a moving mean; 0 if rewards are none, or episodes are not counted."""
        if not (self.counted and self.may_overlap):
            return 0
        if self.blocks is None and self.may_be_window and self.row_noise.grows:
            return USUAL_WINDOW  # of unknown kind: only such rows are compared at distances
        return self.sample.episodes if self.sample.kind == "window" else 0

    @property
    def is_taken_apart(self) -> bool:
        """Whether points are what is new in a moving mean."""
        return self.window is not None and self.blocks is not None

    def add(
        self, value: float, step: int, length: float | None, counted: float | None
    ) -> list[RewardPoint] | None:
        """Add a row; returns its new points, or None if all points have changed (see `blocks`).

        `step` counts from the start of the log, `length` is the mean length of episodes, `counted`
        the trainer's own count of them.
        """
        episodes = self._new_episodes(counted)
        steps = max(0, step - self.step)
        if length is not None and length > 0.0:
            self.length = length
            if episodes != episodes:
                episodes = steps / length
        total = self._total(step, length, counted) if self.window is not None else None
        self.step = step
        self.rows += 1
        self.found_window = self._finds_window(value, length)
        self.changes += value != self.last
        self.same = self.same + 1 if value == self.last else 0
        self.last = value
        if value < self.low:
            self.low = value
        if value > self.high:
            self.high = value
        self.counted = self.counted and episodes == episodes and not self.has_other_unit
        if self.rows == 1 and self.sample.kind == "update" and self.counted:
            self.blocks = EpisodeBlocks()
        if self.rows == 1 and episodes >= FULL_ROW_EPISODES:
            self.blocks = None  # each row holds enough of them
        episodes = max(1.0, episodes) if self.counted else 1.0
        self.episodes += episodes
        if self.may_be_window and self.sample.kind == "":
            self._compare_with_window(steps)
        fresh = self._fresh(value, total)
        if self.blocks is None:
            return [*self._points_of_held(episodes), self._point_of_row(value)]
        self._hold(value, episodes)
        self.rows_per_window = self._rows_per_window(self.window_episodes)
        if not self.blocks.add(value if fresh is None else fresh, episodes):
            return []
        self.held = []
        merged = self.blocks.merge_pairs()
        self.noise = self.blocks.noise()
        return None if merged else self.blocks.points(1)

    def _hold(self, value: float, episodes: float) -> None:
        """Keep the rows of the open block of a moving mean, if each has many new episodes."""
        if self.window is None or episodes < FULL_ROW_EPISODES:
            self.held = []
        else:
            self.held.append((value, self.rows, self.episodes))

    def _points_of_held(self, episodes: float) -> list[RewardPoint]:
        """The rows of a block that will not be filled: the mean is not taken apart after all.

        The first row of eight environments tells what random actions get.
        """
        held, self.held = self.held, []
        if episodes < FULL_ROW_EPISODES:
            return []
        now = self.rows, self.episodes
        points = []
        for value, self.rows, self.episodes in held:
            points.append(self._point_of_row(value))
        self.rows, self.episodes = now
        return points

    def _point_of_row(self, value: float) -> RewardPoint:
        """A row that is a point by itself; a window that has not filled yet is noisier."""
        if self.row_blocks is not None and self.row_blocks.add(value, 1.0):
            self.row_blocks.merge_pairs()
        lone = len(self.row_noise.estimators) == 1
        if self.sample.kind == "window" and not self.counted and lone:
            self.row_noise = RowNoise(NOISE_LAGS)
        size = self.window_episodes
        filled = math.sqrt(min(1.0, self.episodes / size)) if size else 1.0
        self.rows_per_window = self._rows_per_window(size)
        grew = self.row_noise.grows
        noise = self.row_noise.add(value, self.rows_per_window) * filled
        if self.row_noise.grows != grew:
            self.rows_per_window = self._rows_per_window(self.window_episodes)
        if self.sample.kind == "window":
            self.spread.add(value)
        if self.may_overlap and self.spread.forbids(self.rows_per_window, noise):
            noise /= MOVING_MEAN_NOISE * math.sqrt(self.rows_per_window)
            self.may_overlap, self.rows_per_window, filled = False, 1.0, 1.0
        self.noise = (
            max(noise, self._chance(), self._range_of_few(value)) if noise == noise else noise
        )
        return RewardPoint(value, 1.0 / filled)

    def _compare_with_window(self, steps: int) -> None:
        """Rule out that rows are means of the last `USUAL_WINDOW` episodes, by their lengths.

        While fewer have ended, their number is steps / length, which does not fall. Later on, the
        sum of the window's lengths grows by no more than the new `steps`, and those of the episodes
        that were under way.
        """
        before, self.last_length = self.last_length, self.length
        if self.length <= 0.0:
            return
        ended = self.step / self.length
        self.most_ended = max(self.most_ended, ended)
        if ended < USUAL_WINDOW:
            self.may_be_window = ended >= 0.5 * self.most_ended
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

    def _range_of_few(self, value: float) -> float:
        """The range of rewards of unknown kind while they are few and hardly differ, or 0."""
        if (
            self.sample.kind
            or self.rows > FEW_VALUES_AFTER[0]
            or len(self.first_values) == FEWEST_VALUES
        ):
            return 0.0
        self.first_values |= {value}
        return self.high - self.low if len(self.first_values) < FEWEST_VALUES else 0.0

    def _chance(self) -> float:
        """The most noise that a mean of rewards from 0 to 1 can have, where episodes are counted.

        If few succeed (some rows have no success at all), second differences show less than that.
        """
        if not (self.counted and self.sample.kind and 0.0 == self.low < self.high <= 1.0):
            return 0.0
        each = self.sample.episodes or self.episodes / self.rows
        if self.high * each < 1.0:  # less than one success: rewards are on another scale
            return 0.0
        middle = min(0.5, self.high)
        return math.sqrt(middle * (1.0 - middle) / each)

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

    def _finds_window(self, value: float, length: float | None) -> bool:
        """Whether rewards turn out to be moving means of this or of another window."""
        if self.sample.kind == "window" and length is not None:
            self.search = None  # the episodes of a window are counted by their lengths
        return self.search is not None and self.search.add(value)

    def _total(self, step: int, length: float | None, counted: float | None) -> float | None:
        """The episodes so far, or rows where a mean over rows was found; None if not certain."""
        rows = self.search is not None and self.search.window > 1
        return self.rows + 1.0 if rows else self.count.add(step, length, counted)

    def put_into_blocks(self, history: History) -> bool:
        """Whether rewards turn out to be moving means, single episodes, or little but noise."""
        if self.found_window and self.search is not None:
            self._take_apart(self.search)
            return True
        return self.blocks is None and (self._are_few(history) or self._are_noise())

    def _take_apart(self, search: WindowSearch) -> None:
        """Put what is new in each row so far into blocks."""
        self.window, self.row_blocks = WindowMean(search.window), None
        self.blocks = EpisodeBlocks(by_rows=True)
        for fresh in self.window.fresh_rows(search.means):
            self.blocks.add(fresh, 1.0)
        while self.blocks.merge_pairs():
            pass
        self.noise = self.blocks.noise() if self.blocks.blocks else math.nan
        self.rows_per_window = 1.0

    def _are_noise(self) -> bool:
        """Whether neighbouring rewards differ as much as all do."""
        if self.row_blocks is None or self.rows != self.noise_asked_at:
            return False
        self.noise_asked_at *= 2
        if self.row_blocks.inner_share() <= NOISE_SHARE:
            return False
        self.blocks, self.row_blocks = self.row_blocks, None
        self.noise = self.blocks.noise()
        self.rows_per_window = 1.0
        return True

    def _are_few(self, history: History) -> bool:
        """Whether rewards have few different values."""
        if self.rows not in FEW_VALUES_AFTER:
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
