"""What there is to see of a run at a row. Screen, report, status line and JSON show a `RunView`.

Live, that is the newest row; in a replay and on the timeline it is any other.
"""

from __future__ import annotations

from collections.abc import Iterable

from ppo_top.catalogue import TAG_PREFIX
from ppo_top.model import (
    ConfigValue,
    Finding,
    Severity,
    State,
    Status,
    Verdict,
    open_at,
)
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.crucial_values import essential_values
from ppo_top.runs.liveness import LIVE, RunStatus, logged_status
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.runs.run import Run
from ppo_top.text.format import first_names, plural
from ppo_top.text.format import healthy_text as range_text
from ppo_top.views.checklist import CheckRow, make_check_rows
from ppo_top.views.curves import Panel, PanelTrack, is_counter, make_panels
from ppo_top.views.judged_by import MAX_NAMES, enough_to_judge, has_reward, reservation
from ppo_top.views.open_findings import OpenFinding, cleared_findings, open_findings
from ppo_top.views.progress import Progress, run_progress
from ppo_top.views.troubled_rows import WARMUP_POINTS

__all__ = ["CheckRow", "OpenFinding", "Panel", "PanelTrack", "RunView", "make_run_view", "verdict"]


class RunView(NamedTuple):
    """A run as it was at `row` (None: no row yet); `at_end` says that this is the newest.

    `open_findings` come worst first; the members of an open diagnosis are its evidence and not
    repeated. `cleared_findings` come newest first.
    """

    id: str
    name: str
    path: str
    trainer: str
    family: str
    state: State
    state_text: str
    verdict: Verdict
    headline: str
    row: int | None
    at_end: bool
    progress: Progress
    open_findings: tuple[OpenFinding, ...]
    cleared_findings: tuple[Finding, ...]
    checklist: tuple[CheckRow, ...]
    panels: tuple[Panel, ...]
    timeline: Timeline
    config: dict[str, ConfigValue]
    problem_count: int
    reservation: str
    """How far its health can be told; "" where enough is logged, or where it is not healthy."""

    @property
    def tracks(self) -> list[PanelTrack]:
        """All curves, in drawing order."""
        return [track for panel in self.panels for track in panel.tracks]

    @property
    def charted_tracks(self) -> list[PanelTrack]:
        """The curves without counters and single values of unknown tags."""
        return [
            track
            for track in self.tracks
            if track.direction != "mono"
            if not track.track.concept.startswith(TAG_PREFIX)
            or (len(track.track) > 1 and not is_counter(track.track, self.timeline.steps))
        ]

    @property
    def headline_status(self) -> Status:
        """The mark of the headline: never that of a healthy run above a value out of its range, or
        of one that is stalled.
        """
        return self.verdict.mark(self.state, watches=bool(self.watched))

    @property
    def watched(self) -> list[CheckRow]:
        """The values that are out of their range without a finding."""
        return _watched(self.checklist)

    @property
    def verdict_words(self) -> str:
        """The verdict in words, with a reservation where much is not logged."""
        return self.verdict.words + (" as far as logged" if self.reservation else "")

    @property
    def marked_words(self) -> str:
        """The verdict in words next to the mark, which is amber for a value out of its range."""
        return ", ".join(filter(None, (self.verdict_words, self.outside_words)))

    @property
    def outside_words(self) -> str:
        """Which values are out of their range in a run without a finding that says more."""
        return "" if self.verdict.is_trouble else _outside_words(self.watched)


def make_run_view(
    run: Run,
    row: int | None = None,
    status: RunStatus | None = None,
    *,
    with_panels: bool = True,
) -> RunView:
    """A run as it was when `row` was its newest row (None: at its end).

    `status` is the present one, by the clock and the processes (`run_status`);
    without it a run is live unless its logs say that it has ended. Where no curves are drawn it
    does without panels.
    """
    last = len(run.timeline) - 1
    at = last if row is None else min(row, last)
    shown = (status or logged_status(run)) if at == last else LIVE
    opened = open_findings(run, max(at, 0))
    rows = tuple(make_check_rows(run, at, opened))
    worst = verdict(run, at)
    listed = {row.concept: (row.label, row.status) for row in rows}
    return RunView(
        id=run.id,
        name=run.name,
        path=run.path,
        trainer=run.evaluation.trainer.label,
        family=run.profile.family,
        state=shown.state,
        state_text=shown.text,
        verdict=worst,
        headline=("Stalled; before: " if worst.is_stalled_only(shown.state) else "")
        + _headline(run, at, opened, rows),
        row=at if at >= 0 else None,
        at_end=at == last,
        progress=run_progress(run, at),
        open_findings=opened,
        cleared_findings=cleared_findings(run, at),
        checklist=rows,
        panels=tuple(make_panels(run, at, listed)) if with_panels else (),
        timeline=run.timeline,
        config=run.evaluation.config,
        problem_count=sum(source.problem_count for source in run.sources.values()),
        reservation=reservation(run.profile) if worst is Verdict.HEALTHY else "",
    )


def verdict(run: Run, row: int | None = None) -> Verdict:
    """The verdict on a run as it was at a row (None: at its end).

    A finding that only informs (reward at its ceiling) leaves a run healthy, unless the run logs no
    reward to judge it by. A run that logs too little is not judged. Findings of a run without a row
    (its process crashed) are at row 0.
    """
    at = len(run.timeline) - 1 if row is None else row
    worst = max((severity for _, severity in open_at(run.findings, max(at, 0))), default=None)
    if worst is not None and (worst > Severity.INFO or not has_reward(run.profile)):
        return worst.verdict
    if at < 0 or not run.evaluation.has_concepts or not enough_to_judge(run.profile):
        return Verdict.UNJUDGED
    is_young = _points_seen(run, at) < WARMUP_POINTS
    return Verdict.WARMING_UP if is_young else Verdict.HEALTHY


def _points_seen(run: Run, row: int) -> int:
    """On how many points a verdict rests: those of the essential value that has the most."""
    updates, tracks = run.timeline.count_updates(row), run.timeline.tracks
    logged, _ = essential_values(run.profile)
    seen = [tracks[name].count_until(row) for name, _ in logged if name in tracks]
    return min(updates, max(seen, default=updates))


def outside_words(run: Run, row: int | None = None) -> str:
    """Which values are out of their range without a finding, at a row (None: at the end)."""
    at = len(run.timeline) - 1 if row is None else row
    return _outside_words(_watched(make_check_rows(run, at, open_findings(run, max(at, 0)))))


def _outside_words(rows: Iterable[CheckRow]) -> str:
    labels = [row.label for row in rows]
    return f"{first_names(labels, MAX_NAMES)} out of range" if labels else ""


def _watched(rows: Iterable[CheckRow]) -> list[CheckRow]:
    return [row for row in rows if row.status.is_trouble and row.since_step is None]


def _watching(outside: list[CheckRow]) -> str:
    """`Watching: approx KL 0.19 (healthy 0.001-0.02)`."""
    words = [
        f"{row.label} {row.text}" + (f" ({range_text(row.healthy)})" if row.healthy else "")
        for row in outside
    ]
    return f"Watching: {first_names(words, MAX_NAMES)}"


def _headline(
    run: Run, row: int, opened: tuple[OpenFinding, ...], rows: tuple[CheckRow, ...]
) -> str:
    if opened:
        return opened[0].dated_title
    now = verdict(run, row)
    outside = _watched(rows)
    if now is Verdict.WARMING_UP:
        needed = plural(WARMUP_POINTS, run.timeline.row_kind)
        so_far = f"{_points_seen(run, row)} of {needed}"
        return f"{_watching(outside)}, {so_far}" if outside else f"Warming up: {so_far}"
    if now is Verdict.HEALTHY:
        healthy = reservation(run.profile) or "Healthy: no finding"
        return _watching(outside) if outside else healthy
    if row >= 0:
        unjudged = "no reward is logged, and too little else"
        return f"{_watching(outside)}; {unjudged}" if outside else f"Not judged: {unjudged}"
    return "Waiting for the first metrics"
