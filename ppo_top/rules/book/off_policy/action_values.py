"""What a learner with a replay buffer thinks its actions are worth, beside what episodes return."""

from __future__ import annotations

from itertools import pairwise

from ppo_top.rules.advice.critic_symptoms import (
    loss_kept,
    returns_of_one_sign,
    rewards_large,
    steps_rewarded,
    values_wrong,
)
from ppo_top.rules.advice.rate_symptoms import rate_jumped
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.calm import near_bounds
from ppo_top.rules.engine.history import LEVEL_VALUES, MAX_RECENT_VALUES, History
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.logged_run import ACTOR_LOSSES, CRITIC_LOSSES
from ppo_top.rules.engine.rule import AT_ONCE, Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import OFF_POLICY, VALUE_BASED, WARN, WATCH
from ppo_top.rules.engine.wording import num

VALUES_LOST = "action-values-lost"

VALUES = ("value_mean", *ACTOR_LOSSES)
"""Where action values are logged, in order of preference; minus the actor's loss is their mean."""


def values_contradict(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
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
    if values_wrong(run) and not _come_back(values, limits):
        message = f"returns are about {num(reward.smooth)}, but action values of the other sign"
        return Assessment(WARN, value, None, message, concepts=_logged(run))
    if abs(steps) < limits["none"] and not _still_grow(values, limits):
        message = "action values are less than one step's reward: the critic learns no returns"
        level = WARN if loss_kept(run) and not _climbs(reward.history, limits) else WATCH
        return Assessment(level, value, None, message, concepts=_logged(run))
    return None


def values_stay_short(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """At the end of a run, or late in a long one, action values are still those of the next reward.

    Every critic passes there on its way; one whose discount is 0, or whose target network never
    follows, stays (labelled runs: at most 58 % of a healthy run's last rows are like that, and on
    the way more only where rewards of hundreds a step are learned slowly).
    """
    loss, reward = run.first_logged(ACTOR_LOSSES), run.reward
    length = run.histories.get("ep_len")
    if loss is None or reward is None or length is None or run.at_max:
        return None
    on_way = not run.ended
    if on_way and (loss.count < limits["on_way"] or rewards_large(run)):
        return None
    count = min(MAX_RECENT_VALUES, loss.count // 2)
    if count < limits["rows"] or min(length.count, reward.history.count) < count:
        return None
    if on_way and not _is_short(loss.last, length.last, reward.history.last, limits):
        return None
    losses, lengths, totals = (each.newest(count) for each in (loss, length, reward.history))
    rows = zip(losses, lengths, totals, strict=True)
    short = sum(_is_short(*values, limits) for values in rows)
    share = limits["on_way_share" if on_way else "share"]
    if length.level < limits["length"] or short < share * count:
        return None
    until = "after half of the updates" if on_way else "to the end"
    message = f"action values are worth one step's reward {until}: what follows is not learned"
    return Assessment(WARN, loss.level, None, message, concepts=_logged(run), immediate=run.ended)


def _is_short(loss: float, length: float, total: float, limits: RuleLimits) -> bool:
    """Whether minus an actor's loss is the reward of about one step of an episode."""
    return total != 0.0 and limits["low"] <= -loss * length / total <= limits["high"]


def _not_yet(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """Whether there are too few values, also after the block, to say anything before the end."""
    loss = run.first_logged(ACTOR_LOSSES)
    seen = loss.count if loss is not None else 0
    return not run.ended and seen + len(block.steps) < limits["on_way"]


def values_lost(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Action values shrink at one update as the critic's loss jumps: they are another network's.

    Training moves both little by little. A loss that counts small errors alone (Huber's) may not
    jump; then most of the values are gone at once. Open until the values are what they once were,
    and the reward is.
    """
    values, loss = run.in_row(run.first_logged(ACTOR_LOSSES)), run.first_logged(CRITIC_LOSSES)
    if values is None or loss is None or min(values.count, loss.count) < limits["rows"]:
        return None
    *before, one, other = values.newest(LEVEL_VALUES + 2)
    level, now = median(before), (one + other) / 2
    *losses, loss_one, loss_other = loss.newest(LEVEL_VALUES + 2)
    usual, jumped = median(losses), max(loss_one, loss_other)
    witnessed = jumped > limits["loss"] * usual
    share, spread = ("lost", "spread") if witnessed else ("alone_lost", "alone_spread")
    shrank = abs(now) < (1.0 - limits[share]) * abs(level)
    at_once = abs(now - level) > limits[spread] * (max(before) - min(before))
    if shrank and at_once and not rate_jumped(run):
        message = f"action values fell from {num(-level)} to {num(-now)} at one update"
        evidence = (f"the critic's loss jumped from {num(usual)} to {num(jumped)}",)
        return Assessment(WARN, now, level, message, evidence=evidence if witnessed else ())
    lost = abs(values.level) < limits["back"] * values.size or not run.reward_pays
    return borderline(now) if lost else None


def _no_jump(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """Whether the critic's loss and the action values stay within ranges too narrow for a jump."""
    loss, values = (
        next((name for name in names if name in run.histories), "")
        for names in (CRITIC_LOSSES, ACTOR_LOSSES)
    )
    if not {loss, values} <= block.columns.keys():
        return False
    low, high = near_bounds(run, block, loss, LEVEL_VALUES + 1)
    if high > limits["loss"] * low:
        return False
    low, high = near_bounds(run, block, values, LEVEL_VALUES + 1)
    near, far = sorted((abs(low), abs(high)))
    return low * high > 0.0 and near >= (1.0 - limits["alone_lost"]) * far


def _logged(run: JudgedRun) -> tuple[str]:
    """The metric that holds the action values."""
    return (next(name for name in VALUES if name in run.histories),)


def _climbs(rewards: History, limits: RuleLimits) -> bool:
    """Whether each of the newest rewards is higher than the one before: by chance once in 1,000.

    That holds for moving means, too: the newest episodes are better than those that drop out.
    """
    newest = rewards.newest(int(limits["climbs"]) + 1)
    return len(newest) > limits["climbs"] and all(b > a for a, b in pairwise(newest))


def _come_back(values: History, limits: RuleLimits) -> bool:
    """Whether values shrink: what was once worth something for its entropy is forgotten slowly."""
    before = abs(median(values.previous(int(limits["rows"]))[:5]))
    return abs(values.level) < limits["shrink"] * before


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
            "shrink": 0.9,
            "climbs": 10,
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
    Rule(
        id="action-values-short",
        title="Action values see one step only",
        description="action values amount to the reward of one step, late in a run or at its end",
        concepts=("actor_loss",),
        related=("reward_mean", "ep_len"),
        assess=values_stay_short,
        stays_calm=_not_yet,
        judged_at=ACTOR_LOSSES,
        at_end=True,
        families=frozenset({OFF_POLICY}),
        limits={
            "rows": 20,
            "low": 0.75,
            "high": 1.2,
            "share": 0.7,
            "on_way": 64,
            "on_way_share": 0.8,
            "length": 5.0,
        },
        persistence=k_of_n(4, 5),
        ranks_causes=True,
        causes=(
            "discount (gamma) too small: only the next reward counts",
            "target network too slow or too fast for the critic",
        ),
        remedies=(
            "raise {gamma:below 0.9} to 0.99",
            "check the update of the target network: {tau}",
            "check the update of the target network",
        ),
        source="a value is the sum of discounted rewards (Sutton and Barto 2018, section 3.5)",
        grade="C",
    ),
    Rule(
        id=VALUES_LOST,
        title="Action values lost at one update",
        description="action values shrink at once while the critic's loss jumps",
        concepts=("actor_loss",),
        related=("critic_loss", "reward_mean"),
        assess=values_lost,
        stays_calm=_no_jump,
        judged_at=ACTOR_LOSSES,
        families=frozenset({OFF_POLICY}),
        limits={
            "lost": 0.3,
            "loss": 2.5,
            "spread": 2.0,
            "alone_lost": 0.6,
            "alone_spread": 3.0,
            "back": 0.7,
            "rows": 10,
        },
        persistence=AT_ONCE,
        ranks_causes=True,
        causes=("weights were reset, or a wrong checkpoint reloaded",),
        remedies=(
            "go back to the best checkpoint, and check what is loaded",
            "save and load the target networks and the optimisers, too",
        ),
        source="labelled runs: 14 of 19 whose weights were reloaded, none of 188 healthy ones",
        grade="C",
    ),
)
