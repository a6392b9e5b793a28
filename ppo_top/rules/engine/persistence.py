"""The memory of a rule: when a finding opens, grows more severe and clears."""

from __future__ import annotations

from ppo_top.model import Mark
from ppo_top.rules.engine.rule import Assessment, PersistenceSteps

MAX_REPEATS = 3
"""A rule that has opened so many findings has said what there is to say of a wobbling value."""


class Persistence:
    """Raises a severity when k of the last n points call for it; clears after enough calm ones.

    The number of calm points doubles each time the same rule speaks again, so that a value which
    wobbles about its limit becomes one long finding instead of many short ones; from the third
    finding on, calm must last as long as the run had lasted when that finding opened.
    """

    __slots__ = (
        "calm_points",
        "finding_index",
        "recent",
        "resolved",
        "steps",
        "times_opened",
        "updates_when_opened",
        "window",
    )

    def __init__(self, steps: PersistenceSteps) -> None:
        self.steps = steps
        self.window = max(n for _, _, n in steps)
        self.recent: list[tuple[int, Mark]] = []
        self.calm_points = 0
        self.resolved = False
        self.times_opened = 0
        self.updates_when_opened = 0
        self.finding_index: int | None = None

    def copy(self) -> Persistence:
        """An independent copy."""
        other = Persistence(self.steps)
        other.recent, other.calm_points, other.resolved = (
            self.recent.copy(),
            self.calm_points,
            self.resolved,
        )
        other.times_opened, other.finding_index, other.updates_when_opened = (
            self.times_opened,
            self.finding_index,
            self.updates_when_opened,
        )
        return other

    def add_point(self, reading: Assessment | None, mark: Mark) -> int:
        """Take in one point; returns the severity that it calls for, or 0."""
        level = reading.level if reading is not None else 0
        self.resolved = reading is not None and reading.resolved
        self.calm_points = self.calm_points + 1 if reading is None else 0
        self.recent.append((level, mark))
        if len(self.recent) > self.window:
            del self.recent[0]
        if reading is not None and reading.immediate:
            return level
        levels = [was for was, _ in self.recent]
        worst = max(levels)
        if not worst and self.finding_index is None:
            self.recent.clear()
        for severity, k, n in self.steps:
            if worst >= severity and sum([was >= severity for was in levels[-n:]]) >= k:
                return severity
        return 0

    def first_bad_point(self, mark: Mark) -> Mark:
        """The first bad point of the window; `mark` where there is none."""
        return next((at for was, at in self.recent if was), mark)

    @property
    def repeats_too_often(self) -> bool:
        """Whether a remark of this rule would be one too many."""
        return self.times_opened >= MAX_REPEATS

    def open_finding(self, index: int, age: int) -> None:
        """Remember where the finding is kept, and how many updates the run had then."""
        self.finding_index, self.calm_points, self.updates_when_opened = index, 0, age
        self.times_opened += 1

    def has_cleared(self, clear: int) -> bool:
        """Whether the finding is over: by enough calm points, or by one that made it good."""
        if self.resolved:
            return True
        wait = clear << min(max(self.times_opened - 1, 0), MAX_REPEATS)
        return self.calm_points >= (
            max(wait, self.updates_when_opened) if self.repeats_too_often else wait
        )

    def close_finding(self) -> None:
        """Forget the finding and the points that raised it."""
        self.finding_index, self.calm_points = None, 0
        self.recent.clear()
