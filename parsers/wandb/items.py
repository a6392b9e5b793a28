"""Rows of W&B's history and items of its configuration: names with values in JSON."""

from __future__ import annotations

from typing import Any

from ppo_top.parsers.shared.documents.json_values import parse_json
from ppo_top.parsers.shared.stores.protobuf import BYTES, ProtobufField, double, fields, text

NamePath = tuple[str, ...]
HistoryItem = tuple[NamePath, Any]
"""A value under its nested name."""

KnownNames = dict[bytes, NamePath]
"""Names that were met, by their bytes."""

_MAX_KNOWN_NAMES = 20_000
_VALUE_JSON_KEY = b"\x82\x01"
"""The key of `value_json`."""


def read_row(data: bytes, message: ProtobufField, names: KnownNames) -> list[HistoryItem]:
    """The values of a row; the parts of a histogram, which come apart, as one value."""
    items: list[HistoryItem] = []
    at, stop = message.start, message.stop
    while at < stop:
        end = _read_plain_item(data, at, stop, names, items)
        if not end:
            field = next(fields(data, at, stop))
            end = field.stop
            if field.number == 1 and field.wire_type == BYTES and (item := read_item(data, field)):
                items.append(item)
        at = end
    typed = {path[:-1] for path, _ in items if path[-1] == "_type"}
    return _join_typed(items, typed) if typed else items


def _read_plain_item(
    data: bytes, at: int, stop: int, names: KnownNames, items: list[HistoryItem]
) -> int:
    """Fast path for the usual item: one name, one number, no length above 127.

    Adds it and returns the position after it; 0 for any other item.
    """
    head = data[at : at + 4]  # item, its length, name, its length
    if len(head) < 4 or head[0] != 10 or head[1] > 127 or head[3] > 127 or head[2] not in (10, 18):
        return 0
    end = at + 2 + head[1]
    middle = at + 4 + head[3]
    if (
        end > stop
        or data[middle : middle + 2] != _VALUE_JSON_KEY
        or middle + 3 + data[middle + 2] != end
    ):
        return 0
    words = data[at + 4 : middle]
    path = names.get(words)
    if path is None:
        if len(names) >= _MAX_KNOWN_NAMES or not words:
            return 0
        path = names[words] = (words.decode(errors="backslashreplace"),)
    value = _parse_value(data[middle + 3 : end])
    if value is not None:
        items.append((path, value))
    return end


def _join_typed(items: list[HistoryItem], typed: set[NamePath]) -> list[HistoryItem]:
    """Join the parts of typed objects (histograms, files) to one value each."""
    objects: dict[NamePath, dict[str, Any]] = {path: {} for path in typed}
    alone = []
    for path, value in items:
        inside = next((path[:end] for end in range(1, len(path)) if path[:end] in objects), None)
        if inside is None:
            alone.append((path, value))
        elif len(path) == len(inside) + 1:
            objects[inside][path[-1]] = value
    return alone + list(objects.items())


def read_item(data: bytes, item: ProtobufField) -> HistoryItem | None:
    """One value with its name: as JSON, or in the typed fields of newer versions."""
    key, nested, value = "", [], None
    for field in fields(data, item.start, item.stop):
        if field.number == 16:
            value = _parse_value(data[field.start : field.stop])
        elif field.number == 1:
            key = text(data, field)
        elif field.number == 2:
            nested.append(text(data, field))
        elif field.number in (4, 5, 6, 8):
            value = _read_typed_value(data, field)
    path = tuple(nested) or (key,)
    return (path, value) if value is not None and path != ("",) else None


def _parse_value(words: bytes) -> Any:
    """A number or any JSON value; None if it is neither."""
    if len(words) < 40:
        try:
            return int(words) if words.isdigit() else float(words)
        except ValueError:
            pass
    try:
        return parse_json(words)
    except ValueError:
        return None


def _read_typed_value(data: bytes, field: ProtobufField) -> Any:
    if field.number == 4:
        return bool(field.integer)
    if field.number == 5:
        return field.integer >> 1 ^ -(field.integer & 1)  # zigzag: the sign is the last bit
    return (
        double(data, field) if field.number == 6 else _parse_value(data[field.start : field.stop])
    )
