"""Which trainer wrote a log, decided by its tags."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from ppo_top.catalogue.families import ON_POLICY, UNKNOWN_FAMILY, algorithms, holds
from ppo_top.catalogue.table import TagTable, trainer_tables
from ppo_top.model.named_tuple import NamedTuple


class Trainer(NamedTuple):
    """A trainer.

    `id` is the name of its table file. `family` (see `catalogue.families`) decides which rules and
    limits apply. `algo` is `PPO`, `GRPO`, `A2C`, `DQN`, `SAC`, ..., or empty while unknown.
    """

    id: str
    label: str
    family: str
    algo: str


UNKNOWN_TRAINER = Trainer("unknown", "unknown trainer", UNKNOWN_FAMILY, "")


_WORD = re.compile(r"[a-z]+")
_FEWEST_FLAT_TAGS = 8
"""`train_loss` and `train_reward` alone may stand in any script's columns."""


def identify(
    tags: Iterable[str],
    formats: Iterable[str] = (),
    settings: Iterable[str] = (),
    file_name: str = "",
) -> Trainer:
    """The first trainer whose evidence is among the tags, or unknown.

    In the tables, formats are spelt `@name`, options set by the run `@setting:name`, and words of
    the file's name, which are asked last, `@file:word`. New tags may change the answer, so ask
    again when they appear.
    """
    known = (*(f"@{name}" for name in formats), *(f"@setting:{name}" for name in settings))
    marks = frozenset(tags).union(known)
    found = _identify(marks)
    if found is UNKNOWN_TRAINER and (named := _marks_of_name(file_name)):
        return _identify(marks | named)
    return found


def _marks_of_name(file_name: str) -> frozenset[str]:
    """What a file's name says, as far as it is evidence in some table."""
    return _file_terms().intersection(f"@file:{word}" for word in _WORD.findall(file_name.lower()))


@cache
def _file_terms() -> frozenset[str]:
    proofs = (terms for table in trainer_tables().values() for terms in table.evidence)
    return frozenset(term for terms in proofs for term in terms if term.startswith("@file:"))


@lru_cache(maxsize=64)
def _identify(marks: frozenset[str]) -> Trainer:
    for table in trainer_tables().values():
        if any(_holds(table, terms, marks) for terms in table.evidence):
            return _trainer_of_table(table, marks)
    return _identify_flat(marks)


def _identify_flat(marks: frozenset[str]) -> Trainer:
    """The trainer of a log that spells its tags with `_` for `/`: many of them have to be there."""
    if any("/" in mark for mark in marks):
        return UNKNOWN_TRAINER
    for table in trainer_tables().values():
        proofs = (tuple(term.replace("/", "_") for term in terms) for terms in table.evidence)
        if any(_holds(table, terms, marks) for terms in proofs):
            spelt = {table.flat_tags[mark] for mark in marks if mark in table.flat_tags}
            if len(spelt) >= _FEWEST_FLAT_TAGS:
                return _trainer_of_table(table, marks | spelt)
    return UNKNOWN_TRAINER


def _trainer_of_table(table: TagTable, marks: frozenset[str]) -> Trainer:
    def proven(lines: Iterable[tuple[str, tuple[str, ...]]]) -> str:
        return next((name for name, terms in lines if _holds(table, terms, marks)), "")

    algo = proven(table.algorithms)
    known = algorithms().get(algo)
    family = proven(table.families) or (known.family if known is not None else UNKNOWN_FAMILY)
    return Trainer(table.id, _label(table, algo), family, algo)


def is_variant(trainer: Trainer, other: Trainer) -> bool:
    """Whether a trainer goes on from another one, whose tags it logs besides its own."""
    table = trainer_tables().get(trainer.id)
    return table is not None and table.like == other.id


def with_algorithm(trainer: Trainer, stated: object) -> Trainer:
    """A trainer whose log does not show its algorithm, with the one that a setting states."""
    algo = "" if trainer.algo or not isinstance(stated, str) else _algorithm_called(stated)
    if not algo:
        return trainer
    family = algorithms()[algo].family
    if trainer.family not in (UNKNOWN_FAMILY, family):
        return trainer
    table = trainer_tables().get(trainer.id)
    label = _label(table, algo) if table is not None else trainer.label
    return trainer._replace(label=label, family=family, algo=algo)


def _algorithm_called(name: str) -> str:
    """`qrdqn` is QR-DQN, and `ppo_lstm`, `RecurrentPPO` and `MaskablePPO` are kinds of PPO."""
    plain = _letters(name)
    found = next((known for known in algorithms() if _letters(known) == plain), "")
    return found or ("PPO" if plain.startswith("ppo") or plain.endswith("ppo") else "")


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower()))


def _label(table: TagTable, algo: str) -> str:
    """The table's label with the algorithm, in place of another one that it names."""
    words = table.label.split()
    named = next((word for word in words if word in algorithms()), None)
    if named is not None and algo:
        return " ".join(algo if word == named else word for word in words)
    return f"{table.label} {algo}".rstrip()


def _holds(table: TagTable, terms: tuple[str, ...], marks: frozenset[str]) -> bool:
    return holds(terms, lambda tag: _has(table, tag, marks))


def _has(table: TagTable, term: str, marks: frozenset[str]) -> bool:
    """Whether a tag, or one that a pattern with one `*` fits, is among the marks."""
    if term == "*" or term in marks or (table.prefix and table.prefix + term in marks):
        return True
    stem, star, end = term.partition("*")
    if star:
        stems = (stem, table.prefix + stem)
        return any(mark.startswith(stems) and mark.endswith(end) for mark in marks)
    return table.ignore_case and term.lower() in {mark.lower() for mark in marks}


def known_trainers() -> list[Trainer]:
    """Every trainer that has a table; one with many algorithms as the on-policy one that it is."""
    found = (_trainer_of_table(table, frozenset()) for table in trainer_tables().values())
    return [
        each._replace(family=ON_POLICY) if each.family == UNKNOWN_FAMILY else each for each in found
    ]
