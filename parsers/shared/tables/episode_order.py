"""Numbers of episodes that come out of order, as environments side by side end them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

_MOST_SKIPPED, _MOST_MISSING = 64, 4096
_FEW_MISSING = 64
"""So many numbers may be missing at once even where few have come."""


_BEFORE_FIRST = -1
"""Episodes are numbered from 0 or 1."""
_ENOUGH = 4
"""So many numbers show that only every fifth, say, is logged."""


_FEW_ROWS, _MOST_SHORT = 8, 1
"""After more trainings of so few rows, the numbers are those of something inside an update."""


_SEVERAL = 3
"""So many rows of one number, then one of the next, then one of the former: of several workers."""
_WORKERS_APART = 8
"""No worker has played so many times the episodes of another."""
_NEWEST_ROWS = 8


class _Workers:
    """Notices that workers side by side log each their own episodes: 1, 1, 1, 2, 1, 1, 2, 2.

    A row may say which worker it is of.
    """

    def __init__(self) -> None:
        self.are_seen = False
        self._named: float | None = None
        self._newest: int | None = None
        self._before: int | None = None
        self._rows = self._rows_before = 0

    def note_named(self, worker: float, number: int) -> None:
        """Note the worker that a row names, before its number."""
        is_other = self._named not in (None, worker)
        self.are_seen |= is_other and self._newest is not None and number < self._newest
        self._named = worker

    def note(self, numbers: Sequence[int]) -> None:
        """Note the numbers of rows; those of many at once never fall."""
        for number in numbers[-_NEWEST_ROWS:]:
            if number == self._newest:
                self._rows += 1
                continue
            is_next = self._before == number and self._rows == 1
            self.are_seen |= is_next and number < (self._newest or 0) and self._are_several
            self._before, self._newest = self._newest, number
            self._rows_before, self._rows = self._rows, 1

    @property
    def _are_several(self) -> bool:
        return self._rows_before >= _SEVERAL


class EpisodeOrder:
    """Counts the rows on from where a number comes that was left out until then.

    Each row is one episode more. A number that has come before is that of a training that begins
    anew, unless that happens every few rows: five episodes of each evaluation, say. If only every
    fifth episode is logged, say, none is missing in the next training.
    Of workers that log each their own episodes the one that is furthest tells the step.
    """

    def __init__(self) -> None:
        self._workers = _Workers()
        self._highest: int | None = None
        self._former = _BEFORE_FIRST
        """The highest number of the training before."""
        self._count = 0
        self._leaves_out = False
        """Whether a training has logged less than every second episode."""
        self._missing: set[int] = set()
        self._counted: int | None = None
        """The step of the last row, once rows are counted."""
        self._first = self._short = 0
        """The first number of a training; how many, one after the other, had but a few rows."""
        self._newest: int | None = None
        """The number of the last row, once all are counted."""

    def step_of(self, number: int, *, may_begin: bool = False, worker: float | None = None) -> int:
        """The step of a row with this number; `may_begin`: a line has said that a training does.

        `worker`: the one that the row names.
        """
        if worker is not None:
            self._workers.note_named(worker, number)
        self._workers.note([number])
        if self._workers.are_seen and not may_begin and (furthest := self._furthest(number)):
            return furthest
        newest, counted = self._newest, self._counted
        if newest is not None and counted is not None:
            if not (may_begin and number < newest) and not self._leaps(number):
                self._newest, self._counted = number, counted + (number != newest)
                return self._counted
            self._highest = self._counted = self._newest = None
        highest = self._highest
        if number == highest:
            return number if self._counted is None else self._counted
        if highest is None or (number < highest and not self._is_missing(number)):
            self._missing.clear()
            self._leaves_out |= self._count >= _ENOUGH and (highest or 0) >= 2 * self._count
            if highest is not None and self._is_inside(highest, may_begin=may_begin):
                self._newest = number
                self._counted = 1 + (highest if self._counted is None else self._counted)
                return self._counted
            self._former = highest or _BEFORE_FIRST
            self._note_skipped(_BEFORE_FIRST, number)
            self._highest, self._count, self._counted, self._first = number, 1, None, number
            return number
        if number > highest:
            self._note_skipped(highest, number)
            self._highest = number
        else:
            self._missing.discard(number)
            self._counted = highest if self._counted is None else self._counted
        self._count += 1
        if self._counted is None:
            return number
        self._counted += 1
        return self._counted

    def are_in_order(self, numbers: Sequence[int]) -> bool:
        """Whether the numbers of several rows are their steps; they are noted then."""
        before = -1 if self._highest is None else self._highest
        rises = before <= numbers[0] and all(low <= high for low, high in pairwise(numbers))
        if self._counted is not None or not rises:
            return False
        self._workers.note(numbers)
        first = _BEFORE_FIRST if self._highest is None else before
        self._first = numbers[0] if self._highest is None else self._first
        if numbers[-1] - first >= len(numbers):
            for low, high in pairwise((first, *numbers)):
                self._note_skipped(low, high)
        self._highest, self._count = numbers[-1], self._count + len({*numbers} - {self._highest})
        return True

    def _furthest(self, number: int) -> int | None:
        """The step of a row of one of several workers; None of a training that begins anew."""
        if self._counted is not None or self._highest is None:
            return None
        if _WORKERS_APART * (number + 1) < self._highest:
            self._workers = _Workers()
            return None
        self._highest = max(self._highest, number)
        return self._highest

    def _is_inside(self, highest: int, *, may_begin: bool) -> bool:
        """Whether the numbers begin anew every few rows, whatever a training does."""
        has_few = 1 < self._count <= _FEW_ROWS and highest - self._first < self._count
        self._short = self._short + 1 if has_few and not may_begin else 0
        return self._short > _MOST_SHORT

    def _leaps(self, number: int) -> bool:
        """Whether a number is far above those that are counted: that of a training after all."""
        highest = self._highest or 0
        self._highest = max(highest, number)
        return number > 2 * highest + 1

    @property
    def is_counting(self) -> bool:
        """Whether rows are counted, whatever their numbers."""
        return self._counted is not None

    def _note_skipped(self, low: int, high: int) -> None:
        if self._leaves_out or low < self._former < high:
            return  # a record of something else stood between those of one training
        if 1 < high - low <= _MOST_SKIPPED and len(self._missing) < _MOST_MISSING:
            self._missing.update(range(low + 1, high))

    def _is_missing(self, number: int) -> bool:
        few = 2 * len(self._missing) <= self._count + _FEW_MISSING
        return few and number in self._missing
