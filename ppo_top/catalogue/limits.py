"""What the thresholds of rules do, by their names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ppo_top.catalogue.table import shared_table

EVERY_RULE = "*"
"""Stands for all rules that have a threshold of a name."""


def limit_meanings(rule: str) -> Mapping[str, str]:
    """What each threshold of a rule does, by name; its own come first, in reading order."""
    tables = _meanings()
    return {**tables.get(rule, {}), **tables[EVERY_RULE]}


@cache
def _meanings() -> dict[str, dict[str, str]]:
    """The table: rule -> name -> meaning."""
    found: dict[str, dict[str, str]] = {}
    for rules, name, meaning in shared_table("limits"):
        for rule in rules.split("|"):
            found.setdefault(rule, {})[name] = meaning
    return found
