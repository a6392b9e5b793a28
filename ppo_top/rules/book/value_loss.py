"""The critic's loss: spikes, rises, value clipping."""

from __future__ import annotations

import math

from ppo_top.rules.book.critic import CRITIC_REMEDIES, critic_loss, loss_climbs
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.calm import at_most, near_bounds
from ppo_top.rules.engine.context import FULL_UPDATE_STEPS, RuleContext
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import CRIT, POLICY_GRADIENT, UNCHECKED_ON_LLM, WARN, WATCH
from ppo_top.rules.engine.wording import num, pct, ratio_text


def value_loss_spike(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """The value loss jumps; one point is a spike, staying there is a fault."""
    history = critic_loss(run)
    if history is None or history.last_row != run.mark.row:
        return None
    value, memo = history.last, run.memos.get("value-loss-spike")
    if memo is not None:
        return _after_spike(run, limits, history, memo)
    if not _is_spike(history, limits):
        return None
    usual = max(median(history.previous(10)), 1e-12)
    highest = max((*history.first, *history.recent[:-1]))
    gain = run.reward.gain if run.reward is not None else math.inf
    run.memos["value-loss-spike"] = (usual, float(history.count), highest, gain)
    limit, jump = limits["times"] * usual, f"value loss jumped to {num(value)}"
    if _third_of_a_kind(run, history.count, limits["again"]) and not run.tiny_updates:
        message = f"{jump}, the third such spike in {num(limits['again'])} updates"
        return Assessment(CRIT if run.falling else WARN, value, limit, message, immediate=True)
    message = f"{jump} ({ratio_text(value, usual)}), one spike so far"
    return Assessment(WATCH, value, limit, message, immediate=True)


def _is_spike(history: History, limits: RuleLimits) -> bool:
    value, before = history.last, history.previous(20)
    return (
        value > 3.0 * max(before)
        and value > 0.1 * history.high
        and value > limits["times"] * median(before[-10:])
    )


def _third_of_a_kind(run: RuleContext, count: int, within: float) -> bool:
    """Whether two others, each over again, came shortly before this spike."""
    spikes = (*run.memos.get("value-loss-spikes", ()), float(count))[-3:]
    run.memos["value-loss-spikes"] = spikes
    return len(spikes) == 3 and count - spikes[0] <= within


def _after_spike(
    run: RuleContext, limits: RuleLimits, history: History, memo: tuple[float, ...]
) -> Assessment | None:
    """Compared with the level before the spike, which must not drift up with it.

    While the reward rises, a loss no higher than before belongs to the task: a bonus at the goal,
    reached in some rollouts only, makes it go up and down all the time.
    """
    value, usual, began = history.last, memo[0], memo[1]
    age = history.count - began
    if age > 30 or (age > 5 and value < 5.0 * usual):
        del run.memos["value-loss-spike"]
        return None
    if value <= limits["times"] * usual or value <= 0.03 * history.high:
        return borderline(value) if value > 5.0 * usual else None
    message = f"value loss jumped {ratio_text(value, usual)} and stays up ({num(value)})"
    explained = (run.rising and history.high <= 5.0 * memo[2]) or _first_success(run, memo[3])
    if run.tiny_updates or explained or not _stays(run, history, age, limits["times"] * usual):
        return Assessment(WATCH, value, limits["times"] * usual, message)
    return Assessment(CRIT if run.falling else WARN, value, limits["times"] * usual, message)


def _first_success(run: RuleContext, gain: float) -> bool:
    """Whether the loss jumped with the first reward: until then there was nothing to fit."""
    return gain <= 0.0 and run.reward is not None and run.reward.gain > 0.0 and not run.falling


def _stays(run: RuleContext, history: History, age: float, limit: float) -> bool:
    """Three of five points at that height; proportionally more for small rollouts.

    Whether an episode ends among 256 samples decides how large the loss is: healthy CartPole goes
    from 0.005 to 20 and back for several updates.
    """
    most = min(4.0, FULL_UPDATE_STEPS / run.steps_per_update) if run.small_updates else 1.0
    window = history.recent[-int(min(age + 1, 5 * most)) :]
    needed = 3.0 if most == 1.0 else 4.0 * most
    return sum(x > limit for x in window) >= needed


def value_loss_rises(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """The critic's loss climbs, or never falls, while the critic explains nothing."""
    history = critic_loss(run)
    explained = run.value("explained_variance", 1)
    if history is None or history.last_row != run.mark.row or explained is None or explained >= 0.2:
        return None
    trend = history.trend(20)
    if loss_climbs(run, history):
        early, late = median(trend.values[:3]), median(trend.values[-3:])
        if early > 0.0 and late > limits["times"] * early and late > 0.03 * history.high:
            message = (
                f"value loss rises ({ratio_text(late, early)} in {len(trend.values)} updates): "
                "the critic cannot keep up"
            )
            level = WATCH if run.tiny_updates else WARN
            return Assessment(level, history.last, early, message)
    base = history.baseline(5)
    never = history.count >= limits["flat_points"] and history.recent_median(5) >= 0.9 * base
    if never and run.flat and not run.tiny_updates and not run.resumed:
        message = f"value loss has not fallen in {history.count} updates ({num(history.last)})"
        return Assessment(WATCH, history.last, base, message)
    return None


def value_clip_high(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """Value targets move faster than the value clip lets the critic follow."""
    value = run.values["value_clip_fraction"]
    if value <= limits["watch"]:
        return None
    message = f"{pct(value)} of the critic's updates are clipped: targets outrun the value clip"
    return Assessment(WATCH if value <= limits["warn"] else WARN, value, limits["watch"], message)


def _no_loss_spike(run: RuleContext, block: RowBlock, limits: RuleLimits) -> bool:
    """No value loss of the block is so far above one shortly before it."""
    clipped = "value_error" in run.histories or "value_error" in block.columns
    if clipped or "value_loss" not in block.columns:
        return False
    low, high = near_bounds(run, block, "value_loss", 20)
    return "value-loss-spike" not in run.memos and low > 0.0 and high <= limits["times"] * low


def _critic_explains(run: RuleContext, block: RowBlock, limits: RuleLimits) -> bool:
    """Every explained variance of the block is clearly positive, or none was ever logged."""
    if "explained_variance" in block.columns:
        return block.low("explained_variance") >= 0.2
    return "explained_variance" not in run.histories


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
        concepts=("value_loss",),
        related=("explained_variance",),
        assess=value_loss_spike,
        stays_calm=_no_loss_spike,
        families=POLICY_GRADIENT,
        judged_at=("value_loss", "value_error"),
        limits={"times": 10.0, "again": 20, "warmup": 10},
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
    Rule(
        id="value-loss-rising",
        title="Value loss not falling",
        description="the value loss climbs, or never falls, while the critic explains nothing",
        concepts=("value_loss",),
        related=("explained_variance",),
        assess=value_loss_rises,
        stays_calm=_critic_explains,
        families=POLICY_GRADIENT,
        judged_at=("value_loss", "value_error"),
        limits={"times": 3.0, "flat_points": 40, "warmup": 7},
        persistence=k_of_n(2, 2),
        ranks_causes=True,
        causes=("the critic cannot keep up with the policy", "returns grow without bound"),
        remedies=CRITIC_REMEDIES,
        source="value loss that 'never decreases' or 'increases instead' warns (SB3 practice)",
        grade="C",
        grade_by_family=UNCHECKED_ON_LLM,
    ),
    Rule(
        id="value-clip-high",
        title="Value clip fraction too high",
        description="a large share of value predictions is clipped",
        concepts=("value_clip_fraction",),
        related=("value_loss",),
        assess=value_clip_high,
        stays_calm=at_most("value_clip_fraction", "watch"),
        families=POLICY_GRADIENT,
        limits={"watch": 0.2, "warn": 0.5, "warmup": 10},
        causes=("value targets move faster than the value clip allows",),
        remedies=(
            "a wider value clip: {clip_range_vf}",
            "see that {whiten_rewards:off} is on",
            "lower {learning_rate}",
        ),
        source="TRL practice: value clip fraction is low in healthy runs",
    ),
)
