"""The trained runs of tiny language models move like real ones: read from their logs."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from pathlib import Path
from statistics import mean, median

import pytest

from corpus.letters.tasks import ALPHABET, LETTER_SETUPS
from corpus.table import CORPUS_RUNS
from ppo_top import points

NAMES = {setup.name for setup in LETTER_SETUPS if setup.trainer != "dpo"}
HEALTHY_RUNS = [
    path.parent
    for path in sorted(CORPUS_RUNS.glob("*-healthy-s*/meta.json"))
    if json.loads(path.read_text("utf-8"))["config"] in NAMES
]
MAX_KL = 2.5
"""Nats a completion, as a median over the run."""


def values_of(run: Path) -> dict[str, list[float]]:
    """What its log holds, by tag."""
    values: dict[str, list[float]] = defaultdict(list)
    for point in points(run):
        values[point.tag.removeprefix("train/")].append(point.value)
    return values


@pytest.mark.parametrize("run", HEALTHY_RUNS, ids=lambda run: run.name)
def test_a_healthy_run_improves_near_its_reference(run: Path) -> None:
    """It ends its answers, starts well below chance's entropy, and reward rises."""
    values = values_of(run)
    reward, entropy = values["reward"], values["entropy"]
    assert mean(values["completions/clipped_ratio"]) < 0.05
    assert mean(entropy[:5]) < 0.5 * math.log(len(ALPHABET))
    assert mean(reward[-5:]) > mean(reward[:5])
    kl = map(math.prod, zip(values["kl"], values["completions/mean_length"], strict=False))
    assert not values["kl"] or 0.01 < median(kl) < MAX_KL
