"""The fast ways through an event file give what the slow one gives."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from ppo_top.parsers.tensorboard import decode_numpy as _arrays
from ppo_top.parsers.tensorboard import decode_numpy_steps as _periods
from ppo_top.parsers.tensorboard import decode_stdlib as _columns
from ppo_top.parsers.tensorboard import parser as tfevents
from ppo_top.parsers.tensorboard.parser import TensorBoard
from ppo_top.parsers.tensorboard.templates import Templates
from ppo_top.parsers.tensorboard.tfrecord import Records
from tests.support.event_files import NOW, event, oracle, run, scalar, tensor, text
from tests.support.parser_harness import Read, assert_same, chunks, cuts, feed

TAGS = [f"train/{name}" for name in ("kl", "loss", "approx_kl", "clip_fraction", "entropy", "lr")]


@contextmanager
def numpy_from(size: int, small: int = 0) -> Iterator[None]:
    """Pieces of this size and more are read by numpy, from the first byte on.

    From `small` on smaller ones are read step by step.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tfevents, "_NUMPY_PAYS", 0)
        patch.setattr(tfevents, "_BIG_PIECE", size)
        patch.setattr(tfevents, "_SMALL_PIECE", small)
        yield


def by_numpy(data: bytes, size: int = 1 << 22) -> Read:
    """What is read in pieces of one size by numpy."""
    with numpy_from(0):
        return feed(TensorBoard(), chunks(data, size))


def by_steps(data: bytes, size: int = 1 << 22) -> Read:
    """What is read in pieces of one size with whole steps as rows."""
    with numpy_from(1 << 30):
        return feed(TensorBoard(), chunks(data, size))


def one_by_one(data: bytes) -> Read:
    """What is read record by record: no piece is large enough for a column."""
    return feed(TensorBoard(), chunks(data, 50))


def irregular(count: int, seed: int) -> bytes:
    """Tags in changing order and number, texts and histograms between, steps that jump back."""
    rng = random.Random(seed)
    parts = [event(file_version="brain.Event:2")]
    for step in range(count):
        chosen = rng.sample(TAGS, rng.randint(1, len(TAGS)))
        parts += [scalar(tag, step * 37 % 5000, rng.gauss(0, 1), NOW + step) for tag in chosen]
        if rng.random() < 0.05:
            parts.append(text("note", f"step {step}"))
        if rng.random() < 0.05:
            values = [Summary.Value(tag=tag, simple_value=1.0) for tag in chosen]
            parts.append(event(*values, step=step))
    return b"".join(parts)


def new_style(steps: range) -> bytes:
    """Tensor scalars, some of them doubles, as torch writes them with new_style."""
    parts = []
    for step in steps:
        parts.append(tensor("a/float", step, TensorProto(dtype=1, float_val=[step / 3])))
        parts.append(tensor("a/double", step, TensorProto(dtype=2, double_val=[step / 3])))
    return b"".join(parts)


FILES = {
    "regular": run(range(0, 40_000, 64), TAGS),
    "steps of every length": run([2**bits for bits in range(62)] * 6, TAGS),
    "no steps at all": run([0] * 300, TAGS),
    "irregular": irregular(900, 1),
    "new style": new_style(range(700)),
    "one tag": run(range(3000), ["a"]),
    "tags of one length": run(range(60), [f"reward/{number:03}" for number in range(100)]),
    "both forms of one tag": run(range(400), ["a/float"]) + new_style(range(400)),
}


@pytest.mark.parametrize("name", FILES)
def test_numpy_columns_and_single_records_agree(name: str) -> None:
    """Numpy, columns in the standard library, and record by record: the same points."""
    data = FILES[name]
    slow = one_by_one(data)
    assert slow.points
    assert not slow.problems
    assert_same(feed(TensorBoard(), [data]), slow)
    for size in (1 << 22, 100_000, 7777):
        assert_same(by_numpy(data, size), slow)
        assert_same(by_steps(data, size), slow)


@pytest.mark.parametrize("name", FILES)
def test_tensorboard_agrees(name: str, tmp_path: Path) -> None:
    """TensorBoard's own reader gives the same numbers in the same order."""
    path = tmp_path / "events.out.tfevents.1.host"
    path.write_bytes(FILES[name])
    assert by_numpy(FILES[name]).points == oracle(path)


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
    assert_same(feed(TensorBoard(), [data]), slow)
    assert_same(by_numpy(data), slow)
    assert_same(by_steps(data, 20_000), slow)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from(TAGS), st.integers(0, 20_000), st.floats(width=32)), min_size=40
    ),
    st.lists(st.integers(0, 9000), max_size=5),
)
def test_numpy_reads_any_cut(points: list[Any], places: list[int]) -> None:
    """Random points, cut anywhere, with every piece read by numpy."""
    data = b"".join(scalar(tag, step, value) for tag, step, value in points)
    with numpy_from(0):
        found = feed(TensorBoard(), cuts(data, places))
    slow = one_by_one(data)
    assert_same(found, slow)
    with numpy_from(1 << 30):
        assert_same(feed(TensorBoard(), cuts(data, places)), slow)


@pytest.mark.parametrize(
    "split",
    [_columns.split, _arrays.split, _periods.split],
    ids=["standard", "numpy", "steps"],
)
@pytest.mark.parametrize("name", ["regular", "new style", "steps of every length", "one tag"])
def test_columns_leave_little_to_single_records(name: str, split: Any) -> None:
    """A file of scalars is read as columns, but for a few records that begin or change a layout."""
    records = Records()
    if split is not _columns.split:
        records.stride = _arrays.stride
    count = left = 0
    for block in records.add(FILES[name]):
        _, rest = split(block.data, block.bounds, Templates())
        count += len(block.bounds) - 1
        left += len(rest)
    assert count > 1000
    assert left < count // 2 if name == "steps of every length" else left < count // 20


def test_bounds_are_foretold_and_verified() -> None:
    """Strides find the same bounds as walking, also where the period breaks."""
    long = run(range(0, 120_000, 64), TAGS)
    data = long + FILES["irregular"] + long + scalar("z", 1, 1.0) + long
    walking, striding = Records(), Records()
    strides = []

    def stride(*arguments: Any) -> Any:
        strides.append(_arrays.stride(*arguments))
        return strides[-1]

    striding.stride = stride
    walked = [block.bounds for block in walking.add(data)]
    assert [block.bounds for block in striding.add(data)] == walked
    assert sum(len(each.ends) for each in strides) > sum(map(len, walked)) // 2


def test_small_files_need_neither_numpy_nor_tensorboard(tmp_path: Path) -> None:
    """Reading a log of ordinary size loads none of the large libraries."""
    path = tmp_path / "events"
    path.write_bytes(FILES["regular"] + text("args", '{"lr": 1}'))
    code = (
        "import sys\n"
        "from ppo_top.parsers.tensorboard.parser import TensorBoard\n"
        "batch = TensorBoard().feed(open(sys.argv[1], 'rb').read())\n"
        "assert len(batch.points) == 6 and batch.config == {'lr': 1}\n"
        "loaded = {'numpy', 'tensorboard', 'google', 'torch'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
