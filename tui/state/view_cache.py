"""Caches the view of the selected run and applies the user's acknowledgements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ppo_top.model import Severity, Verdict
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.liveness import run_status
from ppo_top.runs.run import Run
from ppo_top.support.acknowledgements import Acknowledgements
from ppo_top.tui.state.listed_run import NO_FINDING, WorstFinding
from ppo_top.views.open_findings import OpenFinding, open_findings
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
    counted = _unacknowledged(acknowledgements, run, view.open_findings)
    acknowledged = tuple(opened for opened in view.open_findings if opened not in counted)
    if not acknowledged:
        return view
    verdict_by_others = _verdict_by(counted, view.verdict)
    return view._replace(open_findings=(*counted, *acknowledged), verdict=verdict_by_others)


def worst_unacknowledged(
    acknowledgements: Acknowledgements, run: Run, row: int | None
) -> WorstFinding:
    """The worst open finding that is not acknowledged or muted."""
    opened = _unacknowledged(acknowledgements, run, _open_at_row(run, row))
    worst = next((each for each in opened if each.severity > Severity.INFO), None)
    return WorstFinding(worst.finding.title, worst.first_step) if worst is not None else NO_FINDING


def unacknowledged_verdict(
    acknowledgements: Acknowledgements, run: Run, row: int | None
) -> Verdict:
    """The verdict of a run at a row without acknowledged and muted findings."""
    found = verdict(run, row)
    if not found.is_trouble or not acknowledgements.notes:
        return found
    return _verdict_by(_unacknowledged(acknowledgements, run, _open_at_row(run, row)), found)


def _open_at_row(run: Run, row: int | None) -> tuple[OpenFinding, ...]:
    """The findings open at a row (None: at the end); those of a run without a row are at row 0."""
    return open_findings(run, max(len(run.timeline) - 1 if row is None else row, 0))


def _unacknowledged(
    acknowledgements: Acknowledgements, run: Run, opened: Sequence[OpenFinding]
) -> list[OpenFinding]:
    """Those of some open findings that are neither acknowledged nor muted."""
    notes = acknowledgements.find
    return [
        each
        for each in opened
        if notes(run.place, each.finding.rule, each.finding.since.step) is None
    ]


def _verdict_by(counted: Sequence[OpenFinding], by_all: Verdict) -> Verdict:
    """The verdict on a run of whose open findings only some count."""
    if not by_all.is_trouble:
        return by_all
    return max((each.severity for each in counted), default=Severity.INFO).verdict
