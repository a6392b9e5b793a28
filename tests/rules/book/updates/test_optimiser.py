"""Losses and gradients: sign and spikes."""

from __future__ import annotations

from tests.rules.courses import FLAT, after, at, back, fallen, late, rise, spike
from tests.rules.specification import (
    CRIT,
    INFO,
    WARN,
    WATCH,
    Boundary,
    Clearing,
    Contrast,
    RowLog,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import DrawnColumns, jitter


# fmt: off
class TestPolicyLossPositive(RuleTests):
    """Policy loss positive or extreme."""

    rule = "policy-loss-positive"
    examples = (
        RuleCase({"policy_loss": after(20, 0.04, -0.01)},
            {"policy_loss": lambda i: 0.02 if i % 6 == 0 else -0.01}),
        Contrast("a language model's loss jumps", {"policy_loss": after(30, 1.5, -0.02)},
            {"policy_loss": after(30, 0.05, -0.02)}, WATCH, 0, family="rlhf"),
        Contrast("a high KL says it already", {"policy_loss": at(40, 0.5, -0.02)},
            {"approx_kl": after(30, 0.05, 0.01)}, WATCH, 0),
        Contrast("advantages are normalised", {"policy_loss": 0.05}, {}, WARN, 0,
            differs_config={"normalize_advantage": False}),
        Contrast("a loss that jumps is not in units of the rewards",
            {"policy_loss": at(30, -0.9, -0.02)}, {}, WATCH, 0,
            differs_config={"normalize_advantage": False}),
        Contrast("the setting is written as text", {"policy_loss": 0.05}, {}, WARN, 0,
            differs_config={"normalize_advantage": "False"}),
        Contrast("the reward falls while the loss is large",
            {"policy_loss": 0.5, "approx_kl": 0.01, "reward_mean": fallen}, {"reward_mean": rise},
            WARN, INFO),
        Contrast("nothing was clipped or moved as PPO does", {"policy_loss": 0.05},
            {"clip_fraction": None, "approx_kl": None, "ratio_mean": None, "clip_range": None},
            WARN, 0, trainer="unknown"),
        Contrast("losses of single batches are positive on the whole",
            {"policy_loss": lambda i: 0.03 if i % 5 else -0.01, **FLAT},
            {"policy_loss": lambda i: 0.03 if i % 5 and i > 12 else -0.12}, WARN, 0),
        Contrast("the first losses are of whole updates, or positive on the whole",
            {"policy_loss": lambda i: 0.05 if i != 1 else -0.12, **FLAT}, {}, WARN, 0, count=10,
            otherwise_trainer="rllib"),
        Contrast("losses of the last batch are positive on the whole",
            {"policy_loss": lambda i: 0.05 if i != 1 else -0.03, **FLAT},
            {"policy_loss": lambda i: 0.05 if i != 1 else -0.12}, WARN, 0, count=10,
            trainer="rllib"),
        Contrast("there were ten values before",
            {"policy_loss": lambda i: -0.5 if i == 10 else -0.005 + jitter(i, 0.001)},
            {"policy_loss": lambda i: -0.5 if i == 9 else -0.005 + jitter(i, 0.001)}, WATCH, 0),
        Contrast("values of exactly 0 are no usual ones",
            {"policy_loss": lambda i: -0.5 if i == 25 else (i % 2) * (-0.005 + jitter(i, 0.001))},
            {"policy_loss": lambda i: -0.5 if i == 17 else (i % 2) * (-0.005 + jitter(i, 0.001))},
            WATCH, 0),
        Boundary("warn", late("policy_loss", -0.01), WARN),
        Boundary("extreme", late("policy_loss", -0.01), CRIT),
        Boundary("small",
            lambda x: {"policy_loss": lambda i: -x if i >= 40 else -0.005 + jitter(i, 0.001)},
            WATCH),
        Boundary("times",
            lambda x: {"policy_loss": lambda i: -0.02 * (x if i >= 40 else 1 + jitter(i, 0.01))},
            WATCH),
        Boundary("unscaled", lambda x: {"policy_loss": x}, WARN, -1),
        Boundary("small_kl", lambda x: {"policy_loss": 0.5, "approx_kl": x}, WARN),
        Clearing("clear", back("policy_loss", -0.01, 0.04)),
        Contrast("an algorithm is known to normalise its advantages, or the log shows it",
            {"policy_loss": 0.05}, {"approx_kl": None, "clip_fraction": None}, WARN, 0),
    )


class TestLossSpike(RuleTests):
    """Total loss spike."""

    rule = "loss-spike"
    examples = (
        RuleCase({"total_loss": lambda i: 900.0 if i == 40 else 3 + jitter(i, 0.3)},
            {"total_loss": lambda i: 6.0 if i == 40 else 3 + jitter(i, 0.3)}, WATCH),
        Contrast("one of the twenty before was as high",
            {"total_loss": lambda i: {19: 9.0, 40: 26.0}.get(i, 1 + jitter(i, 0.01))},
            {"total_loss": lambda i: {20: 9.0, 40: 26.0}.get(i, 1 + jitter(i, 0.01))}, WATCH, 0),
        Boundary("times", spike("total_loss", 3.0), WATCH),
        Boundary("recent_times",
            lambda x: {"total_loss": lambda i: {38: 10.0, 40: 10.0 * x}.get(i, 1 + jitter(i,
                0.01))}, WATCH),
        Boundary("share",
            lambda x: {"total_loss": lambda i: {2: 1000.0, 40: 1000.0 * x}.get(i, 1 + jitter(i,
                0.01))}, WATCH),
    )


class TestGradSpike(RuleTests):
    """Gradient norm spike."""

    rule = "grad-spike"
    examples = (
        RuleCase({"grad_norm": lambda i: 40.0 if i == 40 else 1 + jitter(i, 0.1)},
            {"grad_norm": lambda i: 4.0 if i == 40 else 1 + jitter(i, 0.1)}, WATCH),
        Contrast("gradients usually differ by less", {"grad_norm": at(40, 20.0, 1.0)},
            {"grad_norm": lambda i: 20.0 if i == 40 else 10.0 ** jitter(i, 1.0)}, WATCH, 0),
        Contrast("the gradient is more than noise of the smallest size",
            {"grad_norm": lambda i: 1.1e-6 if i == 40 else 1e-9 * (1 + jitter(i, 0.01))},
            {"grad_norm": lambda i: 0.9e-6 if i == 40 else 1e-9 * (1 + jitter(i, 0.01))}, WATCH, 0),
        Contrast("it is unusual for gradients that vary much",
            {"grad_norm": lambda i: 11.0 if i == 40 else 1 + jitter(i, 0.1)},
            {"grad_norm": lambda i: 11.0 if i == 40 else 10.0 ** jitter(i, 0.9)}, WATCH, 0),
        Boundary("times", spike("grad_norm", 1.0), WATCH),
    )


class TestGradHigh(RuleTests):
    """Exploding gradients."""

    rule = "grad-high"
    examples = (
        RuleCase({"grad_norm": lambda i: 40.0 if i in (40, 42, 45) else 1 + jitter(i, 0.1)},
            {"grad_norm": lambda i: 40.0 if i == 40 else 1 + jitter(i, 0.1)}, WATCH),
        Contrast("two of three are a hundred times the usual",
            {"grad_norm": lambda i: 103.0 if i in (40, 42) else 1 + jitter(i, 0.001)},
            {"grad_norm": lambda i: 97.0 if i in (40, 42) else 1 + jitter(i, 0.001)}, WATCH, 0),
    )


NEVER_TRAINED: DrawnColumns = {
    "grad_norm": 0.0, "approx_kl": 0.0, "reward_mean": lambda i: 20 + jitter(i, 1.0),
}  # fmt: skip


class TestGradZero(RuleTests):
    """Vanishing gradients."""

    rule = "grad-zero"
    examples = (
        RuleCase({"grad_norm": after(20, 0.0, 1.0)},
            {"grad_norm": lambda i: 0.0 if i == 20 else 1.0}, WATCH),
        Contrast("the learning rate is zero", {"grad_norm": after(30, 0.0, 1.0)}, {"lr": 0.0},
            WATCH, 0),
        Contrast("there ever was a gradient", {"grad_norm": after(30, 0.0, 1.0)},
            {"grad_norm": 0.0}, WATCH, 0),
        Contrast("the policy has never moved either", NEVER_TRAINED, {"approx_kl": 1e-9}),
        Contrast("no distance is negative", NEVER_TRAINED, {"approx_kl": -1e-9}),
        Contrast("nothing was learned", NEVER_TRAINED, {"reward_mean": lambda i: 20.0 + i},
            log=RowLog(left_open=True)),
        Contrast("a gain would have shown by now", NEVER_TRAINED, level=WARN, count=9,
            otherwise=WATCH, otherwise_count=8),
        Contrast("two updates are past", NEVER_TRAINED, level=WATCH, count=4, otherwise_count=3,
            log=RowLog(ended=True)),
        Contrast("it is a millionth of the usual", {"grad_norm": after(50, 0.97e-6, 1.0)},
            {"grad_norm": after(50, 1.03e-6, 1.0)}, WATCH, 0),
        Contrast("the reward is at its ceiling",
            {"grad_norm": after(40, 0.0, 1.0), "reward_mean": 20.0}, {"reward_mean": 500.0}, WATCH,
            0, config={"reward_threshold": 500.0}),
    )
