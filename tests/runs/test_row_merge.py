"""Merging streams gives the same rows in whatever order the points arrive."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ppo_top.model import Points, Series
from ppo_top.runs.rows.concept_stream import ConceptStream
from ppo_top.runs.rows.row_merge import MergedRow, RowMerger
from ppo_top.runs.rows.segments import StepMapping

NAN = math.nan


def series(*points: tuple[int, float], tag: str = "t", times: Sequence[float] = ()) -> Series:
    """A series of (step, value) points."""
    made = Series(tag)
    extend(made, points, times)
    return made


def extend(
    target: Series, points: Iterable[tuple[int, float]], times: Sequence[float] = ()
) -> None:
    """Add points to a series."""
    steps, values = zip(*points, strict=True) if points else ((), ())
    clock = array("d", times or [NAN] * len(steps))
    target.extend(Points(target.tag, array("q", steps), clock, array("d", values)))


def make_stream(concept: str, *parts: Series, source: str = "a", **rest: object) -> ConceptStream:
    """A stream over series that may still grow."""
    stream = ConceptStream(concept, concept, source, list(parts))
    vars(stream).update(rest)
    return stream


def read_all(rows: RowMerger) -> list[MergedRow]:
    """Read all rows."""
    assert rows.refresh()
    found = []
    while (key := rows.next_key()) is not None:
        found.append(rows.merge_row(key))
    return found


def test_points_of_one_step_make_one_row() -> None:
    """Two concepts logged at the same step are one update."""
    rows = read_all(
        RowMerger(
            [make_stream("kl", series((1, 0.1), (2, 0.2))), make_stream("reward", series((2, 9.0)))]
        )
    )
    assert [row.values for row in rows] == [{"kl": 0.1}, {"kl": 0.2, "reward": 9.0}]


def test_sign_and_unit_are_those_of_the_concept() -> None:
    """SB3's entropy_loss is minus the entropy; a percentage becomes a share."""
    rows = read_all(
        RowMerger(
            [
                make_stream("entropy", series((1, -0.68)), scale=-1.0),
                make_stream("clip_fraction", series((1, 6.2)), scale=0.01),
            ]
        )
    )
    assert rows[0].values == pytest.approx({"entropy": 0.68, "clip_fraction": 0.062})


def test_the_last_value_of_a_step_counts() -> None:
    """The Hugging Face trainer logs its last step twice."""
    assert read_all(RowMerger([make_stream("loss", series((1, 1.0), (1, 2.0)))]))[0].values == {
        "loss": 2.0
    }


def test_zero_that_means_none_is_no_point() -> None:
    """A mean length of terminated completions of 0 means that none terminated."""
    rows = read_all(
        RowMerger([make_stream("length", series((1, 0.0), (2, 7.0)), zero_missing=True)])
    )
    assert [row.key[1] for row in rows] == [2]


def test_episodes_are_binned_to_updates_by_their_mean() -> None:
    """CleanRL logs one return per episode: an update gets their mean since the last one."""
    episodes = series((10, 0.0), (20, 0.0), (30, 9.0), (70, 4.0))
    rows = read_all(
        RowMerger(
            [
                make_stream("kl", series((64, 0.1), (128, 0.2))),
                make_stream("reward", episodes, per_episode=True),
            ]
        )
    )
    assert [row.values["reward"] for row in rows] == [3.0, 4.0]


def test_a_nan_episode_makes_its_update_nan() -> None:
    """A NaN return must not vanish in a median."""
    episodes = series((10, 1.0), (20, NAN))
    rows = read_all(
        RowMerger(
            [
                make_stream("kl", series((64, 0.1))),
                make_stream("reward", episodes, per_episode=True),
            ]
        )
    )
    assert rows[0].values["reward"] != rows[0].values["reward"]


def test_a_run_of_episodes_alone_is_read_episode_by_episode() -> None:
    """Without updates there is no grid to bin to."""
    rows = read_all(
        RowMerger([make_stream("reward", series((10, 1.0), (20, 2.0)), per_episode=True)])
    )
    assert [row.values["reward"] for row in rows] == [1.0, 2.0]


def test_a_step_that_goes_back_begins_a_segment() -> None:
    """A resumed run logs steps again that it has logged before."""
    rows = read_all(
        RowMerger(
            [make_stream("kl", series((10, 1.0), (20, 2.0), (30, 3.0), (20, 4.0), (30, 5.0)))]
        )
    )
    assert [row.key for row in rows] == [(0, 10), (0, 20), (0, 30), (1, 20), (1, 30)]


def test_a_step_out_of_order_by_one_record_is_no_restart() -> None:
    """An evaluation that is logged late does not make a new segment."""
    rows = read_all(
        RowMerger([make_stream("kl", series((10, 1.0), (30, 2.0), (20, 3.0), (40, 4.0)))])
    )
    assert [row.key for row in rows] == [(0, 10), (0, 30), (0, 40)]


def test_a_step_that_comes_late_begins_no_segment() -> None:
    """Actors end their episodes out of order: it belongs to the row of the highest step so far."""
    late = series(*((step, 0.5) for step in (7, 14, 35, 21, 42, 28, 63, 49, 56, 70, 77)))
    rows = RowMerger([make_stream("a", late)])
    rows.refresh()
    keys = [row.key for row in read_all(rows)]
    assert keys == [(0, step) for step in (7, 14, 35, 42, 63, 70, 77)]


@pytest.mark.parametrize("again", [(105, 115, 125, 135), (100, 110, 120, 130), (50, 60, 70)])
def test_steps_that_are_taken_again_begin_a_segment(again: tuple[int, ...]) -> None:
    """Of a checkpoint a few records before, on the same grid or another, or further back."""
    steps = [*range(60, 140, 10), *again]
    rows = RowMerger([make_stream("a", series(*((step, 0.5) for step in steps)))])
    rows.refresh()
    assert {row.key[0] for row in read_all(rows)} == {0, 1}


def test_the_files_of_a_resumed_run_follow_each_other() -> None:
    """The second file of a chain continues after the first."""
    first, second = series((10, 1.0), (20, 2.0), (30, 3.0)), series((20, 4.0), (30, 5.0))
    rows = read_all(RowMerger([make_stream("kl", first, second)]))
    assert [row.key for row in rows] == [(0, 10), (0, 20), (0, 30), (1, 20), (1, 30)]


def test_a_stream_that_begins_after_a_resume_belongs_to_that_segment() -> None:
    """Times show to which segment of the run a late tag belongs."""
    clock = series((10, 1.0), (20, 2.0), (10, 3.0), (20, 4.0), times=[100.0, 200.0, 300.0, 400.0])
    late = series((20, 9.0), times=[400.0])
    rows = read_all(RowMerger([make_stream("kl", clock), make_stream("eval", late)], [clock]))
    assert [row.key for row in rows if "eval" in row.values] == [(1, 20)]


def test_steps_of_another_axis_are_translated() -> None:
    """A console counts iterations where the event file counts environment steps."""
    ours, theirs = series((2048, 0.1), (4096, 0.2)), series((1, 0.1), (2, 0.2))
    episodes = series((1, 98.0), (2, 50.0))
    other = make_stream(
        "episodes", episodes, source="b", step_mapping=StepMapping([theirs], [ours])
    )
    assert [row.values for row in read_all(RowMerger([make_stream("kl", ours), other]))] == [
        {"kl": 0.1, "episodes": 98.0},
        {"kl": 0.2, "episodes": 50.0},
    ]


def test_a_point_waits_until_its_step_can_be_translated() -> None:
    """The console is ahead of the event file: its newest line has no row yet, and is not lost."""
    ours, theirs = series((2048, 0.1)), series((1, 0.1), (2, 0.2))
    other = make_stream("kl1", theirs, source="b", step_mapping=StepMapping([theirs], [ours]))
    rows = RowMerger([make_stream("kl", ours), other])
    assert [row.key[1] for row in read_all(rows)] == [2048]
    extend(ours, [(4096, 0.2)])
    assert [row.values for row in read_all(rows)] == [{"kl": 0.2, "kl1": 0.2}]


def test_a_row_is_sealed_when_every_source_has_a_later_point() -> None:
    """A row waits as long as a source may still add to it."""
    slow = series((1, 9.0))
    rows = RowMerger(
        [make_stream("kl", series((1, 0.1), (2, 0.2))), make_stream("reward", slow, source="b")]
    )
    rows.refresh()
    assert rows.waiting_for((0, 1)) == ["b"]
    extend(slow, [(2, 8.0)])
    assert rows.waiting_for((0, 1)) == []
    rows.merge_row((0, 1))
    assert sorted(rows.waiting_for((0, 2))) == ["a", "b"]


def test_a_point_before_a_sealed_row_is_late() -> None:
    """`refresh` returns False: merging has to start again."""
    slow = series()
    rows = RowMerger(
        [make_stream("kl", series((1, 0.1), (2, 0.2))), make_stream("reward", slow, source="b")]
    )
    rows.refresh()
    rows.merge_row((0, 1))
    rows.sealed_key = 0, 1
    extend(slow, [(1, 9.0)])
    assert not rows.refresh()


def test_a_file_that_grows_after_its_successor_began_is_late() -> None:
    """Two writers in one folder: the first one's new points belong before the second's."""
    first, second = series((1, 1.0)), series((2, 2.0))
    rows = RowMerger([make_stream("kl", first, second)])
    read_all(rows)
    extend(first, [(3, 3.0)])
    assert not rows.refresh()


def test_a_copy_looks_ahead() -> None:
    """It reads the rows to come, a new segment included, and the merger itself stays in place."""
    rows = RowMerger([make_stream("kl", series((1, 0.1), (2, 0.2), (1, 0.3)))])
    rows.refresh()
    seen = [(row.key, row.values) for row in read_all(rows.copy())]
    assert len(seen) == 3
    assert [(row.key, row.values) for row in read_all(rows)] == seen


@given(st.data())
def test_rows_do_not_depend_on_the_order_of_arrival(data: st.DataObject) -> None:
    """Two sources that grow in any order give the rows of reading both at once."""
    steps = data.draw(st.lists(st.integers(0, 50), max_size=30).map(sorted))
    left = [(step, float(step)) for step in steps]
    right = [(step, -float(step)) for step in steps[::2]]
    whole = read_all(
        RowMerger([make_stream("a", series(*left)), make_stream("b", series(*right), source="b")])
    )
    parts = (series(), series())
    growing = RowMerger([make_stream("a", parts[0]), make_stream("b", parts[1], source="b")])
    queues = [list(left), list(right)]
    found: list[MergedRow] = []
    while any(queues):
        side = data.draw(st.sampled_from([i for i, queue in enumerate(queues) if queue]))
        extend(parts[side], [queues[side].pop(0)])
        growing.refresh()
        while (key := growing.next_key()) is not None and not growing.waiting_for(key):
            found.append(growing.merge_row(key))
            growing.sealed_key = key
    growing.refresh()
    while (key := growing.next_key()) is not None:
        found.append(growing.merge_row(key))
    assert [row.values for row in found] == [row.values for row in whole]


STEP_SERIES = st.lists(
    st.tuples(
        st.sampled_from([0, 1, 1, 1, 1, 1, 1, 2, -3]),
        st.sampled_from([0.0, 1.0, -2.5, NAN, math.inf]),
        st.sampled_from([NAN, 1.0, 2.0]),
    ),
    min_size=1,
    max_size=60,
)
"""Points as (distance from the step before, value, time)."""


def drawn_series(points: list[tuple[int, float, float]], every: int) -> Series:
    """A series of every `every`-th point."""
    steps = list(accumulate((step for step, _, _ in points), initial=5))[1:]
    kept = list(zip(steps, points, strict=True))[::every]
    made = Series("x")
    extend(made, [(step, value) for step, (_, value, _) in kept], [time for _, (*_, time) in kept])
    return made


def by_blocks(rows: RowMerger, max_rows: int) -> list[tuple[object, ...]]:
    """Read all rows, in blocks where possible."""
    rows.refresh()
    found: list[tuple[object, ...]] = []
    while (key := rows.next_key()) is not None:
        block = rows.pop_block(key, max_rows)
        if block is None:
            merged = rows.merge_row(key)
            found.append((merged.key, merged.time, merged.values, merged.points))
            continue
        for at, step in enumerate(block.steps):
            values = {name: column[at] for name, column in block.columns.items()}
            points = {name: (part, first + at) for name, (part, first) in block.points.items()}
            found.append(((key[0], step), block.times[at], values, points))
    return found


@example([(0, 0.0, NAN), (2, 0.0, NAN), (-1, 0.0, NAN)], [1], "a", 1, 2)  # too near for a restart
@example(
    [*((step, 0.0, 1.0) for step in (0, 0, 1, 1, 1, 1)), (-3, 0.0, 1.0)], [1], "a", 1, 2
)  # too quick for one
@given(
    STEP_SERIES,
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.sampled_from(["a", "aab", "ab"]),
    st.integers(1, 3),
    st.integers(2, 40),
)
def test_rows_by_columns_are_the_rows_one_by_one(
    points: list[tuple[int, float, float]],
    every: list[int],
    sources: str,
    step_scale: int,
    max_rows: int,
) -> None:
    """Frequent and rare metrics, of one source or two, restarts, repeated steps, NaN."""
    parts = [drawn_series(points, each) for each in every]

    def merger() -> RowMerger:
        streams = [
            make_stream(f"m{at}", part, source=sources[at % len(sources)], scale=at - 1.0)
            for at, part in enumerate(parts)
        ]
        for stream in streams:
            stream.step_scale = step_scale
        return RowMerger(streams, parts[:1])

    one_by_one = [(row.key, row.time, row.values, row.points) for row in read_all(merger())]
    assert repr(by_blocks(merger(), max_rows)) == repr(one_by_one)


def test_a_plain_log_is_read_by_columns() -> None:
    """Otherwise the test above would compare `merge_row` with itself."""
    part = series(*((step, 0.5) for step in range(100)))
    rows = RowMerger([make_stream("a", part), make_stream("b", part)])
    rows.refresh()
    block = rows.pop_block((0, 0), 64)
    assert block is not None and list(block.steps) == list(range(64))


def test_a_log_is_read_by_columns_up_to_the_next_point_of_another() -> None:
    """Episodes, say, up to the next evaluation; after the last one, once nothing waits for more."""
    episodes, evaluations = series(*((step, 0.5) for step in range(100))), series((60, 9.0))
    rows = RowMerger([make_stream("a", episodes), make_stream("b", evaluations, source="e")])
    rows.refresh()
    block = rows.pop_block((0, 0), 64)
    assert block is not None and list(block.steps) == list(range(60))
    assert rows.pop_block((0, 60), 64) is None
    assert rows.merge_row((0, 60)).values == {"a": 0.5, "b": 9.0}
    assert rows.pop_block((0, 61), 64) is None
    rows.lagging.add("e")
    block = rows.pop_block((0, 61), 64)
    assert block is not None and list(block.steps) == list(range(61, 99))


@pytest.mark.parametrize(("pause", "segments"), [(0.01, {0}), (60.0, {0, 1})])
def test_a_step_that_goes_back_at_once_is_no_resume(pause: float, segments: set[int]) -> None:
    """stable-baselines' minibatches reach into the steps of the next update."""
    steps = [100, 110, 120, 130, 105, 115, 125, 135, 145]
    times = [0.0, 1.0, 2.0, 3.0, *(3.0 + pause * n for n in range(1, 6))]
    part = series(*((step, 0.5) for step in steps), times=times)
    rows = RowMerger([make_stream("a", part)])
    rows.refresh()
    assert {row.key[0] for row in read_all(rows)} == segments
