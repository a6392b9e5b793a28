"""The size of updates: KL to the old policy, and clip fraction."""

from __future__ import annotations

from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.calm import near_bounds
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.ranges import clips_sequences
from ppo_top.rules.engine.rule import AT_ONCE, Assessment, Rule, RuleLimits, borderline
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import (
    CRIT,
    GRPO,
    INFO,
    ON_POLICY,
    POLICY_GRADIENT,
    RLHF,
    WARN,
    WATCH,
)
from ppo_top.rules.engine.wording import num, pct

KL_CONTROLLED = "kl-controlled"
"""The fact that a KL coefficient in the loss follows the KL, to hold it at its target."""

KL_PRACTICE = "approx KL 0.001-0.02 is healthy, above 0.03 risks collapse (SB3 practice)"


SMALLER_STEPS = (
    "lower {learning_rate:, by 3 to 10 times}",
    "{kl_limit}",
    "fewer passes over the same data: {n_epochs:above 1}",
    "{larger_batches}",
    "clip more tightly: {clip_range:above 0.1}",
)


def update_kl(run: JudgedRun) -> float | None:
    """The size of this row's update KL; of the k1 estimator, whose sign is noise, its recent size.

    Of two estimates in one log, as TRL's legacy trainer writes them, the higher counts.
    Only an estimate is ever negative: a script may log any estimator under the plain name.
    """
    value = run.value("approx_kl", 0)
    if value is not None and run.family != RLHF:
        return abs(value)
    history = run.in_row(run.histories.get("approx_kl_k1"))
    if history is None:
        return None if value is None else abs(value)
    plain = abs(history.level)
    return plain if value is None else max(abs(value), plain)


_TARGET_TIMES = {"watch": (2.0, 1.0), "warn": (4.0, 1.5), "crit": (10.0, 3.0)}
"""Each limit as a multiple of the KL target: what a controller holds, and what ends an update."""


def _kl_limit(run: JudgedRun, limits: RuleLimits, level: str) -> float:
    """A limit of the KL; the user's KL target raises it but never lowers it."""
    target = run.config_number("target_kl")
    held, ended = _TARGET_TIMES[level]
    if KL_CONTROLLED in run.facts:
        return held * (target or limits["controlled"])
    if target and run.family == ON_POLICY:
        return max(limits[level], ended * target)
    return limits[level]


def kl_high(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Update KL is too high."""
    value = update_kl(run)
    if value is None:
        return None
    amber = _kl_limit(run, limits, "watch")
    if value <= amber or (run.updates <= limits["early"] and value <= 2 * limits["once"]):
        return None
    if value <= _kl_limit(run, limits, "warn"):
        return borderline(value, amber)
    message = (
        f"each update moves the policy too far: approx KL {num(value)} (healthy <= {num(amber)})"
    )
    if value > limits["once"]:
        return Assessment(CRIT, value, amber, message, immediate=True)
    clip = run.value("clip_fraction")
    harm = _harm(run) or (clip is not None and clip > limits["clip"])
    crit = _kl_limit(run, limits, "crit")
    if value > crit:
        return Assessment(
            CRIT if harm or value > limits["far"] * crit else WARN, value, amber, message
        )
    return Assessment(WARN if harm else WATCH, value, amber, message)


def _kl_stays_low(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No KL of the block is above the healthy range."""
    amber = _kl_limit(run, limits, "watch")
    if run.family == RLHF and "approx_kl_k1" in {*block.columns, *run.histories}:
        low, high = near_bounds(run, block, "approx_kl_k1", 5)
        if max(-low, high) > amber:
            return False
    return "approx_kl" in block.columns and block.size("approx_kl") <= amber


def _harm(run: JudgedRun) -> bool:
    """Tuned runs tolerate large updates: they are a fault if something gets worse."""
    return run.falling or run.open_severities.get("policy-loss-positive", 0) >= WARN


def clip_high(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Too many samples are clipped."""
    value = clipped_share(run)
    if value is None or value <= limits["clear"]:
        return None
    if clips_sequences(run.profile):
        return _sequences_clipped(value, limits)
    message = f"{pct(value)} of the samples hit the clip (healthy <= {pct(limits['clear'])})"
    if _narrow(run, value, limits) or _holds_still(run, limits):
        return Assessment(WATCH, value, limits["clear"], message + ", though steps are small")
    if value > limits["crit"] and not _may_be_sequences(run):
        return Assessment(CRIT, value, limits["clear"], message)
    if value > limits["warn"]:
        return Assessment(WARN, value, limits["clear"], message)
    if value > limits["watch"]:
        return Assessment(WARN if _harm(run) else WATCH, value, limits["clear"], message)
    if _far_above_own(run, limits):
        return Assessment(WATCH, value, limits["clear"], message)
    return borderline(value, limits["clear"])


def _sequences_clipped(share: float, limits: RuleLimits) -> Assessment | None:
    """GSPO learns with 15 % clipped: its ratios are those of whole completions."""
    usual = limits["sequences"]
    if share <= usual:
        return None
    message = f"{pct(share)} of the samples hit the clip (healthy <= {pct(usual)} with GSPO)"
    return Assessment(WATCH, share, usual, message)


def _may_be_sequences(run: JudgedRun) -> bool:
    """Whether the ratios may be those of whole completions: no setting tells, and no harm is seen.

    GSPO clips so many while it learns.
    """
    told = "importance_sampling_level" in run.profile.config or run.setting("clip_range")
    return run.family == GRPO and not told and not _harm(run)


def _narrow(run: JudgedRun, share: float, limits: RuleLimits) -> bool:
    """The limits assume a clip range of 0.2; half of it also clips much of a small update.

    A small KL shows it (labelled runs: HalfCheetah learns with 45 % clipped at 0.1). Where the
    clip range is not logged, a larger share is doubted.
    """
    clip, kl = run.setting("clip_range"), run.value("approx_kl")
    small = (
        kl is not None
        and 0.0 <= kl <= limits["small_kl"]
        and (clip is None or clip < limits["narrow"])
    )
    most = limits["crit"] if clip is None else limits["narrow_most"]
    return small and run.family == ON_POLICY and share <= most and not _harm(run)


def _holds_still(run: JudgedRun, limits: RuleLimits) -> bool:
    """Whether the policy hardly moves: whatever is counted as clipped, no update is too large."""
    kl = run.value("approx_kl")
    return kl is not None and abs(kl) <= limits["still_kl"]


def clipped_share(run: JudgedRun) -> float | None:
    value = run.value("clip_fraction", 0)
    if value is not None:
        return value
    sides = (run.value("clip_low", 0), run.value("clip_high", 0))
    known = [side for side in sides if side is not None]
    return sum(known) if known else None


def _far_above_own(run: JudgedRun, limits: RuleLimits) -> bool:
    """Token-level fractions are small: ten times the run's own level is a sign too."""
    history = run.histories.get("clip_fraction")
    if run.family != GRPO or history is None or history.count < limits["own_points"]:
        return False
    own = median(history.previous(int(limits["own_points"])))
    return history.last > max(limits["own_times"] * own, limits["own_floor"]) and own > 0


def _clipping_stays_low(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    both_sides = block.high("clip_low") + block.high("clip_high")
    return max(block.high("clip_fraction"), both_sides) <= limits["clear"]


def _kl_stays_below_warn(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    return block.size("approx_kl") <= _kl_limit(run, limits, "warn")


def kl_spike(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """One update is far larger than those before it."""
    value, history = update_kl(run), run.histories.get("approx_kl")
    if value is None or history is None:
        return None
    if value <= _kl_limit(run, limits, "warn") or run.open_severities.get("kl-high"):
        return None
    middle = median(history.previous(int(limits["points"])))
    if value <= limits["times"] * middle:
        return None
    words = f"one update far larger than the others: approx KL {num(value)}, usually {num(middle)}"
    return Assessment(WATCH, value, limits["times"] * middle, words)


KL_CAUSES = (
    "learning rate too high",
    "too many epochs over the same data, or batches too small",
    "advantages not normalised, or rewards of very different scales",
)


RULES = (
    Rule(
        id="kl-high",
        title="Update KL too high",
        description="the KL between old and new policy stays above its healthy range",
        concepts=("approx_kl",),
        related=("clip_fraction",),
        assess=kl_high,
        asks_about=("policy-loss-positive",),
        stays_calm=_kl_stays_low,
        eased_to=WARN,
        families=POLICY_GRADIENT,
        judged_at=("approx_kl", "approx_kl_k1"),
        limits={
            "clip": 0.4,
            "far": 3,
            "watch": 0.02,
            "warn": 0.03,
            "crit": 0.1,
            "once": 1.0,
            "early": 3,
            "controlled": 0.01,
        },
        limit_overrides={
            RLHF: {"watch": 0.05, "warn": 0.1, "crit": 0.3, "once": 1.5},
            GRPO: {"watch": 0.02, "warn": 0.05, "crit": 0.1, "once": 1.5},
        },
        ranks_causes=True,
        causes=KL_CAUSES,
        remedies=SMALLER_STEPS,
        source=KL_PRACTICE + "; TRL: 0.01-0.05; Spinning Up stops at 1.5 x target_kl",
        grade="A",
        grade_by_family={GRPO: "B"},
    ),
    Rule(
        id="kl-spike",
        title="KL spike",
        description="the KL of one update is many times larger than that of the updates before it",
        is_event=True,
        concepts=("approx_kl",),
        assess=kl_spike,
        asks_about=("kl-high",),
        stays_calm=_kl_stays_below_warn,
        families=POLICY_GRADIENT,
        limits={
            "points": 20,
            "warmup": 11,
            "times": 4.0,
            "warn": 0.03,
            "controlled": 0.01,
        },
        limit_overrides={RLHF: {"warn": 0.1}, GRPO: {"warn": 0.05}},
        persistence=AT_ONCE,
        ranks_causes=True,
        causes=("an outlier batch (unusual rewards)", "learning rate close to too high"),
        remedies=("{kl_limit}", "{larger_batches}", "lower {learning_rate}"),
        source="Schulman, Nuts and Bolts: a KL spike often comes before a loss of performance",
        grade="C",
    ),
    Rule(
        id="clip-high",
        title="Clip fraction too high",
        description="update after update, a large share of the samples is outside the clip range",
        concepts=("clip_fraction",),
        related=("approx_kl",),
        assess=clip_high,
        asks_about=("policy-loss-positive",),
        stays_calm=_clipping_stays_low,
        eased_to=WATCH,
        families=POLICY_GRADIENT,
        judged_at=("clip_fraction", "clip_low", "clip_high"),
        limits={
            "still_kl": 1e-5,
            "small_kl": 0.02,
            "narrow": 0.15,
            "narrow_most": 0.8,
            "own_points": 30,
            "own_times": 10,
            "clear": 0.2,
            "watch": 0.3,
            "warn": 0.4,
            "crit": 0.5,
            "own_floor": 0.02,
            "sequences": 0.5,
            "warmup": 3,
        },
        limit_overrides={GRPO: {"clear": 0.1, "watch": 0.15, "warn": 0.2, "crit": 0.4}},
        persistence={INFO: (4, 5), WATCH: (4, 5), WARN: (3, 5), CRIT: (4, 5)},
        ranks_causes=True,
        causes=(*KL_CAUSES[:2], "large advantages, or a clip range that is too narrow"),
        remedies=(
            *SMALLER_STEPS[:4],
            "{in_groups}clip higher, if all of it is above: {clip_range_high:below 0.28} to 0.28",
            "{in_groups}check the size of the advantages: {scale_rewards}",
        ),
        source="clip fraction below 0.2 is healthy, above 0.3 for long is not (SB3 practice, TRL)",
        grade="A",
        grade_by_family={GRPO: "C"},
    ),
)
