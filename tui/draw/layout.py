"""The main screen at any size: the least important parts are dropped first."""

from __future__ import annotations

from ppo_top.model import Status
from ppo_top.text.format import clean
from ppo_top.tui.draw.checklist import draw_checklist, rows_to_show
from ppo_top.tui.draw.error_box import draw_or_error
from ppo_top.tui.draw.footer import draw_footer
from ppo_top.tui.draw.header import draw_header, draw_run_title, loading_bar, short_status
from ppo_top.tui.draw.panels import draw_panels, panels_title
from ppo_top.tui.draw.run_table import draw_run_table, names_width
from ppo_top.tui.draw.timeline_bar import draw_timeline
from ppo_top.tui.draw.verdict import draw_verdict, headline_lines
from ppo_top.tui.graphics.styled_text import StyledLine, fit_width, join_fitting, line, wrap
from ppo_top.tui.state.snapshot import ScreenBlock, Snapshot
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


def draw_main_screen(snapshot: Snapshot, cells: int, rows: int) -> ScreenBlock:
    """The whole screen: exactly `rows` lines of exactly `cells` cells."""
    if cells < 1 or rows < 1:
        return ScreenBlock()
    if rows <= MAX_STATUS_LINES:
        block = _status_lines(snapshot, cells, rows)
    elif snapshot.focus == "runs" and not has_sidebar(snapshot, cells, rows):
        block = _with_footer(snapshot, cells, rows, _run_table(snapshot, cells, rows - 2))
    elif snapshot.view is None:
        block = _with_footer(snapshot, cells, rows, _waiting(snapshot, cells, rows - 2))
    elif cells < MIN_FULL_SIZE[0] or rows < MIN_FULL_SIZE[1]:
        block = _side_pane(snapshot, cells, rows)
    else:
        block = _full(snapshot, cells, rows)
    lines = [fit_width(printable_line(row, snapshot), cells) for row in block.lines[:rows]]
    blank: StyledLine = ((" " * cells, ""),)
    return ScreenBlock(lines + [blank] * (rows - len(lines)), block.click_regions)


def printable_line(row: StyledLine, snapshot: Snapshot) -> StyledLine:
    """A line in the symbol set's characters, without control characters."""
    return tuple((snapshot.symbols.translate(clean(text)), style) for text, style in row)


def has_sidebar(snapshot: Snapshot, cells: int, rows: int) -> bool:
    """Whether the run list is shown next to the selected run."""
    if (
        "runs" in snapshot.hidden_sections
        or cells < MIN_SIDEBAR_SIZE[0]
        or rows < MIN_SIDEBAR_SIZE[1]
    ):
        return False
    return snapshot.counts.total > 1


# --- from small to large ---------------------------------------------------------------------


def _status_lines(snapshot: Snapshot, cells: int, rows: int) -> ScreenBlock:
    """Up to five lines: verdict, progress, then as many metrics as fit."""
    view = snapshot.view
    if view is None:
        return ScreenBlock([short_status(snapshot, cells)])
    block = ScreenBlock(headline_lines(snapshot, view, cells, 1))
    block.lines.append(line(" ", *short_status(snapshot, cells - 1)))
    values = values_inline(snapshot, view)
    while values and len(block.lines) < rows:
        packed = join_fitting(values, cells - 1, "  ")
        if not packed:
            break
        block.lines.append(line(" ", *packed))
        values = [part for part in values if part[0] not in packed]
    if rows == 1:
        block.lines = [join_fitting([block.lines[0], short_status(snapshot, cells)], cells)]
    return block


def values_inline(snapshot: Snapshot, view: RunView) -> list[StyledLine]:
    """The crucial values as `✗ approx KL 0.214`, the worst first."""
    trouble = (Status.CRIT, Status.WARN, Status.WATCH)
    rows = [row for row in view.checklist if row.is_crucial and row.text]
    rows.sort(key=lambda row: trouble.index(row.status) if row.status in trouble else 9)
    return [
        line(
            (f"{snapshot.symbols.status[row.status]} {clean(row.label)}", row.status.value),
            (f" {row.text}", "value"),
        )
        for row in rows
    ]


def _side_pane(snapshot: Snapshot, cells: int, rows: int) -> ScreenBlock:
    """A tmux side pane: verdict, checklist, and charts if there is room."""
    block = ScreenBlock()
    view = snapshot.view
    if view is None:
        return block
    head = [line(" ", *short_status(snapshot, cells - 1))]
    if snapshot.loading is not None:
        head = [loading_bar(snapshot, cells)]
    values = sum(1 for row in view.checklist if row.is_crucial)
    room = rows - len(head)
    for_verdict = max(1, min(room - min(values, room - 1), 6 if cells >= 30 else 3))
    block.append_block(_verdict(snapshot, cells, for_verdict))
    block.append_block(ScreenBlock(head))
    left = rows - len(block.lines)
    typing = snapshot.prompt is not None or snapshot.toast
    block.append_block(_values(snapshot, cells, left - 1 if typing else left))
    listed = frozenset(row.concept for row in rows_to_show(view, left))
    if typing:
        block.lines += [()] * (rows - 1 - len(block.lines))
        block.append_block(draw_footer(snapshot, cells))
    elif len(block.lines) + 3 <= rows:
        block.append_block(ScreenBlock([()]))
        block.append_block(_curves(snapshot, cells, rows - len(block.lines) - 1, listed))
        block.lines += [()] * (rows - 1 - len(block.lines))
        block.append_block(_timeline_bar(snapshot, cells))
    return block


def _with_footer(snapshot: Snapshot, cells: int, rows: int, body: ScreenBlock) -> ScreenBlock:
    block = ScreenBlock([draw_header(snapshot, cells)])
    block.append_block(ScreenBlock(body.lines[: rows - 2], body.click_regions))
    block.lines += [()] * (rows - 1 - len(block.lines))
    block.append_block(draw_footer(snapshot, cells))
    return block


def _waiting(snapshot: Snapshot, cells: int, rows: int) -> ScreenBlock:
    """The screen before the first run is found."""
    block = ScreenBlock([()] * min(2, rows))
    for number, paragraph in enumerate(snapshot.waiting_text.split("\n")):
        style = "title" if number == 0 else "dim"
        block.lines += [line("  ", (row, style)) for row in wrap(clean(paragraph), cells - 4)]
        block.lines.append(())
    if snapshot.loading is not None:
        block.lines.append(loading_bar(snapshot, cells))
    return ScreenBlock(block.lines[:rows])


def _full(snapshot: Snapshot, cells: int, rows: int) -> ScreenBlock:
    block = ScreenBlock([draw_header(snapshot, cells)])
    body = rows - 2
    if has_sidebar(snapshot, cells, rows):
        side = max(MIN_SIDEBAR_CELLS, min(names_width(snapshot.entries), cells // SIDEBAR_DIVISOR))
        left = _run_table(snapshot, side, body)
        right = _run_pane(snapshot, cells - side - 2, body)
        block.append_block(_joined(snapshot, left, side, right, body))
    else:
        block.append_block(_run_pane(snapshot, cells, body))
    block.lines = block.lines[: rows - 1]
    block.lines += [()] * (rows - 1 - len(block.lines))
    block.append_block(draw_footer(snapshot, cells))
    return block


def _joined(
    snapshot: Snapshot, left: ScreenBlock, side: int, right: ScreenBlock, rows: int
) -> ScreenBlock:
    border = line((snapshot.symbols.vertical_line, "frame"), " ")
    lines: list[StyledLine] = []
    for at in range(rows):
        first = left.lines[at] if at < len(left.lines) else ()
        second = right.lines[at] if at < len(right.lines) else ()
        lines.append((*fit_width(first, side), *border, *second))
    hits = left.click_regions + [hit.shifted(side + 2, 0) for hit in right.click_regions]
    return ScreenBlock(lines, hits)


def _run_pane(snapshot: Snapshot, cells: int, rows: int) -> ScreenBlock:
    """The selected run: title, verdict, crucial values, charts, timeline."""
    view = snapshot.view
    block = ScreenBlock([draw_run_title(snapshot, cells)])
    if view is None:
        return block
    left = rows - 2  # the title above, the timeline below
    if snapshot.loading is not None:
        block.lines.append(loading_bar(snapshot, cells))
        left -= 1
    airy = rows >= 30
    listed: frozenset[str] = frozenset()
    if "finding" not in snapshot.hidden_sections:
        block.append_block(_verdict(snapshot, cells, _verdict_rows(rows)))
        left = rows - 1 - len(block.lines)
    if "values" not in snapshot.hidden_sections and left > 2:
        if airy:
            block.lines.append(_section_title(snapshot, "Crucial values", cells))
            left -= 1
        shown = min(len(view.checklist), _value_rows(snapshot, view, left, airy))
        block.append_block(_values(snapshot, cells, shown))
        listed = frozenset(row.concept for row in rows_to_show(view, shown))
        left = rows - 1 - len(block.lines)
    if "panels" not in snapshot.hidden_sections and left > 1:
        if airy or left > 4:
            left -= 1
            block.lines.append(
                _section_title(snapshot, panels_title(snapshot, cells, left, listed), cells)
            )
        block.append_block(_curves(snapshot, cells, left, listed))
    block.lines += [()] * (rows - 1 - len(block.lines))
    block.append_block(_timeline_bar(snapshot, cells))
    return block


# --- the parts: an error in one leaves the others as they are -----------------------------------


def _run_table(snapshot: Snapshot, cells: int, rows: int) -> ScreenBlock:
    return draw_or_error("the run list", lambda: draw_run_table(snapshot, cells, rows), cells, rows)


def _verdict(snapshot: Snapshot, cells: int, rows: int) -> ScreenBlock:
    return draw_or_error("the verdict", lambda: draw_verdict(snapshot, cells, rows), cells, rows)


def _values(snapshot: Snapshot, cells: int, rows: int) -> ScreenBlock:
    return draw_or_error(
        "the checklist", lambda: draw_checklist(snapshot, cells, rows), cells, rows
    )


def _curves(snapshot: Snapshot, cells: int, rows: int, listed: frozenset[str]) -> ScreenBlock:
    return draw_or_error(
        "the charts", lambda: draw_panels(snapshot, cells, rows, listed), cells, rows
    )


def _timeline_bar(snapshot: Snapshot, cells: int) -> ScreenBlock:
    return draw_or_error("the timeline", lambda: draw_timeline(snapshot, cells), cells, 1)


def _verdict_rows(rows: int) -> int:
    """Lines for the verdict: about a fifth of the screen, at least three."""
    return max(3, min(9, rows // 5 + 2))


def _value_rows(snapshot: Snapshot, view: RunView, left: int, airy: bool) -> int:
    """Lines for the checklist: all crucial values, and the others only if there is room."""
    crucial = sum(1 for row in view.checklist if row.is_crucial)
    if "panels" in snapshot.hidden_sections:
        return left
    if not airy:
        return min(left, crucial)
    return min(left, max(crucial, min(len(view.checklist), left // 3)))


def _section_title(snapshot: Snapshot, title: str, cells: int) -> StyledLine:
    dash = snapshot.symbols.horizontal_line
    room = max(0, cells - len(title) - 4)
    return line((f"{dash * 2} ", "frame"), (title, "dim"), (f" {dash * room}", "frame"))
