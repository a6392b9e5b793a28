"""Under which names trackers log what they measure of the machine."""

from __future__ import annotations

import re
from functools import cache

from ppo_top.catalogue.table import shared_table
from ppo_top.model.named_tuple import NamedTuple

LIVE_PREFIX = "live."
"""Prefix of what ppo-top measures itself."""


class MachineTag(NamedTuple):
    """One line of the table: `scale` turns the tracker's unit into that of the metric."""

    tag: str
    metric: str
    scale: float


@cache
def machine_tag(tag: str) -> MachineTag | None:
    """What a tag measures of the machine; None if that is not known."""
    return next((each for pattern, each in _patterns() if pattern.fullmatch(tag)), None)


@cache
def _patterns() -> list[tuple[re.Pattern[str], MachineTag]]:
    lines = [
        MachineTag(tag, name, float(scale)) for tag, name, scale, *_ in shared_table("machine")
    ]
    return [(re.compile(re.escape(each.tag).replace(r"\*", r"\d+")), each) for each in lines]
