"""What the trainers' guides say, taken literally: any single point outside a range is an alarm."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ppo_top.model import Row

FORGIVEN = 3
"""The first rows in which explained variance may be at or below 0."""


def first_alarm(rows: Sequence[Row], family: str) -> str | None:
    """The concept of the first point that a guide calls bad, or None."""
    losses: list[float] = []
    for number, row in enumerate(rows):
        found = next((name for name, value in row.values.items() if math.isnan(value)), None)
        found = found or _outside(row, family, number) or _spike(row, losses)
        if found:
            return found
    return None


def _outside(row: Row, family: str, number: int) -> str | None:
    limits = _LIMITS.get(family, {})
    for name, value in row.values.items():
        low, high = limits.get(name, (-math.inf, math.inf))
        forgiven = name == "explained_variance" and number < FORGIVEN
        if not low <= value <= high and not forgiven:
            return name
    return None


def _spike(row: Row, losses: list[float]) -> str | None:
    """A value loss three times as high as the median of those before."""
    value = row.values.get("value_loss")
    if value is None:
        return None
    usual = sorted(losses)[len(losses) // 2] if len(losses) >= 5 else math.inf
    losses.append(value)
    return "value_loss" if value > 3 * usual else None


_LIMITS: dict[str, dict[str, tuple[float, float]]] = {
    "ctrl": {
        "approx_kl": (-math.inf, 0.03),
        "clip_fraction": (0.0, 0.3),
        "explained_variance": (1e-9, math.inf),
        "entropy": (0.1, math.inf),
        "policy_loss": (-1.0, 1.0),
    },
    "rlhf": {
        "approx_kl": (0.0, 0.05),
        "clip_fraction": (0.0, 0.2),
        "ratio_mean": (0.1, 2.0),
        "ref_kl": (0.0, 10.0),
        "explained_variance": (0.0, math.inf),
        "entropy": (0.1, math.inf),
    },
    "grpo": {
        "ref_kl_token": (0.0, 0.1),
        "clip_fraction": (0.0, 0.2),
        "truncated_frac": (0.0, 0.3),
        "entropy": (0.1, math.inf),
    },
}
"""(low, high) of each value as the guides print them."""
