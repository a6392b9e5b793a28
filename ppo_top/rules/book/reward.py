"""The reward itself: it crashes, never moves, goes down, or sits at its ceiling."""

from __future__ import annotations

from ppo_top.rules.engine.context import REWARDS, Run
from ppo_top.rules.engine.reward_course import Learning
from ppo_top.rules.engine.rule import AT_ONCE, OVER, Limits, Reading, Rule, between, persist
from ppo_top.rules.engine.terms import CRIT, CTRL, EVERY, GRPO, INFO, LLM, RLHF, WARN, WATCH
from ppo_top.rules.engine.wording import num, pct


def reward_now(run: Run) -> Learning | None:
    """The reward, when this row holds a new value of it."""
    reward = run.reward
    return reward if reward is not None and reward.history.row == run.mark.row else None


def reward_crash(run: Run, limits: Limits) -> Reading | None:
    """R1: a large share of what was learned is lost."""
    reward = reward_now(run)
    if reward is None or not reward.gained or reward.gain <= 0.1 * abs(reward.base):
        return None
    lost, noise = reward.lost, reward.noise
    if reward.best_row == run.mark.row:
        return OVER
    if lost < limits["clear"] or run.few_episodes(limits["episodes"]):
        return None
    share = f"{pct(lost)} of what was learned" if lost <= 1.0 else "all that was learned, and more"
    message = f"reward fell from {num(reward.best)} to {num(reward.smooth)} ({share})"
    much = reward.gain > limits["much"] * abs(reward.base)
    if lost > limits["crit"] and reward.drawdown > 8 * noise and much:
        return Reading(CRIT, reward.history.last, reward.best, message)
    if lost > limits["warn"] and reward.drawdown > 6 * noise:
        return Reading(WARN, reward.history.last, reward.best, message)
    return between(reward.history.last)


def never_moves(run: Run, limits: Limits) -> Reading | None:
    """R2: reward is still where it was at the start."""
    reward = reward_now(run)
    if reward is None or reward.at_max:
        return None
    if not (_long_enough(run, limits, reward.count) or _one_score(run, reward, limits)):
        return None
    if reward.gain >= max(4 * reward.noise, 0.05 * abs(reward.base)):
        return None
    trend = reward.history.trend(25)
    if (trend.tau > 0.3 and trend.z > 1.96) or _moved(run, reward):
        return between(reward.history.last)
    if _too_early(run, reward, limits):
        return None
    message = f"{_unmoved(run, reward)} in {reward.count} updates"
    if run.resumed:
        message += ", since it was resumed"
    level = _unmoved_level(run, reward, limits)
    return Reading(level, reward.history.last, reward.base, message)


def _too_early(run: Run, reward: Learning, limits: Limits) -> bool:
    """Of a run whose length nobody knows thirty updates may be the very beginning.

    Trainers log the mean of the last hundred episodes: before there were twice as many of them
    hardly two of its values have nothing in common.
    """
    few = run.budget is None and run.few_episodes(limits["early_episodes"])
    return few and not _sunk(reward)


def _sunk(reward: Learning) -> bool:
    """Whether the reward is below its beginning by more than chance."""
    return reward.base - reward.smooth > max(4 * reward.noise, 0.05 * abs(reward.base))


def _unmoved(run: Run, reward: Learning) -> str:
    """What is seen of a reward that stays where it was, or goes below."""
    began = num(reward.base)
    if _sunk(reward):
        return f"reward has not risen above {began}, where it began,"
    if not _constant(reward):
        return f"reward has not moved from {began}"
    if run.family in LLM and reward.base != 0.0:
        return f"every completion gets the same reward, {began},"
    return f"reward is exactly {began}" if reward.base > 0.0 else "no success seen yet"


def _unmoved_level(run: Run, reward: Learning, limits: Limits) -> int:
    """How bad that is: who goes on with a policy that can do its task has nothing to gain.

    The same reward above 0 in every episode may be the most there is. Of noisy scores of
    completions no labelled run confirms it.
    """
    if run.resumed:
        return INFO
    constant = _constant(reward)
    able = run.family == CTRL and constant and reward.base > 0.0
    if able or (run.family in LLM and not constant):
        return WATCH
    budget = run.budget
    return CRIT if budget is not None and budget >= limits["crit_budget"] else WARN


def _constant(reward: Learning) -> bool:
    return reward.history.high <= reward.history.low


def _moved(run: Run, reward: Learning) -> bool:
    """Where the noise is strong the middle of ten points counts.

    Scores of completions are noisy and climb slowly, and so do rewards of many tasks in turn.
    """
    enough = 1.0 if run.family in LLM else 1.5
    return reward.history.level(10) - reward.history.base(10) > enough * reward.noise


def _one_score(run: Run, reward: Learning, limits: Limits) -> bool:
    """Means of completions' scores that agree to the last digit come from one score only.

    Not so at 0: of a hard task nothing may be solved for many batches.
    """
    same = _constant(reward) and reward.history.last != 0.0
    return run.family in LLM and same and reward.count >= limits["constant"]


def _long_enough(run: Run, limits: Limits, count: int) -> bool:
    """Thirty updates and a fifth of the run; half of that in the second half of a short run."""
    budget = run.budget
    if budget is None:
        return count >= limits["points"]
    if count >= limits["points"]:
        return budget >= limits["budget"]
    return count >= 0.5 * limits["points"] and budget >= limits["crit_budget"]


def wrong_way(run: Run, limits: Limits) -> Reading | None:
    """R6: reward falls below where the run started."""
    reward = reward_now(run)
    if reward is None or reward.gained:
        return None
    began = max(reward.base, reward.history.base(3))
    below = began - reward.history.level(5)
    if below <= max(0.1 * abs(reward.base), 2 * reward.noise):
        return None
    trend = reward.history.trend(20)
    steep = trend.tau < -0.5 and trend.full and trend.z < -3.9
    steep = steep and below > max(limits["share"] * abs(began), 4 * reward.noise)
    far = began > 0.0 and below > max(limits["far"] * began, 8 * reward.noise)
    if not (steep or far):
        return between(reward.history.last)
    message = f"reward is below where it started: {num(began)} -> {num(reward.smooth)}"
    return Reading(WARN, reward.history.last, began, message)


def at_ceiling(run: Run, limits: Limits) -> Reading | None:
    """R9: the reward has risen and then stabilised at its maximum."""
    reward = reward_now(run)
    if reward is None or not reward.at_max:
        return None
    message = f"reward is at its ceiling ({num(reward.smooth)}): training has succeeded"
    return Reading(INFO, reward.history.last, reward.ceiling, message)


def no_reward(run: Run, limits: Limits) -> Reading | None:
    """R12: a trainer that logs losses, but no reward."""
    if run.updates <= limits["rows"] or run.reward is not None:
        return None
    message = "no episode reward in the log: nothing notes it, or no episode has ended yet"
    return Reading(INFO, float(run.updates), None, message)


ROLL_BACK = (
    "go back to the best checkpoint",
    "lower {learning_rate:, or let it decay}",
    "{kl_limit}",
    "fewer passes over the same data: {n_epochs:above 1}",
    "check whether the environment or the reward changed",
)


RULES = (
    Rule(
        id="reward-crash",
        title="Reward crashed",
        codes=("R1",),
        sees="a large share of the reward that was gained is lost",
        concepts=("reward_mean",),
        read=reward_crash,
        on=REWARDS,
        families=EVERY,
        limits={
            "clear": 0.15,
            "warn": 0.3,
            "crit": 0.5,
            "much": 0.25,
            "episodes": 20,
            "warmup": 12,
        },
        persist={WARN: (2, 3), CRIT: (4, 5)},
        causes=("policy collapse, learning rate too high", "a changed environment or reward"),
        tries=ROLL_BACK,
        source="'sudden crash to 0': critical (SB3 practice); dips such as 319 -> 239 are normal",
        grade="C",
    ),
    Rule(
        id="reward-never-moves",
        title="Reward never moves",
        codes=("R2",),
        sees="the reward is still where it was at the start",
        concepts=("reward_mean",),
        beside=("entropy",),
        read=never_moves,
        on=REWARDS,
        limits={
            "points": 30,
            "budget": 0.2,
            "crit_budget": 0.5,
            "constant": 10,
            "early_episodes": 200,
        },
        by={RLHF: {"points": 60}, GRPO: {"points": 60}},
        persist=persist(5, 5),
        causes=(
            "the policy does not learn: learning rate, reward scale or exploration",
            "reward is never reached, or not wired to what the policy does",
        ),
        tries=(
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
        title="Reward goes down",
        codes=("R6",),
        sees="the reward falls below where it started, and goes on falling",
        concepts=("reward_mean",),
        read=wrong_way,
        on=REWARDS,
        limits={"share": 0.15, "far": 0.35, "warmup": 10},
        persist=persist(5, 5),
        causes=("the sign of the reward or of the advantage is wrong", "learning rate too high"),
        tries=("check the sign of the reward", "lower {learning_rate}"),
        source="a curve that falls means a problem in training (SB3 practice)",
        grade="C",
    ),
    Rule(
        id="at-ceiling",
        title="Reward is at its ceiling",
        codes=("R9",),
        sees="the reward rose and then stabilised at its maximum",
        concepts=("reward_mean",),
        read=at_ceiling,
        on=REWARDS,
        families=EVERY,
        limits={"clear_after": 3},
        persist=AT_ONCE,
        causes=("the task is solved",),
        tries=("stop here, or make the task harder",),
        source="'rises and then stabilizes': successful training (SB3 practice)",
        grade="C",
    ),
    Rule(
        id="no-reward",
        title="No reward in the log",
        codes=("R12", "S7"),
        sees="losses are logged, but no reward",
        concepts=("reward_mean",),
        read=no_reward,
        families=frozenset({"ctrl"}),
        limits={"rows": 5},
        persist=persist(3, 3),
        causes=("no wrapper notes the returns of episodes", "no episode has ended yet"),
        tries=("{monitor}", "wait for an episode's end"),
        source="SB3's logger documentation: ep_rew_mean needs a Monitor wrapper",
        grade="A",
    ),
)
