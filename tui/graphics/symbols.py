"""The signs of the screen, in Unicode and in ASCII: a status is never told by colour alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from ppo_top.model import State, Status
from ppo_top.text.format import PLAINER
from ppo_top.text.marks import ASCII_MARKS, MARKS


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One set of signs; every one is a single cell wide."""

    status: dict[Status, str]
    state: dict[State, str]
    bars: str
    """Eight heights, from the lowest to the highest."""
    braille: bool
    bad: str
    above: str
    below: str
    limit: str
    rule: str
    wall: str
    here: str
    restart: str
    trend: dict[str, str]
    best: str
    dot: str
    dash: str
    ellipsis: str
    folded: str
    unfolded: str
    done: str
    todo: str
    ascii: bool = False
    replacements: dict[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        """A text in the characters of this set."""
        if not self.ascii or text.isascii():
            return text
        return "".join(
            letter if letter.isascii() else self.replacements.get(letter, "?") for letter in text
        )


def _states(live: str, stalled: str, finished: str, died: str, rest: str) -> dict[State, str]:
    return {
        State.STARTING: rest,
        State.LIVE: live,
        State.STALLED: stalled,
        State.FINISHED: finished,
        State.DIED: died,
        State.ENDED: rest,
    }


UNICODE = Glyphs(
    status=MARKS,
    state=_states("●", "◌", "■", "†", "○"),
    bars="▁▂▃▄▅▆▇█",
    braille=True,
    bad="✕",
    above="↑",
    below="↓",
    limit="┄",
    rule="─",
    wall="│",
    here="●",
    restart="↻",
    trend={"rising": "↗", "falling": "↘", "flat": "→"},
    best="★",
    dot="·",
    dash="–",
    ellipsis="…",
    folded="▸",
    unfolded="▾",
    done="█",
    todo="░",
)

ASCII = Glyphs(
    status=ASCII_MARKS,
    state=_states("*", "~", "#", "x", "o"),
    bars="_.,-=+*#",
    braille=False,
    bad="N",
    above="^",
    below="v",
    limit="-",
    rule="-",
    wall="|",
    here="@",
    restart="R",
    trend={"rising": "/", "falling": "\\", "flat": "="},
    best="*",
    dot=".",
    dash="-",
    ellipsis="~",
    folded=">",
    unfolded="v",
    done="#",
    todo=".",
    ascii=True,
    replacements=PLAINER,
)
