"""Curves as exact text: nothing flattened, nothing lost, NaN and limits in the right cells."""

import math
from typing import NamedTuple

from ppo_top.model import Mark
from ppo_top.runs.timeline import Track
from ppo_top.tui.graphics import braille_plot, sparkline
from ppo_top.tui.graphics.styled_text import plain_text
from ppo_top.tui.graphics.symbols import ASCII_SYMBOLS, UNICODE_SYMBOLS
from ppo_top.views.downsample import Extent, MinMaxPyramid

CURVE_COLOURS = sparkline.CurveColours("curve", "crit")


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


def track(*values: float, every: int = 1) -> tuple[Track, MinMaxPyramid]:
    """A track with a value every `every` rows, and its pyramid."""
    made = Track("approx_kl", "train/approx_kl", "log")
    for number, value in enumerate(values):
        made.append(Mark(number * every, number * every, math.nan), value)
    return made, MinMaxPyramid(made.values)


def test_a_ramp_climbs_through_all_heights() -> None:
    """Eight rising values are the eight bars."""
    assert (
        plain_text(sparkline.draw_bars(points(*range(8)), None, UNICODE_SYMBOLS, CURVE_COLOURS))
        == "▁▂▃▄▅▆▇█"
    )
    assert (
        plain_text(sparkline.draw_bars(points(*range(8)), None, ASCII_SYMBOLS, CURVE_COLOURS))
        == "_.,-=+*#"
    )


def test_a_constant_stands_in_the_middle() -> None:
    """A value that never moves is neither high nor low."""
    assert (
        plain_text(sparkline.draw_bars(points(5, 5, 5), None, UNICODE_SYMBOLS, CURVE_COLOURS))
        == "▅▅▅"
    )


def test_nan_is_a_red_cross_where_it_happened() -> None:
    """A value that is no number is marked, and the others are drawn."""
    drawn = sparkline.draw_bars(points(1, math.nan, 2), None, UNICODE_SYMBOLS, CURVE_COLOURS)
    assert drawn == (("▁", "curve"), ("✕", "bad"), ("█", "curve"))


def test_a_giant_spike_is_an_arrow_and_flattens_nothing() -> None:
    """One value a thousand times the others leaves their shape visible."""
    values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 9000, 3, 2, 1, 2, 3, 4, 5]
    drawn = plain_text(sparkline.draw_bars(points(*values), None, UNICODE_SYMBOLS, CURVE_COLOURS))
    assert drawn.count("↑") == 1 and drawn[12] == "↑"
    assert len(set(drawn)) > 4


def test_values_outside_the_healthy_range_have_their_own_style() -> None:
    """What was out of range shows in colour, also in the past."""
    drawn = sparkline.draw_bars(
        points(0.01, 0.05, 0.01), SparkRange(0.0, 0.02), UNICODE_SYMBOLS, CURVE_COLOURS
    )
    assert [style for _, style in drawn] == ["curve", "crit", "curve"]


def test_a_single_spike_survives_any_narrowing() -> None:
    """In ten cells for a thousand updates the one spike is there, upwards and downwards."""
    made, pyramid = track(*([1.0] * 500), 9.0, *([1.0] * 300), -7.0, *([1.0] * 198))
    drawn = plain_text(
        sparkline.draw_bars(
            sparkline.column_extents(made, pyramid, 999, 10), None, UNICODE_SYMBOLS, CURVE_COLOURS
        )
    )
    assert drawn.count("█") + drawn.count("↑") == 1
    assert drawn.count("▁") + drawn.count("↓") == 1


def test_a_metric_that_is_logged_seldom_holds_its_value() -> None:
    """Between two evaluations the last one stands."""
    made, pyramid = track(1.0, 3.0, every=3)
    assert [column.last for column in sparkline.column_extents(made, pyramid, 4, 10, 1)] == [
        1,
        1,
        1,
        3,
        3,
    ]


def test_what_comes_after_the_cursor_is_not_drawn() -> None:
    """At row 4 a track has five columns, whatever it holds by now."""
    made, pyramid = track(*map(float, range(100)))
    assert [column.high for column in sparkline.column_extents(made, pyramid, 4, 10, 1)] == [
        0,
        1,
        2,
        3,
        4,
    ]


def test_a_short_run_is_drawn_wide() -> None:
    """Three updates fill a good part of the width."""
    made, pyramid = track(1.0, 2.0, 3.0)
    assert len(sparkline.column_extents(made, pyramid, 2, 10)) == 10
    assert len(sparkline.column_extents(made, pyramid, 2, 10, 2)) == 6


def test_a_plot_joins_its_points() -> None:
    """Two lines of braille show a step as an unbroken curve."""
    reach = sparkline.Scale(0.0, 8.0)
    drawn = braille_plot.draw_braille_plot(
        points(0, 0, 7, 7), (2, 2), None, UNICODE_SYMBOLS, CURVE_COLOURS, reach
    )
    assert [plain_text(row) for row in drawn] == [" ⡏", "⣀⡇"]


def test_a_plot_without_unicode_uses_stars() -> None:
    """The ASCII plot has one star a value."""
    reach = sparkline.Scale(0.0, 3.0)
    drawn = braille_plot.draw_braille_plot(
        points(0, 1, 2), (3, 3), None, ASCII_SYMBOLS, CURVE_COLOURS, reach
    )
    assert [plain_text(row) for row in drawn] == ["  *", " **", "** "]


def test_the_healthy_range_has_edges_and_a_background() -> None:
    """Lines inside the range are tinted, and the limit is a dotted line next to the curve."""
    reach = sparkline.Scale(0.0, 4.0)
    drawn = braille_plot.draw_braille_plot(
        points(0.5), (3, 4), SparkRange(None, 2.5), UNICODE_SYMBOLS, CURVE_COLOURS, reach
    )
    assert [plain_text(row) for row in drawn] == ["   ", "┄┄┄", "   ", "⠂  "]
    tinted = [all(style.endswith("+band") for _, style in row) for row in drawn]
    assert tinted == [False, True, True, True]


def test_marks_never_cover_values() -> None:
    """A restart mark stands below the curve, where there is room."""
    reach = sparkline.Scale(0.0, 4.0)
    marks = {0: ("↻", "restart"), 1: ("↻", "restart")}
    drawn = braille_plot.draw_braille_plot(
        points(0, 0, 3, 3), (2, 2), None, UNICODE_SYMBOLS, CURVE_COLOURS, reach, marks
    )
    assert "↻" not in plain_text(drawn[1])


def test_the_scale_shows_a_limit_that_is_near() -> None:
    """A limit just above the values is in the picture, one far away is not."""
    near = sparkline.choose_scale(points(0.0, 0.01), SparkRange(None, 0.015))
    far = sparkline.choose_scale(points(0.0, 0.01), SparkRange(None, 5.0))
    assert near.high >= 0.015
    assert far.high < 0.05


def test_the_noise_of_a_long_run_is_a_calm_line_and_its_spike_stands_out() -> None:
    """Columns of many values stand at their middle; one that reaches far beyond is drawn so."""
    noise = [Extent(0.9, 1.1, 1.0 + 0.05 * (-1) ** n, False) for n in range(20)]
    calm = plain_text(sparkline.draw_bars(noise, None, UNICODE_SYMBOLS, CURVE_COLOURS))
    assert len(set(calm)) == 1
    spiked = [*noise[:10], Extent(0.9, 1.8, 1.0, False), *noise[10:]]
    drawn = plain_text(
        sparkline.draw_bars(spiked, None, UNICODE_SYMBOLS, CURVE_COLOURS, sparkline.Scale(0.8, 1.9))
    )
    assert drawn[10] > max(drawn[:10])
    assert len(set(drawn[:10] + drawn[11:])) == 1


def test_columns_as_wide_as_numbers_go_are_drawn() -> None:
    """Extremes at the ends of what a float holds are no overflow."""
    wide = [Extent(-1.7e308, 1.7e308, 0.0, False)] * 3
    assert len(plain_text(sparkline.draw_bars(wide, None, UNICODE_SYMBOLS, CURVE_COLOURS))) == 3
