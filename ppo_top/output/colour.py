"""Colour for what `check` prints, by the mark at the start of a line."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TextIO

from ppo_top.model import Status
from ppo_top.text.marks import MARKS

_CODES = {
    MARKS[Status.CRIT]: "1;31",
    MARKS[Status.WARN]: "33",
    MARKS[Status.INFO]: "36",
    MARKS[Status.OK]: "32",
}
"""mark -> parameters of the escape sequence that sets its colour (SGR)"""
_WORDS = "CRIT|WARN|WATCH|INFO"
_MARKED = rf"(?m)^((?:[\d:-]+ )* *)([{''.join(_CODES)}](?: (?:{_WORDS})\b)?)(?= |$)"


def wants_colour(choice: str, out: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour what is printed; `auto`: on a terminal, unless NO_COLOR is set."""
    if choice == "auto":
        return out.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
    return choice == "always"


def coloured(text: str) -> str:
    """The text with the mark of each line, and the severity after it, in colour."""
    return re.sub(
        _MARKED, lambda found: f"{found[1]}\x1b[{_CODES[found[2][0]]}m{found[2]}\x1b[0m", text
    )
