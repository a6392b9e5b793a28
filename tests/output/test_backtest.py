"""Backtesting: how often each rule fired on old runs, and how long before reward dropped."""

from __future__ import annotations

from ppo_top.model import Row
from ppo_top.output.backtest import (
    BacktestRun,
    backtest_lines,
    backtest_object,
    reward_fall_row,
    rule_tallies,
)
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.runs.rows.track import Track
from tests.rules.courses import fallen
from tests.support.drawn_runs import CTRL_COLUMNS, DrawnColumns, draw_rows, judged, profile


def run(name: str, columns: DrawnColumns) -> BacktestRun:
    """A made-up run, judged."""
    made = draw_rows({**CTRL_COLUMNS, **columns})
    return BacktestRun(name, judged(profile(), made).findings, reward_fall_row(timeline(made)))


def timeline(made: list[Row]) -> Timeline:
    """The timeline of rows."""
    line = Timeline()
    for row in made:
        line.steps.append(row.mark.step)
        line.times.append(row.mark.time)
        for concept, value in row.values.items():
            line.tracks.setdefault(concept, Track(concept, concept, "")).append(row.mark, value)
    return line


RUNS = [
    run("sick", {"approx_kl": lambda i: 0.4 if i > 34 else 0.01, "reward_mean": fallen}),
    run("loud", {"approx_kl": lambda i: 0.4 if i > 34 else 0.01}),
    run("well", {}),
]


def test_the_reward_drop_is_found() -> None:
    """At the row where a third of the gain is lost, not before."""
    assert [each.reward_fall_row for each in RUNS] == [42, None, None]


def test_each_rule_is_counted_with_its_runs_and_leads() -> None:
    """How often, where, how early, and the possible false alarms."""
    kl = next(tally for tally in rule_tallies(RUNS) if tally.rule == "kl-high")
    assert (kl.total, kl.runs, kl.lead_updates, kl.warned_without_fall) == (
        2,
        ["sick", "loud"],
        [5],
        1,
    )


def test_one_update_is_no_updates() -> None:
    """`1 update (1 run)`, `5 updates (1 run)`."""
    late = run("late", {"approx_kl": lambda i: 0.4 if i > 38 else 0.01, "reward_mean": fallen})
    told = "\n".join(backtest_lines([late]))
    assert " 1 update (1 run)" in told and "1 updates" not in told
    assert "5 updates (1 run)" in "\n".join(backtest_lines(RUNS))


def test_the_table_and_the_json_agree() -> None:
    """Both name the same rules, in the same order."""
    lines = list(backtest_lines(RUNS))
    entries = backtest_object(RUNS)["rules"]
    assert isinstance(entries, list)
    named = [line.split()[0] for line in lines[3 : lines.index("", 3)] if line[0] != " "]
    assert named == [entry["rule"] for entry in entries]
    assert lines[0] == "3 runs judged; reward dropped in 1"


def test_nothing_to_count_is_an_empty_table() -> None:
    """Without runs there is a heading, what it means, and no rule."""
    assert rule_tallies([]) == []
    assert [bool(line) for line in backtest_lines([])] == [True, False, True, False, True, True]
