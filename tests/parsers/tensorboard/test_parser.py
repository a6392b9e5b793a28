"""TensorBoard event files: every kind of value, against TensorBoard's own reader."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.histogram_pb2 import HistogramProto
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.plugins.distribution.compressor import (
    compress_histogram,
    compress_histogram_proto,
)
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from ppo_top import parsers
from ppo_top.parsers.tensorboard.parser import FORMAT, TensorBoardParser
from tests.support.event_files import (
    EVENT_TIME,
    event_file_of_run,
    event_record,
    plugin_metadata,
    scalar_record,
    scalars_by_tensorboard,
    tensor_record,
    tfrecord,
)
from tests.support.parser_harness import ParserOutput, cut_at, feed_parser, parse_every_way

HERE = Path(__file__).parents[3]
DEMO = sorted(HERE.glob("demo_logs/**/*tfevents*"))
NUMBERS = st.floats(allow_nan=True, allow_infinity=True)
TAGS = st.sampled_from(["a", "b", "train/approx_kl", "train/approx_ku", "α β", "x" * 200, ""])
STEPS = st.one_of(
    st.integers(0, 300),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([127, 128, 16383, 16384, 2**21 - 1, 2**21, 2**56, 2**63 - 1]),
)
PERCENTS = (100, 5000, 9900, 10_000)
"""TensorBoard's compressor scales by the last one."""


def read(*records: bytes) -> ParserOutput:
    """What the records hold, however they are cut."""
    return parse_every_way(TensorBoardParser, b"".join(records))


@pytest.mark.parametrize("path", DEMO, ids=lambda path: path.parent.name)
def test_demo_logs_read_as_tensorboard_reads_them(path: Path) -> None:
    """Every scalar of every shipped event file, step by step and bit by bit."""
    whole = feed_parser(TensorBoardParser(), [path.read_bytes()])
    expected = scalars_by_tensorboard(path)
    assert expected
    assert {tag: whole.points[tag] for tag in whole.points if "@" not in tag} == expected
    assert not whole.problems


def test_there_are_demo_logs() -> None:
    """The test above has something to read."""
    assert len(DEMO) >= 8


def test_tensorboards_own_writer(tmp_path: Path) -> None:
    """A file by EventFileWriter, with NaN, infinities, step 0 and negative steps."""
    writer = EventFileWriter(str(tmp_path))
    values = [0.1, float("nan"), float("inf"), float("-inf"), -0.0, 1e-45, 3.4e38]
    for step, value in enumerate(values, -2):
        summary = Summary(value=[Summary.Value(tag="train/loss", simple_value=value)])
        writer.add_event(Event(wall_time=EVENT_TIME + step, step=step, summary=summary))
    writer.close()
    (path,) = tmp_path.iterdir()
    found = parse_every_way(TensorBoardParser, path.read_bytes())
    assert found.points == scalars_by_tensorboard(path)
    assert found.steps("train/loss") == list(range(-2, 5))


@settings(deadline=None, max_examples=60)
@given(
    points=st.lists(
        st.tuples(TAGS, STEPS, NUMBERS, st.floats(width=32), st.booleans()), max_size=40
    ),
    places=st.lists(st.integers(0, 6000), max_size=8),
)
def test_any_cut_gives_the_same(points: list[Any], places: list[int]) -> None:
    """Random tags, steps, times and values in both forms, cut anywhere, are read exactly."""
    records = [event_record(file_version="brain.Event:2")]
    expected: dict[str, list[Any]] = {}
    for tag, step, time, value, new in points:
        proto = TensorProto(dtype=1, float_val=[value])
        form: dict[str, Any] = {"tensor": proto} if new else {"simple_value": value}
        records.append(event_record(Summary.Value(tag=tag, **form), step=step, time=time))
        expected.setdefault(tag, []).append((step, repr(time), repr(value)))
    found = feed_parser(TensorBoardParser(), cut_at(b"".join(records), places))
    assert found.points == expected
    assert found.problems == []


@pytest.mark.parametrize("path", [DEMO[0], DEMO[-1]], ids=lambda path: path.parent.name)
@settings(deadline=None, max_examples=15)
@given(places=st.lists(st.integers(0, 30_000), max_size=20))
def test_any_cut_of_real_logs(path: Path, places: list[int]) -> None:
    """Logs of real trainers, cut anywhere."""
    data = path.read_bytes()
    whole = feed_parser(TensorBoardParser(), [data])
    found = feed_parser(TensorBoardParser(), cut_at(data, places))
    assert found.points == whole.points
    assert found.config == whole.config
    assert found.problems == whole.problems == []


def content(kind: int, data: bytes) -> TensorProto:
    """A tensor whose element is packed as in memory."""
    return TensorProto(dtype=kind, tensor_content=data)


@pytest.mark.parametrize(
    ("proto", "value"),
    [
        (TensorProto(dtype=1, float_val=[0.25]), 0.25),
        (TensorProto(dtype=2, double_val=[0.1]), 0.1),
        (TensorProto(dtype=3, int_val=[-7]), -7.0),
        (TensorProto(dtype=4, int_val=[200]), 200.0),
        (TensorProto(dtype=9, int64_val=[-(2**40)]), -(2.0**40)),
        (TensorProto(dtype=10, bool_val=[True]), 1.0),
        (TensorProto(dtype=14, half_val=[0x3FC0]), 1.5),
        (TensorProto(dtype=19, half_val=[0xC100]), -2.5),
        (TensorProto(dtype=22, uint32_val=[4_000_000_000]), 4e9),
        (TensorProto(dtype=23, uint64_val=[2**63]), 2.0**63),
        (content(1, struct.pack("<f", 0.5)), 0.5),
        (content(2, struct.pack("<d", float("inf"))), float("inf")),
        (content(3, struct.pack("<i", -3)), -3.0),
        (content(5, struct.pack("<h", -300)), -300.0),
        (content(9, struct.pack("<q", 2**50)), 2.0**50),
        (content(14, b"\xc0\x3f"), 1.5),
        (content(19, np.float16(0.1).tobytes()), float(np.float16(0.1))),
    ],
    ids=lambda each: f"type {each.dtype}" if isinstance(each, TensorProto) else "",
)
def test_tensor_scalars(proto: TensorProto, value: float) -> None:
    """Every numeric type, as a list of one and as bytes in memory."""
    found = read(*(tensor_record("train/x", step, proto) for step in range(50)))
    assert found.values("train/x") == [value] * 50
    assert found.steps("train/x") == list(range(50))


def test_metadata_may_stand_with_the_first_value_only() -> None:
    """TensorFlow names the plugin once; the values after it are scalars all the same."""
    values = [TensorProto(dtype=1, float_val=[step / 2]) for step in range(40)]
    records = [tensor_record("loss", step, value, "") for step, value in enumerate(values)]
    records[0] = tensor_record("loss", 0, values[0])
    assert read(*records).values("loss") == [step / 2 for step in range(40)]


def test_several_values_in_one_event() -> None:
    """A summary of many values, some of one tag: all at the event's step, in their order."""
    pairs = [("a", 1.0), ("b", 2.0), ("a", 3.0)]
    values = [Summary.Value(tag=tag, simple_value=value) for tag, value in pairs]
    found = read(event_record(*values, step=5), event_record(*values, step=4))
    assert found.values_by_step() == {
        "a": [(5, 1.0), (5, 3.0), (4, 1.0), (4, 3.0)],
        "b": [(5, 2.0), (4, 2.0)],
    }


def test_resumed_runs_keep_every_point() -> None:
    """Steps that were written twice are both given."""
    start = SessionLog(status=SessionLog.START)
    records = [
        event_file_of_run(range(100), ["a"]),
        event_record(step=50, session_log=start),
        event_file_of_run(range(50, 80), ["a"]),
    ]
    assert read(*records).steps("a") == [*range(100), *range(50, 80)]


def histogram(values: list[float], limits: list[float]) -> HistogramProto:
    """A histogram as torch makes it: counts of the values below each limit."""
    counts = np.histogram(values, [-1e20, *limits])[0].astype(float)
    return HistogramProto(
        min=min(values), max=max(values), num=len(values), bucket_limit=limits, bucket=counts
    )


def test_histograms_become_quantiles() -> None:
    """The same numbers as TensorBoard's distributions page, and the extremes."""
    values = np.random.default_rng(3).normal(size=1000).tolist()
    proto = histogram(values, np.linspace(-3, 5, 60).tolist())
    found = read(event_record(Summary.Value(tag="w", histo=proto), step=7))
    expected = [value for _, value in compress_histogram_proto(proto, PERCENTS)[:3]]
    assert [found.values(f"w@{name}") for name in ("p1", "p50", "p99")] == [[x] for x in expected]
    assert found.values("w@max") == [max(values)]
    assert found.values("w@min") == [min(values)]
    assert found.steps("w@p50") == [7]


def test_histograms_as_tensors() -> None:
    """The new form: rows of left edge, right edge and count; the plugin named once."""
    rows = np.array([[0.0, 1.0, 5.0], [1.0, 2.0, 90.0], [2.0, 4.0, 5.0]])
    proto = TensorProto(dtype=2, tensor_content=rows.tobytes())
    for size in rows.shape:
        proto.tensor_shape.dim.add(size=size)
    found = read(tensor_record("w", 1, proto, "histograms"), tensor_record("w", 2, proto, ""))
    expected = [value for _, value in compress_histogram(rows, PERCENTS)[:3]]
    assert [found.values(f"w@{name}") for name in ("p1", "p50", "p99")] == [
        [x, x] for x in expected
    ]
    assert found.values("w@max") == [4.0, 4.0]
    assert found.values("w@min") == [0.0, 0.0]


def test_the_newest_histogram_of_a_tag_is_kept_whole() -> None:
    """Of three in one chunk the last one, whose buckets are all there."""
    protos = [histogram([0.1, 0.4, float(last)], [0.0, 1.0, 5.0]) for last in (1, 2, 3)]
    records = [
        event_record(Summary.Value(tag="w", histo=proto), step=step)
        for step, proto in enumerate(protos)
    ]
    [(tag, kept)] = TensorBoardParser().feed(b"".join(records)).histograms.items()
    assert tag == "w"
    assert (kept.low, kept.high, kept.counts) == (0.1, 3.0, [0.0, 2.0, 1.0])


@given(
    counts=st.lists(st.integers(0, 9), min_size=1, max_size=8),
    edges=st.lists(st.floats(-1e6, 1e6), min_size=10, max_size=10, unique=True),
)
def test_quantiles_of_any_histogram(counts: list[int], edges: list[float]) -> None:
    """Empty buckets at any place; an empty histogram has no quantile."""
    edges = sorted(edges)
    proto = HistogramProto(
        min=edges[0], max=edges[-1], num=sum(counts), bucket=counts, bucket_limit=edges[1:]
    )
    found = feed_parser(TensorBoardParser(), [event_record(Summary.Value(tag="w", histo=proto))])
    if not any(counts):
        assert not found.points
        return
    expected = [value for _, value in compress_histogram_proto(proto, PERCENTS)[:3]]
    assert [found.values(f"w@p{each}")[0] for each in (1, 50, 99)] == expected


def test_histograms_of_nonsense() -> None:
    """Infinite and missing numbers give what arithmetic gives, never an exception."""
    odd = [float("nan"), float("inf"), float("-inf"), -1.0, 0.0]
    proto = HistogramProto(min=odd[0], max=odd[1], num=1, bucket=odd, bucket_limit=odd[:3])
    found = read(event_record(Summary.Value(tag="w", histo=proto)))
    assert found.values("w@max") == [float("inf")]
    assert not found.problems


def test_what_is_not_charted_is_passed_over() -> None:
    """Graphs, images, audio, log messages, meshes: no point, no problem."""
    mesh = TensorProto(dtype=1, tensor_content=bytes(4 * 600_000))
    mesh.tensor_shape.dim.add(size=600_000)
    found = feed_parser(
        TensorBoardParser(),
        [
            event_record(graph_def=b"\x0a\x03abc"),
            event_record(Summary.Value(tag="i", image=Summary.Image(height=1, width=1))),
            event_record(Summary.Value(tag="s", audio=Summary.Audio(sample_rate=1.0))),
            tensor_record("m", 1, mesh, "mesh"),
            event_record(Summary.Value(tag="c", metadata=plugin_metadata("custom_scalars", b"x"))),
            event_record(),
            tfrecord(b""),
            scalar_record("a", 3, 0.5),
        ],
    )
    assert found.values_by_step() == {"a": [(3, 0.5)]}
    assert not found.problems


def test_tags_of_all_kinds() -> None:
    """Spaces, slashes, other alphabets, control characters and bytes that are no text."""
    tags = ["Loss / Policy loss", "/lead", "тег", "a\nb\x1b[2J", "", "t" * 5000]
    found = read(*(scalar_record(tag, step, 1.0) for tag in tags for step in range(3)))
    assert list(found.points) == tags
    payload = b"\x09" + bytes(8) + b"\x2a\x0b\x0a\x09\x0a\x02\xff\xfe\x15\x00\x00\x80\x3f"
    assert read(tfrecord(payload)).values("\\xff\\xfe") == [1.0]


def test_claims_what_is_an_event_file() -> None:
    """The full name is enough, even for an empty file; a part of it needs a good header."""
    head = event_file_of_run([1], ["a"])
    assert parsers.detect_format("events.out.tfevents.1700000000.host.1.0", head) is FORMAT
    assert parsers.detect_format("events.out.tfevents.1700000000.a.b.c", b"") is FORMAT
    assert parsers.detect_format("events.out.tfevents.1700000000.host.gz", b"\x1f\x8b\x08") is False
    assert FORMAT.claims("x.tfevents", head) is True
    assert FORMAT.claims("x.tfevents", head[:11]) is None
    assert FORMAT.claims("read_tfevents.py", b"import struct\n") is False
