"""How far a run is, how fast it goes and how much longer it takes."""

from __future__ import annotations

from ppo_top.model import Axis, RowKind
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.liveness import MIN_UNIX_TIME
from ppo_top.runs.run import Run
from ppo_top.text.format import plural

SPEED_WINDOW_ROWS = 20
"""Rows that speed is measured over: the mean since the start, which trainers log, hides a lot."""


class Progress(NamedTuple):
    """Steps, updates and times; None where unknown.

    `axis` says what `step` is: `update` where it is only counted. `speed` is in steps per second,
    `eta_s` in seconds, times are unix seconds.
    """

    axis: Axis
    row_kind: RowKind
    step: int | None
    total: int | None
    updates: int
    rows: str
    """How many rows there are, in words; empty where the step tells as much."""
    speed: float | None
    eta_s: float | None
    first_time: float | None
    last_time: float | None


def run_progress(run: Run, row: int) -> Progress:
    """The progress of a run when `row` was its newest row (-1: it has none)."""
    total = run.total_steps
    axis, row_kind = run.timeline.axis, run.timeline.row_kind
    if row < 0:
        return Progress(axis, row_kind, None, total, 0, "", None, None, None, None)
    step = run.timeline.steps[row]
    speed = _speed(run, row)
    return Progress(
        axis=axis,
        row_kind=row_kind,
        step=step,
        total=total,
        updates=run.timeline.count_updates(row),
        rows=_rows(run, run.timeline.count_updates(row)),
        speed=speed,
        eta_s=(total - step) / speed if total and speed and total > step else None,
        first_time=_unix(run.timeline.times[0]),
        last_time=_unix(run.timeline.times[row]),
    )


def _rows(run: Run, count: int) -> str:
    """`40 updates`, `600 episodes of one of 8 environments`."""
    kind, environments = run.timeline.row_kind, run.profile.environments
    if run.timeline.axis.value == kind.value:
        return ""
    return plural(count, kind) + (f" of one of {environments} environments" * (environments > 1))


def _speed(run: Run, row: int) -> float | None:
    since = max([0, row - SPEED_WINDOW_ROWS, *(r for r in run.timeline.restarts if r <= row)])
    steps = run.timeline.steps[row] - run.timeline.steps[since]
    seconds = run.timeline.times[row] - run.timeline.times[since]
    return steps / seconds if seconds > 0 and steps >= 0 else None


def _unix(time: float) -> float | None:
    return time if time > MIN_UNIX_TIME else None
