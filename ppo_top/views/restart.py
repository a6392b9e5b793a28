"""From where to restart: the newest checkpoint on disk from before a fault.

A report is printed with it long after its run was judged, so nothing here needs the run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ppo_top.files.checkpoints import Checkpoint
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.text.format import count

OLDER_S = 600.0
"""A checkpoint written so long before the log began is said to be older (seconds)."""


class CheckpointSearch(NamedTuple):
    """Where the checkpoints of a run may be and how they are named (a regex around the number).

    `fault` is the title of the earliest open finding if advice asks for a restart, else empty;
    `before` is the number, counted in `unit`, at which it began. The log begins at `log_begins`
    (unix seconds; None without a clock).
    """

    folders: list[str]
    pattern: str
    unit: str
    log_begins: float | None
    fault: str = ""
    before: float = math.inf

    def without_folders(self, taken: Iterable[str]) -> CheckpointSearch:
        """The search without the folders where other runs' checkpoints may be as well."""
        others = set(taken)
        return self._replace(folders=[each for each in self.folders if each not in others])


class Restart(NamedTuple):
    """A sentence on where to resume, and the checkpoint; None if all of them are from later."""

    text: str
    checkpoint: Checkpoint | None


def find_restart(search: CheckpointSearch, found: Sequence[Checkpoint]) -> Restart | None:
    """The newest checkpoint from before the fault; None if there is no checkpoint or no fault."""
    if not search.fault or not found:
        return None
    earlier = [each for each in found if each.number < search.before]
    if not earlier:
        return Restart(f"no checkpoint from before {_moment(search, search.before)} is here", None)
    newest = max(earlier, key=lambda each: each.number)
    distance = f'{count(search.before - newest.number)} before "{search.fault}" began'
    text = f"resume from {newest.name} ({_moment(search, newest.number)}, {distance})"
    if search.log_begins is not None and newest.written < search.log_begins - OLDER_S:
        text += ", written before this log began"
    return Restart(text, newest)


def _moment(search: CheckpointSearch, number: float) -> str:
    return f"{search.unit} {count(number)}"
