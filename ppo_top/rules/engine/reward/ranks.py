"""What the ranks of rewards tell where their noise is not known well."""

from __future__ import annotations

from ppo_top.rules.engine.reward.course import RewardCourse
from ppo_top.rules.engine.rule import RuleLimits


def left_its_start(reward: RewardCourse, limits: RuleLimits) -> bool:
    """Whether all points of the last quarter lie above all of the first points.

    Of rows of unknown kind: that they change from one stretch of the run to the next makes them
    look like a moving mean, as learning does, and their noise too large. Ranks do not ask for it.
    """
    count = reward.quarters[-1][0] if reward.quarters else 0
    if count < limits["apart_points"] or reward.source.sample.kind:
        return False
    return min(reward.recent[-count:]) > max(reward.first[:count])


def rose_at_once(reward: RewardCourse, limits: RuleLimits) -> bool:
    """Whether the first two points lie below all later ones, and most of that rise was kept.

    One run in a hundred begins so by chance. A noisy reward that was learned within the first rows
    has nothing else that shows it.
    """
    points = reward.recent
    if not limits["rank_points"] <= reward.points <= len(points) or not reward.quarters:
        return False
    start = max(points[:2])
    if reward.source.rows_per_window >= limits["rank_overlap"] or start >= min(points[2:]):
        return False
    return reward.quarters[-1][1] - start > limits["rank_kept"] * (reward.best - start)
