"""What lies over the main screen: help, findings, explanations, configuration, console output."""

from __future__ import annotations

from collections.abc import Callable

from ppo_top.model import Status
from ppo_top.tui.draw.footer import footer
from ppo_top.tui.draw.layout import page, spelt
from ppo_top.tui.draw.text_overlays import (
    config_text,
    explain_text,
    findings_text,
    log_start,
    log_text,
)
from ppo_top.tui.graphics.styled_text import Line, fill, line, shorten, spread, width, wrap
from ppo_top.tui.graphics.symbols import Glyphs
from ppo_top.tui.state.keys import GROUPS, KEYS, Key
from ppo_top.tui.state.snapshot import Block, Frame
from ppo_top.tui.state.ui_state import Desk

NAME_LEAST = 12
"""With fewer cells left over a layer does not say whose it is."""


def picture(desk: Desk, cells: int, rows: int) -> Block:
    """The whole screen as it is to look now."""
    desk.size = (cells, rows)
    frame = desk.frame()
    if not desk.layer or rows < 4:
        return page(frame, cells, rows)
    if desk.layer in ("zoom", "compare"):
        from ppo_top.tui.draw.zoom_chart import chart_lines  # plotext is loaded at the first chart

        body = chart_lines(desk, frame, cells, rows - 2)
        block = _framed(frame, desk.layer, body, cells, rows)
    else:
        body = TEXTS[desk.layer](desk, frame, cells - 2)
        if desk.layer == "log" and desk.scroll == 0:
            desk.scroll = log_start(body, rows - 2)
        desk.scroll = max(0, min(desk.scroll, len(body) - (rows - 2)))
        shown = [line(" ", *row) for row in body[desk.scroll : desk.scroll + rows - 2]]
        block = _framed(frame, _title(desk, len(body), rows - 2), shown, cells, rows)
    return Block([fill(spelt(row, frame), cells) for row in block.lines], block.hits)


def _title(desk: Desk, amount: int, rows: int) -> str:
    more = f" {desk.scroll + 1}-{min(amount, desk.scroll + rows)} of {amount} (PgUp PgDn)"
    return desk.layer + (more if amount > rows else "")


def _framed(frame: Frame, title: str, body: list[Line], cells: int, rows: int) -> Block:
    name = frame.view.name if frame.view is not None else frame.place
    back = line(("Esc", "key"), (" back ", "dim"))
    room = cells - width(back) - 13  # beside the program's name and blanks
    shown = title if len(title) <= room else title.split(" ", 1)[0]
    left = line((" ppo-top ", "brand"), (shown, "title"))
    if room - len(shown) >= NAME_LEAST:
        left = (*left, (f"  {shorten(name, room - len(shown))}", "dim"))
    head = spread(left, back, cells)
    block = Block([head, *body[: rows - 2]])
    block.lines += [()] * (rows - 1 - len(block.lines))
    block.add(footer(frame, cells))
    return block


def help_text(_desk: Desk, frame: Frame, cells: int) -> list[Line]:
    """All keys in groups, then what the signs mean."""
    rows: list[Line] = []
    glyphs = frame.glyphs
    two = cells >= 2 * (11 + max(len(key.text) for key in KEYS))
    for group in GROUPS:
        rows.append(line((group, "title")))
        keys = [key for key in KEYS if key.group == group]
        drawn = [row for key in keys for row in _key_lines(key, glyphs, cells)]
        if two:
            half = -(-len(drawn) // 2)
            right = [*drawn[half:], ()]
            rows += [(*fill(drawn[at], cells // 2), *right[at]) for at in range(half)]
        else:
            rows += drawn
        rows.append(())
    return rows + _signs(frame, cells)


def _key_lines(key: Key, glyphs: Glyphs, cells: int) -> list[Line]:
    shown = glyphs.text(key.shown).ljust(7)
    rows = wrap(key.text, max(cells - 9, 8))
    return [
        line(("  " + (shown if at == 0 else " " * len(shown)), "key"), row)
        for at, row in enumerate(rows)
    ]


def _signs(frame: Frame, cells: int) -> list[Line]:
    glyphs = frame.glyphs
    meanings = (
        *((glyphs.status[status], status.value, text) for status, text in STATUSES),
        *((sign, state.value, state.value) for state, sign in glyphs.state.items()),
        (glyphs.bad, "bad", "a value that is no number, where it happened"),
        (glyphs.above + glyphs.below, "warn", "a value beyond the drawn scale"),
        (glyphs.restart, "restart", "the run was resumed here"),
        (glyphs.best, "dim", "the best value so far"),
        *((sign, "dim", f"{word} of late") for word, sign in glyphs.trend.items()),
        (glyphs.folded, "", "seeds of one experiment: Enter or t unfolds them"),
    )
    rows = [line(("Signs", "title"))]
    for sign, style, text in meanings:
        for at, row in enumerate(wrap(text, cells - 6)):
            rows.append(line(("  " + (sign if not at else " ").ljust(4), style), row))
    return rows


STATUSES = (
    (Status.OK, "in its healthy range"),
    (Status.WARMING_UP, "too early to judge"),
    (Status.MISSING, "not logged"),
    (Status.INFO, "worth knowing"),
    (Status.WARN, "watch or warning: outside the healthy range"),
    (Status.CRIT, "something is wrong"),
)

TEXTS: dict[str, Callable[[Desk, Frame, int], list[Line]]] = {
    "help": help_text,
    "findings": findings_text,
    "explain": explain_text,
    "config": config_text,
    "log": log_text,
}
