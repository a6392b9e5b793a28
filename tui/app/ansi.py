"""The shortest way to write styled text on the screen: what is set already is not said again."""

from __future__ import annotations

from functools import lru_cache

from rich.color import ColorSystem
from rich.style import Style

Codes = dict[str, str]
"""What is set (`ink`, `paper`, `weight` or another attribute) and the codes that set it."""

_OFF = {"ink": "39", "paper": "49", "weight": "22", "3": "23", "4": "24", "7": "27", "9": "29"}


@lru_cache(maxsize=1024)
def codes(style: Style, colours: ColorSystem) -> Codes:
    """The codes of a style by what they set."""
    drawn = style.render("x", color_system=colours)
    parts = drawn[2 : drawn.index("m")].split(";") if drawn.startswith("\x1b[") else []
    found: Codes = {}
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
        return "ink"
    return "paper" if 40 <= number <= 49 or 100 <= number <= 107 else code


def change(before: Codes, after: Codes) -> str:
    """The sequence that leads from one style to another."""
    if before == after:
        return ""
    if not after or any(kind not in after and kind not in _OFF for kind in before):
        return "\x1b[m" + (change({}, after) if after else "")
    steps = [_OFF[kind] for kind in before if kind not in after]
    for kind, code in after.items():
        if before.get(kind) != code:
            steps += ["22", code] if kind == "weight" and kind in before else [code]
    return f"\x1b[{';'.join(steps)}m"


class Pen:
    """Writes from left to right and from the top down; starts and ends without a style."""

    def __init__(self, colours: ColorSystem | None) -> None:
        self._colours = colours
        self._now: Codes = {}
        self._line = -1
        self._written: list[str] = []

    def to(self, x: int, y: int) -> None:
        """Go to a cell, counted from 0."""
        place = f"{x + 1}G" if y == self._line else f"{y + 1};{x + 1}H"
        self._written.append(f"\x1b[{place}")
        self._line = y

    def write(self, text: str, style: Style | None) -> None:
        """Write text in a style."""
        wanted = codes(style, self._colours) if style is not None and self._colours else {}
        self._written += [change(self._now, wanted), text]
        self._now = wanted

    def end(self) -> str:
        """All that was written."""
        return "".join([*self._written, change(self._now, {})])
