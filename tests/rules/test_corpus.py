"""The labelled runs on which thresholds were set keep their verdict."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.diagnosis import row_reached
from corpus.accepted_rules import accepted_rules
from corpus.table import CORPUS_RUNS, run_kind
from ppo_top.model import Finding, Severity
from ppo_top.runs.load import load_session
from ppo_top.settings import Settings


@cache
def meta(run: Path) -> dict[str, Any]:
    """A run's label."""
    found: dict[str, Any] = json.loads((run / "meta.json").read_text(encoding="utf-8"))
    return found


def findings(run: Path) -> list[Finding]:
    """What is found in a run, read as a user's own run would be."""
    session = load_session([run], Settings(), io.StringIO())
    assert session is not None
    return max(session.runs.values(), key=lambda each: len(each.timeline)).findings


TUNE_RUNS = [
    path.parent
    for path in sorted(CORPUS_RUNS.glob("*/meta.json"))
    if meta(path.parent)["split"] == "tune"
]
HEALTHY_RUNS = [run for run in TUNE_RUNS if run_kind(meta(run)) == "healthy"]
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
    for run in TUNE_RUNS
    if run_kind(meta(run)) == "harmful"
]


FALLEN_RUNS = {
    "cartpole-a2c-healthy-s3": "nothing was done wrong, but it fell from 413 to 73 and ends at 106",
}
"""Runs without a fault whose reward really fell."""


@pytest.mark.parametrize(
    "run", [run for run in HEALTHY_RUNS if run.name not in FALLEN_RUNS], ids=lambda run: run.name
)
def test_a_healthy_run_is_not_warned_of(run: Path) -> None:
    """Nothing is worse than something to watch."""
    assert [f.rule for f in findings(run) if f.severity >= Severity.WARN] == []


@pytest.mark.parametrize("run", HARMFUL_RUNS)
def test_a_harmful_fault_is_named(run: Path) -> None:
    """A rule that may rightly name the fault warns of it once it has begun, at most three times."""
    onset = meta(run)["onset_update"] // max(1, meta(run)["log_interval"])
    loud = [f for f in findings(run) if f.severity >= Severity.WARN]
    named = {f.rule for f in loud if row_reached(f, Severity.WARN) >= onset}
    assert named & accepted_rules(meta(run))
    assert max(sum(f.rule == rule for f in loud) for rule in named) <= 3
