"""The last line: the prompt, a toast, or the main keys."""

from __future__ import annotations

from ppo_top.text.format import clean
from ppo_top.tui.graphics.styled_text import StyledLine, crop, justify, line, shorten, width
from ppo_top.tui.state.keys import KEYS
from ppo_top.tui.state.snapshot import ClickRegion, InputPrompt, ScreenBlock, Snapshot


def draw_footer(snap: Snapshot, cells: int) -> ScreenBlock:
    """The footer; its keys can be clicked."""
    if snap.prompt is not None:
        return ScreenBlock([_prompt(snap, snap.prompt, cells)])
    if snap.toast:
        return ScreenBlock([line((" " + shorten(clean(snap.toast), cells - 1), "info"))])
    hits: list[ClickRegion] = []
    row = line(" ")
    for key in KEYS:
        if not key.footer_label:
            continue
        part = line((snap.symbols.translate(key.label), "key"), (f" {key.footer_label}  ", "dim"))
        if width(row) + width(part) > cells:
            break
        hits.append(ClickRegion(width(row), 0, width(part) - 2, 1, "key", key.action))
        row = (*row, *part)
    return ScreenBlock([row], hits)


def _prompt(snap: Snapshot, prompt: InputPrompt, cells: int) -> StyledLine:
    typed = clean(prompt.text)
    bar = "_" if snap.symbols.ascii_only else "▏"
    left = line((f" {prompt.label}", "key"), (typed, "title"), (bar, "cursor"))
    if width(left) > cells:
        left = line((f" {prompt.label}", "key"), (typed[width(left) - cells :], "title"))
        left = crop((*left, (bar, "cursor")), cells)
    right = line((clean(prompt.hint), "dim"), " ")
    return justify(left, right, cells) if width(left) + width(right) < cells else left
