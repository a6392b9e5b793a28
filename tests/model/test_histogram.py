"""Histograms in bins that can be compared."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppo_top.files.update import Source, SourceUpdate
from ppo_top.model import Batch, Histogram
from ppo_top.parsers.tensorboard.parser import FORMAT
from ppo_top.runs.sources.source import MAX_HISTOGRAMS_KEPT, SourceState


def test_counts_are_shared_out_by_width() -> None:
    """Bins 0-1 and 1-4: the six values of the wide one are two a unit."""
    histogram = Histogram(0.0, 4.0, [1.0, 4.0], [5.0, 6.0])
    assert histogram.in_equal_bins(4) == pytest.approx([5.0, 2.0, 2.0, 2.0])
    assert histogram.in_equal_bins(2) == pytest.approx([7.0, 4.0])


def test_the_outermost_bins_end_at_the_values() -> None:
    """TensorBoard's first and last limit are the ends of all numbers."""
    histogram = Histogram(-1.0, 1.0, [0.0, 1.7976931348623157e308], [3.0, 1.0])
    assert histogram.in_equal_bins(2) == pytest.approx([3.0, 1.0])


@pytest.mark.parametrize("ends", [(1.0, 1.0), (0.0, math.inf), (math.nan, 1.0)])
def test_without_a_width_there_are_no_bins(ends: tuple[float, float]) -> None:
    """All values the same, or not finite."""
    assert Histogram(*ends, [1.0], [3.0]).in_equal_bins(4) == []


@given(st.lists(st.floats(0.01, 9.0), min_size=1, max_size=9), st.data(), st.integers(1, 40))
def test_nothing_is_lost(widths: list[float], data: st.DataObject, bins: int) -> None:
    """The counts keep their sum, whatever the writer's bins."""
    limits = [sum(widths[: end + 1]) for end in range(len(widths))]
    some = st.lists(st.floats(0.0, 99.0), min_size=len(limits), max_size=len(limits))
    counts = data.draw(some)
    found = Histogram(0.0, limits[-1], limits, counts).in_equal_bins(bins)
    assert sum(found) == pytest.approx(sum(counts))


def test_only_so_many_tags_keep_a_histogram() -> None:
    """A log with a histogram for each layer of a large network does not fill the memory."""
    source = SourceState(Source("log", Path("log"), Path(), FORMAT))
    found = {f"layer{number}": Histogram(0.0, 1.0, [1.0], [1.0]) for number in range(150)}
    source.add_update(SourceUpdate(source.source, Batch(histograms=found), False, 0.0, 0))
    assert len(source.histograms) == MAX_HISTOGRAMS_KEPT < 150
