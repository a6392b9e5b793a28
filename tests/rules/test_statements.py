"""What guides say of PPO's and GRPO's metrics: a healthy and a sick log for each statement.

The guides are a cheat sheet of PPO's metrics, the logging pages of TRL (legacy PPO, PPO, GRPO)
and a tutorial on PPO with CartPole. Where a trainer's own documents contradict them, see
docs/statements.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from ppo_top.cli import main
from ppo_top.model import Profile, Sample, Severity
from ppo_top.output.explain import explain
from ppo_top.rules.engine.ranges import healthy_range
from tests.rules.courses import after, flat, swinging
from tests.support.drawn_runs import (
    HEALTHY_COLUMNS,
    TRAINER_BY_FAMILY,
    DrawnColumns,
    draw_rows,
    findings,
    jitter,
)

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT
NAN = math.nan


class Statement(NamedTuple):
    """What a guide says, and columns put in place of healthy ones: kept to it, and against it."""

    says: str
    family: str
    healthy: DrawnColumns
    sick: DrawnColumns
    rule: str
    severity: Severity
    rows: int = 80
    settings: Mapping[str, float] = MappingProxyType({})


def near(value: float, share: float = 0.1) -> Any:
    """A value with some noise."""
    return lambda i: value * (1.0 + jitter(i, share))


def times(first: float, factor: float) -> Any:
    """Growth by a factor a row."""
    return lambda i: first * factor**i * (1.0 + jitter(i, 0.1))


def climb(first: float, step: float, noise: float) -> Any:
    """A straight line with some noise."""
    return lambda i: first + step * i + jitter(i, noise)


def to_level(level: float, noise: float = 2.0) -> Any:
    """A reward that climbs by 8 an update and stays."""
    return lambda i: min(level, 20.0 + 8.0 * i) + jitter(i, noise)


LEVEL: DrawnColumns = {"reward_mean": to_level(100.0), "ep_len": to_level(100.0)}
FLAT: DrawnColumns = {"reward_mean": flat, "ep_len": flat}

CHEAT_SHEET = (
    Statement(
        "the mean reward rises steadily",
        "rlhf",
        {},
        {"reward_mean": climb(1.0, -0.01, 0.02)},
        "reward-wrong-way",
        WARN,
    ),
    Statement(
        "the std of rewards is moderate and does not explode",
        "rlhf",
        {"reward_std": times(1.0, 1.01)},
        {"reward_std": times(1.0, 1.03)},
        "reward-spread",
        WATCH,
    ),
    Statement(
        "the distribution of rewards is balanced, without long tails",
        "rlhf",
        {"reward_p1": -2.0, "reward_p50": 0.1, "reward_p99": 3.0},
        {"reward_p1": -0.5, "reward_p50": 0.1, "reward_p99": 12.0},
        "long-tails",
        WATCH,
    ),
    Statement(
        "the KL to the reference is small; too high is unstable",
        "rlhf",
        {"ref_kl": 9.5},
        {"ref_kl": 21.0, "resp_len_mean": 50.0},
        "ref-kl-high",
        WARN,
    ),
    Statement(
        "kl_coef increases if the KL is too high",
        "rlhf",
        {"kl_coef": 0.2},
        {"kl_coef": times(0.2, 1.03), "ref_kl": near(7.2, 0.02)},
        "kl-coef-rising",
        WATCH,
    ),
    Statement(
        "the KL penalty does not dominate the reward",
        "rlhf",
        {"non_score_reward": climb(0.0, -0.003, 0.01)},
        {"non_score_reward": climb(0.0, -0.3, 0.01)},
        "kl-penalty-dominates",
        WATCH,
    ),
    Statement(
        "a KL that falls is under-training",
        "rlhf",
        {"ref_kl": after(30, 0.5, 3.0)},
        {"ref_kl": after(30, 0.001, 3.0)},
        "ref-kl-zero",
        WATCH,
    ),
    Statement(
        "the entropy of a response is high early and falls gradually",
        "rlhf",
        {"entropy": None, "seq_entropy": climb(80.0, -0.3, 1.0), "reward_mean": flat},
        {"entropy": None, "seq_entropy": times(80.0, 0.6), "reward_mean": flat},
        "entropy-collapsed",
        CRIT,
    ),
    Statement(
        "the policy's entropy tracks exploration",
        "rlhf",
        {"entropy": climb(3.0, -0.01, 0.03), "reward_mean": flat},
        {"entropy": times(3.0, 0.8), "reward_mean": flat},
        "entropy-collapsed",
        CRIT,
    ),
    Statement(
        "the clip fraction is below 0.2",
        "rlhf",
        {"clip_fraction": 0.19},
        {"clip_fraction": 0.35},
        "clip-high",
        WATCH,
    ),
    Statement(
        "approx KL is below 0.05",
        "rlhf",
        {"approx_kl": 0.048},
        {"approx_kl": 0.32},
        "kl-high",
        WARN,
    ),
    Statement(
        "the plain estimate of the update's KL is near 0",
        "rlhf",
        {"approx_kl_k1": climb(0.0, 0.0, 0.02)},
        {"approx_kl_k1": after(25, 0.32, 0.0)},
        "kl-high",
        WARN,
    ),
    Statement(
        "the ratio is about 1; above 200 it is unstable",
        "rlhf",
        {"ratio_mean": None, "ratio_dist{max}": 9.0},
        {"ratio_mean": None, "ratio_dist{max}": 210.0},
        "ratio-off",
        CRIT,
    ),
    Statement(
        "a ratio logged as a number is about 1 too",
        "rlhf",
        {"ratio_mean": None, "ratio_dist": 1.05},
        {"ratio_mean": None, "ratio_dist": 210.0},
        "ratio-off",
        CRIT,
    ),
    Statement(
        "the mean advantage is near 0",
        "rlhf",
        {"adv_mean": 0.09},
        {"adv_mean": 0.6},
        "advantages-off",
        INFO,
    ),
    Statement(
        "advantages are not skewed",
        "rlhf",
        {"adv_p1": -2.0, "adv_p50": 0.0, "adv_p99": 3.0},
        {"adv_p1": -0.2, "adv_p50": 0.0, "adv_p99": 3.0},
        "long-tails",
        WATCH,
    ),
    Statement(
        "values have a stable variance",
        "rlhf",
        {"value_var": near(1.0), "return_var": near(1.2)},
        {"value_var": after(40, 150.0, 1.0), "return_var": after(40, 170.0, 1.2)},
        "value-drift",
        WATCH,
    ),
    Statement(
        "the value error falls smoothly",
        "rlhf",
        {"value_error": times(0.5, 0.98)},
        {"value_error": times(0.4, 1.05)},
        "value-loss-rising",
        WATCH,
    ),
    Statement(
        "explained variance above 0.8 is good",
        "rlhf",
        {"explained_variance": 0.82},
        {"explained_variance": near(-0.1)},
        "critic-not-learning",
        WATCH,
    ),
    Statement(
        "few value updates are clipped",
        "rlhf",
        {"value_clip_fraction": 0.19},
        {"value_clip_fraction": 0.3},
        "value-clip-high",
        WATCH,
    ),
    Statement(
        "returns and values have the same scale",
        "rlhf",
        {},
        {"value_var": 0.5, "return_var": 900.0},
        "value-drift",
        WATCH,
    ),
    Statement(
        "the policy loss is stable, with small oscillations",
        "rlhf",
        {"policy_loss": climb(-0.02, 0.0, 0.02)},
        {"policy_loss": lambda i: -1.2 if 40 <= i < 46 else -0.02 + jitter(i, 0.01)},
        "policy-loss-positive",
        WATCH,
    ),
    Statement(
        "the value loss has no NaN",
        "rlhf",
        {},
        {"value_loss": after(40, NAN, 0.4)},
        "non-finite",
        CRIT,
    ),
    Statement(
        "the value loss has no big spike that stays",
        "rlhf",
        {"value_loss": after(60, 0.3, 0.1)},
        {"value_loss": after(60, 40.0, 0.1)},
        "value-loss-spike",
        WARN,
        rows=120,
    ),
    Statement(
        "prompts do not drift in length",
        "rlhf",
        {"query_len_mean": after(40, 24.0, 20.0)},
        {"query_len_mean": after(40, 36.0, 20.0)},
        "prompts-changed",
        INFO,
    ),
    Statement(
        "responses do not drift in length",
        "rlhf",
        {"resp_len_mean": near(50.0), "reward_mean": flat},
        {"resp_len_mean": climb(50.0, 1.5, 2.0), "reward_mean": flat},
        "length-runaway",
        WATCH,
    ),
    Statement(
        "the spread of lengths does not explode",
        "rlhf",
        {"resp_len_std": near(8.0)},
        {"resp_len_std": climb(8.0, 0.4, 0.5)},
        "length-spread",
        WATCH,
    ),
    Statement(
        "log-probs do not shift against the reference's",
        "rlhf",
        {"logprobs_p50": -2.4, "ref_logprobs_p50": climb(-2.4, 0.0, 0.1)},
        {"logprobs_p50": -2.4, "ref_logprobs_p50": climb(-2.4, -0.045, 0.1)},
        "logprobs-shift",
        WATCH,
    ),
)

TRL_PAGES = (
    Statement(
        "a value loss that collapses to 0 needs attention",
        "rlhf",
        {"value_loss": after(40, 1e-4, 0.4)},
        {"value_loss": after(40, 0.0, 0.4)},
        "value-loss-zero",
        WARN,
    ),
    Statement(
        "clip fraction and KL that collapse to 0 need attention",
        "rlhf",
        {"approx_kl": after(40, 0.002, 0.01), "clip_fraction": 0.0},
        {"approx_kl": after(40, 0.0, 0.01), "clip_fraction": after(40, 0.0, 0.05)},
        "no-op-updates",
        WARN,
    ),
    Statement(
        "a ratio that collapses needs attention",
        "rlhf",
        {"ratio_mean": 0.92},
        {"ratio_mean": 0.1},
        "ratio-off",
        CRIT,
    ),
    Statement(
        "the ratio varies little between minibatches",
        "rlhf",
        {"ratio_var": 0.08},
        {"ratio_var": after(30, 0.5, 0.001)},
        "ratio-off",
        WARN,
    ),
    Statement(
        "objective/kl stays positive",
        "rlhf",
        {"ref_kl": near(0.1)},
        {"ref_kl": -3.0},
        "ref-kl-negative",
        CRIT,
    ),
    Statement(
        "rlhf_reward keeps going up",
        "rlhf",
        {"rlhf_reward": climb(0.2, 0.04, 0.05)},
        {"rlhf_reward": climb(1.6, -0.04, 0.05)},
        "rlhf-reward-falls",
        WATCH,
    ),
    Statement(
        "rlhf_reward does not stay where it is",
        "rlhf",
        {"rlhf_reward": climb(-0.5, 0.02, 0.05)},
        {"rlhf_reward": climb(-0.5, 0.0, 0.05)},
        "rlhf-reward-falls",
        WATCH,
    ),
    Statement(
        "end tokens tell of complete responses",
        "rlhf",
        {"eos_count": 3.0},
        {"eos_count": 0.0},
        "no-eos",
        WARN,
    ),
    Statement(
        "tokens are processed",
        "grpo",
        {},
        {"num_tokens": lambda i: 4000.0 * min(i, 40)},
        "updates-stuck",
        WARN,
    ),
    Statement(
        "GRPO's reward generally increases",
        "grpo",
        {},
        {"reward_mean": climb(0.9, -0.01, 0.02)},
        "reward-wrong-way",
        WARN,
    ),
    Statement(
        "rewards differ within groups",
        "grpo",
        {"frac_zero_std": 0.5},
        {"frac_zero_std": 1.0, "reward_std": 0.0, "reward_mean": 0.3},
        "zero-variance-groups",
        CRIT,
    ),
    Statement(
        "the policy does not stray too far from the reference",
        "grpo",
        {"ref_kl_token": 0.09},
        {"ref_kl_token": 0.5, "reward_mean": climb(0.3, 0.0, 0.02)},
        "ref-kl-token-high",
        WARN,
    ),
    Statement(
        "a very high clip ratio: large advantages, learning rate or epsilon",
        "grpo",
        {"clip_fraction": 0.09},
        {"clip_fraction": 0.47},
        "clip-high",
        WATCH,
    ),
    Statement(
        "a high clipped_ratio: completions are cut off",
        "grpo",
        {"truncated_frac": 0.09},
        {"truncated_frac": climb(0.1, 0.01, 0.01)},
        "completions-truncated",
        WARN,
    ),
    Statement(
        "per-function rewards tell what the model struggles with",
        "grpo",
        {},
        {"reward_component_mean{accuracy}": 0.0},
        "reward-part-flat",
        WATCH,
    ),
    Statement(
        "a function's reward moves within a hundred updates",
        "grpo",
        {"reward_component_mean{accuracy}": climb(0.1, 0.002, 0.02)},
        {"reward_component_mean{accuracy}": climb(0.1, 0.0, 0.02)},
        "reward-part-flat",
        WATCH,
        rows=150,
    ),
    Statement(
        "entropy does not collapse early",
        "grpo",
        {"entropy": climb(0.6, -0.002, 0.01), "reward_mean": climb(0.3, 0.0, 0.02)},
        {"entropy": times(0.6, 0.7), "reward_mean": climb(0.3, 0.0, 0.02)},
        "entropy-collapsed",
        CRIT,
    ),
)

TUTORIAL = (
    Statement(
        "a sudden crash to 0 is critical",
        "on-policy",
        {},
        {"reward_mean": lambda i: 400.0 + jitter(i, 5) - 380 * (i > 40) - 380 * (0.8**i)},
        "reward-crash",
        CRIT,
    ),
    Statement(
        "a reward that never moves is a fault",
        "on-policy",
        {},
        FLAT,
        "reward-never-moves",
        WARN,
        settings={"total_timesteps": 80_000},
    ),
    Statement(
        "severe oscillation without convergence is a fault",
        "on-policy",
        {"reward_mean": near(250.0, 0.1)},
        {"reward_mean": lambda i: (60 if i // 3 % 2 else 440) + jitter(i, 15)},
        "reward-swings",
        WATCH,
    ),
    Statement(
        "falling back again and again after learning is a fault",
        "on-policy",
        {"reward_mean": lambda i: swinging(i, 190.0)},
        {"reward_mean": lambda i: swinging(i, 60.0)},
        "reward-swings",
        WARN,
    ),
    Statement(
        "stabilises below what is possible: stagnation",
        "on-policy",
        {},
        LEVEL,
        "reward-plateau",
        INFO,
    ),
    Statement(
        "rises, then stabilises at the maximum: success",
        "on-policy",
        LEVEL,
        {"reward_mean": to_level(500.0, 0.0)},
        "at-ceiling",
        INFO,
    ),
    Statement(
        "entropy does not drop to 0 early",
        "on-policy",
        {"entropy": climb(0.69, -0.004, 0.005)},
        {**FLAT, "entropy": times(0.69, 0.6)},
        "entropy-collapsed",
        CRIT,
    ),
    Statement(
        "entropy does not stay where it is",
        "on-policy",
        {},
        {**FLAT, "entropy": climb(0.69, 0.0, 0.002)},
        "entropy-not-falling",
        WARN,
        settings={"total_timesteps": 80_000},
    ),
    Statement(
        "the value loss does not increase, though the critic explains something",
        "on-policy",
        {**LEVEL, "value_loss": near(10.0)},
        {**LEVEL, "value_loss": times(10.0, 1.1)},
        "value-loss-rising",
        WATCH,
    ),
    Statement(
        "the value loss alone is enough to tell that the critic cannot keep up",
        "on-policy",
        {**FLAT, "explained_variance": None},
        {**FLAT, "explained_variance": None, "value_loss": times(10.0, 1.1)},
        "value-loss-rising",
        WARN,
    ),
    Statement(
        "a value loss that never decreases is a fault",
        "on-policy",
        {**FLAT, "explained_variance": None},
        {**FLAT, "explained_variance": None, "value_loss": near(10.0)},
        "value-loss-rising",
        WATCH,
    ),
    Statement(
        "the value loss does not jump and stay there",
        "on-policy",
        {"value_loss": after(40, 60.0, 14.0)},
        {"value_loss": after(40, 5000.0, 14.0)},
        "value-loss-spike",
        WARN,
        rows=120,
    ),
    Statement(
        "a KL above 0.03 risks collapse",
        "on-policy",
        {"approx_kl": 0.019},
        {**FLAT, "approx_kl": 0.11},
        "kl-high",
        WARN,
    ),
    Statement(
        "a KL of 0 is no change at all",
        "on-policy",
        {"approx_kl": 0.001},
        {**FLAT, "approx_kl": 0.0, "clip_fraction": 0.0, "entropy": 0.69},
        "no-op-updates",
        WARN,
    ),
    Statement(
        "spikes of the clip fraction to 20 % are normal, more than 30 % for long is not",
        "on-policy",
        {"clip_fraction": lambda i: 0.2 if i % 7 == 0 else 0.1},
        {"clip_fraction": 0.35},
        "clip-high",
        WATCH,
    ),
    Statement(
        "too little clipping: the clip range is too wide",
        "on-policy",
        {"clip_fraction": 0.0, "clip_range": 0.2},
        {"clip_fraction": 0.0, "clip_range": 0.5},
        "clip-not-binding",
        INFO,
    ),
    Statement(
        "a clip range of 0.5 lets the KL rise",
        "on-policy",
        {"clip_range": 0.2, "approx_kl": 0.025},
        {"clip_range": 0.5, "approx_kl": 0.045, "clip_fraction": 0.01},
        "clip-not-binding",
        WARN,
    ),
    Statement(
        "the trend of the episode length does not leave the reward's",
        "on-policy",
        {},
        {"ep_len": lambda i: 20.0 + 18 * min(i, 20) - 10 * max(0, i - 20) + jitter(i, 4)},
        "reward-length-diverge",
        WATCH,
        rows=40,
    ),
    Statement(
        "explained variance is not at or below 0 for long",
        "on-policy",
        {"explained_variance": lambda i: -0.3 + 0.1 * min(i, 11)},
        {**FLAT, "explained_variance": -0.1, "value_loss": near(50.0)},
        "critic-not-learning",
        WARN,
    ),
    Statement(
        "the policy gradient loss fluctuates within a small range",
        "on-policy",
        {"policy_loss": climb(-0.015, 0.0, 0.01)},
        {"policy_loss": lambda i: 0.5 if i == 41 else -0.5 if 40 <= i < 43 else -0.014},
        "policy-loss-positive",
        WATCH,
    ),
    Statement(
        "an extreme policy gradient loss is a fault",
        "on-policy",
        {},
        {"policy_loss": lambda i: -8.0 if 40 <= i < 45 else -0.014},
        "policy-loss-positive",
        CRIT,
    ),
    Statement(
        "the total loss has no sudden spike",
        "on-policy",
        {"total_loss": near(10.0, 0.5)},
        {"total_loss": lambda i: 9000.0 if i == 40 else 10.0 + jitter(i, 1)},
        "loss-spike",
        WATCH,
    ),
    Statement(
        "a learning rate of 0.01 is too large",
        "on-policy",
        {"lr": 9e-3},
        {"lr": 0.01},
        "learning-rate-extreme",
        INFO,
    ),
    Statement(
        "a learning rate of 0.01 is named when updates are too large",
        "on-policy",
        {"lr": 3e-4, "approx_kl": 0.25},
        {"lr": 0.01, "approx_kl": 0.25},
        "learning-rate-extreme",
        WARN,
    ),
    Statement(
        "a learning rate of 0.000001 converges very slowly",
        "on-policy",
        {"lr": 1.1e-6},
        {"lr": 1e-6},
        "learning-rate-extreme",
        INFO,
    ),
    Statement(
        "a learning rate of 3e-2 oscillates or collapses",
        "on-policy",
        {"lr": 3e-4},
        {**FLAT, "lr": 3e-2},
        "learning-rate-extreme",
        WARN,
    ),
    Statement(
        "constant and linearly decayed learning rates are both fine",
        "on-policy",
        {"lr": lambda i: 3e-4 * (1 - i / 80)},
        {"lr": after(30, 0.0, 3e-4)},
        "learning-rate-cut",
        WARN,
        settings={"total_timesteps": 80_000},
    ),
    Statement(
        "an update counter that stops: training has stalled",
        "on-policy",
        {},
        {"n_updates": lambda i: 10.0 * min(i, 20)},
        "updates-stuck",
        WARN,
    ),
    Statement(
        "an evaluation far below training shows what the policy can do",
        "on-policy",
        {"eval_reward_mean": lambda i: 440.0 if i == 79 else None, "eval_reward_std": 60.0},
        {"eval_reward_mean": lambda i: 120.0 if i == 79 else None, "eval_reward_std": 60.0},
        "eval-gap",
        WATCH,
    ),
    Statement(
        "too few timesteps end a run early",
        "on-policy",
        LEVEL,
        {"reward_mean": climb(20.0, 5.0, 4.0)},
        "still-improving",
        INFO,
        settings={"total_timesteps": 80_000},
    ),
)

STATEMENTS = (*CHEAT_SHEET, *TRL_PAGES, *TUTORIAL)


def severity_of(statement: Statement, columns: DrawnColumns) -> Severity | int:
    """The highest severity of the statement's rule in a run with these columns."""
    profile = Profile(
        TRAINER_BY_FAMILY[statement.family],
        statement.family,
        statement.settings,
        algo="PPO" if statement.family == "on-policy" else "",
        samples={"reward_mean": Sample("update")},
    )
    made = draw_rows({**HEALTHY_COLUMNS[statement.family], **columns}, statement.rows)
    found = findings(profile, made)
    return max((each.worst_severity for each in found if each.rule == statement.rule), default=0)


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda each: each.says)
def test_a_log_that_keeps_to_the_statement_is_not_blamed(statement: Statement) -> None:
    """Values that the guide calls healthy do not reach the severity of the fault."""
    assert severity_of(statement, statement.healthy) < statement.severity


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda each: each.says)
def test_a_log_that_breaks_the_statement_is_found(statement: Statement) -> None:
    """Values that the guide warns of make the rule speak, at least this severely."""
    assert severity_of(statement, statement.sick) >= statement.severity


@pytest.mark.parametrize(
    ("family", "concept", "low", "high"),
    [
        ("on-policy", "approx_kl", None, 0.02),
        ("on-policy", "clip_fraction", None, 0.2),
        ("on-policy", "explained_variance", 0.5, None),
        ("rlhf", "approx_kl", None, 0.05),
        ("rlhf", "ref_kl", 0.0, 10.0),
        ("rlhf", "ratio_mean", 0.9, 1.1),
        ("rlhf", "ratio_dist", 0.9, 1.1),
        ("rlhf", "adv_mean", -0.1, 0.1),
        ("grpo", "ref_kl_token", 0.0, 0.1),
        ("grpo", "truncated_frac", None, 0.1),
    ],
)
def test_stated_ranges_are_the_bands(
    family: str, concept: str, low: float | None, high: float | None
) -> None:
    """Healthy ranges that guides state are those that values are coloured by."""
    found = healthy_range(concept, Profile("sb3", family))
    assert found is not None and (found.low, found.high) == (low, high)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("policy", "probability of each action"),
        ("Value Function", "estimate of the return"),
        ("advantage", "than the value function expected"),
        ("Return", "discounted by gamma"),
        ("clipping", "clip range"),
        ("GAE", "lambda"),
        ("responses_len_mean", "completion length"),
        ("objective/kl", "0.01 to 0.1"),
        ("ppo/loss/total", "Spinning Up's guide"),
        ("value_loss", "ML-Agents' guide"),
        ("平均奖励", "Mean return per episode"),
    ],
)
def test_the_words_of_the_guides_are_explained(name: str, words: str) -> None:
    """Terms, tags and Chinese names; where guides differ, both are told."""
    assert words in " ".join(" ".join(explain(name)).split())


# --- logs as the tutorial prints them --------------------------------------------------------


def checked(log: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The one run that `check --json` finds in a console log."""
    path = folder / "run.log"
    path.write_text(log, encoding="utf-8")
    main(["check", "--json", str(path)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert isinstance(run, dict)
    return run


def console(rewards: list[float], more: str = "", end: str = "") -> str:
    """The lines of the tutorial's own PPO."""
    lines = [
        f"Iteration {i}/{len(rewards)} | Episodes: {max(4, int(2048 / reward))} | "
        f"Mean Reward: {reward:.1f} | KL: 0.0047 | clip%: 6.2%{more}\n"
        for i, reward in enumerate(rewards, 1)
    ]
    return "".join(lines) + end


SOLVED = [min(500.0, 20.8 + 32 * i + jitter(i, 6)) if i < 15 else 500.0 for i in range(20)]


def rules_of(run: dict[str, Any]) -> dict[str, str]:
    """The rules with a finding, and its severity."""
    return {each["rule"]: each["severity"] for each in run["findings"]}


def test_a_run_that_reaches_the_maximum_has_succeeded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not told to train longer; the evaluation at the end is read and judged."""
    end = "Training complete! 20-episode evaluation: 500.0 +/- 0.0\n"
    assert rules_of(checked(console(SOLVED, end=end), tmp_path, capsys)) == {"at-ceiling": "info"}


@pytest.mark.parametrize("words", ["20-episode evaluation", "Mean reward"])
def test_a_bad_evaluation_at_the_end_is_found(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One evaluation is enough where its own spread does not explain the gap."""
    run = checked(
        console(SOLVED, end=f"Training complete! {words}: 120.0 +/- 60.0\n"), tmp_path, capsys
    )
    assert rules_of(run)["eval-gap"] == "watch"
    (row,) = (each for each in run["checklist"] if each["concept"] == "eval_reward_mean")
    assert row["value"] == 120.0


def test_a_run_of_five_updates_that_only_rose_is_too_short(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """10,000 timesteps of CartPole end long before it is learned."""
    log = console([20.8, 41.0, 67.5, 90.2, 116.5])
    assert rules_of(checked(log, tmp_path, capsys)) == {"still-improving": "info"}


def test_twenty_iterations_around_20_never_moved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The printed numbers of episodes say that there is evidence enough."""
    log = console([20.0 + jitter(i, 1.5) for i in range(20)])
    assert rules_of(checked(log, tmp_path, capsys))["reward-never-moves"] == "warn"


def test_names_of_ones_own_on_the_tutorials_line_are_understood(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script that prints more than the tutorial's four values: its names say what they are."""
    more = " | Entropy: 0.4200 | Value Loss: 12.5 | EV: 0.91 | learning_rate: 0.0003"
    run = checked(console(SOLVED, more), tmp_path, capsys)
    values = {each["concept"]: each["value"] for each in run["checklist"]}
    assert values["entropy"] == 0.42 and values["value_loss"] == 12.5
    assert values["explained_variance"] == 0.91 and values["lr"] == 0.0003


def test_a_pasted_table_without_its_indents_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SB3's table as web pages show it: members of a group stand below it, not indented."""
    rule = "-----------------------------------------\n"
    table = "".join(
        f"{rule}| time/ | |\n| iterations | {i} |\n| total_timesteps | {2048 * i} |\n"
        f"| train/ | |\n| entropy_loss | -0.683 |\n| value_loss | 8.2741 |\n{rule}"
        for i in range(1, 9)
    )
    run = checked(table, tmp_path, capsys)
    values = {each["concept"]: each["value"] for each in run["checklist"]}
    assert run["producer"] == "sb3" and run["progress"]["step"] == 8 * 2048
    assert values["entropy"] == 0.683 and values["value_loss"] == 8.2741


def test_explained_variance_is_no_fault_before_and_after_learning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may begin below 0, and means little once the value loss is almost 0."""

    def status(rows: int) -> str:
        lines = "".join(
            f"Iteration {i + 1}/40 | Mean Reward: {min(499.0, 20 + 20.0 * i):.1f} | "
            f"KL: 0.005 | clip%: 5.0% | Value Loss: {60 * 0.7**i + 8e-5:.6f} | "
            f"EV: {-0.1 if i < 3 or i > 30 else 0.9}\n"
            for i in range(rows)
        )
        run = checked(lines, tmp_path, capsys)
        (row,) = (each for each in run["checklist"] if each["concept"] == "explained_variance")
        return str(row["status"])

    assert (status(2), status(40)) == ("warming-up", "ok")


@pytest.mark.parametrize(("rate", "status"), [(0.0029, "ok"), (0.0031, "crit")])
def test_a_learning_rate_that_is_the_cause_is_marked(
    rate: float, status: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the diagnosis of updates that are too large calls it high, its row is marked, too."""
    log = "".join(
        f"Iteration {i}/40 | Mean Reward: {400 * 0.9 ** max(0, i - 15) + jitter(i, 4):.1f} | "
        f"KL: {0.01 if i < 14 else 0.25} | clip%: 15.0% | learning_rate: {rate}\n"
        for i in range(1, 41)
    )
    run = checked(log, tmp_path, capsys)
    assert rules_of(run)["updates-too-large"] == "crit"
    (row,) = (each for each in run["checklist"] if each["concept"] == "lr")
    assert row["status"] == status
