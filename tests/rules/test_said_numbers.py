"""The numbers in a message are those that were compared, and lie as it says."""

from __future__ import annotations

import re

import pytest

from ppo_top.rules.judge import Judge
from tests.rules.courses import steady_gain
from tests.support.drawn_runs import HEALTHY_COLUMNS, draw_rows, findings, profile


def numbers_said(message: str) -> list[float]:
    """The numbers of `1,234 -> 1,300` in a message."""
    said = re.search(r"(\S+) -> ([^\s,;)]+)", message)
    assert said is not None, message
    return [float(each.strip("(").replace(",", "")) for each in said.groups()]


@pytest.mark.parametrize(
    ("steps", "said"),
    [(60_000, "): train longer"), (120_000, " 50 % of the planned steps: res")],
)
def test_a_run_that_stopped_half_way_is_to_be_resumed(steps: int, said: str) -> None:
    """It needs no more steps than were planned."""
    columns = {**HEALTHY_COLUMNS["on-policy"], "reward_mean": steady_gain}
    judge = Judge(profile(total_timesteps=steps))
    for row in draw_rows(columns, 60):
        judge.add_row(row)
    judge.end_run()
    assert [said in f.message for f in judge.findings if f.rule == "still-improving"] == [True]


@pytest.mark.parametrize("last", [-40.0, 0.0, 40.0])
def test_a_reward_that_still_rises_is_told_by_numbers_that_rise(last: float) -> None:
    """A single high point at the beginning and a single low one at the end hide the rise."""
    columns = {
        **HEALTHY_COLUMNS["on-policy"],
        "reward_mean": lambda i: steady_gain(i) + {45: -last, 59: last}.get(i, 0.0),
    }
    found = findings(profile(total_timesteps=63_000), draw_rows(columns, 60))
    messages = [each.message for each in found if each.rule == "still-improving"]
    assert messages
    for message in messages:
        early, late = numbers_said(message)
        assert late > early + 30.0, message
