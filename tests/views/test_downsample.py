"""The min/max pyramid: fast summaries that lose no spike."""

import math
from array import array

from hypothesis import given
from hypothesis import strategies as st

from ppo_top.views.downsample import (
    EMPTY_EXTENT,
    MAX_CELLS_PER_ROW,
    UNSETTLED_POINTS,
    MinMaxPyramid,
    bucket_extents,
    stride,
)

values_with_holes = st.lists(st.floats(width=32), max_size=600)


def naive(values: list[float]) -> tuple[float | None, float | None, bool]:
    """The extremes of the finite values and whether there are others, the slow way."""
    finite = [value for value in values if math.isfinite(value)]
    bad = len(finite) < len(values)
    return (min(finite), max(finite), bad) if finite else (None, None, bad)


@given(values_with_holes, st.integers(0, 600), st.integers(0, 600))
def test_any_stretch_has_its_true_extremes(values: list[float], start: int, stop: int) -> None:
    """The summary of a stretch is that of its points, NaN and infinities told apart."""
    extent = MinMaxPyramid(array("d", values)).extent(start, stop)
    assert extent[:2] + extent[3:] == naive(values[start:stop])


@given(values_with_holes, st.lists(st.integers(1, 90), max_size=12))
def test_growing_in_pieces_equals_growing_at_once(values: list[float], cuts: list[int]) -> None:
    """How the points came in makes no difference."""
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
    """A single spike shows in the one cell that holds it, whatever the width."""
    values = array("d", [1.0] * 100_000)
    values[54_321] = 50.0
    values[77_000] = math.nan
    pyramid = MinMaxPyramid(values)
    rows = array("q", range(100_000))
    size = stride(100_000, 80)
    cells = bucket_extents(pyramid, rows, 99_999, size)
    assert [n for n, cell in enumerate(cells) if cell.high == 50.0] == [int(54_321 / size)]
    assert [n for n, cell in enumerate(cells) if cell.non_finite] == [int(77_000 / size)]


def test_a_column_that_shrank_is_summarised_anew() -> None:
    """A log that was begun again does not leave the old extremes behind."""
    values = array("d", [9.0] * 64)
    pyramid = MinMaxPyramid(values)
    del values[:]
    values.extend([1.0] * 20)
    pyramid.grow()
    assert pyramid.extent(0, 20).high == 1.0


@given(st.lists(st.floats(-9, 9), min_size=200, max_size=400), st.integers(1, 9), st.data())
def test_cells_that_are_kept_are_what_they_would_be_afresh(
    values: list[float], size: int, data: st.DataObject
) -> None:
    """Drawn while it grew, with its end taken back now and then, at any cursor: the same cells."""
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


def test_points_in_few_rows_fall_into_the_cells_of_their_rows() -> None:
    """A metric that is logged every fifth row leaves the cells between empty."""
    pyramid = MinMaxPyramid(array("d", [1.0, 2.0]))
    cells = bucket_extents(pyramid, array("q", [0, 5]), 9, 2)
    assert [cell.last for cell in cells] == [1.0, None, 2.0, None, None]
    assert cells[1] == EMPTY_EXTENT


@given(st.integers(1, 10_000_000), st.integers(1, 200))
def test_strides_fit_and_fill(amount: int, cells: int) -> None:
    """All rows fit into the cells, and most of the cells are used."""
    used = math.ceil(amount / stride(amount, cells) - 1e-9)
    assert used <= cells
    assert used >= min(cells, amount * MAX_CELLS_PER_ROW) * 0.75 - 1


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=300), st.integers(1, 60))
def test_every_point_is_in_some_cell(values: list[float], cells: int) -> None:
    """Whatever the width, the cells together hold the extremes of the whole."""
    column = array("d", values)
    last = len(values) - 1
    found = bucket_extents(
        MinMaxPyramid(column), array("q", range(len(values))), last, stride(last + 1, cells)
    )
    assert max(cell.high for cell in found if cell.high is not None) == max(values)
    assert min(cell.low for cell in found if cell.low is not None) == min(values)


def test_the_newest_points_may_be_taken_back() -> None:
    """Rows that were only a look ahead come in again with other values, and those count."""
    values = array("d", [1.0] * 500)
    pyramid = MinMaxPyramid(values)
    del values[-UNSETTLED_POINTS:]
    values.extend([2.0] * UNSETTLED_POINTS)
    pyramid.grow()
    assert pyramid.extent(500 - UNSETTLED_POINTS, 500)[:2] == (2.0, 2.0)
    assert pyramid.extent(0, 500)[:2] == (1.0, 2.0)
