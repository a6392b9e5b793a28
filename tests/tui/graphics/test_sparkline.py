"""Curves as exact text: nothing flattened, nothing lost, NaN and limits in the right cells."""

import math
from typing import NamedTuple

from ppo_top.model import Mark
from ppo_top.runs.rows.track import Track
from ppo_top.tui.graphics import sparkline
from ppo_top.tui.graphics.braille_plot import PlotText, draw_braille_plot
from ppo_top.tui.graphics.styled_text import Span, StyledLine, plain_text
from ppo_top.tui.graphics.symbols import ASCII_SYMBOLS, UNICODE_SYMBOLS, Symbols
from ppo_top.views.downsample import Extent, MinMaxPyramid, stride


class SparkRange(NamedTuple):
    """A healthy range."""

    low: float | None
    high: float | None


def points(*values: float) -> list[Extent]:
    """One column a value."""
    return [
        Extent(value, value, value, False)
        if math.isfinite(value)
        else Extent(None, None, None, True)
        for value in values
    ]


def bars(
    columns: list[Extent],
    symbols: Symbols = UNICODE_SYMBOLS,
    limits: SparkRange | None = None,
    at: sparkline.Scale | None = None,
) -> str:
    """The characters of a sparkline."""
    scale = at or sparkline.choose_scale(columns, limits)
    return plain_text(sparkline.draw_bars(columns, ["curve"] * len(columns), symbols, scale))


def track(*values: float, every: int = 1) -> tuple[Track, MinMaxPyramid]:
    """A track with a value every `every` rows, and its pyramid."""
    made = Track("approx_kl", "train/approx_kl", "log")
    for number, value in enumerate(values):
        made.append(Mark(number * every, number * every, math.nan), value)
    return made, MinMaxPyramid(made.values)


def test_a_ramp_climbs_through_all_heights() -> None:
    """Eight rising values are the eight bars."""
    assert bars(points(*range(8))) == "▁▂▃▄▅▆▇█"
    assert bars(points(*range(8)), ASCII_SYMBOLS) == "_.,-=+*#"


def test_a_constant_stands_in_the_middle() -> None:
    """A value that never moves is neither high nor low."""
    assert bars(points(5, 5, 5)) == "▅▅▅"


def test_nan_is_a_red_cross_where_it_happened() -> None:
    """A value that is no number is marked, and the others are drawn."""
    scale = sparkline.Scale(1.0, 2.0)
    drawn = sparkline.draw_bars(points(1, math.nan, 2), ["curve"] * 3, UNICODE_SYMBOLS, scale)
    assert drawn == (("▁", "curve"), ("✕", "bad"), ("█", "curve"))


def test_a_giant_spike_is_an_arrow_and_flattens_nothing() -> None:
    """One value a thousand times the others leaves their shape visible."""
    values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 9000, 3, 2, 1, 2, 3, 4, 5]
    drawn = bars(points(*values))
    assert drawn.count("↑") == 1 and drawn[12] == "↑"
    assert len(set(drawn)) > 4


def test_each_column_has_its_style() -> None:
    """What was bad shows in colour, also in the past."""
    styles = ["curve", "crit", "curve"]
    scale = sparkline.Scale(0.0, 0.1)
    drawn = sparkline.draw_bars(points(0.01, 0.05, 0.01), styles, UNICODE_SYMBOLS, scale)
    assert [style for _, style in drawn] == styles


def test_a_single_spike_survives_any_narrowing() -> None:
    """In ten cells for a thousand updates the one spike is there, upwards and downwards."""
    made, pyramid = track(*([1.0] * 500), 9.0, *([1.0] * 300), -7.0, *([1.0] * 198))
    drawn = bars(sparkline.column_extents(made, pyramid, 999, 100.0))
    assert drawn.count("█") + drawn.count("↑") == 1
    assert drawn.count("▁") + drawn.count("↓") == 1


def test_a_metric_that_is_logged_seldom_holds_its_value() -> None:
    """Between two evaluations the last one stands."""
    made, pyramid = track(1.0, 3.0, every=3)
    columns = sparkline.column_extents(made, pyramid, 4, 1.0)
    assert [column.last for column in columns] == [1, 1, 1, 3, 3]


def test_what_comes_after_the_cursor_is_not_drawn() -> None:
    """At row 4 a track has five columns, whatever it holds by now."""
    made, pyramid = track(*map(float, range(100)))
    columns = sparkline.column_extents(made, pyramid, 4, 1.0)
    assert [column.high for column in columns] == [0, 1, 2, 3, 4]


def test_a_short_run_is_drawn_wide() -> None:
    """Three updates fill ten columns."""
    made, pyramid = track(1.0, 2.0, 3.0)
    columns = sparkline.column_extents(made, pyramid, 2, stride(3, 10))
    assert [column.last for column in columns] == [1, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def plot(
    columns: list[Extent],
    size: tuple[int, int],
    scale: sparkline.Scale,
    *,
    limits: SparkRange | None = None,
    symbols: Symbols = UNICODE_SYMBOLS,
    marks: dict[int, Span] | None = None,
    texts: tuple[PlotText, ...] = (),
) -> list[StyledLine]:
    """A plot in one colour."""
    styles = ["curve"] * len(columns)
    return draw_braille_plot(columns, styles, size, limits, symbols, scale, marks, texts)


def test_a_plot_joins_its_points() -> None:
    """Two lines of braille show a step as an unbroken curve."""
    reach = sparkline.Scale(0.0, 8.0)
    drawn = plot(points(0, 0, 7, 7), (2, 2), reach)
    assert [plain_text(row) for row in drawn] == [" ⡏", "⣀⡇"]


def test_a_plot_without_unicode_uses_stars() -> None:
    """The ASCII plot has one star a value."""
    reach = sparkline.Scale(0.0, 3.0)
    drawn = plot(points(0, 1, 2), (3, 3), reach, symbols=ASCII_SYMBOLS)
    assert [plain_text(row) for row in drawn] == ["  *", " **", "** "]


def test_the_healthy_range_has_edges_and_a_background() -> None:
    """Lines inside the range are tinted, and the limit is a dotted line next to the curve."""
    reach = sparkline.Scale(0.0, 4.0)
    drawn = plot(points(0.5), (3, 4), reach, limits=SparkRange(None, 2.5))
    assert [plain_text(row) for row in drawn] == ["   ", "┄┄┄", "   ", "⠂  "]
    tinted = [all(style.endswith("+band") for _, style in row) for row in drawn]
    assert tinted == [False, True, True, True]


def test_marks_never_cover_values() -> None:
    """A restart mark stands below the curve, where there is room."""
    reach = sparkline.Scale(0.0, 4.0)
    marks = {0: ("↻", "restart"), 1: ("↻", "restart")}
    drawn = plot(points(0, 0, 3, 3), (2, 2), reach, marks=marks)
    assert "↻" not in plain_text(drawn[1])


def test_a_cell_has_the_style_of_its_worse_column() -> None:
    """Two columns share a cell of braille: the worse of them is seen, whichever comes first."""
    for styles in (["crit", "watch"], ["watch", "crit"]):
        scale = sparkline.Scale(0.0, 4.0)
        drawn = draw_braille_plot(points(1, 1), styles, (1, 1), None, UNICODE_SYMBOLS, scale)
        assert drawn == [(("⠤", "crit"),)]


def test_a_text_stands_beside_the_curve() -> None:
    """At the left edge if that is free, else in the first gap: a number at the right edge would
    read as the next panel's.
    """
    scale = sparkline.Scale(0.0, 4.0)
    at_left = plot(points(*[0] * 20), (10, 2), scale, texts=(PlotText("max", 0, "dim"),))
    assert plain_text(at_left[0]) == "max       "
    falling = points(*[3] * 4, *[0] * 16)
    beside = plain_text(plot(falling, (10, 2), scale, texts=(PlotText("max", 0, "dim"),))[0])
    assert beside[3:] == " max   "
    ends = points(*[3] * 4, *[0] * 12, *[3] * 4)
    between = plain_text(plot(ends, (10, 2), scale, texts=(PlotText("max", 0, "dim"),))[0])
    assert between[3:].lstrip().startswith("max ")


def test_a_limit_moves_to_the_next_row_rather_than_cover_a_curve() -> None:
    """An arrow points to where it is; the number of an edge covers the beginning of the curve."""
    scale = sparkline.Scale(0.0, 4.0)
    texts = (PlotText("0", 1, "dim"), PlotText("limit 0.1", 1, "limit", "limit 0.1"))
    drawn = plot(points(*[0] * 40), (20, 2), scale, texts=texts)
    assert plain_text(drawn[0]) == "         ↓ limit 0.1"
    assert plain_text(drawn[1]) == "0" + "⣀" * 19


def test_a_limit_without_any_room_is_left_out() -> None:
    """The curve comes first."""
    scale = sparkline.Scale(0.0, 4.0)
    zigzag = points(*[0, 4] * 10)
    texts = (PlotText("limit 0.1", 1, "limit", "limit 0.1"),)
    assert plot(zigzag, (10, 2), scale, texts=texts) == plot(zigzag, (10, 2), scale)


def test_the_scale_shows_a_limit_that_is_near() -> None:
    """A limit just above the values is in the picture, one far away is not."""
    near = sparkline.choose_scale(points(0.0, 0.01), SparkRange(None, 0.015))
    far = sparkline.choose_scale(points(0.0, 0.01), SparkRange(None, 5.0))
    assert near.high >= 0.015
    assert far.high < 0.05


def test_the_scale_of_nothing_but_zeros_reaches_to_the_limit() -> None:
    """Zeros have no size of their own; without limits they are drawn in 0 to 1."""
    assert sparkline.choose_scale(points(0.0, 0.0), SparkRange(None, 0.2)).high == 0.2
    assert sparkline.choose_scale(points(0.0, 0.0)) == (0.0, 1.0)


def test_the_noise_of_a_long_run_is_a_calm_line_and_its_spike_stands_out() -> None:
    """Columns of many values stand at their middle; one that reaches far beyond is drawn so."""
    noise = [Extent(0.9, 1.1, 1.0 + 0.05 * (-1) ** n, False) for n in range(20)]
    calm = bars(noise)
    assert len(set(calm)) == 1
    spiked = [*noise[:10], Extent(0.9, 1.8, 1.0, False), *noise[10:]]
    drawn = bars(spiked, at=sparkline.Scale(0.8, 1.9))
    assert drawn[10] > max(drawn[:10])
    assert len(set(drawn[:10] + drawn[11:])) == 1


def test_columns_as_wide_as_numbers_go_are_drawn() -> None:
    """Extremes at the ends of what a float holds are no overflow."""
    wide = [Extent(-1.7e308, 1.7e308, 0.0, False)] * 3
    assert len(bars(wide)) == 3
