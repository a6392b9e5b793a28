"""What a row of rewards measures: an episode, a moving mean, an update's mean."""

from __future__ import annotations

import math
import random
from statistics import fmean, pstdev

import pytest

from ppo_top.catalogue import identify, meaning
from ppo_top.model import Sample
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.reward.episode_blocks import (
    BLOCK_EPISODES,
    MAX_BLOCKS,
    EpisodeBlocks,
    RewardPoint,
)
from ppo_top.rules.engine.reward.moving_means import EpisodeCount, WindowMean
from ppo_top.rules.engine.reward.points import RewardPoints

LENGTH = 100
"""Steps of an episode, where all are equally long."""


def points_of(source: RewardPoints, rewards: list[float], episodes: int = 1) -> list[RewardPoint]:
    """The points that rows of so many new episodes each become."""
    points: list[RewardPoint] = []
    for row, reward in enumerate(rewards, 1):
        new = source.add(reward, row * episodes * LENGTH, float(LENGTH), None)
        if new is None:
            assert source.blocks is not None
            points = source.blocks.points()
        else:
            points += new
    return points


def normal(count: int, seed: int = 1) -> list[float]:
    """Independent values around 0 with a standard deviation of 1."""
    draw = random.Random(seed)
    return [draw.gauss(0.0, 1.0) for _ in range(count)]


@pytest.mark.parametrize(
    ("tags", "tag", "sample"),
    [
        (("rollout/ep_rew_mean", "time/fps"), "rollout/ep_rew_mean", Sample("window", 100)),
        (("charts/episodic_return",), "charts/episodic_return", Sample("episode")),
        (("mystery",), "mean_reward_(last_50)", Sample("window", 50)),
        (("mystery",), "mean_reward", Sample()),
    ],
)
def test_the_trainers_table_says_what_a_row_is(
    tags: tuple[str, ...], tag: str, sample: Sample
) -> None:
    """SB3 logs the mean of 100 episodes, CleanRL single ones; a name may hold the window."""
    known = meaning(identify(tags), tag)
    assert known is not None
    assert known.sample == sample


def test_single_episodes_are_judged_in_blocks() -> None:
    """Twenty episodes make a point, whose noise is the standard error of their mean."""
    source = RewardPoints(Sample("episode"))
    points = points_of(source, normal(400))
    assert len(points) == 400 // BLOCK_EPISODES
    assert source.noise == pytest.approx(1.0 / math.sqrt(BLOCK_EPISODES), rel=0.1)


@pytest.mark.parametrize(("size", "kept"), [(4_000.0, False), (-4_000.0, False), (9.0, True)])
def test_a_single_broken_episode_is_no_level(size: float, kept: bool) -> None:
    """One of ten far outside counts as ten ranges of their middle half away, and no more."""
    rewards = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    (point,) = points_of(RewardPoints(Sample("episode")), [*rewards, size])
    middle, reach = (4.5, 10.0 * 5.0) if size > 0.0 else (3.5, -10.0 * 5.0)
    assert point.value == pytest.approx(fmean([*rewards, size if kept else middle + reach]))


@pytest.mark.parametrize("odd", [[500.0, 600.0], [-500.0, -600.0]])
def test_two_episodes_of_ten_are_no_accident(odd: list[float]) -> None:
    """What happens twice in ten episodes is what the policy does now."""
    rewards = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, *odd]
    (point,) = points_of(RewardPoints(Sample("episode")), rewards)
    assert point.value == pytest.approx(fmean(rewards))


def test_a_rare_success_is_no_outlier_where_all_else_is_equal() -> None:
    """A sparse reward: nine failures, which are alike, and one success."""
    (point,) = points_of(RewardPoints(Sample("episode")), [0.0] * 9 + [1.0])
    assert point.value == pytest.approx(0.1)


def test_a_long_run_has_no_more_blocks_than_a_screen_has_columns() -> None:
    """Blocks double: of 20,000 episodes each point holds at least 320, and noise shrinks."""
    source = RewardPoints(Sample("episode"))
    points = points_of(source, normal(20_000))
    assert MAX_BLOCKS / 2 <= len(points) <= MAX_BLOCKS
    assert source.noise == pytest.approx(1.0 / math.sqrt(20_000 / len(points)), rel=0.15)


@pytest.mark.parametrize("each", [2, 5, 20, 100])
def test_the_noise_of_a_moving_mean_is_not_that_of_neighbouring_rows(each: int) -> None:
    """A mean of 100 episodes is uncertain by a tenth of their spread, however often logged."""
    episodes = normal(100 * each)
    ends = range(each, len(episodes) + 1, each)
    means = [fmean(episodes[max(0, end - 100) : end]) for end in ends]
    source = RewardPoints(Sample("window", 100))
    for row, mean in enumerate(means, 1):  # a length that never divides the steps: no exact count
        source.add(mean, row * each * LENGTH + 37, float(LENGTH), None)
    assert source.noise == pytest.approx(0.1, rel=0.45)


def test_a_moving_mean_that_has_not_filled_is_less_certain() -> None:
    """With 25 of 100 episodes the standard error is twice that of a full window."""
    source = RewardPoints(Sample("window", 100))
    points = [source.add(0.1 * row, row * 550 + 37, 110.0, None) for row in range(1, 41)]
    assert points[4] is not None
    assert points[4][0].excess == pytest.approx(2.0, rel=0.05)
    assert points[-1] is not None
    assert points[-1][0].excess == 1.0


def test_what_is_new_in_a_moving_mean_is_computed_back() -> None:
    """A mean since the start, then of the last 100: each row's own four episodes come out."""
    episodes = [50.0 + 10.0 * value for value in normal(400)]
    window = WindowMean(100)
    for end in range(4, 401, 4):
        fresh = window.fresh(fmean(episodes[max(0, end - 100) : end]), float(end))
        assert fresh == pytest.approx(fmean(episodes[end - 4 : end]))


def test_episodes_are_counted_by_steps_and_mean_length() -> None:
    """Lengths differ, and no counter is logged: steps by mean length are a whole number."""
    draw = random.Random(2)
    lengths = [draw.randint(20, 400) for _ in range(400)]
    count = EpisodeCount(100)
    for end in range(4, 401, 4):
        mean = fmean(lengths[max(0, end - 100) : end])
        assert count.add(sum(lengths[:end]), mean, None) == end


def printed(value: float) -> float:
    """A value as it stands in a table of Stable-Baselines3: with three digits."""
    return float(f"{value:.3g}")


@pytest.mark.parametrize("scale", [1.0, 7.0, 30.0])
def test_episodes_are_counted_where_their_mean_length_is_printed_with_three_digits(
    scale: float,
) -> None:
    """The trainer counts them; the lengths add up to the steps but for what was cut off."""
    draw = random.Random(2)
    lengths = [round(scale * draw.randint(20, 60)) for _ in range(800)]
    count = EpisodeCount(100)
    for end in range(4, 801, 4):
        mean = printed(fmean(lengths[max(0, end - 100) : end]))
        assert count.add(sum(lengths[:end]), mean, float(end)) == end


@pytest.mark.parametrize("size", [20, 50, 90, 110])
def test_a_mean_length_of_other_episodes_gives_no_count(size: int) -> None:
    """Three digits are enough to tell a window of 90 episodes from one of 100."""
    draw = random.Random(2)
    lengths = [draw.randint(20, 400) for _ in range(400)]
    count, certain = EpisodeCount(100), True
    for end in range(4, 401, 4):
        mean = printed(fmean(lengths[max(0, end - size) : end]))
        certain = count.add(sum(lengths[:end]), mean, float(end)) is not None
    assert not certain


def test_what_is_new_in_a_printed_moving_mean_is_seen_before_the_window_has_passed() -> None:
    """A fall of 20 episodes ago has moved a mean of 100 by a fifth: the last blocks show it all."""
    episodes = [-10.0 + value for value in normal(380)] + [-60.0] * 20
    source = RewardPoints(Sample("window", 100))
    points = []
    for end in range(4, 401, 4):
        mean = printed(fmean(episodes[max(0, end - 100) : end]))
        points += source.add(mean, LENGTH * end, float(LENGTH), float(end)) or []
    assert points[-1].value == pytest.approx(-60.0, abs=3.0)


def test_no_count_is_better_than_a_wrong_one() -> None:
    """A rollout ends in the middle of an episode: the number of episodes is not certain."""
    count = EpisodeCount(100)
    assert count.add(2048, 193.0, None) is None
    assert count.add(4096, 195.0, 21.0) is None


def test_rewards_of_unknown_kind_with_few_values_are_single_episodes() -> None:
    """Rows of 0 and 1 are outcomes of episodes, whatever the log calls them."""
    draw = random.Random(3)
    source, rewards = RewardPoints(Sample()), History()
    for row in range(1, 61):
        rewards.push(row, float(draw.random() < 0.3))
        source.add(rewards.last, 100 * row, None, None)
        source.put_into_blocks(rewards)
    assert source.blocks is not None
    assert source.noise == pytest.approx(math.sqrt(0.3 * 0.7 / BLOCK_EPISODES), rel=0.3)


def blocks_begin(rewards: list[float]) -> int:
    """The row from which rewards of unknown kind are put into blocks; 0: never."""
    source, history = RewardPoints(Sample()), History()
    for row, reward in enumerate(rewards, 1):
        history.push(row, reward)
        source.add(reward, 100 * row, None, None)
        if source.put_into_blocks(history):
            return row
    return 0


def test_rewards_of_unknown_kind_that_are_little_but_noise_are_put_into_blocks() -> None:
    """Of a slow rise a hundredth of the noise a row, nothing is seen from row to row."""
    assert blocks_begin([0.01 * row + x for row, x in enumerate(normal(120))]) == 120


def test_rewards_that_grow_noisy_later_are_put_into_blocks_then() -> None:
    """A score that is low and steady until the policy learns, and swings widely from then on."""
    late = [100.0 + 90.0 * x for x in normal(500)]
    assert blocks_begin([0.1 * row for row in range(130)] + late) == 240


def test_rewards_that_show_their_course_from_row_to_row_stay_rows() -> None:
    """A learning curve with some noise, and a moving mean, whose neighbours are alike."""
    curve = [100.0 * (1.0 - 0.98**row) + 10.0 * x for row, x in enumerate(normal(300))]
    episodes = normal(600)
    means = [fmean(episodes[row : row + 100]) for row in range(500)]
    assert blocks_begin(curve) == blocks_begin(means) == 0


def test_blocks_of_noisy_rows_hold_ten_rows_whatever_a_row_holds() -> None:
    """Rows of twenty episodes each are as few to tell a level from as rows of one."""
    source, history, points = RewardPoints(Sample()), History(), 0
    for row, reward in enumerate(normal(200), 1):
        history.push(row, reward)
        new = source.add(reward, 2000 * row, 100.0, None)
        points += len(new or []) if not source.put_into_blocks(history) else -points
    assert points == (200 - 120) // BLOCK_EPISODES


def test_a_moving_mean_of_unknown_kind_shows_its_noise_at_a_distance() -> None:
    """Neighbouring rows overlap; rows further apart tell how uncertain each is."""
    episodes = normal(6000)
    means = [fmean(episodes[end - 100 : end]) for end in range(100, 6001, 10)]
    source = RewardPoints(Sample())
    for row, mean in enumerate(means, 1):
        source.add(mean, 100 * row, None, None)
    assert 0.6 * pstdev(means) < source.noise < 2.0 * pstdev(means)


@pytest.mark.parametrize(("kind", "window"), [("", 100), ("update", 0)])
def test_rewards_of_unknown_kind_that_overlap_are_means_of_a_hundred(
    kind: str, window: int
) -> None:
    """That is what trainers log; of an update's mean it is known that it is none."""
    episodes = normal(2000)
    source = RewardPoints(Sample(kind))
    for row, end in enumerate(range(100, 2001, 2), 1):
        source.add(fmean(episodes[end - 100 : end]), 200 * row, 100.0, None)
    assert source.window_episodes == window
    assert source.rows_per_window == pytest.approx(50.0 if window else 1.0, rel=0.01)


def test_equal_rewards_have_no_known_noise() -> None:
    """A noise of 0 would make any change a certainty: it is unknown instead."""
    source = RewardPoints(Sample("update"))
    for row in range(1, 50):
        source.add(3.0, 10_000 * row, 100.0, None)
    assert math.isnan(source.noise)


def test_the_noise_of_a_sparse_reward_is_the_mean_of_the_blocks_errors() -> None:
    """Most blocks hold equal rewards only, and their median error is 0."""
    blocks = EpisodeBlocks()
    for row in range(10 * BLOCK_EPISODES):
        blocks.add(float(row % 50 == 49), 1.0)
    found = sum(reward == 1.0 for block in blocks.blocks for reward in (10.0 * block.mean,))
    assert found == 2  # of ten blocks, each with one success in ten
    assert blocks.noise() == pytest.approx(2 / 10 * math.sqrt(0.9 / 9 / 10))


def test_a_running_count_says_how_many_episodes_a_row_holds() -> None:
    """Without any length; what is counted anew in each rollout is not taken for it."""
    counted, anew = RewardPoints(Sample()), RewardPoints(Sample())
    for row, reward in enumerate(normal(30), 1):
        counted.add(reward, row, None, 8.0 * row)
        anew.add(reward, row, None, 8.0 + row % 3)
    assert counted.counted
    assert counted.episodes == 240
    assert not anew.counted


def test_lengths_show_that_a_row_is_no_mean_of_a_hundred_episodes() -> None:
    """Means of an update jump by more than a window of episodes could within these steps."""
    jumping, steady = RewardPoints(Sample()), RewardPoints(Sample())
    for row, reward in enumerate(normal(60), 1):
        jumping.add(reward, 500 * row, 60.0 if row % 5 else 15.0, None)
        steady.add(reward, 500 * row, 60.0 - 0.1 * row, None)
    assert not jumping.may_be_window
    assert steady.may_be_window


def test_steps_that_are_fewer_than_an_episode_count_something_else() -> None:
    """A mean of whole episodes cannot stand in a row of one step: it is an iteration."""
    source = RewardPoints(Sample("update"))
    source.add(1.0, 1, 200.0, None)
    assert not source.counted
    assert source.blocks is None


@pytest.mark.parametrize("changes", [True, False])
def test_each_new_reward_needs_an_episode(changes: bool) -> None:
    """Steps that begin high enough, but rise by one from reward to reward, are none of episodes."""
    source = RewardPoints(Sample("update"))
    for row in range(25):
        source.add(float(row * changes), 60 + row, float(LENGTH), None)
    assert source.has_other_unit is changes
    assert source.counted is not changes


@pytest.mark.parametrize(("best", "noise"), [(0.025, 0.0247), (0.9, 0.0791), (0.024, 0.0)])
def test_the_luck_of_few_successes_is_noise(best: float, noise: float) -> None:
    """One of forty episodes succeeds now and then; where even one is less, 1 is no success."""
    source = RewardPoints(Sample("update"))
    points_of(source, [best if row % 20 == 19 else 0.0 for row in range(60)], 40)
    assert source.noise == pytest.approx(noise, abs=2e-3)


def test_luck_is_only_that_of_episodes_that_are_counted() -> None:
    """Without their lengths nobody knows how many a row holds."""
    source = RewardPoints(Sample("update"))
    for row in range(60):
        source.add(0.025 if row % 20 == 19 else 0.0, 0, None, None)
    assert source.noise < 2e-3


def test_a_count_that_appears_later_is_not_of_one_row() -> None:
    """It has counted all episodes since the start, of which steps and lengths have told."""
    source = RewardPoints(Sample("update"))
    for row in range(1, 11):
        source.add(float(row), 1000 * row, 100.0, 500.0 if row > 5 else None)
    assert source.episodes == pytest.approx(100.0)


@pytest.mark.parametrize(
    ("step", "length", "episodes"),
    [(1000, 100.0, 30.0), (1000, None, math.inf), (1, 100.0, math.inf)],
)
def test_episodes_in_some_rows_follow_from_their_length(
    step: int, length: float | None, episodes: float
) -> None:
    """If it is logged, and steps are those of an environment."""
    source = RewardPoints(Sample("update"))
    for row in range(1, 11):
        source.add(float(row), step * row, length, None)
    assert source.episodes_in(3) == episodes


@pytest.mark.parametrize(
    ("kind", "counted", "apart"),
    [("window", True, True), ("window", False, False), ("episode", True, False)],
)
def test_a_moving_mean_whose_episodes_are_counted_is_taken_apart(
    kind: str, counted: bool, apart: bool
) -> None:
    """Messages then speak of new episodes."""
    source = RewardPoints(Sample(kind, 100 if kind == "window" else 0))
    for row in range(1, 21):
        source.add(5.0, 400 * row, 100.0 if counted else None, 4.0 * row if counted else None)
    assert source.is_taken_apart is apart
