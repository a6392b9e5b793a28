"""The reward: it falls back, or is not logged."""

from __future__ import annotations

from collections.abc import Callable

from ppo_top.model import Sample
from tests.rules.courses import bump, fallen, hill, peak, rise
from tests.rules.specification import (
    AT_LAST,
    CRIT,
    ENDED,
    INFO,
    WARN,
    Boundary,
    Clearing,
    Contrast,
    RowLog,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import DrawnColumns, gauss, jitter

EARLY: DrawnColumns = {
    "reward_mean": lambda i: jitter(i, 3) + (60.0 * min(i, 8) if i < 14 else 0.0), "ep_len": 200.0,
}  # fmt: skip
"""A reward that is lost soon after it was gained."""


def dips(i: int) -> float:
    """A reward that falls for five updates, and again for good."""
    high, low = 20.0 * min(i, 20), 130.0 if i < 27 else 110.0
    return jitter(i, 2) + (high if i < 22 or 27 <= i < 40 else low)


def learned_at_once(start: float) -> Callable[[int], float]:
    """A reward that leaps within six rows, and loses some of that slowly."""
    return lambda i: gauss(i, 12.0) + (start if i < 6 else 190.0 + 50.0 * 0.95 ** max(0, i - 20))


TRAINED_LATE: DrawnColumns = {"critic_loss": lambda i: 3.0 if i >= 12 else None}

EVERY_OTHER: DrawnColumns = {
    "reward_mean": lambda i: None if i % 2 else jitter(i, 1) + 2.4 * (8 <= i < 70), "ep_len": 20.0,
}  # fmt: skip


def rating(height: float) -> DrawnColumns:
    """A rating that gains so many points, and loses them."""
    return {"elo": lambda i: 1200.0 + jitter(i) + height * (min(i, 8) / 8 if i <= 30 else 0.0)}


# fmt: off
class TestRewardCrash(RuleTests):
    """Reward collapsed."""

    rule = "reward-crash"
    examples = (
        RuleCase({"reward_mean": fallen}, {"reward_mean": lambda i: rise(i) - 25}, CRIT),
        Contrast("random actions earned the best, before anything was trained",
            {**EARLY, "critic_loss": 3.0}, {"critic_loss": lambda i: 3.0 if i > 11 else None}, CRIT,
            0, "off-policy"),
        Contrast("it has lasted three times as long as an earlier fall", {"reward_mean": dips}, {},
            CRIT, WARN, count=60, otherwise_count=52),
        Contrast("more than half is lost",
            {"reward_mean": lambda i: 400 * ((1 - 0.8**i) if i < 40 else -2.0) + jitter(i, 1)},
            {"reward_mean": lambda i: 400 * ((1 - 0.8**i) if i < 40 else 0.45) + jitter(i, 1)},
            CRIT, WARN),
        Contrast("what was learned at once is told from the start",
            {"reward_mean": learned_at_once(180.0)}, {"reward_mean": learned_at_once(80.0)}, WARN,
            0, count=100, log=RowLog(sample=Sample())),
        Contrast("the run is over, whether or not its last row holds a reward", EVERY_OTHER, {},
            WARN, 0, count=84, log=ENDED, otherwise_log=RowLog()),
        Contrast("the policy plays against itself, where no reward need grow", hill(90.0, 30), {},
            CRIT, 0, differs_config={"self_play": True}),
        Contrast("the policy plays against itself, at the end of a run", hill(90.0, 30), {}, CRIT,
            0, log=ENDED, differs_config={"self_play": True}),
        Contrast("a quarter of the gain is still lost",
            {"reward_mean": lambda i: jitter(i, 1) + 10.0 * min(i, 10) * (0.2 if 30 <= i < 34 else
                1.0) - 25.0 * (i >= 34)},
            {"reward_mean": lambda i: jitter(i, 1) + 10.0 * min(i, 10) * (0.2 if 30 <= i < 34 else
                1.0) - 8.0 * (i >= 34)}, WARN, 0, log=AT_LAST),
        Contrast("anything was gained before the end", hill(5.0, 36), hill(1.65, 36), WARN, 0,
            log=ENDED),
        Contrast("random actions earned the best, at the end of a run", hill(90.0, 11),
            TRAINED_LATE, CRIT, 0, "off-policy", log=ENDED),
        Contrast("it was lost, though no update was logged before",
            {**hill(90.0, 11), "value_loss": lambda i: 3.0 if i >= 12 else None}, hill(90.0, 60),
            CRIT, 0),
        Contrast("the best came with the second update", {**peak(13), **TRAINED_LATE}, peak(12),
            CRIT, 0, "off-policy"),
        Contrast("the loss is six times the noise", hill(100.0, 30, 0.2, 12.0),
            hill(100.0, 30, 0.2, 18.0), CRIT, WARN),
        Contrast("a gain at the end was more than a moment", bump(4.5, 40), bump(4.5, 32), WARN, 0,
            log=ENDED),
        Boundary("warn",
            lambda x: {"reward_mean": lambda i: 400 * ((1 - 0.8**i) if i < 40 else 1 - x) +
                jitter(i, 1)}, WARN, count=46),
        Boundary("crit",
            lambda x: {"reward_mean": lambda i: 400 * ((1 - 0.8**i) if i < 40 else 1 - x) +
                jitter(i, 1)}, CRIT),
        Boundary("beyond",
            lambda x: {"reward_mean": lambda i: 300 + 100 * min(1, max(0, 0.05 * (i - 9)) if i < 40
                else 1 - x) + jitter(i, 1)}, CRIT, -1, family="off-policy"),
        Clearing("clear", lambda x: {"reward_mean": lambda i: 400 * (1 - 0.8**i if i < 40 else 0.2
            if i < 50 else 1 - x) + jitter(i, 1)}),
        Contrast("fifty points of a rating were gained", rating(55.0), rating(45.0), CRIT, 0),
        Contrast("half of the gain is lost in the last fifth of the run", hill(90.0, 47, 0.4, 30.0),
            hill(90.0, 47, 0.6, 30.0), WARN, 0, log=ENDED),
    )


class TestNoReward(RuleTests):
    """No reward logged."""

    rule = "no-reward"
    examples = (
        RuleCase({"reward_mean": None}, {}, INFO),
        Contrast("eight updates have passed", {"reward_mean": None}, {}, INFO, 0, count=8,
            otherwise_count=7),
        Contrast("the last row has no reward", {"reward_mean": None},
            {"reward_mean": lambda i: None if i < 59 else 1.0}, INFO, 0, log=AT_LAST),
    )
