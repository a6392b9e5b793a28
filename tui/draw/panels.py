"""The curves, grouped by concept in the order an RL person expects, reward first."""

from __future__ import annotations

from dataclasses import dataclass

from ppo_top.catalogue.concepts import TAG
from ppo_top.text.format import clean, compact, number, percent, value
from ppo_top.tui.draw.error_box import contained
from ppo_top.tui.graphics import braille_plot as braille
from ppo_top.tui.graphics import sparkline as spark
from ppo_top.tui.graphics.styled_text import Line, Span, beside, fill, line, shorten, spread, width
from ppo_top.tui.state.snapshot import Block, Frame, Hit
from ppo_top.views.downsample import stride
from ppo_top.views.run_view import PanelTrack, RunView

NARROWEST = 28
"""Cells that a plot with its title needs."""

SIDE_BY_SIDE = 2 * NARROWEST
"""From this width on low curves are worth their lines."""

LINE = 38
"""Cells that a label, a value and a curve on one line need."""

LOWEST, HIGHEST = 4, 14
"""Lines of a panel: its title and its plot."""

AXIS = 7


@dataclass(frozen=True, slots=True)
class Cell:
    """A panel to draw: its group, where it is the first of it, and its track."""

    group: str
    track: PanelTrack


@dataclass(frozen=True, slots=True)
class Grid:
    """How panels are laid out: so many side by side, each so many lines high."""

    columns: int
    high: int

    def room(self, rows: int) -> int:
        """How many panels fit into so many lines."""
        return self.columns * (rows // self.high)


def are_plots(frame: Frame, cells: int, rows: int, listed: frozenset[str]) -> bool:
    """Whether curves are drawn high: also where lines of text would leave half of it empty."""
    if rows >= 2 * LOWEST or frame.view is None:
        return True
    lines = -(-len(worth_drawing(frame.view, listed)) // max(1, cells // LINE))
    return cells >= SIDE_BY_SIDE and rows > LOWEST and 2 * lines <= rows + 1


def grid(cells: int, rows: int, amount: int, plots: bool = True) -> Grid:
    """The layout in which the most panels are seen, none lower or narrower than can be read."""
    columns = max(1, min(cells // NARROWEST, 6, amount or 1))
    if not plots or rows < LOWEST:
        return Grid(max(1, cells // LINE), 1)
    lines = min(-(-max(amount, 1) // columns), rows // LOWEST)
    columns = min(columns, -(-max(amount, 1) // lines))  # the last line is as full as the others
    return Grid(columns, min(HIGHEST, rows // lines))


def worth_drawing(
    view: RunView, listed: frozenset[str] = frozenset()
) -> list[tuple[str, PanelTrack]]:
    """All tracks in the order of their groups, without what is no curve: counters, final sums.

    Where a curve is a line of text, those that are `listed` above with the same are left out.
    """
    return [
        (panel.group, track)
        for panel in view.panels
        for track in panel.tracks
        if track.direction != "mono" and track.track.concept not in listed
        if len(track.track) > 1 or not track.track.concept.startswith(TAG)
    ]


def drawn_tracks(
    frame: Frame, view: RunView, most: int, listed: frozenset[str] = frozenset()
) -> list[Cell]:
    """The tracks to draw, in the order of their groups: the weightiest on the first page."""
    every = worth_drawing(view, listed)
    crucial = {row.concept for row in view.checklist if row.crucial}
    rank = sorted(
        range(len(every)),
        key=lambda at: (
            _rank(every[at][1], at, crucial),
            every[at][1].track.concept.startswith(TAG),
            _is_flat(frame, view, every[at][1]),
            at,
        ),
    )
    page = max(most, 1)
    first = min(frame.scroll, max(0, -(-len(every) // page) - 1)) * page
    kept = sorted(rank[first : first + most])
    return [Cell(*every[at]) for at in kept]


def _rank(track: PanelTrack, at: int, crucial: set[str]) -> int:
    """What is drawn first: the reward and what is in trouble, then what is crucial."""
    if not at or track.status.is_trouble:
        return 0
    return 1 if track.track.concept in crucial else 2


def _is_flat(frame: Frame, view: RunView, track: PanelTrack) -> bool:
    """Whether a curve has never moved: others are worth more of the first page."""
    seen = track.track.until(view.row or 0)
    low, high, _, bad = frame.pyramids.of(track.track).extent(0, seen)
    return low == high and not bad


def panels_title(frame: Frame, cells: int, rows: int, listed: frozenset[str] = frozenset()) -> str:
    """How many of the curves are seen, and how to see the others."""
    plots = are_plots(frame, cells, rows, listed)
    if plots:
        listed = frozenset()
    amount = len(worth_drawing(frame.view, listed)) if frame.view is not None else 0
    room = max(1, grid(cells, rows, amount, plots).room(rows))
    if amount <= room:
        return "Curves"
    pages = -(-amount // room)
    here = min(frame.scroll, pages - 1) + 1
    return f"Curves, page {here} of {pages} (PgUp PgDn)"


def panels(frame: Frame, cells: int, rows: int, listed: frozenset[str] = frozenset()) -> Block:
    """The panels in at most the lines there are; `listed`: what stands on the checklist above."""
    view = frame.view
    block = Block()
    if view is None or rows < 1 or view.row is None:
        return block
    plots = are_plots(frame, cells, rows, listed)
    if plots:
        listed = frozenset()
    layout = grid(cells, rows, len(worth_drawing(view, listed)), plots)
    shown = drawn_tracks(frame, view, layout.room(rows), listed)
    wide = cells // layout.columns
    values = max((len(value(cell.track.latest, cell.track.fmt)) for cell in shown), default=0)
    group = ""
    spare = rows - -(-len(shown) // layout.columns) * layout.high if layout.high > 1 else 0
    for start in range(0, len(shown), layout.columns):
        side: list[tuple[list[Line], int]] = []
        high = layout.high + (1 if spare > 0 and layout.high < HIGHEST else 0)
        spare -= 1
        for at, cell in enumerate(shown[start : start + layout.columns]):
            first = cell.group != group
            group = cell.group
            side.append((_whole_panel(frame, view, cell, first, (wide - 1, high), values), wide))
            spot = Hit(at * wide, len(block.lines), wide - 1, high, "concept")
            block.hits.append(spot._replace(arg=cell.track.track.concept))
        block.lines += beside(side, high)
    return block


def _whole_panel(
    frame: Frame, view: RunView, cell: Cell, first: bool, size: tuple[int, int], values: int
) -> list[Line]:
    """One panel, or what went wrong with it: the others are drawn all the same."""

    def draw() -> Block:
        return Block(_panel(frame, view, cell, first, size, values))

    return contained(f"the curve of {cell.track.track.concept}", draw, *size).lines


def _panel(
    frame: Frame, view: RunView, cell: Cell, first: bool, size: tuple[int, int], values: int
) -> list[Line]:
    """One panel; `values` is the width of the widest value among its neighbours."""
    wide, high = size
    if high == 1:
        return [_one_line(frame, view, cell, wide, values)]
    title = _title(frame, cell, first, wide)
    room = (wide, high - 1)
    key = (cell.track.track.concept, room)
    plot = frame.pyramids.drawn(view, key, lambda: _plot(frame, view, cell.track, room))
    return [title, *plot]


def _label_style(frame: Frame, cell: Cell) -> str:
    chosen = cell.track.track.concept == frame.concept and frame.focus == "values"
    return "title+selected" if chosen else "title"


def _title(frame: Frame, cell: Cell, first: bool, cells: int) -> Line:
    track = cell.track
    shown = value(track.latest, track.fmt)
    style = track.status.value if track.status.is_trouble else ""
    sign = frame.glyphs.trend.get(track.trend, "")
    latest: list[Span] = [(" ", ""), (shown, style), (f" {sign}" if sign else "", "dim")]
    label = clean(track.label)
    room = cells - width(latest) - 1
    lead = f"{cell.group}: " if first and len(cell.group) + 2 + len(label) <= room else ""
    if cell.group.lower() == label.lower():
        lead = ""
    left = line((lead, "brand"), (shorten(label, room), _label_style(frame, cell)), *latest)
    best = _best(frame, track)
    fits = best and width(left) + len(best) + 2 <= cells
    return spread(left, line((best if fits else "", "dim")), cells) if fits else left


def _best(frame: Frame, track: PanelTrack) -> str:
    if track.best is None:
        return ""
    return f"{frame.glyphs.best}{value(track.best.value, track.fmt)} "


def _colours(track: PanelTrack) -> spark.Colours:
    return spark.Colours("curve", track.status.value if track.status.is_trouble else "watch")


def _one_line(frame: Frame, view: RunView, cell: Cell, cells: int, values: int) -> Line:
    track = cell.track
    shown = value(track.latest, track.fmt)
    style = track.status.value if track.status.is_trouble else ""
    label = shorten(clean(track.label), 16).ljust(16)
    left = line(
        (" " + label, _label_style(frame, cell)), " ", (shown.rjust(max(values, 7)), style), "  "
    )
    room = cells - width(left) - 1
    if room < 4 or view.row is None:
        return left
    key = (track.track.concept, room)
    bars = frame.pyramids.drawn(view, key, lambda: [_bars(frame, view, track, room)])
    return (*left, *bars[0])


def _bars(frame: Frame, view: RunView, track: PanelTrack, room: int) -> Line:
    columns = spark.extents(track.track, frame.pyramids.of(track.track), view.row or 0, room)
    return spark.bars(columns, track.band, frame.glyphs, _colours(track))


def _plot(frame: Frame, view: RunView, track: PanelTrack, size: tuple[int, int]) -> list[Line]:
    wide, high = size
    axis = AXIS if wide >= 26 else 0
    per_cell = 2 if frame.glyphs.braille else 1
    room = (wide - axis) * per_cell
    row = view.row or 0
    columns = spark.extents(track.track, frame.pyramids.of(track.track), row, room)
    reach = spark.scale(columns, track.band)
    marks = _restarts(frame, view, row, room, per_cell)
    drawn = braille.plot(
        columns, (wide - axis, high), track.band, frame.glyphs, _colours(track), reach, marks
    )
    if not axis:
        return drawn
    upper, lower = edge_labels(reach, track.fmt)
    edges = {0: upper, high - 1: lower}
    return [
        (*fill(cells, wide - axis), (edges.get(at, "").rjust(AXIS - 1).ljust(AXIS), "faint"))
        for at, cells in enumerate(drawn)
    ]


def edge_labels(reach: spark.Scale, fmt: str) -> tuple[str, str]:
    """The upper and the lower end of the scale in as many digits as tell them apart."""
    for digits in (2, 3, 4):
        upper, lower = _edge(reach.high, fmt, digits), _edge(reach.low, fmt, digits)
        if upper != lower:
            return upper, lower
    return "", ""


def _edge(amount: float, fmt: str, digits: int) -> str:
    """A number in the cells of the axis: with fewer digits, never with some of them cut off."""
    if fmt in ("%", "pct") and len(share := percent(amount)) <= AXIS:
        return share
    spellings = [number(amount, digits), number(amount, 2)]
    if abs(amount) >= 1000:
        spellings.append(compact(amount))
    return next((text for text in spellings if len(text) <= AXIS), f"{amount:.0e}")


def _restarts(frame: Frame, view: RunView, row: int, room: int, per_cell: int) -> dict[int, Span]:
    """Cell -> sign, where the run was resumed."""
    size = stride(row + 1, room)
    return {
        int(at / size) // per_cell: (frame.glyphs.restart, "restart")
        for at in view.timeline.restarts
        if at <= row
    }
