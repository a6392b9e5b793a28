"""Whether a reward sits at its ceiling: the goal, what solves its environment, 1, its own best."""

from __future__ import annotations

from ppo_top.catalogue import KnownEnvironment
from ppo_top.rules.engine.reward.measures import RewardMeasures
from ppo_top.rules.engine.stats import median

SETTLED_POINTS = 8
"""This many equal points at the best level are a ceiling."""

SETTLED_EPISODES = 3
"""So many episodes must have ended meanwhile: until one does, a mean is only logged again."""

SUCCESS_HIGHEST, SUCCESS_LEVEL, SUCCESS_SHARE = 0.999, 0.97, 0.95
"""Where 1 is the most: so near to it is the highest, the level, and the mean of these points."""

CEILING_SHARE = 0.03
"""A known ceiling is reached but for this share of the way to it."""


def is_at_ceiling(reward: RewardMeasures) -> bool:
    """Whether the newest rewards are the most that there is to get, or have settled."""
    history = reward.history
    if history.count < SETTLED_POINTS or reward.pays_alike:
        return False
    environment = own_environment(reward)
    if environment is not None:
        return _is_solved(reward, environment)
    is_share = SUCCESS_HIGHEST <= history.high <= 1.0 and history.low >= 0.0
    is_share = is_share and reward.highest_evaluation <= 1.0
    if reward.ceiling is not None or is_share:
        newest = history.newest(SETTLED_POINTS)
        if reward.ceiling is not None:
            way = max(abs(reward.ceiling), abs(reward.ceiling - reward.baseline))
            return median(newest) >= reward.ceiling - CEILING_SHARE * way
        mean = sum(newest) / len(newest)
        return median(newest) >= SUCCESS_LEVEL and mean >= SUCCESS_SHARE
    if not reward.gained or reward.drawdown > 1e-3 * reward.scale:
        return False
    points = reward.recent[-SETTLED_POINTS:]
    if len(points) < SETTLED_POINTS or max(points) - min(points) > 1e-6 * reward.scale:
        return False
    rows = max(SETTLED_POINTS, reward.source.same + 1)
    return reward.source.episodes_in(rows) >= SETTLED_EPISODES


def own_environment(reward: RewardMeasures) -> KnownEnvironment | None:
    """The known environment whose returns these are, where no goal is set; it says what is enough.

    Where they exceed what it can give, or began with what is enough, something scales or shapes
    them.
    """
    known = reward.environment if reward.ceiling is None else None
    if known is None:
        return None
    if known.most is None or known.most <= 0.0:
        return known if reward.baseline < known.solved else None
    return known if reward.history.high <= known.most else None


def _is_solved(reward: RewardMeasures, environment: KnownEnvironment) -> bool:
    """Whether the newest rewards are those from which an environment counts as solved."""
    newest = reward.history.newest(SETTLED_POINTS)
    least = min(reward.smooth, median(newest), sum(newest) / len(newest))
    return least >= environment.solved
