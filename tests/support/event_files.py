"""Makes small event files with TensorBoard's own messages, and reads files with its own reader."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c
from tensorboard.util import tensor_util

from tests.support.parser_harness import ComparablePoint

EVENT_TIME = 1_795_000_000.25
NO_SIZE_LIMITS = dict.fromkeys(
    ("scalars", "histograms", "compressedHistograms", "tensors", "images", "audio"), 0
)


def tfrecord(payload: bytes) -> bytes:
    """One record, with checksums by TensorBoard's own function."""
    length = struct.pack("<Q", len(payload))
    header = length + struct.pack("<I", masked_crc32c(length))
    return header + payload + struct.pack("<I", masked_crc32c(payload))


def event_record(*values: Any, step: int = 0, time: float = EVENT_TIME, **others: Any) -> bytes:
    """One event with these summary values, as a record."""
    summary = Summary(value=values) if values else None
    message = Event(wall_time=time, step=step, summary=summary, **others)
    return tfrecord(message.SerializeToString())


def scalar_record(tag: str, step: int, value: float, time: float = EVENT_TIME) -> bytes:
    """A scalar as torch writes it."""
    return event_record(Summary.Value(tag=tag, simple_value=value), step=step, time=time)


def tensor_record(tag: str, step: int, proto: TensorProto, plugin: str = "scalars") -> bytes:
    """A tensor value; without a plugin's name there is no metadata."""
    value = Summary.Value(tag=tag, tensor=proto)
    if plugin:
        value.metadata.CopyFrom(plugin_metadata(plugin))
    return event_record(value, step=step)


def plugin_metadata(plugin: str, content: bytes = b"") -> SummaryMetadata:
    """What a plugin writes with its first value."""
    data = SummaryMetadata.PluginData(plugin_name=plugin, content=content)
    return SummaryMetadata(plugin_data=data)


def text_record(tag: str, words: str) -> bytes:
    """A text summary as torch writes it: its tag gets a suffix."""
    proto = TensorProto(dtype=7, string_val=[words.encode()])
    proto.tensor_shape.dim.add(size=1)
    return tensor_record(f"{tag}/text_summary", 0, proto, "text")


def event_file_of_run(steps: Iterable[int], tags: Iterable[str]) -> bytes:
    """A file version, then every tag at every step in turn, all with different values."""
    names = list(tags)
    head = event_record(file_version="brain.Event:2")
    return head + b"".join(
        scalar_record(tag, step, step * 0.1 + number, EVENT_TIME + step + number / 8)
        for step in steps
        for number, tag in enumerate(names)
    )


def scalars_by_tensorboard(path: Path) -> dict[str, list[ComparablePoint]]:
    """All scalars of a file as TensorBoard's own reader gives them."""
    read = EventAccumulator(str(path), NO_SIZE_LIMITS, purge_orphaned_data=False).Reload()
    found = {
        tag: [(each.step, repr(each.wall_time), repr(each.value)) for each in read.Scalars(tag)]
        for tag in read.Tags()["scalars"]
    }
    for tag in read.Tags()["tensors"]:
        if read.SummaryMetadata(tag).plugin_data.plugin_name == "scalars":
            found.setdefault(tag, []).extend(
                (each.step, repr(each.wall_time), repr(_number(each.tensor_proto)))
                for each in read.Tensors(tag)
            )
    return found


def _number(proto: TensorProto) -> float:
    return float(tensor_util.make_ndarray(proto).item())
