"""Rows are judged as they come, with the same outcome as all of them at once."""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from ppo_top.files.update import Source
from ppo_top.model import Mark, Points, Row, Series
from ppo_top.parsers.base import Format
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.judge import Judge
from ppo_top.runs.ongoing_evaluation import MAX_UNSEALED_ROWS, OngoingEvaluation
from ppo_top.runs.sources.source import SourceState
from ppo_top.settings import Settings

UPDATES = 36


class LoggedValue(NamedTuple):
    """A value as a trainer writes it; `log` is the number of the file."""

    log: int
    tag: str
    step: int
    value: float


def empty_logs() -> list[SourceState]:
    """An event file, a CSV and a log of episodes without any point."""
    formats = {
        "events.out.tfevents.1.host.1.0": "tfevents",
        "progress.csv": "sb3-csv",
        "monitor.csv": "sb3-monitor",
    }
    logs = []
    for name, kind in formats.items():
        form = Format(kind, lambda name, head: None)
        logs.append(SourceState(Source(name, Path("/r") / name, Path("/r"), form)))
    return logs


def add(logs: list[SourceState], values: Iterable[LoggedValue]) -> None:
    """Append values to the logs."""
    for log, tag, step, value in values:
        state = logs[log]
        series = state.series.setdefault(tag, Series(tag))
        columns = array("q", [step]), array("d", [1e9 + step]), array("d", [value])
        series.extend(Points(tag, *columns))
        state.points += 1


def evaluated(
    logs: list[SourceState], earlier: OngoingEvaluation | None = None
) -> OngoingEvaluation:
    """The evaluation of everything in the logs, which goes on from an earlier one if it can."""
    tags = sum(len(log.series) for log in logs)
    known = len(earlier.timeline.tracks) if earlier is not None else 0
    if earlier is None or tags > known or not earlier.refresh():
        earlier = OngoingEvaluation(logs, Settings())
    assert earlier.advance(math.inf)
    return earlier


def outcome(evaluation: OngoingEvaluation) -> object:
    """Rows, values and findings, as text: NaN equals NaN."""
    tracks = {
        name: (list(track.rows), list(track.values))
        for name, track in evaluation.timeline.tracks.items()
    }
    found = [(each.rule, each.since, each.changes, each.cleared) for each in evaluation.findings]
    return repr((list(evaluation.timeline.steps), sorted(tracks.items()), found))


def drawn_values(draw: random.Random) -> list[LoggedValue]:
    """A run that breaks down, in two logs of which one lags; some values are logged twice."""
    behind = draw.randrange(4)
    sent = []
    for number in range(UPDATES):
        step, broken = 2048 * (number + 1), number > UPDATES // 2
        row = [
            LoggedValue(0, "rollout/ep_rew_mean", step, 20.0 + (-number if broken else number)),
            LoggedValue(0, "train/approx_kl", step, 0.3 if broken else 0.01),
            LoggedValue(1, "train/value_loss", step, math.nan if draw.random() < 0.03 else 5.0),
        ]
        if draw.random() < 0.2:
            row.append(row[1]._replace(value=0.02))
        sent += [(number + behind * each.log, place, each) for place, each in enumerate(row)]
    return [each for *_, each in sorted(sent, key=lambda each: each[:2])]


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_come_bit_by_bit_are_judged_as_all_at_once(seed: int) -> None:
    """A row that grows after it was judged, a log that lags, values logged twice, NaN."""
    draw = random.Random(seed)
    values = drawn_values(draw)
    growing, live, at = empty_logs(), None, 0
    while at < len(values):
        until = at + draw.choice((1, 1, 2, 3, 4, 9))
        add(growing, values[at:until])
        live, at = evaluated(growing, live), until
        sealed = live.sealed_rows
        assert evaluated(growing, live).sealed_rows == sealed  # nothing has passed more rows
        known = empty_logs()
        add(known, values[:until])
        assert outcome(live) == outcome(evaluated(known))
    assert live is not None
    assert any(each.rule == "kl-high" for each in live.findings)


def test_a_row_that_was_complete_when_it_came_is_judged_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The next one, which shows that it is complete, does not have it judged again."""
    judged: list[int] = []
    add_row, add_block = Judge.add_row, Judge.add_block

    def note_row(judge: Judge, row: Row) -> None:
        judged.append(row.mark.row)
        add_row(judge, row)

    def note_block(judge: Judge, block: RowBlock) -> None:
        marks: list[Mark] = list(block.marks())
        judged.extend(mark.row for mark in marks)
        add_block(judge, block)

    monkeypatch.setattr(Judge, "add_row", note_row)
    monkeypatch.setattr(Judge, "add_block", note_block)
    logs, live = empty_logs(), None
    for number in range(UPDATES):
        tags = ("rollout/ep_rew_mean", "train/approx_kl")
        add(logs, [LoggedValue(0, tag, 2048 * (number + 1), 0.01 * number) for tag in tags])
        live = evaluated(logs, live)
    assert judged == list(range(UPDATES))


def test_a_source_that_stopped_is_waited_for_no_longer() -> None:
    """Once many rows wait; each of them stands once."""
    logs, both, more = empty_logs(), 100, MAX_UNSEALED_ROWS + 9
    steps = [2048 * (number + 1) for number in range(both + more)]
    add(logs, [LoggedValue(0, "rollout/ep_rew_mean", step, 1.0) for step in steps[:both]])
    add(logs, [LoggedValue(1, "train/value_loss", step, 1.0) for step in steps[:both]])
    live, sealed = evaluated(logs), []
    for number in range(both, both + more):
        add(logs, [LoggedValue(0, "rollout/ep_rew_mean", steps[number], 1.0)])
        assert evaluated(logs, live) is live
        assert list(live.timeline.steps) == steps[: number + 1]
        sealed.append(live.sealed_rows)
    assert sealed[MAX_UNSEALED_ROWS - 2] == both - 1  # one less waits than may
    assert sealed[-1] == both + more - 1


def test_what_was_said_at_an_end_is_taken_back_if_more_comes() -> None:
    """A run without a gain looked as if it were over, and goes on."""
    logs = empty_logs()
    rewards = [-150 + (row * 37 % 11 - 5) / 10 for row in range(63)]
    values = [
        LoggedValue(0, "rollout/ep_rew_mean", 2048 * (n + 1), v) for n, v in enumerate(rewards)
    ]
    add(logs, values[:60])
    live = evaluated(logs)
    live.is_over = True
    assert live.advance(math.inf)
    assert outcome(live) != outcome(evaluated(logs))
    live.is_over = False
    for value in values[60:]:
        add(logs, [value])
        assert outcome(evaluated(logs, live)) == outcome(evaluated(logs))


def test_episodes_that_come_late_count_for_the_row_in_which_they_ended() -> None:
    """Though it was judged without them, and the next row came along with them."""
    logs, live = empty_logs(), None
    for number in range(1, 6):
        step = 2048 * number
        add(logs, [LoggedValue(0, "train/approx_kl", step, 0.01)])
        add(logs, [LoggedValue(2, "r", step - 900, 10.0 * number + 1)])
        live = evaluated(logs, live)
        assert outcome(live) == outcome(evaluated(logs))
        add(logs, [LoggedValue(2, "r", step - 400, 10.0 * number + 2)])
    live = evaluated(logs, live)
    assert list(live.timeline.tracks["reward_mean"].values) == [11.5, 21.5, 31.5, 41.5, 51.5]


@pytest.mark.parametrize("each", [1500, 3300, 60_000], ids=lambda steps: f"every_{steps}_steps")
def test_updates_with_and_without_episodes_are_judged_as_one_by_one(each: int) -> None:
    """A backlog in which episodes end at each update, at most of them, now and then."""
    values = [LoggedValue(0, "train/approx_kl", 2048 * n, 0.01) for n in range(1, 400)]
    for step in range(each, 2048 * 400, each):
        risen = 100.0 * step / 500_000
        values.append(LoggedValue(2, "r", step, risen if step < 500_000 else 1.0))
        values.append(LoggedValue(2, "apples", step, 1.0))
    values.sort(key=lambda value: value.step)
    logs, live, whole = empty_logs(), None, empty_logs()
    for value in values:
        add(logs, [value])
        if value.log == 0:
            live = evaluated(logs, live)
    add(whole, values)
    at_once = evaluated(whole)
    assert len(at_once.timeline) == 399
    assert outcome(evaluated(logs, live)) == outcome(at_once)


@pytest.mark.parametrize(("first", "setting"), [(3e-4, 3e-4), (0.0, None)])
def test_the_first_logged_learning_rate_is_the_initial_one_unless_it_is_0(
    first: float, setting: float | None
) -> None:
    """A schedule that warms up starts at 0, and a console rounds to it: no one has set that."""
    logs = empty_logs()
    rates = [first, 3e-4, 3e-4]
    add(logs, [LoggedValue(0, "train/learning_rate", 10 * i, x) for i, x in enumerate(rates)])
    assert evaluated(logs).config.get("learning_rate") == setting


def test_settings_tell_the_algorithm_and_the_length_that_only_one_file_has() -> None:
    """rl-baselines3-zoo: `algo: dqn` and `n_timesteps: -1` in `args.yml`, the rest elsewhere."""
    logs = empty_logs()
    add(logs, [LoggedValue(2, tag, 100 * row, 1.0) for row in range(1, 4) for tag in ("r", "l")])
    logs[0].config.update({"algo": "dqn", "n_timesteps": -1})
    logs[1].config.update({"n_timesteps": 5000.0})
    found = evaluated(logs)
    assert found.trainer.algo == "DQN"
    assert found.profile.family == "value-based"
    assert found.config["total_timesteps"] == 5000.0
