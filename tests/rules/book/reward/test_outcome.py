"""How a run comes out: at its ceiling, or stopped too early. Said only beside no other finding."""

from __future__ import annotations

from ppo_top.model import Severity
from tests.rules.courses import AT_500, after, capped, learned, settled, steady_gain
from tests.rules.specification import AT_LAST, INFO, Boundary, Contrast, RuleCase, RuleTests
from tests.support.drawn_runs import DrawnColumns, jitter


def solved_thrice(i: int, then: float) -> float:
    """The most there is, but for two short dips, until row 110; from then on about `then`."""
    if i >= 110:
        return then + jitter(i, 15)
    return 480.0 + jitter(i, 5) if i % 25 < 8 and i >= 50 else capped(i)


EVALUATED: DrawnColumns = {
    "reward_mean": learned, "eval_reward_mean": 175.0, "eval_reward_std": 0.0,
}  # fmt: skip
"""Every evaluation episode scores a little more than training, which explores."""


def slows(i: int) -> float:
    """A reward that rises in each update, by ever less."""
    return float(100.0 * (1 - 0.6**i))


def with_a_dip(i: int) -> float:
    """A reward that rises in each update but one."""
    return 20.0 + 9.0 * i - 12.0 * (i == 3)


# fmt: off
class TestAtCeiling(RuleTests):
    """Reward at its ceiling."""

    rule = "at-ceiling"
    examples = (
        RuleCase({"reward_mean": lambda i: min(500.0, 20 + 20.0 * i)},
            {"reward_mean": lambda i: 20 + 5.0 * i}, INFO),
        Contrast("it stays near there, however often it was reached",
            {"reward_mean": lambda i: solved_thrice(i, 480.0)},
            {"reward_mean": lambda i: solved_thrice(i, 250.0)}, INFO, 0, count=150,
            log=AT_LAST),
        Contrast("episodes have ended meanwhile",
            {"reward_mean": lambda i: None if i < 12 else capped(5 * (i - 12)), "ep_len": 20.0},
            {"ep_len": 10_000.0}, INFO, 0, count=36),
        Contrast("every evaluation scores the same",
            {"reward_mean": learned, "eval_reward_mean": 175.0, "eval_reward_std": 0.0},
            {"eval_reward_std": 3.0}, INFO, 0),
        Contrast("training comes near to evaluation",
            {"reward_mean": learned, "eval_reward_mean": 175.0, "eval_reward_std": 0.0},
            {"eval_reward_mean": 190.0}, INFO, 0),
        Contrast("nothing else is open",
            {"reward_mean": learned, "eval_reward_mean": 175.0, "eval_reward_std": 0.0},
            {"approx_kl": 0.2}, INFO, 0),
        Contrast("evaluation scores are logged beside their spread", EVALUATED,
            {"eval_reward_mean": None}, INFO, 0),
        Contrast("the most of the task is not known", EVALUATED, {}, INFO, 0,
            differs_config=AT_500),
        Contrast("every evaluation reaches what solves the environment",
            {"reward_mean": lambda i: 20.0 + 30.0 * min(i, 15), "eval_reward_mean": 480.0,
            "eval_reward_std": 0.0},
            {"reward_mean": lambda i: 20.0 + 29.0 * min(i, 15), "eval_reward_mean": 465.0}, INFO, 0,
            config={"env_id": "CartPole-v1"}),
        Contrast("no evaluation exceeds what is taken for a share",
            {"reward_mean": 1.0, "eval_reward_mean": 1.0}, {"eval_reward_mean": 9.5}, INFO, 0),
        Contrast("anything was gained", EVALUATED,
            {"reward_mean": lambda i: 175.0 + jitter(i, 0.01), "eval_reward_mean": 175.02}, INFO,
            0),
        Contrast("what an evaluation showed holds until another one shows less",
            {**EVALUATED, "eval_reward_mean": lambda i: None if i % 6 else 175.0},
            {"eval_reward_mean": lambda i: None if i % 6 else (175.0 if i < 50 else 120.0)}, INFO,
            0, log=AT_LAST),
    )


class TestStillImproving(RuleTests):
    """Stopped while still improving."""

    rule = "still-improving"
    examples = (
        RuleCase({"reward_mean": lambda i: 20 + 5.0 * i + jitter(i, 3)}, {"reward_mean": settled},
            INFO, config={"total_timesteps": 60_000}),
        Contrast("it rose to the end", {"reward_mean": steady_gain},
            {"reward_mean": lambda i: 20 + 5.0 * min(i, 50) + jitter(i, 0.1)}, INFO, 0,
            config={"total_timesteps": 60_000}),
        Contrast("few updates rose at each", {"reward_mean": lambda i: 20.0 + 9 * i},
            {"reward_mean": lambda i: 20.0 + 9 * i - 30 * (i == 2)}, INFO, 0, count=5,
            config={"total_timesteps": 5_000}),
        Contrast("no plateau is open", {"reward_mean": lambda i: 20 + 1.6 * i + jitter(i, 2)},
            {"reward_mean": lambda i: learned(i) if i < 80 else 140 + 2 * (i - 80)}, INFO, 0,
            count=100, config={"total_timesteps": 100_000}, log=AT_LAST),
        Contrast("nothing is to be watched", {"reward_mean": steady_gain},
            {"approx_kl": after(30, 0.05, 0.01)}, INFO, 0, config={"total_timesteps": 60_000}),
        Contrast("fifteen updates show a trend", {"reward_mean": with_a_dip}, {}, INFO, 0, count=24,
            otherwise_count=12, config={"total_timesteps": 24_000},
            differs_config={"total_timesteps": 12_000}),
        Contrast("a rise at each of many updates may have levelled off", {"reward_mean": slows},
            {"reward_mean": steady_gain}, 0, INFO, config={"total_timesteps": 60_000}),
        Contrast("four updates rose", {"reward_mean": lambda i: 20.0 + 9 * i}, {}, INFO, 0, count=4,
            otherwise_count=3, config={"total_timesteps": 4000},
            differs_config={"total_timesteps": 3000}),
        Boundary("budget", lambda x: {"reward_mean": lambda i: 20 + 5.0 * i + jitter(i, 3)},
            Severity.INFO, total=lambda x: 60_000 / x),
        Contrast("its newest values differ", {"reward_mean": steady_gain},
            {"reward_mean": lambda i: steady_gain(min(i, 52))}, INFO, 0,
            config={"total_timesteps": 60_000}),
    )
