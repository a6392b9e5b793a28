"""Which units of logs are worth comparing: all pairs would take too long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

from ppo_top.runs.grouping.log_units import LogUnit

MAX_NEIGHBOURS = 40
"""Most units of a folder of which all pairs are compared; of more, only likely ones."""
MAX_EQUAL_FIRST = 64
"""A first value that more units share tells nothing."""
MIN_EQUAL_FIRSTS = 0.25
"""The share of their common tags that have equal first values in any two units of one training: it
is far lower than that of equal tags, as a console may print few digits."""

UnitPair = tuple[LogUnit, LogUnit]


def comparable_pairs(
    units: Sequence[LogUnit], below: Mapping[str, Sequence[LogUnit]]
) -> Iterator[UnitPair]:
    """Pairs near each other, and all pairs with some equal first values, each once.

    `below`: folder -> the units in and below it.
    """
    seen = set()
    for pair in (*_neighbours(units, below), *_pairs_with_equal_firsts(units)):
        one, other = sorted(pair, key=lambda unit: unit.id)
        if one.has_points and other.has_points and (one.id, other.id) not in seen:
            seen.add((one.id, other.id))
            yield one, other


def _neighbours(
    units: Sequence[LogUnit], below: Mapping[str, Sequence[LogUnit]]
) -> Iterator[UnitPair]:
    for home in {unit.home for unit in units}:
        near = below[home]
        if len(near) <= MAX_NEIGHBOURS:
            yield from (
                (one, other)
                for one, other in combinations(near, 2)
                if home in (one.home, other.home)
            )


def _pairs_with_equal_firsts(units: Sequence[LogUnit]) -> Iterator[UnitPair]:
    table: dict[tuple[str, int, int], list[int]] = {}
    for number, unit in enumerate(units):
        for value in unit.rough_values:
            table.setdefault(value, []).append(number)
    equal: Counter[tuple[int, int]] = Counter()
    for (tag, exponent, digits), same in table.items():
        beside = table.get((tag, exponent, digits + 1), ())
        if 1 < len(same) + len(beside) <= MAX_EQUAL_FIRST:
            equal.update(combinations(same, 2))
            equal.update((min(pair), max(pair)) for pair in product(same, beside))
    tags = [{tag for tag, _, _ in unit.rough_values} for unit in units]
    for (one, other), count in equal.items():
        if count >= MIN_EQUAL_FIRSTS * len(tags[one] & tags[other]):
            yield units[one], units[other]
