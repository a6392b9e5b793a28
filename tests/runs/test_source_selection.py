"""Which source feeds which concept: chosen by content, not by the order of arrival."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path
from statistics import fmean

import pytest

from ppo_top.catalogue import TAG_PREFIX
from ppo_top.files.update import Source
from ppo_top.model import Axis, Series
from ppo_top.parsers import formats
from ppo_top.parsers.shared.columns import ColumnBuilder
from ppo_top.runs.rows.row_merge import RowMerger
from ppo_top.runs.source_selection import SourceSelection, select_sources
from ppo_top.runs.sources.source import SourceState

NAN = float("nan")
StepValues = Sequence[tuple[int, float]]


def source(
    key: str, format_name: str, tags: Mapping[str, StepValues], clock: bool = False
) -> SourceState:
    """A source of a real format that holds these points."""
    (format_,) = (each for each in formats() if each.name == format_name)
    state = SourceState(Source(key, Path("/runs") / key, Path("/runs"), format_))
    columns = ColumnBuilder()
    for tag, points in tags.items():
        for step, value in points:
            columns.add_point(tag, step, 1_700_000_000.0 + step if clock else NAN, value)
    for series in columns.pop_points():
        kept = state.series[series.tag] = Series(series.tag)
        kept.extend(series)
        state.facts.add_points(series, len(kept))
        state.points += len(series)
    return state


REWARD_POINTS: StepValues = [(2048, 20.0), (4096, 30.0), (6144, 40.0)]
LOSS_POINTS: StepValues = [(4096, 5.0), (6144, 4.0)]
EVENTS_SOURCE = source(
    "a/events.out.tfevents.1700000000.host.1.0",
    "tfevents",
    {
        "rollout/ep_rew_mean": REWARD_POINTS,
        "train/value_loss": LOSS_POINTS,
        "train/approx_kl": LOSS_POINTS,
    },
    clock=True,
)
CSV_SOURCE = source(
    "a/progress.csv",
    "sb3-csv",
    {
        "rollout/ep_rew_mean": REWARD_POINTS,
        "train/value_loss": LOSS_POINTS,
        "train/n_updates": LOSS_POINTS,
    },
)
CONSOLE_SOURCE = source(
    "a/stdout.log",
    "console",
    {
        "rollout/ep_rew_mean": REWARD_POINTS,
        "train/explained_variance_of_the_cr...": LOSS_POINTS,
        "my/own": REWARD_POINTS,
    },
)


def selected_sources(selection: SourceSelection) -> dict[str, str]:
    """concept -> the source that feeds it."""
    return {stream.concept: stream.source for stream in selection.streams}


def test_the_source_with_a_clock_and_full_precision_feeds_what_it_has() -> None:
    """The event file before the CSV before the console."""
    found = selected_sources(select_sources([CSV_SOURCE, CONSOLE_SOURCE, EVENTS_SOURCE], {}))
    assert found["reward_mean"] == EVENTS_SOURCE.key
    assert found["value_loss"] == EVENTS_SOURCE.key
    assert found["n_updates"] == CSV_SOURCE.key


@pytest.mark.parametrize(
    "order", list(permutations([EVENTS_SOURCE, CSV_SOURCE, CONSOLE_SOURCE])), ids=lambda _: ""
)
def test_the_choice_does_not_depend_on_the_order_of_arrival(order: Sequence[SourceState]) -> None:
    """Whichever file was found first."""
    assert selected_sources(select_sources(order, {})) == selected_sources(
        select_sources([EVENTS_SOURCE, CSV_SOURCE, CONSOLE_SOURCE], {})
    )


def test_a_tag_without_a_meaning_is_charted_as_itself() -> None:
    """Nothing that is logged is left out."""
    assert (
        selected_sources(select_sources([CONSOLE_SOURCE], {}))[f"{TAG_PREFIX}my/own"]
        == CONSOLE_SOURCE.key
    )


def test_users_can_name_the_concept_of_a_tag() -> None:
    """`"my/own" = "approx_kl"` in the settings."""
    assert (
        selected_sources(select_sources([CONSOLE_SOURCE], {"my/own": "approx_kl"}))["approx_kl"]
        == CONSOLE_SOURCE.key
    )


def test_a_key_that_was_cut_is_completed_where_one_other_key_fits() -> None:
    """SB3's table cuts keys at 36 characters; the CSV next to it has the full key."""
    table = source("a/log.txt", "console", {"train/a_very_long_name_of_a_metr...": LOSS_POINTS})
    csv = source("a/progress.csv", "sb3-csv", {"train/a_very_long_name_of_a_metric": LOSS_POINTS})
    assert set(selected_sources(select_sources([table, csv], {}))) == {
        f"{TAG_PREFIX}train/a_very_long_name_of_a_metric"
    }


def test_a_key_that_was_cut_stays_so_where_two_others_fit() -> None:
    """A guess would put one metric's values under another's name."""
    table = source("a/log.txt", "console", {"train/long...": LOSS_POINTS})
    csv = source(
        "a/progress.csv", "sb3-csv", {"train/longer": LOSS_POINTS, "train/longest": LOSS_POINTS}
    )
    assert f"{TAG_PREFIX}train/long..." in selected_sources(select_sources([table, csv], {}))


def test_the_files_of_a_resumed_run_are_one_source() -> None:
    """Event files of one folder follow each other in the order of their creation."""
    later = source(
        "a/events.out.tfevents.1700009999.host.2.0",
        "tfevents",
        {"rollout/ep_rew_mean": [(4096, 31.0), (6144, 41.0), (8192, 51.0)]},
        clock=True,
    )
    selection = select_sources([later, EVENTS_SOURCE], {})
    (stream,) = (stream for stream in selection.streams if stream.concept == "reward_mean")
    assert [list(part.steps) for part in stream.parts] == [[2048, 4096, 6144], [4096, 6144, 8192]]


def test_iterations_of_a_console_become_steps_of_the_event_file() -> None:
    """The reward that both log shows which iteration is which step."""
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
    selection = select_sources([EVENTS_SOURCE, console], {})
    rows = RowMerger(selection.streams, selection.clock_series)
    rows.refresh()
    seen = {}
    while (key := rows.next_key()) is not None:
        seen[key[1]] = rows.merge_row(key).values
    assert set(seen) == {2048, 4096, 6144}
    assert seen[2048]["n_episodes"] == 98.0
    assert seen[6144]["n_episodes"] == 4.0


def test_a_source_that_cannot_be_aligned_is_kept_but_not_judged() -> None:
    """Seconds of a machine monitor are not training steps."""
    other = source("a/other.csv", "csv", {"gpu": [(1_000_000, 1.0), (2_000_000, 2.0)]})
    assert f"{TAG_PREFIX}gpu" not in selected_sources(select_sources([EVENTS_SOURCE, other], {}))


def merged_steps(found: SourceSelection) -> dict[int, set[str]]:
    """The steps of all rows, and the metrics of each."""
    merger = RowMerger(found.streams, found.clock_series)
    merger.refresh()
    rows = {}
    while (key := merger.next_key()) is not None:
        rows[key[1]] = merger.merge_row(key).values.keys() & {"reward_mean", "eval_reward_mean"}
    return rows


def test_whatever_a_monitor_notes_of_an_episode_is_the_episodes() -> None:
    """Columns of info_keywords beside the trainer's own log do not turn episodes into updates."""
    episodes = [(step, 1.0) for step in range(100, 6200, 100)]
    tags = {"r": episodes, "l": episodes, "is_success": episodes, "apples": episodes}
    found = select_sources([CSV_SOURCE, source("a/0.monitor.csv", "sb3-monitor", tags)], {})
    assert {"success_rate", f"{TAG_PREFIX}apples"} <= selected_sources(found).keys()
    assert list(merged_steps(found)) == [2048, 4096, 6144]


def monitor(name: str, start: float = 0.0, episodes: int = 4) -> SourceState:
    """The monitor of one environment: episodes of 100 steps, which take 100 seconds each."""
    points = [(100 * number, 1.0) for number in range(1, episodes + 1)]
    made = source(f"a/{name}", "sb3-monitor", {"r": points, "l": points}, clock=True)
    made.facts.rows = episodes
    made.facts.start, made.facts.end = start + 100.0, start + 100.0 * episodes
    return made


EVALUATIONS = source(
    "a/evaluations.npz",
    "sb3-evaluations",
    {name: [(250, 1.0), (1000, 2.0)] for name in ("eval/mean_reward", "eval/std_reward")},
)


def test_environments_side_by_side_take_steps_at_once() -> None:
    """Each monitor counts those of its own environment; the training's are all of theirs."""
    names = [f"{number}.monitor.csv" for number in range(4)]
    found = select_sources([monitor(name) for name in names], {})
    assert list(merged_steps(found)) == [400, 800, 1200, 1600]
    assert found.first_step == 400


@pytest.mark.parametrize(("rows", "chosen"), [(9, "Average Reward"), (10, "Reward")])
def test_a_summary_in_the_last_line_is_no_course(rows: int, chosen: str) -> None:
    """`Average Reward` says more than `Reward` does where there is as much of it."""
    log = source(
        "a/rewards.txt",
        "console",
        {"Reward": [(step, 0.1 * step) for step in range(rows)], "Average Reward": [(rows, 0.5)]},
    )
    found = select_sources([log], {})
    assert [each.tag for each in found.streams if each.concept == "reward_mean"] == [chosen]
    assert found.is_current()
    log.series["Average Reward"].steps.extend((rows + 1, rows + 2))
    assert found.is_current() is (chosen == "Average Reward")


@pytest.mark.parametrize(("every", "chosen"), [(3, "avg_reward"), (4, "reward_mean")])
def test_a_mean_of_several_rows_is_no_course_beside_theirs(every: int, chosen: str) -> None:
    """A loop around RLlib prints the `avg_reward` of the last ten iterations at each tenth."""
    rows = [(step, 0.1 * step) for step in range(1, 25)]
    tags = {"reward_mean": rows, "avg_reward": rows[every - 1 :: every]}
    found = select_sources([source("a/train.log", "console", tags)], {})
    assert [each.tag for each in found.streams if each.concept == "reward_mean"] == [chosen]


SCORES = [12.0, 31.0, 18.0, 25.0, 44.0, 9.0, 27.0, 35.0]


@pytest.mark.parametrize(
    ("rows", "means", "chosen"),
    [
        (8, [fmean(SCORES[: at + 1]) for at in range(8)], "Score"),
        (8, [round(fmean(SCORES[: at + 1]), 1) for at in range(8)], "Score"),
        (4, [fmean(SCORES[: at + 1]) for at in range(4)], "Average Score"),
        (8, [fmean(SCORES[max(0, at - 2) : at + 1]) for at in range(8)], "Average Score"),
        (8, [fmean(SCORES[: at + 1]) + 1.0 for at in range(8)], "Average Score"),
        (8, [20.0 + at for at in range(8)], "Average Score"),
    ],
    ids=["all so far", "rounded", "too few to tell", "the last three", "of others", "a count"],
)
def test_episodes_come_before_their_moving_mean(rows: int, means: list[float], chosen: str) -> None:
    """`Score: 31.0, Average Score: 21.5`: a first episode by luck is no best mean."""
    tags = {"Score": list(enumerate(SCORES[:rows])), "Average Score": list(enumerate(means))}
    found = select_sources([source("a/train.log", "console", tags)], {})
    assert [each.tag for each in found.streams if each.concept == "reward_mean"] == [chosen]
    assert found.is_current()


@pytest.mark.parametrize(("every", "chosen"), [(1, "Score"), (10, "Average Score")])
def test_the_mean_in_every_tenth_row_is_not_of_the_scores_beside_it(
    every: int, chosen: str
) -> None:
    """They may agree as long as scores hardly differ."""
    means = [fmean(SCORES[: at + 1]) for at in range(8)]
    tags = {"Score": list(enumerate(SCORES)), "Average Score": list(enumerate(means))}
    tags["Episode"] = [(at, float(every * at)) for at in range(8)]
    found = select_sources([source("a/train.log", "console", tags)], {})
    assert [each.tag for each in found.streams if each.concept == "reward_mean"] == [chosen]


@pytest.mark.parametrize("whole", ["total reward", "Episode Reward", "cumulative_reward"])
def test_the_reward_of_an_episode_comes_before_that_of_its_steps(whole: str) -> None:
    """`step 3 reward 0.5` in each of ten steps, and `Episode 12 total reward: 5.5` below them."""
    rows = [(step, 0.1 * step) for step in range(1, 25)]
    tags = {"reward": rows, whole: rows[3::4]}
    found = select_sources([source("a/train.log", "console", tags)], {})
    assert [each.tag for each in found.streams if each.concept == "reward_mean"] == [whole]
    assert found.is_current()


def test_environments_one_after_the_other_take_their_own_steps() -> None:
    """Trainings in a row may be numbered, too."""
    found = select_sources([monitor("0.monitor.csv"), monitor("1.monitor.csv", start=500.0)], {})
    assert list(merged_steps(found)) == [100, 200, 300, 400]


def test_a_monitor_of_another_name_is_no_environment_beside() -> None:
    """Such as that of the evaluation."""
    found = select_sources([monitor("0.monitor.csv"), monitor("eval.monitor.csv")], {})
    assert list(merged_steps(found)) == [100, 200, 300, 400]


def test_a_monitor_of_far_fewer_steps_is_not_that_of_the_training() -> None:
    """Its episodes would all belong to the first update."""
    short = select_sources([CSV_SOURCE, monitor("0.monitor.csv")], {})
    assert "ep_len" not in selected_sources(short)
    long = select_sources([CSV_SOURCE, monitor("0.monitor.csv", episodes=60)], {})
    assert selected_sources(long)["ep_len"] == "a/0.monitor.csv"


def test_another_environment_that_is_found_later_changes_the_choice() -> None:
    """Its first episodes may still be read when the first choice is made."""
    late = monitor("1.monitor.csv", start=500.0)
    found = select_sources([monitor("0.monitor.csv"), late], {})
    assert found.is_current()
    late.facts.start = 100.0
    assert not found.is_current()


def test_episodes_are_rows_where_only_evaluations_stand_beside_them() -> None:
    """rl-baselines3-zoo leaves monitors and evaluations.npz: too few rows to judge by."""
    found = select_sources([monitor("0.monitor.csv"), monitor("1.monitor.csv"), EVALUATIONS], {})
    assert merged_steps(found) == {
        200: {"reward_mean"},
        250: {"eval_reward_mean"},
        400: {"reward_mean"},
        600: {"reward_mean"},
        800: {"reward_mean"},
        1000: {"eval_reward_mean"},
    }
    assert found.trainer.id == "sb3"


def test_of_few_metrics_those_with_a_step_define_the_steps() -> None:
    """A script may log its reward by a writer, and print it with steps that are rounded."""
    written = source("a/events.out.tfevents.1.host.1.0", "tfevents", {"ep_r": REWARD_POINTS})
    printed = source(
        "a/train.log", "console", {"score": [(1, 20.0), (2, 30.0)], "loss": [(1, 5.0), (2, 4.0)]}
    )
    printed.counts_updates = True
    found = select_sources([printed, written], {})
    assert selected_sources(found)["reward_mean"] == "a/events.out.tfevents.1.host.1.0"
    assert found.axis is Axis.STEP


def test_a_run_without_points_has_no_streams() -> None:
    """Nothing to judge is no error."""
    assert select_sources([], {}).streams == ()


def test_the_newest_checkpoint_has_the_whole_history() -> None:
    """Each checkpoint's state holds all records before it."""
    states = [
        source(
            f"a/checkpoint-{n}/trainer_state.json", "trainer-state", {"reward": REWARD_POINTS[:n]}
        )
        for n in (1, 2, 3)
    ]
    (stream,) = select_sources(states, {}).streams
    assert stream.source == "a/checkpoint-3/trainer_state.json"


def test_a_console_is_ahead_of_the_last_checkpoint() -> None:
    """What was logged since the last checkpoint is charted and judged as well."""
    state = source(
        "a/checkpoint-2/trainer_state.json", "trainer-state", {"reward": REWARD_POINTS[:2]}
    )
    console = source("a/stdout.log", "console", {"reward": REWARD_POINTS})
    (stream,) = select_sources([state, console], {}).streams
    assert stream.source == console.key


def test_a_reward_of_the_users_own_counts_where_there_is_no_other() -> None:
    """SB3 without a Monitor logs no return; a callback may, and SB3's own comes first."""
    own = {"custom/episode_reward_mean": REWARD_POINTS, "custom/eval_reward_mean": REWARD_POINTS}
    losses = {"train/value_loss": LOSS_POINTS, "train/approx_kl": LOSS_POINTS}

    def reward_tags(tags: Mapping[str, StepValues]) -> list[str]:
        streams = select_sources([source("a/events.tfevents.1", "tfevents", tags)], {}).streams
        return [stream.tag for stream in streams if stream.concept == "reward_mean"]

    assert reward_tags(losses | own) == ["custom/episode_reward_mean"]
    sb3 = {"rollout/ep_rew_mean": REWARD_POINTS}
    assert reward_tags(losses | own | sb3) == ["rollout/ep_rew_mean"]
    assert reward_tags(losses | {"custom/trades": REWARD_POINTS}) == []
