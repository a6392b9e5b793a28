"""Whether rewards of unknown kind are moving means, told by the rows themselves."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import accumulate
from statistics import fmean

import pytest

from ppo_top.model import Sample
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.reward.points import RewardPoints
from ppo_top.rules.engine.reward.window_search import LOOKS, WindowSearch

SEEDS = range(5)


def episodes(seed: int, gain: float = 0.0, count: int = 1500) -> list[float]:
    """Returns of a training that gains so many times their spread over all of them."""
    draw = random.Random(f"episodes {seed}")
    return [draw.gauss(-50.0 + 30.0 * gain * at / count, 30.0) for at in range(count)]


def moving_means(values: Sequence[float], window: int, every: int = 1) -> list[float]:
    """Means of the last `window` values, as printed at some of them."""
    ends = range(every, len(values) + 1, every)
    return [round(fmean(values[max(0, end - window) : end]), 2) for end in ends]


def fading_means(values: Sequence[float], decay: float) -> list[float]:
    """`running_reward = decay * running_reward + (1 - decay) * reward`."""
    means = [values[0]]
    for value in values[1:]:
        means.append(decay * means[-1] + (1.0 - decay) * value)
    return means


def found_in(means: Sequence[float]) -> tuple[int, int]:
    """The window that is found, and after how many rows (0: never)."""
    search, at = WindowSearch(), 0
    for row, mean in enumerate(means, 1):
        if search.add(mean):
            at = row
    return search.window, at


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("gain", [0.0, 5.0, -5.0])
@pytest.mark.parametrize(
    ("window", "every", "rows", "by"),
    [(5, 1, 5, 80), (10, 1, 10, 120), (30, 1, 30, 160), (100, 1, 100, 240), (100, 10, 10, 120)],
)
def test_the_window_of_a_moving_mean_is_found(
    window: int, every: int, rows: int, by: int, gain: float, seed: int
) -> None:
    """In rows, soon after it is full, whether the reward rises, falls or stays."""
    found, at = found_in(moving_means(episodes(seed, gain), window, every))
    assert found == rows
    assert at <= by


ROWS_OF: dict[str, Callable[[list[float]], list[float]]] = {
    "episodes": lambda values: values,
    "means that do not overlap": lambda values: moving_means(values, 10, 10),
    "exponential means": lambda values: fading_means(values, 0.9),
    "slow exponential means": lambda values: fading_means(values, 0.99),
    "means of all so far": lambda values: moving_means(values, len(values)),
    "values that calm down": lambda values: [each / at for at, each in enumerate(values, 1)],
    "values that walk": lambda values: list(accumulate(values)),
    "a curve without noise": lambda values: [0.9 ** min(at, 50) for at in range(len(values))],
    "always the same": lambda values: [1.0] * len(values),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rows", ROWS_OF)
def test_what_is_no_moving_mean_is_not_taken_for_one(rows: str, seed: int) -> None:
    """Nor what cannot be told from something else."""
    assert found_in(ROWS_OF[rows](episodes(seed, 2.0))) == (1, 0)


def test_nothing_is_held_once_the_answer_is_known() -> None:
    """Of a hundred runs each holds its first rows only while it asks what they are."""
    values = episodes(0)
    for means in (values, moving_means(values, 10)):
        search = WindowSearch()
        for mean in means[: LOOKS[3]]:
            search.add(mean)
        assert search.is_over
        assert not search.add(means[LOOKS[3]])
        assert not search.means


def test_a_copy_goes_its_own_way() -> None:
    """As runs are judged ahead of their last row."""
    means = moving_means(episodes(0), 10)
    search = WindowSearch()
    for mean in means[:50]:
        search.add(mean)
    other = search.copy()
    assert [other.add(mean) for mean in means[50:70]].count(True) == 1
    assert (search.window, len(search.means), other.window) == (1, 50, 10)


# --- rewards ------------------------------------------------------------------------------------


def blocks_of(sample: Sample, rewards: Sequence[float]) -> list[float]:
    """The means of the blocks that rewards are put into."""
    source, history = RewardPoints(sample), History()
    for row, reward in enumerate(rewards):
        history.push(row, reward)
        source.add(reward, row, None, float(row + 1))
        source.put_into_blocks(history)
    assert source.blocks is not None
    return [block.mean for block in source.blocks.blocks]


@pytest.mark.parametrize("count", [290, 1490])
@pytest.mark.parametrize("window", [10, 100])
@pytest.mark.parametrize("sample", [Sample(), Sample("window", 100)])
def test_a_moving_mean_becomes_the_episodes_behind_it(
    sample: Sample, window: int, count: int
) -> None:
    """Also those before it was known, and where the name of the metric tells another window."""
    values = episodes(3, 5.0, count)
    told = blocks_of(Sample("episode"), values)
    assert blocks_of(sample, moving_means(values, window)) == pytest.approx(told, abs=2.0)
