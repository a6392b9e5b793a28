"""Metrics of a log that only sum up another one of the same meaning."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, pairwise

from ppo_top.parsers.shared.names.metric_names import normalise
from ppo_top.runs.rows.concept_stream import ConceptStream

Rivals = tuple[tuple[ConceptStream, ...], ...]
"""The streams of one meaning in one chain, where there are several."""

MANY_POINTS = 10
"""Beside a tag with so many points, one of the same meaning with a single point is a summary."""

SUMMED_ROWS = 4
"""So is one that is as likely what it is called and has a point for so many of the other's:
`avg_reward`, of the last ten iterations, beside the `reward_mean` of each."""

MEAN_ROWS, MEAN_ROUNDING = 5, 0.02
"""A moving mean begins as that of all values so far: so many are compared, and may be off by this
share of their range, as they are rounded."""

_WHOLE = ("total", "episode", "cumulative")
"""How the names of an episode's reward begin, beside that of a step: `total reward`."""


def rivals(streams: Iterable[ConceptStream]) -> Rivals:
    """The streams of one meaning in one chain, where there are several."""
    found: dict[tuple[str, str], list[ConceptStream]] = {}
    for stream in streams:
        found.setdefault((stream.source, stream.concept), []).append(stream)
    return tuple(tuple(alike) for alike in found.values() if len(alike) > 1)


def summaries(several: Rivals) -> frozenset[ConceptStream]:
    """Those that are but a summary of another one: `Average Reward` in the last line of a log.

    And those of each step of an episode, whose sum is another one, and means of the last episodes
    beside each episode's own.
    """
    return frozenset(
        stream
        for alike in several
        for stream in alike
        if any(_sums_up(stream, other) for other in alike)
    )


def _sums_up(stream: ConceptStream, other: ConceptStream) -> bool:
    few, many = (sum(map(len, each.parts)) for each in (stream, other))
    is_sparse = stream.priority == other.priority and SUMMED_ROWS * few <= many
    if is_sparse and few > 1 and _is_of_steps(other, stream):
        return False
    is_dense = few >= SUMMED_ROWS * many > SUMMED_ROWS and _is_of_steps(stream, other)
    is_late = many >= MANY_POINTS and (few == 1 or is_sparse)
    return is_dense or is_late or _is_moving_mean(stream, other)


def _is_of_steps(stream: ConceptStream, other: ConceptStream) -> bool:
    """Whether one is the reward of each step and the other one that of whole episodes."""
    of_one, of_all = (normalise(each.tag.rpartition("/")[2]) for each in (stream, other))
    return of_one == "reward" and of_all.endswith("reward") and of_all.startswith(_WHOLE)


def _is_moving_mean(stream: ConceptStream, other: ConceptStream) -> bool:
    """Whether each of its first values is the mean of the other's up to there.

    In a row for every tenth episode the means are of others, too.
    """
    if stream.head is None or other.head is None:
        return False
    means, values = (each.values[:MEAN_ROWS] for each in (stream.head, other.head))
    at_once = stream.head.steps[:MEAN_ROWS] == other.head.steps[:MEAN_ROWS]
    if not at_once or len(means) < MEAN_ROWS or len(set(values)) == 1:
        return False
    numbers = (pairwise(each.values[:MEAN_ROWS]) for each in stream.episode_numbers)
    if any(later != one + 1 for pairs in numbers for one, later in pairs):
        return False
    allowed = MEAN_ROUNDING * (max(values) - min(values))
    expected = (total / count for count, total in enumerate(accumulate(values), 1))
    return all(abs(one - mean) <= allowed for one, mean in zip(expected, means, strict=True))
