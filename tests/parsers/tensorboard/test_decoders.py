"""Numpy and record by record: the same points and problems from the same event file."""

from __future__ import annotations

import random
import subprocess
import sys
from array import array
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from ppo_top.parsers.tensorboard import decode_numpy, parser
from ppo_top.parsers.tensorboard.parser import TensorBoardParser
from ppo_top.parsers.tensorboard.templates import TemplateCache
from ppo_top.parsers.tensorboard.tfrecord import TfRecordReader
from tests.support.event_files import (
    EVENT_TIME,
    event_file_of_run,
    event_record,
    scalar_record,
    scalars_by_tensorboard,
    tensor_record,
    text_record,
)
from tests.support.parser_harness import ParserOutput, assert_same, chunks, cut_at, feed_parser

TAGS = [f"train/{name}" for name in ("kl", "loss", "approx_kl", "clip_fraction", "entropy", "lr")]


def by_numpy(data: bytes, places: list[int] | None = None, size: int = 1 << 22) -> ParserOutput:
    """What numpy reads, in pieces of one size or cut at some places."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "_MIN_BYTES_FOR_NUMPY", 0)
        patch.setattr(parser, "_MIN_NUMPY_PIECE_BYTES", 0)
        pieces = chunks(data, size) if places is None else cut_at(data, places)
        return feed_parser(TensorBoardParser(), pieces)


def one_by_one(data: bytes) -> ParserOutput:
    """What is read record by record: no piece is large enough for numpy."""
    return feed_parser(TensorBoardParser(), chunks(data, 50))


def irregular(count: int, seed: int) -> bytes:
    """Tags in changing order and number, texts and histograms between, steps that jump back."""
    rng = random.Random(seed)
    parts = [event_record(file_version="brain.Event:2")]
    for step in range(count):
        chosen = rng.sample(TAGS, rng.randint(1, len(TAGS)))
        parts += [
            scalar_record(tag, step * 37 % 5000, rng.gauss(0, 1), EVENT_TIME + step)
            for tag in chosen
        ]
        if rng.random() < 0.05:
            parts.append(text_record("note", f"step {step}"))
        if rng.random() < 0.05:
            values = [Summary.Value(tag=tag, simple_value=1.0) for tag in chosen]
            parts.append(event_record(*values, step=step))
    return b"".join(parts)


def new_style(steps: range) -> bytes:
    """Tensor scalars, some of them doubles, as torch writes them with new_style."""
    parts = []
    for step in steps:
        parts.append(tensor_record("a/float", step, TensorProto(dtype=1, float_val=[step / 3])))
        parts.append(tensor_record("a/double", step, TensorProto(dtype=2, double_val=[step / 3])))
    return b"".join(parts)


FILES = {
    "regular": event_file_of_run(range(0, 40_000, 64), TAGS),
    "steps of every length": event_file_of_run([2**bits for bits in range(62)] * 6, TAGS),
    "no steps at all": event_file_of_run([0] * 300, TAGS),
    "irregular": irregular(900, 1),
    "new style": new_style(range(700)),
    "one tag": event_file_of_run(range(3000), ["a"]),
    "tags of one length": event_file_of_run(
        range(60), [f"reward/{number:03}" for number in range(100)]
    ),
    "both forms of one tag": event_file_of_run(range(400), ["a/float"]) + new_style(range(400)),
}


@pytest.mark.parametrize("name", FILES)
def test_numpy_and_single_records_agree(name: str) -> None:
    """Pieces of every size give the same points."""
    data = FILES[name]
    slow = one_by_one(data)
    assert slow.points
    assert not slow.problems
    assert_same(feed_parser(TensorBoardParser(), [data]), slow)
    for size in (1 << 22, 100_000, 7777):
        assert_same(by_numpy(data, size=size), slow)


def test_without_numpy_large_files_are_read_record_by_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It takes longer, and gives the same."""
    monkeypatch.setitem(sys.modules, "ppo_top.parsers.tensorboard.decode_numpy", None)
    data = FILES["irregular"]
    assert_same(by_numpy(data), one_by_one(data))


@pytest.mark.parametrize("name", FILES)
def test_tensorboard_agrees(name: str, tmp_path: Path) -> None:
    """TensorBoard's own reader gives the same numbers in the same order."""
    path = tmp_path / "events.out.tfevents.1.host"
    path.write_bytes(FILES[name])
    assert by_numpy(FILES[name]).points == scalars_by_tensorboard(path)


@pytest.mark.parametrize("name", ["regular", "irregular", "one tag"])
@pytest.mark.parametrize("seed", range(8))
def test_damage_is_found_in_columns(name: str, seed: int) -> None:
    """Flipped and lost bytes in a large file: the same points and problems as record by record."""
    rng = random.Random(f"{name} {seed}")
    damaged = bytearray(FILES[name])
    for _ in range(5):
        place = rng.randrange(len(damaged))
        if rng.random() < 0.7:
            damaged[place] ^= 1 << rng.randrange(8)
        else:
            del damaged[place : place + rng.randint(1, 60)]
    data = bytes(damaged)
    slow = one_by_one(data)
    assert slow.problems
    assert_same(feed_parser(TensorBoardParser(), [data]), slow)
    assert_same(by_numpy(data), slow)
    assert_same(by_numpy(data, size=20_000), slow)


def bounds_of(data: bytes) -> array[int]:
    """The bounds of all records, found one after the other."""
    blocks = TfRecordReader().add_bytes(data)
    return array("q", [each for block in blocks for each in block.bounds])


def test_records_that_recur_are_found_at_once() -> None:
    """After some hundred of them, as far as headers, data and limit go."""
    data = FILES["regular"]
    bounds = bounds_of(data)
    known = bounds[:600]

    def ahead(some: bytes, limit: int = 1 << 40) -> array[int]:
        found = decode_numpy.recurring_bounds(some, known, limit)
        assert found == bounds[600 : 600 + len(found)]
        return found

    assert len(ahead(data)) > 900  # until the steps need another byte
    assert not ahead(data[: bounds[605] - 1])
    assert 0 < len(ahead(data, bounds[1000])) <= 400
    header = bounds[1234]
    damaged = data[: header + 2] + b"?" + data[header + 3 :]
    assert len(ahead(damaged)) == 1234 - 599
    assert not decode_numpy.recurring_bounds(data, bounds[:500], 1 << 40)


def test_records_in_no_order_are_not_looked_for_ahead() -> None:
    """Nothing is known of those that follow."""
    data = FILES["irregular"]
    assert not decode_numpy.recurring_bounds(data, bounds_of(data)[:600], 1 << 40)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from(TAGS), st.integers(0, 20_000), st.floats(width=32)), min_size=40
    ),
    st.lists(st.integers(0, 9000), max_size=5),
)
def test_numpy_reads_any_cut(points: list[Any], places: list[int]) -> None:
    """Random points, cut anywhere, with every piece read by numpy."""
    data = b"".join(scalar_record(tag, step, value) for tag, step, value in points)
    assert_same(by_numpy(data, places), one_by_one(data))


@pytest.mark.parametrize("name", FILES)
def test_columns_leave_little_to_single_records(name: str) -> None:
    """A file of scalars is read as columns, except for a few records that start a new layout."""
    count = left = 0
    for block in TfRecordReader().add_bytes(FILES[name]):
        _, rest = decode_numpy.decode_columns(block.data, block.bounds, TemplateCache())
        count += len(block.bounds) - 1
        left += len(rest)
    assert count > 300
    assert left < count // (2 if name == "steps of every length" else 4)


def test_small_files_need_neither_numpy_nor_tensorboard(tmp_path: Path) -> None:
    """Reading a log of ordinary size loads none of the large libraries."""
    path = tmp_path / "events"
    path.write_bytes(FILES["regular"] + text_record("args", '{"lr": 1}'))
    code = (
        "import sys\n"
        "from ppo_top.parsers.tensorboard.parser import TensorBoardParser\n"
        "batch = TensorBoardParser().feed(open(sys.argv[1], 'rb').read())\n"
        "assert len(batch.points) == 6 and batch.config == {'lr': 1}\n"
        "loaded = {'numpy', 'tensorboard', 'google', 'torch'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
