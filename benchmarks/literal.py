"""The trainers' guides taken literally: any single point outside a range is an alarm."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ppo_top.model import Row

UNJUDGED_ROWS = 3
"""Explained variance may be 0 or less in the first rows."""

RULE_BY_CONCEPT = {
    "approx_kl": "kl-high",
    "approx_kl_k1": "kl-high",
    "clip_fraction": "clip-high",
    "ratio_mean": "ratio-off",
    "policy_loss": "policy-loss-positive",
    "explained_variance": "critic-not-learning",
    "value_loss": "value-loss-spike",
    "entropy": "entropy-collapsed",
    "ref_kl": "ref-kl-high",
    "ref_kl_token": "ref-kl-token-high",
    "truncated_frac": "completions-truncated",
}
"""metric -> the rule that says the same as an alarm about it"""


class Alarm(NamedTuple):
    """A point that a guide calls bad: its row, its metric, and the rule that says the same."""

    row: int
    concept: str
    rule: str


def alarms(rows: Sequence[Row], guide: str) -> Iterator[Alarm]:
    """Every point outside its range, in order."""
    losses: list[float] = []
    for number, row in enumerate(rows):
        bad = [name for name, value in row.values.items() if math.isnan(value)]
        yield from (Alarm(number, name, "non-finite") for name in bad)
        outside = [*_outside(row, guide, number), *_spike(row, losses)]
        yield from (Alarm(number, name, RULE_BY_CONCEPT.get(name, "")) for name in outside)


def _outside(row: Row, guide: str, number: int) -> Iterator[str]:
    limits = _LIMITS[guide]
    for name, value in row.values.items():
        low, high = limits.get(name, (-math.inf, math.inf))
        ignored = name == "explained_variance" and number < UNJUDGED_ROWS
        if (value < low or value > high) and not ignored:
            yield name


def _spike(row: Row, losses: list[float]) -> Iterator[str]:
    """A value loss above three times the median so far."""
    value = row.values.get("value_loss")
    if value is None:
        return
    usual = sorted(losses)[len(losses) // 2] if len(losses) >= 5 else math.inf
    losses.append(value)
    if value > 3 * usual:
        yield "value_loss"


_LIMITS: dict[str, dict[str, tuple[float, float]]] = {
    "control": {
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
"""guide -> metric -> (low, high)"""
