"""The crucial values: sign, name, value, tiny curve, healthy range, since when."""

from __future__ import annotations

from dataclasses import dataclass

from ppo_top.model import Status
from ppo_top.text.format import clean
from ppo_top.tui.graphics import sparkline as spark
from ppo_top.tui.graphics.styled_text import Line, Span, fill, line, shorten, width
from ppo_top.tui.state.snapshot import Block, Frame, Hit
from ppo_top.views.run_view import CheckRow, RunView

LABEL_MOST = 20
CURVE_LEAST, CURVE_MOST = 8, 60


@dataclass(frozen=True, slots=True)
class Widths:
    """Cells of each column; 0 leaves it out."""

    label: int
    value: int
    curve: int
    healthy: int
    note: int


def widths(frame: Frame, rows: list[CheckRow], cells: int) -> Widths:
    """What fits into a line, in the order of importance: value, name, curve, range, since."""
    label = min(LABEL_MOST, max((len(clean(row.label)) for row in rows), default=4))
    value = max((len(row.text) for row in rows), default=4)
    value = max(value, 4)
    rest = cells - 3 - value - 1
    label = max(4, min(label, rest))
    rest -= label
    curve = min(CURVE_MOST, rest - 2) if rest - 2 >= CURVE_LEAST else 0
    healthy = min(22, max((len(_range(frame, row)) for row in rows), default=0))
    note = min(30, max((len(_note(frame, row)) for row in rows if row.text), default=0))
    spare = rest - 2 - CURVE_LEAST
    healthy = healthy if healthy and spare >= healthy + 2 else 0
    spare -= healthy + 2 if healthy else 0
    note = note if note and spare >= note + 2 else 0
    if curve:
        taken = (healthy + 2 if healthy else 0) + (note + 2 if note else 0)
        curve = max(CURVE_LEAST, min(CURVE_MOST, rest - 2 - taken))
    return Widths(label, value, curve, healthy, note)


def ordered(view: RunView, most: int) -> list[CheckRow]:
    """The rows that are shown when there is room for so many: the crucial ones, then the rest.

    Where not even the crucial ones fit, those in trouble stay and those that are not logged go.
    """
    rows = sorted(view.checklist, key=lambda row: not row.crucial)
    if len(rows) <= most:
        return rows
    weight = {Status.MISSING: 3}
    ranked = sorted(
        range(len(rows)),
        key=lambda at: (
            0 if rows[at].status.is_trouble else weight.get(rows[at].status, 1),
            not rows[at].crucial,
            at,
        ),
    )
    return [rows[at] for at in sorted(ranked[:most])]


def checklist(frame: Frame, cells: int, most: int) -> Block:
    """The checklist in at most so many lines."""
    view = frame.view
    block = Block()
    if view is None or most < 1:
        return block
    rows = ordered(view, most)
    columns = widths(frame, rows, cells)
    for row in rows:
        chosen = row.concept == frame.concept and frame.focus == "values"
        drawn = _row(frame, view, row, columns, cells)
        if chosen:
            drawn = tuple((text, f"{style}+selected") for text, style in fill(drawn, cells))
        block.hits.append(Hit(0, len(block.lines), cells, 1, "concept", row.concept))
        block.lines.append(drawn)
    return block


def _row(frame: Frame, view: RunView, row: CheckRow, columns: Widths, cells: int) -> Line:
    sign: Span = (f" {frame.glyphs.status[row.status]} ", row.status.value)
    missing = row.status is Status.MISSING
    label = shorten(clean(row.label), columns.label)
    name: Span = (label.ljust(columns.label), "dim" if missing else "")
    if missing and not row.text:
        room = cells - 3 - columns.label - 2
        note = shorten(_note(frame, row) or "not logged", room) if room >= 10 else ""
        return line(sign, name, "  ", (note, "missing"))
    tone = row.status.value if row.status.is_trouble else "value"
    parts: list[Span] = [sign, name, (" " + row.text.rjust(columns.value), tone)]
    if columns.curve:
        key = ("row", row.concept, columns.curve)
        curve = frame.pyramids.drawn(view, key, lambda: [_curve(frame, view, row, columns.curve)])[
            0
        ]
        parts += [("  ", ""), *fill(curve, columns.curve)]
    if columns.healthy:
        text = shorten(_range(frame, row), columns.healthy).ljust(columns.healthy)
        parts.append(("  " + text, "dim"))
    if columns.note:
        note = shorten(_note(frame, row), columns.note)
        parts.append(("  " + note, tone if tone != "value" else "dim"))
    drawn = tuple(parts)
    return drawn if width(drawn) <= cells else fill(drawn, cells)


def _note(frame: Frame, row: CheckRow) -> str:
    return frame.told(row.note)


def _range(frame: Frame, row: CheckRow) -> str:
    return frame.told(row.healthy)


def _curve(frame: Frame, view: RunView, row: CheckRow, cells: int) -> Line:
    if row.track is None or view.row is None:
        return ()
    columns = spark.extents(row.track, frame.pyramids.of(row.track), view.row, cells, 2)
    bad = row.status.value if row.status.is_trouble else "watch"
    return spark.bars(columns, row.band, frame.glyphs, spark.Colours("curve", bad))
