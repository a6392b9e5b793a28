"""Rewards that get nowhere: a plateau, or swings without a trend."""

from __future__ import annotations

from ppo_top.rules.book.reward import reward_now
from ppo_top.rules.engine.context import REWARDS, Run
from ppo_top.rules.engine.rule import Limits, Reading, Rule, between, persist
from ppo_top.rules.engine.stats import swings
from ppo_top.rules.engine.terms import EVERY, INFO, NOT_ON_TEXT, WARN, WATCH
from ppo_top.rules.engine.wording import num


def plateau(run: Run, limits: Limits) -> Reading | None:
    """R3: no new best for long; a fault only where something else says why."""
    reward = reward_now(run)
    if reward is None or not reward.gained or reward.at_max or reward.lost > 0.3:
        return None
    waited = reward.count - reward.best_count
    if waited < max(limits["points"], limits["share"] * reward.count):
        return None
    message = f"no new best reward for {waited} updates (best {num(reward.best)})"
    goal = run.profile.goal
    if goal is not None:
        missed = f"{message}: the goal {num(goal)} is not reached"
        return Reading(WARN, reward.history.last, goal, missed)
    level = WATCH if _exhausted(run) else INFO
    return Reading(level, reward.history.last, reward.best, message)


def _exhausted(run: Run) -> bool:
    """Whether there is a reason why nothing more will come."""
    entropy, rate = run.histories.get("entropy"), run.histories.get("lr")
    ties = run.value("frac_zero_std")
    return (
        (entropy is not None and 0.0 < entropy.last < 0.1 * entropy.base(3))
        or "policy-still" in run.open
        or (ties is not None and ties > 0.8)
        or (rate is not None and rate.last < 0.01 * rate.high)
    )


def oscillates(run: Run, limits: Limits) -> Reading | None:
    """R4: reward goes up and down by a large share of its gain, without getting anywhere."""
    reward = reward_now(run)
    if reward is None or reward.count < limits["points"] or reward.gain <= 0.0:
        return None
    leg = max(limits["leg"] * reward.gain, 4 * reward.noise)
    recent = reward.history.recent[-30:]
    if max(recent) - min(recent) <= leg or reward.history.trend(25).tau >= 0.2:
        return None
    turns = swings(recent, leg)
    if turns < limits["turns"]:
        return between(reward.history.last) if turns >= 2 else None
    message = (
        f"reward swings without converging: {turns} turns of more than {num(leg)} in 30 updates"
    )
    return Reading(WARN, reward.history.last, None, message)


RULES = (
    Rule(
        id="reward-plateau",
        title="Reward has stopped rising",
        codes=("R3",),
        sees="no new best for a quarter of the run",
        concepts=("reward_mean",),
        beside=("entropy",),
        read=plateau,
        on=REWARDS,
        limits={"points": 30, "share": 0.25},
        persist=persist(3, 3),
        causes=("converged, or stuck in a local optimum: insufficient exploration",),
        tries=(
            "raise the entropy bonus: {ent_coef:below 0.05}",
            "{larger_batches}",
            "lower {learning_rate:, or let it decay}",
            "{in_control}more varied starts",
            "or stop: it may be finished",
        ),
        source="TRL practice: 'plateau -> stagnation'; stable at the maximum is success",
        grade="C",
    ),
    Rule(
        id="reward-swings",
        title="Reward oscillates",
        codes=("R4",),
        sees="large swings of the reward without an upward trend",
        concepts=("reward_mean",),
        read=oscillates,
        on=REWARDS,
        families=EVERY,
        limits={"points": 40, "leg": 0.25, "turns": 4},
        persist=persist(2, 3),
        causes=("training is unstable: learning rate too high, batches too small", "sparse reward"),
        tries=(
            "lower {learning_rate}",
            "more samples an update: {rollouts}",
            "{kl_limit}",
            "lower {gae_lambda:above 0.9}",
        ),
        source="'severe oscillation without convergence': moderate (SB3 practice)",
        grade="C",
        grades=NOT_ON_TEXT,
    ),
)
