"""Tables of Stable-Baselines3, Spinning Up and the old baselines on a console."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import feed_parser, parse_every_way

DEMOS = Path(__file__).parents[3] / "demo_logs"

FIRST = b"""\
---------------------------------
| rollout/           |          |
|    ep_len_mean     | 21.4     |
|    ep_rew_mean     | 21.4     |
| time/              |          |
|    fps             | 3034     |
|    iterations      | 1        |
|    time_elapsed    | 0        |
|    total_timesteps | 2048     |
---------------------------------
"""
SECOND = b"""\
-----------------------------------------
| rollout/                |             |
|    ep_rew_mean          | 26.9        |
| time/                   |             |
|    total_timesteps      | 4096        |
| train/                  |             |
|    approx_kl            | 0.009328426 |
|    explained_variance   | nan         |
|    learning_rate        | 0.0003      |
|    loss                 | -1.3e+03    |
|    value_loss           | inf         |
-----------------------------------------
"""


def test_members_get_the_prefix_of_their_group() -> None:
    """A group is a row of its own; the rows indented below it belong to it."""
    read = parse_every_way(ConsoleParser, FIRST)
    assert set(read.points) == {
        "rollout/ep_len_mean",
        "rollout/ep_rew_mean",
        "time/fps",
        "time/iterations",
        "time/time_elapsed",
        "time/total_timesteps",
    }


def test_the_step_is_the_tables_own_number_of_timesteps() -> None:
    """All rows of a table stand at its time/total_timesteps, those above that row too."""
    read = parse_every_way(ConsoleParser, FIRST + SECOND)
    assert read.steps("rollout/ep_rew_mean") == [2048, 4096]
    assert read.values("rollout/ep_rew_mean") == [21.4, 26.9]
    assert read.steps("train/approx_kl") == [4096]


def test_odd_numbers_are_kept() -> None:
    """NaN, infinity and scientific notation are values like any other."""
    read = parse_every_way(ConsoleParser, SECOND)
    assert repr(read.values("train/explained_variance")) == "[nan]"
    assert read.values("train/value_loss") == [float("inf")]
    assert read.values("train/loss") == [-1300.0]


def test_a_table_between_other_lines_is_read() -> None:
    """Warnings before, after and even in the middle of a table change nothing."""
    noise = b"UserWarning: something is deprecated\n"
    half = SECOND.index(b"| train/")
    data = noise + FIRST + noise + SECOND[:half] + noise + SECOND[half:] + noise
    assert (
        parse_every_way(ConsoleParser, data).points
        == parse_every_way(ConsoleParser, FIRST + SECOND).points
    )


def test_known_layouts_give_what_unknown_ones_give() -> None:
    """The quick way through tables met before agrees with the careful one, line for line."""
    many = (FIRST + SECOND) * 20
    quick = feed_parser(ConsoleParser(), [many])
    careful = feed_parser(ConsoleParser(), [many[at : at + 50] for at in range(0, len(many), 50)])
    assert quick.points == careful.points
    assert quick.lines == careful.lines
    assert len(quick.steps("train/loss")) == 20


def test_cut_keys_stay_cut() -> None:
    """Keys of more than 36 characters end in three dots; whole names are another file's to tell."""
    data = SECOND.replace(b"|    approx_kl            ", b"|    a_very_long_name_that_is_cut...  ")
    assert "train/a_very_long_name_that_is_cut..." in parse_every_way(ConsoleParser, data).points


def test_a_row_without_a_group_has_a_bare_name() -> None:
    """Keys without a slash are printed without indentation."""
    data = FIRST.replace(b"| rollout/           |          |", b"| my_value           | 7        |")
    assert parse_every_way(ConsoleParser, data).values("my_value") == [7.0]


def test_words_in_a_table_give_no_point() -> None:
    """A string value is skipped, the numbers next to it are not."""
    data = FIRST.replace(b"| 3034     |", b"| fast     |")
    read = parse_every_way(ConsoleParser, data)
    assert "time/fps" not in read.points
    assert read.values("time/iterations") == [1.0]


def test_a_table_without_timesteps_is_placed_by_its_iterations() -> None:
    """Other numbers stand in for the timesteps: iterations, then the count of tables."""
    data = FIRST.replace(b"|    total_timesteps | 2048     |\n", b"")
    assert parse_every_way(ConsoleParser, data).steps("time/fps") == [1]
    bare = data.replace(b"|    iterations      | 1        |\n", b"")
    assert parse_every_way(ConsoleParser, bare + bare).steps("time/fps") == [1, 2]


def test_a_table_cut_off_before_its_step_is_not_given() -> None:
    """At the end of a log half a table counts only when its step is known."""
    before = FIRST[: FIRST.index(b"|    total")]
    assert parse_every_way(ConsoleParser, before).points == {}
    after = FIRST[: FIRST.rindex(b"----------")][: FIRST.rindex(b"|\n") + 2]
    assert parse_every_way(ConsoleParser, after).steps("time/fps") == [2048]


def test_spinning_up_tables() -> None:
    """Right-aligned keys without groups; the step is TotalEnvInteracts."""
    data = b"""\
---------------------------------------
|             Epoch |               3 |
|      AverageEpRet |            21.6 |
|  TotalEnvInteracts |            4000 |
|                KL |         0.00123 |
---------------------------------------
"""
    read = parse_every_way(ConsoleParser, data)
    assert read.values_by_step()["AverageEpRet"] == [(4000, 21.6)]
    assert read.values_by_step()["KL"] == [(4000, 0.00123)]


def test_old_baselines_tables() -> None:
    """baselines' ppo2 names its step misc/total_timesteps."""
    data = b"""\
-------------------------------------------
| eplenmean               | 21            |
| eprewmean               | 21.3          |
| loss/approxkl           | 0.0012        |
| misc/total_timesteps    | 8192          |
-------------------------------------------
"""
    assert parse_every_way(ConsoleParser, data).values_by_step()["eprewmean"] == [(8192, 21.3)]


@pytest.mark.parametrize(
    "step",
    ["TimestepsSoFar", "total timesteps", "total/steps", "steps", "frame", "misc/total_timesteps"],
)
def test_old_baselines_name_the_step_in_many_ways(step: str) -> None:
    """PPO1 and TRPO, SAC and TD3, DDPG, DQN, PPO2: each its own; SB3 before 1.0 in a section."""
    rule = b"-" * 40 + b"\n"
    row = f"| {step:20} | {8192:8} |\n".encode()
    read = parse_every_way(ConsoleParser, rule + b"| mean reward | 21.5 |\n" + row + rule)
    assert read.values_by_step()["mean reward"] == [(8192, 21.5)]
    old_sb3 = b"| time/ | |\n|    total timesteps | 8192 |\n| train/ | |\n|    actor_loss | 2.5 |\n"
    read = parse_every_way(ConsoleParser, rule + old_sb3 + rule)
    assert read.values_by_step()["train/actor_loss"] == [(8192, 2.5)]


BOXES = {
    "rich": (
        "┏━━━━━━━━┳━━━━━━━━┓\n┃ Metric ┃ Value  ┃\n┡━━━━━━━━╇━━━━━━━━┩\n",
        "│ {:6} │ {:6} │\n",
        "└────────┴────────┘\n",
    ),
    "prettytable": (
        "+--------+--------+\n| Metric |  Value |\n+--------+--------+\n",
        "| {:6} | {:6} |\n",
        "+--------+--------+\n",
    ),
    "without a header": ("╭────────────────╮\n", "│ {:6} │ {:6} │\n", "╰────────────────╯\n"),
}


@pytest.mark.parametrize("style", BOXES)
def test_boxes_of_scripts(style: str) -> None:
    """A table an update, drawn by a library; the step is one of its rows."""
    top, row, bottom = BOXES[style]
    tables = (
        top + row.format("step", 100 * n) + row.format("reward", n / 4) + bottom for n in (1, 2)
    )
    read = parse_every_way(ConsoleParser, "done\n".join(tables).encode())
    assert read.values_by_step()["reward"] == [(100, 0.25), (200, 0.5)]


def test_a_table_of_another_kind_is_prose() -> None:
    """Without rules around it, or with more columns, a table is no record."""
    assert (
        parse_every_way(ConsoleParser, b"| Metric | Value |\n|---|---|\n| acc | 0.5 |\n").points
        == {}
    )
    wide = b"------------------\n| a | 1 | 2 |\n------------------\n"
    assert parse_every_way(ConsoleParser, wide).points == {}


@pytest.mark.parametrize("name", ["log.txt", "stdout.log"])
@pytest.mark.parametrize("demo", ["sb3_cartpole", "sb3_cartpole_lr3e-2"])
def test_tables_agree_with_the_csv_of_the_same_run(demo: str, name: str) -> None:
    """Every cell of progress.csv is in the tables at its step, rounded as SB3 rounds."""
    read = feed_parser(ConsoleParser(), [(DEMOS / demo / name).read_bytes()])
    with (DEMOS / demo / "progress.csv").open() as file:
        rows = list(csv.DictReader(file))
    for tag in rows[0]:
        cells = [(int(row["time/total_timesteps"]), row[tag]) for row in rows if row[tag]]
        points = read.values_by_step()[tag]
        assert [step for step, _ in points] == [step for step, _ in cells]
        for (_, seen), (_, written) in zip(points, cells, strict=True):
            exact = float(written)
            assert seen == pytest.approx(exact, rel=0.005, nan_ok=True), tag


def test_every_line_is_shown_with_its_step() -> None:
    """The log pane gets each physical line, its place and the step it belongs to."""
    read = parse_every_way(ConsoleParser, b"Using cpu device\n" + FIRST + SECOND)
    assert read.texts() == (b"Using cpu device\n" + FIRST + SECOND).decode().split("\n")[:-1]
    assert read.lines[0] == (0, "Using cpu device", "nan", None)
    assert read.lines[3][0] == 17 + FIRST.index(b"|    ep_len_mean")
    assert {step for _, text, _, step in read.lines if "|" in text} == {2048, 4096}


@pytest.mark.parametrize("zone", ["", "PDT", "CEST"])
def test_each_line_of_a_table_may_have_a_clock(zone: str) -> None:
    """rlpyt's does, with the zone as the system has it; the rules have it, too."""
    rule = "--------------------------  ---------"
    lines = (
        f"{rule}\nDiagnostics/Iteration       {n}00\nDiagnostics/CumSteps        {n}0000\n"
        f"DiscountedReturn/Average    -0.{n}\n{rule}"
        for n in (1, 2)
    )
    clock = f"2020-12-08 21:40:50.116393 {zone} | "
    text = "".join(f"{clock}{line}\n" for line in "\n".join(lines).split("\n"))
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.steps("DiscountedReturn/Average") == [100, 200]
    assert read.values("DiscountedReturn/Average") == [-0.1, -0.2]
    assert read.values("Diagnostics/CumSteps") == [10000.0, 20000.0]
