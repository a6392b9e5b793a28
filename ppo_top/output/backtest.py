"""How rules did on old runs: how often each fired, in which, how long before reward dropped."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ppo_top.model import Finding, Severity
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.output.exit_codes import EXIT_ERROR, EXIT_OK
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.logged_run import REWARD_CONCEPTS
from ppo_top.rules.engine.reward.course import RewardCourse
from ppo_top.rules.engine.stats import median
from ppo_top.runs.judge_queue import Reports
from ppo_top.runs.load import load_session
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.runs.run import Run
from ppo_top.settings import Settings
from ppo_top.text.format import clean, first_names, plural

REWARD_FALL_SHARE = 0.3
"""Reward has dropped when it has lost this share of its gain (beyond what noise explains)."""

MAX_NAMED_RUNS = 6
"""Runs named per rule; the others are counted."""

TABLE_HEADING = "rule                       crit  warn  watch  info  runs  lead before reward drop"


class BacktestRun(NamedTuple):
    """What backtesting needs of a judged run."""

    name: str
    findings: Sequence[Finding]
    reward_fall_row: int | None
    """see the function `reward_fall_row`"""


@dataclass(slots=True)
class RuleTally:
    """What one rule did: findings by severity, runs, and its lead over reward drops."""

    rule: str
    counts_by_severity: Counter[Severity] = field(default_factory=Counter)
    runs: list[str] = field(default_factory=list)
    lead_updates: list[int] = field(default_factory=list)
    """updates from the rule's first finding to the reward drop, for each run with both"""
    warned_without_fall: int = 0
    """runs with a `warn` or `crit` of the rule and no reward drop"""

    @property
    def total(self) -> int:
        """Number of findings."""
        return self.counts_by_severity.total()

    @property
    def median_lead(self) -> float | None:
        """Median lead in updates."""
        return median(self.lead_updates) if self.lead_updates else None


def find_fall(run: Run) -> int | None:
    """The row at which the reward of a run fell."""
    return reward_fall_row(run.timeline)


def reward_fall_row(timeline: Timeline) -> int | None:
    """The first row at which `REWARD_FALL_SHARE` of the reward's gain is lost, or None."""
    tracks = timeline.tracks
    track = next((tracks[name] for name in REWARD_CONCEPTS if name in tracks), None)
    if track is None:
        return None
    history = History()
    course = RewardCourse(history, None)
    for row, value in zip(track.rows, track.values, strict=True):
        if not math.isfinite(value):
            continue
        history.push(row, value)
        course.add_reward(timeline.mark(row))
        certain = course.drawdown > 6 * course.noise and history.count > 8
        if certain and course.lost_share > REWARD_FALL_SHARE:
            return row
    return None


def rule_tallies(runs: Iterable[BacktestRun]) -> list[RuleTally]:
    """One entry per rule that fired, the most frequent first."""
    found: dict[str, RuleTally] = {}
    for run in runs:
        for rule, findings in _by_rule(run.findings).items():
            _add(found.setdefault(rule, RuleTally(rule)), run, findings)
    return sorted(found.values(), key=lambda tally: (-tally.total, tally.rule))


def _by_rule(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    grouped: dict[str, list[Finding]] = {}
    for finding in findings:
        grouped.setdefault(finding.rule, []).append(finding)
    return grouped


def _add(tally: RuleTally, run: BacktestRun, findings: list[Finding]) -> None:
    tally.runs.append(run.name)
    tally.counts_by_severity.update(finding.worst_severity for finding in findings)
    fired, fall = findings[0].opened.row, run.reward_fall_row
    if fall is not None and fired <= fall:
        tally.lead_updates.append(fall - fired)
    elif fall is None and max(finding.worst_severity for finding in findings) >= Severity.WARN:
        tally.warned_without_fall += 1


def backtest_lines(runs: Sequence[BacktestRun]) -> Iterator[str]:
    """The table as text: one line per rule, its runs below."""
    fell = sum(run.reward_fall_row is not None for run in runs)
    yield f"{plural(len(runs), 'run')} judged; reward dropped in {fell}"
    yield ""
    yield TABLE_HEADING
    for tally in rule_tallies(runs):
        counts = tally.counts_by_severity
        crit, warn, watch, info = (counts[level] for level in sorted(Severity, reverse=True))
        yield (
            f"{tally.rule:<26}{crit or '':>5}{warn or '':>6}{watch or '':>7}{info or '':>6}"
            f"{len(tally.runs):>6}  {_lead(tally)}"
        ).rstrip()
        yield f"    {first_names([clean(run) for run in tally.runs], MAX_NAMED_RUNS)}"
    yield ""
    yield (
        f"A reward has dropped once more than {100 * REWARD_FALL_SHARE:.0f} % of all that it gained"
        " is lost, beyond noise."
    )
    yield "An alert in a run without a drop is a false alarm only if nothing else was wrong there."


def _lead(tally: RuleTally) -> str:
    parts = []
    if tally.median_lead is not None:
        updates = f"{tally.median_lead:g} update{'s' * (tally.median_lead != 1)}"
        parts.append(f"{updates} ({plural(len(tally.lead_updates), 'run')})")
    if tally.warned_without_fall:
        parts.append(f"alerts in {plural(tally.warned_without_fall, 'run')} without a reward drop")
    return "; ".join(parts)


def backtest_object(runs: Sequence[BacktestRun]) -> dict[str, object]:
    """The table as JSON."""
    return {
        "schema": 1,
        "runs": len(runs),
        "reward_fell": {run.name: run.reward_fall_row for run in runs},
        "rules": [
            {
                "rule": tally.rule,
                "findings": {each.word: n for each, n in sorted(tally.counts_by_severity.items())},
                "runs": tally.runs,
                "lead_updates": tally.lead_updates,
                "median_lead_updates": tally.median_lead,
                "warned_without_fall": tally.warned_without_fall,
            }
            for tally in rule_tallies(runs)
        ],
    }


def print_backtest(paths: Sequence[Path], settings: Settings, *, as_object: bool) -> int:
    """Print how often each rule fired on old runs, in which, and how long before reward dropped."""
    falls: dict[str, int | None] = {}

    def add(run: Run, fall: int | None) -> None:
        falls[run.id] = fall

    session = load_session(paths, settings, sys.stderr, Reports(find_fall, add))
    if session is None:
        return EXIT_ERROR
    runs = [BacktestRun(run.name, run.findings, falls[run.id]) for run in session.sorted_runs()]
    print(json.dumps(backtest_object(runs)) if as_object else "\n".join(backtest_lines(runs)))
    return EXIT_OK
