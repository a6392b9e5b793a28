"""The last line: what is being typed, what just happened, or the keys that matter here."""

from __future__ import annotations

from ppo_top.text.format import clean
from ppo_top.tui.graphics.styled_text import Line, crop, line, shorten, spread, width
from ppo_top.tui.state.keys import KEYS
from ppo_top.tui.state.snapshot import Block, Frame, Hit


def footer(frame: Frame, cells: int) -> Block:
    """The footer in so many cells; its keys can be clicked."""
    if frame.prompt is not None:
        return Block([_prompt(frame, cells)])
    if frame.toast:
        return Block([line((" " + shorten(clean(frame.toast), cells - 1), "info"))])
    block = Block([()])
    row: Line = line(" ")
    for key in KEYS:
        if not key.footer:
            continue
        part = line((frame.glyphs.text(key.shown), "key"), (f" {key.footer}  ", "dim"))
        if width(row) + width(part) > cells:
            break
        block.hits.append(Hit(width(row), 0, width(part) - 2, 1, "key", key.action))
        row = (*row, *part)
    block.lines[0] = row
    return block


def _prompt(frame: Frame, cells: int) -> Line:
    prompt = frame.prompt
    if prompt is None:
        return ()
    typed = clean(prompt.text)
    bar = "_" if frame.glyphs.ascii else "▏"
    left = line((f" {prompt.label}", "key"), (typed, "title"), (bar, "cursor"))
    if width(left) > cells:
        left = line((f" {prompt.label}", "key"), (typed[width(left) - cells :], "title"))
        left = crop((*left, (bar, "cursor")), cells)
    right = line((clean(prompt.hint), "dim"), " ")
    return spread(left, right, cells) if width(left) + width(right) < cells else left
