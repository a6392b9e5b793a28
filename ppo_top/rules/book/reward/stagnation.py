"""Rewards that get nowhere: a plateau, or swings without a trend."""

from __future__ import annotations

from ppo_top.rules.advice.setting_symptoms import rate_adapts
from ppo_top.rules.book.reward.crash import reward_now
from ppo_top.rules.engine.history import History
from ppo_top.rules.engine.judged_run import KEPT_SHARE, JudgedRun
from ppo_top.rules.engine.logged_run import REWARD_CONCEPTS
from ppo_top.rules.engine.reward.course import FALLEN, GAINED, UNLEARNED, RewardCourse
from ppo_top.rules.engine.rule import AT_ONCE, Assessment, Rule, RuleLimits, k_of_n
from ppo_top.rules.engine.stats import count_swings
from ppo_top.rules.engine.terms import ALL_FAMILIES, INFO, ON_POLICY, UNKNOWN_FAMILY, WARN, WATCH
from ppo_top.rules.engine.wording import num
from ppo_top.text.format import plural


def plateau(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The second half of the run brought nothing; a fault only if something else explains why."""
    reward = reward_now(run)
    if reward is None or not reward.gained or reward.at_max or reward.lost_share > KEPT_SHARE:
        return None
    waited = reward.count - reward.notable_best_count
    goal = run.profile.goal
    needed = limits["points" if goal is None else "goal_points"]
    if waited < max(needed, limits["share"] * reward.count) or not reward.levelled_off:
        return None
    how_long = plural(waited, run.profile.row_kind)
    message = f"no new best of the smoothed {run.reward_words} ({num(reward.best)}) for {how_long}"
    if goal is not None:
        missed = f"{message}: the goal {num(goal)} is not reached"
        return Assessment(WARN, reward.history.last, goal, missed)
    level = WATCH if _exhausted(run, limits) else INFO
    return Assessment(level, reward.history.last, reward.best, message)


def _exhausted(run: JudgedRun, limits: RuleLimits) -> bool:
    """Whether something explains that no more gain will come."""
    entropy, rate = run.histories.get("entropy"), run.histories.get("lr")
    ties = run.value("frac_zero_std")
    return (
        (entropy is not None and 0.0 < entropy.last < limits["entropy"] * entropy.start)
        or "no-op-updates" in run.open_severities
        or (ties is not None and ties > limits["ties"])
        or (rate is not None and _has_decayed(run, rate, limits))
    )


def _has_decayed(run: JudgedRun, rate: History, limits: RuleLimits) -> bool:
    """Whether a schedule has brought the learning rate down; one that follows the KL may rise."""
    return rate.last < limits["rate"] * rate.high and not rate_adapts(run)


def oscillates(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The reward falls back and recovers again and again, without a new best."""
    reward = reward_now(run)
    if reward is None:
        return None
    if not reward.gained:
        return _swings(run, reward, limits)
    since_best = reward.falls + (reward.low_points > 0)
    if since_best < limits["falls"]:
        return None
    words = f"reward swings without converging: it fell back {since_best} times since its best"
    return Assessment(WARN, reward.history.last, reward.best, words)


UPDATE_REWARDS = frozenset({ON_POLICY, UNKNOWN_FAMILY})
"""Families whose levels are means over many episodes; a replay buffer's learner always wobbles."""


def _swings(run: JudgedRun, reward: RewardCourse, limits: RuleLimits) -> Assessment | None:
    """The level goes up and down by most of its size.

    A level is the median of three points. Noise as large as that looks the same, so it is not more
    than a watch: whether anything was learned is for the other rules to say.
    """
    if run.family not in UPDATE_REWARDS or reward.at_max or reward.rising:
        return None
    levels = reward.levels[2:]
    low, high = min(levels, default=0.0), max(levels, default=0.0)
    if high - low < limits["size"] * max(abs(high), abs(low)):
        return None
    turns = count_swings(levels, limits["leg"] * (high - low))
    if turns < limits["turns"]:
        return None
    words = f"{run.reward_words} swings between {num(low)} and {num(high)}: it turned {turns} times"
    return Assessment(WATCH, reward.smooth, None, words)


RULES = (
    Rule(
        id="reward-plateau",
        title="Reward plateau",
        description="the reward has set no new best for a quarter of the run",
        concepts=("reward_mean",),
        related=("entropy",),
        assess=plateau,
        reward_states=GAINED,
        asks_about=("no-op-updates",),
        judged_at=REWARD_CONCEPTS,
        tells_duration=True,
        limits={
            "points": 20,
            "goal_points": 10,
            "share": 0.25,
            "entropy": 0.1,
            "ties": 0.8,
            "rate": 0.01,
            "every": 5,
        },
        persistence=k_of_n(2, 2),
        causes=("converged", "stuck in a local optimum: too little exploration"),
        remedies=(
            "nothing, if the reward is as good as the task allows",
            "raise the entropy bonus: {ent_coef:below 0.05}",
            "{larger_batches}",
            "lower {learning_rate:, or let it decay}",
            "{in_control}more exploration for a while, or more varied starts",
        ),
        source="TRL practice: 'plateau -> stagnation'; stable at the maximum is success",
        grade="C",
    ),
    Rule(
        id="reward-swings",
        title="Reward oscillating",
        description="the reward falls back and recovers again and again, without a new best",
        concepts=("reward_mean",),
        assess=oscillates,
        reward_states=UNLEARNED | FALLEN,
        judged_at=REWARD_CONCEPTS,
        tells_duration=True,
        families=ALL_FAMILIES,
        limits={"falls": 3, "turns": 4, "size": 0.6, "leg": 0.5, "every": 3},
        persistence=AT_ONCE,
        ranks_causes=True,
        causes=("unstable training: learning rate too high, or batches too small", "sparse reward"),
        remedies=(
            "lower {learning_rate}",
            "more samples an update: {rollouts}",
            "{kl_limit}",
            "lower {gae_lambda:above 0.9}",
        ),
        source="'severe oscillation without convergence': moderate (SB3 practice)",
        grade="C",
    ),
)
