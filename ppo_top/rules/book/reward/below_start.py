"""Rewards below the level at which they began."""

from __future__ import annotations

from ppo_top.rules.book.reward.crash import best_was_random, reward_now
from ppo_top.rules.book.reward.episodes import paid_for_steps
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.logged_run import REWARD_CONCEPTS
from ppo_top.rules.engine.reward.course import FALLEN, UNLEARNED, RewardCourse
from ppo_top.rules.engine.reward.measures import MIN_POINTS
from ppo_top.rules.engine.rule import Assessment, Rule, RuleLimits, borderline
from ppo_top.rules.engine.stats import median
from ppo_top.rules.engine.terms import ALL_FAMILIES, CRIT, INFO, POLICY_GRADIENT, WARN, WATCH
from ppo_top.rules.engine.wording import num


def below_start(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The reward stays below the level it held at the start, and no policy ever rose above it.

    What is learned first from a replay buffer is often worse than the random actions before it.
    """
    reward = reward_now(run)
    if reward is None or reward.points < MIN_POINTS:
        return None
    if reward.gained and not best_was_random(run, reward):
        return None
    if _was_cut_short(run, reward, limits):
        return None
    clear, began = limits["clear"] * reward.sd, reward.start_level
    sank = _quarters_sank(reward, limits, "fall")  # a start that was over at once is not held
    if reward.below <= clear and not sank:
        open_still = "reward-wrong-way" in run.open_severities
        stays_low = open_still and _quarters_sank(reward, limits, "clear")
        return borderline(reward.history.last) if stays_low else None
    enough = max(limits["noise"] * reward.sd, limits["drawdowns"] * reward.made_good)
    now = reward.smooth
    message = f"{run.reward_words} is below where it started: {num(began)} -> {num(now)}"
    if reward.below <= enough:
        if not sank or reward.looks < limits["looks"]:
            return borderline(reward.history.last)
        began, now = reward.quarters[0][1], reward.quarters[-1][1]
        fell = f"{num(began)} -> {num(now)}"
        message = f"{run.reward_words} sank from the first quarter of the log to the last: {fell}"
    on_policy = run.family in POLICY_GRADIENT
    share = limits["early" if on_policy else "early_replay"]
    early = not on_policy if run.progress is None else run.progress < share
    level = WATCH if early else WARN
    return Assessment(level, now, began, message, immediate=run.ended)


def _was_cut_short(run: JudgedRun, reward: RewardCourse, limits: RuleLimits) -> bool:
    """Whether the first episodes were cut short, and steps cost no more than theirs."""
    paid = paid_for_steps(run, reward, limits)
    return paid is not None and paid.now > paid.first - (limits["dearer"] - 1.0) * abs(paid.first)


def _quarters_sank(reward: RewardCourse, limits: RuleLimits, noise: str) -> bool:
    """Whether the last quarter of the log lies below the first, by more than noise and to be seen.

    Most of its points do: a single one that is far lower moves a mean. Of rewards that hardly ever
    differ there is no noise to speak of.
    """
    if reward.change >= -limits[noise]:
        return False
    count, mean = reward.quarters[-1]
    lost = reward.quarters[0][1] - max(mean, median(reward.recent[-count:]))
    return lost > limits["visible"] * (reward.history.high - reward.history.low)


RULES = (
    Rule(
        id="reward-wrong-way",
        title="Reward below start",
        description="the reward stays below the level it held at the start",
        concepts=("reward_mean",),
        assess=below_start,
        reward_states=UNLEARNED | FALLEN,
        judged_at=REWARD_CONCEPTS,
        families=ALL_FAMILIES,
        limits={
            "noise": 6.0,
            "fall": 6.0,
            "visible": 0.005,
            "looks": 6,
            "drawdowns": 1.3,
            "clear": 3.0,
            "early": 0.25,
            "early_replay": 0.6,
            "longer": 1.5,
            "dearer": 1.25,
        },
        persistence={INFO: (1, 1), WATCH: (1, 1), WARN: (5, 5), CRIT: (5, 5)},
        at_end=True,
        ranks_causes=True,
        causes=("wrong sign of reward or advantage", "learning rate too high"),
        remedies=("check the sign of the reward", "lower {learning_rate}"),
        source="a curve that falls means a problem in training (SB3 practice)",
        grade="C",
    ),
)
