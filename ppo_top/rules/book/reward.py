"""The reward: it falls back, never rises, is below its start, or is not logged."""

from __future__ import annotations

from ppo_top.rules.advice.critic_symptoms import bonus_outweighs
from ppo_top.rules.advice.symptoms import rate_low
from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.context import CRITIC_LOSSES, REWARD_CONCEPTS, RuleContext
from ppo_top.rules.engine.reward_course import (
    FALLEN,
    GAIN_NOISE,
    MIN_POINTS,
    UNLEARNED,
    RewardCourse,
)
from ppo_top.rules.engine.reward_means import mean_falls
from ppo_top.rules.engine.rule import (
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
    OFF_POLICY,
    POLICY_GRADIENT,
    RLHF,
    VALUE_BASED,
    WARN,
    WATCH,
)
from ppo_top.rules.engine.wording import num, pct

NEVER_LEARNED = "reward-never-moves"


def reward_now(run: RuleContext) -> RewardCourse | None:
    """The reward, if this row holds a new value of it; at the end of a run as it was last."""
    reward = run.reward
    if reward is None or run.ended:
        return reward
    return reward if reward.history.last_row == run.mark.row else None


def fell_back(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """A large share of the gain is lost, more than any drawdown that was made good."""
    reward = reward_now(run)
    if reward is None or not reward.gained:
        return None
    if reward.lost_share < limits["clear"]:
        return RESOLVED
    value, lost, in_noise = reward.history.last, reward.lost_share, reward.depth / reward.sd
    if _best_was_random(run, reward):
        return borderline(value)
    message = _fell(reward.best, reward.smooth, lost)
    if reward.low_points and lost > limits["warn"]:
        deep = lost > limits["crit"] and in_noise > limits["crit_noise"]
        if deep and (reward.lasting or reward.is_unprecedented(limits["crit_drawdowns"])):
            return Assessment(CRIT, value, reward.best, message)
        if reward.is_unprecedented(limits["drawdowns"]):
            return Assessment(WARN, value, reward.best, message)
    if reward.lasting:
        return Assessment(WARN, value, reward.best, message)
    return _fell_in_means(run, reward, limits) or borderline(value)


def _fell(best: float, now: float, lost: float) -> str:
    share = f"{pct(lost)} of what was learned" if lost <= 1.0 else "all that was learned, and more"
    return f"reward fell from {num(best)} to {num(now)} ({share})"


def _fell_in_means(run: RuleContext, reward: RewardCourse, limits: RuleLimits) -> Assessment | None:
    """Means over several points show a fall that medians of three leave to noise."""
    blocks = (float(len(reward.means.blocks)), reward.means.size)
    memo = run.memos.get("reward-crash", ())
    if memo[:2] != blocks:
        found = (
            fall
            for fall in mean_falls(reward)
            if fall.lost_share > limits["mean_share"]
            and fall.gain_noise > limits["mean_gain"]
            and fall.fall_noise > limits["mean_noise"]
            and fall.best - fall.now > limits["drawdowns"] * fall.made_good
        )
        worst = max(found, key=lambda fall: fall.fall_noise, default=None)
        told = (worst.best, worst.now, worst.lost_share) if worst is not None else ()
        memo = run.memos["reward-crash"] = (*blocks, *told)
    if len(memo) == len(blocks):
        return None
    return Assessment(WARN, reward.history.last, memo[2], _fell(*memo[2:]))


def _best_was_random(run: RuleContext, reward: RewardCourse) -> bool:
    """Whether the best was reached by the random actions before training from a buffer began."""
    loss = run.first_logged(CRITIC_LOSSES)
    if run.family not in (VALUE_BASED, OFF_POLICY) or loss is None:
        return False
    began = loss.last_row - loss.count + 1
    return reward.best_row < began + reward.source.rows_per_window


def never_learned(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """The reward has not risen above its start, though a run of its budget should have."""
    reward = reward_now(run)
    if reward is None or reward.at_max:
        return None
    if reward.gained:
        return RESOLVED
    rises = reward.rising or (run.ended and reward.rise > limits["end_rise"])
    proven = bool(rate_low(run) or bonus_outweighs(run))
    level = _unlearned_level(run, reward, limits) if proven or not rises else 0
    if proven and run.ended and reward.episodes >= limits["constant"]:
        level = max(level, WARN)
    if not level:
        return borderline(reward.history.last)
    message = f"{_unlearned(run, reward)} in {reward.count} updates"
    if _rose_before(run):
        level = min(level, WATCH)
    if run.resumed:
        level, message = INFO, f"{message}, since it was resumed"
    value = reward.history.last
    return Assessment(level, value, reward.baseline, message, immediate=run.ended)


def _rose_before(run: RuleContext) -> bool:
    """Whether the rule was once taken back in this segment: the reward rose by more than noise."""
    first_row = run.mark.row - run.updates + 1
    return run.closed_rows.get(NEVER_LEARNED, -1) > first_row


def _unlearned_level(run: RuleContext, reward: RewardCourse, limits: RuleLimits) -> int:
    """Severity by evidence and budget; 0 while it is too early to tell."""
    budget = run.progress
    if reward.constant:
        return _constant_level(run, reward, limits)
    if reward.points < MIN_POINTS:
        return 0
    looks, episodes = ("end_looks", "end_episodes") if run.ended else ("points", "episodes")
    enough = reward.looks >= limits[looks] and _episodes(run, reward) >= limits[episodes]
    if run.family in LLM_FAMILIES:
        enough = reward.points >= limits["points"]
    if budget is None:
        if not enough or reward.points < limits["long_points"]:
            return 0
        endless = reward.points >= limits["endless_points"] and reward.looks >= limits["looks"]
        return WARN if endless else WATCH
    if budget < limits["budget"]:
        return 0
    if not enough:
        return INFO if budget >= limits["end"] else 0
    near_end = budget >= limits["end"] and not reward.rise > limits["end_rise"]
    return WARN if near_end else WATCH


def _episodes(run: RuleContext, reward: RewardCourse) -> float:
    """Episodes behind the rewards; some scripts print how many ended in each rollout."""
    each = run.histories.get("n_episodes")
    if each is None:
        return reward.episodes
    so_far = each.last == each.high > 2.0 * each.first[0]  # some count on from the start
    return max(reward.episodes, each.last if so_far else each.recent_median(20) * each.count)


def _constant_level(run: RuleContext, reward: RewardCourse, limits: RuleLimits) -> int:
    """Severity of a reward that is the same in every episode.

    Above 0 it may be the most there is. A sparse reward that nobody has found yet is the same, too,
    so a run of known length is given a share of it.
    """
    long, budget = reward.count >= limits["constant_rows"], run.progress
    if run.family in LLM_FAMILIES:
        needed = "constant_rows" if reward.baseline != 0.0 else "long_points"
        return WARN if reward.count >= limits[needed] else 0
    episodes = _episodes(run, reward)
    if episodes < limits["constant"] or reward.count < MIN_POINTS:
        return 0
    enough = episodes >= limits["constant_episodes"]
    learned = reward.baseline > 0.0 and (run.resumed or _same_lengths(run))
    sure = long and (enough or run.ended) and not learned
    if not sure or (budget is not None and budget < limits["constant_budget"]):
        return WATCH
    return CRIT if enough and budget is not None and budget >= limits["budget"] else WARN


def _same_lengths(run: RuleContext) -> bool:
    """Whether all episodes take as long: a policy that was learned before may do its best.

    Not with a replay buffer, which begins with random actions.
    """
    lengths = run.histories.get("ep_len")
    steady = lengths is not None and lengths.high <= lengths.low
    return steady and run.family in POLICY_GRADIENT


def _unlearned(run: RuleContext, reward: RewardCourse) -> str:
    """What is said of a reward that stays where it was, or falls below."""
    began = num(reward.baseline)
    if not reward.constant:
        below = reward.points >= MIN_POINTS and reward.below > GAIN_NOISE * reward.sd
        if below:
            return f"reward has not risen above {began}, where it began,"
        if max(reward.recent) - min(reward.recent) > 0.5 * reward.scale:
            return f"reward has gained nothing on {began}"
        return f"reward has not moved from {began}"
    if run.family in LLM_FAMILIES and reward.baseline != 0.0:
        return f"every completion gets the same reward, {began},"
    return f"reward is exactly {began}" if reward.baseline > 0.0 else "no success seen yet"


def below_start(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """The reward stays below the level it held at the start, though it never rose above it.

    What is learned first from a replay buffer is often worse than the random actions before it.
    """
    reward = reward_now(run)
    if reward is None or reward.gained or reward.points < MIN_POINTS:
        return None
    below, began = reward.below, reward.baseline
    sank = reward.change < -limits["fall"]  # a start that was over at once is not held
    if below <= limits["clear"] * reward.sd and not sank:
        return None
    enough = max(limits["noise"] * reward.sd, limits["drawdowns"] * reward.made_good)
    if below <= enough and not (sank and reward.looks >= limits["looks"]):
        return borderline(reward.history.last)
    on_policy = run.family in POLICY_GRADIENT
    begun = reward.points < limits["starts"] * reward.start_points or not on_policy
    share = limits["early" if on_policy else "early_replay"]
    early = begun if run.progress is None else run.progress < share
    message = f"reward is below where it started: {num(began)} -> {num(reward.smooth)}"
    level = WATCH if early else WARN
    return Assessment(level, reward.history.last, began, message, immediate=run.ended)


def no_reward(run: RuleContext, limits: RuleLimits) -> Assessment | None:
    """A trainer logs losses but no reward."""
    if run.updates <= limits["rows"] or run.reward is not None:
        return None
    message = "no episode reward in the log: nothing notes it, or no episode has ended yet"
    return Assessment(INFO, float(run.updates), None, message)


def _has_reward(run: RuleContext, block: RowBlock, limits: RuleLimits) -> bool:
    return run.reward is not None


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
        assess=fell_back,
        reward_states=FALLEN,
        judged_at=REWARD_CONCEPTS,
        families=ALL_FAMILIES,
        limits={
            "clear": 0.15,
            "warn": 0.5,
            "drawdowns": 1.3,
            "crit": 0.6,
            "crit_noise": 6.0,
            "crit_drawdowns": 1.6,
            "mean_share": 0.7,
            "mean_gain": 3.0,
            "mean_noise": 4.5,
        },
        persistence={INFO: (1, 1), WATCH: (1, 1), WARN: (1, 1), CRIT: (4, 5)},
        ranks_causes=True,
        causes=("policy collapse (learning rate too high)", "the environment or reward changed"),
        remedies=REWARD_CRASH_REMEDIES,
        source="'sudden crash to 0': critical (SB3 practice); dips such as 319 -> 239 are normal",
        grade="C",
    ),
    Rule(
        id=NEVER_LEARNED,
        title="Reward flat since start",
        description="the reward is still where it was at the start",
        concepts=("reward_mean",),
        related=("entropy",),
        assess=never_learned,
        reward_states=UNLEARNED,
        judged_at=REWARD_CONCEPTS,
        families=ALL_FAMILIES,
        limits={
            "points": 8,
            "episodes": 120,
            "end_looks": 3,
            "end_rise": 2.0,
            "end_episodes": 60,
            "long_points": 30,
            "endless_points": 500,
            "looks": 25,
            "budget": 0.5,
            "end": 0.9,
            "constant": 20,
            "constant_episodes": 200,
            "constant_rows": 10,
            "constant_budget": 0.1,
        },
        limit_overrides={RLHF: {"long_points": 60}, GRPO: {"long_points": 60}},
        persistence=k_of_n(3, 3),
        at_end=True,
        ranks_causes=True,
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
        description="the reward stays below the level it held at the start",
        concepts=("reward_mean",),
        assess=below_start,
        reward_states=UNLEARNED,
        judged_at=REWARD_CONCEPTS,
        families=ALL_FAMILIES,
        limits={
            "noise": 6.0,
            "fall": 6.0,
            "looks": 6,
            "drawdowns": 1.3,
            "clear": 3.0,
            "early": 0.25,
            "early_replay": 0.6,
            "starts": 2.0,
        },
        persistence={INFO: (1, 1), WATCH: (1, 1), WARN: (5, 5), CRIT: (5, 5)},
        at_end=True,
        ranks_causes=True,
        causes=("wrong sign of reward or advantage", "learning rate too high"),
        remedies=("check the sign of the reward", "lower {learning_rate}"),
        source="a curve that falls means a problem in training (SB3 practice)",
        grade="C",
    ),
    Rule(
        id="no-reward",
        title="No reward logged",
        description="losses are logged, but no reward",
        concepts=("reward_mean",),
        assess=no_reward,
        stays_calm=_has_reward,
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
