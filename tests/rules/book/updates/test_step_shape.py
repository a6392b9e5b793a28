"""Updates that change nothing, pass the clip range, or have a ratio far from 1."""

from __future__ import annotations

from tests.rules.courses import FLAT, GAINS, STILL, after, back, fallen, flat, late, learned, rise
from tests.rules.specification import (
    CRIT,
    INFO,
    WARN,
    WATCH,
    Boundary,
    Clearing,
    Contrast,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import jitter


# fmt: off
class TestRatioOff(RuleTests):
    """Probability ratio far from 1."""

    rule = "ratio-off"
    examples = (
        RuleCase({"ratio_mean": after(20, 1.7, 1.0)},
            {"ratio_mean": lambda i: 1.3 if i == 20 else 1.0}),
        Contrast("the plain ratio is far off where no mean is logged",
            {"ratio_mean": None, "ratio_dist": 1.6}, {"ratio_dist": 1.4}, WARN, 0, family="rlhf"),
        Contrast("a mean beside the plain ratio is off", {"ratio_mean": 1.6, "ratio_dist": 1.0},
            {"ratio_mean": 1.0}, WARN, 0, family="rlhf"),
        Contrast("minibatches differ", {"ratio_mean": 1.0, "ratio_var": 0.103},
            {"ratio_var": 0.097}, WARN, 0, family="rlhf"),
        Boundary("warn_high", late("ratio_mean", 1.0), WARN),
        Boundary("warn_low", late("ratio_mean", 1.0), WARN, -1),
        Boundary("crit_high", late("ratio_mean", 1.0), CRIT),
        Boundary("crit_low", late("ratio_mean", 1.0), CRIT, -1),
        Boundary("tail", late("ratio_dist{max}", 2.0, ratio_mean=None), WARN, family="rlhf"),
        Boundary("tail_crit", late("ratio_dist{max}", 2.0, ratio_mean=None), CRIT, family="rlhf"),
    )


class TestNoOpUpdates(RuleTests):
    """No-op updates (KL zero)."""

    rule = "no-op-updates"
    examples = (
        RuleCase({"approx_kl": 1e-8, "clip_fraction": 0.0, "entropy": 0.69, "reward_mean": flat},
            {"approx_kl": 3e-4, "clip_fraction": 0.0, "reward_mean": flat}),
        Contrast("updates of one step each are measured before",
            {"approx_kl": lambda i: 0.01 if i < 10 else 0.0, "clip_fraction": 0.0, "entropy": 0.6,
            **STILL}, {"approx_kl": 0.0}, WARN, 0, family="grpo"),
        Contrast("small updates are enough for a language model that has learned",
            {"approx_kl": 1e-6, "clip_fraction": 0.0, "entropy": 0.6, **STILL}, GAINS, WARN, 0,
            family="rlhf"),
        Contrast("a little is clipped",
            {"approx_kl": 1e-8, "clip_fraction": 0.0, "entropy": 0.69, **FLAT},
            {"clip_fraction": 0.1}, WARN, 0),
        Contrast("the clip holds the policy",
            {"approx_kl": 1e-8, "clip_fraction": 0.31, "entropy": 0.69, **FLAT},
            {"clip_fraction": 0.29}, WARN, 0),
        Contrast("a schedule has ended", {"approx_kl": 1e-8, "clip_fraction": 0.0, "entropy": 0.69,
            **FLAT, "lr": lambda i: 3e-4 * max(0.22, 1 - 0.1 * i)},
            {"lr": lambda i: 3e-4 * max(0.18, 1 - 0.1 * i)}, WARN, 0),
        Contrast("updates of exactly nothing follow real ones",
            {"approx_kl": lambda i: 0.01 if i < 25 else 0.0, "entropy": 0.69, **FLAT,
            "clip_fraction": lambda i: 0.1 if i < 25 else 0.0,
            "lr": lambda i: 3e-4 * max(0.15, 1 - 0.1 * i)},
            {"lr": lambda i: 3e-4 * max(0.015, 1 - 0.1 * i)}, WARN, 0),
        Contrast("updates of exactly nothing have always been so",
            {"approx_kl": lambda i: 0.01 if i < 25 else 0.0, "entropy": 0.69, **FLAT,
            "clip_fraction": lambda i: 0.1 if i < 25 else 0.0,
            "lr": lambda i: 3e-4 * max(0.15, 1 - 0.1 * i)},
            {"approx_kl": 0.0, "clip_fraction": 0.0}, WARN, 0),
        Contrast("reward was gained and the rate is not logged",
            {"approx_kl": lambda i: 0.01 if i < 25 else 1e-8, "entropy": 0.69, "lr": None,
            "clip_fraction": lambda i: 0.1 if i < 25 else 0.0, **FLAT},
            {"reward_mean": learned, "ep_len": learned}, WARN, 0),
        Contrast("zeros are those of a script that rounds",
            {"approx_kl": 0.0, "clip_fraction": 0.0, "entropy": 0.69, **FLAT}, {}, WARN, 0,
            otherwise_trainer="custom"),
        Contrast("entropy fell all the same", {"approx_kl": 0.0, "clip_fraction": 0.0,
            "entropy": after(5, 0.69 * 0.98, 0.69), **FLAT},
            {"entropy": after(5, 0.69 * 0.96, 0.69)}, WARN, 0),
        Contrast("reward was gained by updates that show nothing",
            {"approx_kl": 0.0, "clip_fraction": 0.0, "entropy": 0.69, **FLAT},
            {"reward_mean": learned, "ep_len": learned}, WARN, 0),
        Contrast("a step a batch never shows a KL",
            {"approx_kl": after(5, 0.0, 0.01), "clip_fraction": 0.0, "reward_mean": 0.5},
            {"approx_kl": 0.0}, WARN, 0, family="grpo"),
        Contrast("a batch is used for more than one step",
            {"approx_kl": after(4, 1e-6, 1e-3), "clip_fraction": 0.0, "entropy": 0.69, **STILL},
            config={"n_epochs": 2, "num_minibatches": 1}, differs_config={"n_epochs": 1}),
        Contrast("a batch is more than one minibatch",
            {"approx_kl": after(4, 1e-6, 1e-3), "clip_fraction": 0.0, "entropy": 0.69, **STILL},
            config={"n_epochs": 1, "num_minibatches": 4}, differs_config={"num_minibatches": 1}),
        Contrast("small updates suffice for a language model",
            {"approx_kl": after(25, 1e-8, 0.01), "clip_fraction": 0.0, "reward_mean": 0.5},
            {"reward_mean": lambda i: 0.2 + 0.05 * i + jitter(i, 0.05)}, WARN, 0, family="rlhf"),
        Boundary("kl", lambda x: {"approx_kl": x, "clip_fraction": 0.0, "entropy": 0.69, **FLAT},
            WARN, -1),
        Clearing("clear_kl", back("approx_kl", 1e-8, 1e-8, clip_fraction=0.0, entropy=0.69,
            **FLAT), -1),
        Contrast("a reward was gained, and the rate is no reason to stop",
            {"approx_kl": after(20, 1e-8, 0.01), "clip_fraction": 0.0, "reward_mean": learned},
            {"lr": None}, WARN, 0),
        Contrast("the rate was never more than 0, which is no schedule",
            {"approx_kl": 1e-8, "clip_fraction": 0.0, "entropy": 0.69, **FLAT, "lr": 0.0},
            {"lr": lambda i: 3e-4 * max(0.0, 1.0 - i / 10)}, WARN, 0),
        Contrast("the rate was cut at once, which is no schedule",
            {"approx_kl": after(20, 1e-8, 0.01), "clip_fraction": 0.0, "entropy": 0.69, **FLAT,
            "lr": after(20, 1e-6, 3e-4)}, {"lr": lambda i: 3e-4 * max(0.0, 1.0 - i / 25)}, WARN, 0),
        Contrast("a Gaussian's entropy that falls does not show that it learns",
            {"approx_kl": 0.0, "clip_fraction": 0.0, "entropy": lambda i: 1.0 - 0.005 * i,
            "policy_std": 1.0, **FLAT}, {"policy_std": None}, WARN, 0),
    )


class TestClipNotBinding(RuleTests):
    """Clipping ineffective (clip range too wide)."""

    rule = "clip-not-binding"
    examples = (
        RuleCase({"approx_kl": after(20, 0.09, 0.01), "clip_fraction": after(20, 0.001, 0.1)},
            {"approx_kl": after(20, 0.04, 0.01), "clip_fraction": 0.3}),
        Contrast("the clip range is wide and the KL above 0.03",
            {"approx_kl": after(20, 0.031, 0.01), "clip_fraction": 0.01, "clip_range": 0.41},
            {"clip_range": 0.39}, WARN, 0),
        Contrast("with a wide clip range the KL is above 0.03",
            {"approx_kl": after(20, 0.031, 0.01), "clip_fraction": 0.01, "clip_range": 0.4},
            {"approx_kl": after(20, 0.029, 0.01)}, WARN, 0),
        Contrast("the wide range binds all the same",
            {"approx_kl": 0.06, "clip_fraction": 0.051, "clip_range": 0.4},
            {"clip_fraction": 0.049}, WATCH, WARN),
        Contrast("the reward falls although the range binds", {"approx_kl": after(30, 0.06, 0.01),
            "clip_fraction": 0.06, "clip_range": 0.4, "reward_mean": fallen}, {"reward_mean": rise},
            WARN, WATCH),
        Contrast("nothing at all is clipped by a wide range",
            {"clip_fraction": 0.0, "clip_range": 0.4}, {"clip_fraction": 0.001}, INFO, 0),
        Contrast("there have been so many updates", {"clip_fraction": 0.0, "clip_range": 0.4}, {},
            INFO, 0, count=26, otherwise_count=21),
        Contrast("twenty updates were not clipped",
            {"clip_fraction": lambda i: 0.01 if i < 37 else 0.0, "clip_range": 0.4},
            {"clip_fraction": lambda i: 0.01 if i < 38 else 0.0}, INFO, 0),
        Boundary("kl", late("approx_kl", 0.01, clip_fraction=0.001), WARN),
        Boundary("clip", late("clip_fraction", 0.1, approx_kl=0.09), WARN, -1),
        Clearing("clear_kl", back("approx_kl", 0.01, 0.2, clip_fraction=0.0)),
    )
