"""How far an update moves the policy: KL to the old policy, clipping, probability ratio."""

from __future__ import annotations

from ppo_top.rules.rule import (
    CRIT,
    CTRL,
    GRPO,
    RLHF,
    WARN,
    WATCH,
    Limits,
    Reading,
    Rule,
    between,
    persist,
)
from ppo_top.rules.run import Run
from ppo_top.rules.say import num, pct

FOUNDING_TABLE = "approx KL 0.001-0.02 is healthy, above 0.03 risks collapse (SB3 practice)"
SMALLER_STEPS = (
    "lower {learning_rate}, by 3 to 10 times",
    "set {target_kl:name} to 0.02: stops an update's epochs at 1.5 times that",
    "fewer passes over the same data: {n_epochs}",
    "larger batches: {batches}",
    "clip more tightly: {clip_range}",
)


def update_kl(run: Run) -> float | None:
    """The KL of this row's update; of the k1 estimator, whose sign is noise, the size of its middle."""
    value = run.value("approx_kl", 0)
    if value is not None:
        return abs(value) if run.family == GRPO else value
    history = run.histories.get("approx_kl_k1")
    if history is None or history.row != run.mark.row:
        return None
    return abs(history.level(5 if history.count >= 5 else history.count))


def _kl_limits(run: Run, limits: Limits) -> tuple[float, float, float]:
    """(amber, red, crit); a target that the user set raises them, it never lowers them."""
    amber, red, crit = limits["watch"], limits["warn"], limits["crit"]
    target = run.number("target_kl")
    if run.producer == "rllib":
        target = target or 0.01
        return 2 * target, 4 * target, 10 * target
    if target and run.family == CTRL:
        return max(amber, target), max(red, 1.5 * target), max(crit, 3 * target)
    return amber, red, crit


def kl_high(run: Run, limits: Limits) -> Reading | None:
    """P1: each update moves the policy too far."""
    value = update_kl(run)
    if value is None:
        return None
    amber, red, crit = _kl_limits(run, limits)
    if value <= amber or (run.updates <= limits["early"] and value <= 2 * limits["once"]):
        return None
    if value <= red:
        return between(value, amber)
    message = (
        f"each update moves the policy too far: approx KL {num(value)} (healthy <= {num(amber)})"
    )
    if value > limits["once"]:
        return Reading(CRIT, value, amber, message, now=True)
    if value > crit:
        return Reading(CRIT, value, amber, message)
    clip = run.value("clip_fraction", 1)
    harm = run.falling or run.open.get("policy-loss-positive") or (clip is not None and clip > 0.3)
    return Reading(WARN if harm else WATCH, value, amber, message)


def clip_high(run: Run, limits: Limits) -> Reading | None:
    """P2: too large a share of the samples is clipped."""
    value = _clipped(run)
    if value is None or value <= limits["clear"]:
        return None
    message = f"{pct(value)} of the samples hit the clip (healthy <= {pct(limits['clear'])})"
    if value > limits["crit"]:
        return Reading(CRIT, value, limits["clear"], message)
    if value > limits["warn"] or _far_above_own(run, limits):
        return Reading(WARN, value, limits["clear"], message)
    return between(value, limits["clear"])


def _clipped(run: Run) -> float | None:
    value = run.value("clip_fraction", 0)
    if value is None:
        sides = [run.value(name, 0) for name in ("clip_low", "clip_high")]
        known = [side for side in sides if side is not None]
        return sum(known) if known else None
    return value


def _far_above_own(run: Run, limits: Limits) -> bool:
    """Token-level shares are small: there ten times the run's own level is a warning, too."""
    history = run.histories.get("clip_fraction")
    if run.family != GRPO or history is None or history.count < 30:
        return False
    own = sorted(history.before(30))[15]
    return history.last > max(10 * own, limits["own_floor"]) and own > 0


def ratio_off(run: Run, limits: Limits) -> Reading | None:
    """P3: the mean probability ratio between new and old policy is not 1."""
    value = run.value("ratio_mean", 0)
    if value is None:
        return _ratio_tail(run, limits)
    if limits["low"] <= value <= limits["high"]:
        return None
    message = f"mean new/old probability ratio {num(value)} (should be 1.0): updates too drastic"
    if value >= limits["crit_high"] or value <= limits["crit_low"]:
        return Reading(CRIT, value, 1.0, message, now=True)
    if value > limits["warn_high"] or value < limits["warn_low"]:
        return Reading(WARN, value, 1.0, message)
    return between(value, 1.0)


def _ratio_tail(run: Run, limits: Limits) -> Reading | None:
    """The largest ratio of a histogram, as TRL's first PPO trainer writes it."""
    value = run.value("ratio_dist{max}", 0)
    if value is None or value <= limits["tail"]:
        return None
    message = f"largest new/old probability ratio {num(value)} (healthy <= {num(limits['tail'])})"
    crit = value > limits["tail_crit"]
    return Reading(CRIT if crit else WARN, value, limits["tail"], message, now=crit)


def policy_still(run: Run, limits: Limits) -> Reading | None:
    """P4: updates change nothing."""
    value = update_kl(run)
    if value is None or abs(value) > limits["clear_kl"]:
        return None
    clip = _clipped(run)
    if abs(value) >= limits["kl"] or (clip is not None and clip > 0.0):
        return between(value, limits["kl"])
    if run.at_max or _rate_gone(run) or _never_moved_by_design(run):
        return None
    message = f"updates change nothing: KL {num(value)}, nothing clipped"
    return Reading(WARN, value, limits["kl"], message)


def _rate_gone(run: Run) -> bool:
    rate = run.histories.get("lr")
    return rate is not None and rate.last <= 1e-3 * rate.high


def _never_moved_by_design(run: Run) -> bool:
    """One on-policy step a batch leaves KL and clipping at exactly 0."""
    if run.family != GRPO:
        return False
    kl, clip = run.histories.get("approx_kl"), run.histories.get("clip_fraction")
    return all(history is None or history.high <= 0.0 for history in (kl, clip))


def clip_not_binding(run: Run, limits: Limits) -> Reading | None:
    """P5: the policy moves far, and the clip range is too wide to hold it."""
    kl, clip = update_kl(run), run.value("clip_fraction", 1)
    if kl is None or clip is None or kl <= limits["clear_kl"]:
        return None
    range_ = run.setting("clip_range", "clip_range")
    wide = range_ is not None and range_ >= limits["wide"]
    if not ((kl > limits["kl"] and clip < limits["clip"]) or (wide and kl > limits["wide_kl"])):
        return between(kl, limits["kl"])
    setting = f": the clip range {num(range_)} is wide" if wide and range_ else ""
    message = f"KL is high ({num(kl)}) but only {pct(clip)} is clipped{setting}"
    return Reading(WARN, kl, limits["kl"], message)


def kl_spike(run: Run, limits: Limits) -> Reading | None:
    """P6: one update far larger than those before it."""
    value, history = update_kl(run), run.histories.get("approx_kl")
    if value is None or history is None or history.count < 12:
        return None
    if value <= _kl_limits(run, limits)[1] or run.open.get("kl-high"):
        return None
    own = sorted(history.before(20))
    middle = own[len(own) // 2]
    if value <= limits["times"] * middle:
        return None
    message = (
        f"one update far larger than the others: approx KL {num(value)}, usually {num(middle)}"
    )
    return Reading(WATCH, value, limits["times"] * middle, message)


KL_CAUSES = (
    "learning rate too high",
    "too many epochs over the same data, or batches too small",
    "advantages not normalised, or rewards of very different size",
)

RULES = (
    Rule(
        id="kl-high",
        title="Updates move the policy too far",
        codes=("P1",),
        sees="the KL between old and new policy stays above its healthy range",
        concepts=("approx_kl",),
        beside=("clip_fraction",),
        read=kl_high,
        on=("approx_kl", "approx_kl_k1"),
        limits={"watch": 0.02, "warn": 0.03, "crit": 0.1, "once": 1.0, "early": 3},
        by={
            RLHF: {"watch": 0.05, "warn": 0.1, "crit": 0.3, "once": 1.5},
            GRPO: {"watch": 0.02, "warn": 0.05, "crit": 0.1, "once": 1.5},
        },
        causes=KL_CAUSES,
        tries=SMALLER_STEPS,
        source=FOUNDING_TABLE + "; TRL: 0.01-0.05; Spinning Up stops at 1.5 x target_kl",
        grade="A",
    ),
    Rule(
        id="clip-high",
        title="Too much is clipped",
        codes=("P2", "G3"),
        sees="a large share of the samples leaves the clip range, update after update",
        concepts=("clip_fraction",),
        beside=("approx_kl",),
        read=clip_high,
        on=("clip_fraction", "clip_low", "clip_high"),
        limits={"clear": 0.2, "warn": 0.3, "crit": 0.5, "own_floor": 0.02, "warmup": 3},
        by={GRPO: {"clear": 0.1, "warn": 0.2, "crit": 0.4}},
        causes=(*KL_CAUSES[:2], "large advantages, or a clip range that is too narrow"),
        tries=(
            *SMALLER_STEPS[:4],
            "wider upper clip, if the lower side is quiet: {clip_range_high:name} 0.28",
            "check the size of the advantages: {scale_rewards}",
        ),
        source="clip fraction below 0.2 is healthy, above 0.3 for long is not (SB3 practice, TRL)",
        grade="A",
    ),
    Rule(
        id="ratio-off",
        title="Probability ratio far from 1",
        codes=("P3",),
        sees="the new policy's probabilities are far from the old one's",
        concepts=("ratio_mean",),
        beside=(
            "clip_fraction",
            "approx_kl",
        ),
        read=ratio_off,
        on=("ratio_mean", "ratio_dist{max}"),
        limits={
            "low": 0.9,
            "high": 1.1,
            "warn_low": 0.5,
            "warn_high": 1.5,
            "crit_low": 0.1,
            "crit_high": 2.0,
            "tail": 10.0,
            "tail_crit": 200.0,
        },
        persist=persist(2, 3),
        causes=(
            "updates between consecutive policies are too drastic",
            "old log-probabilities computed with another dtype, temperature or dropout",
        ),
        tries=(
            "lower {learning_rate}",
            "fewer passes over the same data: {n_epochs}",
            "check that old log-probs come from the same dtype, temperature and eval mode",
        ),
        source="TRL logging guide: 'should float around 1.0', 2.0 or 0.1 is too drastic, 200 collapses",
        grade="A",
    ),
    Rule(
        id="policy-still",
        title="Updates change nothing",
        codes=("P4",),
        sees="KL and clipping are zero although training goes on",
        concepts=("approx_kl",),
        beside=("clip_fraction",),
        read=policy_still,
        on=("approx_kl", "approx_kl_k1"),
        limits={"kl": 1e-5, "clear_kl": 1e-4, "warmup": 10},
        persist=persist(8, 10),
        causes=(
            "learning rate far too small",
            "frozen or untrained weights, or gradients clipped to nothing",
            "advantages that are all zero",
        ),
        tries=(
            "raise {learning_rate}",
            "check which parameters are trained, and that the optimiser has them",
            "check the spread of rewards and advantages",
        ),
        source="TRL logging guide: tune when these values 'collapse to 0'",
        grade="C",
    ),
    Rule(
        id="clip-not-binding",
        title="The clip does not hold the policy",
        codes=("P5",),
        sees="the KL is high while hardly anything is clipped",
        concepts=("approx_kl",),
        beside=("clip_fraction",),
        read=clip_not_binding,
        on=("approx_kl", "approx_kl_k1"),
        families=frozenset({CTRL}),
        limits={
            "kl": 0.05,
            "clip": 0.02,
            "wide": 0.4,
            "wide_kl": 0.03,
            "clear_kl": 0.03,
            "warmup": 3,
        },
        causes=("the clip range is too wide to bind",),
        tries=("set {clip_range} to 0.1-0.2", "set {target_kl:name} to 0.02"),
        source="clip range 0.5: clip fraction falls while the KL rises (a known experiment)",
        grade="C",
    ),
    Rule(
        id="kl-spike",
        title="One update far too large",
        codes=("P6",),
        sees="a single KL many times larger than those before",
        concepts=("approx_kl",),
        read=kl_spike,
        on=("approx_kl",),
        limits={"times": 4.0, "watch": 0.02, "warn": 0.03, "crit": 0.1},
        by={RLHF: {"watch": 0.05, "warn": 0.1}, GRPO: {"watch": 0.02, "warn": 0.05}},
        persist=persist(1, 1),
        causes=("a batch with unusual rewards", "learning rate near its limit"),
        tries=("set {target_kl:name} to 0.02", "larger batches: {batches}"),
        source="Schulman, Nuts and Bolts: a spike of the KL often comes before a loss of performance",
        grade="C",
    ),
)
