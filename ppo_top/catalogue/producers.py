"""Who wrote a log: decided by the tags that are in it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from ppo_top.catalogue.table import Table, trainers


class Producer(NamedTuple):
    """A trainer.

    `family` is `ctrl`, `rlhf`, `grpo` or `unknown` and says whose limits apply. `algo` is `PPO`,
    `GRPO`, `A2C`, `DQN`, `SAC`, ...
    or empty as long as no tag tells.
    """

    id: str
    label: str
    family: str
    algo: str


UNKNOWN = Producer("unknown", "unknown trainer", "unknown", "")


def identify(tags: Iterable[str], formats: Iterable[str] = ()) -> Producer:
    """The first trainer whose marks are among the tags (and formats, spelt `@name`), or unknown.

    More tags may change the answer, so it is to be asked again when new ones appear.
    """
    return _identify(frozenset(tags) | {f"@{name}" for name in formats})


@lru_cache(maxsize=64)
def _identify(marks: frozenset[str]) -> Producer:
    for table in trainers().values():
        if any(_holds(table, terms, marks) for terms in table.evidence):
            return _producer(table, marks)
    return UNKNOWN


def _producer(table: Table, marks: frozenset[str]) -> Producer:
    found = (name for name, terms in table.algorithms if _holds(table, terms, marks))
    algo = next(found, "")
    label = table.label if algo in table.label else f"{table.label} {algo}"
    return Producer(table.id, label, table.family, algo)


def _holds(table: Table, terms: tuple[str, ...], marks: frozenset[str]) -> bool:
    """Whether every term holds: a tag, `stem*`, or `not` and either of them."""
    return all(
        not _has(table, term[4:], marks) if term.startswith("not ") else _has(table, term, marks)
        for term in terms
    )


def _has(table: Table, term: str, marks: frozenset[str]) -> bool:
    if term == "*" or term in marks or (table.prefix and table.prefix + term in marks):
        return True
    if term.endswith("*"):
        stem = term[:-1]
        return any(mark.startswith((stem, table.prefix + stem)) for mark in marks)
    return table.fold and term.lower() in {mark.lower() for mark in marks}


def producers() -> list[Producer]:
    """Every trainer that there is a table for."""
    return [_producer(table, frozenset()) for table in trainers().values()]
