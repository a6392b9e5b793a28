"""What the KL decides: a learning rate that follows it is at its bound, its limit ends updates."""

from __future__ import annotations

from itertools import pairwise

from ppo_top.rules.advice.setting_symptoms import ADAPTIVE_RATE
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import AT_ONCE, Assessment, Rule, RuleLimits, k_of_n
from ppo_top.rules.engine.terms import ON_POLICY, WARN, WATCH
from ppo_top.rules.engine.wording import num


def rate_pinned(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """A KL-adaptive learning rate has reached its lower or upper bound."""
    if ADAPTIVE_RATE not in run.facts:
        return None
    history = run.histories["lr"]
    if history.high <= history.low:
        return None  # not adaptive
    recent, floor, now = history.recent, limits["floor"], num(history.last)
    low, high = int(limits["floor_points"]), int(limits["ceiling_points"])
    if len(recent) >= low and max(recent[-low:]) <= floor:
        message = f"KL above target although the learning rate is at its minimum ({now})"
        return Assessment(WARN, history.last, floor, message)
    if len(recent) >= high and min(recent[-high:]) >= limits["ceiling"] and run.flat:
        message = f"learning rate is at its maximum ({now}) and the reward does not rise"
        return Assessment(WATCH, history.last, limits["ceiling"], message)
    return None


def stopped_by_kl(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The KL limit ends nearly every update early."""
    recent = run.histories["n_updates"].newest(int(limits["points"]))
    made = [later - early for early, later in pairwise(recent)]
    epochs = run.config_number("n_epochs")
    target = run.config_number("target_kl")
    if not made or epochs is None or not target:
        return None
    if min(made) < 0 or max(made) > epochs or made[-1] >= epochs:
        return None
    message = f"the KL limit stops updates early: {num(made[-1])} of {num(epochs)} epochs"
    return Assessment(WATCH, made[-1], epochs, message)


def _not_adaptive(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    return ADAPTIVE_RATE not in run.facts


def _no_early_stopping(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    return not run.config_number("target_kl") or run.config_number("n_epochs") is None


RULES = (
    Rule(
        id="learning-rate-pinned",
        title="Adaptive learning rate at its bound",
        description="a KL-adaptive learning rate stays at its minimum or maximum",
        concepts=("lr",),
        assess=rate_pinned,
        stays_calm=_not_adaptive,
        families=frozenset({ON_POLICY}),
        limits={
            "floor": 1.001e-6,
            "floor_points": 20,
            "ceiling": 0.0099,
            "ceiling_points": 50,
            "warmup": 20,
        },
        limit_overrides={"rsl_rl": {"floor": 1.001e-5}},
        persistence=AT_ONCE,
        causes=("reward scale or batch size makes every update too large or too small",),
        remedies=(
            "scale rewards down",
            "fewer passes over the same data: {n_epochs:above 1}",
            "{larger_batches}",
            "lower the entropy bonus: {ent_coef:above 0}",
        ),
        source="rsl_rl's adaptive schedule divides the rate by 1.5 when the KL is twice its target",
        grade="A",
    ),
    Rule(
        id="kl-early-stop",
        title="KL limit ends updates early",
        description="the KL limit ends updates before their last epoch",
        concepts=("n_updates",),
        related=("approx_kl",),
        assess=stopped_by_kl,
        stays_calm=_no_early_stopping,
        families=frozenset({ON_POLICY}),
        limits={"points": 12, "warmup": 5},
        persistence=k_of_n(8, 10),
        causes=("learning rate too high for the KL target; early stopping hides the KL",),
        remedies=("lower {learning_rate}", "fewer passes over the same data: {n_epochs:above 1}"),
        source="text printed by SB3 and Spinning Up",
        grade="A",
    ),
)
