"""What there is to see of a run at one moment of its timeline: a pure function, no interface in it.

Live, the moment is the newest row; in replay and on the timeline it is any other. The screen, the
report, the status line and the JSON are all drawn from a `RunView`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ppo_top.model import ConfigValue, Finding, Severity, State, Verdict, worst_severity
from ppo_top.rules.engine.context import REWARD_CONCEPTS
from ppo_top.runs.run import Run
from ppo_top.runs.timeline import Timeline
from ppo_top.text.format import count
from ppo_top.views.checklist import WARMUP_POINTS, CheckRow, make_check_rows, with_newest_values
from ppo_top.views.curves import Panel, PanelTrack, make_panels
from ppo_top.views.liveness import RunStatus, run_status
from ppo_top.views.open_findings import OpenFinding, cleared_findings, open_findings
from ppo_top.views.progress import Progress, run_progress

__all__ = ["CheckRow", "OpenFinding", "Panel", "PanelTrack", "RunView", "make_run_view", "verdict"]


@dataclass(frozen=True, slots=True)
class RunView:
    """A run at one moment.

    `row` is the row looked at (None before the first); `at_end` says that it is the newest.
    `open_findings` holds the findings of the moment, worst first; members of an open diagnosis are
    its evidence and not repeated. `cleared_findings` holds those that had cleared before, newest
    first.
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


def make_run_view(run: Run, row: int | None = None, now: float = 0.0) -> RunView:
    """A run as it stood when `row` was its newest (None: now, at its end).

    `now` is unix time; it decides the state of a run that is looked at live and nothing else.
    """
    run.unpack()
    last = len(run.timeline) - 1
    at = last if row is None else min(row, last)
    stood = run_status(run, now) if at == last else RunStatus(State.LIVE, "")
    opened = open_findings(run, at)
    rows = tuple(make_check_rows(run, at, opened))
    if at == last and run.newest_values:
        rows = tuple(with_newest_values(rows, run))
    return RunView(
        id=run.id,
        name=run.name,
        path=run.path,
        trainer=run.trainer.label,
        family=run.trainer.family,
        state=stood.state,
        state_text=stood.text,
        verdict=verdict(run, at),
        headline=_headline(run, at, opened, rows),
        row=at if at >= 0 else None,
        at_end=at == last,
        progress=run_progress(run, at),
        open_findings=opened,
        cleared_findings=cleared_findings(run, at),
        checklist=rows,
        panels=tuple(make_panels(run, at, {row.concept: (row.label, row.status) for row in rows})),
        timeline=run.timeline,
        config=run.config,
        problem_count=sum(source.problem_count for source in run.sources.values()),
    )


def verdict(run: Run, row: int | None = None) -> Verdict:
    """What is to be said of the run as it stood at a row (None: at its end).

    What is only explained, such as a reward at its ceiling, leaves a healthy run healthy; without
    any reward to judge by it is called no more than `info`.
    """
    at = len(run.timeline) - 1 if row is None else row
    severity = worst_severity(run.findings, at)
    rewarded = any(concept in run.profile.tags for concept in REWARD_CONCEPTS)
    if severity is not None and (severity > Severity.INFO or not rewarded):
        return severity.verdict
    if at < 0 or not run.has_concepts:
        return Verdict.UNJUDGED
    return Verdict.WARMING_UP if at + 1 < WARMUP_POINTS else Verdict.HEALTHY


def _headline(
    run: Run, row: int, opened: tuple[OpenFinding, ...], rows: tuple[CheckRow, ...]
) -> str:
    if opened:
        first = opened[0].finding
        return f"{first.title}, since step {count(first.since.step)}"
    now = verdict(run, row)
    if now is Verdict.HEALTHY:
        return _healthy_headline([row.label for row in rows if row.status.is_trouble])
    if now is Verdict.WARMING_UP:
        return f"Warming up: {row + 1} of {WARMUP_POINTS} updates"
    return "Waiting for the first metrics"


def _healthy_headline(labels: list[str]) -> str:
    """No finding is open, but metrics may be out of range."""
    if not labels:
        return "Healthy: all metrics in range"
    named = labels[:3] if len(labels) <= 3 else [*labels[:2], f"{len(labels) - 2} more"]
    return f"Watching: {', '.join(named)} out of range"
