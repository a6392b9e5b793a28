"""Style names and their colours: dark, light, sixteen colours and none.

Colours are from the 256-colour palette: terminals and tmux agree on them, and a change of colour
costs few bytes. Teal, amber and red can be distinguished with colour blindness; `watch` and `warn`
differ in weight too. Text has a contrast of at least 4.5:1 with the background of its theme, and a
curve 3:1 with the band of its healthy range. ANSI blue is unreadable on black in many terminals.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from rich.color import Color
from rich.style import Style

STYLE_ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse")


@dataclass(frozen=True, slots=True)
class Theme:
    """A palette: style name -> description such as `203 bold` or `on 236`."""

    name: str
    styles: Mapping[str, str]
    background: int | None = None
    foreground: int | None = None

    def style(self, name: str) -> Style:
        """The style of a name; `crit+band` combines two, the later one on top."""
        made = Style()
        for part in name.split("+"):
            made += _parse(self.styles.get(part, ""))
        if self.background is not None:
            made = Style(color=_colour(self.foreground), bgcolor=_colour(self.background)) + made
        return made


def _colour(number: int | None) -> Color | None:
    return None if number is None else Color.from_ansi(number)


def _parse(description: str) -> Style:
    words = description.replace("on ", "on").split()
    attributes = dict.fromkeys((word for word in words if word in STYLE_ATTRIBUTES), True)
    numbers = [word for word in words if word not in STYLE_ATTRIBUTES]
    foreground = next((int(word) for word in numbers if word.isdigit()), None)
    background = next((int(word[2:]) for word in numbers if word.startswith("on")), None)
    colours = {"color": _colour(foreground), "bgcolor": _colour(background)}
    return Style(**colours, **attributes)  # type: ignore[arg-type]


DARK_STYLES = {
    "dim": "248",
    "faint": "245",
    "title": "bold",
    "brand": "80 bold",
    "key": "80",
    "frame": "240",
    "value": "bold",
    "ok": "79",
    "info": "111",
    "watch": "221",
    "warn": "214 bold",
    "crit": "203 bold",
    "warming-up": "248",
    "missing": "248",
    "healthy": "79",
    "unjudged": "248",
    "curve": "110",
    "live": "79",
    "starting": "248",
    "stalled": "214 bold",
    "finished": "111",
    "died": "203 bold",
    "ended": "248",
    "limit": "248",
    "band": "on 237",
    "bad": "203 bold",
    "selected": "on 237",
    "cursor": "80 bold",
    "restart": "141",
    "past": "16 on 215 bold",
    "match": "221 bold",
    "run1": "177", "run2": "114", "run3": "180", "run4": "44", "run5": "218", "run6": "252",
    "a": "79", "b": "215", "c": "111", "d": "177", "e": "221", "f": "168", "g": "152", "h": "108",
}  # fmt: skip

LIGHT_STYLES = {
    **DARK_STYLES,
    "dim": "240",
    "faint": "243",
    "brand": "24 bold",
    "key": "24",
    "frame": "250",
    "ok": "29",
    "info": "25",
    "watch": "94",
    "warn": "130 bold",
    "crit": "160 bold",
    "warming-up": "240",
    "missing": "240",
    "healthy": "29",
    "unjudged": "240",
    "curve": "24",
    "live": "29",
    "starting": "240",
    "stalled": "130 bold",
    "finished": "25",
    "died": "160 bold",
    "ended": "240",
    "limit": "240",
    "band": "on 253",
    "bad": "160 bold",
    "selected": "on 252",
    "cursor": "24 bold",
    "restart": "91",
    "past": "231 on 130 bold",
    "match": "130 bold",
    "run1": "91", "run2": "28", "run3": "239", "run4": "125", "run5": "58", "run6": "96",
    "a": "29", "b": "130", "c": "25", "d": "91", "e": "94", "f": "161", "g": "66", "h": "64",
}  # fmt: skip

SIXTEEN_COLOUR_STYLES = {
    **dict.fromkeys(("dim", "faint", "frame", "missing", "warming-up", "unjudged", "limit"), "8"),
    **dict.fromkeys(("title", "value"), "bold"),
    **dict.fromkeys(("brand", "cursor"), "6 bold"),
    **dict.fromkeys(("ok", "healthy", "live"), "2"),
    **dict.fromkeys(("info", "finished", "curve"), "6"),
    **dict.fromkeys(("watch", "match"), "3"),
    **dict.fromkeys(("warn", "stalled"), "3 bold"),
    **dict.fromkeys(("crit", "died", "bad"), "1 bold"),
    **dict.fromkeys(("starting", "ended"), "8"),
    "key": "6",
    "restart": "5",
    "past": "3 reverse",
    "selected": "underline",
    "run1": "5", "run2": "2", "run3": "7", "run4": "12", "run5": "13", "run6": "8",
    "a": "2", "b": "3", "c": "12", "d": "5", "e": "6", "f": "1", "g": "7", "h": "8",
}  # fmt: skip

COLOURLESS_STYLES = {
    **dict.fromkeys(
        ("title", "brand", "value", "cursor", "warn", "crit", "died", "bad", "match"), "bold"
    ),
    **dict.fromkeys(("dim", "faint", "frame", "missing", "limit"), "dim"),
    **dict.fromkeys(("run1", "run2", "run3", "run4", "run5", "run6"), "dim"),
    "key": "underline",
    "past": "reverse",
    "selected": "underline",
}

THEMES = {
    "dark": Theme("dark", DARK_STYLES),
    "light": Theme("light", LIGHT_STYLES),
    "dark-paper": Theme("dark-paper", DARK_STYLES, background=234, foreground=253),
    "light-paper": Theme("light-paper", LIGHT_STYLES, background=231, foreground=235),
    "16": Theme("16", SIXTEEN_COLOUR_STYLES),
    "none": Theme("none", COLOURLESS_STYLES),
}
"""In the order of the key; `dark` and `light` keep the terminal's background, `-paper` sets one."""


def choose_theme(wanted: str | None, environment: Mapping[str, str] | None = None) -> Theme:
    """The requested theme, else one that suits the terminal; NO_COLOR overrides both."""
    env = os.environ if environment is None else environment
    if env.get("NO_COLOR"):
        return THEMES["none"]
    if wanted in THEMES:
        return THEMES[wanted]
    term = env.get("TERM", "")
    if term in ("dumb", "unknown", "vt100", "vt220"):
        return THEMES["none"]
    many = "256" in term or bool(env.get("COLORTERM")) or term in ("xterm-kitty", "alacritty")
    if not many:
        return THEMES["16"]
    background = env.get("COLORFGBG", "").rpartition(";")[2]
    return THEMES["light" if background in ("7", "15") else "dark"]
