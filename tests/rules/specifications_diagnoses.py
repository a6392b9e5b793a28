"""Diagnoses across metrics: which of their signs count, for how long, and at which severity."""

from __future__ import annotations

import math
from collections.abc import Callable

from ppo_top.model import Severity
from tests.rules.cases import after, fallen, flat, rise, swinging
from tests.rules.specifications import FLAT, Contrast, RowLog, learned, steady_gain, within
from tests.rules.specifications_llm import FALLS, STILL
from tests.support.drawn_runs import DrawnColumns, jitter

INFO, WATCH, WARN, CRIT = Severity.INFO, Severity.WATCH, Severity.WARN, Severity.CRIT
NAN = math.nan
AT_LAST = RowLog(left_open=True)
"""What is open when the log ends."""

COLLAPSED: DrawnColumns = {"entropy": after(12, 0.05, 1.0), **FLAT}
LARGE: DrawnColumns = {"approx_kl": after(36, 0.05, 0.01)}
"""Updates that are somewhat too large."""

NO_SIZES: DrawnColumns = {
    "approx_kl": None, "clip_fraction": None, "clip_low": None, "clip_high": None,
}  # fmt: skip
"""The size of updates is not logged."""

LONGER: DrawnColumns = {"resp_len_mean": after(25, 66.0, 50.0), "value_clip_fraction": 0.5}
"""Text becomes longer, and something else is remarked on."""


def sinking(i: int) -> float:
    """A reward that never gained anything, and falls."""
    return -100.0 - 4.0 * max(0, i - 30) + jitter(i, 2)


def sinks_on(i: int) -> float:
    """A reward that falls by the same amount in each update."""
    return -100.0 - 2.0 * i


def falls_back(i: int) -> float:
    """A reward that reaches 160, and then stays at 135."""
    return 20 + 10.0 * min(i, 14) - (25.0 if i > 18 else 0.0) + jitter(i, 3)


def crash(row: int) -> Callable[[int], float]:
    """A reward that is gained, and lost within five updates from a row on."""
    return lambda i: min(0.8, 0.2 + 0.15 * i) - min(0.8, 0.15 * max(0, i - row))


def lost(i: int) -> float:
    """A reward that is lost for good within four updates."""
    return rise(i) if i < 20 else max(10.0, rise(20) - 80.0 * (i - 19)) + jitter(i, 1)


# fmt: off
UPDATE_PAIRS = (
    Contrast("updates-too-large", "the reward crashes, where updates are not far too large",
         {**LARGE, "reward_mean": fallen}, {"reward_mean": sinking}, CRIT, WARN),
    Contrast("updates-too-large", "the reward is lost, though it falls no more", {"approx_kl":
         after(45, 0.2, 0.01), "reward_mean": lost}, {"reward_mean": learned}, CRIT, 0),
    Contrast("updates-too-large", "the learning rate jumps where no size of updates is logged",
         {**NO_SIZES, "lr": after(36, 3e-2, 3e-4), "reward_mean": fallen}, {"lr": 3e-4}, CRIT, 0),
    Contrast("learning-rate-too-high", "the reward does not show it yet", {"approx_kl":
         after(30, 0.9, 0.01), "policy_loss": after(34, 0.1, -0.01), "reward_mean": rise},
         {"reward_mean": lambda i: rise(i) if i < 28 else 10.0}, CRIT, 0),
    Contrast("diverged", "updates went wrong less than twenty rows before", {"approx_kl":
         within(20, 25, 0.5, 0.01), "value_loss": after(47, NAN, 5.0)}, {"value_loss":
         after(51, NAN, 5.0)}, CRIT, 0),
    Contrast("environment-changed", "a length was measured before", {"reward_mean": fallen,
         "ep_len": after(40, 50.0, 100.0)}, {"ep_len": after(40, 50.0, 0.0)}, WATCH, 0),
    Contrast("updates-too-large", "the reward falls in the first updates, far from the reference",
         {"ref_kl_token": 2.5, "reward_mean": crash(5), **NO_SIZES}, {"reward_mean": crash(25)},
         CRIT, 0, family="grpo", count=40),
)

STALLED_PAIRS = (
    Contrast("premature-convergence", "entropy does not come back", COLLAPSED, {"entropy":
         within(12, 40, 0.05, 1.0)}, CRIT, 0, log=AT_LAST),
    Contrast("premature-convergence", "the reward does not reach its ceiling at last", COLLAPSED,
         {"reward_mean": lambda i: flat(i) if i < 40 else 500.0}, CRIT, 0, log=AT_LAST,
         config={"reward_threshold": 500.0}),
    Contrast("premature-convergence", "the reward settles below the goal", {"entropy":
         after(12, 0.05, 1.0), "reward_mean": learned}, {"reward_mean": lambda i: 20 + 2.0 * i +
         jitter(i, 4)}, WARN, 0, goal=300.0, count=100),
    Contrast("premature-convergence", "anything was gained before", {"entropy": after(12, 0.05,
         1.0), "reward_mean": fallen}, FLAT, WARN, CRIT),
    Contrast("critic-failing", "the reward swings", {"explained_variance": -0.5, "value_loss": 10.0,
         "reward_mean": lambda i: swinging(i, 40.0)}, {"reward_mean": learned}, WARN, 0),
    Contrast("nothing-learns", "entropy and reward are where they began", {"approx_kl": after(25,
         1e-8, 0.01), "clip_fraction": 0.0, "entropy": 0.69, **FLAT}, {"reward_mean": learned,
         "entropy": after(20, 0.4, 0.69)}, WARN, 0),
    Contrast("nothing-learns", "entropy is where it began while the reward sinks", {"approx_kl":
         1e-8, "clip_fraction": 0.0, "entropy": 0.69, "reward_mean": sinks_on, "ep_len": 100.0},
         {"entropy": after(20, 0.4, 0.69)}, WARN, 0),
    Contrast("nothing-learns", "the reward never moves where no entropy is logged", {"approx_kl":
         1e-8, "clip_fraction": 0.0, "entropy": None, **FLAT}, {"reward_mean": learned}, WARN, 0),
    Contrast("reward-scale-too-large", "the reward never moves where no entropy is logged",
         {"value_loss": 3e5, "explained_variance": 0.0, "entropy": None, **FLAT}, {"reward_mean":
         steady_gain}, WARN, 0),
    Contrast("reward-scale-too-large", "entropy is where it began while the reward sinks",
         {"value_loss": 3e5, "explained_variance": 0.0, "entropy": 0.69, "reward_mean": sinks_on,
         "ep_len": 100.0}, {"entropy": after(20, 0.4, 0.69)}, WARN, 0),
    Contrast("premature-convergence", "the reward has been flat for long enough to tell",
         {"entropy": after(2, 0.02, 1.0), **FLAT}, {}, CRIT, 0, otherwise_count=14),
    Contrast("premature-convergence", "the goal was never reached", {"entropy": after(12, 0.05,
         1.0), "reward_mean": falls_back}, {}, WARN, 0, goal=300.0, otherwise_goal=150.0,
         count=100),
    Contrast("learning-rate-decayed", "the rate follows a schedule", {"lr": lambda i: 3e-4 *
         max(0.01, 1 - 0.02 * i), "approx_kl": after(45, 1e-4, 0.01), "clip_fraction": after(45,
         0.0, 0.1)}, {"lr": after(45, 1e-6, 3e-4)}, INFO, 0),
)

TEXT_PAIRS = (
    Contrast("reward-hacking", "a KL below ten nats rises", {"ref_kl": lambda i: 1 + 0.1 * i,
         **LONGER}, {"ref_kl": 1.0}, WATCH, 0, family="rlhf"),
    Contrast("reward-hacking", "a KL below ten nats is logged for 25 updates", {"ref_kl": lambda i:
         1 + 0.1 * i if i >= 30 else None, **LONGER}, {"ref_kl": lambda i: 1 + 0.1 * i if i >= 37
         else None}, WATCH, 0, family="rlhf"),
    Contrast("reward-hacking", "text had any length at the start", {"ref_kl": lambda i: 1 + 0.3 *
         i, **LONGER}, {"resp_len_mean": after(25, 66.0, 0.0)}, WATCH, 0, family="rlhf"),
    Contrast("reward-hacking", "the reward rises, though it has not gained much yet", {"ref_kl":
         lambda i: 1 + 0.3 * i, **LONGER, "reward_mean": lambda i: 0.5 + 0.01 * max(0, i - 40) +
         jitter(i, 0.02)}, STILL, WATCH, 0, family="rlhf"),
    Contrast("runaway-generation", "ever more of the text is cut, though not most", {"entropy":
         after(30, 3.0, 0.6), "truncated_frac": lambda i: 0.05 + 0.004 * i, **FALLS},
         {"truncated_frac": 0.05}, CRIT, 0, family="grpo"),
    Contrast("runaway-generation", "most of the text has been cut for long", {"entropy":
         after(35, 3.0, 0.6), "truncated_frac": after(15, 0.9, 0.05), **FALLS}, {"truncated_frac":
         0.05}, CRIT, 0, family="grpo"),
    Contrast("runaway-generation", "gradients treble where the reward does not fall", {"entropy":
         after(30, 3.0, 0.6), "truncated_frac": after(30, 0.6, 0.05), **STILL, "grad_norm": lambda
         i: 0.8 * 1.15 ** max(0, i - 30)}, {"grad_norm": 0.8}, CRIT, 0, family="grpo"),
    Contrast("no-learning-signal", "the gradient ever was more than nothing", {"frac_zero_std":
         None, "reward_std": after(30, 0.01, 1.0), "grad_norm": after(30, 1e-9, 0.8)},
         {"grad_norm": 0.0}, CRIT, 0, family="grpo"),
)
# fmt: on

PAIRS = (*UPDATE_PAIRS, *STALLED_PAIRS, *TEXT_PAIRS)
