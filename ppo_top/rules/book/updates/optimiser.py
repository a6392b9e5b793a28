"""Losses and gradients: sign and spikes."""

from __future__ import annotations

import math

from ppo_top.rules.book.updates.step_size import update_kl
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.calm import near_bounds, shared_before
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.ranges import CLIPPED_UPDATE_CONCEPTS, normalises_advantages
from ppo_top.rules.engine.reward.measures import MIN_POINTS
from ppo_top.rules.engine.rule import AT_ONCE, Assessment, Rule, RuleLimits, borderline
from ppo_top.rules.engine.stats import median, robust_log_z
from ppo_top.rules.engine.terms import (
    ALL_FAMILIES,
    CRIT,
    INFO,
    NOT_LLM,
    ON_POLICY,
    RLHF,
    WARN,
    WATCH,
)
from ppo_top.rules.engine.wording import num, ratio_text
from ppo_top.support.moments import deviation, mean


def policy_loss_positive(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The surrogate loss stays positive, or is extreme."""
    value = run.values["policy_loss"]
    history = run.histories["policy_loss"]
    if _unscaled(run, history, limits):
        message = f"policy loss is {num(value)}: advantages do not seem to be normalised"
        return Assessment(INFO, value, limits["extreme"], message)
    if abs(value) > limits["extreme"] and run.family == ON_POLICY and _usually_small(run):
        return Assessment(CRIT, value, limits["extreme"], f"policy loss is extreme: {num(value)}")
    before = [abs(x) for x in history.previous(int(limits["points"])) if x]
    large = abs(value) > limits["small"] and len(before) >= limits["few"]
    told = run.family != ON_POLICY or _usually_small(run)
    jumps = large and told and _jumped(abs(value), before, limits)
    if jumps and run.open_severities.keys().isdisjoint(("policy-loss-positive", "kl-high")):
        message = f"policy loss jumped to {num(value)}, usually {num(median(before))}"
        return Assessment(WATCH, value, None, message, immediate=True)
    positive = value > limits["warn"] and run.family == ON_POLICY and _usually_small(run)
    if positive and _is_above_noise(run, limits):
        message = (
            f"policy loss is positive ({num(value)}, usually slightly below 0): "
            "updates make the objective worse than no update"
        )
        return Assessment(WARN, value, limits["warn"], message)
    if value <= limits["clear"] and abs(value) <= limits["small"]:
        return None
    return borderline(value)


def _loss_stays_small(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """Every policy loss of the block is near zero or below, and so was it at the start."""
    history = run.histories.get("policy_loss")
    low, high = block.bounds("policy_loss")
    if history is None or history.count < 5 or low < -limits["small"] or high > limits["clear"]:
        return False
    return median([abs(x) for x in history.first[:5]]) <= limits["unscaled"]


def _is_above_noise(run: JudgedRun, limits: RuleLimits) -> bool:
    """Whether the newest losses are positive on the whole: each may be that of one batch."""
    newest = run.histories["policy_loss"].newest(int(limits["points"]))
    if len(newest) < limits["few"] and "loss-of-last-batch" not in run.facts:
        return True
    return mean(newest) > limits["noise"] * deviation(newest) / math.sqrt(len(newest))


def _usually_small(run: JudgedRun) -> bool:
    """With normalised advantages the loss is far below 1; otherwise its size says nothing."""
    if not normalises_advantages(run.profile):
        return False
    if run.profile.algo:
        return "normalised-advantages" in run.facts
    return any(concept in run.histories for concept in CLIPPED_UPDATE_CONCEPTS)


def _unscaled(run: JudgedRun, history: History, limits: RuleLimits) -> bool:
    """A loss that was large from the start, with small updates, is in units of the reward."""
    kl = update_kl(run)
    large = median([abs(x) for x in history.first[:5]]) > limits["unscaled"]
    small = kl is not None and abs(kl) <= limits["small_kl"]
    return run.family == ON_POLICY and large and small and not run.falling


def _jumped(value: float, before: list[float], limits: RuleLimits) -> bool:
    far = robust_log_z(value, before) > limits["deviations"]
    return far and value > limits["times"] * median(before)


def loss_spike(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The total loss jumps."""
    history = run.histories["total_loss"]
    value = abs(history.last)
    before = [abs(x) for x in history.previous(int(limits["points"])) if x]
    if value < limits["share"] * history.size or not before:
        return None
    if value <= limits["recent_times"] * max(before[-int(limits["recent"]) :]):
        return None
    if not _jumped(value, before, limits):
        return None
    message = f"total loss jumped to {num(history.last)} ({ratio_text(value, median(before))})"
    return Assessment(WATCH, history.last, None, message)


def _total_loss_stays(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No total loss of the block is many times another's size, or far above all shortly before."""
    before = shared_before(run, block, "total_loss", int(limits["recent"]))
    if before and block.size("total_loss") <= limits["recent_times"] * max(map(abs, before)):
        return True
    low, high = near_bounds(run, block, "total_loss", int(limits["points"]))
    smallest = low if low > 0.0 else -high
    return smallest > 0.0 and max(-low, high) <= limits["times"] * smallest


def grad_spike(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The gradient norm jumps far above its usual."""
    history = run.histories["grad_norm"]
    value = history.last
    if value < limits["floor"]:
        return None
    before = history.previous(int(limits["points"]))
    middle = median(before)
    if value <= limits["times"] * middle or robust_log_z(value, before) <= limits["deviations"]:
        return None if value <= limits["clear_times"] * middle else borderline(value)
    times = f"{num(value / middle)} times its usual {num(middle)}" if middle else "usually 0"
    message = f"gradient norm {num(value)}, {times}"
    return Assessment(WATCH, value, limits["times"] * middle, message)


def grad_high(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Gradient norms jump again and again."""
    seen = grad_spike(run, limits)
    if seen is None or not seen.level:
        return seen
    usual = median(run.histories["grad_norm"].previous(int(limits["points"])))
    crit = seen.value > limits["crit_times"] * usual
    return seen._replace(level=CRIT if crit else WARN)


TREBLED, USUAL_VALUES = 3.0, 30
"""A gradient norm is high from so many times the median of so many values on."""


def gradient_trebled(run: JudgedRun) -> bool:
    """Whether the gradient norm is logged and three times its usual."""
    history = run.histories.get("grad_norm")
    return history is not None and history.last > TREBLED * history.recent_median(USUAL_VALUES)


def grad_zero(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Gradients vanish."""
    history = run.histories["grad_norm"]
    rate = run.value("lr")
    if history.last > limits["share"] * history.recent_median(int(limits["points"])):
        return None
    if rate == 0.0 or run.at_max:
        return None
    if history.high > 0.0:
        message = "the gradient is zero: nothing can be learned from it"
        return Assessment(WATCH, history.last, 0.0, message)
    if not _never_moved(run) or run.gained or run.rising:
        return None  # not every trainer fills it in
    message = "gradient norm and KL have been exactly 0 all along: nothing is trained"
    may_yet_gain = run.reward is not None and run.reward.points < MIN_POINTS
    return Assessment(WATCH if may_yet_gain else WARN, history.last, 0.0, message)


DISTANCES = ("ref_kl", "ref_kl_token", "approx_kl", "approx_kl_k1")
"""How far the policy is from the reference, and moves at an update."""


def _never_moved(run: JudgedRun) -> bool:
    """Whether distances of the policy are logged, and have always been 0."""
    logged = [run.histories[name] for name in DISTANCES if name in run.histories]
    return bool(logged) and all(each.size == 0.0 for each in logged)


def _gradient_never_jumps(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No gradient norm of the block is far above one shortly before it."""
    low, high = near_bounds(run, block, "grad_norm", int(limits["points"]))
    return low > 0.0 and high <= min(limits["clear_times"], limits["times"]) * low


def _gradient_stays(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No gradient norm of the block is near zero."""
    low, high = near_bounds(run, block, "grad_norm", int(limits["points"]))
    return low > limits["share"] * high and low > 0.0


GRADIENT_LIMITS = {
    "points": 30,
    "times": 10.0,
    "clear_times": 3.0,
    "deviations": 6.0,
    "floor": 1e-6,
    "warmup": 12,
}

GRADIENT_REMEDIES = ("lower {learning_rate}", "clip gradients: {max_grad_norm:above 0.1}")


RULES = (
    Rule(
        id="policy-loss-positive",
        title="Policy loss positive or extreme",
        description="the policy loss stays positive, or jumps to an extreme value",
        concepts=("policy_loss",),
        related=("approx_kl",),
        assess=policy_loss_positive,
        asks_about=("kl-high",),
        stays_calm=_loss_stays_small,
        eased_to=WATCH,
        families=frozenset({ON_POLICY, RLHF}),
        limits={
            "points": 30,
            "few": 10,
            "warn": 0.01,
            "noise": 2.0,
            "clear": 0.005,
            "extreme": 1.0,
            "small": 0.1,
            "unscaled": 0.2,
            "small_kl": 0.03,
            "times": 10.0,
            "deviations": 6.0,
            "warmup": 3,
        },
        causes=("learning rate too high: the update overshoots", "advantages not normalised"),
        remedies=(
            GRADIENT_REMEDIES[0],
            "fewer passes over the same data: {n_epochs:above 1}",
            "see that {normalise:off} is on",
        ),
        source="policy loss is between -0.01 and -0.02 in healthy runs; extremes warn (SB3)",
        grade="C",
    ),
    Rule(
        id="loss-spike",
        title="Total loss spike",
        description="the total loss jumps far above its usual size",
        is_event=True,
        concepts=("total_loss",),
        assess=loss_spike,
        stays_calm=_total_loss_stays,
        families=NOT_LLM | {RLHF},
        limits={
            "points": 30,
            "recent": 20,
            "times": 10.0,
            "deviations": 6.0,
            "recent_times": 3.0,
            "share": 0.1,
            "warmup": 12,
        },
        persistence=AT_ONCE,
        causes=("one of its terms jumped: see value loss and policy loss",),
        remedies=("look at value loss and policy loss", GRADIENT_REMEDIES[1]),
        source="a sudden spike of the total loss is a warning sign (SB3 practice)",
        grade="C",
    ),
    Rule(
        id="grad-spike",
        title="Gradient norm spike",
        description="one gradient norm is far above the usual",
        is_event=True,
        concepts=("grad_norm",),
        assess=grad_spike,
        stays_calm=_gradient_never_jumps,
        families=ALL_FAMILIES,
        limits=GRADIENT_LIMITS,
        persistence=AT_ONCE,
        causes=("an outlier batch",),
        remedies=GRADIENT_REMEDIES,
        source="RLDK: gradient ratio above 10",
    ),
    Rule(
        id="grad-high",
        title="Exploding gradients",
        description="gradient norms are repeatedly far above the usual",
        concepts=("grad_norm",),
        assess=grad_high,
        stays_calm=_gradient_never_jumps,
        families=ALL_FAMILIES,
        limits={**GRADIENT_LIMITS, "crit_times": 100.0},
        persistence={WARN: (3, 10), CRIT: (2, 3)},
        causes=("learning rate too high", "bad batches, or extreme rewards"),
        remedies=(*GRADIENT_REMEDIES, "look at the batches of these updates"),
        source="RLDK: gradient ratio above 10; trl#2980",
    ),
    Rule(
        id="grad-zero",
        title="Vanishing gradients",
        description="the gradient norm is zero",
        concepts=("grad_norm",),
        related=("frac_zero_std",),
        assess=grad_zero,
        stays_calm=_gradient_stays,
        limits={"points": 30, "share": 1e-6, "warmup": 2},
        causes=("all advantages are zero", "frozen parameters"),
        remedies=(
            "check that rewards differ within a batch",
            "check which parameters are trained, and that the optimiser has them",
        ),
        source="autocontext#1067: gradient 0 when all groups tie; ms-swift#5890: from the start",
        grade="C",
    ),
)
