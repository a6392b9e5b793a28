"""Families of algorithms, what is known of each algorithm, and the family that metrics show."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, lru_cache

from ppo_top.catalogue.concepts import concept_stem
from ppo_top.catalogue.table import shared_table, trainer_tables
from ppo_top.model.named_tuple import NamedTuple

ON_POLICY, VALUE_BASED, OFF_POLICY = "on-policy", "value-based", "off-policy"
RLHF, GRPO, PREFERENCE = "rlhf", "grpo", "preference"
UNKNOWN_FAMILY = "unknown"
TEXT_FAMILIES = frozenset({RLHF, GRPO, PREFERENCE})
"""The families that train language models."""


ROUNDED = "rounded"
"""The fact that values may be rounded to a few decimals, as scripts print them."""

ROW_PER_EPISODE = "row-per-episode"
"""The fact that a row is one episode's, whatever else stands in it."""


class Algorithm(NamedTuple):
    """An algorithm: its family, and facts about its usual implementations."""

    name: str
    family: str
    facts: frozenset[str]


@cache
def algorithms() -> dict[str, Algorithm]:
    """The known algorithms by name."""
    return {
        name: Algorithm(name, family, frozenset("".join(facts).split()))
        for name, family, *facts in shared_table("algorithms")
    }


def family_of_metrics(logged: Iterable[str]) -> str:
    """The family that a set of metrics shows; `unknown` where they are too few."""
    stems = frozenset(map(concept_stem, logged))
    found = (family for family, terms in _metric_lines() if holds(terms, stems.__contains__))
    return next(found, UNKNOWN_FAMILY)


def holds(terms: Collection[str], has: Callable[[str], bool]) -> bool:
    """Whether every term holds: a name that is there, or `not` and one that is not."""
    return all(
        not has(term.removeprefix("not ")) if term.startswith("not ") else has(term)
        for term in terms
    )


@lru_cache(maxsize=256)
def facts_about(trainer: str, algo: str = "") -> Mapping[str, str]:
    """What the code of a trainer (an id) and of an algorithm does, by the name of the fact."""
    known = algorithms().get(algo)
    found = dict.fromkeys(known.facts, "yes") if known is not None else {}
    if trainer == UNKNOWN_FAMILY:
        found = {ROUNDED: "yes", **found}
    table = trainer_tables().get(trainer)
    while table is not None:
        found = {**table.facts, **found}
        table = trainer_tables().get(table.like)
    return found


def why_missing(concept: str, trainer: str) -> str:
    """Why a trainer (an id) does not log a metric, or how to have it logged; empty if unknown."""
    table = trainer_tables().get(trainer)
    return table.missing.get(concept, "") if table is not None else ""


@cache
def _metric_lines() -> list[tuple[str, tuple[str, ...]]]:
    return [(cells[0], tuple(cells[1].split(" & "))) for cells in shared_table("families")]
