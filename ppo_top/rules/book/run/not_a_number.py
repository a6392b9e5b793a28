"""Non-finite numbers: NaN, infinities, losses that disappear instead."""

from __future__ import annotations

import math

from ppo_top.rules.book.run.progress import TRAINER_COUNTERS
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.logged_run import REWARD_CONCEPTS, TRAINING_LOSSES
from ppo_top.rules.engine.ranges import may_be_nan
from ppo_top.rules.engine.rule import AT_ONCE, Assessment, Rule, RuleLimits, borderline
from ppo_top.rules.engine.stats import median, robust_log_z
from ppo_top.rules.engine.terms import (
    ALL_FAMILIES,
    CRIT,
    LLM_FAMILIES,
    NOT_LLM,
    ON_POLICY,
    REWARD_COMPONENT_PREFIX,
    WARN,
    WATCH,
)
from ppo_top.rules.engine.wording import label, num, ratio_text
from ppo_top.text.format import plural

MOVED_SINCE, MOVED_WITHIN, MOVED_FAR = 40, 10, 6.0
"""What moved most before a NaN: in the last ten updates, by so many deviations of those before."""

FINITE_POINTS_TO_CLEAR = 3
"""This many finite points in a row clear the finding."""


COUNTS = ("step", *TRAINER_COUNTERS, "time_elapsed")
"""Mere counters: one that is not a number shows a damaged line, not a fault of the training."""


def _is_fault(run: JudgedRun, concept: str, value: float, limits: RuleLimits) -> bool:
    """Whether a NaN or infinity is a fault, and not the mean of nothing."""
    if may_be_nan(concept, value) or concept in COUNTS:
        return False
    if math.isinf(value) and concept.startswith("tag:") and concept not in run.histories:
        return False  # the best one so far, before there is any
    if run.family not in NOT_LLM or not math.isnan(value):
        return True
    if concept.startswith(("reward", "ep_len", "eval_", "success_rate", "tag:")):
        return _is_mean_of_some(run, concept, limits)
    return concept in run.histories or not _before_learning(run, limits)


def _is_mean_of_some(run: JudgedRun, concept: str, limits: RuleLimits) -> bool:
    """Whether a NaN mean over episodes is that of some episodes, and not of none."""
    history = run.histories.get(concept)
    if history is None:  # no episode may have ended yet
        patient = concept not in REWARD_CONCEPTS or run.updates <= limits["never"]
        return not patient and not _no_episode_ended(run)
    gone = run.mark.row - history.last_row
    usual = (run.updates - gone) / history.count  # updates from one to the next
    is_over = gone > max(limits["gone"], limits["gone_times"] * usual)
    return (is_over and concept in REWARD_CONCEPTS) or not _no_episode_ended(run)


def _no_episode_ended(run: JudgedRun) -> bool:
    """Whether the mean over episodes is one of none: their length is NaN too, or losses are not.

    Never if the log counts more episodes than in the row before.
    """
    if _counts_more_episodes(run):
        return False
    if "ep_len" in run.values:
        return "ep_len" in run.non_finite_now
    return any(math.isfinite(run.values.get(name, math.nan)) for name in TRAINING_LOSSES)


def _counts_more_episodes(run: JudgedRun) -> bool:
    counted = run.in_row(run.histories.get("episode"))
    return counted is not None and any(before < counted.last for before in counted.previous(1))


def _before_learning(run: JudgedRun, limits: RuleLimits) -> bool:
    """Whether the first update may be to come: scripts log NaN for losses until then.

    The trainer's own count of updates says so, or a replay buffer may still be filling.
    """
    if run.values.get("n_updates") == 0.0:
        return True
    if run.family == ON_POLICY or run.has_losses:
        return False
    starts = run.config_number("learning_starts")
    return run.mark.step <= starts if starts is not None else run.updates <= limits["filling"]


def non_finite(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """A value is NaN or infinite."""
    values, bad = run.values, run.non_finite
    fresh = [name for name in run.non_finite_now if _is_fault(run, name, values[name], limits)]
    for concept in [name for name in bad if name in values and name not in run.non_finite_now]:
        bad[concept] += 1
        if bad[concept] >= FINITE_POINTS_TO_CLEAR:
            del bad[concept]
    if not fresh:
        return borderline(math.nan) if bad else None
    for concept in fresh:
        bad[concept] = 0
    named = _reward_first(run, fresh)
    first, *others = named
    was_number = first in run.histories
    message = f"{label(first)} {'became' if was_number else 'has always been'} {num(values[first])}"
    if others:
        message += f", and {len(others)} more: {', '.join(label(c) for c in others[:3])}"
    seen = _moved_most(run, named)
    return Assessment(CRIT, values[first], None, message, evidence=seen, concepts=tuple(named))


def _reward_first(run: JudgedRun, fresh: list[str]) -> list[str]:
    """The metrics to name, the reward first, whose parts are a cause of the rest.

    Beside a fault, a reward or episode length that turned NaN counts as one, too.
    """
    rewards = [name for name in REWARD_CONCEPTS if name in fresh or run.turned_non_finite(name)]
    lengths = ["ep_len"] if "ep_len" not in fresh and run.turned_non_finite("ep_len") else []
    return [*rewards, *(name for name in fresh if name not in rewards), *lengths]


def _moved_most(run: JudgedRun, fresh: list[str]) -> tuple[str, ...]:
    """The three metrics that moved most in the ten updates before."""
    moved = []
    for concept, history in run.histories.items():
        earlier, late = history.recent[-MOVED_SINCE:-MOVED_WITHIN], history.recent[-MOVED_WITHIN:]
        if concept in fresh or min(earlier, default=0.0) <= 0.0:
            continue
        peak = max(late)
        if robust_log_z(peak, earlier) > MOVED_FAR:
            moved.append((peak / median(earlier), concept, peak))
    moved.sort(reverse=True)
    return tuple(
        f"before it, {label(concept)} rose to {num(peak)} ({ratio_text(ratio, 1.0)})"
        for ratio, concept, peak in moved[:3]
    )


def _all_finite(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """A block holds finite values only: there is nothing unless some were NaN shortly before."""
    return not run.non_finite


WATCHED_LOSSES = ("total_loss", "policy_loss", "value_loss", "approx_kl", "grad_norm")


def hidden_nan(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """A metric stops while others continue, as with trackers that drop NaN."""
    for concept, history in run.histories.items():
        if history.last_row == run.mark.row or history.count < limits["points"]:
            continue
        level = _level_of_loss(run, concept)
        if not level or concept in run.non_finite or not _siblings(run, concept):
            continue
        gone = run.mark.row - history.last_row
        if run.rows_without_updates >= gone:
            continue  # there were no updates
        due = run.updates - gone  # how many there would be had it never been missing
        always = history.count >= due - 1
        waited = limits["rows"] - always
        if waited <= gone <= limits["most_rows"] and history.count >= limits["share"] * (due - 2):
            what = "reward " * concept.startswith("reward_component") + label(concept)
            how_long = plural(gone, run.profile.row_kind)
            words = f"{what} is no longer logged, for {how_long}, while others are"
            return Assessment(level, history.last, None, words, concepts=(concept,))
    return None


def _none_missing(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """Every metric so far is in the block, or may be missing."""
    return all(
        concept in block.columns or not (concept in WATCHED_LOSSES or run.family in LLM_FAMILIES)
        for concept in run.histories
    )


def _level_of_loss(run: JudgedRun, concept: str) -> int:
    """Severity of a metric that stops; 0 for one that may come and go."""
    if concept in WATCHED_LOSSES:
        return CRIT if "drops-nan" in run.facts else WATCH
    if run.family not in LLM_FAMILIES:
        return 0
    if concept.startswith(REWARD_COMPONENT_PREFIX):
        return WATCH if _took_over(run, run.mark.row - run.histories[concept].last_row) else WARN
    return WARN if concept == "reward_mean" else 0


def _took_over(run: JudgedRun, gone: int) -> bool:
    """Whether another reward began when this one ended, as when its tasks are over."""
    names = (name for name in run.values if name.startswith(REWARD_COMPONENT_PREFIX))
    parts = map(run.histories.get, names)
    return any(part is not None and part.count <= gone + 2 for part in parts)


def _siblings(run: JudgedRun, missing: str) -> bool:
    others = (run.histories.get(c) for c in (*WATCHED_LOSSES, "reward_mean") if c != missing)
    return any(h is not None and run.mark.row - h.last_row <= 1 for h in others)


_NAN_REMEDIES = (
    "{in_control}normalise or clip rewards and observations; look for an infinite reward",
    "{in_text}look for a reward that is infinite or none",
    "{in_text}bf16 instead of fp16, or full precision for the loss",
)

RULES = (
    Rule(
        id="non-finite",
        title="NaN/Inf in metrics",
        description="a metric is NaN or infinite",
        concepts=(),
        assess=non_finite,
        stays_calm=_all_finite,
        families=ALL_FAMILIES,
        persistence=AT_ONCE,
        limits={"clear_after": 1, "filling": 200, "never": 5, "gone": 50, "gone_times": 10},
        ranks_causes=True,
        causes=(
            "exploding gradients, or learning rate too high",
            "an infinite or NaN reward or observation",
            "half-precision overflow",
        ),
        remedies=_NAN_REMEDIES,
        source="TRL logging guide: value loss 'will spike / NaN when not going well'",
        grade="A",
    ),
    Rule(
        id="hidden-nan",
        title="Loss no longer logged (NaN dropped?)",
        description="a loss, KL or gradient norm stops being logged while other metrics continue",
        concepts=("total_loss",),
        assess=hidden_nan,
        stays_calm=_none_missing,
        judged_at=(),
        persistence=AT_ONCE,
        limits={"most_rows": 50, "share": 0.9, "points": 10, "rows": 3},
        causes=(
            "the value became NaN and the tracker drops NaN",
            "a reward function returned NaN or None and was left out",
        ),
        remedies=(
            "look for NaN in the console output",
            "have it logged: {nan_filter:name}=False",
            "if it lasts, the weights are gone: restart from the last good checkpoint",
            "lower {learning_rate:, by 3 to 10 times}",
            "clip gradients: {max_grad_norm:above 0.1}",
        ),
        source="transformers Trainer and Ray's TensorBoard logger drop NaN values",
        grade="B",
    ),
)
