"""Styled text as ANSI sequences, as short as possible: only changes of style are written."""

from __future__ import annotations

from functools import lru_cache

from rich.color import ColorSystem
from rich.style import Style

StyleCodes = dict[str, str]
"""Attribute (`foreground`, `background`, `weight` or another) -> the codes that set it."""

_RESET_CODES = {
    "foreground": "39",
    "background": "49",
    "weight": "22",
    "3": "23",
    "4": "24",
    "7": "27",
    "9": "29",
}


@lru_cache(maxsize=1024)
def style_codes(style: Style, colours: ColorSystem) -> StyleCodes:
    """The codes of a style, by attribute."""
    drawn = style.render("x", color_system=colours)
    parts = drawn[2 : drawn.index("m")].split(";") if drawn.startswith("\x1b[") else []
    found: StyleCodes = {}
    while parts:
        first = parts.pop(0)
        if first in ("38", "48"):
            more = 2 if parts[0] == "5" else 4
            found[_kind(first)] = ";".join([first, *parts[:more]])
            del parts[:more]
        elif _kind(first) == "weight" and "weight" in found:
            found["weight"] += f";{first}"
        else:
            found[_kind(first)] = first
    return found


def _kind(code: str) -> str:
    number = int(code)
    if number in (1, 2):
        return "weight"
    if 30 <= number <= 39 or 90 <= number <= 97:
        return "foreground"
    return "background" if 40 <= number <= 49 or 100 <= number <= 107 else code


def style_change(before: StyleCodes, after: StyleCodes) -> str:
    """The sequence that changes one style into another."""
    if before == after:
        return ""
    if not after or any(kind not in after and kind not in _RESET_CODES for kind in before):
        return "\x1b[m" + (style_change({}, after) if after else "")
    steps = [_RESET_CODES[kind] for kind in before if kind not in after]
    for kind, code in after.items():
        if before.get(kind) != code:
            steps += ["22", code] if kind == "weight" and kind in before else [code]
    return f"\x1b[{';'.join(steps)}m"


class AnsiWriter:
    """Writes from left to right and from the top down; starts and ends without a style."""

    def __init__(self, colours: ColorSystem | None) -> None:
        self._colours = colours
        self._current_codes: StyleCodes = {}
        self._line = -1
        self._written: list[str] = []

    def move_to(self, x: int, y: int) -> None:
        """Go to a cell, counted from 0."""
        position = f"{x + 1}G" if y == self._line else f"{y + 1};{x + 1}H"
        self._written.append(f"\x1b[{position}")
        self._line = y

    def write(self, text: str, style: Style | None) -> None:
        """Write text in a style."""
        wanted = style_codes(style, self._colours) if style is not None and self._colours else {}
        self._written += [style_change(self._current_codes, wanted), text]
        self._current_codes = wanted

    def getvalue(self) -> str:
        """Everything written so far, ending without a style."""
        return "".join([*self._written, style_change(self._current_codes, {})])
