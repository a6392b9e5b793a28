"""The main screen at any size: the least important parts are dropped first."""

from __future__ import annotations

from itertools import zip_longest

from ppo_top.model import Status
from ppo_top.text.format import clean
from ppo_top.tui.draw.charts.overlaid_curves import overlay_legend
from ppo_top.tui.draw.charts.panels import draw_panels, panels_title
from ppo_top.tui.draw.checklist import (
    checklist_title,
    draw_checklist,
    rows_to_show,
    section_title,
)
from ppo_top.tui.draw.error_box import draw_or_error
from ppo_top.tui.draw.footer import draw_footer
from ppo_top.tui.draw.header import (
    draw_header,
    draw_run_title,
    loading_bar,
    past_banner,
    short_status,
)
from ppo_top.tui.draw.run_table import draw_run_table, names_width
from ppo_top.tui.draw.timeline_bar import draw_timeline
from ppo_top.tui.draw.verdict import draw_verdict, headline_lines
from ppo_top.tui.graphics.styled_text import (
    StyledLine,
    fit_width,
    join_fitting,
    justify,
    line,
    width,
    wrap,
)
from ppo_top.tui.state.snapshot import SECTIONS, ScreenBlock, Snapshot
from ppo_top.views.run_view import RunView

MAX_STATUS_LINES = 5
"""Up to this height only the status is shown."""

MIN_FULL_SIZE = (60, 18)
"""Below this size: verdict and checklist only."""

MIN_SIDEBAR_SIZE = (110, 20)
"""From this size on, the run list is shown."""

MIN_SIDEBAR_CELLS = 24

SIDEBAR_DIVISOR = 4
"""The run list is as wide as its names need, at most this part of the width."""


def draw_main_screen(snap: Snapshot, cells: int, rows: int) -> ScreenBlock:
    """The whole screen: exactly `rows` lines of exactly `cells` cells."""
    if cells < 1 or rows < 1:
        return ScreenBlock()
    if rows <= MAX_STATUS_LINES:
        block = _status_lines(snap, cells, rows)
    elif snap.focus == "runs" and not has_sidebar(snap, cells, rows):
        block = _with_footer(snap, cells, rows, _run_table(snap, cells, rows - 2))
    elif snap.view is None:
        block = _with_footer(snap, cells, rows, _waiting(snap, cells, rows - 2))
    elif not _is_full(cells, rows):
        block = _side_pane(snap, snap.view, cells, rows)
    else:
        block = _with_footer(snap, cells, rows, _full(snap, snap.view, cells, rows))
    lines = [fit_width(printable_line(row, snap), cells) for row in block.lines[:rows]]
    blank: StyledLine = ((" " * cells, ""),)
    return ScreenBlock(lines + [blank] * (rows - len(lines)), block.click_regions, block.scroll)


def printable_line(row: StyledLine, snap: Snapshot) -> StyledLine:
    """A line in the symbol set's characters, without control characters."""
    return tuple((snap.symbols.translate(clean(text)), style) for text, style in row)


def has_sidebar(snap: Snapshot, cells: int, rows: int) -> bool:
    """Whether the run list is shown next to the selected run."""
    hideable = hideable_sections(snap.counts.total, cells, rows)
    return "runs" in hideable - snap.hidden_sections


def hideable_sections(runs: int, cells: int, rows: int) -> frozenset[str]:
    """The sections that a screen of this size shows of so many runs, unless they are hidden."""
    found = set(SECTIONS) - {"runs"} if _is_full(cells, rows) else set()
    if runs > 1 and cells >= MIN_SIDEBAR_SIZE[0] and rows >= MIN_SIDEBAR_SIZE[1]:
        found.add("runs")
    return frozenset(found)


def _is_full(cells: int, rows: int) -> bool:
    return cells >= MIN_FULL_SIZE[0] and rows >= MIN_FULL_SIZE[1]


# --- from small to large ---------------------------------------------------------------------


def _status_lines(snap: Snapshot, cells: int, rows: int) -> ScreenBlock:
    """Up to five lines: verdict, progress, then as many metrics as fit."""
    view = snap.view
    if view is None:
        return ScreenBlock([short_status(snap, cells)])
    block = ScreenBlock(headline_lines(snap, view, cells, 1))
    block.lines.append(line(" ", *short_status(snap, cells - 1)))
    values = values_inline(snap, view)
    while values and len(block.lines) < rows:
        packed = join_fitting(values, cells - 1, "  ")
        if not packed:
            break
        block.lines.append(line(" ", *packed))
        values = [part for part in values if part[0] not in packed]
    if rows == 1:
        block.lines = [join_fitting([block.lines[0], short_status(snap, cells)], cells)]
    return block


def values_inline(snap: Snapshot, view: RunView) -> list[StyledLine]:
    """The crucial values as `✗ approx KL 0.214`, the worst first."""
    trouble = (Status.CRIT, Status.WARN, Status.WATCH)
    rows = [row for row in view.checklist if row.is_crucial and row.text]
    rows.sort(key=lambda row: trouble.index(row.status) if row.status in trouble else 9)
    return [
        line(
            (f"{snap.symbols.status[row.status]} {clean(row.label)}", row.status.value),
            (f" {row.text}", "value"),
        )
        for row in rows
    ]


def _side_pane(snap: Snapshot, view: RunView, cells: int, rows: int) -> ScreenBlock:
    """A tmux side pane: verdict, checklist, and charts if there is room."""
    values = sum(1 for row in view.checklist if row.is_crucial)
    room = rows - 1
    block = _verdict(
        snap, cells, max(1, min(room - min(values, room - 1), 6 if cells >= 30 else 3))
    )
    status = line(" ", *short_status(snap, cells - 1))
    block.lines.append(past_banner(snap, cells) or loading_bar(snap, cells) or status)
    _add_help_hint(block.lines, cells)
    left = rows - len(block.lines)
    needs_footer = snap.prompt is not None or snap.toast or snap.news or snap.alerts
    block.append_block(_values(snap, cells, left - 1 if needs_footer else left))
    listed = frozenset(row.concept for row in rows_to_show(view, left))
    if needs_footer:
        block.lines += [()] * (rows - 1 - len(block.lines))
        block.append_block(draw_footer(snap, cells))
    elif len(block.lines) + 3 <= rows:
        block.lines.append(overlay_legend(snap, view, cells))
        block.append_block(_curves(snap, cells, rows - len(block.lines) - 1, listed))
        block.lines += [()] * (rows - 1 - len(block.lines))
        block.append_block(_timeline_bar(snap, cells))
    return block


def _add_help_hint(lines: list[StyledLine], cells: int) -> None:
    """Name the key of the help in the last line that has room for it: there is no footer."""
    hint = line(("?", "key"), (" help", "dim"))
    for at in reversed(range(len(lines))):
        if width(lines[at]) + width(hint) + 2 <= cells:
            lines[at] = justify(lines[at], hint, cells)
            return


def _with_footer(snap: Snapshot, cells: int, rows: int, body: ScreenBlock) -> ScreenBlock:
    block = ScreenBlock([draw_header(snap, cells)])
    block.append_block(ScreenBlock(body.lines[: rows - 2], body.click_regions, body.scroll))
    block.lines += [()] * (rows - 1 - len(block.lines))
    block.append_block(draw_footer(snap, cells))
    return block


def _waiting(snap: Snapshot, cells: int, rows: int) -> ScreenBlock:
    """The screen before the first run is found."""
    block = ScreenBlock([()] * min(2, rows))
    for number, paragraph in enumerate(snap.waiting_text.split("\n")):
        style = "title" if number == 0 else "dim"
        block.lines += [line("  ", (row, style)) for row in wrap(clean(paragraph), cells - 4)]
        block.lines.append(())
        if number == 0 and snap.why_nothing:
            why = (row for each in snap.why_nothing for row in wrap(clean(each), cells - 4))
            block.lines += [*(line("  ", (row, "warn")) for row in why), ()]
    if snap.loading is not None:
        block.lines.append(loading_bar(snap, cells))
    return ScreenBlock(block.lines[:rows])


def _full(snap: Snapshot, view: RunView, cells: int, rows: int) -> ScreenBlock:
    body = rows - 2
    if not has_sidebar(snap, cells, rows):
        return _run_pane(snap, view, cells, body)
    side = max(MIN_SIDEBAR_CELLS, min(names_width(snap.entries), cells // SIDEBAR_DIVISOR))
    left = _run_table(snap, side, body)
    right = _run_pane(snap, view, cells - side - 2, body)
    border = line((snap.symbols.vertical_line, "frame"), " ")
    lines: list[StyledLine] = []
    for first, second in zip_longest(left.lines[:body], right.lines[:body], fillvalue=()):
        lines.append((*fit_width(first, side), *border, *second))
    hits = left.click_regions + [hit.shifted(side + 2, 0) for hit in right.click_regions]
    return ScreenBlock(lines, hits, right.scroll)


def _run_pane(snap: Snapshot, view: RunView, cells: int, rows: int) -> ScreenBlock:
    """The selected run: title, verdict, crucial values, charts, timeline."""
    block = ScreenBlock([draw_run_title(snap, view, cells)])
    for top in (past_banner(snap, cells), loading_bar(snap, cells)):
        if top:
            block.lines.append(top)
    airy = rows >= 30
    listed: frozenset[str] = frozenset()
    if "finding" not in snap.hidden_sections:
        block.append_block(_verdict(snap, cells, _verdict_rows(rows)))
    else:
        block.lines.append(section_title(snap, "Verdict (2 shows it)", cells))
    left = rows - 1 - len(block.lines)  # the timeline stands below
    if "values" not in snap.hidden_sections and left > 2:
        room = left - 1 if airy else left
        shown = min(len(view.checklist), _value_rows(snap, view, room, airy))
        if airy:
            block.lines.append(checklist_title(snap, cells, shown))
        block.append_block(_values(snap, cells, shown))
        listed = frozenset(row.concept for row in rows_to_show(view, shown))
        left = rows - 1 - len(block.lines)
    elif left > 2:
        block.lines.append(section_title(snap, "Crucial values (3 shows them)", cells))
        left -= 1
    if "panels" not in snap.hidden_sections and left > 1:
        if airy or left > 4:
            left -= 1
            title = panels_title(snap, view, cells, left, listed)
            legend = overlay_legend(snap, view, cells - len(title) - 8)
            block.lines.append(section_title(snap, title, cells, legend))
        block.append_block(_curves(snap, cells, left, listed))
    elif left > 2:
        block.lines.append(section_title(snap, "Charts (4 shows them)", cells))
    block.lines += [()] * (rows - 1 - len(block.lines))
    block.append_block(_timeline_bar(snap, cells))
    return block


# --- the parts: an error in one leaves the others as they are -----------------------------------


def _run_table(snap: Snapshot, cells: int, rows: int) -> ScreenBlock:
    return draw_or_error("the run list", lambda: draw_run_table(snap, cells, rows), cells, rows)


def _verdict(snap: Snapshot, cells: int, rows: int) -> ScreenBlock:
    return draw_or_error("the verdict", lambda: draw_verdict(snap, cells, rows), cells, rows)


def _values(snap: Snapshot, cells: int, rows: int) -> ScreenBlock:
    return draw_or_error("the checklist", lambda: draw_checklist(snap, cells, rows), cells, rows)


def _curves(snap: Snapshot, cells: int, rows: int, listed: frozenset[str]) -> ScreenBlock:
    return draw_or_error("the charts", lambda: draw_panels(snap, cells, rows, listed), cells, rows)


def _timeline_bar(snap: Snapshot, cells: int) -> ScreenBlock:
    return draw_or_error("the timeline", lambda: draw_timeline(snap, cells), cells, 1)


def _verdict_rows(rows: int) -> int:
    """Lines for the verdict: about a fifth of the screen, at least three."""
    return max(3, min(9, rows // 5 + 2))


def _value_rows(snap: Snapshot, view: RunView, left: int, airy: bool) -> int:
    """Lines for the checklist: all crucial values, and the others only if there is room."""
    crucial = sum(1 for row in view.checklist if row.is_crucial)
    if "panels" in snap.hidden_sections:
        return left
    if not airy:
        return min(left, crucial)
    return min(left, max(crucial, min(len(view.checklist), left // 3)))
