"""Returns as the critic sees them: all equal, or changed."""

from __future__ import annotations

from tests.rules.courses import (
    AT_500,
    FLAT,
    NAN,
    NOWHERE,
    PERFECT,
    after,
    at,
    flat,
    learned,
    rise,
    surprised,
)
from tests.rules.specification import (
    AT_LAST,
    CRIT,
    WARN,
    WATCH,
    Boundary,
    Contrast,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import jitter


# fmt: off
class TestReturnsConstant(RuleTests):
    """All returns equal."""

    rule = "returns-constant"
    examples = (
        RuleCase({"explained_variance": NAN, "reward_mean": flat},
            {"explained_variance": lambda i: NAN if i % 6 < 4 else 0.4, "reward_mean": flat}),
        Contrast("the reward was gained before",
            {"explained_variance": after(30, NAN, 0.5), **FLAT}, {"reward_mean": learned}, WARN, 0),
        Contrast("they have been equal from the start, whatever is gained",
            {"explained_variance": NAN, "reward_mean": learned},
            {"explained_variance": after(30, NAN, 0.5)}, WATCH, 0),
        Contrast("the reward is not the most there is", {"explained_variance": NAN, **PERFECT}, {},
            WARN, 0, differs_config=AT_500),
        Boundary("warmup",
            lambda x: {"explained_variance": lambda i: float("nan") if i < x + 4 else 0.5,
                "reward_mean": flat}, WARN, step=0.6),
        Boundary("defined",
            lambda x: {"explained_variance": lambda i: 0.5 if i < 100 * x else float("nan"),
                "reward_mean": rise}, WATCH, -1, count=100, step=0.06),
    )


class TestReturnsChanged(RuleTests):
    """Returns changed."""

    rule = "returns-changed"
    examples = (
        RuleCase({"explained_variance": lambda i: -2.0 if i == 40 else 0.95,
            "value_loss": lambda i: 80.0 if i == 40 else 4.0,
            "reward_mean": lambda i: rise(i) if i < 45 else rise(45) - 8 * (i - 44)},
            {"explained_variance": lambda i: -2.0 if i == 40 else 0.95,
            "value_loss": lambda i: 80.0 if i == 40 else 4.0}),
        Contrast("it falls by more than half from a good fit", surprised(),
            surprised(explained=0.6), CRIT, 0),
        Contrast("the loss is several times the usual", surprised(), surprised(loss=6.0), CRIT, 0),
        Contrast("it was shortly before the fall", surprised(), surprised(row=12), CRIT, 0),
        Contrast("an update holds enough steps", {**surprised(), "iteration": lambda i: 4.0 * i},
            {"iteration": lambda i: 6.0 * i}, CRIT, 0),
        Contrast("the critic was good before", surprised(),
            {"explained_variance": at(40, 0.1, 0.3)}, CRIT, 0),
        Contrast("a reward is logged", surprised(), NOWHERE, CRIT, 0),
        Contrast("the reward did not fall before", surprised(),
            {"reward_mean": lambda i: rise(i) if i < 30 else rise(30) - 25.0 * (i - 29)}, CRIT, 0),
        Contrast("the reward had risen: the best of mere noise is chance", surprised(),
            {"reward_mean": lambda i: 100.0 + jitter(i, 30) - 45.0 * (i >= 42)}, CRIT, 0),
        Contrast("the reward falls afterwards", {"explained_variance": at(40, 0.1, 0.9),
            "value_loss": at(40, 60.0, 4.0),
            "reward_mean": lambda i: rise(i) if i < 42 else rise(42) - 30.0 * (i - 41)},
            {"reward_mean": rise}, CRIT, 0),
        Contrast("the reward has not recovered",
            {**surprised(), "reward_mean": lambda i: rise(i) - 200.0 * (i >= 42)},
            {"reward_mean": lambda i: rise(i) - 200.0 * (42 <= i < 50) + 60.0 * (i >= 50)}, WARN, 0,
            count=62, log=AT_LAST),
        Contrast("the critic was good in most of the ten updates before",
            {"explained_variance": lambda i: 0.1 if i == 40 else 0.9 if i >= 31 else 0.2,
            "value_loss": at(40, 60.0, 4.0),
            "reward_mean": lambda i: rise(i) if i < 42 else rise(42) - 30.0 * (i - 41)},
            {"explained_variance": lambda i: 0.1 if i == 40 else 0.9 if i >= 36 else 0.2}, CRIT, 0),
    )
