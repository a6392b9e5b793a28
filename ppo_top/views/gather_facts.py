"""What programs ask of a run first, taken from the run (`run_facts.py` loads without it)."""

from __future__ import annotations

import math

from ppo_top.catalogue import TAG_PREFIX
from ppo_top.model import NO_STEP
from ppo_top.rules.crucial_values import crucial_values
from ppo_top.runs.liveness import state_facts
from ppo_top.runs.run import Run
from ppo_top.views.checklist import logged_names
from ppo_top.views.open_findings import OpenFinding, open_findings
from ppo_top.views.progress import run_progress
from ppo_top.views.run_facts import NOT_JUDGED, OpenRule, RunFacts
from ppo_top.views.run_view import verdict


def gather_facts(run: Run) -> RunFacts:
    """The facts of a run that is judged."""
    last = len(run.timeline) - 1
    opened, progress = open_findings(run, max(last, 0)), run_progress(run, last)
    found, last_change = verdict(run), state_facts(run).last_change
    without_finding = 0 if found.is_judged else NOT_JUDGED
    crucial = [name for row, _ in crucial_values(run.profile) for name in logged_names(run, row)]
    values = _newest_values(run)
    return RunFacts(
        verdict=found,
        severity=max((each.severity for each in opened), default=without_finding),
        producer=run.evaluation.trainer.id,
        family=run.profile.family,
        step=progress.step,
        total=progress.total,
        first_time=progress.first_time,
        last_change=last_change if math.isfinite(last_change) else None,
        eta_s=progress.eta_s,
        unreadable_places=sum(source.problem_count for source in run.sources.values()),
        open_rules=[_open_rule(each) for each in opened],
        crucial_values={name: values.pop(name) for name in crucial if name in values},
        other_values=values,
    )


def _newest_values(run: Run) -> dict[str, float]:
    """concept -> newest value, of every logged metric that is known."""
    tracks = run.timeline.tracks.items()
    known = {name: track for name, track in tracks if not name.startswith(TAG_PREFIX)}
    return {name: float(track.values[-1]) for name, track in known.items() if len(track)}


def _open_rule(opened: OpenFinding) -> OpenRule:
    since = opened.finding.since
    return OpenRule(
        opened.finding.rule,
        int(opened.severity),
        since.step if since.step != NO_STEP else None,
        since.time if math.isfinite(since.time) else None,
    )
