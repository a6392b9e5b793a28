"""Notices a console whose lines hold numbers that nobody can read, and how to have them read."""

from __future__ import annotations

import re
from collections import Counter

_NAMED_NUMBER = re.compile(r"([^\W\d]\w{0,40})\s?[:=]\s?[-+]?\d")
_NUMBER_BEHIND_NAME = re.compile(r"[:=]\s?[-+]?\d")
"""In each of them, and found sooner."""
_ASSIGNED = " <- "
"""In `target/dense/kernel:0 <- dense/kernel:0` of TensorFlow the numbers are part of the names."""
_FEWEST_LINES = 20
_MOST_LINES, _MOST_CHARS = 2_000, 500
_UNREAD_SHARE = 0.5
_FEWEST_UNREAD_PER_READ = 10
_MAX_NAMES, _MAX_KINDS = 3, 64


class UnreadLines:
    """Counts the first lines of a console by whether they were read."""

    def __init__(self) -> None:
        self._lines = self._with_numbers = self._read = 0
        self._names: Counter[tuple[str, ...]] = Counter()

    def add_line(self, text: str, *, is_read: bool) -> None:
        """Count a line that is neither blank nor part of a table."""
        if self._lines >= _MOST_LINES or not text:
            return
        self._lines += 1
        self._read += is_read
        if is_read:
            return
        start = text[:_MOST_CHARS]
        may_name = _NUMBER_BEHIND_NAME.search(start) and _ASSIGNED not in start
        found = _NAMED_NUMBER.findall(start) if may_name else []
        self._with_numbers += bool(found)
        names = tuple(dict.fromkeys(found))[:_MAX_NAMES]
        if names and (names in self._names or len(self._names) < _MAX_KINDS):
            self._names[names] += 1

    def add_read(self, count: int) -> None:
        """Count lines that were all read."""
        count = min(count, _MOST_LINES - self._lines)
        self._lines += count
        self._read += count

    def note(self) -> str:
        """What would read the lines; "" while enough of them are read."""
        mostly_unread = self._with_numbers > _UNREAD_SHARE * self._lines
        some_read = _FEWEST_UNREAD_PER_READ * self._read > self._with_numbers
        if self._lines < _FEWEST_LINES or some_read or not mostly_unread:
            return ""
        ((names, _),) = self._names.most_common(1)
        groups = ".*?".join(rf"{name}\s?[:=]\s?(?P<{name}>[-+\w.]+)" for name in names)
        return (
            "most lines hold numbers under names that are not known here; to read them, add to "
            f"your own ppo-top.toml: console = ['{groups}'], with the groups named after metrics "
            "(step, reward_mean, approx_kl, entropy, ...)"
        )
