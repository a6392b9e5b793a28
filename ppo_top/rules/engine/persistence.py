"""The memory of a rule: when a finding opens, grows more severe and clears."""

from __future__ import annotations

from ppo_top.model import Mark
from ppo_top.rules.engine.rule import Reading, Steps

OFTEN = 3
"""A rule that has opened so many findings has said what there is to say of a wobbling value."""


class Latch:
    """Raises a severity when k of the last n points call for it; clears after enough calm ones.

    The number of calm points doubles each time the same rule speaks again, so that a value which
    wobbles about its limit becomes one long finding instead of many short ones; from the third
    finding on, calm must last as long as the run had lasted when that finding opened.
    """

    __slots__ = ("age", "calm", "index", "over", "raises", "recent", "steps", "window")

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.window = max(n for _, _, n in steps)
        self.recent: list[tuple[int, Mark]] = []
        self.calm = 0
        self.over = False
        self.raises = 0
        self.age = 0
        self.index: int | None = None

    def copy(self) -> Latch:
        """An independent copy."""
        other = Latch(self.steps)
        other.recent, other.calm, other.over = self.recent.copy(), self.calm, self.over
        other.raises, other.index, other.age = self.raises, self.index, self.age
        return other

    def see(self, reading: Reading | None, mark: Mark) -> int:
        """Take in one point; returns the severity that it calls for, or 0."""
        level = reading.level if reading is not None else 0
        self.over = reading is not None and reading.over
        self.calm = self.calm + 1 if reading is None else 0
        self.recent.append((level, mark))
        if len(self.recent) > self.window:
            del self.recent[0]
        if reading is not None and reading.now:
            return level
        levels = [was for was, _ in self.recent]
        worst = max(levels)
        if not worst and self.index is None:
            self.recent.clear()
        for severity, k, n in self.steps:
            if worst >= severity and sum([was >= severity for was in levels[-n:]]) >= k:
                return severity
        return 0

    def since(self, mark: Mark) -> Mark:
        """The first bad point of the window; `mark` where there is none."""
        return next((at for was, at in self.recent if was), mark)

    @property
    def tired(self) -> bool:
        """Whether a remark of this rule would be one too many."""
        return self.raises >= OFTEN

    def open(self, index: int, age: int) -> None:
        """Remember where the finding is kept, and how many updates the run had then."""
        self.index, self.calm, self.age = index, 0, age
        self.raises += 1

    def has_cleared(self, clear: int) -> bool:
        """Whether the finding is over: by enough calm points, or by one that made it good."""
        if self.over:
            return True
        wait = clear << min(max(self.raises - 1, 0), OFTEN)
        return self.calm >= (max(wait, self.age) if self.tired else wait)

    def close(self) -> None:
        """Forget the finding and the points that raised it."""
        self.index, self.calm = None, 0
        self.recent.clear()
