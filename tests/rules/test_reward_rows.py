"""Rows of rewards that overlap, hold few episodes, or whose episodes nobody counts."""

from __future__ import annotations

from statistics import fmean, pstdev

import pytest

from ppo_top.model import Sample
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.reward.episode_blocks import Block, EpisodeBlocks, RewardPoint
from ppo_top.rules.engine.reward.moving_means import EpisodeCount, WindowMean, rounding
from ppo_top.rules.engine.reward.points import RewardPoints
from tests.rules.test_reward_points import LENGTH, normal, points_of

# --- windows -----------------------------------------------------------------------------------


def overlapping(count: int, each: int = 10) -> list[float]:
    """Means of a hundred episodes, of which so many are new in each."""
    episodes = normal(100 + each * count)
    return [fmean(episodes[each * row : each * row + 100]) for row in range(count)]


def test_a_mean_whose_episodes_are_counted_becomes_what_is_new_in_it() -> None:
    """Four episodes a row: three rows make a block of ten, and none overlaps another."""
    episodes = [50.0 + 10.0 * value for value in normal(240)]
    source = RewardPoints(Sample("window", 100))
    for end in range(4, 241, 4):
        mean = fmean(episodes[max(0, end - 100) : end])
        assert source.add(mean, LENGTH * end, float(LENGTH), float(end)) is not None
    assert source.blocks is not None
    means = [block.mean for block in source.blocks.blocks]
    assert means == pytest.approx([fmean(episodes[n : n + 12]) for n in range(0, 240, 12)])
    assert source.rows_per_window == 1.0


@pytest.mark.parametrize(("each", "rows"), [(10, 10.0), (50, 2.0), (200, 1.0)])
def test_a_window_takes_rows_to_be_renewed(each: int, rows: float) -> None:
    """As many as hold its episodes together, and at least one."""
    source = RewardPoints(Sample("window", 100))
    for row, mean in enumerate(overlapping(40, each), 1):
        source.add(mean, LENGTH * each * row, float(LENGTH) + 0.3, None)
    assert source.window_episodes == 100
    assert source.rows_per_window == pytest.approx(rows, rel=0.05)


def test_a_window_of_episodes_that_nobody_counts_shows_its_noise_at_a_distance() -> None:
    """Without lengths its rows are compared as those of an unknown kind are."""
    means = overlapping(590)
    source = RewardPoints(Sample("window", 100))
    for row, mean in enumerate(means, 1):
        source.add(mean, 100 * row, None, None)
    assert source.window_episodes == 0
    assert 0.6 * pstdev(means) < source.noise < 2.0 * pstdev(means)


@pytest.mark.parametrize(("told", "overlap"), [(overlapping(120), True), (normal(120), False)])
def test_rows_that_jump_are_no_means_of_a_hundred_episodes_whatever_is_said(
    told: list[float], overlap: bool
) -> None:
    """Independent rows would be four times noisier than all of them spread."""
    source = RewardPoints(Sample("window", 100))
    for row, mean in enumerate(told, 1):
        source.add(mean, LENGTH * 10 * row, float(LENGTH) + 0.3, None)
    assert (source.window_episodes, source.rows_per_window > 1.0) == (100 * overlap, overlap)
    assert 0.6 * pstdev(told) < source.noise < 1.8 * pstdev(told)


@pytest.mark.parametrize(("told", "overlap"), [(overlapping(260), True), (normal(260), False)])
def test_rows_that_rise_and_jump_are_no_means_of_a_hundred_episodes_either(
    told: list[float], overlap: bool
) -> None:
    """All of them spread as far as their rise; rows far apart do not differ more than neighbours.

    Like RLlib's of Ape-X: SpaceInvaders from 106 to 700, 63 up and down from row to row.
    """
    source = RewardPoints(Sample("window", 100))
    for row, mean in enumerate(told, 1):
        rising = mean + 8.0 * pstdev(told) * row / len(told)
        source.add(rising, LENGTH * 10 * row, float(LENGTH) + 0.3, None)
    assert (source.window_episodes, source.rows_per_window > 1.0) == (100 * overlap, overlap)
    assert 0.6 * pstdev(told) < source.noise < 1.8 * pstdev(told)


def test_few_rows_do_not_tell_whether_they_overlap() -> None:
    """Six windows are needed: the rows of one differ less than it is uncertain."""
    source = RewardPoints(Sample("window", 100))
    for row, mean in enumerate(normal(59), 1):
        source.add(mean, LENGTH * 10 * row, float(LENGTH), None)
    assert source.window_episodes == 100


@pytest.mark.parametrize(
    ("sample", "length", "distances"),
    [
        (Sample("window", 100), None, 5), (Sample("window", 100), 100.3, 1),
        (Sample("update"), None, 1), (Sample(), 100.3, 5),
    ],
)  # fmt: skip
def test_rows_that_may_overlap_are_compared_at_distances(
    sample: Sample, length: float | None, distances: int
) -> None:
    """Not those whose overlap is known, nor those that have none."""
    source = RewardPoints(sample)
    for row, mean in enumerate(overlapping(30), 1):
        source.add(mean, 4000 * row, length, None)
    assert len(source.row_noise.estimators) == distances


@pytest.mark.parametrize(("length", "window"), [(100.0, 100), (20.0, 0)])
def test_rows_of_unknown_kind_may_be_means_of_a_hundred_episodes(
    length: float, window: int
) -> None:
    """If neighbours are alike, and the lengths of episodes do not jump."""
    source = RewardPoints(Sample())
    for row, mean in enumerate(overlapping(160), 1):
        source.add(mean, 1000 * row, length if row % 40 else 100.0, None)
    assert source.row_noise.grows
    assert source.window_episodes == window
    assert source.rows_per_window == pytest.approx(10.0 if window else 1.0)


def test_the_overlap_counts_from_the_row_that_shows_it() -> None:
    """What is said at that row already takes it into account."""
    source, grown = RewardPoints(Sample()), False
    for row, mean in enumerate(overlapping(100), 1):
        source.add(mean, 1000 * row, float(LENGTH), None)
        grown = grown or source.row_noise.grows
        assert (source.rows_per_window > 1.0) is source.row_noise.grows
    assert grown


def test_independent_rows_of_unknown_kind_are_no_window() -> None:
    """Each is a measurement by itself."""
    source = RewardPoints(Sample())
    points_of(source, normal(200), 10)
    assert source.window_episodes == 0
    assert source.rows_per_window == 1.0


@pytest.mark.parametrize(("length", "may_be"), [(100.0, True), (170.0, False)])
def test_the_number_of_episodes_in_a_window_that_fills_does_not_fall(
    length: float, may_be: bool
) -> None:
    """Forty have ended by their mean length; a little later 25 or 15 would have."""
    source = RewardPoints(Sample())
    source.add(1.0, 2000, 50.0, None)
    source.add(2.0, 2500, length, None)
    assert source.may_be_window is may_be


@pytest.mark.parametrize("sample", [Sample("episode"), Sample("window", 100), Sample("update")])
def test_a_copy_goes_on_as_the_original_would(sample: Sample) -> None:
    """And neither sees what the other is given."""
    source, means = RewardPoints(sample), overlapping(60, 4)
    for row, mean in enumerate(means[:30], 1):
        source.add(mean, 4 * LENGTH * row, float(LENGTH), 4.0 * row)
    copy = source.copy()
    for row, mean in enumerate(means[30:], 31):
        copied = copy.add(mean, 4 * LENGTH * row, float(LENGTH), 4.0 * row)
        assert copied == source.add(mean, 4 * LENGTH * row, float(LENGTH), 4.0 * row)
    assert copy.blocks is not None and source.blocks is not None
    assert copy.blocks.blocks == source.blocks.blocks
    assert copy.noise == source.noise


# --- what is counted ---------------------------------------------------------------------------


@pytest.mark.parametrize("each", [50, 1000])
def test_a_row_holds_at_least_one_episode(each: int) -> None:
    """Also where half of one has ended, or nobody counts them."""
    source = RewardPoints(Sample())
    for row in range(1, 31):
        source.add(float(row % 7), 100 * row, 200.0 if each == 50 else None, None)
    assert source.episodes == 30.0


def test_a_length_of_nothing_counts_no_episodes() -> None:
    """Some environments end before their first step."""
    source = RewardPoints(Sample("update"))
    source.add(1.0, 4000, 0.0, None)
    assert not source.counted


def test_what_was_not_counted_once_is_never_known_in_full() -> None:
    """The episodes of a row without a length are missing ever after."""
    source = RewardPoints(Sample("update"))
    for row, length in enumerate([100.0, None, 100.0, 100.0], 1):
        source.add(float(row), 4000 * row, length, None)
    assert not source.counted


def test_episodes_may_have_begun_before_the_log() -> None:
    """A second row of fewer steps than an episode takes says nothing about their unit."""
    source = RewardPoints(Sample("update"))
    source.add(1.0, 0, 5000.0, None)
    source.add(2.0, 1000, 5000.0, None)
    assert not source.has_other_unit


# --- rows that are blocks of episodes ----------------------------------------------------------


@pytest.mark.parametrize(
    ("sample", "each", "in_blocks"),
    [
        (Sample("update"), 19, True), (Sample("update"), 21, False), (Sample("episode"), 19, True),
        (Sample("episode"), 21, False), (Sample(), 5, False),
    ],
)  # fmt: skip
def test_the_first_row_tells_whether_rows_are_measurements(
    sample: Sample, each: int, in_blocks: bool
) -> None:
    """A mean of twenty episodes is one; fewer go into blocks, unless nobody knows what rows are."""
    source = RewardPoints(sample)
    assert source.add(1.0, LENGTH * each, float(LENGTH), None) == (
        [] if in_blocks else [RewardPoint(1.0, 1.0)]
    )
    source.add(2.0, LENGTH * 60, float(LENGTH), None)
    source.add(3.0, LENGTH * 63, float(LENGTH), None)
    assert (source.blocks is not None) is in_blocks


SIX, FOUR = [float(row % 6) for row in range(60)], [float(row % 4) for row in range(60)]


def split_at(source: RewardPoints, rewards: list[float], steps: int, length: float | None) -> int:
    """The row at which rewards turn out to be single episodes; 0: at none."""
    history = History()
    for row, reward in enumerate(rewards, 1):
        history.push(row, reward)
        source.add(reward, row * steps, length, None)
        if source.put_into_blocks(history):
            return row
    return 0


@pytest.mark.parametrize(
    ("sample", "rewards", "length", "row"),
    [
        (Sample(), FOUR, None, 20),
        (Sample(), SIX, None, 40),
        (Sample(), [1.0] * 60, None, 0),
        (Sample(), FOUR, 20.0, 20),
        (Sample("update"), FOUR, None, 20),
        (Sample("update"), FOUR, 20.0, 0),
        (Sample("window", 100), FOUR, None, 0),
        (Sample("episode"), FOUR, None, 0),
    ],
)
def test_few_different_values_are_those_of_single_episodes(
    sample: Sample, rewards: list[float], length: float | None, row: int
) -> None:
    """At most a quarter of the rows differ, and nobody knows that a row holds more than one."""
    assert split_at(RewardPoints(sample), rewards, 1000, length) == row


@pytest.mark.parametrize(("length", "blocks"), [(None, 2), (350.0, 5)])
def test_single_episodes_of_the_past_are_put_into_blocks(length: float | None, blocks: int) -> None:
    """Of ten episodes: one a row if nobody counts them."""
    source = RewardPoints(Sample())
    assert split_at(source, FOUR, 1000, length) == 20
    assert source.blocks is not None
    assert len(source.blocks.blocks) == blocks
    assert source.rows_per_window == 1.0


def test_rows_may_be_put_into_blocks_for_sixty_rows_or_when_their_noise_is_asked_for() -> None:
    """Of a trainer's table only the first; those that are in blocks always are."""
    rows, blocks = RewardPoints(Sample()), RewardPoints(Sample("episode"))
    means = RewardPoints(Sample("update"))
    for row in range(1, 62):
        rows.add(float(row), 1000 * row, None, None)
        blocks.add(float(row), 1000 * row, None, None)
        means.add(float(row), 1000 * row, None, None)
        assert blocks.may_be_in_blocks(0)
        assert rows.may_be_in_blocks(58) is means.may_be_in_blocks(1000) is (row <= 60)
        assert rows.may_be_in_blocks(120 - row)


# --- successes ---------------------------------------------------------------------------------


def rare(best: float, count: int = 60) -> list[float]:
    """Every twentieth row has a success."""
    return [best if row % 20 == 19 else 0.0 for row in range(count)]


@pytest.mark.parametrize(
    ("sample", "best", "each", "noise"),
    [
        (Sample("update"), 1.0, 40, 0.079),
        (Sample("update"), 1.5, 20, 0.08),
        (Sample("window", 100), 0.5, 30, 0.05),
        (Sample(), 1.0, 20, 0.065),
    ],
)
def test_luck_is_that_of_shares_of_episodes(
    sample: Sample, best: float, each: int, noise: float
) -> None:
    """sqrt(p (1 - p) / n), p at most a half; not of rewards beyond 1, or of unknown kind."""
    source = RewardPoints(sample)
    for row, reward in enumerate(rare(best), 1):
        source.add(reward, row * each * LENGTH + 37, float(LENGTH), None)
    assert source.noise == pytest.approx(noise, rel=0.1)


def test_a_row_of_which_nobody_knows_the_episodes_shows_only_its_own_noise() -> None:
    """Luck of a single one would be half of the most there is."""
    source = RewardPoints(Sample("update"))
    for row, reward in enumerate(rare(1.0), 1):
        source.add(reward, row, None, None)
    assert source.noise < 0.1


# --- blocks ------------------------------------------------------------------------------------


def blocks_of(rewards: list[float]) -> EpisodeBlocks:
    """Blocks of ten episodes."""
    blocks = EpisodeBlocks()
    for reward in rewards:
        blocks.add(reward, 1.0)
    return blocks


def test_a_block_is_as_certain_as_its_rows_are_alike() -> None:
    """Where they differ twice as much as usual, its mean is half as certain; never more than usual.

    Nothing is known of the noise of rewards that are all equal.
    """
    calm, wide = [0.0, 1.0] * 5, [0.0, 2.0] * 5
    noisy = blocks_of([*calm, *calm, *wide, *[0.5] * 10])
    assert [point.excess for point in noisy.points()] == pytest.approx([1.0, 1.0, 2.0, 1.0])
    assert [point.excess for point in blocks_of([3.0] * 20).points()] == [1.0, 1.0]


def test_one_row_tells_nothing_of_its_error() -> None:
    """Two do."""
    assert Block(1.0, 5.0, 0.0).error == 0.0
    assert Block(2.0, 5.0, 4.0).error == pytest.approx(2.0**0.5)


def test_equal_rewards_lie_within_no_block_apart() -> None:
    """None of their spread does, as there is none."""
    assert blocks_of([3.0] * 20).inner_share() == 0.0


def test_merged_blocks_hold_twice_as_many_episodes() -> None:
    """So do those that follow."""
    blocks = blocks_of([float(n % 2) for n in range(620)])
    assert blocks.merge_pairs()
    assert {block.size for block in blocks.blocks} == {20.0}
    assert [blocks.add(0.0, 1.0) for _ in range(20)] == [False] * 19 + [True]


# --- counts of episodes --------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "off"), [(123.0, 0.5), (12.3, 0.05), (1234.0, 0.0)])
def test_a_printed_number_may_be_off_by_half_of_its_last_digit(value: float, off: float) -> None:
    """Three digits are printed; what has more was not."""
    assert rounding(value) == pytest.approx(off)


def test_what_is_new_in_a_mean_takes_new_episodes() -> None:
    """A count that stays or falls is none to go by, now and later."""
    window = WindowMean(100)
    assert window.fresh(5.0, 4.0) == 5.0
    assert window.fresh(5.0, 4.0) is None
    assert window.fresh(5.0, 8.0) is None


@pytest.mark.parametrize(("step", "length"), [(800, 0.0), (400, 100.0), (300, 100.0)])
def test_episodes_that_take_no_step_are_not_counted(step: int, length: float) -> None:
    """Nor those of a row at the step of the one before."""
    count = EpisodeCount(100)
    assert count.add(400, 100.0, None) == 4.0
    assert count.add(step, length, None) is None
