"""The reward: it falls back, or is not logged."""

from __future__ import annotations

from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.logged_run import CRITIC_LOSSES, REWARD_CONCEPTS
from ppo_top.rules.engine.reward.course import FALLEN, RewardCourse
from ppo_top.rules.engine.reward.means import fall_at_end, mean_falls
from ppo_top.rules.engine.reward.measures import LOW_SHARE
from ppo_top.rules.engine.rule import RESOLVED, Assessment, Rule, RuleLimits, borderline, k_of_n
from ppo_top.rules.engine.terms import (
    ALL_FAMILIES,
    CONTROL,
    CRIT,
    INFO,
    OFF_POLICY,
    POLICY_GRADIENT,
    VALUE_BASED,
    WARN,
    WATCH,
)
from ppo_top.rules.engine.wording import num, pct

RATING = "elo"
"""The metric that counts in points of a rating: a few of them are won and lost by chance."""


def reward_now(run: JudgedRun) -> RewardCourse | None:
    """The reward, if this row holds a new value of it; at the end of a run as it was last."""
    reward = run.reward
    if reward is None or run.ended:
        return reward
    return reward if reward.history.last_row == run.mark.row else None


def fell_back(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """A large share of the gain is lost, more than any drawdown that was made good."""
    reward = reward_now(run)
    if run.ended and reward is not None:
        return _not_kept(run, reward, limits)
    if reward is None or not reward.gained:
        return None
    if run.reward_concept == RATING and reward.gain < limits["rating"]:
        return None
    if reward.lost_share < limits["clear"]:
        run.memos["reward-crash"] = _blocks(reward)  # what its means show is over
        return RESOLVED
    value, lost, in_noise = reward.history.last, reward.lost_share, reward.depth / reward.sd
    if best_was_random(run, reward) or _was_luck(reward, limits):
        return borderline(value)
    message = _fell(run, reward.best, reward.smooth, lost)
    if reward.low_points and lost > limits["warn"]:
        deep = lost > limits["crit"] and in_noise > limits["crit_noise"]
        deep = deep and not _fell_too_far(run, lost, limits)
        if deep and (reward.lasting or reward.is_unprecedented(limits["crit_drawdowns"])):
            return Assessment(CRIT, value, reward.best, message, since=reward.low_since)
        if reward.is_unprecedented(limits["drawdowns"]):
            return Assessment(WARN, value, reward.best, message, since=reward.low_since)
    if reward.lasting:
        return Assessment(WARN, value, reward.best, message, since=reward.low_since)
    return _fell_in_means(run, reward, limits) or borderline(value)


def _not_kept(run: JudgedRun, reward: RewardCourse, limits: RuleLimits) -> Assessment:
    """A run ends with a large share of its gain lost, in a last part far below the best before it.

    This is asked once a run, so it needs less surprise than a fall on the way.
    """
    value, fall = reward.history.last, fall_at_end(reward)
    if (
        fall is None
        or not reward.gained
        or fall.gain_noise < limits["mean_gain"]
        or fall.lost_share < limits["end_share"]
        or fall.fall_noise < limits["end_noise"]
        or best_was_random(run, reward)
    ):
        return borderline(value)
    message = f"{_fell(run, fall.best, fall.now, fall.lost_share)} by the end of the run"
    return Assessment(WARN, value, fall.best, message, immediate=True)


def _fell(run: JudgedRun, best: float, now: float, lost: float) -> str:
    share = f"{pct(lost)} of what was learned" if lost <= 1.0 else "all that was learned, and more"
    return f"{run.reward_words} fell from {num(best)} to {num(now)} ({share})"


def _fell_in_means(run: JudgedRun, reward: RewardCourse, limits: RuleLimits) -> Assessment | None:
    """Means over several points show a fall that medians of three leave to noise.

    The first of them holds what was learned at once: measured from the first points, less is lost.
    """
    blocks = _blocks(reward)
    memo = run.memos.get("reward-crash", ())
    if memo[:2] != blocks:
        found = (
            fall
            for fall in mean_falls(reward)
            if fall.lost_share > limits["mean_share"]
            and fall.lost_of(reward.baseline) > LOW_SHARE
            and fall.gain_noise > limits["mean_gain"]
            and fall.fall_noise > limits["mean_noise"]
            and fall.best - fall.now > limits["drawdowns"] * fall.made_good
        )
        worst = max(found, key=lambda fall: fall.fall_noise, default=None)
        fell = (worst.best, worst.now, worst.lost_of(reward.baseline)) if worst is not None else ()
        memo = run.memos["reward-crash"] = (*blocks, *fell)
    if len(memo) == len(blocks):
        return None
    return Assessment(WARN, reward.history.last, memo[2], _fell(run, *memo[2:]))


def _blocks(reward: RewardCourse) -> tuple[float, float]:
    """How many means there are, and of how many points."""
    return float(len(reward.means.sums)), float(reward.means.size)


def best_was_random(run: JudgedRun, reward: RewardCourse) -> bool:
    """Whether the best was reached by the random actions before training from a buffer began."""
    loss = run.first_logged(CRITIC_LOSSES)
    if run.family not in (VALUE_BASED, OFF_POLICY) or loss is None:
        return False
    began = loss.last_row - loss.count + 1
    return reward.best_row < began + reward.source.rows_per_window


def _was_luck(reward: RewardCourse, limits: RuleLimits) -> bool:
    """Whether hardly a row ever held half of the gain: two lucky episodes lift their median.

    Of rows of unknown kind, each of which may be a single episode.
    """
    if reward.source.sample.kind or reward.points > len(reward.levels):
        return False
    half = reward.baseline + 0.5 * reward.gain
    return sum(level > half for level in reward.levels) < limits["held_points"]


def _fell_too_far(run: JudgedRun, lost: float, limits: RuleLimits) -> bool:
    """Whether far more is lost than was gained: below the start, as learners from a buffer are."""
    return run.family not in POLICY_GRADIENT and lost > limits["beyond"]


def no_reward(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """A trainer logs losses but no reward."""
    if run.updates <= limits["rows"] or _logs_reward(run):
        return None
    message = "no episode reward in the log: nothing notes it, or no episode has ended yet"
    if not {*REWARD_CONCEPTS}.isdisjoint(run.non_finite_now):
        every = f"the reward has been NaN in every {run.profile.row_kind}"
        message = f"{every}: no episode has ended, or it is broken"
    return Assessment(INFO, float(run.updates), None, message)


def _logs_reward(run: JudgedRun) -> bool:
    """Whether there is a reward, though in self-play nothing may follow from it."""
    return run.first_logged(REWARD_CONCEPTS) is not None


def _calm_with_reward(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    return _logs_reward(run)


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
            "rating": 50.0,
            "held_points": 4,
            "drawdowns": 1.3,
            "beyond": 2.0,
            "crit": 0.6,
            "crit_noise": 6.0,
            "crit_drawdowns": 1.6,
            "mean_share": 0.7,
            "mean_gain": 3.0,
            "mean_noise": 4.5,
            "end_noise": 2.5,
            "end_share": 0.5,
        },
        persistence={INFO: (1, 1), WATCH: (1, 1), WARN: (1, 1), CRIT: (4, 5)},
        at_end=True,
        ranks_causes=True,
        causes=("policy collapse (learning rate too high)", "the environment or reward changed"),
        remedies=REWARD_CRASH_REMEDIES,
        source="'sudden crash to 0': critical (SB3 practice); dips such as 319 -> 239 are normal",
        grade="C",
    ),
    Rule(
        id="no-reward",
        title="No reward logged",
        description="losses are logged, but no reward",
        concepts=("reward_mean",),
        assess=no_reward,
        stays_calm=_calm_with_reward,
        judged_at=(),
        families=CONTROL,
        limits={"clear_after": 1, "rows": 5},
        persistence=k_of_n(3, 3),
        causes=("no wrapper records episode returns", "no episode has finished yet"),
        remedies=("{monitor}", "wait for an episode's end"),
        source="SB3's logger documentation: ep_rew_mean needs a Monitor wrapper",
        grade="A",
    ),
)
