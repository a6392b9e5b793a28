"""How a run comes out: at its ceiling, or stopped too early. Said only beside no other finding."""

from __future__ import annotations

from itertools import pairwise

from ppo_top.rules.book.reward.crash import reward_now
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.judged_run import AT_CEILING, JudgedRun
from ppo_top.rules.engine.logged_run import REWARD_CONCEPTS
from ppo_top.rules.engine.reward.ceiling import own_environment
from ppo_top.rules.engine.reward.course import AT_MAX, EVALUATED, RewardCourse
from ppo_top.rules.engine.reward.measures import LOW_SHARE, MIN_POINTS
from ppo_top.rules.engine.rule import (
    AT_ONCE,
    RESOLVED,
    Assessment,
    Rule,
    RuleLimits,
    borderline,
)
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import ALL_FAMILIES, INFO, WATCH
from ppo_top.rules.engine.wording import num, pct


def _beside_findings(run: JudgedRun) -> bool:
    """Whether anything is to be watched: success and its opposite are not said beside it."""
    return any(severity >= WATCH for severity in run.open_severities.values())


def at_ceiling(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The reward has levelled off at its maximum, or is one that counts as solved."""
    evaluated = run.value("eval_reward_mean", 0) is not None
    reward = run.reward if evaluated else reward_now(run)
    if reward is None:
        return None
    if not (reward.at_max or _evaluated_at_top(run, reward)):
        return _no_longer(run, reward)
    if _beside_findings(run):
        return RESOLVED
    reached, known = _reached(run, reward)
    unless = "" if known is not None else ", unless more than that is possible"
    message = f"{reached}: training has succeeded{unless}"
    return Assessment(INFO, reward.history.last, known, message)


def _no_longer(run: JudgedRun, reward: RewardCourse) -> Assessment | None:
    """What becomes of a success: it ends with a fall, and not where noise crosses its limit.

    What an evaluation has shown holds until another one shows less.
    """
    if AT_CEILING not in run.open_severities:
        return None
    if reward.lost_share > LOW_SHARE:
        return RESOLVED
    if reward.ceiling is None and own_environment(reward) is None:
        scores = run.histories.get("eval_reward_mean")
        if scores is None:
            return None
        if scores.last < reward.best - TOP_SHARE * reward.gain:
            return RESOLVED
    return borderline(reward.history.last)


def _reached(run: JudgedRun, reward: RewardCourse) -> tuple[str, float | None]:
    """What has been reached, in words; and the value, if it is known to be enough."""
    words = run.reward_words
    if reward.ceiling is not None:
        return f"{words} has reached its goal ({num(reward.ceiling)})", reward.ceiling
    environment, score = own_environment(reward), run.value("eval_reward_mean")
    if environment is not None:
        solved = f"and from {num(environment.solved)} on {environment.name} counts as solved"
        if reward.at_max or score is None:
            return f"{words} is {num(reward.smooth)}, {solved}", environment.solved
        return f"evaluation is {num(score)}, {solved}", environment.solved
    ceiling = f"{words} is at its ceiling ({num(max(reward.smooth, reward.best))})"
    is_share = 0.0 <= reward.history.low <= reward.history.high <= 1.0
    return ceiling, 1.0 if is_share else None


def _evaluated_at_top(run: JudgedRun, reward: RewardCourse) -> bool:
    """Whether every evaluation episode scored the same, no less than training ever did."""
    score, spread = run.value("eval_reward_mean"), run.value("eval_reward_std")
    if score is None or spread != 0.0 or run.in_self_play:
        return False
    if not reward.gained or reward.ceiling is not None:
        return False
    environment = own_environment(reward)
    if environment is not None and score < environment.solved:
        return False
    return reward.best <= score <= reward.smooth + TOP_SHARE * reward.gain


TOP_SHARE = 0.05
"""Training may stay this share of its gain below evaluation: it explores, evaluation does not."""


def ended_early(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The reward is still rising near the end of the run."""
    reward, budget = reward_now(run), run.progress
    if reward is None or budget is None or budget < limits["budget"]:
        return None
    if _beside_findings(run) or not {AT_CEILING, "reward-plateau"}.isdisjoint(run.open_severities):
        return RESOLVED
    rise = _only_rose(reward) or _rise_to_the_end(reward, limits)
    if rise is None:
        return None
    rises = f"{run.reward_words} still rises at the end ({num(rise[0])} -> {num(rise[1])})"
    stated = run.stated_progress
    if stated is not None and stated < limits["budget"]:
        message = f"{rises}, at {pct(stated)} of the planned steps: resume it"
    else:
        message = f"{rises}: train longer"
    return Assessment(INFO, reward.history.last, None, message)


def _far_from_end(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """Whether the block ends before the run's last updates."""
    steps = run.total_steps
    return steps is None or block.steps[-1] < limits["budget"] * steps


def _rise_to_the_end(reward: RewardCourse, limits: RuleLimits) -> tuple[float, float] | None:
    """From where to where the trend rose, if its last third rose too and no newer point is lower.

    One that has levelled off needs no more training.
    """
    values = reward.trend.values
    if not (reward.rising and reward.gained and reward.trend.full):
        return None
    third = reward.trend.size // 3
    early, middle, late = (median(values[at : at + third]) for at in range(0, len(values), third))
    began, now = median(values[:3]), median(values[-3:])
    if late - middle <= limits["slower"] * (middle - early) or min(late, now) <= middle:
        return None
    return (began, now) if now > began and max(values[-3:]) > min(values[-3:]) else None


def _only_rose(reward: RewardCourse) -> tuple[float, float] | None:
    """From where to where a run of very few updates rose, if it did at each."""
    few = reward.recent
    rose = 4 <= len(few) < MIN_POINTS and all(a < b for a, b in pairwise(few))
    return (few[0], few[-1]) if rose else None


RULES = (
    Rule(
        id=AT_CEILING,
        title="Reward at its ceiling",
        description="the reward rose and then levelled off at its maximum, or is what the"
        " environment counts as solved from",
        concepts=("reward_mean",),
        assess=at_ceiling,
        reward_states=AT_MAX | EVALUATED,
        judged_at=(*REWARD_CONCEPTS, "eval_reward_mean"),
        families=ALL_FAMILIES,
        limits={"clear_after": 3},
        persistence=AT_ONCE,
        causes=("the task is solved",),
        remedies=("stop here, or make the task harder",),
        source="'rises and then stabilizes': successful training (SB3 practice)",
        grade="C",
    ),
    Rule(
        id="still-improving",
        title="Stopped while still improving",
        description="the reward is still rising as the run comes to its end",
        concepts=("reward_mean",),
        assess=ended_early,
        stays_calm=_far_from_end,
        asks_about=(AT_CEILING, "reward-plateau"),
        limits={"budget": 0.95, "slower": 0.25},
        persistence=AT_ONCE,
        at_end=True,
        is_moment=True,
        causes=("too few training steps",),
        remedies=("resume it, or train longer: {training_length}",),
        source="too few timesteps end a run before it converges (SB3 practice)",
        grade="C",
    ),
)
