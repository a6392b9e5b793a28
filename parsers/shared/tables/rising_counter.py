"""Finds the column that counts the rows of a table without a known name for its step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from ppo_top.parsers.shared.names.counter_names import CounterKind, counters_of
from ppo_top.parsers.shared.text.number_text import as_step

_FEW, _ENOUGH = 4, 8
"""So many rows tell that a column counts, or steps that may be those of an episode."""


class RisingCounter:
    """Looks at the first rows of a table; a counter never falls there, and seldom stays."""

    def __init__(self, names: Sequence[str]) -> None:
        self._kinds = counters_of(names)
        self._rows: list[list[int | None]] = []

    @property
    def is_possible(self) -> bool:
        """Whether a column may count by its name."""
        return bool(self._kinds)

    def add(self, row: Mapping[str, float | None]) -> bool:
        """Look at a row; whether it was the last one that is needed."""
        self._rows.append([as_step(row.get(name)) for _, name in self._kinds])
        found = self._find()
        is_sure = found is not None and found[0] != CounterKind.STEPS
        return len(self._rows) >= (_FEW if is_sure else _ENOUGH)

    def name(self) -> str | None:
        """The column that counts; None if no row has shown it."""
        found = self._find()
        if found is None or len(self._rows) < (_ENOUGH if found[0] == CounterKind.STEPS else _FEW):
            return None
        return found[1]

    def _find(self) -> tuple[CounterKind, str] | None:
        for place, kind in enumerate(self._kinds):
            column = [row[place] for row in self._rows]
            if counts(column) and (kind[0] != CounterKind.STEPS or _is_even(column)):
                return kind
        return None


def counted_steps(rows: Iterable[Mapping[str, float | None]]) -> list[int]:
    """The steps of all rows of a document by the column that counts them; none without one."""
    held = [*rows]
    counter = RisingCounter(tuple(held[-1]))
    for row in held:
        counter.add(row)
    name = counter.name()
    return [int(row[name] or 0) for row in held] if name else []


def _is_even(column: Sequence[int | None]) -> bool:
    """Whether numbers rise by as much each, and by more than one: those of an episode go by ones,
    or as it happens, and begin anew in the next.
    """
    strides = {(after or 0) - (before or 0) for before, after in pairwise(column)}
    return len(strides) == 1 and min(strides) > 1


def counts(column: Sequence[int | None]) -> bool:
    """Whether numbers are those of a counter: each rises, or at least every other one."""
    known = [each for each in column if each is not None]
    if len(known) < len(column):
        return False
    rises = sum(before < after for before, after in pairwise(known))
    return known == sorted(known) and 2 * rises >= len(known) - 1 > 0
