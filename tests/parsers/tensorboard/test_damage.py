"""Event files that are cut off, torn, overwritten or hostile: what is whole is still read."""

from __future__ import annotations

import random
import struct
import time
import tracemalloc
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.parsers.tensorboard.crc32c import crc32c, masked
from ppo_top.parsers.tensorboard.parser import NOT_LISTED, TensorBoardParser
from tests.support.event_files import (
    event_file_of_run,
    event_record,
    scalar_record,
    text_record,
    tfrecord,
)
from tests.support.parser_harness import (
    ParserOutput,
    assert_same,
    cut_at,
    feed_parser,
    parse_every_way,
)

HERE = Path(__file__).parents[3]
DEMO = HERE / "demo_logs"
TAGS = ["train/approx_kl", "train/loss", "rollout/ep_rew_mean"]
SMALL = event_file_of_run(range(4), TAGS) + text_record("args", '{"learning_rate": 0.1}')
BAD = "record with a bad checksum skipped"


def bounds(data: bytes) -> list[int]:
    """Where the records of an undamaged file begin, and its end."""
    places = [0]
    while places[-1] < len(data):
        places.append(places[-1] + 16 + struct.unpack_from("<Q", data, places[-1])[0])
    return places


def records(data: bytes) -> list[bytes]:
    """An undamaged file cut into its records."""
    places = bounds(data)
    return [data[start:stop] for start, stop in pairwise(places)]


def read(data: bytes) -> ParserOutput:
    """What the bytes hold, however they are cut."""
    return parse_every_way(TensorBoardParser, data)


def flip(data: bytes, place: int) -> bytes:
    """One bit changed."""
    return data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]


def test_a_file_cut_at_every_byte_goes_on() -> None:
    """A half record waits for its rest, whatever half it is; nothing is a problem meanwhile."""
    whole = feed_parser(TensorBoardParser(), [SMALL])
    places = bounds(SMALL)
    for place in range(len(SMALL) + 1):
        parser = TensorBoardParser()
        first = feed_parser(parser, [SMALL[:place]], finish=False)
        assert not first.problems
        count = max(sum(stop <= place for stop in places[1:]) - 1, 0)
        assert sum(map(len, first.points.values())) == min(count, 12)
        first.add_batch(parser.feed(SMALL[place:]))
        assert_same(first, whole)


def test_a_file_that_ends_in_a_record_says_so_at_its_end() -> None:
    """Only when no byte will follow, with the record's offset."""
    places = bounds(SMALL)
    found = read(SMALL[:-1])
    assert [problem.offset for problem in found.problems] == [places[-2]]
    assert "truncated" in found.problems[0].message


def test_a_record_with_a_bad_checksum_costs_itself_only() -> None:
    """One bit flipped in the payload or its checksum, in every record in turn."""
    parts = records(SMALL)
    places = bounds(SMALL)
    for number, part in enumerate(parts[:-1]):
        for place in (12, len(part) // 2, len(part) - 1):
            damaged = [*parts[:number], flip(part, place), *parts[number + 1 :]]
            found = read(b"".join(damaged))
            rest = feed_parser(TensorBoardParser(), parts[:number] + parts[number + 1 :])
            assert found.problems == [(places[number], BAD)]
            assert found.points == rest.points
            assert found.config == rest.config


def test_a_broken_length_costs_one_record() -> None:
    """The next header that verifies is found, even when the length says 2^60 bytes."""
    parts = records(SMALL)
    places = bounds(SMALL)
    for number in range(len(parts) - 1):
        for place in (0, 7, 9):
            damaged = [*parts[:number], flip(parts[number], place), *parts[number + 1 :]]
            found = read(b"".join(damaged))
            rest = feed_parser(TensorBoardParser(), parts[:number] + parts[number + 1 :])
            assert [problem.offset for problem in found.problems] == [places[number]]
            assert found.points == rest.points


@pytest.mark.parametrize("lost", [1, 5, 11, 12, 13, 30, 40])
def test_a_torn_record_costs_no_other(lost: int) -> None:
    """A disk that was full in the middle of a record: those appended after it are all read."""
    parts = records(SMALL)
    torn = parts[3][:-lost]
    found = read(b"".join([*parts[:3], torn, *parts[4:]]))
    rest = feed_parser(TensorBoardParser(), parts[:3] + parts[4:])
    assert found.points == rest.points
    assert found.config == rest.config
    assert [problem.offset for problem in found.problems] == [bounds(SMALL)[3]]


def test_rubbish_between_records() -> None:
    """Bytes that belong to nothing are reported once and skipped."""
    parts = records(SMALL)
    for rubbish in (
        b"x",
        bytes(7),
        bytes(500),
        b"\x01" + bytes(11),
        random.Random(1).randbytes(999),
    ):
        found = read(b"".join([*parts[:5], rubbish, *parts[5:]]))
        assert found.points == feed_parser(TensorBoardParser(), [SMALL]).points
        assert [problem.offset for problem in found.problems] == [bounds(SMALL)[5]]


def test_only_rubbish() -> None:
    """No point, one problem, and no exception."""
    for data in (bytes(5000), b"\xff" * 5000, random.Random(2).randbytes(5000), b"text\n" * 1000):
        found = read(data)
        assert not found.points
        assert [problem.offset for problem in found.problems] == [0]


def test_a_good_checksum_around_no_event() -> None:
    """A payload that is no message is a problem of its own, and the next record is read."""
    odd = [
        b"\xff" * 5,
        b"\x0a\xff",
        b"\x2a\x05\x0a\x03\x15\x00\x00",
        b"\x0b",
        b"\x08" * 3,
        b"\x0d" * 5,
    ]
    for payload in odd:
        found = read(scalar_record("a", 1, 1.0) + tfrecord(payload) + scalar_record("a", 2, 2.0))
        assert found.steps("a") == [1, 2]
        assert [problem.message.split(":")[0] for problem in found.problems] == ["not an event"]


def test_a_record_too_long_is_not_waited_for() -> None:
    """A huge length with a right checksum: the search continues after its header."""
    length = struct.pack("<Q", 1 << 60)
    head = length + struct.pack("<I", masked(crc32c(length)))
    found = read(
        scalar_record("a", 1, 1.0)
        + head
        + b"abc"
        + scalar_record("a", 2, 2.0)
        + scalar_record("a", 3, 3.0)
    )
    assert found.steps("a") == [1, 2, 3]
    assert ["too long" in problem.message for problem in found.problems] == [True]


@pytest.mark.parametrize("name", ["sb3_cartpole", "torch_cartpole"])
def test_random_damage(name: str) -> None:
    """1,000 seeds of flipped, lost, doubled and overwritten bytes in real logs: never an exception,

    the cut never matters, and every point that is given was written by the trainer.
    """
    (path,) = (DEMO / name).glob("*tfevents*")
    data = path.read_bytes()[:9000]
    written = {
        (tag, *point)
        for tag, points in feed_parser(TensorBoardParser(), [data]).points.items()
        for point in points
    }
    for seed in range(500):
        rng = random.Random(f"{name} {seed}")
        damaged = damage(data, rng)
        found = feed_parser(TensorBoardParser(), [damaged])
        given_points = {(tag, *point) for tag, points in found.points.items() for point in points}
        assert given_points <= written
        assert all(0 <= problem.offset <= len(damaged) for problem in found.problems)
        places = [rng.randrange(len(damaged)) for _ in range(5)]
        assert_same(feed_parser(TensorBoardParser(), cut_at(damaged, places)), found)


def damage(data: bytes, rng: random.Random) -> bytes:
    """One to four accidents."""
    damaged = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(damaged))
        stop = min(len(damaged), start + rng.choice([1, 3, 20, 400]))
        kind = rng.randrange(4)
        if kind == 0:
            damaged[start] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del damaged[start:stop]
        elif kind == 2:
            damaged[start:start] = damaged[start:stop]
        else:
            damaged[start:stop] = bytes(stop - start)
    return bytes(damaged)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.binary(max_size=60), max_size=6), st.lists(st.integers(0, 400), max_size=4))
def test_any_payload_with_good_checksums(payloads: list[bytes], places: list[int]) -> None:
    """Hostile messages in sound records: no exception, and the cut never matters."""
    data = b"".join(map(tfrecord, payloads)) + scalar_record("a", 1, 1.0)
    found = feed_parser(TensorBoardParser(), [data])
    assert found.values("a")[-1:] == [1.0]
    assert_same(feed_parser(TensorBoardParser(), cut_at(data, places)), found)


def test_a_writer_that_leaves_half_records() -> None:
    """tensorboardX writes through a buffer: pieces of 4 KiB that end in the middle of a record."""
    data = event_file_of_run(range(300), TAGS)
    parser = TensorBoardParser()
    seen = ParserOutput()
    for start in range(0, len(data), 4096):
        seen.add_batch(parser.feed(data[start : start + 4096]))
        whole = [stop for stop in bounds(data)[2:] if stop <= start + 4096]
        assert sum(map(len, seen.points.values())) == len(whole)
    assert_same(seen, feed_parser(TensorBoardParser(), [data]))


def test_damage_without_end_is_told_once() -> None:
    """Ten thousand damaged records: the first thousand are listed, the rest is one remark."""
    part = flip(scalar_record("a", 1, 1.0), 20)
    data = part * 10_000 + scalar_record("a", 2, 2.0)
    found = feed_parser(TensorBoardParser(), [data])
    assert found.steps("a") == [2]
    assert len(found.problems) == 1001
    assert found.problems[-1] == (1000 * len(part), NOT_LISTED)
    assert feed_parser(TensorBoardParser(), cut_at(data, [5, 70_000])).problems == found.problems


def test_each_intact_record_between_damaged_ones_is_read_once() -> None:
    """However many records of a tag are damaged: a fifth of four thousand here."""
    records = [scalar_record("a", step, 1.0) for step in range(1, 4001)]
    data = b"".join(flip(each, 20) if n % 5 == 2 else each for n, each in enumerate(records))
    intact = [step for step in range(1, 4001) if step % 5 != 3]
    assert feed_parser(TensorBoardParser(), [data]).steps("a") == intact
    assert feed_parser(TensorBoardParser(), cut_at(data, [5, 70_000])).steps("a") == intact


@pytest.mark.parametrize(
    "unit",
    [
        bytes(64),
        b"\x01" + bytes(7),
        b"\xff" * 64,
        struct.pack("<QI", 0, masked(crc32c(bytes(8)))),
        struct.pack("<QI", 0, masked(crc32c(bytes(8)))) + b"abcd",
        flip(event_record(), 13),
    ],
    ids=["zeros", "almost headers", "ones", "headers only", "empty and damaged", "damaged"],
)
def test_hostile_files_take_bounded_time_and_memory(unit: bytes) -> None:
    """A quarter of a megabyte of the worst: seconds, and memory of some ten times a piece."""
    data = unit * ((1 << 18) // len(unit))
    begun = time.process_time()
    feed_parser(TensorBoardParser(), cut_at(data, range(0, len(data), 1 << 16)))
    assert time.process_time() - begun < 5
    tracemalloc.start()
    try:
        feed_parser(TensorBoardParser(), cut_at(data[: 1 << 17], [1 << 16]))
        assert tracemalloc.get_traced_memory()[1] < 6 << 20
    finally:
        tracemalloc.stop()


def test_a_long_record_in_small_pieces_is_joined_once() -> None:
    """Eight megabytes of image in pieces of a kilobyte: linear, not quadratic."""
    data = tfrecord(b"\x22" + b"\x80\x80\x80\x04" + bytes(8 << 20)) + scalar_record("a", 1, 1.0)
    begun = time.process_time()
    found = feed_parser(TensorBoardParser(), cut_at(data, range(0, len(data), 1024)))
    assert found.steps("a") == [1]
    assert not found.problems
    assert time.process_time() - begun < 5
