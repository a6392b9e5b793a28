"""What there is to see of a run at one moment of its timeline: a pure function, no interface in it.

Live, the moment is the newest row; in replay and on the timeline it is any other. The screen, the
report, the status line and the JSON are all drawn from a `RunView`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ppo_top.model import ConfigValue, Finding, Severity, State, Status
from ppo_top.timeline import Timeline, Track


@dataclass(frozen=True, slots=True)
class Band:
    """The healthy range of a value: either end may be open (None). `origin` says whose range it is."""

    low: float | None
    high: float | None
    origin: str = ""


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One line of the checklist.

    `status` is the colour: of the newest value against its range, or of an open finding where that is
    worse. `healthy` is the range in words ("0.001-0.02", "should rise"). `note` says what is to be
    said beside it: "since 14,336", "warming up 7/15", "not logged by SB3: ...". `rule` names the
    finding that speaks of this row, if one is open.
    """

    concept: str
    label: str
    status: Status
    value: float | None
    text: str
    healthy: str
    band: Band | None
    since_step: int | None
    note: str
    rule: str | None
    track: Track | None
    crucial: bool


@dataclass(frozen=True, slots=True)
class Panel:
    """The tracks of one group of concepts, in the order in which they are to be drawn."""

    group: str
    tracks: tuple[PanelTrack, ...]


@dataclass(frozen=True, slots=True)
class PanelTrack:
    """One line of a panel: the track, how it is called and printed, its range and its best value so far."""

    track: Track
    label: str
    fmt: str
    direction: str
    band: Band | None
    status: Status
    latest: float | None
    best: float | None
    best_step: int | None
    trend: str


@dataclass(frozen=True, slots=True)
class OpenFinding:
    """A finding as it stands at the moment that is looked at."""

    finding: Finding
    severity: Severity
    rows: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the run is. `speed` is steps a second over the last rows; None where it cannot be told."""

    step: int | None
    total: int | None
    updates: int
    speed: float | None
    eta_s: float | None
    first_time: float | None
    last_time: float | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class RunView:
    """A run at one moment. `row` is the row looked at (None before the first); `at_end` says that it is the newest."""

    id: str
    name: str
    path: str
    title: str
    producer: str
    family: str
    state: State
    state_text: str
    verdict: str
    """`healthy`, `info`, `watch`, `warn`, `crit`, `warming-up` or `unjudged`."""
    headline: str
    row: int | None
    at_end: bool
    progress: Progress
    open: tuple[OpenFinding, ...]
    """Worst first; members of an open diagnosis are in its evidence, not here."""
    past: tuple[Finding, ...]
    """Findings that had cleared before the moment, newest first."""
    checklist: tuple[CheckRow, ...]
    panels: tuple[Panel, ...]
    timeline: Timeline
    config: dict[str, ConfigValue]
    problems: int
