"""Lines of a single name and number, which stand in blocks or below a line that says a step."""

from __future__ import annotations

import re

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_HEADING = lazy_pattern(
    r"\s*Learning iteration \d+/\d+\s*$|=== \[[^\]]{1,80}\] - METRICS STEP \d+ ==="
    r"|\W{0,4}Training Results:\s*$|Train step \d{1,15} data statistics:\s*$"
)
_HINTS = "Learning iteration", " - METRICS STEP ", "Results:", " data statistics:"
_ROW = lazy_pattern(
    rf"\s*+(?:[•-]\s)?([A-Za-z/_][^:|{{}}\t]{{0,120}})(?::\s++|\t\s*+)({NUMBER_PATTERN})"
    rf"(?:\s?(?:\+/?-|±)\s?({NUMBER_PATTERN}))?"
    r"(?:/\d{1,15})?\s?(?:s|seconds|steps/s|%)?(?:\s\([^)]*\))?\s*+$"
)
_DECIMAL_COMMA = lazy_pattern(
    r"(?<=: )(-?0),(\d{1,12})(?=s?\s*+$)|(?<=: )(-?\d{1,15}),(\d\d?|\d{4,12})(?=s?\s*+$)"
)
_BLANK_ROW = lazy_pattern(
    rf"\s*+([A-Za-z][\w ]{{1,60}}?)\s{{1,40}}+({NUMBER_PATTERN})"
    rf"(?:\s?(?:\+/?-|±)\s?({NUMBER_PATTERN}))?\s*+$"
)
"""`average return  21.5`, below a heading."""
_INDENT = " " * 8
_REST = lazy_pattern(
    r"\s{8,}(?:Mean [\w ]{1,40}|(?:Collection|Learning|Iteration) time|Steps per second): "
)


def is_heading(text: str) -> bool:
    """Whether a block of rsl_rl, torchforge, NeMo-RL or XTuner begins.

    Lines of a single pair follow.
    """
    may_be = any(hint in text for hint in _HINTS)
    return may_be and _HEADING.match(text) is not None


def is_rest(text: str) -> bool:
    """Whether it is of what is left of rsl_rl's block where a paste begins inside it."""
    return text.startswith(_INDENT) and _REST.match(text) is not None


def row_of_block(text: str) -> ConsoleRecord | None:
    """The record of `name: number`, with its unit or spread."""
    row = _ROW.match(text)
    return _record(row) if row else None


def row_below_heading(text: str) -> ConsoleRecord | None:
    """The record of a name and its number; without a colon between them it has to be known."""
    if "," in text:
        text = _DECIMAL_COMMA.sub(_with_point, text)
    if (found := row_of_block(text)) is not None:
        return found
    row = _BLANK_ROW.match(text)
    is_named = row and metric_names.is_metric(row[1]) and not metric_names.is_prose(row[1])
    return _record(row) if row and is_named else None


def _with_point(found: re.Match[str]) -> str:
    return found[0].replace(",", ".")


def _record(row: re.Match[str]) -> ConsoleRecord:
    name, value, spread = row[1].strip(), parse_number(row[2]), parse_number(row[3] or "")
    values = [(name, 0.0 if value is None else value)]
    return ConsoleRecord(values if spread is None else [*values, (f"{name} +/-", spread)])
