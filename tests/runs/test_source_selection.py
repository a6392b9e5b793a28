"""Which source feeds which concept: chosen by what the sources hold, not by when they came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path

import pytest

from ppo_top.catalogue import TAG
from ppo_top.files.update import Source
from ppo_top.model import Columns, Series
from ppo_top.parsers import formats
from ppo_top.runs.row_merge import Rows
from ppo_top.runs.source import SourceState
from ppo_top.runs.source_selection import Plan, make_plan

NAN = float("nan")
Points = Sequence[tuple[int, float]]


def source(
    key: str, format_name: str, tags: Mapping[str, Points], clock: bool = False
) -> SourceState:
    """A source of a real format that holds these points."""
    (format_,) = (each for each in formats() if each.name == format_name)
    state = SourceState(Source(key, Path("/runs") / key, Path("/runs"), format_))
    columns = Columns()
    for tag, points in tags.items():
        for step, value in points:
            columns.add(tag, step, 1_700_000_000.0 + step if clock else NAN, value)
    for series in columns.take():
        kept = state.series[series.tag] = Series(series.tag)
        kept.extend(series)
        state.points += len(series)
    return state


REWARD: Points = [(2048, 20.0), (4096, 30.0), (6144, 40.0)]
LOSS: Points = [(4096, 5.0), (6144, 4.0)]
EVENTS = source(
    "a/events.out.tfevents.1700000000.host.1.0",
    "tfevents",
    {"rollout/ep_rew_mean": REWARD, "train/value_loss": LOSS, "train/approx_kl": LOSS},
    clock=True,
)
CSV = source(
    "a/progress.csv",
    "sb3-csv",
    {"rollout/ep_rew_mean": REWARD, "train/value_loss": LOSS, "train/n_updates": LOSS},
)
CONSOLE = source(
    "a/stdout.log",
    "console",
    {
        "rollout/ep_rew_mean": REWARD,
        "train/explained_variance_of_the_cr...": LOSS,
        "my/own": REWARD,
    },
)


def fed(plan: Plan) -> dict[str, str]:
    """concept -> the source that feeds it."""
    return {lane.concept: lane.source for lane in plan.lanes}


def test_the_source_with_a_clock_and_full_precision_feeds_what_it_has() -> None:
    """The event file before the CSV before the console."""
    found = fed(make_plan([CSV, CONSOLE, EVENTS], {}))
    assert found["reward_mean"] == EVENTS.key
    assert found["value_loss"] == EVENTS.key
    assert found["n_updates"] == CSV.key


@pytest.mark.parametrize("order", list(permutations([EVENTS, CSV, CONSOLE])), ids=lambda _: "")
def test_the_choice_does_not_depend_on_the_order_of_arrival(order: Sequence[SourceState]) -> None:
    """Whichever file was found first."""
    assert fed(make_plan(order, {})) == fed(make_plan([EVENTS, CSV, CONSOLE], {}))


def test_a_tag_without_a_meaning_is_charted_as_itself() -> None:
    """Nothing that is logged is left out."""
    assert fed(make_plan([CONSOLE], {}))[f"{TAG}my/own"] == CONSOLE.key


def test_a_user_says_what_his_tag_means() -> None:
    """`"my/own" = "approx_kl"` in the settings."""
    assert fed(make_plan([CONSOLE], {"my/own": "approx_kl"}))["approx_kl"] == CONSOLE.key


def test_a_key_that_was_cut_is_completed_where_one_other_key_fits() -> None:
    """SB3's table cuts keys at 36 characters; the CSV beside it tells the whole key."""
    table = source("a/log.txt", "console", {"train/a_very_long_name_of_a_metr...": LOSS})
    csv = source("a/progress.csv", "sb3-csv", {"train/a_very_long_name_of_a_metric": LOSS})
    assert set(fed(make_plan([table, csv], {}))) == {f"{TAG}train/a_very_long_name_of_a_metric"}


def test_a_key_that_was_cut_stays_so_where_two_others_fit() -> None:
    """A guess would put one metric's values under another's name."""
    table = source("a/log.txt", "console", {"train/long...": LOSS})
    csv = source("a/progress.csv", "sb3-csv", {"train/longer": LOSS, "train/longest": LOSS})
    assert f"{TAG}train/long..." in fed(make_plan([table, csv], {}))


def test_the_files_of_a_resumed_run_are_one_source() -> None:
    """Event files of one folder follow each other in the order of their creation."""
    later = source(
        "a/events.out.tfevents.1700009999.host.2.0",
        "tfevents",
        {"rollout/ep_rew_mean": [(4096, 31.0), (6144, 41.0), (8192, 51.0)]},
        clock=True,
    )
    plan = make_plan([later, EVENTS], {})
    (lane,) = (lane for lane in plan.lanes if lane.concept == "reward_mean")
    assert [list(part.steps) for part in lane.parts] == [[2048, 4096, 6144], [4096, 6144, 8192]]


def test_a_console_that_counts_iterations_is_brought_to_the_axis_of_the_event_file() -> None:
    """The reward that both hold tells which iteration is which step."""
    console = source(
        "a/train.log",
        "console",
        {
            "Mean Reward": [(1, 20.0), (2, 30.0), (3, 40.0)],
            "KL": [(1, 0.1), (2, 0.1), (3, 0.1)],
            "Episodes": [(1, 98.0), (3, 4.0)],
            "eval/mean_reward": [(3, 99.0)],
        },
    )
    plan = make_plan([EVENTS, console], {})
    rows = Rows(plan.lanes, plan.clock)
    rows.refresh()
    seen = {}
    while (key := rows.next_key()) is not None:
        seen[key[1]] = rows.take(key).values
    assert set(seen) == {2048, 4096, 6144}
    assert seen[2048]["n_episodes"] == 98.0
    assert seen[6144]["n_episodes"] == 4.0


def test_a_source_that_cannot_be_aligned_is_kept_but_not_judged() -> None:
    """Seconds of a machine monitor are no steps of the training."""
    other = source("a/other.csv", "csv", {"gpu": [(1_000_000, 1.0), (2_000_000, 2.0)]})
    assert f"{TAG}gpu" not in fed(make_plan([EVENTS, other], {}))


def test_a_run_without_points_has_no_lanes() -> None:
    """Nothing to judge is no error."""
    assert make_plan([], {}).lanes == ()


def test_of_several_checkpoints_the_newest_tells_the_whole_history() -> None:
    """Each checkpoint's state holds all records before it."""
    states = [
        source(f"a/checkpoint-{n}/trainer_state.json", "trainer-state", {"reward": REWARD[:n]})
        for n in (1, 2, 3)
    ]
    (lane,) = make_plan(states, {}).lanes
    assert lane.source == "a/checkpoint-3/trainer_state.json"


def test_a_console_is_ahead_of_the_last_checkpoint() -> None:
    """What was logged since the last checkpoint is charted and judged as well."""
    state = source("a/checkpoint-2/trainer_state.json", "trainer-state", {"reward": REWARD[:2]})
    console = source("a/stdout.log", "console", {"reward": REWARD})
    (lane,) = make_plan([state, console], {}).lanes
    assert lane.source == console.key
