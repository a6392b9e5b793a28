"""The whole course of a reward as means of equally many points, of bounded number."""

from __future__ import annotations

from itertools import pairwise

from ppo_top.rules.engine.episode_blocks import Block


class PointMeans:
    """Means of equally many consecutive points, at most `most` of them."""

    most = 64

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.size = 1.0

    def copy(self) -> PointMeans:
        """An independent copy."""
        other = PointMeans()
        other.blocks, other.size = self.blocks.copy(), self.size
        return other

    def add(self, value: float) -> bool:
        """Add a point; True if it begins a block."""
        blocks = self.blocks
        if blocks and blocks[-1].size < self.size:
            blocks[-1] = blocks[-1].with_value(value)
            return False
        if len(blocks) == self.most:
            self.size *= 2.0
            pairs = zip(blocks[::2], blocks[1::2], strict=True)
            self.blocks = blocks = [early.merged(late) for early, late in pairs]
        blocks.append(Block(1.0, value, 0.0))
        return True

    def quarters(self) -> list[tuple[float, float]]:
        """(points, mean) of each quarter of the points; empty with fewer than four blocks."""
        size = len(self.blocks)
        if size < 4:
            return []
        sizes = [block.size for block in self.blocks]
        sums = [block.mean * block.size for block in self.blocks]
        cuts = pairwise([size * part // 4 for part in range(5)])
        parts = [(sum(sizes[i:j]), sum(sums[i:j])) for i, j in cuts]
        return [(count, total / count) for count, total in parts]
