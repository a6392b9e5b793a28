"""Facts about exploration: entropy, the spread of actions, the share of random actions."""

from __future__ import annotations

from collections.abc import Mapping

from ppo_top.rules.advice.critic_symptoms import Fact
from ppo_top.rules.engine.history import LEVEL_VALUES
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.terms import VALUE_BASED

LIMITS: Mapping[str, float] = {
    "entropy_moved": 0.1,
    "entropy_unmoved": 0.03,
    "entropy_least": 0.001,  # nats
    "entropy_low": 0.2,
    "entropy_gone": 0.01,
    "entropy_lost": 0.1,
    "lost_values": 8,
    "std_times": 1.5,
    "coefficient": 5.0,
    "epsilon": 0.5,
    "epsilon_low": 0.1,
    "epsilon_back": 0.2,
    "lost": 0.35,
    "coefficient_down": 0.01,
    "evaluated": 6.0,  # standard deviations
    "evaluations": 3,
}
"""Where each fact begins."""


def entropy_low(run: JudgedRun) -> bool | None:
    """Entropy has fallen to a fraction of its start."""
    history = run.histories.get("entropy")
    if history is None or history.first[0] <= 0.0:
        return None
    return history.last < LIMITS["entropy_low"] * history.first[0]


def entropy_gone(run: JudgedRun) -> bool | None:
    """Entropy is all but 0: nothing is tried any more."""
    history = run.histories.get("entropy")
    if history is None or history.first[0] == 0.0:
        return None
    return abs(history.last) < LIMITS["entropy_gone"] * abs(history.first[0])


def entropy_lost_at_once(run: JudgedRun) -> bool | None:
    """Entropy has fallen to a tenth within the first updates: too few to have learned so much."""
    history = run.histories.get("entropy")
    if history is None or history.first[0] <= 0.0:
        return None
    lowest = min(history.first[: int(LIMITS["lost_values"])])
    return lowest < LIMITS["entropy_lost"] * history.first[0]


def entropy_fell(run: JudgedRun) -> bool | None:
    """Entropy is clearly below its start."""
    history = run.histories.get("entropy")
    if history is None or history.count <= LEVEL_VALUES:
        return None
    start = history.initial_level
    return history.level < start - LIMITS["entropy_moved"] * abs(start)


def entropy_rises(run: JudgedRun) -> bool | None:
    """Entropy, or the policy's standard deviation, is above its start."""
    history, std = run.histories.get("entropy"), run.histories.get("policy_std")
    if std is not None:
        return std.last > LIMITS["std_times"] * std.first[0]
    if history is None:
        return None
    moved = max(LIMITS["entropy_moved"] * abs(history.first[0]), LIMITS["entropy_least"])
    return history.last > history.first[0] + moved


def entropy_at_start(run: JudgedRun) -> bool | None:
    """Entropy has stayed where it began."""
    history = run.histories.get("entropy")
    if history is None or history.count < LEVEL_VALUES:
        return None
    return history.high - history.low < LIMITS["entropy_unmoved"] * abs(history.first[0])


def back_at_start(run: JudgedRun) -> bool | None:
    """Entropy is back where it began, after it had moved away, within a few rows."""
    history = run.histories.get("entropy")
    if history is None or history.count < 8:
        return None
    start, now = history.start, history.recent_median(2)
    away = max(history.recent[-12:], key=lambda value: abs(value - start))
    moved = abs(away - start)
    far = moved > LIMITS["entropy_moved"] * abs(start)
    return far and abs(now - start) < 0.3 * moved


def nothing_learned_yet(run: JudgedRun) -> bool | None:
    """The reward never rose, and entropy never fell: there is nothing that could be lost.

    Where no entropy is logged, a finding has to say that nothing was gained.
    """
    history, reward = run.histories.get("entropy"), run.reward
    if reward is None:
        return None
    if history is None:
        is_told = "reward-never-moves" in run.open_severities and not reward.gained
        return True if is_told else None
    least = history.start - LIMITS["entropy_moved"] * abs(history.start)
    return not reward.gained and history.low > least


def epsilon_high(run: JudgedRun) -> bool | None:
    """Most actions are random."""
    history = run.histories.get("exploration_rate")
    return None if history is None else history.last > LIMITS["epsilon"]


def coefficient_high(run: JudgedRun) -> bool | None:
    """The entropy coefficient of SAC is far above 1."""
    history = run.histories.get("entropy_coef")
    return None if history is None else history.last > LIMITS["coefficient"]


def epsilon_back(run: JudgedRun) -> bool | None:
    """The share of random actions had fallen, and has risen again."""
    history = run.histories.get("exploration_rate")
    if history is None:
        return None
    return history.last > LIMITS["epsilon_back"] and history.low < 0.5 * history.last


def epsilon_low(run: JudgedRun) -> bool | None:
    """Hardly an action is random: the rate says so, or else the settings of its schedule."""
    if run.family != VALUE_BASED:
        return None
    final, share = (run.config_number(f"exploration_{name}") for name in ("final", "fraction"))
    if final is not None and final > LIMITS["epsilon_low"]:
        return False
    history, progress = run.histories.get("exploration_rate"), run.stated_progress
    if history is not None:
        return history.last <= LIMITS["epsilon_low"]
    if final is None or share is None or progress is None:
        return None
    return progress > share


def lost_at_lowest_epsilon(run: JudgedRun) -> bool | None:
    """Much of what was learned is lost, while the share of random actions only fell."""
    history, reward = run.histories.get("exploration_rate"), run.reward
    if history is None or reward is None or not reward.gained:
        return None
    only_fell = history.last <= history.low < history.first[0]
    return only_fell and reward.lost_share > LIMITS["lost"]


def coefficient_gone(run: JudgedRun) -> bool | None:
    """The entropy coefficient of SAC has all but vanished."""
    history = run.histories.get("entropy_coef")
    if history is None or history.count < LEVEL_VALUES:
        return None
    return history.last < LIMITS["coefficient_down"] * history.start


def gain_kept(run: JudgedRun) -> bool | None:
    """The reward has risen by more than noise, and keeps most of that."""
    return None if run.reward is None else run.reward_pays


def evaluated_better(run: JudgedRun) -> bool | None:
    """Evaluations are better than training ever was, and that has gained nothing.

    They do without the random actions; those hide what is learned.
    """
    scores, reward = run.histories.get("eval_reward_mean"), run.reward
    if scores is None or reward is None or run.family != VALUE_BASED:
        return None
    if scores.count < LIMITS["evaluations"] or reward.gained:
        return False
    above = scores.recent_median(int(LIMITS["evaluations"])) - reward.smooth
    return above > max(LIMITS["evaluated"] * reward.sd, reward.history.high - reward.smooth)


def entropy_logged(run: JudgedRun) -> bool | None:
    """The policy's entropy is logged: it is a policy that draws its actions."""
    return True if "entropy" in run.histories else None


EXPLORATION_FACTS: Mapping[str, Fact] = {
    "an entropy is logged": entropy_logged,
    "entropy below a fifth of its start": entropy_low,
    "entropy below a hundredth of its start": entropy_gone,
    "entropy below nine tenths of its start": entropy_fell,
    "entropy lost at once": entropy_lost_at_once,
    "entropy or std above its start": entropy_rises,
    "entropy unmoved": entropy_at_start,
    "entropy back at its start": back_at_start,
    "nothing learned yet": nothing_learned_yet,
    "epsilon above 0.5": epsilon_high,
    "entropy coefficient above 5": coefficient_high,
    "epsilon 0.1 or below": epsilon_low,
    "epsilon rose again": epsilon_back,
    "reward lost though epsilon only fell": lost_at_lowest_epsilon,
    "entropy coefficient vanished": coefficient_gone,
    "evaluated better than training ever was": evaluated_better,
    "reward gained and kept": gain_kept,
}
"""What a reader calls it -> how it is seen."""
