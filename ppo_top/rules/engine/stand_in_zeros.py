"""Zeros that stand for something else: for "no update here", or for a rate too small to print."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

FILLED_LOSSES = ("policy_loss", "value_loss")
FILLED_CONCEPTS = ("entropy", "explained_variance", "approx_kl", "clip_fraction", "grad_norm")
"""What an update logs besides its losses."""


def without_filling(values: Mapping[str, float]) -> Mapping[str, float]:
    """The values of a row without zeros that only stand for "no update here".

    Scripts write them in rows of episodes: no update leaves both losses and all else at exactly 0.
    """
    if any(values.get(loss) != 0.0 for loss in FILLED_LOSSES):
        return values
    logged = [concept for concept in FILLED_CONCEPTS if concept in values]
    if not logged or any(values[concept] != 0.0 for concept in logged):
        return values
    filling = {*FILLED_LOSSES, *logged}
    return {concept: value for concept, value in values.items() if concept not in filling}


FEW_DECIMALS = 4
"""A log that prints no value with more decimals shows a learning rate of 1e-5 as 0."""

MIN_FRACTIONS = 2
"""So many values that are no whole numbers tell how many decimals are printed."""


def without_rounded_rate(values: Mapping[str, float]) -> Mapping[str, float]:
    """The values of a row without a learning rate of 0 that may have been rounded to it."""
    if values.get("lr") != 0.0:
        return values
    fractions = [value for value in values.values() if math.isfinite(value) and value % 1.0]
    if len(fractions) < MIN_FRACTIONS:
        return values
    if not all(_has_few_decimals(value) for value in fractions):
        return values
    return {concept: value for concept, value in values.items() if concept != "lr"}


def _has_few_decimals(value: float) -> bool:
    """Whether the value may have been printed so; one in percent was divided by 100 since."""
    return math.isclose(round(value, FEW_DECIMALS), value, rel_tol=1e-9)


def without_stand_ins(values: Mapping[str, float]) -> Mapping[str, float]:
    """The values of a row without zeros that stand for something else."""
    return without_rounded_rate(without_filling(values))


def may_hold_stand_ins(columns: Mapping[str, Collection[float]]) -> bool:
    """Whether `without_stand_ins` could leave out values of some rows with these columns."""
    filled = all(0.0 in columns.get(loss, ()) for loss in FILLED_LOSSES)
    return filled or 0.0 in columns.get("lr", ())
