"""Names of statistics that leave open what they are of: `reward mean=0.8 std=0.2`."""

from __future__ import annotations

import re

from ppo_top.parsers.shared.names import metric_names
from ppo_top.text.lazy_pattern import lazy_pattern

_STATISTICS = frozenset({"std", "min", "max", "median"})
_NAME = r"(?:mean|avg\.?|average|std|min|max|median)"
_MEAN = lazy_pattern(
    rf"(?P<first>.+)[ _]{_NAME}|{_NAME}[ _](?P<last>.+)|(?P<inside>.+\(){_NAME}\)", re.IGNORECASE
)
"""Also `Average return: 0.8, std: 0.2` and `Adv(mean=0.8, std=0.2)`."""
_BARE_MEANS = frozenset({"mean", "avg", "average"})


def is_bare(name: str) -> bool:
    """Whether a name says a statistic, and not of what."""
    return name.lower() in _STATISTICS


def name_behind(name: str, before: str) -> str:
    """The name of a bare statistic behind another number: with what it is of, if that says it."""
    if before.lower() in _BARE_MEANS:
        return f"{before} +/-" if name.lower() == "std" else name
    if mean := _MEAN.fullmatch(before):
        stem = mean["first"] or mean["last"]
        return f"{stem} {name}" if stem else f"{mean['inside']}{name})"
    return f"{before} {name}" if metric_names.is_reward(before) else name
