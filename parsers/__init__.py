"""Log formats: every module or package here except `base` and `shared`.

Each has a constant `FORMAT`, or several `FORMATS`, and imports none of the others.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial

from ppo_top.parsers.base import Format

FormatDetector = Callable[[str, bytes], Format | bool | None]
Patterns = Sequence[re.Pattern[str]]

NOT_FORMATS = ("base", "shared")


@cache
def formats() -> tuple[Format, ...]:
    """All formats, in claim order."""
    found: list[Format] = []
    for module in pkgutil.iter_modules(__path__):
        if module.name in NOT_FORMATS:
            continue
        loaded = importlib.import_module(f"ppo_top.parsers.{module.name}")
        found.extend(vars(loaded).get("FORMATS") or (loaded.FORMAT,))
    return tuple(sorted(found, key=lambda each: (each.claim_order, each.name)))


def file_name_pattern() -> re.Pattern[str]:
    """One pattern for the names of all formats."""
    return re.compile("|".join(_with_own_flags(each.name_pattern) for each in formats()) or r"(?!)")


def _with_own_flags(pattern: re.Pattern[str]) -> str:
    """A pattern's text with its flags, for use inside another pattern."""
    ignore = "(?i:" if pattern.flags & re.IGNORECASE else "(?:"
    return f"{ignore}{pattern.pattern})"


def detect_format(name: str, head: bytes) -> Format | bool | None:
    """The format of a file, by its name and first bytes.

    False: no format reads it. None: more bytes are needed to decide.
    """
    undecided = False
    for each in formats():
        if not each.name_pattern.search(name):
            continue
        answer = each.claims(name, head)
        if answer:
            return None if undecided else each
        undecided = undecided or answer is None
    return None if undecided else False


def console_format(patterns: Patterns = ()) -> Format:
    """The format of a console stream, with a user's own expressions for its lines."""
    plain = next(each for each in formats() if each.console and each.parser)
    return _with_patterns(plain, patterns)


def format_detector(patterns: Patterns) -> FormatDetector:
    """`detect_format`, with a user's own expressions for lines of consoles."""

    def claim_with(name: str, head: bytes) -> Format | bool | None:
        found = detect_format(name, head)
        if isinstance(found, Format) and found.console:
            return _with_patterns(found, patterns)
        return found

    return claim_with if patterns else detect_format


def _with_patterns(found: Format, patterns: Patterns) -> Format:
    if not patterns or found.parser is None:
        return found
    return replace(found, parser=partial(found.parser, patterns))
