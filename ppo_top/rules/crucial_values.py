"""Rows of the checklist: the values that trainers' guides call crucial, by family."""

from __future__ import annotations

from functools import cache

from ppo_top.catalogue import (
    UNKNOWN_FAMILY,
    UNKNOWN_TRAINER,
    Trainer,
    concept,
    concept_stem,
    why_missing,
)
from ppo_top.catalogue.table import shared_table
from ppo_top.model import Profile
from ppo_top.model.named_tuple import NamedTuple

FALLBACK_CONCEPTS = {
    "reward_mean": ("eval_success_rate", "success_rate", "win_rate"),
    "ref_kl": ("ref_kl_token",),
    "ref_kl_token": ("ref_kl",),
    "approx_kl": ("approx_kl_k1",),
    "entropy": ("seq_entropy",),
    "ratio_dist": ("ratio_dist{max}",),
    "critic_loss": ("total_loss", "value_loss"),
    "actor_loss": ("policy_loss",),
}
"""concept -> cruder estimates of it, or other names, shown where only they are logged."""


class CrucialValue(NamedTuple):
    """A row of the checklist.

    `context`: it helps to read the others, and a run may be judged without it; `optional`: the
    same, and left out where it is not logged.
    """

    concept: str
    label: str
    context: bool
    optional: bool


def crucial_values(profile: Profile) -> list[tuple[str, str]]:
    """(concept, label) of each checklist row of a run, most important first."""
    shown = (row for row in _rows(profile) if not row.optional or row.concept in profile.tags)
    return [(row.concept, row.label) for row in shown]


def value_name(name: str, profile: Profile) -> str:
    """What a metric is called in a run: as its checklist has it, so that all texts agree."""
    called = (row.label for row in _rows(profile) if row.concept == name)
    return next(called, concept(name).label)


def essential_values(profile: Profile) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(concept, label) of the values that a verdict rests on: those logged, those not logged."""
    stems = {concept_stem(name) for name in profile.tags}
    logged: list[tuple[str, str]] = []
    missing: list[tuple[str, str]] = []
    for row in _rows(profile):
        if not (row.context or row.optional or row.concept.endswith("{f}")):
            same = {row.concept, *FALLBACK_CONCEPTS.get(row.concept, ())}
            (missing if stems.isdisjoint(same) else logged).append((row.concept, row.label))
    return logged, missing


def _rows(profile: Profile) -> list[CrucialValue]:
    own = "" if profile.trainer_id == UNKNOWN_TRAINER.id else profile.trainer_id
    by_name, names = _table(), (own, profile.algo, profile.family)
    return next((by_name[name] for name in names if name in by_name), by_name[UNKNOWN_FAMILY])


@cache
def _table() -> dict[str, list[CrucialValue]]:
    """Rows by trainer id, algorithm or family."""
    found: dict[str, list[CrucialValue]] = {}
    for whose, name, label, *when in shared_table("crucial"):
        row = CrucialValue(name, label, "context" in when, "optional" in when)
        found.setdefault(whose, []).append(row)
    return found


def not_logged_text(name: str, trainer: Trainer) -> str:
    """The note on a metric that a run does not log, with the option that would log it."""
    why = why_missing(name, trainer.id)
    if why:
        return f"not logged: {why}"
    unnamed = trainer.id in ("custom", UNKNOWN_TRAINER.id, "")
    return "not logged" if unnamed else f"not logged by {_writer(trainer)}"


def _writer(trainer: Trainer) -> str:
    """The library, without the algorithm, but for TRL, whose trainers differ."""
    return trainer.label if trainer.label.startswith("TRL ") else trainer.label.split(" PPO")[0]
