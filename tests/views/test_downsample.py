"""The min/max pyramid: cheap extremes of any range, no spike lost."""

import math
from array import array

from hypothesis import given
from hypothesis import strategies as st

from ppo_top.views.downsample import (
    EMPTY_EXTENT,
    GROWTH_RATIO,
    UNSETTLED_POINTS,
    MinMaxPyramid,
    bucket_extents,
    stride,
)

values_with_holes = st.lists(st.floats(width=32), max_size=600)


def naive(values: list[float]) -> tuple[float | None, float | None, bool]:
    """The extremes of the finite values, and whether there are others, the slow way."""
    finite = [value for value in values if math.isfinite(value)]
    bad = len(finite) < len(values)
    return (min(finite), max(finite), bad) if finite else (None, None, bad)


@given(values_with_holes, st.integers(0, 600), st.integers(0, 600))
def test_any_range_has_its_true_extremes(values: list[float], start: int, stop: int) -> None:
    """NaN and infinities are reported, but are no extremes."""
    extent = MinMaxPyramid(array("d", values)).extent(start, stop)
    assert extent[:2] + extent[3:] == naive(values[start:stop])


@given(values_with_holes, st.lists(st.integers(1, 90), max_size=12))
def test_growing_in_pieces_equals_growing_at_once(values: list[float], cuts: list[int]) -> None:
    """How the points arrive makes no difference."""
    column: array[float] = array("d")
    pyramid = MinMaxPyramid(column)
    rest = list(values)
    for cut in cuts:
        column.extend(rest[:cut])
        rest = rest[cut:]
        pyramid.grow()
    column.extend(rest)
    pyramid.grow()
    assert pyramid.extent(0, len(values)) == MinMaxPyramid(array("d", values)).extent(
        0, len(values)
    )


def test_one_spike_among_a_hundred_thousand_points_is_found() -> None:
    """A spike shows in its cell and in no other."""
    values = array("d", [1.0] * 100_000)
    values[54_321] = 50.0
    values[77_000] = math.nan
    pyramid = MinMaxPyramid(values)
    rows = array("q", range(100_000))
    size = stride(100_000, 80)
    cells = bucket_extents(pyramid, rows, 99_999, size)
    assert [n for n, cell in enumerate(cells) if cell.high == 50.0] == [int(54_321 / size)]
    assert [n for n, cell in enumerate(cells) if cell.non_finite] == [int(77_000 / size)]


def test_a_column_that_shrank_is_summarised_again() -> None:
    """A log that started over does not keep the old extremes."""
    values = array("d", [9.0] * 64)
    pyramid = MinMaxPyramid(values)
    del values[:]
    values.extend([1.0] * 20)
    pyramid.grow()
    assert pyramid.extent(0, 20).high == 1.0


@given(st.lists(st.floats(-9, 9), min_size=200, max_size=400), st.integers(1, 9), st.data())
def test_cached_cells_equal_newly_computed_ones(
    values: list[float], size: int, data: st.DataObject
) -> None:
    """Even if the end of a growing column is replaced now and then, and for any cursor."""
    column: array[float] = array("d")
    rows: array[int] = array("q")
    pyramid = MinMaxPyramid(column)
    while len(column) < len(values):
        back = data.draw(st.integers(0, min(UNSETTLED_POINTS - 1, len(column))))
        del column[len(column) - back :], rows[len(rows) - back :]
        more = values[len(column) : len(column) + back + data.draw(st.integers(1, 80))]
        column.extend(more)
        rows.extend(range(len(rows), len(rows) + len(more)))
        pyramid.grow()
        last = data.draw(st.integers(0, len(column) - 1))
        assert bucket_extents(pyramid, rows, last, size) == bucket_extents(
            MinMaxPyramid(column), rows, last, size
        )


def test_a_metric_logged_every_fifth_row_leaves_the_cells_between_empty() -> None:
    """A point falls into the cell of its row."""
    pyramid = MinMaxPyramid(array("d", [1.0, 2.0]))
    cells = bucket_extents(pyramid, array("q", [0, 5]), 9, 2)
    assert [cell.last for cell in cells] == [1.0, None, 2.0, None, None]
    assert cells[1] == EMPTY_EXTENT


@given(st.integers(1, 10_000_000), st.integers(1, 200), st.booleans())
def test_all_rows_fit_and_the_cells_are_used(amount: int, cells: int, growing: bool) -> None:
    """A run at rest fills all cells; a growing one 95 % of them, at every age."""
    used = math.ceil(amount / stride(amount, cells, growing) - 1e-9)
    assert used <= cells
    assert used >= (math.floor(cells / GROWTH_RATIO) if growing else cells)


def test_a_growing_run_seldom_changes_its_stride() -> None:
    """From 1,000 rows to 2,000 the whole curve is drawn anew 15 times; else its end grows."""
    assert len({stride(amount, 70, growing=True) for amount in range(1000, 2001)}) <= 16


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=300), st.integers(1, 60))
def test_every_point_is_in_some_cell(values: list[float], cells: int) -> None:
    """Whatever the width, the cells together have the extremes of the column."""
    column = array("d", values)
    last = len(values) - 1
    found = bucket_extents(
        MinMaxPyramid(column), array("q", range(len(values))), last, stride(last + 1, cells)
    )
    assert max(cell.high for cell in found if cell.high is not None) == max(values)
    assert min(cell.low for cell in found if cell.low is not None) == min(values)


def test_the_newest_points_may_be_replaced() -> None:
    """Rows that were only a preview come again with other values, and those count."""
    values = array("d", [1.0] * 500)
    pyramid = MinMaxPyramid(values)
    del values[-UNSETTLED_POINTS:]
    values.extend([2.0] * UNSETTLED_POINTS)
    pyramid.grow()
    assert pyramid.extent(500 - UNSETTLED_POINTS, 500)[:2] == (2.0, 2.0)
    assert pyramid.extent(0, 500)[:2] == (1.0, 2.0)
