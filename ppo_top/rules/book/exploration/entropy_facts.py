"""What an entropy is of, where it began, and whether its loss is the end of learning."""

from __future__ import annotations

import math
from itertools import pairwise

from ppo_top.rules.engine.history import START_VALUES, History
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.terms import LLM_FAMILIES


def highest_initial_entropy(history: History) -> float:
    """The highest of the first three entropies: a policy may collapse in its first update."""
    return max(history.first[:START_VALUES])


PROMPT_FACTOR, PROMPT_SHARE, PROMPT_VALUES = 2.0, 0.15, 20
"""Entropies are those of single prompts if more than this share of the recent ones are twice as
large as the one before, and as many half as large; the median of so many is then a level."""


def is_of_prompts(history: History) -> bool:
    """Whether each entropy is that of a few prompts: a model is certain of one, not of the next."""
    values = history.recent
    rises = sum(after > PROMPT_FACTOR * before for before, after in pairwise(values))
    falls = sum(before > PROMPT_FACTOR * after for before, after in pairwise(values))
    return min(rises, falls) > PROMPT_SHARE * len(values)


def levels_of_prompts(history: History) -> tuple[float, float]:
    """The level at the start and the present one where each entropy is that of a few prompts."""
    start = max(history.start, history.baseline(PROMPT_VALUES))  # it may fall within the first
    return start, history.recent_median(PROMPT_VALUES)


def is_discrete(run: JudgedRun) -> bool:
    """Whether the entropy is of a discrete distribution: never below 0, and not a Gaussian's."""
    if "policy_std" in run.histories:
        return False
    entropy = run.histories.get("entropy")
    if entropy is None or entropy.low < -ROUNDING or not entropy.start > 0.0:
        return False
    return run.family in LLM_FAMILIES or not _is_gaussian(entropy.start)


GAUSSIAN_ENTROPY = 0.5 * math.log(2 * math.pi * math.e)
"""Entropy of a unit Gaussian, the usual initial policy for continuous actions (nats)."""

GAUSSIAN_SHARE = 0.005
"""So near to a multiple of it, as a share, an entropy is that of a Gaussian."""

ROUNDING = 1e-3
"""A discrete entropy is never further below 0 (nats)."""

SETTLED_SHARE = 0.1
"""A policy with less than this share of its first entropy has become certain."""


def _is_gaussian(first: float) -> bool:
    """Whether an entropy is that of unit Gaussians: not every log holds their std.

    It is not a useful signal: it goes below 0 while the policy learns, or stays where it is.
    """
    dimensions = round(first / GAUSSIAN_ENTROPY)
    return abs(first - dimensions * GAUSSIAN_ENTROPY) < GAUSSIAN_SHARE * first


def has_settled(run: JudgedRun) -> bool:
    """Whether the policy became deterministic after learning, and keeps its reward.

    A noisy reward is then as high as it gets, but never steady enough to count as a ceiling. A
    policy that lost its reward, or never gained one, has collapsed.
    """
    entropy = run.histories.get("entropy")
    if entropy is None or not run.reward_pays:
        return False
    return is_discrete(run) and entropy.last < SETTLED_SHARE * highest_initial_entropy(entropy)
