"""A rule that a user writes in the settings: its words, and what each of them takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SEVERITIES = ("info", "watch", "warn", "crit")

RULE_KEYS = {
    **dict.fromkeys(("id", "metric", "title", "say"), "text in quotes"),
    **dict.fromkeys(("above", "below"), "a number"),
    **dict.fromkeys(("k", "n", "warmup", "clear"), "a whole number, 0 or more"),
    **dict.fromkeys(("causes", "try"), "a list of texts"),
    "severity": f"one of {', '.join(SEVERITIES)}",
}
"""The words of a rule, and what they take."""


@dataclass(frozen=True, slots=True)
class CustomRule:
    """A rule that a user wrote: `metric` (a concept or a tag) is not to pass `above` or `below`.

    It speaks when `k` of the last `n` points are beyond its limit, after `warmup` points, and falls
    silent after `clear` points that are not.
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
    """The word that is wrong and what it should be; None where the words make a rule."""
    for word, value in given.items():
        if not _fits(word, value):
            return word, f"is {RULE_KEYS[word]}"
    if not {"id", "metric"} <= given.keys() or not {"above", "below"} & given.keys():
        return "", "needs id, metric, and above or below"
    if given.get("k", 3) > given.get("n", 5):  # type: ignore[operator]
        return "k", "is at most n (which is 5 unless said)"
    return None


def make_custom_rule(given: Mapping[str, object]) -> CustomRule:
    """The rule that faultless words make."""
    named = {"remedies" if word == "try" else word: value for word, value in given.items()}
    lists = {word: tuple(value) for word, value in named.items() if isinstance(value, list)}
    return CustomRule(**{**named, **lists})  # type: ignore[arg-type]


def _fits(word: str, value: object) -> bool:
    """Whether a word holds what it should."""
    kind = RULE_KEYS[word]
    if word == "severity":
        return value in SEVERITIES
    if kind == "text in quotes":
        return isinstance(value, str) and bool(value)
    if kind == "a number":
        return is_number(value)
    if kind == "a list of texts":
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_number(value: object) -> bool:
    """Whether a value of a settings file is a number (and not NaN)."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value
