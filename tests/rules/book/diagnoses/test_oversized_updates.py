"""Diagnoses of oversized updates: rules that fire together share one cause."""

from __future__ import annotations

from collections.abc import Callable

from tests.rules.courses import FALLS, NAN, NO_SIZES, after, fallen, learned, rise, within
from tests.rules.specification import CRIT, WARN, WATCH, Contrast, RuleCase, RuleTests
from tests.support.drawn_runs import DrawnColumns, jitter

LARGE: DrawnColumns = {"approx_kl": after(36, 0.05, 0.01)}
"""Updates that are somewhat too large."""


def sinking(i: int) -> float:
    """A reward that never gained anything, and falls."""
    return -100.0 - 4.0 * max(0, i - 30) + jitter(i, 2)


def crash(row: int) -> Callable[[int], float]:
    """A reward that is gained, and lost within five updates from a row on."""
    return lambda i: min(0.8, 0.2 + 0.15 * i) - min(0.8, 0.15 * max(0, i - row))


def lost(i: int) -> float:
    """A reward that is lost for good within four updates."""
    return rise(i) if i < 20 else max(10.0, rise(20) - 80.0 * (i - 19)) + jitter(i, 1)


DIVERGENCE: DrawnColumns = {"approx_kl": after(36, 0.5, 0.01), "reward_mean": fallen}


# fmt: off
class TestDiverged(RuleTests):
    """Diverged (NaN/Inf)."""

    rule = "diverged"
    examples = (
        RuleCase({"approx_kl": after(30, 0.6, 0.01), "value_loss": after(36, NAN, 5.0)},
            {"value_loss": after(36, NAN, 5.0)}, CRIT),
        Contrast("updates went wrong before",
            {"approx_kl": after(30, 0.5, 0.01), "value_loss": after(35, NAN, 5.0)},
            {"value_loss": after(20, NAN, 5.0)}, CRIT, 0),
        Contrast("updates went wrong less than twenty rows before",
            {"approx_kl": within(20, 25, 0.5, 0.01), "value_loss": after(47, NAN, 5.0)},
            {"value_loss": after(51, NAN, 5.0)}, CRIT, 0),
        Contrast("something went wrong before",
            {"approx_kl": lambda i: 0.5 if i > 30 else 0.01, "value_loss": after(40, NAN, 5.0)},
            {"approx_kl": 0.01}, CRIT, 0),
    )


class TestUpdatesTooLarge(RuleTests):
    """Destructively large updates."""

    rule = "updates-too-large"
    examples = (
        RuleCase({"approx_kl": after(38, 0.2, 0.01), "clip_fraction": after(38, 0.6, 0.1),
            "reward_mean": fallen},
            {"approx_kl": after(38, 0.2, 0.01), "clip_fraction": after(38, 0.6, 0.1)}, CRIT),
        Contrast("the reward crashes, where updates are not far too large",
            {**LARGE, "reward_mean": fallen}, {"reward_mean": sinking}, CRIT, WARN),
        Contrast("the reward is lost, though it falls no more",
            {"approx_kl": after(45, 0.2, 0.01), "reward_mean": lost}, {"reward_mean": learned},
            CRIT, 0),
        Contrast("the learning rate jumps where no size of updates is logged",
            {**NO_SIZES, "lr": after(36, 3e-2, 3e-4), "reward_mean": fallen}, {"lr": 3e-4}, CRIT,
            0),
        Contrast("the reward falls in the first updates, far from the reference",
            {"ref_kl_token": 2.5, "reward_mean": crash(5), **NO_SIZES}, {"reward_mean": crash(25)},
            CRIT, 0, family="grpo", count=40),
        Contrast("the reward falls", DIVERGENCE, {"reward_mean": rise}, CRIT, 0),
        Contrast("updates are large", DIVERGENCE, {"approx_kl": 0.01}, CRIT, 0),
        Contrast("the KL to the reference jumped by half a nat",
            {"ref_kl_token": lambda i: 0.1 if i < 36 else 0.62, **FALLS, "approx_kl": None,
            "clip_fraction": None, "clip_low": None, "clip_high": None},
            {"ref_kl_token": lambda i: 0.1 if i < 36 else 0.58}, WARN, 0, family="grpo"),
    )


class TestClipTooWide(RuleTests):
    """Clip range too wide."""

    rule = "clip-too-wide"
    examples = (
        RuleCase({"approx_kl": after(38, 0.2, 0.01), "clip_fraction": after(38, 0.0, 0.1),
            "reward_mean": fallen},
            {"approx_kl": after(38, 0.2, 0.01), "clip_fraction": after(38, 0.0, 0.1)}, CRIT),
        Contrast("the reward falls", {"approx_kl": after(36, 0.2, 0.01),
            "clip_fraction": after(36, 0.01, 0.1), "reward_mean": fallen}, {"reward_mean": rise},
            CRIT, 0),
    )


class TestLearningRateTooHigh(RuleTests):
    """Learning rate far too high."""

    rule = "learning-rate-too-high"
    examples = (
        RuleCase({"approx_kl": after(10, 0.9, 0.01), "policy_loss": after(10, 0.06, -0.01)},
            {"approx_kl": after(10, 0.9, 0.01)}, CRIT),
        Contrast("the reward does not show it yet", {"approx_kl": after(30, 0.9, 0.01),
            "policy_loss": after(34, 0.1, -0.01), "reward_mean": rise},
            {"reward_mean": lambda i: rise(i) if i < 28 else 10.0}, CRIT, 0),
        Contrast("the loss is bad as well",
            {"approx_kl": after(30, 0.5, 0.01), "policy_loss": after(30, 0.1, -0.01)},
            {"policy_loss": -0.01}, CRIT, 0),
    )


class TestEnvironmentChanged(RuleTests):
    """Environment or data changed."""

    rule = "environment-changed"
    examples = (
        RuleCase({"reward_mean": fallen, "ep_len": lambda i: fallen(i)},
            {"reward_mean": fallen, "ep_len": 100.0}, WATCH),
        Contrast("the reward fell", {"reward_mean": fallen, "ep_len": after(40, 50.0, 100.0)},
            {"reward_mean": rise}, WATCH, 0),
        Contrast("a length was measured before",
            {"reward_mean": fallen, "ep_len": after(40, 50.0, 100.0)},
            {"ep_len": after(40, 50.0, 0.0)}, WATCH, 0),
        Contrast("episodes became longer by half",
            {"reward_mean": fallen, "ep_len": after(40, 152.0, 100.0)},
            {"ep_len": after(40, 148.0, 100.0)}, WATCH, 0),
        Contrast("a third of the episodes' length is gone",
            {"reward_mean": fallen, "ep_len": after(40, 66.0, 100.0)},
            {"ep_len": after(40, 68.0, 100.0)}, WATCH, 0),
        Contrast("updates look well", {"reward_mean": fallen, "ep_len": after(40, 50.0, 100.0)},
            {"approx_kl": after(36, 0.5, 0.01)}, WATCH, 0),
        Contrast("the policy is logged at all",
            {"reward_mean": fallen, "ep_len": after(40, 50.0, 100.0)},
            {"approx_kl": None, "clip_fraction": None}, WATCH, 0),
    )
