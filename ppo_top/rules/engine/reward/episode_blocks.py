"""Rewards of single episodes, or of a few, as means of blocks: measurements of known noise."""

from __future__ import annotations

import math
from functools import reduce

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.engine.stats import median, median_of_sorted

BLOCK_EPISODES = 10
"""The fewest episodes in a block; the outcome of a single one says little."""

MIN_BLOCK_ROWS = 3
"""The fewest rows in a block: its noise is that of their mean."""

LONE_OUTLIER = 10.0
"""A single one of `BLOCK_EPISODES` rows counts as no farther from their median than so many times
the range of their middle half: one lucky or broken episode is no level."""

MAX_BLOCKS = 60
"""When there are more blocks than this, neighbours are merged: a dip of 1 % of a run is no news."""


class RewardPoint(NamedTuple):
    """A measurement of the reward's level.

    Its standard error is `excess` (1 or more) times the usual one, the noise of its source.
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


def block_of(rows: list[float]) -> Block:
    """Rows as a block; of `BLOCK_EPISODES` or more, a lone outlier is moved nearer."""
    count = len(rows)
    if count >= BLOCK_EPISODES:
        rows = _without_lone_outlier(sorted(rows))
    mean = sum(rows) / count if min(rows) < max(rows) else rows[0]  # not but for rounding
    return Block(float(count), mean, sum((row - mean) ** 2 for row in rows))


def _without_lone_outlier(ordered: list[float]) -> list[float]:
    """The same rows in order, the lowest or highest moved nearer if it alone lies far out."""
    quarter = len(ordered) // 4
    low, middle, high = ordered[quarter], median_of_sorted(ordered), ordered[-1 - quarter]
    reach = LONE_OUTLIER * (high - low)
    lowest, highest = middle - reach, middle + reach
    if reach > 0.0 and ordered[-1] > highest >= ordered[-2]:
        ordered = [*ordered[:-1], highest]
    if reach > 0.0 and ordered[0] < lowest <= ordered[1]:
        ordered = [lowest, *ordered[1:]]
    return ordered


class EpisodeBlocks:
    """Means of equally many consecutive rows that hold an episode or a few each.

    A block holds `BLOCK_EPISODES` or more; with more than `MAX_BLOCKS` blocks they are merged two
    by two. The usual noise is the median of the blocks' own standard errors. With `by_rows` each
    row counts as one, whatever it holds.
    """

    def __init__(self, *, by_rows: bool = False) -> None:
        self.by_rows = by_rows
        self.blocks: list[Block] = []
        self.open_block: Block | None = None
        self.new_rows: list[float] = []
        self.open_episodes = 0.0
        self.size = float(BLOCK_EPISODES)

    def copy(self) -> EpisodeBlocks:
        """An independent copy."""
        other = EpisodeBlocks.__new__(EpisodeBlocks)
        other.__dict__.update(self.__dict__)
        other.blocks, other.new_rows = self.blocks.copy(), self.new_rows.copy()
        return other

    def add(self, value: float, episodes: float) -> bool:
        """Add a row; True if it completes a block."""
        self.new_rows.append(value)
        self.open_episodes += 1.0 if self.by_rows else episodes
        before = self.open_block.size if self.open_block is not None else 0.0
        complete = self.open_episodes >= self.size and before + len(self.new_rows) >= MIN_BLOCK_ROWS
        if complete or len(self.new_rows) >= BLOCK_EPISODES:
            new = block_of(self.new_rows)
            self.open_block = self.open_block.merged(new) if self.open_block is not None else new
            self.new_rows = []
        if complete and self.open_block is not None:
            self.blocks.append(self.open_block)
            self.open_block, self.open_episodes = None, 0.0
        return complete

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

    def inner_share(self) -> float:
        """The share of the spread of all values that lies within blocks; 0 if none differ."""
        whole = reduce(Block.merged, self.blocks)
        return sum(block.squares for block in self.blocks) / (whole.squares or math.inf)

    def points(self, count: int = 0) -> list[RewardPoint]:
        """The newest `count` blocks as points; all if 0."""
        usual = self.noise()
        return [
            RewardPoint(block.mean, max(1.0, block.error / usual) if usual == usual else 1.0)
            for block in self.blocks[-count:]
        ]
