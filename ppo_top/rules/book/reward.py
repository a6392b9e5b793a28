"""The reward: it collapses, never moves, falls, or is at its ceiling."""

from __future__ import annotations

from ppo_top.rules.engine.context import REWARD_CONCEPTS, RuleContext
from ppo_top.rules.engine.reward_course import RewardCourse
from ppo_top.rules.engine.rule import (
    AT_ONCE,
    RESOLVED,
    Assessment,
    Rule,
    RuleLimits,
    borderline,
    k_of_n,
)
from ppo_top.rules.engine.terms import (
    ALL_FAMILIES,
    CONTROL,
    CRIT,
    GRPO,
    INFO,
    LLM_FAMILIES,
    RLHF,
    UNCHECKED_BEYOND_PPO,
    WARN,
    WATCH,
)
from ppo_top.rules.engine.wording import num, pct


def reward_now(run: RuleContext) -> RewardCourse | None:
    """The reward, if this row holds a new value of it."""
    reward = run.reward
    return reward if reward is not None and reward.history.last_row == run.mark.row else None


def reward_crash(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """A large share of the gain is lost."""
    reward = reward_now(run)
    if reward is None or not reward.gained or reward.gain <= 0.1 * abs(reward.baseline):
        return None
    lost, noise = reward.lost_share, reward.noise
    if reward.best_row == run.mark.row:
        return RESOLVED
    if lost < limits["clear"] or run.few_episodes(limits["episodes"]):
        return None
    share = f"{pct(lost)} of what was learned" if lost <= 1.0 else "all that was learned, and more"
    message = f"reward fell from {num(reward.best)} to {num(reward.smooth)} ({share})"
    much = reward.gain > limits["much"] * abs(reward.baseline)
    if lost > limits["crit"] and reward.drawdown > 8 * noise and much:
        return Assessment(CRIT, reward.history.last, reward.best, message)
    if lost > limits["warn"] and reward.drawdown > 6 * noise:
        return Assessment(WARN, reward.history.last, reward.best, message)
    return borderline(reward.history.last)


def never_moves(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """The reward is still where it was at the start."""
    reward = reward_now(run)
    if reward is None or reward.at_max:
        return None
    if not (_long_enough(run, limits, reward.count) or _one_score(run, reward, limits)):
        return None
    if reward.gain >= max(4 * reward.noise, 0.05 * abs(reward.baseline)):
        return None
    trend = reward.history.trend(25)
    if (trend.tau > 0.3 and trend.z > 1.96) or _moved(run, reward):
        return borderline(reward.history.last)
    if _too_early(run, reward, limits):
        return None
    message = f"{_unmoved(run, reward)} in {reward.count} updates"
    if run.resumed:
        message += ", since it was resumed"
    level = _unmoved_level(run, reward, limits)
    return Assessment(level, reward.history.last, reward.baseline, message)


def _too_early(run: RuleContext, reward: RewardCourse, limits: RuleLimits) -> bool:
    """In a run of unknown length thirty updates may be the very beginning.

    Trainers log the mean of the last hundred episodes: before twice as many, its values overlap.
    """
    few = run.progress is None and run.few_episodes(limits["early_episodes"])
    return few and not _below_start(reward)


def _below_start(reward: RewardCourse) -> bool:
    """Whether the reward is below its start by more than noise."""
    return reward.baseline - reward.smooth > max(4 * reward.noise, 0.05 * abs(reward.baseline))


def _unmoved(run: RuleContext, reward: RewardCourse) -> str:
    """The assessment of a reward that stays where it was, or falls below."""
    began = num(reward.baseline)
    if _below_start(reward):
        return f"reward has not risen above {began}, where it began,"
    if not _constant(reward):
        return f"reward has not moved from {began}"
    if run.family in LLM_FAMILIES and reward.baseline != 0.0:
        return f"every completion gets the same reward, {began},"
    return f"reward is exactly {began}" if reward.baseline > 0.0 else "no success seen yet"


def _unmoved_level(run: RuleContext, reward: RewardCourse, limits: RuleLimits) -> int:
    """Severity: fine-tuning a policy that can already do its task has nothing to gain.

    The same reward above 0 in every episode may be the maximum. For noisy completion scores no
    labelled run confirms it.
    """
    if run.resumed:
        return INFO
    constant = _constant(reward)
    able = run.family not in LLM_FAMILIES and constant and reward.baseline > 0.0
    if able or (run.family in LLM_FAMILIES and not constant):
        return WATCH
    budget = run.progress
    return CRIT if budget is not None and budget >= limits["crit_budget"] else WARN


def _constant(reward: RewardCourse) -> bool:
    return reward.history.high <= reward.history.low


def _moved(run: RuleContext, reward: RewardCourse) -> bool:
    """Whether the median of ten points has moved, where noise is strong.

    Completion scores are noisy and rise slowly, and so do rewards of alternating tasks.
    """
    enough = 1.0 if run.family in LLM_FAMILIES else 1.5
    return reward.history.recent_median(10) - reward.history.baseline(10) > enough * reward.noise


def _one_score(run: RuleContext, reward: RewardCourse, limits: RuleLimits) -> bool:
    """Mean completion scores that agree to the last digit come from a single score.

    Not at 0: on a hard task nothing may be solved for many batches.
    """
    same = _constant(reward) and reward.history.last != 0.0
    return run.family in LLM_FAMILIES and same and reward.count >= limits["constant"]


def _long_enough(run: RuleContext, limits: RuleLimits, count: int) -> bool:
    """Thirty updates and a fifth of the run; half of that in the second half of a short run."""
    budget = run.progress
    if budget is None:
        return count >= limits["points"]
    if count >= limits["points"]:
        return budget >= limits["budget"]
    return count >= 0.5 * limits["points"] and budget >= limits["crit_budget"]


def wrong_way(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """The reward falls below where the run started."""
    reward = reward_now(run)
    if reward is None or reward.gained:
        return None
    began = max(reward.baseline, reward.history.baseline(3))
    below = began - reward.history.recent_median(5)
    if below <= max(0.1 * abs(reward.baseline), 2 * reward.noise):
        return None
    trend = reward.history.trend(20)
    steep = trend.tau < -0.5 and trend.full and trend.z < -3.9
    steep = steep and below > max(limits["share"] * abs(began), 4 * reward.noise)
    far = began > 0.0 and below > max(limits["far"] * began, 8 * reward.noise)
    if not (steep or far):
        return borderline(reward.history.last)
    message = f"reward is below where it started: {num(began)} -> {num(reward.smooth)}"
    return Assessment(WARN, reward.history.last, began, message)


def at_ceiling(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """The reward has risen and levelled off at its maximum."""
    reward = reward_now(run)
    if reward is None or not reward.at_max:
        return None
    message = f"reward is at its ceiling ({num(reward.smooth)}): training has succeeded"
    return Assessment(INFO, reward.history.last, reward.ceiling, message)


def no_reward(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """A trainer logs losses but no reward."""
    if run.updates <= limits["rows"] or run.reward is not None:
        return None
    message = "no episode reward in the log: nothing notes it, or no episode has ended yet"
    return Assessment(INFO, float(run.updates), None, message)


REWARD_CRASH_REMEDIES = (
    "go back to the best checkpoint",
    "lower {learning_rate:, or let it decay}",
    "{kl_limit}",
    "fewer passes over the same data: {n_epochs:above 1}",
    "check whether the environment or the reward changed",
)


RULES = (
    Rule(
        id="reward-crash",
        title="Reward collapsed",
        description="a large share of the reward gained so far is lost",
        concepts=("reward_mean",),
        assess=reward_crash,
        judged_at=REWARD_CONCEPTS,
        families=ALL_FAMILIES,
        limits={
            "clear": 0.15,
            "warn": 0.3,
            "crit": 0.5,
            "much": 0.25,
            "episodes": 20,
            "warmup": 12,
        },
        persistence={WARN: (2, 3), CRIT: (4, 5)},
        causes=("policy collapse (learning rate too high)", "the environment or reward changed"),
        remedies=REWARD_CRASH_REMEDIES,
        source="'sudden crash to 0': critical (SB3 practice); dips such as 319 -> 239 are normal",
        grade="C",
        grade_by_family=UNCHECKED_BEYOND_PPO,
    ),
    Rule(
        id="reward-never-moves",
        title="Reward flat since start",
        description="the reward is still where it was at the start",
        concepts=("reward_mean",),
        related=("entropy",),
        assess=never_moves,
        judged_at=REWARD_CONCEPTS,
        limits={
            "points": 30,
            "budget": 0.2,
            "crit_budget": 0.5,
            "constant": 10,
            "early_episodes": 200,
        },
        limit_overrides={RLHF: {"points": 60}, GRPO: {"points": 60}},
        persistence=k_of_n(5, 5),
        causes=(
            "the policy is not learning (learning rate, reward scale or exploration)",
            "reward never reached, or independent of the actions",
        ),
        remedies=(
            "check that rewards differ at all between good and bad episodes or completions",
            "{in_control}check how observations and rewards are wired",
            "{in_control}see whether a random policy ever scores; if not: shaping, longer episodes",
            "{in_text}see whether any completion scores; if none: easier prompts, partial credit",
            "more samples an update: {rollouts}",
            "raise {learning_rate:, by 3 times}",
        ),
        source="'never moves': critical (SB3 practice)",
        grade="C",
    ),
    Rule(
        id="reward-wrong-way",
        title="Reward below start",
        description="the reward falls below its initial level and keeps falling",
        concepts=("reward_mean",),
        assess=wrong_way,
        judged_at=REWARD_CONCEPTS,
        limits={"share": 0.15, "far": 0.35, "warmup": 10},
        persistence=k_of_n(5, 5),
        causes=("wrong sign of reward or advantage", "learning rate too high"),
        remedies=("check the sign of the reward", "lower {learning_rate}"),
        source="a curve that falls means a problem in training (SB3 practice)",
        grade="C",
        grade_by_family=UNCHECKED_BEYOND_PPO,
    ),
    Rule(
        id="at-ceiling",
        title="Reward at its ceiling",
        description="the reward rose and then levelled off at its maximum",
        concepts=("reward_mean",),
        assess=at_ceiling,
        judged_at=REWARD_CONCEPTS,
        families=ALL_FAMILIES,
        limits={"clear_after": 3},
        persistence=AT_ONCE,
        causes=("the task is solved",),
        remedies=("stop here, or make the task harder",),
        source="'rises and then stabilizes': successful training (SB3 practice)",
        grade="C",
    ),
    Rule(
        id="no-reward",
        title="No reward logged",
        description="losses are logged, but no reward",
        concepts=("reward_mean",),
        assess=no_reward,
        judged_at=(),
        families=CONTROL,
        limits={"rows": 5},
        persistence=k_of_n(3, 3),
        causes=("no wrapper records episode returns", "no episode has finished yet"),
        remedies=("{monitor}", "wait for an episode's end"),
        source="SB3's logger documentation: ep_rew_mean needs a Monitor wrapper",
        grade="A",
    ),
)
