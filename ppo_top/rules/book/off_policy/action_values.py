"""What a learner with a replay buffer thinks its actions are worth, beside what episodes return."""

from __future__ import annotations

from ppo_top.rules.advice.critic_symptoms import (
    loss_kept,
    returns_of_one_sign,
    steps_rewarded,
    values_wrong,
)
from ppo_top.rules.engine.context import ACTOR_LOSSES, RuleContext
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, k_of_n
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import OFF_POLICY, VALUE_BASED, WARN, WATCH
from ppo_top.rules.engine.wording import num

VALUES = ("value_mean", *ACTOR_LOSSES)
"""Where action values are logged, in order of preference; minus the actor's loss is their mean."""


def values_contradict(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """Action values have the wrong sign, or do not even amount to the reward of one step.

    A critic learns the next reward first, within a few hundred gradient steps. Rewards may be
    scaled behind the log, so values near 0 count for less if the critic's error falls.
    """
    values = run.in_row(run.first_logged(VALUES))
    steps, reward = steps_rewarded(run), run.reward
    if values is None or steps is None or reward is None:
        return None
    if run.gained or run.rising or run.at_max:
        return None
    if reward.looks < limits["looks"] or not returns_of_one_sign(run):
        return None
    value = values.level
    if values_wrong(run):
        message = f"returns are about {num(reward.smooth)}, but action values of the other sign"
        return Assessment(WARN, value, None, message, concepts=_logged(run))
    if abs(steps) < limits["none"] and not _still_grow(values, limits):
        message = "action values are less than one step's reward: the critic learns no returns"
        level = WARN if loss_kept(run) else WATCH
        return Assessment(level, value, None, message, concepts=_logged(run))
    return None


def _logged(run: RuleContext) -> tuple[str]:
    """The metric that holds the action values."""
    return (next(name for name in VALUES if name in run.histories),)


def _still_grow(values: History, limits: RuleLimits) -> bool:
    """Whether values were far smaller some rows ago."""
    before = values.previous(int(limits["rows"]))[:5]
    return abs(values.level) > limits["growth"] * abs(median(before))


RULES = (
    Rule(
        id="action-values-wrong",
        title="Action values contradict the returns",
        description="action values are of the other sign than all returns, or stay next to nothing",
        concepts=("value_mean", "actor_loss"),
        related=("critic_loss", "reward_mean"),
        assess=values_contradict,
        judged_at=VALUES,
        families=frozenset({OFF_POLICY, VALUE_BASED}),
        limits={
            "none": 0.5,
            "looks": 2,
            "rows": 10,
            "growth": 1.5,
            "warmup": 12,
        },
        persistence=k_of_n(4, 5),
        ranks_causes=True,
        causes=(
            "wrong sign of the reward, or of a loss",
            "critic is not trained: its optimiser, or its target network",
        ),
        remedies=(
            "check the sign of the reward, and of each loss",
            "check that the critic's weights change",
        ),
        source="a value is the sum of discounted rewards (Sutton and Barto 2018, section 3.5)",
        grade="C",
    ),
)
