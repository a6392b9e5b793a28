"""The charts of the main screen, reward and trouble first, constant settings last."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ppo_top.catalogue.concepts import TAG_PREFIX
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.text.format import clean, compact, format_metric_value
from ppo_top.tui.draw.charts.curve_columns import SPREAD_OF, curve_columns
from ppo_top.tui.draw.charts.curve_scale import curve_scale
from ppo_top.tui.draw.charts.panel_plot import draw_panel_plot
from ppo_top.tui.draw.error_box import draw_or_error
from ppo_top.tui.graphics import sparkline
from ppo_top.tui.graphics.styled_text import (
    Span,
    StyledLine,
    justify,
    line,
    pad,
    shorten,
    side_by_side,
    width,
)
from ppo_top.tui.state.snapshot import ClickRegion, ScreenBlock, Snapshot
from ppo_top.views.run_view import PanelTrack, RunView

MIN_PLOT_CELLS = 28
"""The narrowest plot with its title."""

MIN_LOW_PLOT_CELLS = 2 * MIN_PLOT_CELLS
"""From this width on, low plots are worth their lines."""

LINE_PANEL_CELLS = 38
"""The narrowest one-line chart: label, value and sparkline."""

MIN_PANEL_LINES = 4
"""The lowest panel, title included."""

USUAL_PANEL_LINES = 5
"""The lowest panel where there is room for several rows of them."""

BEST_ASPECT = 4.0
"""Among grids that show as many panels, one is chosen whose panels are about so many times wider
than high, in cells, and whose last row is full."""

STEP_AXIS_LINES = 6
"""From this height on a panel has a line of steps; in the lowest row of panels one line less."""


class PanelGrid(NamedTuple):
    """The layout of panels: columns, rows, and the lines of each row of panels."""

    columns: int
    rows: int
    plots: bool

    @property
    def capacity(self) -> int:
        """The number of panels that fit."""
        return self.columns * self.rows

    def heights(self, lines: int, flat: Sequence[bool]) -> list[int]:
        """The lines of each row of panels: plots fill all lines; rows of flat ones at the end get
        half as many."""
        rows = -(-len(flat) // self.columns)
        if not self.plots:
            return [1] * rows
        changing = max((at for at, is_flat in enumerate(flat) if not is_flat), default=0)
        high = changing // self.columns + 1
        low = max(MIN_PANEL_LINES, lines // rows // 2)
        lines -= (rows - high) * low
        first_longer = high - lines % high
        each = [lines // high + (row >= first_longer) for row in range(high)]
        return each + [low] * (rows - high)


def panels_and_grid(
    snap: Snapshot, view: RunView, cells: int, rows: int, listed: frozenset[str]
) -> tuple[list[PanelTrack], PanelGrid]:
    """Plots of the tracks that match the filter; one-line charts if there is little room that they
    fill well.

    `listed`: metrics that need no one-line chart: the checklist above shows the same line.
    """
    every = [track for track in view.charted_tracks if snap.metrics.matches(track)]
    listed = frozenset() if snap.metrics.filter else listed
    others = [track for track in every if track.track.concept not in listed]
    lines = -(-len(others) // max(1, cells // LINE_PANEL_CELLS))
    low_plots = cells >= MIN_LOW_PLOT_CELLS and rows > MIN_PANEL_LINES and 2 * lines <= rows + 1
    plots = rows >= 2 * MIN_PANEL_LINES or low_plots
    shown = every if plots else others
    return shown, panel_grid(cells, rows, len(shown), plots)


def panel_grid(cells: int, rows: int, amount: int, plots: bool) -> PanelGrid:
    """The layout that shows the most panels at a readable size and shape."""
    if not plots or rows < MIN_PANEL_LINES:
        return PanelGrid(max(1, cells // LINE_PANEL_CELLS), max(rows, 1), False)
    lowest = USUAL_PANEL_LINES if rows >= 2 * USUAL_PANEL_LINES else MIN_PANEL_LINES
    grids = [
        PanelGrid(columns, lines, True)
        for columns in range(1, max(1, min(cells // MIN_PLOT_CELLS, amount)) + 1)
        for lines in range(1, rows // lowest + 1)
    ]

    def suits(grid: PanelGrid) -> tuple[int, float]:
        used = max(1, min(grid.rows, -(-amount // grid.columns)))
        aspect = cells / grid.columns / (rows / used)
        gaps = max(0, used * grid.columns - amount) / (used * grid.columns)
        return min(grid.capacity, amount), -abs(math.log(aspect / BEST_ASPECT)) - 2 * gaps

    return max(grids, key=suits)


def page_shown(snap: Snapshot, amount: int, capacity: int) -> int:
    """Which page of panels is shown, from 0: the last one where fewer are there than turned to."""
    pages = -(-amount // max(capacity, 1))
    return min(snap.scroll, max(pages - 1, 0))


def tracks_on_page(
    snap: Snapshot, view: RunView, every: list[PanelTrack], capacity: int
) -> list[PanelTrack]:
    """The tracks of the current page, by group, constant ones last.

    The most important are on the first page.
    """
    crucial = {row.concept for row in view.checklist if row.is_crucial}
    flat = [_is_flat(snap, view, track) for track in every]

    pinned = snap.metrics.pinned
    place = {name: number - len(pinned) for number, name in enumerate(pinned)}

    def rank(at: int) -> tuple[int, bool, bool, bool, bool]:
        """Pinned ones, the reward and trouble, then curves not flat; then crucial, known ones."""
        track = every[at]
        name = track.track.concept
        first = at == 0 or track.status.is_trouble
        known = not name.startswith(TAG_PREFIX)
        return place.get(name, 0), not first, flat[at], not first and name not in crucial, not known

    first = page_shown(snap, len(every), capacity) * capacity
    kept = sorted(range(len(every)), key=rank)[first : first + capacity]

    def position(at: int) -> tuple[int, bool, int]:
        return place.get(every[at].track.concept, 0), flat[at], at

    return [every[at] for at in sorted(kept, key=position)]


def _is_flat(snap: Snapshot, view: RunView, track: PanelTrack) -> bool:
    """Whether a curve is constant and not in trouble: others come first."""
    if track.status.is_trouble:
        return False
    seen = track.track.count_until(view.row or 0)
    extent = snap.drawing_cache.pyramid_for(track.track).extent(0, seen)
    return extent.low == extent.high and not extent.non_finite


def panels_title(
    snap: Snapshot, view: RunView, cells: int, rows: int, listed: frozenset[str]
) -> str:
    """The section title, with the page."""
    every, layout = panels_and_grid(snap, view, cells, rows, listed)
    room = max(1, layout.capacity)
    if snap.metrics.filter:
        of_all = f"{len(every)} of {len(view.charted_tracks)} match"
        return f"Charts /{clean(snap.metrics.filter)}, {of_all} (Esc: all)"
    if snap.window is not None:
        first, last = (compact(view.timeline.steps[row]) for row in snap.window)
        return f"Charts, {view.timeline.axis} {first} to {last} (o: more)"
    if len(every) <= room:
        return "Charts"
    here, pages = page_shown(snap, len(every), room) + 1, -(-len(every) // room)
    return f"Charts, page {here} of {pages} (PgUp PgDn)"


def draw_panels(
    snap: Snapshot, cells: int, rows: int, listed: frozenset[str] = frozenset()
) -> ScreenBlock:
    """The panels in at most `rows` lines; `listed`: the metrics of the checklist above."""
    view = snap.view
    block = ScreenBlock()
    if view is None or rows < 1 or view.row is None:
        return block
    every, layout = panels_and_grid(snap, view, cells, rows, listed)
    shown = tracks_on_page(snap, view, every, layout.capacity)
    if not shown:
        return block
    block.scroll = page_shown(snap, len(every), layout.capacity)
    texts = [format_metric_value(track.newest_value, track.fmt) for track in shown]
    value_cells = max(map(len, texts))
    heights = layout.heights(rows, [_is_flat(snap, view, track) for track in shown])
    for number, high in enumerate(heights):
        row = shown[number * layout.columns : (number + 1) * layout.columns]
        lowest = number == len(heights) - 1
        has_steps = layout.plots and high >= STEP_AXIS_LINES - (1 if lowest else 0)
        # the panels of the last row share its width
        places = len(row) if layout.plots else layout.columns
        side: list[tuple[list[StyledLine], int]] = []
        for at, track in enumerate(row):
            left, right = at * cells // places, (at + 1) * cells // places
            size = (right - left - 1, high)
            panel = _panel_or_error(snap, view, track, size, value_cells, has_steps)
            side.append((panel, right - left))
            spot = ClickRegion(left, len(block.lines), right - left - 1, high, "concept")
            block.click_regions.append(spot._replace(target=track.track.concept))
        block.lines += side_by_side(side, high)
    return block


def _panel_or_error(
    snap: Snapshot,
    view: RunView,
    track: PanelTrack,
    size: tuple[int, int],
    value_cells: int,
    has_steps: bool,
) -> list[StyledLine]:
    def draw() -> ScreenBlock:
        return ScreenBlock(_panel(snap, view, track, size, value_cells, has_steps))

    return draw_or_error(f"the chart of {track.track.concept}", draw, *size).lines


def _panel(
    snap: Snapshot,
    view: RunView,
    track: PanelTrack,
    size: tuple[int, int],
    value_cells: int,
    has_steps: bool,
) -> list[StyledLine]:
    """One panel; the widest value on the page has `value_cells`."""
    wide, high = size
    if high == 1:
        return [_one_line(snap, view, track, wide, value_cells)]
    room = (wide, high - 1)
    others = tuple((o.id, o.style, o.row, o.version, o.note) for o in snap.overlaid)
    key = (track.track.concept, room, has_steps, snap.is_growing, snap.window, others)
    plot = snap.drawing_cache.cached_lines(
        view, key, lambda: draw_panel_plot(snap, view, track, room, has_steps)
    )
    return [_title(snap, view, track, wide), *plot]


def _label_style(snap: Snapshot, track: PanelTrack) -> str:
    chosen = track.track.concept == snap.concept and snap.focus == "values"
    return "title+selected" if chosen else "title"


def _title(snap: Snapshot, view: RunView, track: PanelTrack, cells: int) -> StyledLine:
    shown = format_metric_value(track.newest_value, track.fmt)
    style = track.status.value if track.status.is_trouble else ""
    sign = snap.symbols.trend.get(track.trend, "")
    spread = snap.symbols.translate(_spread_text(view, track))
    latest: list[Span] = [
        (" ", ""),
        (shown, style),
        (spread, "dim"),
        (f" {sign}" * bool(sign), "dim"),
    ]
    label = shorten(clean(track.label), cells - width(latest) - 2)
    pin = snap.symbols.pinned if track.track.concept in snap.metrics.pinned else ""
    left = line((pin, "match"), (label, _label_style(snap, track)), *latest)
    if track.best is None:
        return left
    best = f"{snap.symbols.best}{format_metric_value(track.best.value, track.fmt)} "
    fits = width(left) + len(best) + 2 <= cells
    return justify(left, line((best, "dim")), cells) if fits else left


def _spread_text(view: RunView, track: PanelTrack) -> str:
    """The newest standard deviation around a mean, which explains the band behind its curve."""
    spread = view.timeline.tracks.get(SPREAD_OF.get(track.track.concept, ""))
    seen = spread.count_until(view.row or 0) if spread is not None else 0
    if spread is None or not seen:
        return ""
    return f" ± {format_metric_value(spread.values[seen - 1], track.fmt)}"


def _one_line(
    snap: Snapshot, view: RunView, track: PanelTrack, cells: int, value_cells: int
) -> StyledLine:
    shown = format_metric_value(track.newest_value, track.fmt)
    style = track.status.value if track.status.is_trouble else ""
    label = pad(shorten(clean(track.label), 16), 16)
    left = line(
        (" " + label, _label_style(snap, track)),
        " ",
        (shown.rjust(max(value_cells, 7)), style),
        "  ",
    )
    room = cells - width(left) - 1
    if room < 4 or view.row is None:
        return left
    key = (track.track.concept, room, snap.is_growing, snap.window)
    bars = snap.drawing_cache.cached_lines(view, key, lambda: [_bars(snap, view, track, room)])
    return (*left, *bars[0])


def _bars(snap: Snapshot, view: RunView, track: PanelTrack, room: int) -> StyledLine:
    columns = curve_columns(snap, view, track, room)
    scale = curve_scale(snap, view, track)
    return sparkline.draw_bars(columns.extents, columns.styles, snap.symbols, scale)
