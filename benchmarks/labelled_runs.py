"""Labelled runs as the program judges them: what was found, when, and whether it is right."""

from __future__ import annotations

import io
import json
import math
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.literal import Alarm, alarms
from corpus.accepted_rules import accepted_rules
from corpus.causes import credit
from corpus.labels import visible
from corpus.table import run_family, run_kind
from ppo_top.model import Finding, Row, Severity
from ppo_top.runs.load import load_session
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.runs.run import Run
from ppo_top.settings import Settings
from ppo_top.views.open_findings import explaining_rules

WARN = Severity.WARN
STATED_CAUSES = 3
FAULTS_OF_UPDATES = ("lr-", "clip-off", "epochs-", "kl-limit-", "critic-", "target-")
"""How the names of faults begin that change nothing while a trainer only collects."""


@dataclass
class LabelledRun:
    """A labelled run and what was found in it; delays are in rows since the onset of the fault."""

    meta: dict[str, Any]
    findings: list[Finding]
    onset: int
    """the first row that can show the fault"""
    rows: int
    guide_alarms: list[Alarm]

    @property
    def kind(self) -> str:
        """One of `RUN_KINDS`."""
        return run_kind(self.meta)

    @property
    def family(self) -> str:
        """One of `FAMILIES`."""
        return run_family(self.meta)

    @property
    def visible(self) -> bool:
        """Whether the log can show the harm."""
        return visible(self.meta)

    def found(self, least: Severity = WARN) -> list[Finding]:
        """Findings that reached a severity at or after the onset, or were open at it."""
        return [f for f in self.findings if row_reached(f, least) >= self.onset]

    def count(self, severity: Severity) -> int:
        """The findings of exactly this severity."""
        return sum(f.worst_severity == severity for f in self.findings)

    @property
    def first(self) -> list[Finding]:
        """What stood on the screen when the first warning after the onset came, worst first."""
        found = self.found()
        return shown(found, min(row_reached(f, WARN) for f in found)) if found else []

    @property
    def first_is_right(self) -> bool:
        """Whether the finding at the top of that screen is one that may name the fault."""
        first = self.first
        return bool(first) and first[0].rule in accepted_rules(self.meta)

    @property
    def delay(self) -> float:
        """Rows from the onset to the first right finding; infinite if there is none."""
        right = (f for f in self.found() if f.rule in accepted_rules(self.meta))
        return min((row_reached(f, WARN) - self.onset for f in right), default=math.inf)

    @property
    def last(self) -> list[Finding]:
        """What stands in the report on the finished run at *warn* or *crit*, worst first."""
        end = self.rows - 1
        return [f for f in shown(self.findings, end) if (f.severity_at(end) or 0) >= WARN]

    def cause_credit(self, count: int, findings: Sequence[Finding] | None = None) -> float:
        """How right the best of the first `count` stated causes is (`corpus.causes`).

        They are those of `findings`, by default of the first warning.
        """
        some = self.first if findings is None else findings
        stated = dict.fromkeys(cause for finding in some for cause in finding.causes)
        return credit(self.meta, list(stated)[:count])


def judge_run(path: Path) -> LabelledRun | None:
    """Read and judge one run of the corpus as a user's own; None if nothing could be read."""
    meta = json.loads((path / "meta.json").read_text(encoding="utf-8"))
    session = load_session([path], Settings(), io.StringIO(), ended=True)
    if session is None:
        return None
    run = max(session.runs.values(), key=lambda each: len(each.timeline))
    rows = timeline_rows(run)
    return LabelledRun(
        meta=meta,
        findings=list(run.findings),
        onset=min(onset_row(meta, run.timeline), max(0, len(rows) - 1)),  # it may die at once
        rows=len(rows),
        guide_alarms=list(alarms(rows, _guide(meta))),
    )


def judge_runs(folder: Path, splits: Sequence[str]) -> Iterator[LabelledRun]:
    """Judge the runs of a folder; name on stderr those that could not be read."""
    for meta in sorted(folder.glob("*/meta.json")):
        if json.loads(meta.read_text(encoding="utf-8"))["split"] not in splits:
            continue
        judged = judge_run(meta.parent)
        if judged is None:
            print(f"{meta.parent.name}: nothing could be read", file=sys.stderr)
        else:
            yield judged


def onset_row(meta: dict[str, Any], timeline: Timeline) -> int:
    """The first row that can show the fault: of what counts no steps, by the trainer's rows."""
    step = onset_step(meta)
    if not step:
        return 0
    if meta.get("log") in ("monitor", "events") or not meta["onset_step"]:
        steps = list(timeline.steps)
        return next((row for row, at in enumerate(steps) if at > step), len(steps))
    if "onset_row" in meta:
        return int(meta["onset_row"])
    return int(meta["onset_update"]) // max(1, int(meta.get("log_interval", 1)))


def onset_step(meta: dict[str, Any]) -> int:
    """The step after which the fault can show: what is wrong with updates, at the first of them."""
    if meta["onset_step"] or not meta["fault"].startswith(FAULTS_OF_UPDATES):
        return int(meta["onset_step"])
    return int(meta.get("hyperparameters", {}).get("learning_starts", 0))


def timeline_rows(run: Run) -> list[Row]:
    """The run's rows as they were judged."""
    values: list[dict[str, float]] = [{} for _ in range(len(run.timeline))]
    for name, track in run.timeline.tracks.items():
        for row, value in zip(track.rows, track.values, strict=True):
            values[row][name] = value
    return [Row(run.timeline.mark(number), cells) for number, cells in enumerate(values)]


def row_reached(finding: Finding, least: Severity) -> float:
    """The row at which a finding was first this severe; -1 if it never was."""
    return min((c.mark.row for c in finding.changes if c.severity >= least), default=-1)


def shown(findings: Iterable[Finding], row: float) -> list[Finding]:
    """The findings on the screen at a row, in its order: worst first, then diagnoses.

    What an open diagnosis explains is left out, unless it is worse.
    """
    open_now = [(f, s) for f in findings if (s := f.severity_at(int(row))) is not None]
    explained = explaining_rules(open_now)
    some = [pair for pair in open_now if pair[0].rule not in explained] or open_now
    some.sort(key=lambda pair: (-pair[1], not pair[0].members, pair[0].since.row))
    return [finding for finding, _ in some]


def most_findings(runs: Sequence[LabelledRun]) -> tuple[int, str, str]:
    """The most findings that one rule has in one run: how many, the rule, the run."""
    counts = (
        (count, rule, run.meta["id"])
        for run in runs
        for rule, count in Counter(f.rule for f in run.findings).items()
    )
    return max(counts, default=(0, "", ""))


def _guide(meta: dict[str, Any]) -> str:
    """Whose guide `benchmarks.literal` applies."""
    guides = {"trl-ppo": "rlhf", "trl-grpo": "grpo", "trl-rloo": "grpo"}
    return guides.get(str(meta["producer"]), "control")
