"""The critic: whether it explains the returns, and whether their scale allows it."""

from __future__ import annotations

from tests.rules.courses import (
    AT_500,
    FLAT,
    NOWHERE,
    PERFECT,
    after,
    at,
    back,
    capped,
    fallen,
    flat,
    learned,
    rise,
)
from tests.rules.specification import (
    AT_LAST,
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
from tests.support.drawn_runs import DrawnColumns, jitter

LOST_FIT: DrawnColumns = {
    "explained_variance": after(40, 0.1, 0.9), "value_loss": after(40, 60.0, 4.0),
    "reward_mean": fallen,
}  # fmt: skip

OFF_RETURNS: DrawnColumns = {
    "value_mean": 2.55, "return_mean": 0.5, "return_var": 1.0, "value_var": 1.0,
}  # fmt: skip

FAILING: DrawnColumns = {"explained_variance": -2.0, "value_loss": 900.0, **FLAT}

BAD_CRITIC: DrawnColumns = {"explained_variance": -0.1, "value_loss": 900.0, **FLAT}


def fits(share: float) -> DrawnColumns:
    """A critic that explains nothing while its loss falls to a share of its first values."""
    return {"value_loss": after(5, 900.0 * share, 900.0)}


# fmt: off
class TestCriticNotLearning(RuleTests):
    """Critic not learning (EV <= 0)."""

    rule = "critic-not-learning"
    examples = (
        RuleCase({"explained_variance": lambda i: 0.01 + jitter(i, 0.02), "value_loss": 900.0,
            "reward_mean": flat}, {"explained_variance": lambda i: 0.0 if i < 9 else 0.4,
            "value_loss": 90.0, "reward_mean": flat}),
        Contrast("reward was gained where no loss is logged",
            {"explained_variance": -0.1, "value_loss": None, **FLAT}, {"reward_mean": learned},
            WARN, WATCH),
        Contrast("a loss that begins with 0 has not fallen",
            {**FAILING, "explained_variance": 0.0, "value_loss": after(10, 900.0, 0.0)},
            {"value_loss": lambda i: 900.0 * 0.7**i}, WARN, INFO),
        Contrast("no reward shows that it does no harm",
            {**FAILING, "explained_variance": 0.0, **NOWHERE}, {"reward_mean": learned}, WARN,
            WATCH),
        Contrast("no reward was gained with a critic far off", FAILING, {"reward_mean": learned},
            CRIT, WATCH),
        Contrast("the reward is below its ceiling", {**FAILING, **PERFECT}, {}, CRIT, 0,
            differs_config=AT_500),
        Contrast("a loss that is almost nothing is no success by itself",
            {**FAILING, "explained_variance": 0.0, "value_loss": after(3, 0.01, 60.0)},
            {"reward_mean": learned}, INFO, 0),
        Contrast("a critic far off does not improve", FAILING,
            {"value_loss": lambda i: 900.0 * max(0.45, 0.9**i)}, CRIT, WARN),
        Contrast("a critic had twelve updates to learn anything in",
            {**FAILING, "explained_variance": 0.0}, {}, WATCH, 0, count=13, otherwise_count=11),
        Contrast("anything is trained at all", {**BAD_CRITIC, "approx_kl": 1.1e-5},
            {"approx_kl": 0.9e-5}, WARN, 0),
        Contrast("an update holds less than 200 steps",
            {**BAD_CRITIC, "n_updates": lambda i: 49.0 * i}, {"n_updates": lambda i: 51.0 * i},
            WARN, WATCH),
        Contrast("reward was gained", BAD_CRITIC, {"reward_mean": rise}, WARN, WATCH),
        Contrast("its weight is 0, whatever is gained", {**BAD_CRITIC, "reward_mean": rise}, {},
            WATCH, WARN, differs_config={"vf_coef": 0.0}),
        Contrast("a value clip holds it, whatever is gained",
            {**BAD_CRITIC, "reward_mean": rise, "clip_range_vf": 0.0103}, {"clip_range_vf": 0.0097},
            WATCH, WARN),
        Contrast("its loss fell to seven tenths",
            {**BAD_CRITIC, **fits(0.71), "explained_variance": at(0, 0.3, -0.1)}, fits(0.69), WARN,
            INFO),
        Contrast("it ever explained a tenth",
            {**BAD_CRITIC, **fits(0.6), "explained_variance": at(0, 0.097, -0.1)},
            {"explained_variance": at(0, 0.103, -0.1)}, WARN, INFO),
        Contrast("a fifth of its loss is left for long", {**BAD_CRITIC, **fits(0.206)}, fits(0.194),
            WARN, INFO),
        Contrast("two fifths of its loss are left at first", {**BAD_CRITIC, **fits(0.412)},
            fits(0.388), WARN, 0, count=17),
        Contrast("eighteen updates have passed", {**BAD_CRITIC, **fits(0.3)}, {}, WARN, 0, count=18,
            otherwise_count=17),
        Contrast("a small loss is what reward was gained with",
            {**BAD_CRITIC, "reward_mean": learned, **fits(0.0103)}, fits(0.0097), WATCH, 0),
        Boundary("low", lambda x: {"explained_variance": x, "value_loss": 900.0, **FLAT}, WARN, -1),
        Boundary("crit", lambda x: {"explained_variance": x, "value_loss": 900.0, **FLAT}, CRIT,
            -1),
        Clearing("clear", back("explained_variance", -0.5, -0.5, value_loss=60.0, **FLAT), -1),
        Contrast("something is trained at all", {"explained_variance": -0.5, "value_loss": 60.0,
            **FLAT}, {"approx_kl": 0.97e-5}, WARN, 0),
    )


class TestExplainedVarianceDropped(RuleTests):
    """Explained variance dropped."""

    rule = "explained-variance-dropped"
    examples = (
        RuleCase({"explained_variance": after(40, 0.05, 0.9), "value_loss": after(40, 60.0, 4.0),
            "reward_mean": fallen}, {"explained_variance": lambda i: 0.1 if i == 40 else 0.9}),
        Contrast("the reward is at its ceiling", LOST_FIT, {"reward_mean": capped}, WARN, 0),
        Contrast("a loss is logged", LOST_FIT, {"value_loss": None}, WARN, 0),
        Contrast("the critic does not find its fit again", LOST_FIT,
            {"explained_variance": lambda i: 0.1 if 40 <= i < 50 else 0.9}, WARN, 0, log=AT_LAST),
        Contrast("the loss doubled",
            {"explained_variance": after(40, 0.1, 0.9), "value_loss": after(40, 8.2, 4.0)},
            {"value_loss": after(40, 7.8, 4.0)}, WARN, 0),
        Contrast("the loss is not small against its highest",
            {"explained_variance": after(40, 0.1, 0.9),
            "value_loss": lambda i: 1000.0 if i == 0 else 51.5 if i >= 40 else 4.0},
            {"value_loss": lambda i: 1000.0 if i == 0 else 48.5 if i >= 40 else 4.0}, WARN, 0),
        Contrast("an update holds less than 200 steps", {"explained_variance": after(40, 0.1, 0.9),
            "value_loss": after(40, 60.0, 4.0), "n_updates": lambda i: 49.0 * i},
            {"n_updates": lambda i: 51.0 * i}, WARN, WATCH),
        Contrast("the usual loss is that of thirty updates",
            {"explained_variance": after(40, 0.1, 0.9),
            "value_loss": lambda i: 10.0 if i >= 40 else 4.0 if i >= 22 else 8.0},
            {"value_loss": lambda i: 10.0 if i >= 40 else 4.0 if i >= 28 else 8.0}, WARN, 0),
        Boundary("low",
            lambda x: {"explained_variance": after(40, x, 0.9), "value_loss": after(40, 60.0, 4.0),
                "reward_mean": fallen}, WARN, -1),
        Boundary("good",
            lambda x: {"explained_variance": after(40, 0.05, x), "value_loss": after(40, 60.0,
                4.0), "reward_mean": fallen}, WARN),
        Clearing("clear", back("explained_variance", 0.9, 0.1, value_loss=after(20, 60.0, 4.0),
            **FLAT), -1),
    )


class TestRewardScale(RuleTests):
    """Returns too large for the critic."""

    rule = "reward-scale"
    examples = (
        RuleCase({"value_loss": lambda i: 3e5, "explained_variance": 0.01, "reward_mean": flat},
            {"value_loss": lambda i: 3e5, "explained_variance": lambda i: min(0.9, 0.2 * i)}),
        Boundary("loss", lambda x: {"value_loss": x, "explained_variance": 0.0, **FLAT}, WARN),
        Boundary("explained", lambda x: {"value_loss": 3e5, "explained_variance": x, **FLAT}, WARN,
            -1),
        Boundary("huge",
            lambda x: {"value_loss": x, "explained_variance": 0.0, "reward_mean": lambda i: -9e3 +
                90.0 * i + jitter(i, 30)}, WARN, count=30),
        Boundary("huge", lambda x: {"value_loss": x, "explained_variance": None, **FLAT}, WATCH),
        Contrast("nothing is gained", {"value_loss": 2e6, "explained_variance": None, **FLAT},
            {"reward_mean": lambda i: -900.0 + 9 * i + jitter(i, 3)}, WATCH, 0, log=AT_LAST),
    )


class TestValueDrift(RuleTests):
    """Values and returns differ in scale."""

    rule = "value-drift"
    examples = (
        RuleCase({"value_var": 50.0, "return_var": 1.0}, {"value_var": 2.0, "return_var": 1.0},
            WATCH, family="rlhf"),
        Contrast("the mean of the returns is logged", OFF_RETURNS, {"return_mean": None}, WATCH, 0,
            family="rlhf"),
        Contrast("the mean of the values is logged", OFF_RETURNS, {"value_mean": None}, WATCH, 0,
            family="rlhf"),
        Contrast("returns of a control task may grow", {"return_var": after(10, 50.0, 1.0),
            "value_var": 10.0, "value_mean": 0.0, "return_mean": 0.0}, {"value_var": 0.1}, 0,
            WATCH),
        Contrast("means differ by two standard deviations",
            {"value_mean": 2.55, "return_mean": 0.5, "return_var": 1.0, "value_var": 1.0},
            {"value_mean": 2.45}, WATCH, 0, family="rlhf"),
        Contrast("the returns' variance grew twentyfold",
            {"return_var": after(35, 20.6, 1.0), "value_var": 1.0},
            {"return_var": after(35, 19.4, 1.0)}, WATCH, 0, family="rlhf"),
        Contrast("it is a language model whose returns grew", {"return_var": after(10, 50.0, 1.0),
            "value_var": 10.0, "value_mean": 0.0, "return_mean": 0.0},
            {"return_var": after(10, 19.0, 1.0)}, WATCH, 0, family="rlhf"),
        Contrast("returns vary at all", {"value_var": 1.0, "return_var": 1.1e-12},
            {"return_var": 0.9e-12}, WATCH, 0, family="rlhf"),
        Boundary("high", lambda x: {"value_var": x, "return_var": 1.0}, WATCH, family="rlhf"),
        Boundary("low", lambda x: {"value_var": x, "return_var": 1.0}, WATCH, -1, "rlhf"),
    )
