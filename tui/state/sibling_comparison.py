"""Which runs are far below their siblings, compared now and then."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from ppo_top.runs.session import Session
from ppo_top.views.run_view import RunView
from ppo_top.views.siblings import (
    BelowSiblings,
    Sibling,
    runs_below_siblings,
    sibling,
    sibling_facts,
)

PAUSE_FACTOR = 200
"""Comparing takes at most one part in so many of the time."""


@dataclass(slots=True)
class SiblingComparison:
    """The runs that are far below all others of their experiment."""

    below: Mapping[str, BelowSiblings] = field(default_factory=dict)
    """By id, as last compared."""
    _compared: dict[str, tuple[int, Sibling]] = field(default_factory=dict)
    """Run -> its version, and what it was compared by."""

    _next: float = 0.0

    def update(self, session: Session) -> bool:
        """Compare the runs again if any has changed; True if that says something else.

        With many runs it is not done each time that it is asked for.
        """
        start = time.monotonic()
        if start < self._next:
            return False
        changed = self._update(session)
        now = time.monotonic()
        self._next = now + PAUSE_FACTOR * (now - start)
        return changed

    def _update(self, session: Session) -> bool:
        compared = {}
        for run in session.runs.values():
            known = self._compared.get(run.id)
            if run.copy_of:  # no seed of its original
                continue
            if known is None or known[0] != run.version:
                known = run.version, sibling(run.name, run.path, sibling_facts(run))
            compared[run.id] = known
        if compared == self._compared:
            return False
        before, self._compared = self.below, compared
        self.below = runs_below_siblings({run: each for run, (_, each) in compared.items()})
        return before != self.below

    def of_view(self, view: RunView | None) -> BelowSiblings | None:
        """What is said of a run seen at its end; nothing of its past."""
        return self.below.get(view.id) if view is not None and view.at_end else None
