"""Which ends of logs are that of their run: not one after which the training went on elsewhere."""

from __future__ import annotations

from collections.abc import Collection

from ppo_top.model import State
from ppo_top.runs.sources.source import SourceState

RESUMED_ROWS, RESUMED_AFTER_S = 3.0, 60.0
"""Another log goes on if it is so many usual rows ahead, and was written so many seconds later.

A process that is killed takes what it had not written to its console along, so that its other logs
may be ahead, too; but nothing is written any more.
"""


def standing_ends(sources: Collection[SourceState]) -> list[SourceState]:
    """The sources that say that the run has ended."""
    ended = (each for each in sources if each.ended is not None)
    return [each for each in ended if not any(_goes_on(other, each) for other in sources)]


def deaths(sources: Collection[SourceState]) -> list[SourceState]:
    """The sources that say that the run has failed, by their keys."""
    found = (each for each in standing_ends(sources) if each.died)
    return sorted(found, key=lambda each: each.key)


def _goes_on(other: SourceState, stopped: SourceState) -> bool:
    """Whether a source holds what came after another one stopped."""
    finished = stopped.ended is not None and stopped.ended.state is State.FINISHED
    if finished or not stopped.points or stopped.counts_updates or other.counts_updates:
        return False
    first = min((head.steps[0] for head in stopped.facts.heads.values()), default=0)
    usual = (stopped.newest_step - first) / max(1, stopped.facts.rows - 1)
    is_ahead = other.newest_step > stopped.newest_step + RESUMED_ROWS * usual
    return is_ahead and other.mtime > stopped.mtime + RESUMED_AFTER_S
