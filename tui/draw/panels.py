"""The charts of the main screen, grouped by topic, reward first."""

from __future__ import annotations

from typing import NamedTuple

from ppo_top.catalogue.concepts import TAG_PREFIX
from ppo_top.text.format import clean, compact, format_metric_value, number, percent
from ppo_top.tui.draw.error_box import draw_or_error
from ppo_top.tui.graphics import braille_plot, sparkline
from ppo_top.tui.graphics.styled_text import (
    Span,
    StyledLine,
    fit_width,
    justify,
    line,
    shorten,
    side_by_side,
    width,
)
from ppo_top.tui.state.snapshot import ClickRegion, ScreenBlock, Snapshot
from ppo_top.views.downsample import stride
from ppo_top.views.run_view import PanelTrack, RunView

MIN_PLOT_CELLS = 28
"""The narrowest plot with its title."""

MIN_LOW_PLOT_CELLS = 2 * MIN_PLOT_CELLS
"""From this width on, low plots are worth their lines."""

LINE_PANEL_CELLS = 38
"""The narrowest one-line chart: label, value and sparkline."""

MIN_PANEL_LINES, MAX_PANEL_LINES = 4, 14
"""Lines of a panel, title included."""

AXIS_CELLS = 7


class PanelCell(NamedTuple):
    """A panel to draw: its group and its track."""

    group: str
    track: PanelTrack


class PanelGrid(NamedTuple):
    """The layout of panels: columns, and lines of each."""

    columns: int
    lines: int

    def capacity(self, rows: int) -> int:
        """The number of panels that fit into some lines."""
        return self.columns * (rows // self.lines)


def panels_and_grid(
    view: RunView, cells: int, rows: int, listed: frozenset[str]
) -> tuple[list[PanelCell], PanelGrid]:
    """Plots of all tracks; one-line charts if there is little room that they fill well.

    `listed`: metrics that need no one-line chart: the checklist above shows the same line.
    """
    every = drawable_tracks(view)
    others = [cell for cell in every if cell.track.track.concept not in listed]
    lines = -(-len(others) // max(1, cells // LINE_PANEL_CELLS))
    low_plots = cells >= MIN_LOW_PLOT_CELLS and rows > MIN_PANEL_LINES and 2 * lines <= rows + 1
    plots = rows >= 2 * MIN_PANEL_LINES or low_plots
    shown = every if plots else others
    return shown, panel_grid(cells, rows, len(shown), plots)


def panel_grid(cells: int, rows: int, amount: int, plots: bool) -> PanelGrid:
    """The layout that shows the most panels at a readable size."""
    columns = max(1, min(cells // MIN_PLOT_CELLS, 6, amount or 1))
    if not plots or rows < MIN_PANEL_LINES:
        return PanelGrid(max(1, cells // LINE_PANEL_CELLS), 1)
    lines = min(-(-max(amount, 1) // columns), rows // MIN_PANEL_LINES)
    columns = min(columns, -(-max(amount, 1) // lines))  # fill the last line like the others
    return PanelGrid(columns, min(MAX_PANEL_LINES, rows // lines))


def drawable_tracks(view: RunView) -> list[PanelCell]:
    """All tracks by group, without counters and single values of unknown tags."""
    return [
        PanelCell(panel.group, track)
        for panel in view.panels
        for track in panel.tracks
        if track.direction != "mono"
        if len(track.track) > 1 or not track.track.concept.startswith(TAG_PREFIX)
    ]


def tracks_on_page(
    snap: Snapshot, view: RunView, every: list[PanelCell], capacity: int
) -> list[PanelCell]:
    """The tracks of the current page, by group; the most important are on the first page."""
    crucial = {row.concept for row in view.checklist if row.is_crucial}

    def rank(at: int) -> tuple[bool, bool, bool, bool]:
        """The reward and trouble, then crucial metrics; then known ones, then curves not flat."""
        track = every[at].track
        name = track.track.concept
        first = at == 0 or track.status.is_trouble
        return (
            not first,
            not first and name not in crucial,
            name.startswith(TAG_PREFIX),
            _is_flat(snap, view, track),
        )

    page = max(capacity, 1)
    first = min(snap.scroll, max(0, -(-len(every) // page) - 1)) * page
    kept = sorted(sorted(range(len(every)), key=rank)[first : first + capacity])
    return [every[at] for at in kept]


def _is_flat(snap: Snapshot, view: RunView, track: PanelTrack) -> bool:
    """Whether a curve is constant: others come first."""
    seen = track.track.count_until(view.row or 0)
    low, high, _, bad = snap.drawing_cache.pyramid_for(track.track).extent(0, seen)
    return low == high and not bad


def panels_title(
    snap: Snapshot, view: RunView, cells: int, rows: int, listed: frozenset[str]
) -> str:
    """The section title, with the page."""
    every, layout = panels_and_grid(view, cells, rows, listed)
    room = max(1, layout.capacity(rows))
    if len(every) <= room:
        return "Charts"
    pages = -(-len(every) // room)
    here = min(snap.scroll, pages - 1) + 1
    return f"Charts, page {here} of {pages} (PgUp PgDn)"


def draw_panels(
    snap: Snapshot, cells: int, rows: int, listed: frozenset[str] = frozenset()
) -> ScreenBlock:
    """The panels in at most `rows` lines; `listed`: the metrics of the checklist above."""
    view = snap.view
    block = ScreenBlock()
    if view is None or rows < 1 or view.row is None:
        return block
    every, layout = panels_and_grid(view, cells, rows, listed)
    shown = tracks_on_page(snap, view, every, layout.capacity(rows))
    wide = cells // layout.columns
    texts = [format_metric_value(cell.track.newest_value, cell.track.fmt) for cell in shown]
    values = max(map(len, texts), default=0)
    group = ""
    spare = rows - -(-len(shown) // layout.columns) * layout.lines if layout.lines > 1 else 0
    for start in range(0, len(shown), layout.columns):
        side: list[tuple[list[StyledLine], int]] = []
        high = layout.lines + (1 if spare > 0 and layout.lines < MAX_PANEL_LINES else 0)
        spare -= 1
        for at, cell in enumerate(shown[start : start + layout.columns]):
            first = cell.group != group
            group = cell.group
            side.append((_panel_or_error(snap, view, cell, first, (wide - 1, high), values), wide))
            spot = ClickRegion(at * wide, len(block.lines), wide - 1, high, "concept")
            block.click_regions.append(spot._replace(target=cell.track.track.concept))
        block.lines += side_by_side(side, high)
    return block


def _panel_or_error(
    snap: Snapshot, view: RunView, cell: PanelCell, first: bool, size: tuple[int, int], values: int
) -> list[StyledLine]:
    def draw() -> ScreenBlock:
        return ScreenBlock(_panel(snap, view, cell, first, size, values))

    return draw_or_error(f"the chart of {cell.track.track.concept}", draw, *size).lines


def _panel(
    snap: Snapshot, view: RunView, cell: PanelCell, first: bool, size: tuple[int, int], values: int
) -> list[StyledLine]:
    """One panel; `values` is the width of the widest value on the page."""
    wide, high = size
    if high == 1:
        return [_one_line(snap, view, cell, wide, values)]
    title = _title(snap, cell, first, wide)
    room = (wide, high - 1)
    key = (cell.track.track.concept, room)
    plot = snap.drawing_cache.cached_lines(view, key, lambda: _plot(snap, view, cell.track, room))
    return [title, *plot]


def _label_style(snap: Snapshot, cell: PanelCell) -> str:
    chosen = cell.track.track.concept == snap.concept and snap.focus == "values"
    return "title+selected" if chosen else "title"


def _title(snap: Snapshot, cell: PanelCell, first: bool, cells: int) -> StyledLine:
    track = cell.track
    shown = format_metric_value(track.newest_value, track.fmt)
    style = track.status.value if track.status.is_trouble else ""
    sign = snap.symbols.trend.get(track.trend, "")
    latest: list[Span] = [(" ", ""), (shown, style), (f" {sign}" if sign else "", "dim")]
    label = clean(track.label)
    room = cells - width(latest) - 1
    lead = f"{cell.group}: " if first and len(cell.group) + 2 + len(label) <= room else ""
    if cell.group.lower() == label.lower():
        lead = ""
    left = line((lead, "brand"), (shorten(label, room), _label_style(snap, cell)), *latest)
    if track.best is None:
        return left
    best = f"{snap.symbols.best}{format_metric_value(track.best.value, track.fmt)} "
    fits = width(left) + len(best) + 2 <= cells
    return justify(left, line((best, "dim")), cells) if fits else left


def _colours(track: PanelTrack) -> sparkline.CurveColours:
    outside = track.status.value if track.status.is_trouble else "watch"
    return sparkline.CurveColours("curve", outside)


def _one_line(
    snap: Snapshot, view: RunView, cell: PanelCell, cells: int, values: int
) -> StyledLine:
    track = cell.track
    shown = format_metric_value(track.newest_value, track.fmt)
    style = track.status.value if track.status.is_trouble else ""
    label = shorten(clean(track.label), 16).ljust(16)
    left = line(
        (" " + label, _label_style(snap, cell)), " ", (shown.rjust(max(values, 7)), style), "  "
    )
    room = cells - width(left) - 1
    if room < 4 or view.row is None:
        return left
    key = (track.track.concept, room)
    bars = snap.drawing_cache.cached_lines(view, key, lambda: [_bars(snap, view, track, room)])
    return (*left, *bars[0])


def _bars(snap: Snapshot, view: RunView, track: PanelTrack, room: int) -> StyledLine:
    columns = sparkline.column_extents(
        track.track, snap.drawing_cache.pyramid_for(track.track), view.row or 0, room
    )
    return sparkline.draw_bars(columns, track.healthy_range, snap.symbols, _colours(track))


def _plot(
    snap: Snapshot, view: RunView, track: PanelTrack, size: tuple[int, int]
) -> list[StyledLine]:
    wide, high = size
    axis = AXIS_CELLS if wide >= 26 else 0
    per_cell = 2 if snap.symbols.braille else 1
    room = (wide - axis) * per_cell
    row = view.row or 0
    columns = sparkline.column_extents(
        track.track, snap.drawing_cache.pyramid_for(track.track), row, room
    )
    scale = sparkline.choose_scale(columns, track.healthy_range)
    marks = _restarts(snap, view, row, room, per_cell)
    healthy, colours, size = track.healthy_range, _colours(track), (wide - axis, high)
    drawn = braille_plot.draw_braille_plot(
        columns, size, healthy, snap.symbols, colours, scale, marks
    )
    if not axis:
        return drawn
    upper, lower = edge_labels(scale, track.fmt)
    labels = [""] * high
    labels[0], labels[-1] = upper, lower
    return [
        (*fit_width(row, wide - axis), (label.rjust(AXIS_CELLS - 1).ljust(AXIS_CELLS), "faint"))
        for row, label in zip(drawn, labels, strict=True)
    ]


def edge_labels(scale: sparkline.Scale, fmt: str) -> tuple[str, str]:
    """Labels of the upper and lower edge, with enough digits to differ."""
    for digits in (2, 3, 4):
        upper, lower = _edge(scale.high, fmt, digits), _edge(scale.low, fmt, digits)
        if upper != lower:
            return upper, lower
    return "", ""


def _edge(amount: float, fmt: str, digits: int) -> str:
    """A number in the cells of the axis: rounded, never cut off."""
    if fmt in ("%", "pct") and len(share := percent(amount)) <= AXIS_CELLS:
        return share
    spellings = [number(amount, digits), number(amount, 2)]
    if abs(amount) >= 1000:
        spellings.append(compact(amount))
    return next((text for text in spellings if len(text) <= AXIS_CELLS), f"{amount:.0e}")


def _restarts(snap: Snapshot, view: RunView, row: int, room: int, per_cell: int) -> dict[int, Span]:
    """Cell -> symbol, where the run was resumed."""
    size = stride(row + 1, room)
    return {
        int(at / size) // per_cell: (snap.symbols.restart, "restart")
        for at in view.timeline.restarts
        if at <= row
    }
