"""Which trainer wrote a log, decided by its tags."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from ppo_top.catalogue.table import TagTable, trainer_tables


class Trainer(NamedTuple):
    """A trainer.

    `id` is the name of its table file. `family` (`ctrl`, `rlhf`, `grpo` or `unknown`) decides which
    limits apply. `algo` is `PPO`, `GRPO`, `A2C`, `DQN`, `SAC`, ..., or empty while unknown.
    """

    id: str
    label: str
    family: str
    algo: str


UNKNOWN_TRAINER = Trainer("unknown", "unknown trainer", "unknown", "")


def identify(tags: Iterable[str], formats: Iterable[str] = ()) -> Trainer:
    """The first trainer whose evidence is among the tags (and formats, spelt `@name`), or unknown.

    New tags may change the answer, so ask again when they appear.
    """
    return _identify(frozenset(tags) | {f"@{name}" for name in formats})


@lru_cache(maxsize=64)
def _identify(marks: frozenset[str]) -> Trainer:
    for table in trainer_tables().values():
        if any(_holds(table, terms, marks) for terms in table.evidence):
            return _trainer_of_table(table, marks)
    return UNKNOWN_TRAINER


def _trainer_of_table(table: TagTable, marks: frozenset[str]) -> Trainer:
    found = (name for name, terms in table.algorithms if _holds(table, terms, marks))
    algo = next(found, "")
    label = table.label if algo in table.label else f"{table.label} {algo}"
    return Trainer(table.id, label, table.family, algo)


def _holds(table: TagTable, terms: tuple[str, ...], marks: frozenset[str]) -> bool:
    """Whether every term holds: a tag, `stem*`, or `not` and either of them."""
    return all(
        not _has(table, term[4:], marks) if term.startswith("not ") else _has(table, term, marks)
        for term in terms
    )


def _has(table: TagTable, term: str, marks: frozenset[str]) -> bool:
    if term == "*" or term in marks or (table.prefix and table.prefix + term in marks):
        return True
    if term.endswith("*"):
        stem = term[:-1]
        return any(mark.startswith((stem, table.prefix + stem)) for mark in marks)
    return table.ignore_case and term.lower() in {mark.lower() for mark in marks}


def known_trainers() -> list[Trainer]:
    """Every trainer that has a table."""
    return [_trainer_of_table(table, frozenset()) for table in trainer_tables().values()]
