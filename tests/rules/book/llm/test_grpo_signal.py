"""GRPO's learning signal: whether rewards differ within groups, and which component moves."""

from __future__ import annotations

from ppo_top.model import Severity
from tests.rules.courses import GAINS, RISES, STILL, after, back, flat_reward, late, within
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
from tests.support.drawn_runs import DrawnColumns, gauss, jitter

TIES: DrawnColumns = {"frac_zero_std": 1.0, "reward_mean": lambda i: 0.5 + jitter(i, 0.02)}

NO_SHARE: DrawnColumns = {"frac_zero_std": None, "reward_std": None}

LOST_SPREAD: DrawnColumns = {"reward_std": after(20, 0.01, 1.0), **STILL}

PARTS: DrawnColumns = {
    "reward_component_mean{format}": lambda i: 0.9 - 0.01 * i + jitter(i, 0.01),
    "reward_component_mean{accuracy}": lambda i: 0.1 + 0.01 * i + jitter(i, 0.01),
}  # fmt: skip


# fmt: off
class TestZeroVarianceGroups(RuleTests):
    """Zero-variance groups."""

    rule = "zero-variance-groups"
    examples = (
        RuleCase({"frac_zero_std": after(10, 0.92, 0.2), "reward_mean": flat_reward},
            {"frac_zero_std": after(10, 0.55, 0.2)}, family="grpo"),
        Contrast("the reward is at its ceiling although groups tie",
            {"frac_zero_std": None, "group_reward_std": 0.0},
            {"reward_mean": lambda i: min(1.0, 0.5 + 0.1 * i)}, CRIT, WATCH, family="grpo"),
        Contrast("rewards tie where none is logged", {"frac_zero_std": 0.93, "reward_mean": None},
            {"frac_zero_std": 0.5}, WARN, 0, family="grpo"),
        Contrast("a reward that fell again pays for no ties", {"frac_zero_std": after(50, 0.9, 0.2),
            "reward_mean": lambda i: min(-0.4, -5.0 + 0.3 * i) + jitter(i, 0.2) - 3.0 * (i > 44)},
            {"reward_mean": lambda i: min(-0.4, -5.0 + 0.3 * i) + jitter(i, 0.2)}, WARN, WATCH,
            family="grpo"),
        Contrast("a reward that rises still is not the most there is",
            {"frac_zero_std": after(50, 0.9, 0.2),
            "reward_mean": lambda i: -5.0 + 0.3 * i + jitter(i, 0.2)},
            {"reward_mean": lambda i: min(-0.4, -5.0 + 0.3 * i) + jitter(i, 0.2)}, WARN, WATCH,
            family="grpo"),
        Contrast("the most of a reward beyond 1 is not known",
            {"frac_zero_std": after(35, 0.9, 0.2),
            "reward_mean": lambda i: 0.2 + 0.05 * i + jitter(i, 0.02)},
            {"reward_mean": lambda i: min(1.5, 0.2 + 0.05 * i) + jitter(i, 0.05)}, WARN, WATCH,
            family="grpo", count=120),
        Contrast("of one group an update most tie, not three in five by chance",
            {"frac_zero_std": lambda i: float(i % 10 > 0), **STILL},
            {"frac_zero_std": lambda i: float(i % 10 > 0 if i % 40 < 14 else i % 5 > 2)}, WARN,
            WATCH, family="grpo", count=200),
        Contrast("sixteen updates of one group each tie",
            {"frac_zero_std": 1.0, "reward_mean": lambda i: 0.5 + jitter(i, 0.02)}, {}, CRIT, WATCH,
            count=24, otherwise_count=12, family="grpo"),
        Contrast("nearly all groups are solved", {"frac_zero_std": after(35, 0.9, 0.2),
            "reward_mean": lambda i: min(0.85, 0.2 + 0.03 * i) + jitter(i, 0.02)},
            {"reward_mean": lambda i: min(0.93, 0.2 + 0.03 * i) + jitter(i, 0.01)}, WARN, WATCH,
            family="grpo"),
        Contrast("what a reward of another scale gained is kept",
            {"frac_zero_std": after(50, 0.9, 0.2), "reward_mean": lambda i: -5.0 + jitter(i, 0.2)},
            {"reward_mean": lambda i: min(-0.4, -5.0 + 0.3 * i) + jitter(i, 0.2)}, WARN, WATCH,
            family="grpo"),
        Contrast("advantages are scaled over the batch", {"frac_zero_std": 0.9}, {}, WARN, 0,
            family="grpo", differs_config={"scale_rewards": "batch"}),
        Contrast("a hard task has just begun",
            {"frac_zero_std": 0.93, "reward_mean": lambda i: 0.11 + jitter(i, 0.005)},
            {"reward_mean": lambda i: 0.09 + jitter(i, 0.005)}, WARN, WATCH, family="grpo",
            count=40),
        Contrast("all advantages are exactly 0",
            {"frac_zero_std": None, "adv_max": 0.0, "adv_min": 0.0}, {"adv_max": 0.1}, CRIT, 0,
            family="grpo"),
        Contrast("rewards of the groups differ", {"frac_zero_std": None, "group_reward_std": 1e-7},
            {"group_reward_std": 1.1e-6}, CRIT, 0, family="grpo"),
        Contrast("more than six of ten groups tie to the end",
            {"frac_zero_std": lambda i: 0.1 if i < 20 else 0.9 if i < 40 else 0.65, **STILL},
            {"frac_zero_std": within(20, 40, 0.9, 0.1)}, WARN, 0, family="grpo", log=AT_LAST),
        Contrast("groups that tie are not solved where nothing was gained",
            {"frac_zero_std": after(35, 0.9, 0.2), "reward_mean": lambda i: 0.95 + jitter(i, 0.01)},
            {"reward_mean": lambda i: min(0.95, 0.2 + 0.05 * i) + jitter(i, 0.01)}, WARN, WATCH,
            family="grpo"),
        Contrast("a single group ties by chance at first, where rewards differ", TIES,
            {"reward_mean": None}, WATCH, CRIT, family="grpo", count=12),
        Contrast("only advantages are logged, and all are 0",
            {**NO_SHARE, "adv_max": 0.0, "adv_min": 0.0, **STILL}, {"adv_max": 1.0}, CRIT, 0,
            family="grpo"),
        Contrast("a task at its floor is hard at first, and all groups tie", {**TIES,
            "reward_mean": lambda i: 0.05 + jitter(i, 0.01), "frac_zero_std": after(3, 1.0, 0.93)},
            {"reward_mean": lambda i: 0.2 + jitter(i, 0.01)}, WARN, CRIT, family="grpo", count=30),
        Contrast("the most of a reward a little beyond 1 is not known",
            {"frac_zero_std": after(35, 0.9, 0.2),
            "reward_mean": lambda i: 0.2 + 0.012 * i + jitter(i, 0.02)},
            {"reward_mean": lambda i: min(0.98, 0.2 + 0.012 * i) + jitter(i, 0.01)}, WARN, WATCH,
            family="grpo", count=120),
        Contrast("all groups of sixteen rows tie", {"frac_zero_std": 1.0, **STILL},
            {"frac_zero_std": lambda i: 0.5 if i % 16 == 0 else 1.0}, CRIT, WARN, family="grpo"),
        Contrast("sixteen rows of one group are known", {"frac_zero_std": 1.0, **STILL}, {}, CRIT,
            WATCH, family="grpo", count=22, otherwise_count=15),
        Contrast("more than four fifths of sixteen rows tie",
            {"frac_zero_std": lambda i: 0.0 if i % 16 in (0, 5) else 1.0, **STILL},
            {"frac_zero_std": lambda i: 0.0 if i % 16 in (0, 5, 9, 13) else 1.0}, WARN, WATCH,
            family="grpo"),
        Contrast("rewards never differ at all", {"frac_zero_std": 1.0, "reward_mean": 0.5}, STILL,
            CRIT, WATCH, family="grpo", count=12),
        Contrast("the reward is below its ceiling", {"frac_zero_std": after(20, 0.93, 0.2),
            "reward_mean": lambda i: 0.8 + jitter(i, 0.02)},
            {"reward_mean": lambda i: 0.98 + 0.02 * (i % 2)}, WARN, INFO, family="grpo"),
        Contrast("a hard task is no longer new",
            {"frac_zero_std": 0.93, "reward_mean": lambda i: 0.05 + jitter(i, 0.005)}, {}, WARN,
            WATCH, family="grpo", count=58, otherwise_count=48),
        Contrast("rewards are at the lowest they can be",
            {"frac_zero_std": 0.93, "reward_mean": lambda i: -0.05 + jitter(i, 0.005)},
            {"reward_mean": lambda i: 0.05 + jitter(i, 0.005)}, WARN, WATCH, family="grpo",
            count=40),
        Contrast("both ends of the advantages are 0",
            {"frac_zero_std": None, "adv_max": 0.0, "adv_min": 0.0}, {"adv_min": -0.1}, CRIT, 0,
            family="grpo"),
        Contrast("the std of all rewards stands for the groups'",
            {"frac_zero_std": None, "reward_std": 0.97e-6}, {"reward_std": 1.03e-6}, CRIT, 0,
            family="grpo"),
        Boundary("warn", late("frac_zero_std", 0.2), WARN, family="grpo"),
        Clearing("clear", back("frac_zero_std", 0.2, 1.0, **STILL), family="grpo"),
    )


class TestRewardSpreadGone(RuleTests):
    """Reward std collapsed."""

    rule = "reward-spread-gone"
    examples = (
        RuleCase({"reward_std": after(20, 0.0005, 0.3), "reward_mean": flat_reward},
            {"reward_std": after(20, 0.1, 0.3)}, WATCH, family="grpo"),
        Contrast("it was there at the start", {"reward_std": after(30, 0.01, 1.0)},
            {"reward_std": 0.01}, WATCH, 0, family="grpo"),
        Contrast("it does not come back", LOST_SPREAD, {"reward_std": within(20, 40, 0.01, 1.0)},
            WATCH, 0, family="grpo", log=AT_LAST),
        Contrast("most of sixteen rows have none",
            {"reward_std": lambda i: 0.01 if i > 20 and i % 5 else 1.0, **STILL},
            {"reward_std": lambda i: 0.01 if i > 20 and not i % 5 else 1.0}, WATCH, 0,
            family="grpo"),
        Contrast("most of the last sixteen rows have none", LOST_SPREAD, {}, WATCH, 0,
            family="grpo", count=44, otherwise_count=28),
        Contrast("seven of ten rows have none",
            {"reward_std": lambda i: 1.0 if i < 24 or i % 10 in (1, 5) else 0.01},
            {"reward_std": lambda i: 1.0 if i < 24 or i % 10 in (1, 3, 5, 7) else 0.01}, WATCH, 0,
            family="grpo"),
        Contrast("the task is not solved", {"reward_std": after(30, 0.01, 1.0), **STILL},
            {"reward_mean": lambda i: 0.98 + 0.02 * (i % 2)}, WATCH, INFO, family="grpo"),
        Boundary("share", late("reward_std", 1.0), WATCH, -1, "grpo"),
        Clearing("clear", back("reward_std", 1.0, 0.01, frac_zero_std=None), -1, "grpo"),
    )


class TestClipOneSided(RuleTests):
    """Clipping at the upper bound only."""

    rule = "clip-one-sided"
    examples = (
        RuleCase({"clip_high": 0.05, "clip_low": 0.001, "entropy": lambda i: 0.9 * 0.97**i},
            {"clip_high": 0.05, "clip_low": 0.03, "entropy": lambda i: 0.9 * 0.97**i}, INFO,
            family="grpo"),
        Contrast("an entropy is logged", {"clip_low": 0.002, "clip_high": 0.03}, {"entropy": None},
            INFO, 0, family="grpo"),
        Contrast("entropy falls", {"clip_low": 0.002, "clip_high": 0.03}, {"entropy": 0.6}, INFO, 0,
            family="grpo"),
        Contrast("anything is clipped", {"clip_low": 0.0, "clip_high": 1.1e-3},
            {"clip_high": 0.9e-3}, INFO, 0, family="grpo"),
        Contrast("the upper side is clipped in the row", {"clip_low": 0.002, "clip_high": 0.03},
            {"clip_high": None}, INFO, 0, family="grpo"),
        Contrast("the lower side is hardly clipped", {"clip_low": 0.0029, "clip_high": 0.03},
            {"clip_low": 0.0031}, INFO, 0, family="grpo"),
        Boundary("times", lambda x: {"clip_low": 0.002, "clip_high": 0.002 * x}, Severity.INFO,
            family="grpo"),
    )


class TestRewardPartsDiverge(RuleTests):
    """Reward components diverge."""

    rule = "reward-parts-diverge"
    examples = (
        RuleCase({"reward_component_mean{accuracy}": lambda i: 0.6 - 0.008 * i + jitter(i, 0.01)},
            {"reward_component_mean{accuracy}": lambda i: 0.6 + jitter(i, 0.01)}, WATCH,
            family="grpo"),
        Contrast("a part is logged for 25 updates",
            {"reward_component_mean{format}": lambda i: 0.9 - 0.02 * (i - 20) if i > 20 else None},
            {"reward_component_mean{format}": lambda i: 0.9 - 0.02 * (i - 36) if i > 36 else None},
            WATCH, 0, family="grpo"),
        Contrast("one of them falls", {"reward_component_mean{format}": lambda i: 0.9 - 0.01 * i},
            {"reward_component_mean{format}": lambda i: 0.9 - jitter(i, 0.1)}, WATCH, 0,
            family="grpo"),
        Contrast("both are parts of the reward", PARTS,
            {"reward_component_mean{accuracy}": None, "clip_low": lambda i: 0.01 * i}, WATCH, 0,
            family="grpo"),
        Contrast("a part falls by more than chance", PARTS,
            {"reward_component_mean{format}": lambda i: 0.5 + gauss(i, 0.1)}, WATCH, 0,
            family="grpo"),
    )


class TestRewardPartFlat(RuleTests):
    """Reward component not learned."""

    rule = "reward-part-flat"
    examples = (
        RuleCase({"reward_component_mean{accuracy}": 0.0},
            {"reward_component_mean{accuracy}": lambda i: 0.0 if i < 25 else 0.02}, WATCH,
            family="grpo"),
        Contrast("it never was more than 0", {"reward_component_mean{format}": 0.0, **GAINS},
            {"reward_component_mean{format}": lambda i: 0.1 * (i % 9 == 0)}, WATCH, 0,
            family="grpo"),
        Contrast("it was never learned and lost",
            {**GAINS, "reward_component_mean{format}": lambda i: 0.3 + jitter(i, 0.1)},
            {"reward_component_mean{format}": lambda i: (0.7 if 40 <= i < 90 else 0.3) + jitter(i,
                0.1)}, WATCH, 0, family="grpo", count=150),
        Contrast("it is as high as at the start",
            {**GAINS, "reward_component_mean{format}": lambda i: 0.3 + jitter(i, 0.1)},
            {"reward_component_mean{format}": lambda i: 0.7 if i < 2 else 0.0}, WATCH, 0,
            family="grpo", count=150),
        Contrast("it was not learned within a few updates",
            {**GAINS, "reward_component_mean{format}": lambda i: 0.5 + jitter(i, 0.1)},
            {"reward_component_mean{format}": lambda i: (0.2 if i < 3 else 0.5) + jitter(i, 0.1)},
            WATCH, 0, family="grpo", count=150),
        Contrast("the whole was gained", {"reward_component_mean{format}": 0.0}, STILL, WATCH, 0,
            family="grpo", count=70),
        Contrast("a part that never differs is a constant, not learned badly",
            {"reward_component_mean{cost}": lambda i: -1.0 + jitter(i, 0.1)},
            {"reward_component_mean{cost}": -1.0}, WATCH, 0, family="grpo", count=125),
        Contrast("it is not at its top",
            {"reward_component_mean{format}": lambda i: 0.5 + jitter(i, 0.3), **RISES},
            {"reward_component_mean{format}": lambda i: 0.98 + jitter(i, 0.01)}, WATCH, 0,
            family="grpo", count=150),
    )
