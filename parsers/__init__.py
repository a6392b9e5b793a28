"""Log formats: every module or package here except `base`, `file_names` and `shared`.

Each has a constant `FORMAT`, or several `FORMATS`, and imports none of the others.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial

from ppo_top.parsers.base import Format
from ppo_top.parsers.file_names import FILE_NAMES, formats_by_module
from ppo_top.parsers.shared.stores.magic import is_pickle
from ppo_top.parsers.shared.text.utf16 import Utf16Decoder, Utf16Parser, is_utf16

FormatDetector = Callable[[str, bytes], Format | bool | None]
Patterns = Sequence[re.Pattern[str]]


@cache
def _load(module: str) -> dict[str, Format]:
    """The formats of a module, by name."""
    loaded = importlib.import_module(f"ppo_top.parsers.{module}")
    found = vars(loaded).get("FORMATS") or (loaded.FORMAT,)
    return {each.name: _with_patterns(each, ()) for each in found}


def _in_claim_order(formats: Iterable[Format]) -> tuple[Format, ...]:
    return tuple(sorted(formats, key=lambda each: (each.claim_order, each.name)))


def formats() -> tuple[Format, ...]:
    """All formats, in claim order."""
    return _in_claim_order(each for module in FILE_NAMES for each in _load(module).values())


@cache
def _candidates(wanted: tuple[tuple[str, str], ...]) -> tuple[Format, ...]:
    return _in_claim_order(_load(module)[name] for module, name in wanted)


def detect_format(name: str, head: bytes) -> Format | bool | None:
    """The format of a file, by its name and first bytes.

    False: no format reads it. None: more bytes are needed to decide.
    """
    if not is_utf16(head):
        return _detect_utf8(name, head)
    found = _detect_utf8(name, Utf16Decoder().decode(head))
    if not isinstance(found, Format) or found.parser is None or found.console:
        return found  # a console may be a pipe, of which nobody asks for the format
    return found._replace(parser=partial(Utf16Parser, found.parser), by_lines=False)


def _detect_utf8(name: str, head: bytes) -> Format | bool | None:
    if is_pickle(head):
        return False
    undecided = False
    for each in _candidates(formats_by_module(name)):
        answer = each.claims(name, head)
        if answer:
            return None if undecided else each
        undecided = undecided or answer is None
    return None if undecided else False


_NAMES_BY_CONTENT = ("named.jsonl", "log.json", "monitor.csv", "named.csv", "named.log")
"""For each kind of text a name that says nothing else about it; any text may be a console's."""


def detect_by_content(
    detector: FormatDetector, head: bytes, streams_only: bool = False
) -> Format | bool | None:
    """The format of something that its user says is a log, whatever its name.

    `detector` is `detect_format` or one like it. With `streams_only` for what cannot be opened
    again, in which lines of text may stand between those of JSON: it is no JSON log.
    """
    names = _NAMES_BY_CONTENT[-2:] if streams_only else _NAMES_BY_CONTENT
    answers = (detector(name, head) for name in names)
    return next((each for each in answers if each is not False), False)


def console_format(patterns: Patterns = ()) -> Format:
    """The format of a console stream, with a user's own expressions for its lines."""
    return _with_patterns(_load("console")["console"], patterns)


def format_detector(patterns: Patterns) -> FormatDetector:
    """`detect_format`, with a user's own expressions for lines of consoles."""

    def claim_with(name: str, head: bytes) -> Format | bool | None:
        found = detect_format(name, head)
        return _with_patterns(found, patterns) if isinstance(found, Format) else found

    return claim_with if patterns else detect_format


def _with_patterns(found: Format, patterns: Patterns) -> Format:
    """The format with expressions for its console lines, in a store of its own as well."""
    if found.text_store is not None:
        make_console = console_format(patterns).parser
        return found._replace(store=partial(found.text_store, make_console=make_console))
    if not (found.console and patterns) or found.parser is None:
        return found
    return found._replace(parser=partial(found.parser, patterns))
