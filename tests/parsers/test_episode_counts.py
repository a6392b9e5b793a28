"""Bare steps beside an episode, in files: its length, or the steps of all episodes so far."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.parsers.csv_table import CsvParser
from ppo_top.parsers.json_lines import JsonLinesParser
from ppo_top.parsers.shared.tables.episode_order import EpisodeOrder
from tests.support.parser_harness import ParserOutput, parse_every_way

CountedRows = Sequence[tuple[int, int]]


def read_csv(rows: CountedRows, episode: str = "episode", steps: str = "step") -> ParserOutput:
    """A table of episode, steps and reward."""
    lines = [f"{at},{count},{at}.5" for at, count in rows]
    return parse_every_way(CsvParser, "\n".join([f"{episode},{steps},reward", *lines, ""]).encode())


def read_json(rows: CountedRows, episode: str = "episode", steps: str = "step") -> ParserOutput:
    """The same as JSON lines."""
    lines = [json.dumps({episode: at, steps: count, "reward": at + 0.5}) for at, count in rows]
    return parse_every_way(JsonLinesParser, ("\n".join(lines) + "\n").encode())


READERS = [read_csv, read_json]
ReadTable = Callable[..., ParserOutput]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("names", [("episode", "step"), ("Episode", "timesteps"), ("ep", "frames")])
def test_lengths_of_episodes_are_no_step(read: ReadTable, names: tuple[str, str]) -> None:
    """The number of the episode is; every row is kept, and no length."""
    lengths = [88, 31, 140, 140, 200, 17]
    found = read(list(enumerate(lengths, 1)), *names)
    assert found.steps("reward") == [1, 2, 3, 4, 5, 6]
    assert found.values(names[1]) == lengths


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("first", [1, 300])
def test_steps_of_all_episodes_are_the_step(read: ReadTable, first: int) -> None:
    """From the first episode on, or in a log that begins midway."""
    so_far = list(accumulate([88, 31, 140, 140, 200, 17], initial=88 * (first - 1)))[1:]
    found = read(list(enumerate(so_far, first)))
    assert found.steps("reward") == so_far


@pytest.mark.parametrize("read", READERS)
def test_a_row_in_the_midst_of_a_long_episode(read: ReadTable) -> None:
    """A loop logs every 512 steps; its first episode is the longest."""
    found = read([(0, 512), (6, 1024), (14, 1536), (25, 2048), (37, 2560)])
    assert found.steps("reward") == [512, 1024, 1536, 2048, 2560]


@pytest.mark.parametrize("read", READERS)
def test_updates_of_many_episodes_each_are_the_step(read: ReadTable) -> None:
    """TRL's PPO counts 64 completions a step as episodes."""
    found = read([(64 * n, n) for n in range(1, 7)])
    assert found.steps("reward") == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("read", READERS)
def test_where_neither_counts_on_rows_are_counted(read: ReadTable) -> None:
    """modular_rl logs episodes and timesteps of each iteration."""
    rows = [(25, 327), (1911, 34317), (1392, 45526), (764, 43427), (439, 36454)]
    found = read(rows, "Episodes", "Timesteps")
    assert found.steps("reward") == [1, 2, 3, 4, 5]
    assert found.counts_updates


@pytest.mark.parametrize("read", READERS)
def test_a_training_that_begins_anew_at_once_still_counts_steps(read: ReadTable) -> None:
    """Both are back at the first row's: stopped early and started again."""
    rows = [(1, 200), (2, 390), (1, 200), (2, 400), (3, 610)]
    assert read(rows).steps("reward") == [200, 390, 200, 400, 610]


@pytest.mark.parametrize("read", READERS)
def test_fewer_rows_are_read_at_the_end(read: ReadTable) -> None:
    """Until then they wait: two rows of a live log may yet become either."""
    assert read([(1, 200), (2, 150)]).steps("reward") == [1, 2]
    assert read([(1, 200), (2, 380)]).steps("reward") == [200, 380]
    assert read([(7, 200)]).steps("reward") == [200]


def test_names_that_say_which_steps_they_count_wait_for_nothing() -> None:
    """`total_steps`, `global_step`, and the old baselines' `steps` and `episodes`."""
    for header in ("episode,global_step", "steps,episodes"):
        parser = CsvParser()
        batch = parser.feed(f"{header},reward\n10,400,1.5\n".encode())
        assert {len(points) for points in batch.points} == {1}


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("rows", [1, 3, 9])
def test_how_many_timesteps_there_will_be_is_no_step(read: ReadTable, rows: int) -> None:
    """A total that stays, beside timesteps that rise up to it; one row alone does not tell."""
    done = [100 * row for row in range(1, rows + 1)]
    found = read([(each, 100_000) for each in done], "timestep", "total_timesteps")
    assert found.steps("reward") == (done if rows > 1 else [100_000])
    assert found.values("total_timesteps") == [100_000] * rows


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "steps", [[1, 2, 3, 4, 5], [200, 200, 200, 200, 200], [90, 20, 90, 20, 90]]
)
def test_a_total_that_rises_is_the_step(read: ReadTable, steps: list[int]) -> None:
    """Whatever the timesteps beside it count."""
    so_far = list(accumulate(steps, initial=7))[1:]
    found = read(list(zip(steps, so_far, strict=True)), "timestep", "total_timesteps")
    assert found.steps("reward") == so_far


@given(st.integers(5, 60), st.randoms(use_true_random=False), st.sampled_from(READERS))
def test_lengths_of_any_course(count: int, draw: random.Random, read: ReadTable) -> None:
    """Whatever the lengths, no step falls unless the first four rise by chance."""
    lengths = [draw.randint(1, 500) for _ in range(count)]
    steps = read(list(enumerate(lengths, 1))).steps("reward")
    assert steps in (list(range(1, count + 1)), lengths)
    if lengths[:4] != sorted(lengths[:4]):
        assert steps == list(range(1, count + 1))


def test_episodes_that_begin_anew_every_few_rows_are_no_trainings() -> None:
    """Eight episodes of each evaluation: rows are counted once that has come twice."""
    rows = "".join(f"{at},{at}.5\n" for _ in range(5) for at in range(8))
    found = parse_every_way(CsvParser, f"Episode,Wins\n{rows}".encode())
    assert found.steps("Wins") == [*range(8), *range(32)]


def test_numbers_that_only_waver_are_rows() -> None:
    """How many episodes an update had, called `Episode`: they rise and fall, from 19 on."""
    numbers = [19, 20, 21, 20, 19, 20, 21, 19, 20, 21, 19, 20]
    rows = "".join(f"{at},{at}.5\n" for at in numbers)
    found = parse_every_way(CsvParser, f"Episode,Reward\n{rows}".encode())
    steps = found.steps("Reward")
    assert sum(after < before for before, after in pairwise(steps)) == 1


def test_a_training_behind_short_ones_keeps_its_numbers() -> None:
    """Every tenth episode of it is logged; of the short ones each was."""
    order = EpisodeOrder()
    for _ in range(3):
        assert order.step_of(0) >= 0
        assert order.step_of(1) >= 1
    long = [order.step_of(n) for n in range(0, 200, 10)]
    assert long[2:] == list(range(20, 200, 10))


def test_short_trainings_that_lines_announce_begin_anew() -> None:
    order = EpisodeOrder()
    assert [order.step_of(n, may_begin=not n) for _ in range(4) for n in range(5)] == [
        *range(5)
    ] * 4


def _side_by_side(episodes: int, environments: int, seed: int) -> list[int]:
    """Numbers of episodes as they end; each has its number when it starts."""
    draw = Random(seed)
    running = {number: draw.randint(5, 60) for number in range(environments)}
    ended: list[int] = []
    while len(ended) < episodes:
        number = min(running, key=lambda each: running[each])
        now = running.pop(number)
        running[len(ended) + environments] = now + draw.randint(5, 60)
        ended.append(number)
    return ended


@given(environments=st.integers(2, 20), seed=st.integers(0, 50))
def test_episodes_that_end_out_of_order_are_counted_on(environments: int, seed: int) -> None:
    """From the first that comes late each row is one more; another training begins anew."""
    numbers = [number + 1 for number in _side_by_side(300, environments, seed)]
    order = EpisodeOrder()
    steps = [order.step_of(number) for number in numbers]
    assert all(before < after for before, after in pairwise(steps))
    assert steps[-1] <= max(numbers) + environments
    assert order.step_of(numbers[0]) == numbers[0]


def test_rows_of_parallel_environments_are_one_training() -> None:
    """However the bytes are cut; a number that has come before is a restart."""
    numbers = [1, 2, 3, 4, 7, 5, 6, 8, 11, 9, 10, 12]
    twice = [*numbers, 3, 4, 5]
    rows = "".join(f"{number},{at}.5\n" for at, number in enumerate(twice))
    found = parse_every_way(CsvParser, f"Episode,Reward\n{rows}".encode())
    assert found.steps("Reward") == [1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 3, 4, 5]
    assert found.values("Episode") == [float(number) for number in twice]
    tens = "".join(f"{number},0.5\n" for number in (10, 20, 30, 40, 50, 60, 25, 35))
    stepped = parse_every_way(CsvParser, f"Episode,Reward\n{tens}".encode())
    assert stepped.steps("Reward") == [10, 20, 30, 40, 50, 60, 25, 35]


def test_where_every_tenth_episode_is_logged_none_is_missing() -> None:
    """A training that was stopped after its 20th episode, and begun anew, leaves none out."""
    numbers = [0, 10, 20, 30, 40, 50, 20, 0, 10, 20, 30]
    rows = "".join(f"{number},{at}.5\n" for at, number in enumerate(numbers))
    found = parse_every_way(CsvParser, f"Episode,Reward\n{rows}".encode())
    assert found.steps("Reward") == numbers


@pytest.mark.parametrize("read", ["csv", "json"])
def test_steps_that_rise_and_fall_beside_a_reward_are_no_step(read: str) -> None:
    """The length of each episode: rows are counted. Those that begin anew are those of all."""
    assert _steps_read(read, [3562, 1518, 487, 325, 611, 94, 120, 84, 97]) == [*range(1, 10)]
    anew = [0, 200, 0, 200, 400, 600, 800, 0, 200, 400]
    assert _steps_read(read, anew) == anew
    assert _steps_read(read, [100, 200, 300, 150]) == [100, 200, 300, 150]


def _steps_read(read: str, steps: Sequence[int]) -> list[int]:
    """The steps of rows that say a step and a reward, and no episode."""
    if read == "csv":
        rows = "".join(f"{step},{at}.5\n" for at, step in enumerate(steps))
        found = parse_every_way(CsvParser, f"step,reward\n{rows}".encode())
    else:
        lines = (json.dumps({"step": step, "reward": 0.5}) + "\n" for step in steps)
        found = parse_every_way(JsonLinesParser, "".join(lines).encode())
    return found.steps("reward")


def test_workers_that_log_each_their_episodes() -> None:
    """The one that is furthest tells the step; far below it another training begins."""
    numbers = [1, 1, 1, 2, 1, 1, 2, 2, 2, 3, 2, 3, 3, 3, 4, 3, 4, 4]
    order = EpisodeOrder()
    steps = [order.step_of(number) for number in numbers]
    assert steps == [*numbers[:4], 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4]
    for number in range(5, 40):
        assert order.step_of(number) == number
    assert order.step_of(1) == 1
