"""No log holds all metrics: what is missing, late or logged now and then stops no rule."""

from __future__ import annotations

import pytest

from ppo_top.model import Row
from ppo_top.rules.judge import Judge
from tests.rules.specification import RuleCase, rule_cases
from tests.support.drawn_runs import HEALTHY_COLUMNS, DrawnColumns, draw_rows, judged

CASES = rule_cases()
ROWS = 45
"""Enough for every rule but the few that wait longest."""


def columns_of(case: RuleCase) -> DrawnColumns:
    """The healthy columns of a case's family with the sick ones among them."""
    return {**HEALTHY_COLUMNS[case.family], **case.sick}


def can_be_judged(case: RuleCase, rows: list[Row]) -> None:
    """No rule fails (see `conftest.py`), and every finding says something."""
    judge = judged(case.profile, rows)
    judge.end_run()
    assert all(finding.message for finding in judge.findings)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_nothing_else_is_logged(case: RuleCase) -> None:
    """Neither a reward nor any other metric that the rule looks at."""
    can_be_judged(case, draw_rows(case.sick, ROWS))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_row_holds_every_other_metric(case: RuleCase) -> None:
    """Losses in one row, rewards in the next, as evaluations and rollouts alternate."""
    rows = [
        Row(row.mark, {name: row.values[name] for name in list(row.values)[row.mark.row % 2 :: 2]})
        for row in draw_rows(columns_of(case), ROWS)
    ]
    can_be_judged(case, rows)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_other_metrics_come_later(case: RuleCase) -> None:
    """A buffer is filled first, or no episode has ended yet."""
    rows = draw_rows(columns_of(case), ROWS)
    for row in rows[:10]:
        rows[row.mark.row] = Row(
            row.mark, {name: x for name, x in row.values.items() if name in case.sick}
        )
    can_be_judged(case, rows)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_only_the_reward_is_logged_once_it_is_resumed(case: RuleCase) -> None:
    """What is open ends with the part before, and nothing that it rests on is left."""
    rows, judge = draw_rows(columns_of(case), ROWS), Judge(case.profile)
    for row in rows[:-5]:
        judge.add_row(row)
    judge.restart()
    for row in rows[-5:]:
        judge.add_row(Row(row.mark, {"reward_mean": 0.0}))
    judge.end_run()
    assert all(finding.cleared for finding in judge.findings if finding.opened.row < ROWS - 5)
