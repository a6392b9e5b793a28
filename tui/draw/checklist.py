"""The crucial values: status, name, value, sparkline, healthy range, note."""

from __future__ import annotations

from dataclasses import dataclass

from ppo_top.model import Status
from ppo_top.text.format import clean
from ppo_top.tui.draw.charts.curve_columns import curve_columns
from ppo_top.tui.draw.charts.curve_scale import curve_scale
from ppo_top.tui.draw.charts.step_axis import step_axis
from ppo_top.tui.graphics import sparkline
from ppo_top.tui.graphics.styled_text import (
    Span,
    StyledLine,
    fit_width,
    line,
    pad,
    shorten,
    text_width,
    width,
)
from ppo_top.tui.state.snapshot import ClickRegion, ScreenBlock, Snapshot
from ppo_top.views.checklist import rows_on_screen
from ppo_top.views.downsample import stride
from ppo_top.views.run_view import CheckRow, RunView

MAX_LABEL_CELLS = 20
MIN_CURVE_CELLS, MAX_CURVE_CELLS = 8, 160
MIN_AXIS_CELLS = 20
"""The shortest sparklines with step ticks above them."""


@dataclass(frozen=True, slots=True)
class ChecklistWidths:
    """Cells of each column; 0 omits it."""

    label: int
    value: int
    curve: int
    healthy: int
    extreme: int
    note: int


def checklist_widths(snap: Snapshot, rows: list[CheckRow], cells: int) -> ChecklistWidths:
    """The columns that fit, in order of importance: value, name, curve, range, note, extreme."""
    value = max([4, *(len(row.text) for row in rows)])
    rest = cells - 3 - value - 1
    label = min(MAX_LABEL_CELLS, max((text_width(clean(row.label)) for row in rows), default=4))
    label = max(4, min(label, rest))
    rest -= label
    curve = min(MAX_CURVE_CELLS, rest - 2) if rest - 2 >= MIN_CURVE_CELLS else 0
    shown = snap.display_text
    healthy = min(22, max((len(shown(row.healthy)) for row in rows), default=0))
    note = min(30, max((len(shown(row.note)) for row in rows if row.text), default=0))
    spare = rest - 2 - MIN_CURVE_CELLS
    healthy = healthy if healthy and spare >= healthy + 2 else 0
    spare -= healthy + 2 if healthy else 0
    note = note if note and spare >= note + 2 else 0
    spare -= note + 2 if note else 0
    extreme = min(22, max((len(row.extreme) for row in rows), default=0))
    extreme = extreme if extreme and spare >= extreme + 2 + MIN_CURVE_CELLS else 0
    if curve:
        used = sum(each + 2 for each in (healthy, extreme, note) if each)
        curve = max(MIN_CURVE_CELLS, min(MAX_CURVE_CELLS, rest - 2 - used))
    return ChecklistWidths(label, value, curve, healthy, extreme, note)


def checklist_title(snap: Snapshot, cells: int, max_rows: int) -> StyledLine:
    """The line above the checklist: its name, and step ticks over the sparklines."""
    title = section_title(snap, "Crucial values", cells)
    view = snap.view
    if view is None or view.row is None:
        return title
    columns = checklist_widths(snap, rows_to_show(view, max_rows), cells)
    start = 3 + columns.label + 1 + columns.value + 2
    if columns.curve < MIN_AXIS_CELLS or start < len("-- Crucial values - "):
        return title
    first, last = snap.window or (0, view.row)
    size = stride(last - first + 1, columns.curve, snap.is_growing and snap.window is None)
    steps = step_axis(view.timeline, last, size, columns.curve, first)
    if not steps:
        return title
    end = start + columns.curve
    dashes = snap.symbols.horizontal_line * max(0, cells - end - 1)
    left = fit_width(title, start - 1)
    return line(*left, " ", (steps.ljust(columns.curve), "dim"), (f" {dashes}", "frame"))


def section_title(snap: Snapshot, title: str, cells: int, legend: StyledLine = ()) -> StyledLine:
    """The line above a section of the page, with a legend of what is drawn there."""
    dash = snap.symbols.horizontal_line
    room = max(0, cells - len(title) - 4 - width(legend))
    return line((f"{dash * 2} ", "frame"), (title, "dim"), *legend, (f" {dash * room}", "frame"))


def rows_to_show(view: RunView, max_rows: int) -> list[CheckRow]:
    """The rows that fit; rows in trouble stay, and rows that are not logged go first."""
    rows = rows_on_screen(view.checklist)
    if len(rows) <= max_rows:
        return rows

    def rank(at: int) -> tuple[bool, bool, bool]:
        status = rows[at].status
        return not status.is_trouble, status is Status.MISSING, not rows[at].is_crucial

    ranked = sorted(range(len(rows)), key=rank)
    return [rows[at] for at in sorted(ranked[:max_rows])]


def draw_checklist(snap: Snapshot, cells: int, max_rows: int) -> ScreenBlock:
    """The checklist in at most `max_rows` lines."""
    view = snap.view
    block = ScreenBlock()
    if view is None or max_rows < 1:
        return block
    rows = rows_to_show(view, max_rows)
    columns = checklist_widths(snap, rows, cells)
    for at, row in enumerate(rows):
        drawn = _row(snap, view, row, columns, cells)
        if row.concept == snap.concept and snap.focus == "values":
            drawn = tuple((text, f"{style}+selected") for text, style in fit_width(drawn, cells))
        block.click_regions.append(ClickRegion(0, at, cells, 1, "concept", row.concept))
        block.lines.append(drawn)
    return block


def _row(
    snap: Snapshot, view: RunView, row: CheckRow, columns: ChecklistWidths, cells: int
) -> StyledLine:
    sign: Span = (f" {snap.symbols.status[row.status]} ", row.status.value)
    missing = row.status is Status.MISSING
    label = shorten(clean(row.label), columns.label)
    name: Span = (pad(label, columns.label), "dim" if missing else "")
    if missing and not row.text:
        room = cells - 3 - columns.label - 2
        note = shorten(snap.display_text(row.note) or "not logged", room) if room >= 10 else ""
        return line(sign, name, "  ", (note, "missing"))
    tone = row.status.value if row.status.is_trouble else "value"
    parts: list[Span] = [sign, name, (" " + row.text.rjust(columns.value), tone)]
    if columns.curve:
        key = ("row", row.concept, columns.curve, snap.is_growing, snap.window)
        curve = snap.drawing_cache.cached_lines(
            view, key, lambda: [_curve(snap, view, row, columns.curve)]
        )[0]
        parts += [("  ", ""), *fit_width(curve, columns.curve)]
    if columns.healthy:
        excused = row.status is Status.OK and row.note and not columns.note
        words = row.note if excused else row.healthy  # why it is green although it is outside
        text = shorten(snap.display_text(words), columns.healthy).ljust(columns.healthy)
        parts.append(("  " + text, "dim"))
    if columns.extreme:
        extreme = shorten(snap.display_text(row.extreme), columns.extreme)
        parts.append(("  " + extreme.ljust(columns.extreme), "dim"))
    if columns.note:
        note = shorten(snap.display_text(row.note), columns.note)
        parts.append(("  " + note, tone if tone != "value" else "dim"))
    drawn = tuple(parts)
    return drawn if width(drawn) <= cells else fit_width(drawn, cells)


def _curve(snap: Snapshot, view: RunView, row: CheckRow, cells: int) -> StyledLine:
    drawn = next((each for each in view.tracks if each.track is row.track), None)
    if drawn is None:
        return ()
    columns = curve_columns(snap, view, drawn, cells)
    scale = curve_scale(snap, view, drawn)
    return sparkline.draw_bars(columns.extents, columns.styles, snap.symbols, scale)
