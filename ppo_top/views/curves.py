"""The curves of a run at a row: its tracks by group, each with range, best value and trend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ppo_top.catalogue import METRIC_GROUPS, OTHER_GROUP, Concept, concept
from ppo_top.model import Status
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.engine.ranges import (
    Band,
    HealthyRange,
    colour,
    find_band,
    healthy_range,
)
from ppo_top.runs.rows.track import Track
from ppo_top.runs.run import Run
from ppo_top.views.trend import BestValue, best_value, trend
from ppo_top.views.troubled_rows import RowStatus, troubled_rows, worst_finding_on

GOAL_CONCEPTS = ("reward_mean", "eval_reward_mean")
"""The metrics that a goal is set for."""


class PanelTrack(NamedTuple):
    """One curve of a panel: its track, label, number format, healthy range and best value."""

    track: Track
    label: str
    fmt: str
    direction: str
    healthy_range: HealthyRange | None
    status: Status
    newest_value: float | None
    best: BestValue | None
    trend: str
    band: Band | None = None
    """The limits that colour each value by itself."""
    troubled: tuple[RowStatus, ...] = ()
    """The rows where a finding on the metric was open."""
    goal: float | None = None
    """Of the reward: the user's target."""


class Panel(NamedTuple):
    """The curves of one group of metrics, in drawing order."""

    group: str
    tracks: tuple[PanelTrack, ...]


def make_panels(run: Run, row: int, checklist: Mapping[str, tuple[str, Status]]) -> Iterator[Panel]:
    """The panels of a run at a row; `checklist` gives label and status of what it lists."""
    groups: dict[str, list[PanelTrack]] = {}
    tracks = [(concept(name), track) for name, track in run.timeline.tracks.items()]
    for metric, track in sorted(tracks, key=lambda pair: (pair[0].order, pair[0].name)):
        if track.count_until(row):
            drawn = _panel_track(run, row, track, metric, checklist.get(track.concept))
            groups.setdefault(metric.group, []).append(drawn)
    for group in (*METRIC_GROUPS, OTHER_GROUP):
        if group in groups:
            yield Panel(group, tuple(groups[group]))


def _panel_track(
    run: Run, row: int, track: Track, metric: Concept, listed: tuple[str, Status] | None
) -> PanelTrack:
    seen = track.count_until(row)
    value = track.values[seen - 1]
    label, status = listed or (metric.label, _status(run, row, track.concept, value))
    return PanelTrack(
        track=track,
        label=label,
        fmt=metric.fmt,
        direction=metric.direction,
        healthy_range=healthy_range(track.concept, run.profile),
        status=status,
        newest_value=value,
        best=best_value(track, seen, metric.direction),
        trend=trend(track, seen),
        band=find_band(track.concept, run.profile),
        troubled=troubled_rows(run.findings, track.concept, row),
        goal=run.profile.goal if track.concept in GOAL_CONCEPTS else None,
    )


COUNTER_SAMPLES = 8
"""Points of a track that are compared with a straight line."""


def is_counter(track: Track, steps: Sequence[int]) -> bool:
    """Whether a metric only counts along with the steps, as `global_step` or a number of samples
    does: whole numbers on a straight line, which say nothing. `steps` are those of the timeline.
    """
    last = len(track) - 1
    if last < COUNTER_SAMPLES - 1:
        return False
    points = [last * number // (COUNTER_SAMPLES - 1) for number in range(COUNTER_SAMPLES)]
    first_step, last_step = steps[track.rows[0]], steps[track.rows[last]]
    start, end = track.values[0], track.values[last]
    return end > start and all(
        track.values[at].is_integer()
        and (track.values[at] - start) * (last_step - first_step)
        == (end - start) * (steps[track.rows[at]] - first_step)
        for at in points
    )


def _status(run: Run, row: int, name: str, value: float) -> Status:
    """The mark of a metric that the checklist does not hold, by the same rule as there."""
    worst = worst_finding_on(run.findings, name, row)
    return worst[1].status if worst else colour(name, value, run.profile)
