"""Percentages and quantiles for printing."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence


def share(part: int, whole: int) -> str:
    """`16/17 (94 %, 73-99)`, with the 95 % Wilson interval."""
    if not whole:
        return "none"
    z, p = 1.96, part / whole
    middle = (p + z * z / (2 * whole)) / (1 + z * z / whole)
    half = z * math.sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole)) / (1 + z * z / whole)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return f"{part}/{whole} ({100 * p:.0f} %, {100 * low:.0f}-{100 * high:.0f})"


def quantiles(values: Sequence[float]) -> str:
    """Median and 90th percentile; what was never found counts as infinite."""
    if not values:
        return "none"
    ranked = sorted(values)
    ninth = ranked[min(len(ranked) - 1, math.ceil(0.9 * len(ranked)) - 1)]
    return f"median {statistics.median(ranked):g}, p90 {ninth:g}"
