"""Numbers as logs write them: all kinds of NaN, thousands separators, numpy and torch wrappers."""

from __future__ import annotations

import re
from collections.abc import Iterable

_DIGITS_PATTERN = (
    r"(?:\d{1,3}(?:,\d{3})+(?![\d])(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,5})?"
)
"""It matches given digits in one way only: with two, a search through twenty numbers never ends."""
_NON_FINITE_PATTERN = (
    r"(?:[nN][aA][nN]|[iI]nf(?:inity)?|INF|Infinity)(?![A-Za-z])|1\.#(?:QNAN|IND|INF)"
)
NUMBER_PATTERN = rf"[-+]?(?:{_NON_FINITE_PATTERN}|{_DIGITS_PATTERN})"
"""Regular expression of a number inside a line, without groups."""

_NUMBER_REGEX = re.compile(NUMBER_PATTERN)
_DIGIT = re.compile(r"\d")
_NON_FINITE_WORD = re.compile(
    r"[nNiI](?:(?<=[nN])[aA][nN]|(?<=[iI])[nN][fF](?:inity)?)(?![A-Za-z])"
)
_WRAPPED = (
    r"(?:\bnp\.\w{1,20}|\bnumpy\.\w{1,20}|\btensor|\barray)\(\s*+"
    rf"(?:\[\s*+({NUMBER_PATTERN})\s*+\]|({NUMBER_PATTERN}))\s*+(?:,[^()]{{0,80}})?\)"
    rf"|\[\s*+({NUMBER_PATTERN})\s*+\]"
)

_INT64_LIMIT = 2**63


def parse_number(text: str) -> float | None:
    """The number that the whole of `text` is, or None."""
    try:
        return float(text)
    except ValueError:
        pass
    text = text.strip()
    if not _NUMBER_REGEX.fullmatch(text):
        return None
    if "#" in text:
        value = float("inf" if "INF" in text else "nan")
        return -value if text.startswith("-") else value
    return float(text.replace(",", ""))


def named_numbers(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, float]]:
    """The pairs of a name and a word that is a number, with that number."""
    return [(name, value) for name, word in pairs if (value := parse_number(word)) is not None]


def may_hold_number(text: str) -> bool:
    """Whether a number may stand in a text: in most lines of prose none can."""
    if _DIGIT.search(text):
        return True
    lower = text.lower()
    return ("nan" in lower or "inf" in lower) and _NON_FINITE_WORD.search(text) is not None


def as_step(value: float | None) -> int | None:
    """A step as an integer; None for none, fractions, NaN and numbers too large."""
    if value is None or not -_INT64_LIMIT <= value < _INT64_LIMIT or value != int(value):
        return None
    return int(value)


def unwrap_numbers(text: str) -> str:
    """`np.float64(0.5)`, `tensor(0.5, device='cuda:0')` and `[25.]` become the bare number."""
    if "(" not in text and "[" not in text:
        return text
    return re.sub(_WRAPPED, lambda match: match[match.lastindex or 1], text)


_LEAST_ROUND = 50
_START_SHARE = 20


def is_round(total: int) -> bool:
    """Whether a number is one that people choose for a loop's end; one in fifty is by chance."""
    return total > 0 and total % max(_LEAST_ROUND, 5 * 10 ** (len(str(total)) - 2)) == 0


def is_start(step: int, first: int, last: int) -> bool:
    """Whether a step, after those from `first` to `last`, may be where another count begins.

    It does at the first step of the one before, or within this part of its steps.
    """
    return step <= max(first, last // _START_SHARE)
