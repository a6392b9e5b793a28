"""Progress bars of tqdm: the only place where the Hugging Face trainer's console shows its step."""

from __future__ import annotations

import re
from typing import NamedTuple

_BAR = re.compile(
    r"\s*+(?P<name>[^|%{}\r\n]{0,100}?:)?\s*+\d{1,3}%\|[^|\r\n]{0,400}+\|"
    r"\s*+(?P<done>\d{1,15})/(?P<total>\d{1,15})\s*+\["
)
_REST = re.compile(r"[^\]\r\n]*+\]")
_TRAINING = re.compile(r"train|step|iter|epoch|episode|update|progress", re.IGNORECASE)


class Bar(NamedTuple):
    """One state of a bar; `end` is where the text behind it starts (0: not complete yet)."""

    name: str
    done: int
    total: int
    end: int


def find_bar(text: str) -> Bar | None:
    """The bar at the start of `text`; complete up to its `[` is enough."""
    if "%|" not in text:
        return None
    match = _BAR.match(text)
    if match is None:
        return None
    rest = _REST.match(text, match.end())
    end = rest.end() if rest else 0
    return Bar((match["name"] or "").rstrip(":"), int(match["done"]), int(match["total"]), end)


class Position:
    """Where the training stands, by the bar that counts its steps.

    Of several bars the first without a name (or with one like "Training") is the trainer's; one
    with another total (evaluation, loading) is followed only after the trainer's is full.
    """

    def __init__(self) -> None:
        self.done: int | None = None
        self.total: int | None = None

    def see(self, bar: Bar) -> bool:
        """Follow the bar; False when it is not the trainer's."""
        if bar.name and not _TRAINING.search(bar.name):
            return False
        if self.total not in (None, bar.total) and self.done != self.total:
            return False
        self.total, self.done = bar.total, bar.done
        return True


class Steps:
    """Gives steps to records that have none, from the bars drawn around them or by counting."""

    def __init__(self) -> None:
        self._last = 0
        self._stride = 1

    def by_count(self, done: int | None = None) -> int:
        """The next step when no bar is drawn behind the record; `done` if one was drawn before."""
        if done is not None and done > self._last:
            return self._take(done)
        return self._take(self._last + self._stride)

    def many(self, records: int) -> range:
        """The next steps of so many records, without any bar."""
        first = self._last + self._stride
        self._last += self._stride * records
        return range(first, self._last + 1, self._stride)

    def by_bar(self, done: int) -> int:
        """The step of a record behind which a bar at `done` is drawn."""
        if done > self._last:
            self._stride = done - self._last
        return self._take(done)

    def _take(self, step: int) -> int:
        self._last = step
        return step
