"""The critic's loss: it rises, never falls, is exactly 0; value clipping."""

from __future__ import annotations

from tests.rules.courses import AT_500, FLAT, PERFECT, after, flat, late, learned, steady_gain
from tests.rules.specification import (
    AT_LAST,
    INFO,
    WARN,
    WATCH,
    Boundary,
    Contrast,
    RowLog,
    RuleCase,
    RuleTests,
)
from tests.support.drawn_runs import DrawnColumns, jitter


def raised_thrice(i: int, height: float, then: float) -> float:
    """A loss that fell, with three stretches far above its level; then the last one may stay."""
    if i < 8:
        return 4.0
    raised = i >= 30 and (i - 30) % 40 < 15 and i < 125
    return then if i >= 125 else 1.0 + (height if raised else 0.0) * min(1.0, (i - 30) % 40 / 12)


CLIMBING: DrawnColumns = {
    "explained_variance": 0.1, "value_loss": lambda i: 5.0 * 1.05**i, **FLAT,
}  # fmt: skip

UNFALLEN: DrawnColumns = {"explained_variance": 0.0, "value_loss": 60.0, **FLAT}


# fmt: off
class TestValueLossRising(RuleTests):
    """Value loss not falling."""

    rule = "value-loss-rising"
    examples = (
        RuleCase(
            {"value_loss": lambda i: 5 * 1.1**i, "explained_variance": 0.02, "reward_mean": flat},
            {"value_loss": lambda i: 5 * 1.05**i}),
        Contrast("it is still high", {**FLAT, "value_loss": lambda i: raised_thrice(i, 20.0, 21.0),
            "explained_variance": None}, {"value_loss": lambda i: raised_thrice(i, 20.0, 1.0)},
            WARN, 0, count=215, log=AT_LAST),
        Contrast("the reward was not gained before", CLIMBING, {"reward_mean": learned}, WARN,
            WATCH),
        Contrast("the reward has not grown with its square",
            {**CLIMBING, "reward_mean": lambda i: 10.0 - 4.0 * i},
            {"reward_mean": lambda i: 10.0 + 4.0 * i}, WARN, INFO),
        Contrast("a critic is seen not to learn where reward was gained",
            {**UNFALLEN, "reward_mean": learned}, {"explained_variance": None}, WATCH, INFO),
        Contrast("an update holds more than a few steps", UNFALLEN, {}, WATCH, 0,
            otherwise_log=RowLog(step=lambda row: 5 * (row + 1))),
        Contrast("the log begins with the run", UNFALLEN, {}, WATCH, 0,
            otherwise_log=RowLog(step=lambda row: 10_000_000 + 1000 * row)),
        Contrast("the critic explains a fifth all the same",
            {"value_loss": lambda i: 2.0 * 1.1**i, "explained_variance": 0.19, **FLAT},
            {"explained_variance": 0.21}, WARN, WATCH),
        Contrast("the reward is above its start by its noise",
            {"value_loss": lambda i: 2.0 * 1.2**i, "explained_variance": 0.1, **FLAT},
            {"reward_mean": lambda i: jitter(i, 1.0) + (1.5 if i > 6 else 0.0)}, WARN, WATCH,
            count=18),
        Contrast("the reward rises with it",
            {"value_loss": lambda i: 2.0 * 1.1**i, "explained_variance": 0.1, **FLAT},
            {"reward_mean": steady_gain}, WARN, INFO),
        Contrast("an update holds less than 200 steps", {"value_loss": lambda i: 2.0 * 1.1**i,
            "explained_variance": 0.1, **FLAT, "n_updates": lambda i: 49.0 * i},
            {"n_updates": lambda i: 51.0 * i}, WARN, WATCH),
        Contrast("it is not small against its highest",
            {"value_loss": lambda i: 100.0 if i == 0 else min(3.1, 0.5 * 1.06**i), **FLAT,
            "explained_variance": 0.1},
            {"value_loss": lambda i: 110.0 if i == 0 else min(3.1, 0.5 * 1.06**i)}, WARN, 0,
            count=38),
        Contrast("a tenth of the first loss is gone",
            {"value_loss": after(5, 9.1, 10.0), "explained_variance": 0.1, **FLAT},
            {"value_loss": after(5, 8.9, 10.0)}, WATCH, 0),
        Contrast("forty updates have passed",
            {"value_loss": 10.0, "explained_variance": 0.1, **FLAT}, {}, WATCH, 0, count=43,
            otherwise_count=40),
        Contrast("nothing was gained where nobody knows what is explained",
            {"value_loss": 10.0, "explained_variance": None, **FLAT},
            {"reward_mean": lambda i: min(10.0 * i, 200.0) + jitter(i, 3)}, WATCH, INFO),
    )


class TestValueLossZero(RuleTests):
    """Value loss exactly zero."""

    rule = "value-loss-zero"
    examples = (
        RuleCase({"value_loss": after(30, 0.0, 0.4)}, {"value_loss": after(30, 1e-6, 0.4)},
            family="rlhf"),
        Contrast("there is anything left to learn", {"value_loss": after(30, 0.0, 5.0), **PERFECT},
            {}, WARN, 0, differs_config=AT_500),
        Contrast("the log is rounded", {"value_loss": after(30, 0.0, 5.0), **FLAT}, {}, WARN, 0,
            otherwise_trainer="custom"),
        Contrast("a control task was learned", {"value_loss": after(30, 0.0, 5.0), **FLAT},
            {"reward_mean": learned}, WARN, 0),
        Contrast("it ever was more", {"value_loss": after(30, 0.0, 5.0), **FLAT},
            {"value_loss": 0.0}, WARN, 0),
    )


class TestValueClipHigh(RuleTests):
    """Value clip fraction too high."""

    rule = "value-clip-high"
    examples = (
        RuleCase({"value_clip_fraction": after(20, 0.3, 0.05)},
            {"value_clip_fraction": lambda i: 0.3 if i == 20 else 0.1}, WATCH, family="rlhf"),
        Contrast("more than a fifth is clipped", {"value_clip_fraction": 0.206},
            {"value_clip_fraction": 0.194}, WATCH, 0, family="rlhf"),
        Boundary("watch", late("value_clip_fraction", 0.05), WATCH, family="rlhf"),
    )
