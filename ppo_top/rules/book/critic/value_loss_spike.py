"""Spikes of the critic's loss: one is an event, staying there a fault."""

from __future__ import annotations

import math

from ppo_top.rules.book.critic.explained_variance import critic_loss
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.calm import near_bounds, shared_before
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.logged_run import FULL_UPDATE_STEPS
from ppo_top.rules.engine.reward.measures import RECOVERED_SHARE
from ppo_top.rules.engine.rule import RESOLVED, Assessment, Rule, RuleLimits, borderline
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import CRIT, LLM_FAMILIES, POLICY_GRADIENT, WARN, WATCH
from ppo_top.rules.engine.wording import num, ratio_text


def value_loss_spike(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The value loss jumps; one point is a spike, staying there is a fault."""
    history = run.in_row(critic_loss(run))
    if history is None:
        return None
    value, memo = history.last, run.memos.get("value-loss-spike")
    if memo is not None:
        return _after_spike(run, limits, history, memo)
    if not _is_spike(history, limits):
        return RESOLVED if _is_back(run, history, limits) else None
    usual = max(median(history.previous(int(limits["usual_points"]))), 1e-12)  # of a loss of 0, too
    highest = max((*history.first, *history.recent[:-1]))
    gain = run.reward.gain if run.reward is not None else math.inf
    run.memos["value-loss-spike"] = (usual, float(history.count), highest, gain)
    if "value-loss-spike" not in run.open_severities:
        run.memos["value-loss-before"] = (usual,)
    limit, jump = limits["times"] * usual, f"value loss jumped to {num(value)}"
    if _third_of_a_kind(run, history.count, limits["again"]) and not run.tiny_updates:
        message = f"{jump}, the third such spike in {num(limits['again'])} updates"
        return Assessment(CRIT if run.falling else WARN, value, limit, message, immediate=True)
    message = f"{jump} ({ratio_text(value, usual)}), one spike so far"
    return Assessment(WATCH, value, limit, message, immediate=True)


def _is_back(run: JudgedRun, history: History, limits: RuleLimits) -> bool:
    """Whether most losses have long been no higher than before the finding, but for spikes."""
    before = run.memos.get("value-loss-before")
    if before is None or "value-loss-spike" not in run.open_severities:
        return False
    return history.is_back_below(limits["calm_times"] * before[0])


def _is_spike(history: History, limits: RuleLimits) -> bool:
    value, before = history.last, history.previous(int(limits["points"]))
    return (
        value > limits["peaks"] * max(before)
        and value > limits["of_highest"] * history.high
        and value > limits["times"] * median(before[-int(limits["usual_points"]) :])
    )


def _third_of_a_kind(run: JudgedRun, count: int, within: float) -> bool:
    """Whether two others, each over again, came shortly before this spike."""
    spikes = (*run.memos.get("value-loss-spikes", ()), float(count))[-3:]
    run.memos["value-loss-spikes"] = spikes
    return len(spikes) == 3 and count - spikes[0] <= within


def _after_spike(
    run: JudgedRun, limits: RuleLimits, history: History, memo: tuple[float, ...]
) -> Assessment | None:
    """Compared with the level before the spike, which must not drift up with it.

    While the reward rises, a loss no higher than before belongs to the task: a bonus at the goal,
    reached in some rollouts only, makes it go up and down all the time.
    """
    value, usual, began = history.last, memo[0], memo[1]
    age = history.count - began
    belongs = age > limits["settled"] and _belongs_to_task(run, memo[3], limits)
    if belongs or (age > limits["calm_after"] and value < limits["calm_times"] * usual):
        del run.memos["value-loss-spike"]
        return None
    if value <= limits["times"] * usual or value <= limits["small"] * history.high:
        return borderline(value) if value > limits["calm_times"] * usual else None
    message = f"value loss jumped {ratio_text(value, usual)} and stays up ({num(value)})"
    explained = (
        _gains(run, age) and history.high <= limits["usual_peak"] * memo[2]
    ) or _first_success(run, memo[3])
    if run.tiny_updates or explained or not _stays(run, history, age, limits["times"] * usual):
        return Assessment(WATCH, value, limits["times"] * usual, message)
    return Assessment(CRIT if run.falling else WARN, value, limits["times"] * usual, message)


def _belongs_to_task(run: JudgedRun, gain: float, limits: RuleLimits) -> bool:
    """Whether the reward of a control task has grown since the jump, and the loss with it.

    A language model is scored on a fixed scale.
    """
    reward = run.reward
    if reward is None or run.family in LLM_FAMILIES or run.falling:
        return reward is None
    return reward.at_max or reward.gain > max(limits["gained"] * gain, 0.0)


def _gains(run: JudgedRun, age: float) -> bool:
    """Whether the reward rises, or has set a new best since the jump and keeps it."""
    reward = run.reward
    if reward is None or run.rising:
        return run.rising
    is_new = reward.is_up and reward.best_row >= run.mark.row - age
    return is_new and reward.drawdown <= RECOVERED_SHARE * reward.gain


def _first_success(run: JudgedRun, gain: float) -> bool:
    """Whether the loss jumped with the first reward: until then there was nothing to fit."""
    return gain <= 0.0 and run.reward is not None and run.reward.gain > 0.0 and not run.falling


def _stays(run: JudgedRun, history: History, age: float, limit: float) -> bool:
    """Three of five points at that height; proportionally more for small rollouts.

    Whether an episode ends among 256 samples decides how large the loss is: healthy CartPole goes
    from 0.005 to 20 and back for several updates.
    """
    most = min(4.0, FULL_UPDATE_STEPS / run.steps_per_update) if run.small_updates else 1.0
    window = history.recent[-int(min(age + 1, 5 * most)) :]
    needed = 3.0 if most == 1.0 else 4.0 * most
    return sum(x > limit for x in window) >= needed


def _no_loss_spike(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """No value loss of the block is so far above all, or any, shortly before it."""
    clipped = "value_error" in run.histories or "value_error" in block.columns
    if clipped or "value_loss" not in block.columns or "value-loss-spike" in run.memos:
        return False
    before = shared_before(run, block, "value_loss", int(limits["points"]))
    if before and block.high("value_loss") <= limits["peaks"] * max(before):
        return True
    low, high = near_bounds(run, block, "value_loss", int(limits["points"]))
    return low > 0.0 and high <= limits["times"] * low


VALUE_LOSS_REMEDIES = (
    "look for outliers in the reward, or a change in the environment",
    "clip or normalise rewards",
    "clip gradients: {max_grad_norm:above 0.1}",
    "clip value updates: {clip_range_vf:off}",
)


RULES = (
    Rule(
        id="value-loss-spike",
        title="Value loss spike",
        description="the value loss jumps far above its usual level and stays there",
        is_event=True,
        concepts=("value_loss",),
        related=("explained_variance",),
        assess=value_loss_spike,
        stays_calm=_no_loss_spike,
        eased_to=WATCH,
        families=POLICY_GRADIENT,
        judged_at=("value_loss", "value_error"),
        limits={
            "points": 20,
            "peaks": 3.0,
            "of_highest": 0.1,
            "usual_points": 10,
            "calm_after": 5,
            "calm_times": 5.0,
            "small": 0.03,
            "usual_peak": 5.0,
            "gained": 1.5,
            "times": 10.0,
            "again": 20,
            "settled": 30,
            "warmup": 10,
        },
        persistence={WATCH: (1, 1), WARN: (1, 1), CRIT: (2, 3)},
        ranks_causes=True,
        causes=(
            "a reward outlier, or a changed reward or environment",
            "the policy changed faster than the critic could follow",
        ),
        remedies=VALUE_LOSS_REMEDIES,
        source="TRL's guide: value loss 'will spike / NaN when not going well'",
        grade="C",
    ),
)
