"""What there is to see of a run at one moment of its timeline: a pure function, no interface in it.

Live, the moment is the newest row; in replay and on the timeline it is any other. The screen, the
report, the status line and the JSON are all drawn from a `RunView`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ppo_top.catalogue import GROUPS, Concept, concept
from ppo_top.model import ConfigValue, Finding, Severity, State, Status, worst
from ppo_top.progress import Progress, progress
from ppo_top.rules.bands import Range, band, colour
from ppo_top.rules.checklist import crucial, not_logged
from ppo_top.run import Run
from ppo_top.state import Standing, standing
from ppo_top.timeline import Timeline, Track
from ppo_top.trend import Best, best, trend
from ppo_top.words import count
from ppo_top.words import value as value_text

OTHER = "Other"
"""The group of tags that mean no known concept."""

SETTLED = 5
"""Updates after which a run without findings is called healthy rather than warming up."""

AT_CEILING = "at-ceiling"
"""While this finding is open, values that need a spread of returns mean little."""

_STATUS = {
    Severity.INFO: Status.INFO,
    Severity.WATCH: Status.WATCH,
    Severity.WARN: Status.WARN,
    Severity.CRIT: Status.CRIT,
}
_ORDER = [
    Status.MISSING,
    Status.WARMING_UP,
    Status.OK,
    Status.INFO,
    Status.WATCH,
    Status.WARN,
    Status.CRIT,
]


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One line of the checklist.

    `status` is the colour: of the newest value against its range, or of an open finding where that
    is worse. `healthy` is the range in words ("0.001-0.02", "should rise"). `note` says what is to
    be said beside it: "since 14,336", "warming up 7/15", "not logged by SB3: ...". `rule` names the
    finding that speaks of this row, if one is open.
    """

    concept: str
    label: str
    status: Status
    value: float | None
    text: str
    healthy: str
    band: Range | None
    since_step: int | None
    note: str
    rule: str | None
    track: Track | None
    crucial: bool


@dataclass(frozen=True, slots=True)
class PanelTrack:
    """One line of a panel: the track, how it is called and printed, its range and best value."""

    track: Track
    label: str
    fmt: str
    direction: str
    band: Range | None
    status: Status
    latest: float | None
    best: Best | None
    trend: str


@dataclass(frozen=True, slots=True)
class Panel:
    """The tracks of one group of concepts, in the order in which they are to be drawn."""

    group: str
    tracks: tuple[PanelTrack, ...]


@dataclass(frozen=True, slots=True)
class OpenFinding:
    """A finding as it stands at the moment that is looked at: for how many rows and seconds."""

    finding: Finding
    severity: Severity
    rows: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RunView:
    """A run at one moment.

    `row` is the row looked at (None before the first); `at_end` says that it is the newest.
    `verdict` is `healthy`, `info`, `watch`, `warn`, `crit`, `warming-up` or `unjudged`.
    `open` holds the findings of the moment, worst first; members of an open diagnosis are its
    evidence and not repeated. `past` holds those that had cleared before, newest first.
    """

    id: str
    name: str
    path: str
    producer: str
    family: str
    state: State
    state_text: str
    verdict: str
    headline: str
    row: int | None
    at_end: bool
    progress: Progress
    open: tuple[OpenFinding, ...]
    past: tuple[Finding, ...]
    checklist: tuple[CheckRow, ...]
    panels: tuple[Panel, ...]
    timeline: Timeline
    config: dict[str, ConfigValue]
    problems: int


def look(run: Run, row: int | None = None, now: float = 0.0) -> RunView:
    """A run as it stood when `row` was its newest (None: now, at its end).

    `now` is unix time; it decides the state of a run that is looked at live and nothing else.
    """
    last = len(run.timeline) - 1
    at = last if row is None else min(row, last)
    stood = standing(run, now) if at == last else Standing(State.LIVE, "")
    opened = _open_findings(run, at)
    checklist = tuple(_checklist(run, at, opened))
    return RunView(
        id=run.id,
        name=run.name,
        path=run.path,
        producer=run.producer.label,
        family=run.producer.family,
        state=stood.state,
        state_text=stood.text,
        verdict=verdict(run, at),
        headline=_headline(run, at, opened),
        row=at if at >= 0 else None,
        at_end=at == last,
        progress=progress(run, at),
        open=opened,
        past=_past(run, at),
        checklist=checklist,
        panels=tuple(_panels(run, at)),
        timeline=run.timeline,
        config=run.config,
        problems=sum(source.problem_count for source in run.sources.values()),
    )


def verdict(run: Run, row: int | None = None) -> str:
    """One word on the run as it stood at a row (None: at its end)."""
    at = len(run.timeline) - 1 if row is None else row
    severity = worst(run.findings, at)
    if severity is not None:
        return severity.word
    if at < 0:
        return "unjudged"
    if not any(True for _ in _judged_concepts(run)):
        return "unjudged"
    return "warming-up" if at + 1 < SETTLED else "healthy"


def _judged_concepts(run: Run) -> Iterator[str]:
    for name, track in run.timeline.tracks.items():
        if len(track) and not name.startswith("tag:"):
            yield name


def _open_findings(run: Run, row: int) -> tuple[OpenFinding, ...]:
    standing_now = [
        (finding.as_of(row), severity)
        for finding in run.findings
        if (severity := finding.severity_at(row)) is not None
    ]
    absorbed: dict[str, Severity] = {}
    for finding, severity in standing_now:
        for rule in finding.members:
            absorbed[rule] = max(severity, absorbed.get(rule, severity))
    shown = [
        OpenFinding(finding, severity, row - finding.since.row + 1, _age(run, finding, row))
        for finding, severity in standing_now
        if severity > absorbed.get(finding.rule, 0)
    ]
    return tuple(sorted(shown, key=_trouble))


def _trouble(opened: OpenFinding) -> tuple[int, bool, int]:
    """Worst first; of equals a diagnosis before its parts, and what began first before the rest."""
    return -opened.severity, not opened.finding.members, opened.finding.since.row


def _age(run: Run, finding: Finding, row: int) -> float | None:
    if row >= len(run.timeline):
        return None
    age = run.timeline.times[row] - finding.since.time
    return age if age == age else None


def _past(run: Run, row: int) -> tuple[Finding, ...]:
    over = [f for f in run.findings if f.cleared is not None and f.cleared.row <= row]
    return tuple(sorted(over, key=lambda f: -(f.cleared.row if f.cleared else 0)))


def _headline(run: Run, row: int, opened: tuple[OpenFinding, ...]) -> str:
    if opened:
        first = opened[0].finding
        return f"{first.title}, since step {count(first.since.step)}"
    word = verdict(run, row)
    if word == "healthy":
        return "Healthy: nothing outside its range that matters"
    if word == "warming-up":
        return f"Warming up: {row + 1} of {SETTLED} updates"
    return "Nothing to judge yet"


# --- checklist -------------------------------------------------------------------------------


def _checklist(run: Run, row: int, opened: tuple[OpenFinding, ...]) -> Iterator[CheckRow]:
    listed = set()
    for name, label in crucial(run.profile):
        for spelt in _spellings(run, name):
            listed.add(spelt)
            yield _check_row(
                run, row, spelt, label if spelt == name else concept(spelt).label, opened, True
            )
    for name in sorted(_judged_concepts(run), key=lambda each: concept(each).order):
        if name not in listed and band(name, run.profile) is not None:
            yield _check_row(run, row, name, concept(name).label, opened, False)


def _spellings(run: Run, name: str) -> list[str]:
    """The concept itself, or each of its parametrised forms that the run logs."""
    if not name.endswith("{f}"):
        return [name]
    stem = name[: -len("f}")]
    return sorted(track for track in run.timeline.tracks if track.startswith(stem))


def _check_row(
    run: Run, row: int, name: str, label: str, opened: tuple[OpenFinding, ...], is_crucial: bool
) -> CheckRow:
    track = run.timeline.tracks.get(name)
    seen = track.until(row) if track else 0
    limits = band(name, run.profile)
    if track is None or not seen:
        note = (
            not_logged(name, run.producer.id) if track is None or not len(track) else "no value yet"
        )
        return CheckRow(
            name, label, Status.MISSING, None, "", limits.words if limits else "", limits,
            None, note, None, None, is_crucial,
        )  # fmt: skip
    value = track.values[seen - 1]
    speaks = _speaks_of(run, row, name)
    settled = any(each.finding.rule == AT_CEILING for each in opened)
    status = colour(name, value, run.profile, settled)
    note = "" if status is colour(name, value, run.profile) else "says little at the ceiling"
    if speaks is not None:
        finding, severity = speaks
        status = max(status, _STATUS[severity], key=_ORDER.index)
        note = f"since {count(finding.since.step)}"
    elif status is Status.OK and seen < SETTLED:
        status, note = Status.WARMING_UP, f"warming up {seen}/{SETTLED}"
    return CheckRow(
        concept=name,
        label=label,
        status=status,
        value=value,
        text=value_text(value, concept(name).fmt),
        healthy=limits.words if limits else "",
        band=limits,
        since_step=speaks[0].since.step if speaks else None,
        note=note,
        rule=speaks[0].rule if speaks else None,
        track=track,
        crucial=is_crucial,
    )


def _speaks_of(run: Run, row: int, name: str) -> tuple[Finding, Severity] | None:
    """The worst finding that is open at a row and is first of all about a concept."""
    about = [
        (finding, severity)
        for finding in run.findings
        if name in finding.concepts
        and not finding.members
        and (severity := finding.severity_at(row)) is not None
    ]
    return max(about, key=lambda pair: pair[1], default=None)


# --- panels ----------------------------------------------------------------------------------


def _panels(run: Run, row: int) -> Iterator[Panel]:
    groups: dict[str, list[tuple[Concept, PanelTrack]]] = {}
    for name, track in run.timeline.tracks.items():
        seen = track.until(row)
        if not seen:
            continue
        about = concept(name)
        groups.setdefault(about.group, []).append((about, _panel_track(run, track, about, seen)))
    for group in (*GROUPS, OTHER):
        if group in groups:
            drawn = sorted(groups[group], key=lambda pair: (pair[0].order, pair[0].name))
            yield Panel(group, tuple(track for _, track in drawn))


def _panel_track(run: Run, track: Track, about: Concept, seen: int) -> PanelTrack:
    value = track.values[seen - 1]
    return PanelTrack(
        track=track,
        label=about.label,
        fmt=about.fmt,
        direction=about.direction,
        band=band(track.concept, run.profile),
        status=colour(track.concept, value, run.profile),
        latest=value,
        best=best(track, seen, about.direction),
        trend=trend(track, seen),
    )
