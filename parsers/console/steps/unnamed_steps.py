"""Tells whether the number that lines begin with is their step: `120 reward: 21.5 loss: 0.3`.

`Steps: 120, reward: 21.5` may say the length of an episode: it takes more of them to tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.names.counter_names import may_lead
from ppo_top.parsers.shared.tables.episode_counts import ENOUGH_ROWS

_MAX_WAITING = 8
_ENOUGH_COUNTS = 8
"""So many lengths of episodes rise by chance once in 40,000 times."""
_MAX_WAITING_FOR_COUNTS = 64
_FEWEST_NUMBERS = 2


class UnnamedSteps:
    """Takes the step from records whose number does not count on: a rank, or a length.

    The first of them wait until a few are there.
    """

    def __init__(self) -> None:
        self._waiting: list[ConsoleRecord] = []
        self._count_on: bool | None = None
        """None until it is known."""

    @property
    def is_waiting(self) -> bool:
        """Whether records wait for others that tell what their number is."""
        return bool(self._waiting)

    def read(self, found: ConsoleRecord) -> Sequence[ConsoleRecord]:
        """The records of which it is known, in order, this one the last of them."""
        if self._count_on is not None or not (found.begins_line or self._waiting):
            return (self._settled(found),)
        self._waiting.append(found)
        numbered = [each for each in self._waiting if each.begins_line]
        are_counts = _are_counts(numbered)
        most = _MAX_WAITING_FOR_COUNTS if are_counts else _MAX_WAITING
        has_named_step = found.step is not None and not found.begins_line
        is_enough = len(numbered) >= _enough(numbered)
        is_over = has_named_step or is_enough or len(self._waiting) >= most
        return self.release() if is_over else ()

    def release(self) -> Sequence[ConsoleRecord]:
        """The records that wait, with what they tell."""
        if not self._waiting:
            return ()
        ready, self._waiting = self._waiting, []
        numbered = [each for each in ready if each.begins_line]
        names = {each.leading[0] for each in numbered}
        steps = [each.step or 0 for each in numbered]
        fewest = _enough(numbered) if _are_counts(numbered) else _FEWEST_NUMBERS
        rises = len(steps) >= fewest and _rise(numbered)
        others_tell = any(each.step is not None and not each.begins_line for each in ready)
        most_names = 1 if _are_counts(numbered) else len(numbered) - 1  # no list of settings
        self._count_on = rises and len(names) <= most_names and not others_tell
        return [self._settled(each) for each in ready]

    def _settled(self, found: ConsoleRecord) -> ConsoleRecord:
        if not found.begins_line:
            return found
        if not self._count_on:
            return found._replace(step=None, axis="")
        if found.axis != "episode" or found.step is None:
            return found
        return found._replace(values=[(found.axis, float(found.step)), *found.values])


def _rise(numbered: Sequence[ConsoleRecord]) -> bool:
    """Whether numbers never fall, and rise from each line of a name to the next one of that."""
    last: dict[str, int] = {}
    highest = -1
    for each in numbered:
        name, step = each.leading[0], each.step or 0
        if step < highest or step <= last.get(name, -1):
            return False
        last[name] = highest = step
    return True


def _enough(numbered: Sequence[ConsoleRecord]) -> int:
    """How many numbers tell whether they count on.

    Lengths of episodes rise by chance, not evenly; the steps of one go by ones.
    """
    gaps = {(after.step or 0) - (before.step or 0) for before, after in pairwise(numbered)}
    is_even = len(gaps) == 1 and min(gaps) > 1
    return _ENOUGH_COUNTS if _are_counts(numbered) and not is_even else ENOUGH_ROWS


def _are_counts(numbered: Sequence[ConsoleRecord]) -> bool:
    """Whether the number has a name that leaves open what it counts."""
    return bool(numbered) and may_lead(numbered[0].leading[0])
