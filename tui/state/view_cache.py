"""The view of the chosen run: made once for each moment, with what the user has noted on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from ppo_top.model import Severity, Verdict
from ppo_top.runs.run import Run
from ppo_top.support.acknowledgements import Memory
from ppo_top.text.format import count
from ppo_top.views.open_findings import open_findings
from ppo_top.views.run_view import RunView, look, verdict

OLDEST_S = 2.0
"""While a log is being read, a key may be answered with a picture that is so old."""


class Moment(NamedTuple):
    """What a view depends on; the second decides whether a silence is a stall."""

    run: str
    version: int
    row: int | None
    second: int


@dataclass(slots=True)
class Glance:
    """The last view, for as long as it holds."""

    memory: Memory
    _moment: Moment | None = None
    _view: RunView | None = None
    _made: float = 0.0

    def at(self, run: Run, row: int | None, now: float, hurry: bool = False) -> RunView:
        """The run at a row; in a `hurry`, while it is being judged, as it was just now."""
        moment = Moment(run.id, run.version, row, int(now))
        if self._view is None or not (
            self._moment == moment or (hurry and self._will_do(run, row, now))
        ):
            view = look(run, row, now)
            self._view = calmed(self.memory, run, view) if self.memory.notes else view
            self._moment, self._made = moment, now
        return self._view

    def _will_do(self, run: Run, row: int | None, now: float) -> bool:
        last, view = self._moment, self._view
        if last is None or view is None or (last.run, last.row) != (run.id, row):
            return False
        there = view.row is not None and view.row < len(view.timeline)
        return not run.judged and there and 0 <= now - self._made < OLDEST_S

    def forget(self) -> None:
        """Look anew next time."""
        self._view = None


def calmed(memory: Memory, run: Run, view: RunView) -> RunView:
    """The view with what the user has acknowledged behind what he has not."""
    noted = {
        opened.finding.rule
        for opened in view.open
        if memory.note(run.path, opened.finding.rule, opened.finding.since.step)
    }
    if not noted:
        return view
    told = tuple(opened for opened in view.open if opened.finding.rule not in noted)
    known = tuple(opened for opened in view.open if opened.finding.rule in noted)
    worst = max((opened.severity for opened in told), default=Severity.INFO)
    return replace(view, open=told + known, verdict=worst.verdict)


def trouble_of(memory: Memory, run: Run, row: int | None) -> tuple[str, str]:
    """The worst finding that is open at a row and not noted by the user, and since which step."""
    at = len(run.timeline) - 1 if row is None else row
    for opened in open_findings(run, at):
        finding = opened.finding
        if opened.severity > Severity.INFO and not memory.note(
            run.path, finding.rule, finding.since.step
        ):
            return finding.title, count(finding.since.step)
    return "", ""


def verdict_of(memory: Memory, run: Run, row: int | None) -> Verdict:
    """The verdict of a run at a row, not counting what the user has acknowledged or muted."""
    found = verdict(run, row)
    if not found.is_trouble or not memory.notes:
        return found
    at = len(run.timeline) - 1 if row is None else row
    now = [(f, severity) for f in run.findings if (severity := f.severity_at(at)) is not None]
    noted = {f.rule for f, _ in now if memory.note(run.path, f.rule, f.since.step)}
    noted |= {rule for f, _ in now if f.rule in noted for rule in f.members}
    told = [severity for f, severity in now if f.rule not in noted]
    return max(told, default=Severity.INFO).verdict
