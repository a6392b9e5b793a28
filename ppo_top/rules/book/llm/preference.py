"""Preference training (DPO and its relatives): which answers gain, and whether anything is learned.

The loss of a pair is -log sigmoid(margin): ln 2 while the policy is its reference (Rafailov et al.
2023, equation 7). The margin is `beta` times how much more the chosen answer gained than the
rejected one.
"""

from __future__ import annotations

import math

from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.calm import at_least, near_bounds
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.terms import CRIT, PREFERENCE, WARN, WATCH
from ppo_top.rules.engine.wording import num, pct
from ppo_top.support.moments import deviation, mean

UNTRAINED_LOSS = math.log(2.0)


def rejected_win(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The policy comes to prefer the rejected answers.

    Without a reference (ORPO, SimPO) they may win at first; then the accuracy rises.
    """
    accuracy, margin = run.histories["preference_accuracy"], run.histories.get("preference_margin")
    value = accuracy.level
    if value >= limits["clear"]:
        return None
    sinks = margin is None or (margin.level < 0.0 and margin.level < margin.initial_level)
    if value >= limits["warn"] or not sinks or accuracy.rising():
        return borderline(value, limits["clear"])
    message = f"chosen answers win in {pct(value)} of the pairs, at random in 50 %"
    concepts = ("preference_accuracy", *(("preference_margin",) if margin is not None else ()))
    level = CRIT if value < limits["crit"] else WARN
    return Assessment(level, value, limits["clear"], message, concepts=concepts)


def none_told_apart(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Chosen answers win as often as at random, far into the run: by the newest records' mean."""
    recent = run.histories["preference_accuracy"].recent
    if len(recent) < limits["points"] or (run.progress or 0.0) < limits["late"]:
        return None
    share = mean(recent)
    unsure = limits["errors"] * deviation(recent) / math.sqrt(len(recent))
    if abs(share - 0.5) + unsure >= limits["chance"]:
        return None
    message = (
        f"chosen answers win in {pct(share)} of the last {len(recent)} records' pairs: by chance"
    )
    return Assessment(WATCH, share, 0.5 + limits["chance"], message)


def loss_stays_untrained(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The loss stays where it is while the policy is its reference."""
    loss = run.histories["total_loss"]  # the first one is that of the reference
    if loss.count < limits["points"] or not _untrained(loss.low, loss.high, limits):
        return None
    message = f"loss is still {num(loss.last)} (ln 2): the policy is nearly its reference"
    is_late = (run.progress or 0.0) >= limits["late"]
    level = WARN if is_late else WATCH
    return Assessment(level, loss.last, UNTRAINED_LOSS, message, immediate=run.ended)


def _untrained(low: float, high: float, limits: RuleLimits) -> bool:
    least, most = (UNTRAINED_LOSS * (1.0 + sign * limits["near"]) for sign in (-1.0, 1.0))
    return least <= low and high <= most


def _has_learned(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """Whether the loss has left its start before the block, and does not come back to it."""
    loss = run.histories.get("total_loss")
    if loss is None or _untrained(loss.low, loss.high, limits):
        return False
    return not _untrained(*near_bounds(run, block, "total_loss", 1), limits)


RULES = (
    Rule(
        id="preference-inverted",
        title="Rejected answers preferred",
        description="the policy comes to prefer the rejected answers to the chosen ones",
        concepts=("preference_accuracy",),
        related=("preference_margin",),
        assess=rejected_win,
        stays_calm=at_least("preference_accuracy", "clear"),
        families=frozenset({PREFERENCE}),
        limits={"clear": 0.45, "warn": 0.4, "crit": 0.25, "warmup": 10},
        persistence=k_of_n(6, 8),
        causes=(
            "chosen and rejected are swapped, or the loss has the wrong sign",
            "labels that contradict the reference model",
        ),
        remedies=(
            "look at some pairs as the trainer gets them: is the chosen answer the better one?",
            "check the sign of the loss, and which column is which",
        ),
        source="TRL: rewards/accuracies is how often the chosen answer has the higher reward",
        grade="B",
    ),
    Rule(
        id="preference-at-chance",
        title="Answers told apart by chance",
        description="chosen answers do not win more often than rejected ones",
        concepts=("preference_accuracy",),
        related=("preference_margin", "lr"),
        assess=none_told_apart,
        families=frozenset({PREFERENCE}),
        limits={"chance": 0.06, "errors": 2.0, "points": 50, "late": 0.5},
        persistence=k_of_n(5, 5),
        at_end=True,
        causes=(
            "labels that say nothing: chosen and rejected are drawn at random, or alike",
            "learning rate too low",
        ),
        remedies=(
            "look at some pairs as the trainer gets them: is the chosen answer the better one?",
            "raise {learning_rate}",
        ),
        source="TRL: rewards/accuracies is how often the chosen answer has the higher reward",
        grade="C",
    ),
    Rule(
        id="preference-not-learned",
        title="Loss of preferences stays at its start",
        description="the loss stays at ln 2, its value while the policy is its reference",
        concepts=("total_loss",),
        related=("preference_margin", "lr"),
        assess=loss_stays_untrained,
        stays_calm=_has_learned,
        at_end=True,
        families=frozenset({PREFERENCE}),
        limits={"points": 5, "near": 0.02, "late": 0.5, "warmup": 30},
        persistence=k_of_n(5, 5),
        causes=(
            "learning rate too low, or weights that are frozen",
            "beta so small that margins hardly count",
        ),
        remedies=("raise {learning_rate}", "see that the adapter's weights are trained"),
        source="the loss is -log sigmoid(0) = ln 2 at first (Rafailov et al. 2023)",
        grade="C",
    ),
)
