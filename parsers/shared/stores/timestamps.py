"""Timestamps of trackers: protocol buffers of seconds and nanoseconds, or ISO 8601."""

from __future__ import annotations

from datetime import UTC, datetime

from ppo_top.model import UNKNOWN_TIME
from ppo_top.parsers.shared.stores.protobuf import ProtobufField, fields, signed


def protobuf_time(data: bytes, message: ProtobufField) -> float:
    """A `google.protobuf.Timestamp` in unix seconds."""
    seconds = nanos = 0
    for field in fields(data, message.start, message.stop):
        if field.number == 1:
            seconds = signed(field.integer)
        elif field.number == 2:
            nanos = signed(field.integer)
    return seconds + nanos / 1e9


def parse_iso_time(text: object) -> float:
    """An ISO 8601 time (UTC without an offset) in unix seconds; NaN if it is invalid."""
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
        if moment is None:
            return UNKNOWN_TIME
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return UNKNOWN_TIME
