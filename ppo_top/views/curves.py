"""The curves of a run at a moment: its tracks by groups, each with range, best value and trend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ppo_top.catalogue import METRIC_GROUPS, OTHER_GROUP, Concept, concept
from ppo_top.model import Status
from ppo_top.rules.engine.ranges import HealthyRange, colour, healthy_range
from ppo_top.runs.run import Run
from ppo_top.runs.timeline import Track
from ppo_top.views.trend import BestValue, best_value, trend


@dataclass(frozen=True, slots=True)
class PanelTrack:
    """One line of a panel: the track, how it is called and printed, its range and best value."""

    track: Track
    label: str
    fmt: str
    direction: str
    healthy_range: HealthyRange | None
    status: Status
    newest_value: float | None
    best: BestValue | None
    trend: str


@dataclass(frozen=True, slots=True)
class Panel:
    """The tracks of one group of concepts, in the order in which they are to be drawn."""

    group: str
    tracks: tuple[PanelTrack, ...]


LabelAndStatus = tuple[str, Status]
"""How a value is called on the checklist, and its colour there."""


def make_panels(run: Run, row: int, listed: Mapping[str, LabelAndStatus]) -> Iterator[Panel]:
    """The panels of a run at a row; what is `listed` above them is the same thing here."""
    groups: dict[str, list[tuple[Concept, PanelTrack]]] = {}
    for name, track in run.timeline.tracks.items():
        seen = track.count_until(row)
        if not seen:
            continue
        about = concept(name)
        groups.setdefault(about.group, []).append(
            (about, _panel_track(run, track, about, seen, listed.get(name)))
        )
    for group in (*METRIC_GROUPS, OTHER_GROUP):
        if group in groups:
            drawn = sorted(groups[group], key=lambda pair: (pair[0].order, pair[0].name))
            yield Panel(group, tuple(track for _, track in drawn))


def _panel_track(
    run: Run, track: Track, about: Concept, seen: int, listed: LabelAndStatus | None
) -> PanelTrack:
    value = track.values[seen - 1]
    label, status = listed or (about.label, colour(track.concept, value, run.profile))
    return PanelTrack(
        track=track,
        label=label,
        fmt=about.fmt,
        direction=about.direction,
        healthy_range=healthy_range(track.concept, run.profile),
        status=status,
        newest_value=value,
        best=best_value(track, seen, about.direction),
        trend=trend(track, seen),
    )
