"""One sick and one healthy case for each rule of control tasks, and for those of every family."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ppo_top.model import ConfigValue, Severity
from tests.support.drawn_runs import DrawnColumns, jitter

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT
NAN = math.nan


@dataclass(frozen=True)
class RuleCase:
    """What is put in place of healthy columns: `sick` makes the rule speak, `near` does not.

    `min_severity` is the severity that a sick run reaches at least, `spoils` how its rows are
    stamped.
    """

    rule: str
    sick: DrawnColumns
    near: DrawnColumns
    min_severity: Severity = WARN
    family: str = "on-policy"
    trainer: str = ""
    config: Mapping[str, ConfigValue] = field(default_factory=dict)
    count: int = 60
    sick_row_options: Mapping[str, float] = field(default_factory=dict)


def after(number: int, then: float, before: float) -> Callable[[int], float]:
    """One value before a row and another from it on."""
    return lambda i: then if i >= number else before


def at(row: int, then: float, usual: float) -> Callable[[int], float]:
    """One value in a single row."""
    return lambda i: then if i == row else usual


def rise(i: int) -> float:
    """A reward that climbs."""
    return 20 + 440 * (1 - 0.95**i) + jitter(i, 4)


def fallen(i: int) -> float:
    """A reward that climbs and then crashes."""
    return rise(i) if i < 40 else max(10.0, rise(40) - 60 * (i - 39))


def flat(i: int) -> float:
    """A reward that stays where it is."""
    return 22 + jitter(i, 2)


def settled(i: int) -> float:
    """A reward that climbs, and then stays below its ceiling."""
    return 20 + 6 * min(i, 20) + jitter(i, 3)


def swinging(i: int, low: float) -> float:
    """A reward that climbs to 210 and then falls to `low` for six updates again and again."""
    return jitter(i, 2) + (20.0 + 10 * i if i < 20 else (200.0 if i % 12 < 6 else low))


STEP_CASES = (
    RuleCase("non-finite", {"value_loss": after(30, NAN, 5.0)}, {"explained_variance": NAN}, CRIT),
    RuleCase(
        "hidden-nan",
        {"total_loss": lambda i: None if i > 40 else 2.0},
        {"eval_reward_mean": lambda i: 100.0 if i in (10, 20) else None},
        WATCH,
    ),
    RuleCase(
        "kl-high",
        {"approx_kl": after(30, 0.45, 0.01)},
        {"approx_kl": lambda i: 0.035 if i % 10 == 0 else 0.015},
        CRIT,
    ),
    RuleCase(
        "kl-spike",
        {"approx_kl": lambda i: 0.08 if i == 40 else 0.01},
        {"approx_kl": lambda i: 0.028 if i == 40 else 0.005},
        WATCH,
    ),
    RuleCase(
        "clip-high",
        {"clip_fraction": after(30, 0.42, 0.1)},
        {"clip_fraction": lambda i: 0.4 if i % 9 == 0 else 0.18},
    ),
    RuleCase(
        "ratio-off",
        {"ratio_mean": after(20, 1.7, 1.0)},
        {"ratio_mean": lambda i: 1.3 if i == 20 else 1.0},
    ),
    RuleCase(
        "no-op-updates",
        {"approx_kl": 1e-8, "clip_fraction": 0.0, "entropy": 0.69, "reward_mean": flat},
        {"approx_kl": 3e-4, "clip_fraction": 0.0, "reward_mean": flat},
    ),
    RuleCase(
        "clip-not-binding",
        {"approx_kl": after(20, 0.09, 0.01), "clip_fraction": after(20, 0.001, 0.1)},
        {"approx_kl": after(20, 0.04, 0.01), "clip_fraction": 0.3},
    ),
    RuleCase(
        "policy-loss-positive",
        {"policy_loss": after(20, 0.04, -0.01)},
        {"policy_loss": lambda i: 0.02 if i % 6 == 0 else -0.01},
    ),
    RuleCase(
        "loss-spike",
        {"total_loss": lambda i: 900.0 if i == 40 else 3 + jitter(i, 0.3)},
        {"total_loss": lambda i: 6.0 if i == 40 else 3 + jitter(i, 0.3)},
        WATCH,
    ),
    RuleCase(
        "grad-spike",
        {"grad_norm": lambda i: 40.0 if i == 40 else 1 + jitter(i, 0.1)},
        {"grad_norm": lambda i: 4.0 if i == 40 else 1 + jitter(i, 0.1)},
        WATCH,
    ),
    RuleCase(
        "grad-high",
        {"grad_norm": lambda i: 40.0 if i in (40, 42, 45) else 1 + jitter(i, 0.1)},
        {"grad_norm": lambda i: 40.0 if i == 40 else 1 + jitter(i, 0.1)},
        WATCH,
    ),
    RuleCase(
        "grad-zero",
        {"grad_norm": after(20, 0.0, 1.0)},
        {"grad_norm": lambda i: 0.0 if i == 20 else 1.0},
        WATCH,
    ),
    RuleCase(
        "learning-rate-zero",
        {"lr": lambda i: max(0.0, 3e-4 * (1 - i / 30)), "reward_mean": lambda i: 20 + 5.0 * i},
        {"lr": lambda i: 3e-4 * (1 - i / 60)},
        INFO,
    ),
    RuleCase(
        "learning-rate-cut",
        {"lr": after(40, 0.0, 3e-4), "reward_mean": settled},
        {"lr": lambda i: 3e-4 * max(0.0, 1 - i / 59), "reward_mean": settled},
    ),
    RuleCase(
        "learning-rate-extreme",
        {"lr": 0.031, "reward_mean": flat},
        {"lr": 0.029, "reward_mean": flat},
    ),
    RuleCase(
        "setting-extreme",
        {"reward_mean": flat, "ep_len": 20.0},
        {"reward_mean": flat, "ep_len": 1.0},
        config={"gamma": 0.0, "total_timesteps": 60_000},
    ),
    RuleCase(
        "learning-rate-jump",
        {"lr": after(30, 3e-2, 3e-4)},
        {"lr": lambda i: 3e-5 * min(i, 10)},
    ),
    RuleCase(
        "learning-rate-pinned",
        {"lr": lambda i: max(1e-5, 1e-3 / 1.5**i)},
        {"lr": lambda i: 1e-3 / 1.5 ** (i % 4)},
        trainer="rsl_rl",
    ),
    RuleCase(
        "kl-early-stop",
        {"n_updates": lambda i: 3.0 * i},
        {"n_updates": lambda i: 10.0 * i},
        WATCH,
        config={"target_kl": 0.02, "n_epochs": 10},
    ),
)

ENTROPY_CASES = (
    RuleCase(
        "entropy-collapsed",
        {"entropy": lambda i: 0.69 * 0.6**i, "reward_mean": flat},
        {"entropy": lambda i: 0.69 * 0.93**i},
    ),
    RuleCase(
        "policy-collapsed",
        {
            "entropy": lambda i: 0.69 * 0.5**i,
            "approx_kl": after(12, 0.0, 0.3),
            "clip_fraction": after(12, 0.0, 0.4),
            "reward_mean": lambda i: 9.4,
        },
        {"entropy": lambda i: max(0.02, 0.69 * 0.8**i)},
        CRIT,
    ),
    RuleCase(
        "entropy-not-falling",
        {"entropy": lambda i: 0.692, "reward_mean": flat, "ep_len": flat},
        {"entropy": lambda i: 0.692, "reward_mean": lambda i: 20 + 5.0 * i},
        config={"total_timesteps": 60 * 1000},
    ),
    RuleCase(
        "action-spread",
        {"policy_std": lambda i: 1.0 + 0.1 * i, "reward_mean": flat},
        {"policy_std": lambda i: 1.0 - 0.01 * i, "reward_mean": flat},
    ),
    RuleCase(
        "action-spread-gone",
        {"policy_std": lambda i: 0.9**i, "reward_mean": flat},
        {"policy_std": lambda i: 0.95**i, "reward_mean": flat},
    ),
    RuleCase(
        "entropy-swings",
        {"entropy": lambda i: 0.65 if i % 4 < 2 else 0.2},
        {"entropy": lambda i: 0.65 if i % 4 < 2 else 0.5},
    ),
)

GAUSSIAN_CASES = (
    RuleCase(
        "action-noise-growing",
        {"entropy": lambda i: 8.51 + 0.05 * i + jitter(i, 0.02), "reward_mean": flat},
        {"entropy": lambda i: 8.51 + 0.013 * i + jitter(i, 0.02), "reward_mean": flat},
    ),
    RuleCase(
        "entropy-constant",
        {"entropy": 0.6931471, "reward_mean": flat, "ep_len": flat},
        {"entropy": lambda i: 0.6931471 - 3e-6 * (i % 9), "reward_mean": flat, "ep_len": flat},
    ),
)

REPLAY_CASES = (
    RuleCase(
        "episodes-of-one-step",
        {"ep_len": 1.0, "reward_mean": flat},
        {"ep_len": 1.05, "reward_mean": flat},
    ),
    RuleCase(
        "critic-loss-growing",
        {"critic_loss": lambda i: 10.0 ** (i / 6), "reward_mean": lambda i: -1400 + jitter(i, 20)},
        {
            "critic_loss": lambda i: 400 * 10.0 ** min(i / 20, 2.9),
            "reward_mean": lambda i: -1400 + jitter(i, 20),
        },
        CRIT,
        "off-policy",
    ),
    RuleCase(
        "actor-loss-large",
        {"actor_loss": lambda i: 10 * 1.2**i, "reward_mean": lambda i: -20 + jitter(i, 2)},
        {"actor_loss": lambda i: 19 + 0.6 * i, "reward_mean": lambda i: -20 + jitter(i, 2)},
        WARN,
        "off-policy",
    ),
    RuleCase(
        "action-values-lost",
        {"actor_loss": after(30, -13.0, -20.0), "critic_loss": at(30, 8.0, 3.0)},
        {"actor_loss": after(30, -15.0, -20.0), "critic_loss": at(30, 8.0, 3.0)},
        WARN,
        "off-policy",
    ),
    RuleCase(
        "action-values-wrong",
        {"actor_loss": lambda i: -30 - i, "reward_mean": lambda i: -1400 + jitter(i, 20)},
        {"actor_loss": 4.0, "reward_mean": lambda i: -1400 + jitter(i, 20)},
        WARN,
        "off-policy",
    ),
    RuleCase(
        "entropy-coefficient",
        {"entropy_coef": lambda i: 1.1**i, "reward_mean": lambda i: -1400 + jitter(i, 20)},
        {"entropy_coef": lambda i: 1.02**i, "reward_mean": lambda i: -1400 + jitter(i, 20)},
        WARN,
        "off-policy",
    ),
    RuleCase(
        "exploration-not-falling",
        {"exploration_rate": 1.0},
        {"exploration_rate": lambda i: 1.0 - 0.0089 * i},
        WARN,
        "value-based",
    ),
    RuleCase(
        "not-training",
        {"critic_loss": None, "actor_loss": None},
        {"critic_loss": lambda i: 1.0 if i > 90 else None, "actor_loss": None},
        WARN,
        "off-policy",
        count=120,
    ),
)

CRITIC_CASES = (
    RuleCase(
        "critic-same-value",
        {"explained_variance": lambda i: 1e-7 * (i % 3 - 1)},
        {"explained_variance": lambda i: 1e-5 if i == 0 else 0.0},
    ),
    RuleCase(
        "critic-not-learning",
        {
            "explained_variance": lambda i: 0.01 + jitter(i, 0.02),
            "value_loss": 900.0,
            "reward_mean": flat,
        },
        {
            "explained_variance": lambda i: 0.0 if i < 9 else 0.4,
            "value_loss": 90.0,
            "reward_mean": flat,
        },
    ),
    RuleCase(
        "returns-constant",
        {"explained_variance": NAN, "reward_mean": flat},
        {"explained_variance": lambda i: NAN if i % 6 < 4 else 0.4, "reward_mean": flat},
    ),
    RuleCase(
        "returns-changed",
        {
            "explained_variance": lambda i: -2.0 if i == 40 else 0.95,
            "value_loss": lambda i: 80.0 if i == 40 else 4.0,
            "reward_mean": lambda i: rise(i) if i < 45 else rise(45) - 8 * (i - 44),
        },
        {
            "explained_variance": lambda i: -2.0 if i == 40 else 0.95,
            "value_loss": lambda i: 80.0 if i == 40 else 4.0,
        },
    ),
    RuleCase(
        "explained-variance-dropped",
        {
            "explained_variance": after(40, 0.05, 0.9),
            "value_loss": after(40, 60.0, 4.0),
            "reward_mean": fallen,
        },
        {"explained_variance": lambda i: 0.1 if i == 40 else 0.9},
    ),
    RuleCase(
        "reward-scale",
        {"value_loss": lambda i: 3e5, "explained_variance": 0.01, "reward_mean": flat},
        {"value_loss": lambda i: 3e5, "explained_variance": lambda i: min(0.9, 0.2 * i)},
    ),
    RuleCase(
        "value-drift",
        {"value_var": 50.0, "return_var": 1.0},
        {"value_var": 2.0, "return_var": 1.0},
        WATCH,
        family="rlhf",
    ),
    RuleCase(
        "value-loss-spike",
        {"value_loss": lambda i: 800.0 if i >= 40 else 5 + jitter(i)},
        {"value_loss": lambda i: 20.0 if i == 40 else 5 + jitter(i)},
    ),
    RuleCase(
        "value-loss-rising",
        {
            "value_loss": lambda i: 5 * 1.1**i,
            "explained_variance": 0.02,
            "reward_mean": flat,
        },
        {"value_loss": lambda i: 5 * 1.05**i},
    ),
    RuleCase(
        "value-clip-high",
        {"value_clip_fraction": after(20, 0.3, 0.05)},
        {"value_clip_fraction": lambda i: 0.3 if i == 20 else 0.1},
        WATCH,
        family="rlhf",
    ),
)

REWARD_CASES = (
    RuleCase(
        "reward-crash", {"reward_mean": fallen}, {"reward_mean": lambda i: rise(i) - 25}, CRIT
    ),
    RuleCase(
        "reward-never-moves",
        {"reward_mean": flat, "ep_len": flat},
        {"reward_mean": lambda i: 20 + 0.8 * i + jitter(i, 2)},
        config={"total_timesteps": 60_000},
    ),
    RuleCase(
        "reward-wrong-way",
        {"reward_mean": lambda i: -100.0 - 5 * i + jitter(i, 3)},
        {"reward_mean": lambda i: -100.0 - 0.1 * i + jitter(i, 3)},
    ),
    RuleCase(
        "at-ceiling",
        {"reward_mean": lambda i: min(500.0, 20 + 20.0 * i)},
        {"reward_mean": lambda i: 20 + 5.0 * i},
        INFO,
    ),
    RuleCase("no-reward", {"reward_mean": None}, {}, INFO),
    RuleCase(
        "reward-plateau", {"reward_mean": settled}, {"reward_mean": lambda i: 20 + 6.0 * i}, INFO
    ),
    RuleCase(
        "reward-swings",
        {"reward_mean": lambda i: swinging(i, 40.0)},
        {"reward_mean": lambda i: swinging(i, 160.0)},
    ),
    RuleCase(
        "reward-spread",
        {"reward_std": lambda i: 1.0 + 0.2 * max(0, i - 20), "reward_mean": 1.0},
        {"reward_std": lambda i: 1.0 + 0.02 * i, "reward_mean": 1.0},
        WATCH,
        family="rlhf",
    ),
    RuleCase(
        "reward-length-diverge",
        {"ep_len": lambda i: 20 + 3.0 * i + jitter(i) if i < 60 else 200 - 3.0 * (i - 60)},
        {},
        WATCH,
        count=100,
    ),
    RuleCase(
        "eval-gap",
        {"eval_reward_mean": lambda i: 30.0 if i % 10 == 9 else None},
        {"eval_reward_mean": lambda i: rise(i) if i % 10 == 9 else None},
        WATCH,
    ),
    RuleCase(
        "long-tails",
        {"reward_p1": 0.0, "reward_p50": 1.0, "reward_p99": 20.0},
        {"reward_p1": 0.0, "reward_p50": 1.0, "reward_p99": 2.5},
        INFO,
        family="rlhf",
    ),
    RuleCase("advantages-off", {"adv_mean": 0.4}, {"adv_mean": 0.05}, INFO, family="rlhf"),
)

PROGRESS_CASES = (
    RuleCase(
        "gpu-idle",
        {"gpu_busy": after(20, 0.03, 0.8), "gpu_memory": 0.4},
        {"gpu_busy": lambda i: 0.02 if i % 3 == 0 else 0.8, "gpu_memory": 0.4},
        INFO,
    ),
    RuleCase("step-stuck", {}, {}, sick_row_options={"last_step": 20_000}),
    RuleCase(
        "updates-stuck", {"n_updates": after(30, 300.0, 0.0)}, {"n_updates": lambda i: i // 2}
    ),
    RuleCase(
        "still-improving",
        {"reward_mean": lambda i: 20 + 5.0 * i + jitter(i, 3)},
        {"reward_mean": settled},
        INFO,
        config={"total_timesteps": 60_000},
    ),
    RuleCase(
        "learning-rate-decayed",
        {
            "lr": lambda i: 3e-4 * (1 - i / 60),
            "approx_kl": lambda i: 0.01 * (1 - i / 60) ** 2,
            "clip_fraction": lambda i: 0.05 if i < 50 else 0.0,
        },
        {"lr": lambda i: 3e-4 * (1 - i / 120)},
        INFO,
    ),
)

DIAGNOSIS_CASES = (
    RuleCase(
        "diverged",
        {"approx_kl": after(30, 0.6, 0.01), "value_loss": after(36, NAN, 5.0)},
        {"value_loss": after(36, NAN, 5.0)},
        CRIT,
    ),
    RuleCase(
        "updates-too-large",
        {
            "approx_kl": after(38, 0.2, 0.01),
            "clip_fraction": after(38, 0.6, 0.1),
            "reward_mean": fallen,
        },
        {"approx_kl": after(38, 0.2, 0.01), "clip_fraction": after(38, 0.6, 0.1)},
        CRIT,
    ),
    RuleCase(
        "clip-too-wide",
        {
            "approx_kl": after(38, 0.2, 0.01),
            "clip_fraction": after(38, 0.0, 0.1),
            "reward_mean": fallen,
        },
        {"approx_kl": after(38, 0.2, 0.01), "clip_fraction": after(38, 0.0, 0.1)},
        CRIT,
    ),
    RuleCase(
        "learning-rate-too-high",
        {"approx_kl": after(10, 0.9, 0.01), "policy_loss": after(10, 0.06, -0.01)},
        {"approx_kl": after(10, 0.9, 0.01)},
        CRIT,
    ),
    RuleCase(
        "environment-changed",
        {"reward_mean": fallen, "ep_len": lambda i: fallen(i)},
        {"reward_mean": fallen, "ep_len": 100.0},
        WATCH,
    ),
    RuleCase(
        "premature-convergence",
        {"entropy": lambda i: 0.69 * 0.6**i, "reward_mean": flat},
        {"entropy": lambda i: 0.69 * 0.6**i, "reward_mean": lambda i: 20 + 8.0 * i},
        CRIT,
    ),
    RuleCase(
        "critic-failing",
        {
            "explained_variance": 0.01,
            "value_loss": lambda i: 5 * 1.1**i,
            "reward_mean": flat,
        },
        {"explained_variance": 0.01, "value_loss": 900.0},
        CRIT,
    ),
    RuleCase(
        "reward-scale-too-large",
        {
            "value_loss": 3e5,
            "explained_variance": 0.01,
            "entropy": 0.692,
            "reward_mean": flat,
            "ep_len": flat,
        },
        {"value_loss": 3e5, "explained_variance": 0.01},
    ),
    RuleCase(
        "nothing-learns",
        {
            "approx_kl": 1e-9,
            "clip_fraction": 0.0,
            "entropy": 0.692,
            "reward_mean": flat,
            "ep_len": flat,
        },
        {"approx_kl": 1e-9, "clip_fraction": 0.0},
    ),
)

CONTROL_CASES = (
    *GAUSSIAN_CASES,
    *REPLAY_CASES,
    *STEP_CASES,
    *ENTROPY_CASES,
    *CRITIC_CASES,
    *REWARD_CASES,
    *PROGRESS_CASES,
    *DIAGNOSIS_CASES,
)
