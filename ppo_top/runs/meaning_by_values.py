"""Meanings that a name leaves open and the first values settle."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ppo_top.catalogue import Meaning

MIN_START_ENTROPY = 0.3
"""Nats: an untrained policy has more, with two actions 0.69; less is weighted by a coefficient."""

MIN_REPEATS = 2
"""So many rows with the number of the row before: a count of all steps would have grown."""


def settle_sign(guess: Meaning, values: Sequence[float]) -> Meaning | None:
    """`entropy_loss` with the sign that makes an untrained policy's entropy positive.

    SB3 and its like log minus the entropy, others the entropy itself; None where the first value
    is too small to tell, or no number.
    """
    first = values[0] if values else 0.0
    if not abs(first) >= MIN_START_ENTROPY:
        return None
    return guess._replace(scale=1.0 if first > 0.0 else -1.0)


def counts_one_episode(values: Sequence[float]) -> bool:
    """Whether "steps" beside a count of episodes are those of one episode, not of all so far.

    A mean over several episodes need not be whole.
    """
    if any(after < before for before, after in pairwise(values)):
        return True
    repeats = sum(after == before for before, after in pairwise(values))
    return repeats >= MIN_REPEATS or any(value % 1 for value in values)


def counts_a_batch(values: Sequence[float]) -> bool:
    """Whether "episodes" are those of each batch: a count of all would only fall to begin anew."""
    return any(values[0] < after < before for before, after in pairwise(values))
