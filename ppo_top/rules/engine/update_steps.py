"""How many environment steps an update takes, by a log's own counters of rollouts or epochs."""

from __future__ import annotations

import math
from collections.abc import Collection

ROLLOUT_COUNTERS = ("iteration", "n_updates")
"""Counters of rollouts, in order of preference."""

LOSSES = "losses"
"""Stands for a counter where each row with losses is an update."""

USUAL_EPOCHS = 10.0
"""SB3's default of `n_epochs` for PPO."""

RESUMED_AFTER_ROWS = 20
"""A log that begins more than this many updates' steps above 0 is that of a resumed run."""

RESUMED_BY_ROWS = 10
"""Until there are so many rows, one that takes longer tells that it is not: where each row is an
episode, the second may last a single step."""


def begins_within(begun: int, steps: int) -> bool:
    """Whether a log that begins at a step does so within a training of so many steps a row."""
    return begun > RESUMED_AFTER_ROWS * steps > 0


class UpdateSteps:
    """The environment steps of the newest update: `each`, 0 while unknown.

    `facts` are those of the trainer, `epochs` its `n_epochs` if known.
    """

    __slots__ = ("_counts", "_epochs", "_facts", "each")

    def __init__(self, facts: Collection[str], epochs: float | None) -> None:
        self.each = 0.0
        self._facts = facts
        self._epochs = epochs or USUAL_EPOCHS
        self._counts: dict[str, tuple[float, float]] = {}

    def copy(self) -> UpdateSteps:
        """An independent copy."""
        other = UpdateSteps(self._facts, self._epochs)
        other.each, other._counts = self.each, self._counts.copy()
        return other

    def counter(self, logged: Collection[str]) -> str:
        """What counts rollouts or epochs in rows of these metrics; "" if nothing does.

        Evaluation rows lie between rollouts and may hold the epoch counter too.
        """
        known = self._counts
        counter = next((c for c in ROLLOUT_COUNTERS if c in logged or c in known), "")
        if not counter and "losses-once-an-update" in self._facts and "value_loss" in logged:
            return LOSSES
        if counter == "n_updates" and "n-updates-of-epochs" not in self._facts:
            return ""
        return counter if counter in logged else ""

    def add(self, counter: str, step: float, count: float) -> None:
        """Follow what a counter says at an environment step."""
        last_step, last_count = self._counts.get(counter, (step, count))
        self._counts[counter] = step, count
        steps, passed = step - last_step, count - last_count
        if counter == "n_updates" and "one-step" not in self._facts:  # SB3 counts only the epochs
            passed = passed / self._epochs if passed > 40 else passed > 0
        if 0.0 < passed < math.inf and steps > passed:  # else a step is a rollout of unknown size
            self.each = steps / passed
