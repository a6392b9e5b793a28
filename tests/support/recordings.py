"""Recorded logs of real writers, and ways to damage them."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ppo_top.parsers.base import Parser
from tests.support.parser_harness import ParserOutput, assert_same, feed_parser

PAGE_BYTES = 512
"""A page of a shrunk database: the smallest that SQLite has."""

DATA_FOLDER = Path(__file__).parent.parent / "data"


def recorded_file(folder: str, pattern: str) -> Path:
    """The only file of a recorded run that fits the pattern."""
    (found,) = (DATA_FOLDER / folder).glob(pattern)
    return found


def recorded_points(folder: str, name: str = "expected") -> list[dict[str, Any]]:
    """The points that the format's own reader finds, in file order."""
    text = (DATA_FOLDER / folder / f"{name}.points").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def comparable_columns(rows: list[dict[str, Any]]) -> dict[str, list[tuple[int, str, str]]]:
    """Expected points by tag, spelt as `ParserOutput.points` spells them."""
    found: dict[str, list[tuple[int, str, str]]] = {}
    for row in rows:
        point = (row["step"], repr(float(row["time"])), repr(float(row["value"])))
        found.setdefault(row["tag"], []).append(point)
    return found


def damaged_bytes(data: bytes, seed: int) -> bytes:
    """The bytes with a few of them changed, removed, inserted or zeroed."""
    draw = random.Random(seed)
    broken = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 5, 20))):
        offset = draw.randrange(len(broken))
        kind = draw.randrange(5)
        if kind == 0:
            broken[offset] ^= 1 << draw.randrange(8)
        elif kind == 1:
            broken[offset] = draw.randrange(256)
        elif kind == 2:
            del broken[offset : offset + draw.choice((1, 3, 100, 5000))]
        elif kind == 3:
            broken[offset:offset] = draw.randbytes(draw.choice((1, 7, 200)))
        else:
            size = draw.choice((4, 64, 4096))
            broken[offset : offset + size] = bytes(len(broken[offset : offset + size]))
        if not broken:
            broken = bytearray(b"\0")
    return bytes(broken)


def assert_truncation_is_harmless(make: type[Parser], data: bytes, stride: int = 1) -> None:
    """Cut at each offset: the points before it stay, and the rest completes them."""
    whole = feed_parser(make(), [data])
    for offset in range(0, len(data), stride):
        parser = make()
        read = ParserOutput()
        read.add_batch(parser.feed(data[:offset]))
        for tag, points in read.points.items():
            assert whole.points[tag][: len(points)] == points
        read.add_batch(parser.feed(data[offset:]))
        read.add_batch(parser.finish())
        assert_same(read, whole)
        feed_parser(make(), [data[:offset]])  # finished there: no exception


def cuts_of_pages(size: int) -> Iterator[int]:
    """Every seventh byte of a shrunk database, and each around the beginnings of its pages."""
    return (place for place in range(size) if place % 7 == 0 or (place + 24) % PAGE_BYTES < 48)


def shrink_database(source: Path, target: Path, tables: dict[str, int]) -> None:
    """The first rows of some tables of a recorded database, on the smallest pages there are."""
    whole = sqlite3.connect(f"file:{source}?immutable=1", uri=True)
    small = sqlite3.connect(target, isolation_level=None)
    small.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    for table, rows in tables.items():
        small.execute(
            *whole.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        )
        for row in whole.execute(f"SELECT * FROM {table} LIMIT {rows}"):
            small.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    whole.close()
    small.close()


@contextmanager
def memory_folder() -> Iterator[Path]:
    """A folder in memory, if there is one; private copies go there too."""
    shared = "/dev/shm"
    parent = shared if os.access(shared, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        before, tempfile.tempdir = tempfile.tempdir, folder
        try:
            yield Path(folder)
        finally:
            tempfile.tempdir = before
