"""The writer's output shows the right text and styles, in as few bytes as possible."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import ColorSystem
from rich.style import Style

from ppo_top.tui.graphics.ansi import AnsiWriter, style_codes

ATTRIBUTE_WORDS = (
    "",
    "bold",
    "dim",
    "bold dim",
    "italic",
    "underline",
    "reverse",
    "red",
    "bright_blue",
)
INKS = ("", "color(110)", "color(245)", "#102030")
PAPERS = ("", "on color(235)", "on green", "on bright_black")
STYLES = st.builds(
    lambda *parts: Style.parse(" ".join(part for part in parts if part) or "none"),
    st.sampled_from(ATTRIBUTE_WORDS[:7]),
    st.sampled_from((*INKS, "red", "bright_blue")),
    st.sampled_from(PAPERS),
)
LETTERS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5), STYLES), max_size=12)
KIND_BY_RESET_CODE = {"39": "foreground", "49": "background", "23": "3", "24": "4", "27": "7"}


def shown(written: str) -> dict[tuple[int, int], frozenset[str]]:
    """A small terminal: which codes are set where a letter was written."""
    x = y = 0
    state: dict[str, str] = {}
    cells = {}
    for sequence, letter in re.findall(r"\x1b\[([\d;]*[HGm])|(.)", written):
        if letter:
            cells[x, y] = frozenset(state.values())
            x += 1
        elif sequence.endswith("H"):
            y, x = (int(part) - 1 for part in sequence[:-1].split(";"))
        elif sequence.endswith("G"):
            x = int(sequence[:-1]) - 1
        else:
            _set(state, sequence[:-1].split(";"))
    assert not state, "the last style was not reset"
    return cells


def _set(state: dict[str, str], parts: list[str]) -> None:
    while parts:
        code = parts.pop(0)
        if code in ("", "0"):
            state.clear()
        elif code == "22":
            state.pop("bold", None), state.pop("dim", None)
        elif code in KIND_BY_RESET_CODE:
            state.pop(KIND_BY_RESET_CODE[code], None)
        elif code in ("38", "48"):
            more = 2 if parts[0] == "5" else 4
            state["foreground" if code == "38" else "background"] = ";".join([code, *parts[:more]])
            del parts[:more]
        elif code in ("1", "2"):
            state["bold" if code == "1" else "dim"] = code
        elif int(code) < 10:
            state[code] = code
        else:
            state["background" if code[0] == "4" or code[:2] == "10" else "foreground"] = code


def wanted(style: Style, system: ColorSystem) -> frozenset[str]:
    """The codes of a style, each attribute for itself."""
    found = style_codes(style, system)
    weight = found.get("weight", "")
    rest = {code for kind, code in found.items() if kind != "weight"}
    return frozenset(rest | {code for code in weight.split(";") if code})


@pytest.mark.parametrize("system", [ColorSystem.STANDARD, ColorSystem.EIGHT_BIT])
@given(letters=LETTERS)
def test_every_letter_has_its_style(
    system: ColorSystem, letters: list[tuple[int, int, Style]]
) -> None:
    """A letter is shown at its position in its style, whatever came before; styles are reset."""
    writer = AnsiWriter(system)
    expected = {}
    for x, y, style in letters:
        writer.move_to(x, y)
        writer.write("x", style)
        expected[x, y] = wanted(style, system)
    assert shown(writer.getvalue()) == expected


def test_what_is_set_is_not_said_again() -> None:
    """Neighbours of one style share its codes; a jump along the line is short."""
    writer = AnsiWriter(ColorSystem.EIGHT_BIT)
    style = Style(color="color(111)")
    for x in (3, 9):
        writer.move_to(x, 4)
        writer.write("x", style)
    assert writer.getvalue() == "\x1b[5;4H\x1b[38;5;111mx\x1b[10Gx\x1b[m"


def test_without_colours_nothing_but_text_is_written() -> None:
    """Where the console has no colour system there are no codes."""
    writer = AnsiWriter(None)
    writer.move_to(0, 0)
    writer.write("x", Style.parse("bold red"))
    assert writer.getvalue() == "\x1b[1;1Hx"
