"""How good the verdict is, on labelled runs that really trained: `python -m benchmarks.diagnosis`.

Every run of `corpus/runs` is read and judged by the same session as a user's own runs, and the
findings are compared with the run's label. Thresholds may be set on *tune* runs; *check* runs are
for evaluation only. For comparison the plain thresholds of the trainers' guides are applied to each
point by itself.

    python -m benchmarks.diagnosis [--split check|tune|all] [--runs DIR] [--show] [--json FILE]
"""

from __future__ import annotations

import argparse
import io
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.literal import Alarm, alarms
from benchmarks.shares import quantiles, share
from corpus.accepted_rules import accepted_rules
from corpus.table import CORPUS_RUNS, RUN_KINDS, run_kind
from ppo_top.model import Finding, Row, Severity
from ppo_top.output.backtest import reward_fall_row
from ppo_top.rules.judge import Judge
from ppo_top.runs.load import load_session
from ppo_top.runs.run import Run
from ppo_top.settings import Settings

WARN, CRIT = Severity.WARN, Severity.CRIT

FAULT_GROUPS = {
    "step size": ("lr-x", "clip-off", "epochs-"),
    "critic": ("critic-",),
    "never moves": ("lr-1e-8", "reward-zero", "reward-constant", "limit-short"),
}
MAX_MEDIAN_DELAYS = {"step size": 5, "critic": 15, "never moves": 25}


@dataclass
class LabelledRun:
    """A labelled run and its findings; delays are in updates since the onset of the fault."""

    meta: dict[str, Any]
    findings: list[Finding]
    updates: int
    points: int
    micros_per_point: float
    reward_fell_row: int | None
    guide_alarms: list[Alarm]
    console: bool
    delay: float = math.inf
    lead: int | None = None
    first_rule: str = ""
    first_is_accepted: bool = False
    findings_by_rule: Counter[str] = field(default_factory=Counter)

    @property
    def onset(self) -> int:
        """The first row that can show the fault."""
        return int(self.meta["onset_update"]) // max(1, int(self.meta.get("log_interval", 1)))

    def since_onset(self, least: Severity) -> list[Finding]:
        """Findings that reached a severity at or after the onset, or were open at it."""
        return [f for f in self.findings if row_reached(f, least) >= self.onset]


def row_reached(finding: Finding, least: Severity) -> float:
    """The row at which a finding was first this severe; -1 if it never was."""
    return min((c.mark.row for c in finding.changes if c.severity >= least), default=-1)


def judge_run(path: Path) -> LabelledRun | None:
    """Read and judge one run of the corpus."""
    meta = json.loads((path / "meta.json").read_text(encoding="utf-8"))
    session = load_session([path], Settings(), io.StringIO())
    if session is None:
        return None
    run = max(session.runs.values(), key=lambda each: len(each.timeline))
    rows = _rows(run)
    if not rows:
        return None
    verdict = LabelledRun(
        meta=meta,
        findings=list(run.findings),
        updates=len(rows),
        points=sum(len(row.values) for row in rows),
        micros_per_point=_cost(run, rows),
        reward_fell_row=reward_fall_row(run.timeline),
        guide_alarms=list(alarms(rows, run.profile.family)),
        console=(path / "console.txt").exists(),
    )
    _measure_delays(verdict)
    return verdict


def _rows(run: Run) -> list[Row]:
    """The run's rows as they were judged."""
    values: list[dict[str, float]] = [{} for _ in range(len(run.timeline))]
    for name, track in run.timeline.tracks.items():
        for row, value in zip(track.rows, track.values, strict=True):
            values[row][name] = value
    return [Row(run.timeline.mark(number), cells) for number, cells in enumerate(values)]


def _cost(run: Run, rows: Sequence[Row]) -> float:
    """CPU microseconds per point with all rules: the best of three passes."""
    points = max(1, sum(len(row.values) for row in rows))
    best = math.inf
    for _ in range(3):
        judge = Judge(run.profile)
        start = time.process_time()
        for row in rows:
            judge.add_row(row)
        best = min(best, time.process_time() - start)
    return 1e6 * best / points


def _measure_delays(verdict: LabelledRun) -> None:
    """The first rule, its delay, and its lead over the drop in reward."""
    accepted = accepted_rules(verdict.meta)
    since = verdict.since_onset(WARN)
    right = [f for f in since if f.rule in accepted]
    if right:
        row = min(row_reached(f, WARN) for f in right)
        verdict.delay = row - verdict.onset
        verdict.lead = (
            verdict.reward_fell_row - int(row) if verdict.reward_fell_row is not None else None
        )
    if since:
        row = min(row_reached(f, WARN) for f in since)
        verdict.first_rule = top_rule(since, row)
        verdict.first_is_accepted = verdict.first_rule in accepted
    verdict.findings_by_rule = Counter(f.rule for f in verdict.findings)


def top_rule(findings: Iterable[Finding], row: float) -> str:
    """The rule at the top of the screen at a row: worst first, then diagnoses."""
    open_now = [(s, f) for f in findings if (s := f.severity_at(int(row))) is not None]
    absorbed = {rule for _, finding in open_now for rule in finding.members}
    shown = [pair for pair in open_now if pair[1].rule not in absorbed] or open_now
    key = max(shown, key=lambda pair: (pair[0], bool(pair[1].members), -pair[1].since.row))
    return key[1].rule


def fault_group(fault: str) -> str:
    """The group of a fault, for delays."""
    found = (name for name, starts in FAULT_GROUPS.items() if fault.startswith(starts))
    return next(found, "other")


def report(verdicts: Sequence[LabelledRun], title: str) -> dict[str, Any]:
    """Print the figures of one set of runs, with their targets."""
    healthy, harmful, harmless, failed = (
        [v for v in verdicts if run_kind(v.meta) == each] for each in RUN_KINDS
    )
    print(f"\n== {title}: {len(healthy)} healthy, {len(harmful)} harmful, {len(harmless)} harmless")
    figures = {**_harmful(harmful), **_healthy(healthy), **_rest(verdicts, harmless)}
    if failed:
        warned = share(sum(bool(v.since_onset(WARN)) for v in failed), len(failed))
        print(f"failed without a fault, warned  {warned} (not counted)")
    _literal(healthy, harmful)
    return figures


def _harmful(runs: Sequence[LabelledRun]) -> dict[str, Any]:
    found = sum(bool(v.since_onset(WARN)) for v in runs)
    right = sum(v.first_is_accepted for v in runs)
    ever = sum(v.delay < math.inf for v in runs)
    print(f"harmful runs detected           {share(found, len(runs))}   target 95 %")
    print(f"first diagnosis correct         {share(right, len(runs))}   target 80 %")
    print(f"correct diagnosis at any time   {share(ever, len(runs))}")
    for group in (*FAULT_GROUPS, "other"):
        delays = [v.delay for v in runs if fault_group(v.meta["fault"]) == group]
        bar = f"   target: median {MAX_MEDIAN_DELAYS[group]}" if group in MAX_MEDIAN_DELAYS else ""
        print(f"  delay, {group:<14} {len(delays):>3} runs   {quantiles(delays)}{bar}")
    leads = [float(v.lead) for v in runs if v.lead is not None]
    print(f"lead over the reward drop       {quantiles(leads)} ({len(leads)} runs)")
    return {"harmful": len(runs), "warned": found, "first_right": right, "ever_right": ever}


def _healthy(runs: Sequence[LabelledRun]) -> dict[str, Any]:
    count = max(1, len(runs))
    crit = sum(f.severity >= CRIT for v in runs for f in v.findings)
    warn = sum(f.severity == WARN for v in runs for f in v.findings)
    watch = sum(f.severity == Severity.WATCH for v in runs for f in v.findings)
    updates = sum(v.updates for v in runs)
    by_rule = Counter(f.rule for v in runs for f in v.findings if f.severity >= WARN)
    watched = Counter(f.rule for v in runs for f in v.findings if f.severity == Severity.WATCH)
    print(f"false alarms, crit              {crit} in {len(runs)} healthy runs   target 0")
    print(f"false alarms, warn              {warn / count:.2f} per healthy run   target 0.2")
    print(
        f"watch findings                  {watch / count:.2f} per healthy run, {updates:,} updates"
    )
    print(f"  by rule, warn and crit        {dict(by_rule.most_common()) or 'none'}")
    print(f"  by rule, watch                {dict(watched.most_common()) or 'none'}")
    return {"healthy": len(runs), "crit": crit, "warn": warn, "watch": watch}


def _rest(runs: Sequence[LabelledRun], harmless: Sequence[LabelledRun]) -> dict[str, Any]:
    named = sum(bool(v.since_onset(WARN)) for v in harmless)
    worst = max(((n, rule, v.meta["id"]) for v in runs for rule, n in v.findings_by_rule.items()),
                default=(0, "", ""))  # fmt: skip
    points = sum(v.points for v in runs)
    micros = sum(v.micros_per_point * v.points for v in runs) / max(1, points)
    highest = max((v.micros_per_point for v in runs), default=0.0)
    print(f"harmless faults detected        {share(named, len(harmless))} (neither hit nor miss)")
    print(f"flapping, most by one rule      {worst[0]} ({worst[1]}, {worst[2]})   target 3")
    print(f"cost, us per point              {micros:.1f}, worst run {highest:.1f}   target 10")
    return {"flapping": worst[0], "micros": micros, "micros_worst": highest}


def _literal(healthy: Sequence[LabelledRun], harmful: Sequence[LabelledRun]) -> None:
    """The same figures for the guides' thresholds, applied to each point by itself."""
    since = [(v, [alarm for alarm in v.guide_alarms if alarm.row >= v.onset]) for v in harmful]
    named = [(v, found) for v, found in since if found]
    right = [(v, found) for v, found in named if found[0].rule in accepted_rules(v.meta)]
    firsts = (
        next((a.row - v.onset for a in found if a.rule in accepted_rules(v.meta)), math.inf)
        for v, found in since
    )
    false = [v for v in healthy if v.guide_alarms]
    points = sum(len(v.guide_alarms) for v in healthy)
    by_concept = Counter(
        concept for v in healthy for concept in {a.concept for a in v.guide_alarms}
    )
    print("the guides' thresholds, applied to each point by itself:")
    print(f"  harmful runs detected         {share(len(named), len(harmful))}")
    print(f"  first diagnosis correct       {share(len(right), len(harmful))}")
    print(f"  delay                         {quantiles(list(firsts))}")
    print(f"  false alarms                  {share(len(false), len(healthy))} of the healthy runs,")
    print(f"                                {points / max(1, len(healthy)):.1f} points per run")
    print(f"  runs with false alarms, by    {dict(by_concept.most_common()) or 'none'}")


def print_runs(verdicts: Sequence[LabelledRun]) -> None:
    """Print a line for each run: its findings, and the first one's delay."""
    for v in verdicts:
        loud = [f"{f.rule}@{row_reached(f, WARN):g}" for f in v.findings if f.severity >= WARN]
        mark = "" if v.meta["fault"] == "none" else ("right" if v.first_is_accepted else "WRONG")
        what = f"{v.meta['id']:<42}{run_kind(v.meta):<9}{mark:<6}"
        print(f"{what}{v.delay:>5g}  {v.first_rule:<24} {' '.join(loud)}")


def main() -> None:
    """Judge the corpus and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--split", choices=("check", "tune", "all"), default="all")
    parser.add_argument("--runs", type=Path, default=CORPUS_RUNS)
    parser.add_argument("--show", action="store_true", help="print a line for each run")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    paths = sorted(meta.parent for meta in options.runs.glob("*/meta.json"))
    verdicts = [v for path in paths if (v := judge_run(path))]
    print(f"{len(verdicts)} runs judged, {len(paths) - len(verdicts)} skipped (no metrics)")
    splits = ("tune", "check") if options.split == "all" else (options.split,)
    figures = {}
    for split in splits:
        chosen = [v for v in verdicts if v.meta["split"] == split]
        if options.show:
            print_runs(chosen)
        for producer in ("", *sorted({v.meta["producer"] for v in chosen})):
            some = [v for v in chosen if producer in ("", v.meta["producer"])]
            name = f"{split}, {producer or 'all'}"
            figures[name] = report(some, name)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
