"""Which metrics are drawn and which of them first, and what a typed pattern finds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ppo_top.views.run_view import PanelTrack


@lru_cache(maxsize=8)
def compiled(pattern: str) -> re.Pattern[str]:
    """A typed pattern, upper and lower case alike; no valid expression stands for itself."""
    text = pattern if is_expression(pattern) else re.escape(pattern)
    return re.compile(text, re.IGNORECASE)


def is_expression(pattern: str) -> bool:
    """Whether a typed pattern is a regular expression."""
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


@dataclass(slots=True)
class MetricChoice:
    """The filter of the metrics (a regular expression), and those pinned to the front."""

    filter: str = ""
    pinned: tuple[str, ...] = ()

    def matches(self, track: PanelTrack) -> bool:
        """Whether label, name or tag of a metric match the filter."""
        names = (track.label, track.track.concept, track.track.tag)
        return not self.filter or any(compiled(self.filter).search(name) for name in names)

    def toggle_pin(self, name: str) -> bool:
        """Pin a metric behind those pinned before, or unpin it; whether it is pinned now."""
        if name in self.pinned:
            self.pinned = tuple(each for each in self.pinned if each != name)
        else:
            self.pinned = (*self.pinned, name)
        return name in self.pinned


@dataclass(slots=True)
class TextSearch:
    """What is searched for in a text, and which match is shown."""

    pattern: str = ""
    at: int = 0
    follow: bool = False
    """Whether the text is scrolled to the match."""
    errors: bool = False
    """Whether errors are looked for instead of a pattern."""

    @property
    def is_active(self) -> bool:
        """Whether anything is searched for."""
        return self.errors or bool(self.pattern)

    def go(self, direction: int) -> None:
        """Show the next (1) or previous (-1) match; after the last comes the first."""
        self.at, self.follow = self.at + direction, True

    def start(self, pattern: str) -> None:
        """Search for something else."""
        self.pattern, self.at, self.follow, self.errors = pattern, 0, bool(pattern), False

    def start_errors(self) -> None:
        """Go to the last error of the text; the ones before it are found upwards."""
        self.pattern, self.at, self.follow, self.errors = "", -1, True, True
