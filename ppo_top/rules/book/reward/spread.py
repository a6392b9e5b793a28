"""Around the mean reward: spread, tails, episode length, evaluation."""

from __future__ import annotations

import math

from ppo_top.rules.engine.block import RowBlock
from ppo_top.rules.engine.history import MAX_FIRST_VALUES, START_VALUES, TREND_VALUES
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.logged_run import REWARD_CONCEPTS
from ppo_top.rules.engine.rule import (
    RESOLVED,
    Assessment,
    Rule,
    RuleLimits,
    borderline,
    k_of_n,
)
from ppo_top.rules.engine.stats import Trend, median, noise_std
from ppo_top.rules.engine.terms import INFO, LLM_FAMILIES, RLHF, WARN, WATCH
from ppo_top.rules.engine.wording import num

GOOD_EVALUATIONS = 6
"""So many in a row that are as good as training end a finding, however often others lagged."""


def spread_explodes(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """The spread of rewards grows far more than their mean."""
    history, reward = run.histories["reward_std"], run.reward
    base = history.initial_level
    if reward is None or base <= 0.0 or history.last <= limits["clear"] * base:
        return None
    mean, first = max(abs(reward.smooth), base), max(abs(reward.baseline), base)
    if (
        history.last <= limits["times"] * base
        or history.last / mean <= limits["clear"] * base / first
    ):
        return borderline(history.last)
    message = f"spread of rewards grew from {num(base)} to {num(history.last)}"
    level = WARN if reward.falling else WATCH
    return Assessment(level, history.last, limits["times"] * base, message)


def length_parts(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Reward and episode length used to move together, and now diverge."""
    length, reward = run.histories["ep_len"], run.reward
    if reward is None or reward.history.last_row != run.mark.row:
        return None
    long = length.trend(TREND_VALUES)
    if length.count <= limits["points"] or abs(long.z) <= limits["z"]:
        return None
    high = reward.history.trend(TREND_VALUES)
    if abs(high.z) <= limits["z"]:
        return None
    apart, usual = long.z * high.z < 0.0, _correlation(length.first, reward.history.first)
    if abs(usual) <= limits["tau"] or apart is (usual < 0.0):
        return None
    way, paid = _ends(long), _ends(high)
    if abs(way[1] - way[0]) <= limits["share"] * max(way):
        return None
    then = "against each other" if usual < 0.0 else "together"
    moved = f"episode length {_arrow(way)}, reward {_arrow(paid)}"
    message = f"{moved}; at first they moved {then}"
    return Assessment(WATCH, length.last, None, message)


def _ends(trend: Trend) -> tuple[float, float]:
    """The levels from which and to which the values of a trend went."""
    return median(trend.values[:START_VALUES]), median(trend.values[-START_VALUES:])


def _arrow(ends: tuple[float, float]) -> str:
    return f"{num(ends[0])} -> {num(ends[1])}"


def _never_together(run: JudgedRun, block: RowBlock, limits: RuleLimits) -> bool:
    """Reward and episode length had nothing to do with each other at the start."""
    length, reward = run.histories.get("ep_len"), run.reward
    if length is None or reward is None or length.count < MAX_FIRST_VALUES:
        return False
    began = reward.history.first
    return (
        len(began) == MAX_FIRST_VALUES and abs(_correlation(length.first, began)) <= limits["tau"]
    )


def _correlation(left: list[float], right: list[float]) -> float:
    size = min(len(left), len(right))
    left, right = left[-size:], right[-size:]
    a, b = sum(left) / size, sum(right) / size
    both = sum((x - a) * (y - b) for x, y in zip(left, right, strict=True))
    spread = sum((x - a) ** 2 for x in left) * sum((y - b) ** 2 for y in right)
    return float(both / spread**0.5) if spread > 0.0 else 0.0


def eval_gap(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Evaluation lags behind the training reward, or falls while it rises."""
    history, reward = run.histories["eval_reward_mean"], run.reward
    if reward is None or not reward.gained:
        return None
    if run.reward_concept not in REWARD_CONCEPTS[:2]:
        return None  # a rate of success or of wins is no return, nor is a rating
    last = history.recent[-3:]
    if reward.rising and _falls(last, history.recent[:-2], limits, reward.gain):
        message = f"evaluation falls ({num(last[0])} -> {num(last[2])}) while training reward rises"
        return Assessment(WARN, last[2], last[0], message)
    if reward.smooth - history.last > limits["share"] * reward.gain:
        message = f"evaluation ({num(history.last)}) lags training reward ({num(reward.smooth)})"
        spread = run.value("eval_reward_std", 0)
        sure = spread is not None and reward.smooth - history.last > limits["spreads"] * spread
        untrained = len(last) == 3 and reward.smooth - max(last) > limits["far"] * reward.gain
        level = WARN if untrained else WATCH
        return Assessment(level, history.last, reward.smooth, message, immediate=sure)
    newest, near = history.recent[-GOOD_EVALUATIONS:], reward.smooth - limits["share"] * reward.gain
    are_good = min(newest) >= near and median(newest) >= reward.smooth
    return RESOLVED if are_good and len(newest) == GOOD_EVALUATIONS else None


def _falls(last: list[float], before: list[float], limits: RuleLimits, gain: float) -> bool:
    """Whether the last three evaluations fall, by much of what training gained and beyond noise.

    Means of a few episodes fall three times in a row by chance; `before` tells by how much.
    """
    if len(last) < 3 or not last[0] > last[1] > last[2]:
        return False
    noise = math.sqrt(2.0) * noise_std(before)
    return last[0] - last[2] > max(limits["fall"] * gain, limits["noise"] * noise)


def long_tails(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """A distribution is strongly skewed.

    Returns of whole episodes are, where most succeed and few fail: only completions' are judged.
    """
    for name in ("reward", "adv") if run.family in LLM_FAMILIES else ("adv",):
        low, mid, high = (run.value(f"{name}_{part}", 0) for part in ("p1", "p50", "p99"))
        if low is None or mid is None or high is None or mid <= low or high <= mid:
            continue
        skew = (high - mid) / (mid - low)
        if not 1.0 / limits["skew"] <= skew <= limits["skew"]:
            what = "rewards" if name == "reward" else "advantages"
            side = f"{num(high)} above, {num(low)} below the median {num(mid)}"
            message = f"the distribution of {what} has a long tail: {side}"
            concept = f"{name}_dist"
            return Assessment(WATCH, skew, limits["skew"], message, concepts=(concept,))
    return None


def advantages_off(run: JudgedRun, limits: RuleLimits) -> Assessment | None:
    """Whitened advantages should have mean 0."""
    value = run.values["adv_mean"]
    if abs(value) <= limits["mean"]:
        return None
    message = f"advantages are not centred: mean {num(value)}"
    return Assessment(INFO, value, limits["mean"], message)


RULES = (
    Rule(
        id="reward-spread",
        title="Reward std rising",
        description="the spread of rewards grows far more than their mean",
        concepts=("reward_std",),
        assess=spread_explodes,
        limits={"clear": 2.0, "times": 3.0, "warmup": 10},
        causes=("reward outliers", "the policy behaves very differently from episode to episode"),
        remedies=("clip or normalise rewards", "lower {learning_rate}"),
        source="TRL practice: reward std 'moderate; not exploding'",
    ),
    Rule(
        id="reward-length-diverge",
        title="Reward and episode length diverge",
        description="reward and episode length begin to move against their usual relation",
        concepts=("ep_len",),
        assess=length_parts,
        stays_calm=_never_together,
        limits={"tau": 0.6, "z": 2.6, "share": 0.05, "points": 25},
        persistence=k_of_n(3, 5),
        causes=("the policy found a shortcut, or the task changed",),
        remedies=("watch some episodes", "check the reward for a shortcut"),
        source="episode length: 'trend diverges from reward' is a warning sign (SB3 practice)",
    ),
    Rule(
        id="eval-gap",
        title="Eval reward lags training reward",
        description="evaluation rewards stay below training rewards, or fall while those rise",
        concepts=("eval_reward_mean",),
        assess=eval_gap,
        limits={"fall": 0.2, "noise": 3.0, "share": 0.3, "spreads": 2.0, "far": 0.8},
        persistence=k_of_n(2, 2),
        causes=(
            "the deterministic policy is worse than the stochastic one",
            "normalisation statistics not shared with the eval environment",
            "overfitting to the training reward",
        ),
        remedies=(
            "{in_control}share the statistics of normalisation with evaluation (VecNormalize)",
            "look at what is evaluated, and how it goes",
        ),
        source="evaluation is the better measure of a policy (SB3 practice); without the "
        "statistics of normalisation it is another one's (SB3's documentation of VecNormalize)",
        grade="B",
    ),
    Rule(
        id="long-tails",
        title="Heavy-tailed rewards or advantages",
        description="the distribution of completions' rewards or of advantages is skewed",
        concepts=("reward_dist",),
        related=("adv_dist",),
        assess=long_tails,
        judged_at=("reward_p50", "adv_p50"),
        limits={"skew": 5.0},
        causes=("a few samples carry most of the reward",),
        remedies=("clip or normalise rewards", "look at the samples with extreme rewards"),
        source="TRL practice: reward and advantage distributions are balanced, without long tails",
    ),
    Rule(
        id="advantages-off",
        title="Advantages not centred",
        description="the mean of whitened advantages is not 0",
        concepts=("adv_mean",),
        assess=advantages_off,
        families=frozenset({RLHF}),
        limits={"mean": 0.1},
        causes=("advantages are not normalised",),
        remedies=("see that {whiten_rewards:off} is on", "check the advantage normalisation"),
        source="TRL practice: advantages centred near 0",
    ),
)
