"""The symbols of the screen, in Unicode and ASCII: a status never depends on colour alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from rich.cells import cell_len

from ppo_top.model import State, Status
from ppo_top.text.format import ASCII_FALLBACKS
from ppo_top.text.marks import ASCII_MARKS, COLOURLESS_MARKS, MARKS


@dataclass(frozen=True, slots=True)
class Symbols:
    """A set of symbols, each one cell wide."""

    status: dict[Status, str]
    state: dict[State, str]
    bars: str
    """Eight levels, from the lowest to the highest."""
    braille: bool
    non_finite: str
    above_scale: str
    below_scale: str
    limit_line: str
    horizontal_line: str
    vertical_line: str
    cursor: str
    restart: str
    trend: dict[str, str]
    best: str
    changed: str
    pinned: str
    folded: str
    unfolded: str
    bar_done: str
    bar_todo: str
    ascii_only: bool = False
    replacements: dict[str, str] = field(default_factory=dict)

    def translate(self, text: str) -> str:
        """A text in the characters of this set."""
        if not self.ascii_only or text.isascii():
            return text
        return "".join(
            letter if letter.isascii() else self.replacements.get(letter, "?") for letter in text
        )

    def translate_cells(self, text: str) -> str:
        """A text in the characters of this set and in as many cells: what others have drawn."""
        if not self.ascii_only or text.isascii():
            return text
        return "".join(letter if letter.isascii() else self._cells_of(letter) for letter in text)

    def _cells_of(self, letter: str) -> str:
        size = cell_len(letter)
        return self.replacements.get(letter, BLOCKS.get(letter, "?"))[:size].ljust(size)


BLOCKS = {"▔": "-", "▁": "_", "🔎": ">"} | dict.fromkeys("▂▃▄▅▆▇█▎▊", "#")
"""What Textual draws its command palette with -> ASCII."""


def _states(
    starting: str, live: str, stalled: str, finished: str, died: str, ended: str
) -> dict[State, str]:
    return {
        State.STARTING: starting,
        State.LIVE: live,
        State.STALLED: stalled,
        State.FINISHED: finished,
        State.DIED: died,
        State.ENDED: ended,
    }


UNICODE_SYMBOLS = Symbols(
    status=MARKS,
    state=_states("◦", "●", "◌", "■", "†", "○"),
    bars="▁▂▃▄▅▆▇█",
    braille=True,
    non_finite="✕",
    above_scale="↑",
    below_scale="↓",
    limit_line="┄",
    horizontal_line="─",
    vertical_line="│",
    cursor="●",
    restart="↻",
    trend={"rising": "↗", "falling": "↘", "flat": "→"},
    best="★",
    changed="•",
    pinned="◆",
    folded="▸",
    unfolded="▾",
    bar_done="█",
    bar_todo="░",
)

COLOURLESS_SYMBOLS = replace(UNICODE_SYMBOLS, status=COLOURLESS_MARKS)
ASCII_SYMBOLS = Symbols(
    status=ASCII_MARKS,
    state=_states("-", "*", "~", "#", "x", "o"),
    bars="_.,-=+*#",
    braille=False,
    non_finite="N",
    above_scale="^",
    below_scale="v",
    limit_line="-",
    horizontal_line="-",
    vertical_line="|",
    cursor="@",
    restart="R",
    trend={"rising": "/", "falling": "\\", "flat": "="},
    best="*",
    changed="!",
    pinned="#",
    folded=">",
    unfolded="v",
    bar_done="#",
    bar_todo=".",
    ascii_only=True,
    replacements=ASCII_FALLBACKS,
)
