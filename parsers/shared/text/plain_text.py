"""Decodes console bytes to text without escape sequences and control characters."""

from __future__ import annotations

import re

_ESCAPE_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]"  # CSI: colours, cursor
    r"|\][^\x07\x1b]{0,4096}+(?:\x07|\x1b\\)?"  # OSC: titles, links
    r"|[PX^_][^\x1b]{0,4096}+(?:\x1b\\)?"
    r"|[ -/]*+[0-~])|\x9b[0-?]*+[ -/]*+[@-~]"
)
_CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufeff]")


def to_plain_text(data: bytes) -> str:
    """Decode a line and drop escape sequences and control characters (tabs stay)."""
    text = data.decode("utf-8", "replace")
    if text.isprintable():
        return text
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPE_SEQUENCE.sub("", text)
    return _CONTROL_CHARACTER.sub("", text)
