"""Mean and standard deviation; `statistics` takes longer to import than most have to compute."""

from __future__ import annotations

import math
from collections.abc import Sequence


def mean(values: Sequence[float]) -> float:
    """The mean of at least one value."""
    return math.fsum(values) / len(values)


def deviation(values: Sequence[float]) -> float:
    """The standard deviation of at least two values, of which they are a sample."""
    middle = mean(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))
