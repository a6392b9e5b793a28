"""The labelled runs on which thresholds were set keep their verdict."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.labelled_runs import LabelledRun, judge_run, row_reached
from corpus.accepted_rules import accepted_rules
from corpus.causes import CAUSE_BY_FAULT, SAME_TRACE_FROM_START, SAME_TRACE_MIDWAY
from corpus.table import CORPUS_RUNS, run_family, run_kind
from ppo_top.catalogue.causes import known_causes
from ppo_top.model import Severity, open_at
from ppo_top.rules.advice.contradictions import purpose_of


@cache
def meta(run: Path) -> dict[str, Any]:
    """A run's label."""
    found: dict[str, Any] = json.loads((run / "meta.json").read_text(encoding="utf-8"))
    return found


@cache
def judged(run: Path) -> LabelledRun:
    """What is found in a run, read as a user's own run would be."""
    found = judge_run(run)
    assert found is not None
    return found


TUNE_RUNS = [
    path.parent
    for path in sorted(CORPUS_RUNS.glob("*/meta.json"))
    if meta(path.parent)["split"] == "tune"
]
FIRST_RUNS = [run for run in TUNE_RUNS if "log" not in meta(run)]
"""The runs of the first corpus, each of which is to keep its verdict."""

HEALTHY_RUNS = [run for run in FIRST_RUNS if run_kind(meta(run)) == "healthy"]
MISSED_RUNS = {
    "cartpole-observations-x1e4-s31": "learns to 350 of 480: less than good, yet nothing breaks",
    "cartpole-rollout-tiny-s31": "rises to the end, only slowly: 182 instead of 500",
    "pendulum-critic-untrained-s11": "explains nothing, but the reward rises: only to be watched",
}
"""Runs that were harmed and that no rule warns of."""

HARMFUL_RUNS = [
    pytest.param(
        run,
        id=run.name,
        marks=[
            pytest.mark.xfail(reason=why, strict=True)
            for name, why in MISSED_RUNS.items()
            if name == run.name
        ],
    )
    for run in FIRST_RUNS
    if run_kind(meta(run)) == "harmful"
]


FALLEN_RUNS = {
    "cartpole-a2c-healthy-s3": "nothing was done wrong, but it fell from 413 to 73 and ends at 106",
}
"""Runs without a fault whose reward really fell."""


CONTRARY_CAUSES = {
    "arm-td3-lr-x100-s11": "only its reward is logged: rate too low, or too high?",
    "docking-qrdqn-epsilon-stuck-s19": "too much exploration, or too little?",
    "grpo-late-lr-x100-midway-s12": "another finding's cause was the opposite of this one's",
    "frozenlake-entropy-bonus-s11": "a higher learning rate, and a limit on the KL?",
}
"""Runs whose likeliest causes include two that contradict each other."""


@pytest.mark.parametrize(
    "run",
    [*FIRST_RUNS, *(run for run in TUNE_RUNS if run.name in CONTRARY_CAUSES)],
    ids=lambda run: run.name,
)
def test_no_report_contradicts_itself(run: Path) -> None:
    """At no row: nothing is raised and lowered, no cause stands beside its opposite."""
    findings, causes = judged(run).findings, known_causes()
    trainer = meta(run)["producer"]
    for row in sorted({version.row for finding in findings for version in finding.versions}):
        shown = [finding.as_of(row) for finding, _ in open_at(findings, row)]
        ways = {purpose_of(each, trainer) for finding in shown for each in finding.remedies}
        assert not {(name, -way) for name, way in filter(None, ways)} & ways
        said = {causes.by_sentence.get(each) for finding in shown for each in finding.causes}
        assert not [pair for pair in causes.opposites if said.issuperset(pair)]


@pytest.mark.parametrize(
    "run", [run for run in HEALTHY_RUNS if run.name not in FALLEN_RUNS], ids=lambda run: run.name
)
def test_a_healthy_run_is_not_warned_of(run: Path) -> None:
    """Nothing is worse than something to watch."""
    assert [f.rule for f in judged(run).findings if f.severity >= Severity.WARN] == []


@pytest.mark.parametrize("run", HARMFUL_RUNS)
def test_a_harmful_fault_is_named(run: Path) -> None:
    """A rule that may rightly name the fault warns of it once it has begun, at most three times."""
    loud = [f for f in judged(run).findings if f.severity >= Severity.WARN]
    named = {f.rule for f in loud if row_reached(f, Severity.WARN) >= judged(run).onset}
    assert named & accepted_rules(meta(run))
    assert max(sum(f.rule == rule for f in loud) for rule in named) <= 3


MIN_FOUND = {
    "on-policy": 0.95, "value-based": 0.92, "off-policy": 0.92, "own script": 0.92,
    "language model": 0.88,
}  # fmt: skip
"""Family -> share of the visible harmful runs that are found."""

MAX_ALARMS = 0.08
"""Warnings a healthy run, in each family."""


def runs_of(family: str, kind: str) -> list[LabelledRun]:
    """The *tune* runs of a family that are of this kind."""
    metas = {run: meta(run) for run in TUNE_RUNS}
    wanted = (family, kind)
    return [judged(run) for run, m in metas.items() if (run_family(m), run_kind(m)) == wanted]


@pytest.mark.parametrize("family", sorted(MIN_FOUND))
def test_most_harmful_runs_of_a_family_are_found(family: str) -> None:
    """Those whose log shows it."""
    harmful = [run for run in runs_of(family, "harmful") if run.visible]
    assert sum(bool(run.found()) for run in harmful) >= MIN_FOUND[family] * len(harmful)


@pytest.mark.parametrize("family", sorted(MIN_FOUND))
def test_few_healthy_runs_of_a_family_are_warned_of(family: str) -> None:
    """At most eight warnings in a hundred runs."""
    healthy = runs_of(family, "healthy")
    alarms = sum(f.severity >= Severity.WARN for run in healthy for f in run.findings)
    assert alarms <= MAX_ALARMS * len(healthy)


@pytest.mark.parametrize("count", [1, 3])
def test_the_right_cause_is_stated(count: int) -> None:
    """First, and among the first three, in most harmful runs that are found."""
    runs = [judged(run) for run in TUNE_RUNS]
    found = [run for run in runs if run.kind == "harmful" and run.visible and run.found()]
    share = sum(run.cause_credit(count) for run in found) / len(found)
    assert share >= {1: 0.7, 3: 0.85}[count]


def test_every_fault_has_a_cause_and_rules() -> None:
    """A label is of use only if it is known what would be right."""
    faults = {meta(path.parent)["fault"] for path in CORPUS_RUNS.glob("*/meta.json")} - {"none"}
    assert faults <= CAUSE_BY_FAULT.keys()
    assert all(len(group) <= 3 for group in (*SAME_TRACE_FROM_START, *SAME_TRACE_MIDWAY))


def test_logs_hold_no_directories_of_the_machine_that_trained() -> None:
    """Nor its name."""
    logs = (path for path in CORPUS_RUNS.rglob("*") if path.is_file())
    private = re.compile(rb"/(root|tmp|home|work)/")
    assert [path.name for path in logs if private.search(path.read_bytes())] == []
