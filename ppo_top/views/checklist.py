"""The checklist: the crucial values of a run at a row, each with its healthy range and status."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ppo_top.catalogue import MACHINE_GROUP, TAG_PREFIX, Trainer, concept, logged_as, option_default
from ppo_top.model import Finding, Severity, Status
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.crucial_values import FALLBACK_CONCEPTS, crucial_values, not_logged_text
from ppo_top.rules.engine.judged_run import AT_CEILING
from ppo_top.rules.engine.logged_run import REWARD_CONCEPTS
from ppo_top.rules.engine.ranges import (
    HealthyRange,
    colour,
    healthy_range,
    is_below_usual,
    is_outside,
)
from ppo_top.runs.ongoing_evaluation import LOGGED_SETTINGS
from ppo_top.runs.rows.track import Track
from ppo_top.runs.run import Run
from ppo_top.text.format import compact, steps
from ppo_top.text.format import format_metric_value as value_text
from ppo_top.views.open_findings import OpenFinding
from ppo_top.views.trend import best_value
from ppo_top.views.troubled_rows import (
    WARMUP_POINTS,
    returns_settled,
    worst_finding_on,
)

NON_FINITE = "non-finite"
"""The rule that finds NaN and infinities."""

BEGINS_LOW = ("explained_variance",)
"""Metrics that are below their range in the first updates of every run."""

SPENT_SHARES = {"entropy": 1e-3, "seq_entropy": 1e-3, "reward_std": 0.0}
"""Metrics that stay above 0 in a healthy run -> the share of their highest that counts as 0."""

SAY_NOTHING_WHEN_SETTLED = frozenset({"explained_variance", *SPENT_SHARES})
"""Metrics that say nothing outside their range where all returns are equal."""

MEASURED_AT_ONCE = ("eval_reward_mean",)
"""Metrics of which one point is enough: the mean of several evaluation episodes."""

MACHINE_ROWS = {"gpu_busy": ("gpu_memory", "cpu_busy"), "cpu_busy": ("memory_used",)}
"""Metric of the machine -> those in the note of its row; the first that is measured is shown."""


class CheckRow(NamedTuple):
    """One line of the checklist.

    `status` is that of the worst open finding about it; without one it is `watch` where the newest
    value is out of its range, `crit` where it is beyond the critical limit. `note` is a remark:
    "since 14,336", "warming up 3/5", "not logged: ...". `extreme` is the best value so far, or the
    one farthest outside the range: "6.08 @10k".
    """

    concept: str
    label: str
    is_crucial: bool
    healthy_range: HealthyRange | None
    status: Status = Status.MISSING
    value: float | None = None
    text: str = ""
    since_step: int | None = None
    note: str = ""
    extreme: str = ""
    track: Track | None = None

    @property
    def healthy(self) -> str:
        """The healthy range in words ("0.001-0.02", "should rise"), or nothing."""
        return self.healthy_range.text if self.healthy_range else ""


def make_check_rows(run: Run, row: int, opened: tuple[OpenFinding, ...]) -> Iterator[CheckRow]:
    """The crucial values of this kind of run, the settings that are to blame for a finding, then
    whatever else it logs that has a range.
    """
    listed = set()
    for name, label in crucial_values(run.profile):
        for logged in logged_names(run, name):
            listed.add(logged)
            shown = label if logged == name else concept(logged).label
            yield _check_row(run, row, logged, shown, opened, True)
    for name in LOGGED_SETTINGS:
        worst = worst_finding_on(run.findings, name, row)
        if name not in listed and worst is not None and worst[1] > Severity.INFO:
            listed.add(name)
            yield _check_row(run, row, name, concept(name).label, opened, True)
    others = [
        name
        for name, track in run.timeline.tracks.items()
        if len(track) and name not in listed and not name.startswith(TAG_PREFIX)
    ]
    for name in sorted(others, key=lambda each: concept(each).order):
        if healthy_range(name, run.profile) is not None:
            yield _check_row(run, row, name, concept(name).label, opened, False)
    if (machine := _machine_row(run, row)) is not None:
        yield machine


def _machine_row(run: Run, row: int) -> CheckRow | None:
    """The row for what is measured of the machine: the GPU, or else the CPU; the rest is its note.

    At the newest row that is the newest measurement, which is newer where an update takes long, and
    all that there is where the training's log has no clock.
    """
    now = run.evaluation.newest_of_machine() if row + 1 == len(run.timeline) else {}

    def value_of(name: str) -> float | None:
        track = run.timeline.tracks.get(name)
        seen = track.count_until(row) if track is not None else 0
        return now.get(name, track.values[seen - 1] if track is not None and seen else None)

    name = next((each for each in MACHINE_ROWS if value_of(each) is not None), "")
    value = value_of(name)
    if value is None:
        return None
    worst = worst_finding_on(run.findings, name, row)
    others = ((concept(each), value_of(each)) for each in MACHINE_ROWS[name])
    note = " · ".join(
        f"{metric.label.removeprefix('GPU ')} {value_text(other, metric.fmt)}"
        for metric, other in others
        if other is not None
    )
    return CheckRow(
        name,
        concept(name).label,
        False,
        None,
        status=worst[1].status if worst else Status.OK,
        value=value,
        text=value_text(value, concept(name).fmt),
        since_step=worst[0].since.step if worst else None,
        note=note,
        track=run.timeline.tracks[name],
    )


def logged_names(run: Run, name: str) -> list[str]:
    """The concept or its fallback; of `name{f}` each parameter that the run logs."""
    if not name.endswith("{f}"):
        known = (name, *FALLBACK_CONCEPTS.get(name, ()))
        return [next((each for each in known if each in run.timeline.tracks), name)]
    stem = name[: -len("f}")]
    return sorted(track for track in run.timeline.tracks if track.startswith(stem))


def _check_row(
    run: Run, row: int, name: str, label: str, opened: tuple[OpenFinding, ...], is_crucial: bool
) -> CheckRow:
    track = run.timeline.tracks.get(name)
    seen = track.count_until(row) if track else 0
    empty = CheckRow(name, label, is_crucial, healthy_range(name, run.profile))
    worst = worst_finding_on(run.findings, name, row)
    if name in LOGGED_SETTINGS and worst is not None and worst[1] > Severity.INFO:
        return _blamed_setting(run, empty, track, seen, worst)
    if row < 0:
        return empty._replace(note="no data yet")
    if track is None or not len(track):
        return empty._replace(note=_why_missing(name, run.evaluation.trainer))
    if not seen:
        return empty._replace(note="no data yet")
    value = track.values[seen - 1]
    status, note = _by_itself(run, track, seen, settled=_returns_settled(run, row, opened))
    if worst is not None:
        status = worst[1].status
        note = _since(run, worst[0])
    elif _is_undefined(value, status, opened):
        status, note = Status.MISSING, "undefined in this update"
    elif _warms_up(name, status) and seen < WARMUP_POINTS:
        status, note = Status.WARMING_UP, f"warming up {seen}/{WARMUP_POINTS}"
    return empty._replace(
        status=status,
        value=value,
        text=value_text(value, concept(name).fmt),
        since_step=worst[0].since.step if worst else None,
        note=note,
        extreme=_extreme(empty, track, seen),
        track=track,
    )


def _by_itself(run: Run, track: Track, seen: int, *, settled: bool) -> tuple[Status, str]:
    """The status of a value by its range alone, and a remark on it."""
    name, value = track.concept, track.values[seen - 1]
    status = colour(name, value, run.profile)
    if status is Status.OK and _is_spent(track, seen):
        status = Status.WATCH
    if status is Status.WATCH and settled and name in SAY_NOTHING_WHEN_SETTLED:
        return Status.OK, "uninformative: returns are constant"
    is_small = status is Status.OK and is_below_usual(name, value, run.profile)
    return status, "below it: small updates" if is_small else ""


def _is_spent(track: Track, seen: int) -> bool:
    """Whether nothing is left of what should stay above 0. A density's entropy may fall below."""
    share = SPENT_SHARES.get(track.concept)
    if share is None:
        return False
    low, high = (each.index_of_best(track.values, seen) for each in (track.lows, track.highs))
    if low is None or high is None or track.values[low] < 0.0:
        return False
    return track.values[seen - 1] <= share * track.values[high]


def _is_undefined(value: float, status: Status, opened: tuple[OpenFinding, ...]) -> bool:
    """Whether a NaN is no fault: the mean of nothing, the variance of equal returns."""
    if math.isfinite(value):
        return False
    return status is Status.OK or not any(each.finding.rule == NON_FINITE for each in opened)


def _since(run: Run, finding: Finding) -> str:
    return f"{finding.since_word} {steps(finding.since.step, axis=run.timeline.axis)}"


def _blamed_setting(
    run: Run, row: CheckRow, track: Track | None, seen: int, worst: tuple[Finding, Severity]
) -> CheckRow:
    """The row of a setting that a finding blames: its value, logged or configured, and default."""
    option = LOGGED_SETTINGS[row.concept]
    value: object = run.profile.config.get(option)
    if track is not None and seen:
        value = track.values[seen - 1]
    usual = option_default(run.evaluation.trainer, option)
    fmt = concept(row.concept).fmt
    limits = None
    if isinstance(usual, (int, float)):
        limits = HealthyRange(None, None, f"default {value_text(usual, fmt)}", "")
    finding, severity = worst
    return row._replace(
        healthy_range=limits,
        status=severity.status,
        value=float(value) if isinstance(value, (int, float)) else None,
        text=value_text(value, fmt) if isinstance(value, (int, float)) else "set",
        since_step=finding.since.step,
        note=_since(run, finding),
        track=track if seen else None,
    )


def _extreme(row: CheckRow, track: Track, seen: int) -> str:
    """The value farthest outside the range and its step; of a reward, the best."""
    fmt, limits = concept(row.concept).fmt, row.healthy_range
    best = best_value(track, seen, concept(row.concept).direction)
    if best is not None and row.concept in REWARD_CONCEPTS:
        return f"best {value_text(best.value, fmt)} @{compact(best.step)}"
    if limits is None:
        return ""
    beyond: list[tuple[float, int, float]] = []
    for limit, records, sign in ((limits.high, track.highs, 1.0), (limits.low, track.lows, -1.0)):
        at = records.index_of_best(track.values, seen) if limit is not None else None
        if limit is not None and at is not None:
            beyond.append((sign * (track.values[at] - limit), at, limit))
    _, at, limit = max(beyond, default=(0.0, 0, 0.0))
    if not beyond or not is_outside(track.values[at], limits.low, limits.high):
        return ""
    worst = _beside(track.values[at], limit)
    return f"worst {value_text(worst, fmt)} @{compact(track.steps[at])}"


def _beside(value: float, limit: float) -> float:
    """A value to three digits of itself or its limit, whichever is larger: -0.00533 beside 0.5 is
    about 0.
    """
    size = max(abs(value), abs(limit))
    return round(value, 2 - math.floor(math.log10(size))) if 0.0 < size < math.inf else value


def in_order_of_need(rows: Sequence[CheckRow]) -> list[CheckRow]:
    """The rows with a finding first, worst first; missing ones last.

    A value that is only outside its range just now stays in its place.
    """

    def rank(row: CheckRow) -> tuple[bool, int, bool]:
        found = row.status.rank if row.since_step is not None and row.status.is_trouble else 0
        return not row.is_crucial and not found, -found, row.status is Status.MISSING

    return sorted(rows, key=rank)


def rows_on_screen(rows: Sequence[CheckRow]) -> list[CheckRow]:
    """In that order the crucial values; of others only trouble, and the machine."""
    return in_order_of_need(
        [
            row
            for row in rows
            if row.is_crucial
            or row.status.is_trouble
            or concept(row.concept).group == MACHINE_GROUP
        ]
    )


def _warms_up(name: str, status: Status) -> bool:
    """Whether a value without a finding says little until there are more of them."""
    if name in MEASURED_AT_ONCE:
        return False
    return status is Status.OK or (status is Status.WATCH and name in BEGINS_LOW)


def _returns_settled(run: Run, row: int, opened: tuple[OpenFinding, ...]) -> bool:
    """Whether all returns are nearly equal, so that explained variance divides by almost 0."""
    if any(each.finding.rule == AT_CEILING for each in opened):
        return True
    return returns_settled(run.timeline, row)


def _why_missing(name: str, trainer: Trainer) -> str:
    """How to get the value logged, if that is known, else the tag that this trainer gives it."""
    text = not_logged_text(name, trainer)
    if ":" in text:
        return text
    tags = logged_as(name, trainer)
    return f"not logged ({trainer.label} tag: {tags[0].tag})" if tags else text
