"""Charts with axes, drawn by plotext; it is imported for the first chart."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ppo_top.runs.rows.track import Track
from ppo_top.tui.graphics.styled_text import StyledLine, line
from ppo_top.views.downsample import stride

AXIS_MARGIN = 0.05
"""Of the range of the values, left free above and below them."""
Ticks = Callable[[float, float, int], list[float]]
"""The places of about so many ticks between two places of an axis."""

_COLOUR_CODE = re.compile(r"\x1b\[([\d;]*)m")


@dataclass(slots=True)
class Curve:
    """Points joined by a line in a style."""

    xs: list[float]
    ys: list[float]
    style: str = "curve"


def ticks(low: float, high: float, most: int) -> list[float]:
    """About `most` round numbers in a range, and at least two."""
    span = high - low
    if not math.isfinite(span) or span <= 0 or most < 2:
        return [low]
    rough = span / most
    power = 10.0 ** math.floor(math.log10(rough))
    factors = (10, 5, 2, 1, 0.5, 0.2)
    at = max(n for n, factor in enumerate(factors) if power * factor >= rough * 0.999)
    for factor in factors[at:]:
        step = power * factor
        numbers = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
        if len(numbers) > 1:
            return [n * step for n in numbers]
    return [low, high]


def count_ticks(low: float, high: float, most: int) -> list[float]:
    """As `ticks`, of what is counted: there is no update 2.5."""
    marks = ticks(low, high, most)
    return [float(round(mark)) for mark in marks if abs(mark - round(mark)) < 1e-9] or marks


_MINUTE, _HOUR, _DAY = 60, 3600, 86400
TIME_STEPS = (
    *(1, 2, 5, 10, 15, 30),
    *(each * _MINUTE for each in (1, 2, 5, 10, 15, 30)),
    *(each * _HOUR for each in (1, 2, 3, 6, 12)),
)
"""Seconds between two ticks of a clock."""


def time_ticks(low: float, high: float, most: int) -> list[float]:
    """As `ticks`, of seconds: whole minutes, hours or days, as a clock has them."""
    rough = (high - low) / max(most, 1)
    if rough > _DAY / 2:
        return [day * _DAY for day in ticks(low / _DAY, high / _DAY, most)]
    step = next((each for each in TIME_STEPS if each >= rough), TIME_STEPS[-1])
    numbers = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    if rough < TIME_STEPS[0] / 2 or len(numbers) < 2:
        return ticks(low, high, most)
    return [float(number * step) for number in numbers]


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """As `ticks`, where `low`, `high` and the ticks are exponents of ten: 1, 2, 5, 10, 20, ..."""
    decades = range(math.floor(low), math.ceil(high) + 1)
    for mantissas in ((1, 2, 5), (1,)):
        marks = [decade + math.log10(each) for decade in decades for each in mantissas]
        marks = [mark for mark in marks if low - 1e-9 <= mark <= high + 1e-9]
        if len(marks) < 2:
            return [math.log10(tick) for tick in ticks(10.0**low, 10.0**high, most)]
        if len(marks) <= most:
            break
    return marks[:: -(-len(marks) // max(most, 2))]


@dataclass(slots=True)
class Chart:
    """The contents of a chart, and the ranges of its axes (None: automatic)."""

    curves: list[Curve] = field(default_factory=list)
    horizontal_lines: list[tuple[float, str]] = field(default_factory=list)
    """y and style."""
    vertical_lines: list[tuple[float, str]] = field(default_factory=list)
    """x and style."""
    markers: list[tuple[float, float, str, str]] = field(default_factory=list)
    """x, y, character, style."""
    x_label: Callable[[float], str] = str
    y_label: Callable[[float], str] = str
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    y_shares: bool = False
    """Whether the values are shares: where none lies beyond, no tick says 110 %."""
    x_ticks: Ticks = ticks
    y_ticks: Ticks = ticks


def axis_range(values: Sequence[float]) -> tuple[float, float]:
    """A range that contains all finite values, with a margin."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    room = (high - low) * AXIS_MARGIN or abs(low) * 0.1 or 1.0
    return low - room, high + room


def points_to_draw(track: Track, seen: int, columns: int, begin: int = 0) -> list[int]:
    """Indices of the points to draw: all, or the lowest, highest and last per column.

    Those from `begin` on, of the first `seen`.

    Of a column without any finite value its first point, so that there is a gap.
    """
    if seen - begin <= 3 * columns:
        return list(range(begin, seen))
    size = stride(seen - begin, columns, growing=True)
    kept: list[int] = []
    for column in range(math.ceil((seen - begin) / size)):
        start = begin + int(column * size)
        stop = min(seen, begin + int((column + 1) * size))
        finite = [at for at in range(start, stop) if math.isfinite(track.values[at])]
        if finite:
            low = min(finite, key=track.values.__getitem__)
            high = max(finite, key=track.values.__getitem__)
            kept += sorted({low, high, finite[-1]})
        elif start < stop:
            kept.append(start)
    return kept


def connected_curves(points: list[tuple[float, float]], styles: list[str]) -> list[Curve]:
    """Points as curves: a new one after a gap (y is NaN), and where the style changes.

    The line to a point has the style of that point.
    """
    curves: list[Curve] = []
    before: tuple[float, float] | None = None
    for point, style in zip(points, styles, strict=True):
        if not math.isfinite(point[1]):
            before = None
            continue
        if before is None or curves[-1].style != style:
            start = [before] if before is not None else []
            curves.append(Curve([x for x, _ in start], [y for _, y in start], style))
        curves[-1].xs.append(point[0])
        curves[-1].ys.append(point[1])
        before = point
    return curves


def draw_chart(chart: Chart, cells: int, rows: int, braille: bool = True) -> list[StyledLine]:
    """The chart as `rows` lines of `cells` cells."""
    if cells < 16 or rows < 5:
        return []
    import plotext

    plotext.terminal.limit(False, False)  # we set the size
    styles: dict[str, int] = {}

    def pixel(style: str) -> Any:
        return plotext.pixel(styles.setdefault(style, len(styles) + 1))

    figure = plotext.figure
    figure.clear()
    figure.theme("colorless")
    figure.canvas("default")
    _set_axes(figure, chart, cells, rows)
    for value, style in chart.horizontal_lines:
        figure.line(value, "horizontal", pixel=pixel(style))
    for x, style in chart.vertical_lines:
        figure.line(x, "vertical", pixel=pixel(style))
    for curve in chart.curves:
        if curve.xs:
            marker = plotext.marker("braille" if braille else "*", pixel(curve.style))
            figure.draw(figure.signal(curve.xs, curve.ys, marker=marker).lines())
    for x, y, sign, style in chart.markers:
        figure.draw(figure.text(x, y, plotext.colorize(sign, pixel(style))))
    figure.plot_size(cells, rows)
    return parse_ansi(figure.build().string(), {number: style for style, number in styles.items()})


def _set_axes(figure: Any, chart: Chart, cells: int, rows: int) -> None:
    xs = [x for curve in chart.curves for x in curve.xs]
    ys = [y for curve in chart.curves for y in curve.ys]
    start, end = chart.x_range or (min(xs, default=0.0), max(xs, default=1.0))
    for name, (low, high), most, label, choose in (
        (
            "x",
            (start, end if end > start else start + 1),
            cells // 16,
            chart.x_label,
            chart.x_ticks,
        ),
        (
            "y",
            chart.y_range or axis_range(ys),
            rows // 4,
            chart.y_label,
            chart.y_ticks,
        ),
    ):
        marks = choose(low, high, max(2, most))
        if name == "y" and chart.y_shares:
            least, greatest = min(ys, default=0.0), max(ys, default=1.0)
            marks = [mark for mark in marks if min(least, 0.0) <= mark <= max(greatest, 1.0)]
        ruler = figure.ruler(name)
        ruler.lim(low, high)
        ruler.ticks(marks, [label(each) for each in marks])


def parse_ansi(text: str, styles: dict[int, str]) -> list[StyledLine]:
    """Text with colour codes as styled lines; unknown colours belong to the frame."""
    rows: list[StyledLine] = []
    for raw in text.rstrip("\n").split("\n"):
        spans = []
        style = "frame"
        for at, part in enumerate(_COLOUR_CODE.split(raw)):
            if at % 2:
                style = _style(part, styles, style)
            elif part:
                spans.append((part, style))
        rows.append(line(*spans))
    return rows


def _style(code: str, styles: dict[int, str], now: str) -> str:
    if code in ("", "0"):
        return "dim"
    parts = code.split(";")
    if parts[:2] == ["38", "5"] and len(parts) == 3:
        return styles.get(int(parts[2]), "dim")
    return now
