"""Whatever numbers a log holds, judging them raises nothing and is repeatable."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ppo_top.catalogue import concepts
from ppo_top.model import Mark, Profile, Row
from ppo_top.rules.judge import Judge
from tests.support.drawn_runs import HEALTHY_COLUMNS, TRAINER_BY_FAMILY, draw_rows, findings

CONCEPT_NAMES = [name.replace("{f}", "{x}") for name in concepts()]
EXTREMES = [0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, -1e300, 1e-9, 500.0, float("nan"), float("inf")]
VALUES = st.one_of(st.sampled_from(EXTREMES), st.floats(allow_nan=True, allow_infinity=True))
FAMILY_IDS = ("on-policy", "rlhf", "grpo", "unknown")


@settings(max_examples=60, deadline=None)
@given(
    family=st.sampled_from(FAMILY_IDS),
    columns=st.dictionaries(
        st.sampled_from(CONCEPT_NAMES), st.lists(VALUES, min_size=1, max_size=6)
    ),
    count=st.integers(1, 70),
)
@example("on-policy", {"grad_norm": [0.0, 0.0, 0.0, 1.0, 1e-9, 1e-9]}, 70)  # the usual one is 0
def test_any_columns_can_be_judged(
    family: str, columns: dict[str, list[float]], count: int
) -> None:
    """Columns of any concepts and any numbers, over and over."""
    judge = Judge(Profile("sb3", family))
    for number in range(count):
        values = {name: column[number % len(column)] for name, column in columns.items()}
        judge.add_row(Row(Mark(number, number, float(number)), values))
    assert all(finding.message for finding in judge.findings)


@pytest.mark.parametrize("family", FAMILY_IDS)
@pytest.mark.parametrize("seed", range(12))
def test_a_run_hit_by_extremes_can_be_judged(family: str, seed: int) -> None:
    """A healthy run in which cells are lost, repeated, or replaced by extreme numbers."""
    chance = random.Random(seed)
    base = HEALTHY_COLUMNS.get(family, HEALTHY_COLUMNS["on-policy"])
    made = []
    for row in draw_rows(base, 120):
        values = dict(row.values)
        for name in list(values):
            if chance.random() < 0.1:
                values[name] = chance.choice(EXTREMES)
            elif chance.random() < 0.05:
                del values[name]
        made.append(Row(row.mark, values))
    about = Profile(TRAINER_BY_FAMILY.get(family, "unknown"), family)
    assert repr(findings(about, made)) == repr(findings(about, made))
