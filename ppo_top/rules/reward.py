"""The reward itself: it crashes, never moves, goes down, or sits at its ceiling."""

from __future__ import annotations

from ppo_top.rules.learning import Learning
from ppo_top.rules.rule import AT_ONCE, Limits, Reading, Rule, between, persist
from ppo_top.rules.run import REWARDS, Run
from ppo_top.rules.say import num, pct
from ppo_top.rules.terms import CRIT, CTRL, EVERY, GRPO, INFO, LLM, RLHF, WARN, WATCH


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
    if lost < limits["clear"] or _few_episodes(run, limits["episodes"]):
        return None
    share = f"{pct(lost)} of what was learned" if lost <= 1.0 else "all that was learned, and more"
    message = f"reward fell from {num(reward.best)} to {num(reward.smooth)} ({share})"
    much = reward.gain > limits["much"] * abs(reward.base)
    if lost > limits["crit"] and reward.drawdown > 8 * noise and much:
        return Reading(CRIT, reward.history.last, reward.best, message)
    if lost > limits["warn"] and reward.drawdown > 6 * noise:
        return Reading(WARN, reward.history.last, reward.best, message)
    return between(reward.history.last)


def _few_episodes(run: Run, enough: float) -> bool:
    """The mean of a handful of episodes goes up and down by chance."""
    length = run.histories.get("ep_len")
    if run.family != CTRL or length is None or length.last <= 0.0:
        return False
    return run.mark.step < enough * length.last


def never_moves(run: Run, limits: Limits) -> Reading | None:
    """R2: reward is still where it was at the start."""
    reward = reward_now(run)
    if reward is None or reward.at_max:
        return None
    if not (_long_enough(run, limits, reward.count) or _one_score(run, reward, limits)):
        return None
    budget = run.budget
    if reward.gain >= max(4 * reward.noise, 0.05 * abs(reward.base)):
        return None
    trend = reward.history.trend(25)
    if (trend.tau > 0.3 and trend.z > 1.96) or _moved(run, reward):
        return between(reward.history.last)
    constant = reward.history.high <= reward.history.low
    seen = f"reward has not moved from {num(reward.base)}"
    if constant:
        seen = "no success seen yet"
        if run.family in LLM and reward.base != 0.0:
            seen = f"every completion gets the same reward, {num(reward.base)},"
    if reward.base - reward.smooth > max(4 * reward.noise, 0.05 * abs(reward.base)):
        seen = f"reward has not risen above {num(reward.base)}, where it began,"
    late = budget is not None and budget >= limits["crit_budget"]
    level = CRIT if late else WARN
    if run.family in LLM and not constant:
        level = WATCH  # no labelled run confirms it where scores are noisy
    message = f"{seen} in {reward.count} updates"
    return Reading(level, reward.history.last, reward.base, message)


def _moved(run: Run, reward: Learning) -> bool:
    """Scores of completions are noisy and climb slowly: there the middle of ten points counts."""
    history = reward.history
    return run.family in LLM and history.level(10) - history.base(10) > reward.noise


def _one_score(run: Run, reward: Learning, limits: Limits) -> bool:
    """Means of completions' scores that agree to the last digit come from one score only.

    Not so at 0: of a hard task nothing may be solved for many batches.
    """
    history = reward.history
    same = history.high <= history.low and history.last != 0.0
    return run.family in LLM and same and history.count >= limits["constant"]


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
    message = "no episode reward in the log: no Monitor wrapper, or no episode has ended yet"
    return Reading(INFO, float(run.updates), None, message)


ROLL_BACK = (
    "go back to the best checkpoint",
    "lower {learning_rate}, or let it decay",
    "set {target_kl:name} to 0.02",
    "fewer passes over the same data: {n_epochs}",
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
        limits={"points": 30, "budget": 0.2, "crit_budget": 0.5, "constant": 10},
        by={RLHF: {"points": 60}, GRPO: {"points": 60}},
        persist=persist(5, 5),
        causes=(
            "the policy does not learn: learning rate, reward scale or exploration",
            "reward is never reached, or not wired to what the policy does",
        ),
        tries=(
            "check that rewards differ at all between good and bad episodes or completions",
            "check how observations and rewards are wired",
            "see whether a random policy ever scores; if not: shaping, or longer episodes",
            "longer rollouts: {rollouts}",
            "raise {learning_rate} by 3",
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
        causes=("the environment has no Monitor wrapper", "no episode has ended yet"),
        tries=(
            "wrap the environment: Monitor(env), or make_vec_env of SB3",
            "wait for an episode's end",
        ),
        source="SB3's logger documentation",
        grade="A",
    ),
)
