"""Records before a console's first step: `grad_norm = 3.1`, then `[step 0] loss=0.5`."""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.parsers.console.record import ConsoleRecord

_MAX_WAITING = 8


class OpeningRecords:
    """Gives the first records step 0 if that is what the first step turns out to be.

    They wait as long as each has other names: where one comes again, records are counted.
    """

    def __init__(self) -> None:
        self._waiting: list[ConsoleRecord] = []
        self._tags: set[str] = set()
        self._is_over = False

    @property
    def is_waiting(self) -> bool:
        """Whether records wait for the first step."""
        return bool(self._waiting)

    def read(self, found: ConsoleRecord) -> Sequence[ConsoleRecord]:
        """The records that have their step, or will be counted; this one is the last of them."""
        if self._is_over:
            return (found,)
        if found.step is not None:
            ready = self.release()
            if found.step == 0:
                ready = [each._replace(step=0, axis=found.axis) for each in ready]
            return (*ready, found)
        tags = {tag for tag, _ in found.values}
        self._waiting.append(found)
        comes_again = not tags.isdisjoint(self._tags)
        self._tags |= tags
        return self.release() if comes_again or len(self._waiting) >= _MAX_WAITING else ()

    def release(self) -> Sequence[ConsoleRecord]:
        """The records that wait: no step will be said before others are counted."""
        ready, self._waiting, self._is_over = self._waiting, [], True
        return ready
