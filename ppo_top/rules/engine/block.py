"""Consecutive rows with the same metrics, as columns: how a backlog is judged."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from ppo_top.model import Mark


class RowBlock:
    """Consecutive rows of one segment: columns of equal length; `first_row` is the first's number.

    `times` are unix seconds or NaN.
    """

    def __init__(
        self,
        first_row: int,
        steps: array[int],
        times: array[float],
        columns: Mapping[str, array[float]],
    ) -> None:
        self.first_row = first_row
        self.steps = steps
        self.times = times
        self.columns = columns
        self._bounds: dict[str, tuple[float, float]] = {}

    def marks(self) -> Iterator[Mark]:
        """The marks of the rows."""
        return map(Mark, count(self.first_row), self.steps, self.times)

    def row(self, index: int) -> dict[str, float]:
        """The values of a row."""
        return {concept: column[index] for concept, column in self.columns.items()}

    def part(self, start: int, rows: int) -> RowBlock:
        """Up to `rows` of its rows, from index `start` on."""
        end = start + rows
        return RowBlock(
            self.first_row + start,
            self.steps[start:end],
            self.times[start:end],
            {concept: column[start:end] for concept, column in self.columns.items()},
        )

    def optional_column(self, concept: str) -> Sequence[float | None]:
        """The values of a metric; None for each row if it is not in these rows."""
        return self.columns.get(concept) or [None] * len(self.steps)

    def is_within(self, size: float) -> bool:
        """Whether all values are finite and smaller than `size`."""
        for concept, column in self.columns.items():
            low, high = self.bounds(concept)
            if not (math.isfinite(sum(column)) and -size < low and high < size):
                return False
        return True

    def bounds(self, concept: str) -> tuple[float, float]:
        """The lowest and the highest value of a metric of the block."""
        found = self._bounds.get(concept)
        if found is None:
            column = self.columns[concept]
            found = self._bounds[concept] = min(column), max(column)
        return found

    def low(self, concept: str) -> float:
        """The lowest value of a metric; infinity if it is not in these rows."""
        return self.bounds(concept)[0] if concept in self.columns else math.inf

    def high(self, concept: str) -> float:
        """The highest value of a metric; minus infinity if it is not in these rows."""
        return self.bounds(concept)[1] if concept in self.columns else -math.inf

    def size(self, concept: str) -> float:
        """The largest absolute value of a metric; minus infinity if it is not in these rows."""
        return max(-self.low(concept), self.high(concept))
