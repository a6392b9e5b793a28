"""Rows of the checklist: the values that trainers' guides call crucial, by family."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ppo_top.catalogue import UNKNOWN_TRAINER, Trainer, why_missing
from ppo_top.catalogue.table import TABLES_FOLDER, table_rows
from ppo_top.model import Profile


class CrucialValue(NamedTuple):
    """A row of the checklist; `if_logged`: left out where the run does not log it."""

    concept: str
    label: str
    if_logged: bool


def crucial_values(profile: Profile) -> list[tuple[str, str]]:
    """(concept, label) of each checklist row of a run, most important first."""
    by_name, names = _table(), (profile.trainer_id, profile.algo, profile.family)
    rows = next((by_name[name] for name in names if name in by_name), by_name["unknown"])
    shown = (row for row in rows if not row.if_logged or row.concept in profile.tags)
    return [(row.concept, row.label) for row in shown]


@cache
def _table() -> dict[str, list[CrucialValue]]:
    """Rows by trainer id, algorithm or family."""
    found: dict[str, list[CrucialValue]] = {}
    text = (TABLES_FOLDER / "crucial.tsv").read_text(encoding="utf-8")
    for _, (whose, concept, label, *when) in table_rows(text):
        found.setdefault(whose, []).append(CrucialValue(concept, label, bool(when)))
    return found


def not_logged_text(concept: str, trainer: Trainer) -> str:
    """The note on a metric that a run does not log, with the option that would log it."""
    why = why_missing(concept, trainer.id)
    if why:
        return f"not logged: {why}"
    unnamed = trainer.id in ("custom", UNKNOWN_TRAINER.id, "")
    return "not logged" if unnamed else f"not logged by {_writer(trainer)}"


def _writer(trainer: Trainer) -> str:
    """The library, without the algorithm, but for TRL, whose trainers differ."""
    return trainer.label if trainer.label.startswith("TRL ") else trainer.label.split(" PPO")[0]
