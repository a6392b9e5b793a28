"""Control tasks: the course of rewards, critics and entropy that the other tables leave open."""

from __future__ import annotations

from ppo_top.model import Severity
from tests.rules.cases import after, at, fallen, flat, rise
from tests.rules.specifications import (
    ENDED,
    FLAT,
    Contrast,
    RowLog,
    capped,
    learned,
    steady_gain,
    within,
)
from tests.rules.specifications_llm import STILL
from tests.support.drawn_runs import DrawnColumn, DrawnColumns, gauss, jitter

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT

ALTERNATING: DrawnColumns = {"clip_fraction": lambda i: 0.45 if i % 3 == 1 else None,
    "clip_range": 0.1}  # fmt: skip
"""Clip fractions of which the KL is logged in another row."""


def surprised(row: int = 40, explained: float = 0.1, loss: float = 60.0) -> DrawnColumns:
    """A good critic that fails in one row, after which the reward falls."""
    return {
        "explained_variance": at(row, explained, 0.9),
        "value_loss": at(row, loss, 4.0),
        "reward_mean": lambda i: rise(i) if i < 42 else rise(42) - 30.0 * (i - 41),
    }


def dips(i: int) -> float:
    """A reward that stays, but for eight updates before it is back where it was."""
    return 20.0 + jitter(i) - (15.0 if 42 <= i < 50 else 0.0)


def sinks(i: int) -> float:
    """A reward that stays, and then falls."""
    return 20.0 + jitter(i) - (15.0 if i >= 42 else 0.0)


def begins_at(start: float) -> DrawnColumn:
    """A noisy reward of 20 whose first three values were others."""
    return lambda i: (start if i < 3 else 20.0) + gauss(i, 3.0)


NEARLY_OVER = {"total_timesteps": 63_000}

# fmt: off
UNLEARNED_PAIRS = (
    Contrast("reward-never-moves", "a rise from below its start is seen on the way",
         {"reward_mean": sinks, "ep_len": 20.0}, {"reward_mean": dips}, WARN, WATCH,
         config=NEARLY_OVER),
    Contrast("reward-never-moves", "the learning rate proves that it learns nothing",
         {"reward_mean": dips, "ep_len": 20.0, "lr": 1e-8}, {"lr": 3e-4}, WARN, WATCH,
         config=NEARLY_OVER),
    Contrast("reward-never-moves", "at the end a rise to where it began is none",
         {"reward_mean": dips, "ep_len": 20.0}, {}, WARN, WATCH, log=ENDED, otherwise_log=RowLog()),
    Contrast("reward-never-moves", "a paste of a few rows proves nothing", {**FLAT, "lr": 1e-8},
         {"lr": 3e-4}, WARN, WATCH, count=11, log=ENDED),
    Contrast("reward-wrong-way", "its first values were far above, though its quarters are not",
         {"reward_mean": begins_at(50.0), "ep_len": 20.0}, {"reward_mean": begins_at(30.0)}, WARN,
         0, count=100),
)

AGE_PAIRS = (
    Contrast("clip-high", "a KL of the row before counts", {**ALTERNATING, "approx_kl": lambda
         i: 0.01 if i % 3 == 2 else None}, {"approx_kl": lambda i: 0.01 if i % 3 == 0 else
         None}, WARN, WATCH),
)

CRITIC_PAIRS = (
    Contrast("critic-failing", "its loss is half as high again", {"explained_variance": -0.5,
         "value_loss": lambda i: 10 * 1.0080**i, **FLAT}, {"value_loss": lambda i: 10 *
         1.0067**i}, CRIT, 0),
    Contrast("returns-changed", "it falls by more than half from a good fit", surprised(),
         surprised(explained=0.6), CRIT, 0),
    Contrast("returns-changed", "the loss is several times the usual", surprised(),
         surprised(loss=6.0), CRIT, 0),
    Contrast("returns-changed", "it was shortly before the fall", surprised(), surprised(row=12),
         CRIT, 0),
    Contrast("returns-changed", "an update holds enough steps", {**surprised(), "iteration":
         lambda i: 4.0 * i}, {"iteration": lambda i: 6.0 * i}, CRIT, 0),
    Contrast("returns-changed", "the critic was good before", surprised(),
         {"explained_variance": at(40, 0.1, 0.3)}, CRIT, 0),
)

ENTROPY_PAIRS = (
    Contrast("entropy-collapsed", "tokens are discrete, whatever their entropy is near to",
         {"entropy": after(12, 0.05, 1.4189), **STILL}, {"entropy": after(12, 0.5, 1.4189)},
         WARN, 0, family="grpo"),
    Contrast("action-spread", "the reward is below its ceiling", {"policy_std": after(30, 4.0,
         1.0), **FLAT}, {"reward_mean": 500.0}, WARN, 0, config={"reward_threshold": 500.0}),
    Contrast("action-spread-gone", "the reward is below its ceiling", {"policy_std": after(30,
         0.01, 1.0), **FLAT}, {"reward_mean": 500.0}, WARN, 0, config={"reward_threshold": 500.0}),
    Contrast("action-noise-growing", "nothing is known of a discrete policy", {"entropy":
         lambda i: 1.4189 + 0.02 * i, "policy_std": 1.0, **FLAT}, {"policy_std": None,
         "entropy": lambda i: 0.69 + 0.02 * i}, WARN, 0),
)

EPISODE_PAIRS = (
    Contrast("episodes-of-one-step", "nothing was learned", {"ep_len": 1.0, "reward_mean":
         flat}, {"reward_mean": rise}, WARN, 0),
    Contrast("episodes-of-one-step", "a length was measured", {"ep_len": 1.0, "reward_mean": flat},
         {"ep_len": 0.0}),
    Contrast("episodes-of-one-step", "twenty episodes of one step were the first", {"ep_len":
         within(0, 21, 1.0, 50.0), "reward_mean": flat}, {"ep_len": within(0, 20, 1.0, 50.0)},
         WARN, 0),
    Contrast("episodes-of-one-step", "they were longer before, and for ten updates are not",
         {"ep_len": within(30, 41, 1.0, 2.1), "reward_mean": flat}, {"ep_len": within(30, 41,
         1.0, 1.9)}, WARN, 0),
    Contrast("episodes-of-one-step", "they were longer before, whatever was learned",
         {"ep_len": after(40, 1.0, 50.0), "reward_mean": learned}, {"ep_len": 1.0}, WARN, 0),
)


def lagging(until: int) -> DrawnColumn:
    """Evaluations that are far below training twice, and a third time up to a row."""
    low = {*range(20, 24), *range(34, 38), *range(48, until)}
    return lambda i: 60.0 if i in low else 180.0


def evaluations(noise: float) -> DrawnColumn:
    """An evaluation each five updates, up and down by chance, and in the end only down."""
    return lambda i: (
        None if i % 5 else 200.0 + noise * (-1) ** (i // 5) if i < 40 else 300.0 - 10 * (i - 35)
    )


def solved_thrice(i: int, then: float) -> float:
    """The most there is, but for two short dips, until row 110; from then on about `then`."""
    if i >= 110:
        return then + jitter(i, 15)
    return 480.0 + jitter(i, 5) if i % 25 < 8 and i >= 50 else capped(i)


OUTCOME_PAIRS = (
    Contrast("no-reward", "eight updates have passed", {"reward_mean": None}, {}, INFO, 0, count=8,
         otherwise_count=7),
    Contrast("still-improving", "it rose to the end", {"reward_mean": steady_gain},
         {"reward_mean": lambda i: 20 + 5.0 * min(i, 50) + jitter(i, 0.1)}, INFO, 0,
         config={"total_timesteps": 60_000}),
    Contrast("still-improving", "few updates rose at each", {"reward_mean": lambda i: 20.0 + 9 *
         i}, {"reward_mean": lambda i: 20.0 + 9 * i - 30 * (i == 2)}, INFO, 0, count=5,
         config={"total_timesteps": 5_000}),
    Contrast("still-improving", "no plateau is open", {"reward_mean": lambda i: 20 + 1.6 * i +
         jitter(i, 2)}, {"reward_mean": lambda i: learned(i) if i < 80 else 140 + 2 * (i - 80)},
         INFO, 0, count=100, config={"total_timesteps": 100_000}, log=RowLog(left_open=True)),
    Contrast("at-ceiling", "it stays near there, however often it was reached", {"reward_mean":
         lambda i: solved_thrice(i, 480.0)}, {"reward_mean": lambda i: solved_thrice(i, 250.0)},
         INFO, 0, count=150, log=RowLog(left_open=True)),
    Contrast("at-ceiling", "episodes have ended meanwhile", {"reward_mean": lambda i: None if i < 12
         else capped(5 * (i - 12)), "ep_len": 20.0}, {"ep_len": 10_000.0}, INFO, 0, count=36),
    Contrast("at-ceiling", "every evaluation scores the same", {"reward_mean": learned,
         "eval_reward_mean": 175.0, "eval_reward_std": 0.0}, {"eval_reward_std": 3.0}, INFO, 0),
    Contrast("at-ceiling", "training comes near to evaluation", {"reward_mean": learned,
         "eval_reward_mean": 175.0, "eval_reward_std": 0.0}, {"eval_reward_mean": 190.0}, INFO,
         0),
    Contrast("at-ceiling", "nothing else is open", {"reward_mean": learned, "eval_reward_mean":
         175.0, "eval_reward_std": 0.0}, {"approx_kl": 0.2}, INFO, 0),
    Contrast("eval-gap", "six evaluations are as good as training, however often others lagged",
         {"reward_mean": learned, "eval_reward_mean": lagging(60)}, {"eval_reward_mean":
         lagging(52)}, WATCH, 0, log=RowLog(left_open=True)),
    Contrast("eval-gap", "three evaluations in turn are far below", {"reward_mean": learned,
         "eval_reward_mean": lambda i: -20.0 if i in (20, 30, 40, 50) else None},
         {"eval_reward_mean": lambda i: {20: 160.0, 30: -20.0, 40: -20.0, 50: -20.0}.get(i)},
         WARN, WATCH),
    Contrast("reward-wrong-way", "a quarter of the run is over", {"reward_mean": lambda i: (40.0 if
         i < 14 else 10.0) + jitter(i, 2), "ep_len": 50.0}, {}, WATCH, WARN,
         config={"total_timesteps": 600_000}, differs_config={"total_timesteps": 70_000}),
    Contrast("eval-gap", "training still rises while evaluation falls", {"reward_mean": lambda i:
         20.0 + 4.0 * i, "eval_reward_mean": lambda i: {40: 150.0, 45: 120.0, 50: 90.0, 55:
         60.0}.get(i)}, {"reward_mean": lambda i: 20.0 + 4.0 * min(i, 20) + jitter(i, 1)}, WARN,
         0),
    Contrast("eval-gap", "evaluation falls by more than it differs by chance",
         {"reward_mean": lambda i: 20.0 + 4.0 * i, "eval_reward_mean": evaluations(5.0)},
         {"eval_reward_mean": evaluations(15.0)}, WARN, WATCH),
    Contrast("eval-gap", "the reward of answers is a return as well", {"reward_mean": None,
         "rlhf_reward": learned, "eval_reward_mean": lambda i: 0.1 * learned(i) if i % 5 == 4 else
         None}, {"eval_reward_mean": lambda i: learned(i) if i % 5 == 4 else None}, WARN, 0,
         family="rlhf"),
    Contrast("eval-gap", "training is measured by its return, too", {"reward_mean": learned,
         "eval_reward_mean": lambda i: -20.0 if i in (20, 30, 40, 50) else None},
         {"reward_mean": None, "success_rate": lambda i: learned(i) / 200}, WARN, 0),
    Contrast("environment-changed", "the reward fell", {"reward_mean": fallen, "ep_len":
         after(40, 50.0, 100.0)}, {"reward_mean": rise}, WATCH, 0),
)
# fmt: on

PAIRS = (
    *UNLEARNED_PAIRS,
    *AGE_PAIRS,
    *CRITIC_PAIRS,
    *ENTROPY_PAIRS,
    *EPISODE_PAIRS,
    *OUTCOME_PAIRS,
)
