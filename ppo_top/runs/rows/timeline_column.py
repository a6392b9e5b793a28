"""A column of a timeline: it grows at its end, and its beginning may be dropped."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, overload

from ppo_top.model.named_tuple import NamedTuple

T = TypeVar("T", int, float)


class TimelineColumn(Sequence[T]):
    """A column that grows at its end, and whose beginning may be dropped.

    Indices stay. Of the dropped elements only the very first is known; the others read as the
    oldest element that is left.
    """

    __slots__ = ("_array", "_first", "dropped")

    def __init__(self, kind: str) -> None:
        self._array: array[Any] = array(kind)
        self.dropped = 0
        self._first: T | None = None

    def __len__(self) -> int:
        return self.dropped + len(self._array)

    @overload
    def __getitem__(self, at: int) -> T: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...
    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        if not self.dropped:
            return self._array[at]
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        index = at + len(self) if at < 0 else at
        return self._first if index == 0 else self._array[max(0, index - self.dropped)]  # type: ignore[return-value]

    def append(self, value: T) -> None:
        """Add an element."""
        self._array.append(value)

    def extend(self, values: Iterable[T]) -> None:
        """Add several elements."""
        self._array.extend(values)

    def truncate(self, length: int) -> None:
        """Keep the first `length` elements."""
        del self._array[max(0, length - self.dropped) :]

    def restore(self, saved: SavedColumn) -> None:
        """Fill an empty column with what was saved of another."""
        self._array.extend(saved.newest)
        self.dropped, self._first = saved.dropped, saved.first  # type: ignore[assignment]

    def drop_before(self, until: int) -> None:
        """Drop the elements before index `until`."""
        count = min(until - self.dropped, len(self._array))
        if count > 0:
            if not self.dropped:
                self._first = self._array[0]
            del self._array[:count]
            self.dropped += count


class SavedColumn(NamedTuple):
    """The newest elements of a column: how many came before them, and the very first one."""

    dropped: int
    first: float
    newest: list[float]
