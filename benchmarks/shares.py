"""Percentages and quantiles for printing."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence


def share(part: float, whole: int) -> str:
    """`16/17 (94 %, 73-99)`, with the 95 % Wilson interval."""
    if not whole:
        return "none"
    z, p = 1.96, part / whole
    middle = (p + z * z / (2 * whole)) / (1 + z * z / whole)
    half = z * math.sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole)) / (1 + z * z / whole)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return f"{part:.4g}/{whole} ({100 * p:.0f} %, {100 * low:.0f}-{100 * high:.0f})"


def mean_rate(count: int, runs: int) -> str:
    """`0.12 (0.03-0.28)`: events a run, with the 95 % interval of a Poisson rate."""
    if not runs:
        return "none"
    # Byar's approximation of the exact interval
    low = count * (1 - 1 / (9 * count) - 1.96 / (3 * math.sqrt(count))) ** 3 if count else 0.0
    more = count + 1
    high = more * (1 - 1 / (9 * more) + 1.96 / (3 * math.sqrt(more))) ** 3
    return f"{count / runs:.2f} ({low / runs:.2f}-{high / runs:.2f})"


def quantiles(values: Sequence[float]) -> str:
    """Median and 90th percentile; what was never found counts as infinite."""
    if not values:
        return "none"
    ranked = sorted(values)
    ninth = ranked[min(len(ranked) - 1, math.ceil(0.9 * len(ranked)) - 1)]
    return f"median {statistics.median(ranked):g}, p90 {ninth:g}"
