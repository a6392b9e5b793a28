"""All that a picture of the screen depends on: plain values, so that drawing is a pure function."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ppo_top.model import Finding, State, Verdict
from ppo_top.runs.timeline import Track
from ppo_top.tui.graphics.styled_text import Line, told
from ppo_top.tui.graphics.symbols import UNICODE, Glyphs
from ppo_top.views.downsample import Pyramid
from ppo_top.views.run_view import RunView


class Entry(NamedTuple):
    """A line of the runs list: a run, or a group of seeds (`size` above 1) folded into one.

    The worst open finding (`trouble`), the step `since` which it is so, reward and step are told
    where the list has the screen to itself.
    """

    id: str
    name: str
    verdict: Verdict
    state: State
    size: int = 1
    folded: bool = False
    member: bool = False
    trouble: str = ""
    since: str = ""
    reward: str = ""
    step: str = ""


class Counts(NamedTuple):
    """How many runs there are of each sort, whatever the filter hides."""

    live: int = 0
    finished: int = 0
    crit: int = 0
    warn: int = 0
    total: int = 0
    shown: int = 0
    stalled: int = 0
    starting: int = 0
    died: int = 0
    ended: int = 0


class Transport(NamedTuple):
    """Where the cursor of a replay stands: its row of so many, playing or not, and how fast."""

    row: int
    rows: int
    playing: bool
    speed: float
    replay: bool


class Loading(NamedTuple):
    """How much has been read, in bytes, and how many of all runs have their verdict."""

    done: int
    total: int
    judged: int = 0
    runs: int = 0


class Prompt(NamedTuple):
    """A line that is being typed: the question, the text so far and what is to be known beside."""

    label: str
    text: str
    hint: str = ""


class Hit(NamedTuple):
    """A region that the mouse may click on, and what that means."""

    x: int
    y: int
    width: int
    height: int
    what: str
    arg: str = ""

    def shifted(self, dx: int, dy: int) -> Hit:
        """The same region elsewhere."""
        return self._replace(x=self.x + dx, y=self.y + dy)


@dataclass(slots=True)
class Block:
    """A piece of the screen: lines and the places on them that can be clicked."""

    lines: list[Line] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)

    def add(self, other: Block, x: int = 0) -> None:
        """Append another block below."""
        self.hits.extend(hit.shifted(x, len(self.lines)) for hit in other.hits)
        self.lines.extend(other.lines)


class Pyramids:
    """The min/max summaries of tracks that were drawn lately, and the curves of the last view."""

    KEPT = 400

    def __init__(self) -> None:
        self._kept: dict[int, tuple[Track, Pyramid]] = {}
        self._drawn: dict[Hashable, list[Line]] = {}
        self._drawn_of: RunView | None = None

    def drawn(self, view: RunView, key: Hashable, draw: Callable[[], list[Line]]) -> list[Line]:
        """A curve of a view as it was drawn, or drawn now: a key seldom changes any of them."""
        if view is not self._drawn_of:
            self._drawn.clear()
            self._drawn_of = view
        lines = self._drawn.get(key)
        if lines is None:
            lines = self._drawn[key] = draw()
        return lines

    def of(self, track: Track) -> Pyramid:
        """The summary of a track, made at first sight."""
        kept = self._kept.get(id(track))
        if kept is None or kept[0] is not track:
            if len(self._kept) >= self.KEPT:
                self._kept.clear()
            kept = self._kept[id(track)] = (track, Pyramid(track.values))
        return kept[1]


@dataclass(slots=True)
class Frame:
    """One moment of the screen."""

    place: str = "."
    view: RunView | None = None
    findings: Sequence[Finding] = ()
    """Every finding whose mark the timeline is to show."""
    entries: Sequence[Entry] = ()
    chosen: str = ""
    counts: Counts = field(default_factory=Counts)
    updated: str = ""
    transport: Transport | None = None
    focus: str = "values"
    concept: str = ""
    scroll: int = 0
    hidden: frozenset[str] = frozenset()
    prompt: Prompt | None = None
    filter: str = ""
    loading: Loading | None = None
    toast: str = ""
    waiting: str = ""
    acknowledged: Mapping[str, str] = field(default_factory=dict)
    glyphs: Glyphs = UNICODE
    pyramids: Pyramids = field(default_factory=Pyramids)

    def told(self, text: str) -> str:
        """Words of a rule or a log in the characters of the screen: as wide as they will be."""
        return self.glyphs.text(told(text))
