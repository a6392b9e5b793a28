"""How rules did on old runs: how often each spoke, in which, how early before reward fell."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ppo_top.model import Finding, Severity
from ppo_top.rules.engine.context import REWARDS
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.reward_course import Learning
from ppo_top.rules.engine.stats import median
from ppo_top.runs.timeline import Timeline
from ppo_top.text.format import clean, plural

FALL = 0.3
"""Reward has fallen when so large a share of its gain is lost (and noise does not explain it)."""

NAMED = 6
"""So many runs are named for a rule; the others are counted."""


HEADING = "rule                       crit  warn  watch  info  runs  before reward fell"


class Judged(NamedTuple):
    """A run that has been judged: what backtesting looks at."""

    name: str
    findings: Sequence[Finding]
    fell: int | None
    """The row at which a third of what was learned had been lost (`reward_fell`)."""


@dataclass(slots=True)
class Tally:
    """What one rule did: findings by severity, the runs, and its leads over falling rewards."""

    rule: str
    opened: dict[Severity, int] = field(default_factory=dict)
    runs: list[str] = field(default_factory=list)
    leads: list[int] = field(default_factory=list)
    """for each run whose reward fell after the rule first spoke: updates in between"""
    without_fall: int = 0
    """runs in which the rule warned and reward never fell"""

    @property
    def total(self) -> int:
        """How many findings the rule opened."""
        return sum(self.opened.values())

    @property
    def lead(self) -> float | None:
        """The median of the leads, in updates."""
        return median(self.leads) if self.leads else None


def reward_fell(timeline: Timeline) -> int | None:
    """The row at which a third of what was learned had been lost for the first time, or None."""
    track = next((timeline.tracks[name] for name in REWARDS if name in timeline.tracks), None)
    if track is None:
        return None
    history = History()
    course = Learning(history, None)
    for row, value in zip(track.rows, track.values, strict=True):
        if not math.isfinite(value):
            continue
        history.push(row, value)
        course.update(row)
        if course.lost > FALL and course.drawdown > 6 * course.noise and history.count > 8:
            return row
    return None


def tallies(runs: Iterable[Judged]) -> list[Tally]:
    """One entry for each rule that spoke, the most frequent first."""
    found: dict[str, Tally] = {}
    for run in runs:
        fell = run.fell
        for rule, findings in _by_rule(run.findings).items():
            tally = found.setdefault(rule, Tally(rule))
            _add(tally, run.name, findings, fell)
    return sorted(found.values(), key=lambda tally: (-tally.total, tally.rule))


def _by_rule(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    grouped: dict[str, list[Finding]] = {}
    for finding in findings:
        grouped.setdefault(finding.rule, []).append(finding)
    return grouped


def _add(tally: Tally, run: str, findings: list[Finding], fell: int | None) -> None:
    tally.runs.append(run)
    for finding in findings:
        tally.opened[finding.severity] = tally.opened.get(finding.severity, 0) + 1
    spoke = findings[0].opened.row
    if fell is not None and spoke <= fell:
        tally.leads.append(fell - spoke)
    elif fell is None and max(finding.severity for finding in findings) >= Severity.WARN:
        tally.without_fall += 1


def backtest_lines(runs: Sequence[Judged]) -> Iterator[str]:
    """The table for people: a line a rule, and the runs under it."""
    fell = sum(run.fell is not None for run in runs)
    yield f"{plural(len(runs), 'run')} judged; reward fell in {fell} of them"
    yield ""
    yield HEADING
    for tally in tallies(runs):
        counts = (tally.opened.get(level, 0) for level in sorted(Severity, reverse=True))
        crit, warn, watch, info = counts
        yield (
            f"{tally.rule:<26}{crit or '':>5}{warn or '':>6}{watch or '':>7}{info or '':>6}"
            f"{len(tally.runs):>6}  {_lead(tally)}"
        ).rstrip()
        yield f"    {_named(tally.runs)}"


def _lead(tally: Tally) -> str:
    parts = []
    if tally.lead is not None:
        parts.append(f"{tally.lead:g} updates ({plural(len(tally.leads), 'run')})")
    if tally.without_fall:
        parts.append(f"warned of {plural(tally.without_fall, 'run')} whose reward never fell")
    return "; ".join(parts)


def _named(runs: Sequence[str]) -> str:
    shown = ", ".join(clean(run) for run in runs[:NAMED])
    return shown if len(runs) <= NAMED else f"{shown} and {len(runs) - NAMED} more"


def backtest_object(runs: Sequence[Judged]) -> dict[str, object]:
    """The same for programs."""
    return {
        "schema": 1,
        "runs": len(runs),
        "reward_fell": {run.name: run.fell for run in runs},
        "rules": [
            {
                "rule": tally.rule,
                "findings": {level.word: count for level, count in sorted(tally.opened.items())},
                "runs": tally.runs,
                "lead_updates": tally.leads,
                "median_lead_updates": tally.lead,
                "warned_without_fall": tally.without_fall,
            }
            for tally in tallies(runs)
        ],
    }
