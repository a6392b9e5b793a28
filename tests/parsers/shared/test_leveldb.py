"""The framing that W&B and SwanLab share: any cut, any damage, bounded memory."""

from __future__ import annotations

import random
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.model import Problem
from ppo_top.parsers.shared.stores.leveldb import (
    FIRST_PART,
    FULL_PART,
    LAST_PART,
    LEVELDB_BLOCK_BYTES,
    MAX_LEVELDB_RECORD_BYTES,
    MIDDLE_PART,
    PART_HEADER_BYTES,
    LevelDbReader,
    LevelDbRecord,
)
from tests.support.leveldb_files import leveldb_file, leveldb_part
from tests.support.parser_harness import chunks, cut_at

IDENT = b":W&B\xe1\xbe"


def written(records: list[bytes]) -> bytes:
    """A file that holds the records, cut at the blocks as LevelDB's format says."""
    return leveldb_file(IDENT + b"\0", records)


def read(pieces: list[bytes]) -> tuple[list[bytes], list[Problem]]:
    """Everything that a log gives for the pieces and their end."""
    log = LevelDbReader(IDENT)
    found = [each for piece in pieces for each in log.add_bytes(piece)] + list(log.finish())
    records = [each.data for each in found if isinstance(each, LevelDbRecord)]
    return records, [each for each in found if isinstance(each, Problem)]


def several(seed: int = 1) -> list[bytes]:
    """Records of all kinds of size, among them ones that just fit a block's end."""
    draw = random.Random(seed)
    sizes = [
        0,
        1,
        100,
        LEVELDB_BLOCK_BYTES - 300,
        183,
        5,
        LEVELDB_BLOCK_BYTES * 3,
        0,
        2 * LEVELDB_BLOCK_BYTES - 20,
        7,
        40000,
    ]
    return [draw.randbytes(size) for size in sizes]


def test_records_of_every_size_come_back() -> None:
    """Small ones, empty ones and ones over several blocks are read as they were written."""
    assert read([written(several())]) == (several(), [])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 400_000), max_size=6))
def test_any_cut_gives_the_same(places: list[int]) -> None:
    """However the bytes arrive, the records are the same."""
    assert read(list(cut_at(written(several()), places))) == (several(), [])


def test_byte_by_byte_is_linear() -> None:
    """A block that arrives in single bytes is not read again for each of them."""
    data = written([bytes(20_000)])
    begin = time.perf_counter()
    assert read(list(chunks(data, 1))) == ([bytes(20_000)], [])
    assert time.perf_counter() - begin < 2


def test_a_damaged_record_costs_only_itself() -> None:
    """A flipped bit loses one record; those around it are read, and its offset is reported."""
    records = [bytes([65 + number]) * 50 for number in range(10)]
    data = bytearray(written(records))
    place = data.index(b"DDDD") + 10
    data[place] ^= 1
    found, problems = read([bytes(data)])
    assert found == records[:3] + records[4:]
    assert len(problems) == 1
    assert problems[0].offset <= place < problems[0].offset + 57
    assert "57 damaged bytes" in problems[0].message


def test_a_damaged_length_costs_only_its_record() -> None:
    """The next part is found by its checksum, although the length before it is wrong."""
    records = [bytes([65 + number]) * 50 for number in range(10)]
    data = bytearray(written(records))
    header = data.index(b"DDDD") - PART_HEADER_BYTES
    data[header + 4 : header + 6] = b"\xff\xff"
    found, problems = read([bytes(data) + bytes(LEVELDB_BLOCK_BYTES - len(data))])
    assert found == records[:3] + records[4:]
    assert problems[0].offset == header


def test_parts_without_their_neighbours_are_reported() -> None:
    """A first part without a last one and a last one without a first are problems, not records."""
    data = (
        IDENT
        + b"\0"
        + leveldb_part(FIRST_PART, b"one")
        + leveldb_part(FULL_PART, b"two")
        + leveldb_part(LAST_PART, b"three")
    )
    found, problems = read([data])
    assert found == [b"two"]
    assert [each.offset for each in problems] == [7, 7 + 10 + 10]


def test_an_unfinished_record_is_told_at_the_end_only() -> None:
    """What has no end yet is no problem while the file may grow."""
    data = written([b"x" * 100])
    log = LevelDbReader(IDENT)
    assert list(log.add_bytes(data[:60])) == []
    assert [type(each) for each in log.finish()] == [Problem]


def test_endless_records_do_not_fill_the_memory() -> None:
    """Parts that never end are dropped once they are too many; what follows is read."""
    block = leveldb_part(MIDDLE_PART, bytes(LEVELDB_BLOCK_BYTES - PART_HEADER_BYTES))
    log = LevelDbReader(IDENT)
    found = list(
        log.add_bytes(
            IDENT
            + b"\0"
            + leveldb_part(FIRST_PART, bytes(LEVELDB_BLOCK_BYTES - 2 * PART_HEADER_BYTES))
        )
    )
    for _ in range(MAX_LEVELDB_RECORD_BYTES // LEVELDB_BLOCK_BYTES + 5):
        found += list(log.add_bytes(block))
        assert sum(map(len, log._record_parts)) <= MAX_LEVELDB_RECORD_BYTES + LEVELDB_BLOCK_BYTES
    found += list(log.add_bytes(leveldb_part(LAST_PART, b"") + leveldb_part(FULL_PART, b"next")))
    assert [type(each) for each in found] == [Problem, LevelDbRecord]


def test_bytes_made_to_be_searched_are_searched_in_bounded_time() -> None:
    """A block in which a part seems to begin at every place is given up, not checked for hours."""
    data = IDENT + b"\0" + b"\x01\x40\x01" * 21_845
    begin = time.perf_counter()
    found, problems = read([data])
    assert found == []
    assert problems
    assert time.perf_counter() - begin < 3
