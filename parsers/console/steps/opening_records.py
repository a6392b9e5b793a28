"""Records before a console's first step: `grad_norm = 3.1`, then `[step 0] loss=0.5`.

Where they come again before the second one, a line that says a step closes the records of it:
`Reward: 21.5`, `Loss: 0.5`, `Episode: 10`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.names.metric_names import (
    is_metric,
    may_be_title,
    split_words,
)

_MAX_WAITING = 8
"""So many records of one name may stand before the first step: samples that are shown, say."""
_MAX_IN_BLOCK = 64
_MAX_EXPECTED = 1 << 14
"""So many may wait where it is known that a step will be said."""
_EVALUATION_WORDS = frozenset({"eval", "evaluation", "test", "testing", "val", "validation"})
"""What is measured before the training, too."""


class OpeningRecords:
    """Gives the first records the first step if that is 0, or less than their number, or expected.

    Else they are counted, as they are where more of them come before any step.
    """

    def __init__(self) -> None:
        self._waiting: list[ConsoleRecord] = []
        self._tags: Counter[str] = Counter()
        self._is_over = False
        self._title: ConsoleRecord | None = None
        """The newest of the titles that nothing has followed: `Game 3/100` may head any text."""
        self._heading: ConsoleRecord | None = None
        """The line that said the first step, until the second one is said."""
        self._between: list[ConsoleRecord] = []
        self._stand_above = False
        """Whether records with these tags stand above their step."""
        self._is_expected = False

    def expect_step(self) -> None:
        """Know that a step will be said: what stands before it, however much, is not counted."""
        self._is_expected = True

    @property
    def is_waiting(self) -> bool:
        """Whether records wait for a step, or each will."""
        return bool(self._waiting) or self._stand_above or self._title is not None

    @property
    def will_be_counted(self) -> bool:
        """Whether records with the same names wait, which are more than one by themselves."""
        return self._rounds > 1

    @property
    def _rounds(self) -> int:
        return max(self._tags.values(), default=0)

    def read(self, found: ConsoleRecord) -> Sequence[ConsoleRecord]:
        """The records that have their step, or will be counted; this one is the last of them."""
        title, self._title = self._title, None
        if _is_title(found) and not (self._is_over or self._waiting or self._heading):
            self._title = found
            return ()
        if title is None:
            return self._read_opening(found)
        return [*self._read_opening(title), *self._read_opening(found)]

    def _read_opening(self, found: ConsoleRecord) -> Sequence[ConsoleRecord]:
        if self._stand_above:
            return self._read_above(found)
        if self._is_over:
            return (found,)
        if self._heading is not None:
            return self._read_between(self._heading, found)
        if found.step is not None:
            is_above = found.is_heading and found.step > 0 and self._rounds < 2
            if is_above and _may_stand_above(self._tags):
                self._heading = found
                return ()
            is_first = self._is_expected or found.step == 0 or found.step < self._rounds
            ready = self.release()
            if is_first:
                ready = [each._replace(step=found.step, axis=found.axis) for each in ready]
            return (*ready, found)
        self._waiting.append(found)
        self._tags.update(_tags_of(found))
        if self._is_expected:
            return self.release() if len(self._waiting) >= _MAX_EXPECTED else ()
        is_enough = self._rounds >= _MAX_WAITING or len(self._waiting) >= _MAX_IN_BLOCK
        return self.release() if is_enough else ()

    def _read_between(self, first: ConsoleRecord, found: ConsoleRecord) -> Sequence[ConsoleRecord]:
        """The records around the first step, once the second one tells which are its own."""
        if found.step is None:
            self._between.append(found)
            return self.release() if len(self._between) >= _MAX_IN_BLOCK else ()
        seen = {tag for each in self._between for tag in _tags_of(each)}
        rises = found.is_heading and found.axis == first.axis and found.step > (first.step or 0)
        if not (rises and self._tags.keys() <= seen):
            return (*self.release(), found)
        between, self._between, self._heading = self._between, [], None
        self._stand_above = True
        ready = [*self._read_above(first)]
        for each in (*between, found):
            ready += self._read_above(each)
        return ready

    def _read_above(self, found: ConsoleRecord) -> Sequence[ConsoleRecord]:
        """The records that the line of their step closes, and this line itself."""
        if found.step is None and not _tags_of(found) <= self._tags.keys():
            return (found,)
        if found.step is None and len(self._waiting) < _MAX_IN_BLOCK:
            self._waiting.append(found)
            return ()
        ready, self._waiting = self._waiting, []
        if found.is_heading:
            ready = [each._replace(step=found.step, axis=found.axis) for each in ready]
        return (*ready, found)

    def release(self) -> Sequence[ConsoleRecord]:
        """The records that wait: no step will be said before others are counted."""
        heading = [self._heading] if self._heading is not None else []
        ready = [*self._waiting, *heading, *self._between]
        self._waiting, self._between, self._heading = [], [], None
        self._is_over = True
        return ready


def _tags_of(found: ConsoleRecord) -> set[str]:
    return {tag for tag, _ in found.values}


def _is_title(found: ConsoleRecord) -> bool:
    return len(found.values) == 1 and may_be_title(found.values[0][0])


def _may_stand_above(tags: Collection[str]) -> bool:
    """Whether tags before the first step are a training's, which measures nothing before it."""
    are_evaluations = (not _EVALUATION_WORDS.isdisjoint(split_words(tag)) for tag in tags)
    return any(map(is_metric, tags)) and not any(are_evaluations)
