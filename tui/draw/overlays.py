"""The whole screen: the main screen or an overlay (chart, help, findings, console ...)."""

from __future__ import annotations

from collections.abc import Callable

from ppo_top.model import Status
from ppo_top.text.format import clean, plural
from ppo_top.tui.draw.config_overlay import config_text
from ppo_top.tui.draw.footer import draw_footer
from ppo_top.tui.draw.layout import draw_main_screen, printable_line
from ppo_top.tui.draw.search import highlighted, is_found
from ppo_top.tui.draw.text_overlays import (
    chosen_start,
    console_start,
    console_text,
    explain_text,
    findings_text,
)
from ppo_top.tui.graphics.styled_text import (
    StyledLine,
    fit_width,
    justify,
    line,
    shorten,
    width,
    wrap,
)
from ppo_top.tui.graphics.symbols import Symbols
from ppo_top.tui.state.keys import KEY_GROUPS, KEYS, Key
from ppo_top.tui.state.metric_choice import TextSearch
from ppo_top.tui.state.snapshot import ScreenBlock, Snapshot
from ppo_top.tui.state.take_snapshot import take_snapshot
from ppo_top.tui.state.ui_state import CHART_OVERLAYS, UiState

OVERLAY_FRAME_LINES = 2
"""Lines of an overlay above and below its body: title and footer."""

MIN_RUN_NAME_CELLS = 12
"""With fewer cells left, an overlay's title omits the run's name."""


def draw_screen(ui: UiState, cells: int, rows: int) -> ScreenBlock:
    """The whole screen: `rows` lines of `cells` cells. Changes nothing in the state."""
    snap = take_snapshot(ui)
    if not snap.reading_error:
        return _page_or_overlay(ui, snap, cells, rows)
    block = _page_or_overlay(ui, snap, cells, rows - 1)
    text = f"{snap.symbols.status[Status.CRIT]} {clean(snap.reading_error)}"
    row = printable_line(line((shorten(text, cells), "crit")), snap)
    block.lines.append(fit_width(row, cells))
    return block


def _page_or_overlay(ui: UiState, snap: Snapshot, cells: int, rows: int) -> ScreenBlock:
    """The main screen, or what is open over it."""
    if not ui.overlay or rows < 4:
        return draw_main_screen(snap, cells, rows)
    draw = _chart_overlay if ui.overlay in CHART_OVERLAYS else _text_overlay
    block = draw(ui, snap, cells, rows)
    block.lines = [fit_width(printable_line(row, snap), cells) for row in block.lines]
    return block


def _chart_overlay(ui: UiState, snap: Snapshot, cells: int, rows: int) -> ScreenBlock:
    from ppo_top.tui.draw.charts.zoom_chart import chart_lines  # plotext is loaded at the first

    body = chart_lines(ui, snap, cells, rows - OVERLAY_FRAME_LINES)
    return _with_frame(snap, ui.overlay, body, cells, rows)


def _text_overlay(ui: UiState, snap: Snapshot, cells: int, rows: int) -> ScreenBlock:
    """A page of a text, with what is searched for in it."""
    body = TEXT_OVERLAYS[ui.overlay](ui, snap, cells - 2)
    height = rows - OVERLAY_FRAME_LINES
    found = [number for number, row in enumerate(body) if is_found(ui.search, row)]
    start = max(0, min(_start_line(ui, body, found, height), len(body) - height))
    shown = [highlighted(ui.search.pattern, row) for row in body[start : start + height]]
    title = ui.overlay
    if ui.search.is_active:
        title += _search_text(ui.search, len(found))
    elif len(body) > height:
        title += f" {start + 1}-{min(len(body), start + height)} of {len(body)} (PgUp PgDn)"
    block = _with_frame(snap, title, [line(" ", *row) for row in shown], cells, rows)
    block.scroll = start
    return block


def _start_line(ui: UiState, body: list[StyledLine], found: list[int], height: int) -> int:
    """The line that a text is shown from: as scrolled to, or so that what is followed is seen."""
    if found and ui.search.follow:
        return found[ui.search.at % len(found)] - 2
    if ui.overlay == "console" and ui.follow_choice:
        return console_start(body, height)
    if ui.overlay == "findings" and ui.follow_choice:
        return chosen_start(body, ui.scroll, height)
    return ui.scroll


def _search_text(search: TextSearch, found: int) -> str:
    """` /loss: 2 of 5 matching lines`, ` 1 of 3 errors`."""
    sought = "" if search.errors else f" /{search.pattern}:"
    which = f"{search.at % found + 1} of " if found else ""
    return f"{sought} {which}{plural(found, 'error' if search.errors else 'matching line')}"


def _with_frame(
    snap: Snapshot, title: str, body: list[StyledLine], cells: int, rows: int
) -> ScreenBlock:
    name = snap.view.name if snap.view is not None else snap.watched_paths
    back = line(("Esc", "key"), (" back ", "dim"))
    room = cells - width(back) - 13  # without the program's name and blanks
    shown = title if len(title) <= room else title.split(" ", 1)[0]
    left = line((" ppo-top ", "brand"), (shown, "title"))
    if room - len(shown) >= MIN_RUN_NAME_CELLS:
        left = (*left, (f"  {shorten(name, room - len(shown))}", "dim"))
    head = justify(left, back, cells)
    block = ScreenBlock([head, *body[: rows - 2]])
    block.lines += [()] * (rows - 1 - len(block.lines))
    block.append_block(draw_footer(snap, cells))
    return block


def help_text(ui: UiState, snap: Snapshot, cells: int) -> list[StyledLine]:
    """All keys by group, the meaning of the symbols, then the files that give nothing."""
    rows: list[StyledLine] = []
    two = cells >= 2 * (11 + max(len(key.description) for key in KEYS))
    for group in KEY_GROUPS:
        rows.append(line((group, "title")))
        keys = [key for key in KEYS if key.group == group]
        drawn = [row for key in keys for row in _key_lines(key, snap.symbols, cells)]
        if two:
            half = -(-len(drawn) // 2)
            right = [*drawn[half:], ()]
            rows += [(*fit_width(drawn[at], cells // 2), *right[at]) for at in range(half)]
        else:
            rows += drawn
        rows.append(())
    rows += _symbol_legend(snap, cells)
    if not_read := (*ui.unread, *ui.session.passed_over):
        rows += [(), line(("Files not read", "title"))]
        for text in not_read:
            rows += [line(("  ", ""), (row, "dim")) for row in wrap(clean(text), max(cells - 4, 8))]
    return rows


def _key_lines(key: Key, symbols: Symbols, cells: int) -> list[StyledLine]:
    label = "  " + symbols.translate(key.label).ljust(7)
    first, *others = wrap(key.description, max(cells - 9, 8))
    return [line((label, "key"), first), *(line((" " * len(label), "key"), row) for row in others)]


def _symbol_legend(snap: Snapshot, cells: int) -> list[StyledLine]:
    symbols = snap.symbols
    meanings = (
        *((symbols.status[status], status.value, text) for status, text in STATUS_LEGEND),
        *((sign, state.value, state.value) for state, sign in symbols.state.items()),
        (symbols.non_finite, "bad", "NaN or Inf at this update"),
        (symbols.above_scale + symbols.below_scale, "warn", "value off the scale"),
        (symbols.restart, "restart", "run resumed here"),
        (symbols.best, "dim", "best value so far"),
        *((sign, "dim", f"recently {word}") for word, sign in symbols.trend.items()),
        (symbols.pinned, "match", "chart pinned to the front, run chosen for comparing"),
        (symbols.changed, "info", "run changed since you looked at it"),
        (symbols.folded, "", "seeds of one experiment (Enter or t unfolds); 2/5: two of five"),
    )
    rows = [line(("Symbols", "title"))]
    for sign, style, text in meanings:
        first, *others = wrap(text, cells - 6)
        rows.append(line(("  " + sign.ljust(4), style), first))
        rows += [line((" " * 6, style), row) for row in others]
    return rows


STATUS_LEGEND = (
    (Status.OK, "within its healthy range"),
    (Status.WARMING_UP, "too early to judge"),
    (Status.MISSING, "not logged, or undefined"),
    (Status.INFO, "for information"),
    (Status.WATCH, "watch: outside the healthy range"),
    (Status.WARN, "warn: likely a problem"),
    (Status.CRIT, "critical"),
)

TEXT_OVERLAYS: dict[str, Callable[[UiState, Snapshot, int], list[StyledLine]]] = {
    "help": help_text,
    "findings": findings_text,
    "explain": explain_text,
    "config": config_text,
    "console": console_text,
}
