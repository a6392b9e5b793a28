"""A rule that a user writes in the settings: its keys and their values."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ppo_top.model.named_tuple import NamedTuple

SEVERITIES = ("info", "watch", "warn", "crit")

RULE_KEYS = {
    **dict.fromkeys(("id", "metric", "title", "say"), "text in quotes"),
    **dict.fromkeys(("above", "below"), "a finite number"),
    **dict.fromkeys(("k", "n", "warmup", "clear"), "a whole number, 0 or more"),
    **dict.fromkeys(("causes", "try"), "a list of strings"),
    "severity": f"one of {', '.join(SEVERITIES)}",
}
"""The keys of a rule, and what each expects."""


class CustomRule(NamedTuple):
    """Fires when `metric` (a metric or a tag) is `above` or `below` a limit.

    It fires when `k` of the last `n` points are beyond the limit, after `warmup` points, and clears
    after `clear` points that are not.
    """

    id: str
    metric: str
    above: float | None = None
    below: float | None = None
    severity: str = "warn"
    title: str = ""
    say: str = ""
    k: int = 3
    n: int = 5
    warmup: int = 0
    clear: int = 3
    causes: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()


def find_fault(given: Mapping[str, object]) -> tuple[str, str] | None:
    """The first wrong key and what is wrong with it; None if these keys make a rule."""
    for key, value in given.items():
        if not _fits(key, value):
            return key, f"expected {RULE_KEYS[key]}"
    if not {"id", "metric"} <= given.keys() or not {"above", "below"} & given.keys():
        return "", "needs id, metric, and above or below"
    if given.get("k", 3) > given.get("n", 5):  # type: ignore[operator]
        return "k", "must not exceed n (default 5)"
    return None


def make_custom_rule(given: Mapping[str, object]) -> CustomRule:
    """The rule of keys without a fault."""
    named = {"remedies" if key == "try" else key: value for key, value in given.items()}
    lists = {key: tuple(value) for key, value in named.items() if isinstance(value, list)}
    return CustomRule(**{**named, **lists})  # type: ignore[arg-type]


def _fits(key: str, value: object) -> bool:
    kind = RULE_KEYS[key]
    if key == "severity":
        return value in SEVERITIES
    if kind == "text in quotes":
        return isinstance(value, str) and bool(value)
    if kind == "a finite number":
        return is_finite_number(value)
    if kind == "a list of strings":
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_finite_number(value: object) -> bool:
    """Whether a value from a settings file is a number that a float can hold, and a finite one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of TOML has any number of digits
        return False
