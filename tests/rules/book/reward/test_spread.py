"""Around the mean reward: spread, tails, episode length, evaluation."""

from __future__ import annotations

from collections.abc import Callable

from ppo_top.model import Severity
from tests.rules.courses import after, back, flat, late, learned, rise, steady_gain, within
from tests.rules.specification import (
    AT_LAST,
    INFO,
    WARN,
    WATCH,
    Boundary,
    Clearing,
    Contrast,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import DrawnColumn, DrawnColumns, gauss, jitter

EVALS: DrawnColumns = {
    "reward_mean": steady_gain,
    "eval_reward_mean": lambda i: 600.0 - 8 * i if i % 5 == 0 else None,
}  # fmt: skip
"""Evaluation falls while the training's reward rises."""


def evals_at(*rows: int) -> DrawnColumns:
    """Evaluations far below training, all alike."""
    return {
        "eval_reward_mean": lambda i: -50.0 if i in rows else None,
        "eval_reward_std": lambda i: 1.0 if i in rows else None,
    }


LONG_TAIL: DrawnColumns = {"reward_p1": -9.0, "reward_p50": 0.0, "reward_p99": 1.0}


def lagging(until: int) -> Callable[[int], float]:
    """Evaluations that are far below training twice, and a third time up to a row."""
    low = {*range(20, 24), *range(34, 38), *range(48, until)}
    return lambda i: 60.0 if i in low else 180.0


def evaluations(noise: float) -> DrawnColumn:
    """An evaluation each five updates, up and down by chance, and in the end only down."""
    return lambda i: (
        None if i % 5 else 200.0 + noise * (-1) ** (i // 5) if i < 40 else 300.0 - 10 * (i - 35)
    )


FIRST_DOWN_THEN_APART: DrawnColumns = {
    "ep_len": lambda i: 200.0 if i < 5 else 50.0 + i,
    "reward_mean": lambda i: 100.0 if i < 5 else 20.0 - 0.5 * i,
}
"""Both fall at once, and then the length rises while the reward goes on to fall."""


def one_lag(row: int) -> Callable[[int], float]:
    """The same, all good since row 52 but for one."""
    return lambda i: 60.0 if i == row else 180.0 if i >= 52 else lagging(52)(i)


def there_and_back(slope: float) -> DrawnColumn:
    """An episode length that rises until row 60, and then falls by so much in each update."""
    return lambda i: 20 + 3.0 * i + jitter(i) if i < 60 else 200 - slope * (i - 60)


# fmt: off
class TestRewardSpread(RuleTests):
    """Reward std rising."""

    rule = "reward-spread"
    examples = (
        RuleCase({"reward_std": lambda i: 1.0 + 0.2 * max(0, i - 20), "reward_mean": 1.0},
            {"reward_std": lambda i: 1.0 + 0.02 * i, "reward_mean": 1.0}, WATCH, family="rlhf"),
        Contrast("a reward is logged", {"reward_std": after(30, 4.0, 1.0), "reward_mean": 1.0},
            {"reward_mean": None, "rlhf_reward": None}, WATCH, 0, family="rlhf"),
        Contrast("it does not come back", {"reward_std": after(20, 4.0, 1.0), "reward_mean": 1.0},
            {"reward_std": within(20, 40, 4.0, 1.0)}, WATCH, 0, family="rlhf", log=AT_LAST),
        Contrast("the mean grows as much", {"reward_std": after(30, 3.1, 1.0), "reward_mean": 1.0},
            {"reward_mean": after(25, 4.0, 1.0)}, WATCH, 0, family="rlhf"),
        Contrast("it was above 0 at the start", {"reward_std": after(30, 4.0, 1.0),
            "reward_mean": 1.0}, {"reward_std": after(30, 4.0, 0.0)}, WATCH, 0, family="rlhf"),
        Boundary("times", late("reward_std", 1.0, reward_mean=1.0), WATCH, family="rlhf"),
        Clearing("clear", back("reward_std", 1.0, 4.0, reward_mean=1.0), family="rlhf"),
    )


class TestRewardLengthDiverge(RuleTests):
    """Reward and episode length diverge."""

    rule = "reward-length-diverge"
    examples = (
        RuleCase({"ep_len": lambda i: 20 + 3.0 * i + jitter(i) if i < 60 else 200 - 3.0 * (i - 60)},
            {}, WATCH, count=100),
        Contrast("the length moves notably", {"ep_len": there_and_back(3.0), "reward_mean": rise},
            {"ep_len": there_and_back(0.3)}, WATCH, 0, count=100),
        Contrast("reward and length had to do with each other at first",
            {"ep_len": lambda i: 20 + 3.0 * i + jitter(i) if i < 60 else 200 - 3.0 * (i - 60),
            "reward_mean": rise},
            {"ep_len": lambda i: 50 + jitter(i, 20) if i < 30 else 20 + 3.0 * i if i < 60 else 200
                - 3.0 * (i - 60)}, WATCH, 0, count=100),
        Contrast("the length moves by more than chance",
            {"ep_len": there_and_back(3.0), "reward_mean": rise},
            {"ep_len": lambda i: 20 + 3.0 * i if i < 60 else 200 - i + gauss(i, 60.0)}, WATCH, 0,
            count=100),
        Contrast("the reward moves by more than chance",
            {"ep_len": there_and_back(3.0), "reward_mean": steady_gain},
            {"reward_mean": lambda i: steady_gain(i) if i < 60 else i + gauss(i, 60.0)}, WATCH, 0,
            count=100),
        Contrast("26 updates have shown how they usually go, and three how they go now",
            FIRST_DOWN_THEN_APART, {}, WATCH, 0, count=28, otherwise_count=27),
        Contrast("they went together at first",
            {"reward_mean": lambda i: (5.0 * i if i < 25 else 250.0 - 5.0 * i) + jitter(i, 3),
            "ep_len": lambda i: 5.0 * i + jitter(i, 3)}, {"ep_len": lambda i: 100 + jitter(i, 3)},
            WATCH, 0),
    )


class TestEvalGap(RuleTests):
    """Eval reward lags training reward."""

    rule = "eval-gap"
    examples = (
        RuleCase({"eval_reward_mean": lambda i: 30.0 if i % 10 == 9 else None},
            {"eval_reward_mean": lambda i: rise(i) if i % 10 == 9 else None}, WATCH),
        Contrast("training has gained anything", {"reward_mean": learned,
            "eval_reward_mean": lambda i: -50.0 if i % 10 == 9 else None}, {"reward_mean": flat},
            WARN, 0),
        Contrast("the difference is more than the evaluation's own spread", {"reward_mean": learned,
            "eval_reward_mean": lambda i: 50.0 if i == 59 else None,
            "eval_reward_std": lambda i: 40.0 if i == 59 else None},
            {"eval_reward_std": lambda i: 80.0 if i == 59 else None}, WATCH, 0),
        Contrast("a fifth of the gain is lost in three evaluations", EVALS,
            {"eval_reward_mean": lambda i: 600.0 - 1.0 * i if i % 5 == 0 else None}, WARN, 0),
        Contrast("each of three evaluations is lower than the one before", EVALS,
            {"eval_reward_mean": lambda i: 600.0 - 8 * i + 60.0 * (i % 10 == 5) if i % 5 == 0 else
                None}, WARN, 0),
        Contrast("three evaluations lag far behind",
            {"reward_mean": learned, **evals_at(39, 49, 59)}, evals_at(49, 59), WARN, WATCH),
        Contrast("six evaluations are as good as training, however often others lagged",
            {"reward_mean": learned, "eval_reward_mean": lagging(60)},
            {"eval_reward_mean": lagging(52)}, WATCH, 0, log=AT_LAST),
        Contrast("none of the last six evaluations lags",
            {"reward_mean": learned, "eval_reward_mean": one_lag(55)},
            {"eval_reward_mean": one_lag(53)}, WATCH, 0, log=AT_LAST),
        Contrast("most of the last six evaluations are no lower than training",
            {"reward_mean": learned,
            "eval_reward_mean": lambda i: 150.0 if i >= 54 else one_lag(0)(i)},
            {"eval_reward_mean": one_lag(0)}, WATCH, 0, log=AT_LAST),
        Contrast("the policy plays against itself, where training rewards tell nothing",
            {"eval_reward_mean": lambda i: 30.0 if i % 10 == 9 else None}, {}, WARN, 0,
            differs_config={"self_play": True}),
        Contrast("three evaluations in turn are far below", {"reward_mean": learned,
            "eval_reward_mean": lambda i: -20.0 if i in (20, 30, 40, 50) else None},
            {"eval_reward_mean": lambda i: {20: 160.0, 30: -20.0, 40: -20.0, 50: -20.0}.get(i)},
            WARN, WATCH),
        Contrast("training still rises while evaluation falls",
            {"reward_mean": lambda i: 20.0 + 4.0 * i,
            "eval_reward_mean": lambda i: {40: 150.0, 45: 120.0, 50: 90.0, 55: 60.0}.get(i)},
            {"reward_mean": lambda i: 20.0 + 4.0 * min(i, 20) + jitter(i, 1)}, WARN, 0),
        Contrast("evaluation falls by more than it differs by chance",
            {"reward_mean": lambda i: 20.0 + 4.0 * i, "eval_reward_mean": evaluations(5.0)},
            {"eval_reward_mean": evaluations(15.0)}, WARN, WATCH),
        Contrast("the reward of answers is a return as well", {"reward_mean": None,
            "rlhf_reward": learned,
            "eval_reward_mean": lambda i: 0.1 * learned(i) if i % 5 == 4 else None},
            {"eval_reward_mean": lambda i: learned(i) if i % 5 == 4 else None}, WARN, 0,
            family="rlhf"),
        Contrast("training is measured by its return, too", {"reward_mean": learned,
            "eval_reward_mean": lambda i: -20.0 if i in (20, 30, 40, 50) else None},
            {"reward_mean": None, "success_rate": lambda i: learned(i) / 200}, WARN, 0),
        Contrast("evaluation falls while training rises", {"reward_mean": steady_gain,
            "eval_reward_mean": lambda i: 260.0 - 4 * (i - 30) if i % 5 == 0 else None},
            {"eval_reward_mean": lambda i: 260.0 + 4 * (i - 30) if i % 5 == 0 else None}, WARN, 0),
        Boundary("share",
            lambda x: {"eval_reward_mean": lambda i: (1 - x) * rise(i) if i % 10 == 9 else None},
            WATCH, step=0.1),
        Boundary("far",
            lambda x: {"eval_reward_mean": lambda i: (1 - x) * rise(i) if i % 10 == 9 else None},
            WARN, step=0.1),
        Contrast("fewer than six evaluations were as good as training, which it fell towards",
            {"reward_mean": steady_gain, "eval_reward_mean": lambda i:
            {30: 500.0, 35: 440.0, 40: 380.0, 45: 320.0, 50: 330.0, 55: 331.0}.get(i)}, {}, WARN, 0,
            count=52, otherwise_count=60, log=AT_LAST),
    )


class TestLongTails(RuleTests):
    """Heavy-tailed rewards or advantages."""

    rule = "long-tails"
    examples = (
        RuleCase({"reward_p1": 0.0, "reward_p50": 1.0, "reward_p99": 20.0},
            {"reward_p1": 0.0, "reward_p50": 1.0, "reward_p99": 2.5}, INFO, family="rlhf"),
        Contrast("the first percentile is logged", LONG_TAIL, {"reward_p1": None}, WATCH, 0,
            family="rlhf"),
        Contrast("the last percentile is logged", LONG_TAIL, {"reward_p99": None}, WATCH, 0,
            family="rlhf"),
        Contrast("the middle is above the lowest",
            {"reward_p1": 0.0, "reward_p50": 1.0, "reward_p99": 9.0}, {"reward_p1": 1.0}, WATCH, 0,
            family="rlhf"),
        Contrast("advantages have a long tail", {"adv_p1": -1.0, "adv_p50": 0.0, "adv_p99": 5.15},
            {"adv_p99": 4.85}, WATCH, 0),
        Contrast("the tail is below", {"reward_p1": -5.15, "reward_p50": 0.0, "reward_p99": 1.0},
            {"reward_p1": -4.85}, WATCH, 0, family="rlhf"),
        Contrast("the three differ", {"reward_p1": -9.0, "reward_p50": 0.0, "reward_p99": 1.0},
            {"reward_p99": 0.0}, WATCH, 0, family="rlhf"),
        Boundary("skew", lambda x: {"reward_p1": 0.0, "reward_p50": 1.0, "reward_p99": 1.0 + x},
            Severity.INFO, family="rlhf"),
    )


class TestAdvantagesOff(RuleTests):
    """Advantages not centred."""

    rule = "advantages-off"
    examples = (
        RuleCase({"adv_mean": 0.4}, {"adv_mean": 0.05}, INFO, family="rlhf"),
        Boundary("mean", lambda x: {"adv_mean": x}, Severity.INFO, family="rlhf"),
    )
