"""Caches the view of the selected run and applies the user's acknowledgements."""

from __future__ import annotations

from dataclasses import dataclass

from ppo_top.model import Severity, Verdict
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.liveness import run_status
from ppo_top.runs.run import Run
from ppo_top.support.acknowledgements import Acknowledgements
from ppo_top.text.format import steps
from ppo_top.tui.state.listed_run import NO_FINDING, WorstFinding
from ppo_top.views.open_findings import explaining_rules, open_findings
from ppo_top.views.run_view import RunView, make_run_view, verdict

MAX_VIEW_AGE_S = 2.0
"""While a log is being read, a key may be answered with a view this old."""


class ViewKey(NamedTuple):
    """What a view depends on; the time in seconds decides between live and stalled."""

    run: str
    version: int
    row: int | None
    second: int


@dataclass(slots=True)
class ViewCache:
    """The latest view, while it is valid."""

    acknowledgements: Acknowledgements
    _key: ViewKey | None = None
    _view: RunView | None = None
    _made_at: float = 0.0

    def get(self, run: Run, row: int | None, now: float, allow_stale: bool = False) -> RunView:
        """The run at a row; with `allow_stale`, an older view of a run that is being judged."""
        key = ViewKey(run.id, run.version, row, int(now))
        if self._view is None or not (
            self._key == key or (allow_stale and self._is_recent_enough(run, row, now))
        ):
            view = make_run_view(run, row, run_status(run, now))
            if self.acknowledgements.notes:
                view = with_acknowledged_last(self.acknowledgements, run, view)
            self._view, self._key, self._made_at = view, key, now
        return self._view

    def _is_recent_enough(self, run: Run, row: int | None, now: float) -> bool:
        last, view = self._key, self._view
        if last is None or view is None or (last.run, last.row) != (run.id, row):
            return False
        there = view.row is not None and view.row < len(view.timeline)
        return not run.judged and there and 0 <= now - self._made_at < MAX_VIEW_AGE_S

    def invalidate(self) -> None:
        """Make a new view next time."""
        self._view = None


def with_acknowledged_last(acknowledgements: Acknowledgements, run: Run, view: RunView) -> RunView:
    """The view with acknowledged findings last and not counted in the verdict."""
    rules = {
        opened.finding.rule
        for opened in view.open_findings
        if acknowledgements.find(run.place, opened.finding.rule, opened.finding.since.step)
    }
    if not rules:
        return view
    open_ = tuple(opened for opened in view.open_findings if opened.finding.rule not in rules)
    acknowledged = tuple(opened for opened in view.open_findings if opened.finding.rule in rules)
    worst = max((opened.severity for opened in open_), default=Severity.INFO)
    return view._replace(open_findings=open_ + acknowledged, verdict=worst.verdict)


def worst_unacknowledged(
    acknowledgements: Acknowledgements, run: Run, row: int | None
) -> WorstFinding:
    """The worst open finding that is not acknowledged or muted."""
    at = len(run.timeline) - 1 if row is None else row
    for opened in open_findings(run, at):
        finding = opened.finding
        if opened.severity > Severity.INFO and not acknowledgements.find(
            run.place, finding.rule, finding.since.step
        ):
            return WorstFinding(finding.title, steps(finding.since.step, axis=run.timeline.axis))
    return NO_FINDING


def unacknowledged_verdict(
    acknowledgements: Acknowledgements, run: Run, row: int | None
) -> Verdict:
    """The verdict of a run at a row without acknowledged and muted findings."""
    found = verdict(run, row)
    if not found.is_trouble or not acknowledgements.notes:
        return found
    at = len(run.timeline) - 1 if row is None else row
    now = [(f, severity) for f in run.findings if (severity := f.severity_at(at)) is not None]
    rules = {f.rule for f, _ in now if acknowledgements.find(run.place, f.rule, f.since.step)}
    rules |= {rule for f, _ in now if f.rule in rules for rule in f.members}
    rules |= {rule for rule, by in explaining_rules(now).items() if by in rules}
    open_ = [severity for f, severity in now if f.rule not in rules]
    return max(open_, default=Severity.INFO).verdict
