"""A run beside the other seeds of its experiment: far below all of them, or nothing is said."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from ppo_top.runs.reward_curve import RewardCurve
from ppo_top.views.siblings import (
    BelowSiblings,
    Sibling,
    SiblingFacts,
    below_siblings,
    runs_below_siblings,
    sibling,
)

BINS = 64
WIDTH = 1024

Draw = Callable[[random.Random], list[float]]


def curve(values: list[float], width: int = WIDTH) -> RewardCurve:
    """A curve with a value in each bin."""
    count = len(values)
    return RewardCurve(
        "reward_mean", width, tuple(range(count)), tuple(values), (1,) * count, count
    )


def level(height: float, noise: float = 5.0, seed: int = 0, bins: int = BINS) -> RewardCurve:
    """A run that rises to a height within a few bins."""
    draw = random.Random(seed)
    return curve([height * (1 - math.exp(-n / 4)) + draw.gauss(0, noise) for n in range(bins)])


OTHERS = [level(height, seed=n) for n, height in enumerate((380, 395, 400, 405, 420), 1)]


def said(own: RewardCurve, others: list[RewardCurve] | None = None) -> BelowSiblings | None:
    """What is said of a run beside the others."""
    return below_siblings(own, OTHERS if others is None else others)


# --- what is found -------------------------------------------------------------------------------


def test_a_run_that_never_learned_is_below_all_others_from_the_start() -> None:
    """The remark gives both levels."""
    found = said(level(20))
    assert found is not None
    assert found.others == 5
    assert found.since <= 2 * BINS * WIDTH // 16
    assert found.text.startswith("below all of 5 others at this step, ")
    assert found.title == "Below all of 5 others"


def test_a_run_that_fell_is_below_them_since_then() -> None:
    """It had been as good as they are up to the middle."""
    fallen = list(level(410).means)
    fallen[BINS // 2 :] = [60.0] * (BINS // 2)
    found = said(curve(fallen))
    assert found is not None
    assert found.since == BINS // 2 * WIDTH
    assert "since step 32,768: reward 60, theirs 3" in found.text


@pytest.mark.parametrize("bins", [BINS, BINS * 5 // 8])
def test_a_live_run_is_compared_at_its_own_step(bins: int) -> None:
    """The others are further."""
    assert said(level(20, bins=bins)) is not None
    assert said(level(400, bins=bins)) is None


def test_a_longer_log_in_wider_bins_is_comparable() -> None:
    """Each curve has its own width."""
    wide = [curve(list(each.means), WIDTH * 2) for each in OTHERS]
    assert said(level(20, bins=BINS), wide) is not None


# --- what is not ---------------------------------------------------------------------------------


def test_the_lowest_of_equals_is_not_far_below() -> None:
    """One always is."""
    assert said(level(360)) is None


def test_one_bad_stretch_is_no_level() -> None:
    """It counts what it has lost over its last quarter, in each part of it."""
    dip = list(level(400).means)
    dip[-6:-2] = [0.0] * 4
    assert said(curve(dip)) is None


def test_beside_fewer_than_four_nothing_is_said() -> None:
    """Nor where the others have not come as far."""
    assert said(level(20), OTHERS[:4]) is not None
    assert said(level(20), OTHERS[:3]) is None
    behind = [level(400, seed=n, bins=BINS // 2) for n in range(5)]
    assert said(level(20), behind) is None


def test_other_metrics_are_not_compared() -> None:
    """A success rate is below every return."""
    assert said(level(0.9)._replace(metric="success_rate")) is None


def test_a_small_loss_is_not_worth_a_word() -> None:
    """However equal the others are: 480 beside five times 500."""
    same = [level(500, noise=0.1, seed=n) for n in range(5)]
    assert said(level(480, noise=0.1), same) is None
    assert said(level(300, noise=0.1), same) is not None


@pytest.mark.parametrize("bins", [0, 1, 8])
def test_a_run_that_has_just_begun_is_not_compared(bins: int) -> None:
    """Too few values are no level."""
    assert said(level(20, bins=bins)) is None


# --- how often it is wrong -----------------------------------------------------------------------


def plateau(draw: random.Random) -> list[float]:
    """A level of its own, and much noise."""
    height = draw.gauss(100, 10)
    return [height + draw.gauss(0, 20) for _ in range(BINS)]


def ramp(draw: random.Random) -> list[float]:
    """A slope of its own."""
    slope = math.exp(draw.gauss(0, 0.3))
    return [100 * slope * n / BINS + draw.gauss(0, 5) for n in range(BINS)]


def jump(draw: random.Random) -> list[float]:
    """It learns all of a sudden, sooner or later: some take twice as long as others."""
    onset = 0.4 * BINS * math.exp(draw.gauss(0, 0.6))
    return [500 / (1 + math.exp(min(50, (onset - n) / 2))) + draw.gauss(0, 5) for n in range(BINS)]


def heavy(draw: random.Random) -> list[float]:
    """Levels with heavy tails."""
    height = 100 + 10 * draw.gauss(0, 1) / math.sqrt(draw.gammavariate(1.5, 2) / 3)
    return [height * (1 - math.exp(-n / 10)) + draw.gauss(0, 10) for n in range(BINS)]


@pytest.mark.parametrize("shape", [plateau, ramp, jump, heavy])
def test_of_six_equal_runs_one_is_called_low_in_at_most_two_groups_of_a_hundred(
    shape: Draw,
) -> None:
    """1,000 groups of each shape."""
    draw, wrong = random.Random(6), 0
    for _ in range(1000):
        runs = [curve(shape(draw)) for _ in range(6)]
        wrong += any(below_siblings(run, [o for o in runs if o is not run]) for run in runs)
    assert wrong <= 20


def test_a_run_that_learns_nothing_is_found_beside_five_that_reach_the_ceiling() -> None:
    """In nine groups of ten."""
    draw, found = random.Random(7), 0
    for _ in range(100):
        others = [
            level(min(500, 495 + draw.gauss(0, 5)), seed=draw.randrange(10**9)) for _ in "abcde"
        ]
        found += said(level(20, seed=draw.randrange(10**9)), others) is not None
    assert found >= 90


# --- who is a sibling ----------------------------------------------------------------------------


def runs(*paths: str, low: int = 0, **settings: str) -> dict[str, Sibling]:
    """Runs in these places, the first `low` of which learn nothing."""
    found = {}
    for number, path in enumerate(paths):
        own = level(20 if number < low else 400 + 5 * number, seed=number)
        facts = SiblingFacts(("sb3", "PPO"), tuple(settings.items()), "", own)
        found[path] = sibling(path.rpartition("/")[2], path, facts)
    return found


SEEDS = tuple(f"runs/ppo_{seed}" for seed in range(1, 7))


def test_seeds_in_one_directory_are_siblings() -> None:
    """By names that differ in the seed only."""
    assert list(runs_below_siblings(runs(*SEEDS, low=1))) == ["runs/ppo_1"]


def test_each_seed_may_have_a_directory_of_its_own() -> None:
    """`cartpole/seed_1/ppo_1`, `cartpole/seed_2/ppo_2`, ..."""
    paths = [f"cartpole/seed_{seed}/ppo_{seed}" for seed in range(1, 7)]
    assert list(runs_below_siblings(runs(*paths, low=1))) == [paths[0]]


def test_two_of_six_are_a_matter_of_luck() -> None:
    """None of them is below all others, by far."""
    assert runs_below_siblings(runs(*SEEDS, low=2)) == {}


def test_other_settings_places_and_algorithms_are_none() -> None:
    """One run of six is of another experiment in each case."""
    usual = runs(*SEEDS, low=1, learning_rate="0.0003")
    assert runs_below_siblings(usual)
    first = usual[SEEDS[0]]
    elsewhere = first._replace(folder="other/place", above="other")
    renamed = first._replace(traits=first.traits._replace(settings=frozenset({("a", "b")})))
    for other in (elsewhere, renamed, first._replace(kind=("sb3", "A2C"))):
        assert runs_below_siblings({**usual, SEEDS[0]: other}) == {}
