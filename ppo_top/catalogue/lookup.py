"""Reverse look-up: which tags log a metric, what a name may mean."""

from __future__ import annotations

from collections.abc import Iterator

from ppo_top.catalogue.concepts import concept_stem, is_concept
from ppo_top.catalogue.options import option, option_default, options
from ppo_top.catalogue.table import trainer_tables
from ppo_top.catalogue.tags import meaning
from ppo_top.catalogue.trainers import Trainer, known_trainers
from ppo_top.model import ConfigValue
from ppo_top.model.named_tuple import NamedTuple


class LoggedTag(NamedTuple):
    """A tag under which a trainer logs a metric, with a note on it."""

    trainer: Trainer
    tag: str
    note: str


class OptionSpelling(NamedTuple):
    """A trainer's name for an option, and its default."""

    trainer: Trainer
    name: str
    default: ConfigValue | None
    note: str


def logged_as(name: str, trainer: Trainer) -> list[LoggedTag]:
    """The tags under which a trainer logs a metric, best first."""
    wanted = {name, concept_stem(name) + "{f}"}
    table = trainer_tables().get(trainer.id)
    if table is None:
        return []
    entries = [entry for entry in table.entries.values() if entry.concept in wanted]
    if not entries and table.like:
        return logged_as(name, trainer._replace(id=table.like))
    return [LoggedTag(trainer, entry.tag, entry.note) for entry in entries]


def meanings_of(tag: str, trainer: Trainer) -> dict[str, list[Trainer]]:
    """The metrics a tag maps to, for this trainer or else for every trainer that has it.

    Guesses from the name count only if no trainer has the tag.
    """
    own = meaning(trainer, tag)
    if own is not None and not own.fallback:
        return {own.concept: [trainer]} if is_concept(own.concept) else {}
    found: dict[str, list[Trainer]] = {}
    for each in known_trainers():
        known = meaning(each, tag)
        if known is not None and not known.fallback and is_concept(known.concept):
            found.setdefault(known.concept, []).append(each)
    if not found and own is not None:
        found[own.concept] = []
    return found


def meanings_of_ending(name: str) -> dict[str, list[Trainer]]:
    """The metrics of tags that end in this name: SB3 prints `ep_rew_mean` below `rollout/`."""
    found: dict[str, list[Trainer]] = {}
    for each in known_trainers():
        table = trainer_tables().get(each.id)
        entries = table.entries.values() if table is not None else ()
        concepts = (entry.concept for entry in entries if entry.tag.endswith(f"/{name}"))
        for concept in dict.fromkeys(filter(is_concept, concepts)):
            found.setdefault(concept, []).append(each)
    return found


def all_tags() -> Iterator[str]:
    """Every tag of every table."""
    for table in trainer_tables().values():
        for entry in table.entries.values():
            yield entry.tag


def option_called(plain: str) -> str | None:
    """The canonical name of the option called `plain` (lower case), or None."""
    if any(each.canonical == plain for each in options()):
        return plain
    named = (each.canonical for each in options() if each.name.lower() == plain)
    return next(named, None)


def option_spellings(canonical: str) -> Iterator[OptionSpelling]:
    """Each trainer's name for an option."""
    for trainer in known_trainers():
        plain = trainer._replace(algo="")
        line = option(plain, canonical)
        if line is not None:
            yield OptionSpelling(plain, line.name, option_default(plain, canonical), line.note)
