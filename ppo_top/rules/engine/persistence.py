"""The memory of a rule: when a finding opens, gets more severe and clears."""

from __future__ import annotations

from ppo_top.model import Mark
from ppo_top.rules.engine.rule import Assessment, PersistenceSteps

EASED_AFTER = 20
"""A finding becomes less severe after so many bad points in turn that call for less."""

PENDING_POINTS = 2
"""So many bad points in turn raise a finding where no more will come."""

MAX_REPEATS = 3
"""After this many findings, a rule opens none at watch or below and clears only after long calm."""

RESTATED_AFTER = 10
"""Updates after which an open finding is stated anew; then each time it is twice as old."""

LONGEST_WAIT = 64
"""Calm points that clear any finding: a value that was back for so long is no part of it."""


class Persistence:
    """Raises a severity when k of the last n points call for it; clears after enough calm ones.

    The number of calm points needed doubles each time the rule fires again, so that a value which
    oscillates around its limit is one long finding instead of many short ones. From the third
    finding on, the calm must last as long as the run had lasted when that finding opened, but no
    longer than `LONGEST_WAIT`.
    """

    __slots__ = (
        "calm_points", "finding_index", "longest", "milder_points", "recent", "resolved",
        "restated_at", "steps", "times_opened", "updates_when_opened",
    )  # fmt: skip

    def __init__(self, steps: PersistenceSteps) -> None:
        self.steps = steps
        self.longest = max(n for _, _, n in steps)
        """The longest window, in points."""
        self.recent: list[tuple[int, Mark]] = []
        self.calm_points = self.milder_points = 0
        self.resolved = False
        self.times_opened = 0
        self.updates_when_opened = self.restated_at = 0
        self.finding_index: int | None = None

    def copy(self) -> Persistence:
        """An independent copy."""
        other = Persistence.__new__(Persistence)
        other.steps, other.longest = self.steps, self.longest
        other.recent = self.recent.copy()
        other.calm_points, other.milder_points = self.calm_points, self.milder_points
        other.resolved, other.times_opened = self.resolved, self.times_opened
        other.updates_when_opened, other.restated_at = self.updates_when_opened, self.restated_at
        other.finding_index = self.finding_index
        return other

    def add_point(self, assessment: Assessment | None, mark: Mark) -> int:
        """Add one point; returns the severity it calls for, or 0.

        A rule that is asked again at the same row, as the run has ended, adds none: it corrects it.
        """
        level = assessment.level if assessment is not None else 0
        self.resolved = assessment is not None and assessment.resolved
        self.calm_points = self.calm_points + 1 if assessment is None else 0
        if self.recent and self.recent[-1][1] == mark:
            del self.recent[-1]
        self.recent.append((level, mark))
        if len(self.recent) > self.longest:
            del self.recent[0]
        if assessment is not None and assessment.immediate:
            return level
        levels = [level for level, _ in self.recent]
        worst = max(levels)
        if not worst:
            if self.finding_index is None:
                self.recent.clear()
            return 0
        for severity, k, n in self.steps:
            if worst >= severity and sum([level >= severity for level in levels[-n:]]) >= k:
                return severity
        return 0

    def pending_level(self, mark: Mark) -> int:
        """The severity that the newest points, up to the one at `mark`, agree on without a finding.

        0 if there are fewer than `PENDING_POINTS`.
        """
        newest = self.recent[-PENDING_POINTS:]
        if self.finding_index is not None or len(newest) < PENDING_POINTS or newest[-1][1] != mark:
            return 0
        return min(level for level, _ in newest)

    def has_eased(self, is_milder: bool) -> bool:
        """Whether points have long called for less than the finding's severity; asked at each."""
        self.milder_points = self.milder_points + 1 if is_milder else 0
        if self.milder_points < EASED_AFTER:
            return False
        self.milder_points = 0
        return True

    def first_bad_point(self, mark: Mark) -> Mark:
        """The first bad point of the window, or `mark`."""
        return next((at for level, at in self.recent if level), mark)

    @property
    def is_alert(self) -> bool:
        """Whether a calm point matters: a finding is open, or recent points were bad."""
        return self.finding_index is not None or bool(self.recent)

    @property
    def is_steady(self) -> bool:
        """Whether another point like the newest changes nothing.

        A finding is open, no point of the longest window differs, and the newest is not calm.
        """
        if self.finding_index is None or self.calm_points or len(self.recent) < self.longest:
            return False
        newest = self.recent[-1][0]
        return all(level == newest for level, _ in self.recent)

    @property
    def repeats_too_often(self) -> bool:
        """Whether the rule has fired too often for another watch or info finding."""
        return self.times_opened >= MAX_REPEATS

    def open_finding(self, index: int, age: int) -> None:
        """Remember the finding's index, and `age`, the run's updates when it opened."""
        self.finding_index, self.updates_when_opened = index, age
        self.restated_at = age + RESTATED_AFTER
        self.calm_points = self.milder_points = 0
        self.times_opened += 1

    def is_restated(self, age: int, *, has_ended: bool) -> bool:
        """Whether the open finding is to be stated anew, as it is twice as old or the run is over.

        If so, the next time is set. `age` are the run's updates now.
        """
        if age < self.restated_at and not has_ended:
            return False
        self.restated_at = age + max(RESTATED_AFTER, age - self.updates_when_opened)
        return True

    def has_cleared(self, clear: int, is_event: bool) -> bool:
        """Whether the finding has cleared: enough calm points, or one that resolves it.

        An event is over after `clear` of them, however often it came before.
        """
        if self.resolved or is_event:
            return self.resolved or self.calm_points >= clear
        wait = clear << min(max(self.times_opened - 1, 0), MAX_REPEATS)
        if self.repeats_too_often:
            wait = max(wait, min(self.updates_when_opened, LONGEST_WAIT))
        return self.calm_points >= wait

    def close_finding(self) -> None:
        """Forget the finding and the points that raised it."""
        self.finding_index, self.calm_points = None, 0
        self.recent.clear()
