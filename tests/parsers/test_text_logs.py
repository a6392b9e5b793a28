"""What every text format promises, tried on every recorded log that one of them claims."""

from __future__ import annotations

import random
import tracemalloc
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ppo_top.parsers import detect_format
from ppo_top.parsers.base import HEAD_BYTES, Format
from tests.support.parser_harness import ParserOutput, assert_same, chunks, cut_at, feed_parser

HERE = Path(__file__).parents[2]
TEXT = {
    "console",
    "csv",
    "sb3-csv",
    "sb3-monitor",
    "jsonl",
    "trainer-state",
    "settings-yaml",
    "settings-json",
}
LARGEST = 2_000_000
SMALL = 1000


def logs() -> list[Path]:
    """Every recorded file of a text format."""
    found = []
    for folder in (HERE / "demo_logs", HERE / "tests" / "data"):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.stat().st_size < LARGEST and format_of(path) is not None:
                found.append(path)
    return found


def format_of(path: Path) -> Format | None:
    """The text format that claims a file, if one does."""
    with path.open("rb") as file:
        found = detect_format(path.name, file.read(HEAD_BYTES))
    return found if isinstance(found, Format) and found.name in TEXT else None


@cache
def whole(path: Path) -> tuple[Format, bytes, ParserOutput]:
    """A file's format, its bytes and what reading it at once gives."""
    found = format_of(path)
    assert found is not None
    assert found.parser is not None
    data = path.read_bytes()
    return found, data, feed_parser(found.parser(), [data])


def named(path: Path) -> str:
    """A short name for a test of this file."""
    return str(path.relative_to(HERE))


LOGS = logs()
BY_SIZE = sorted(LOGS, key=lambda path: path.stat().st_size)
LARGEST_OF_EACH = list({whole(path)[0].name: path for path in BY_SIZE}.values())
ONE_OF_EACH = [
    *LARGEST_OF_EACH,
    HERE / "demo_logs" / "sb3_cartpole" / "stdout.log",
    HERE / "demo_logs" / "torch_cartpole_nan" / "stdout.log",
    HERE / "tests" / "data" / "rsl_rl_5.5.1" / "ppo" / "console.log",
]


@pytest.mark.parametrize("path", LOGS, ids=named)
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_cut_gives_the_same(path: Path, data: st.DataObject) -> None:
    """However the bytes arrive, points, lines, settings, problems and end are the same."""
    found, log, expected = whole(path)
    assert found.parser is not None
    places = data.draw(st.lists(st.integers(0, len(log)), max_size=12))
    assert_same(feed_parser(found.parser(), cut_at(log, places)), expected)


@pytest.mark.parametrize("path", ONE_OF_EACH, ids=named)
def test_bytes_one_by_one_give_the_same(path: Path) -> None:
    """One byte at a time is a cut like any other."""
    found, log, _ = whole(path)
    assert found.parser is not None
    short = log[:60_000]
    assert_same(feed_parser(found.parser(), chunks(short, 1)), feed_parser(found.parser(), [short]))


@pytest.mark.parametrize("path", ONE_OF_EACH, ids=named)
def test_a_log_cut_short_anywhere_is_read_on_when_the_rest_comes(path: Path) -> None:
    """Truncated at every byte: no error, nothing invented; with the rest, the same points."""
    found, log, _ = whole(path)
    assert found.parser is not None
    log = log[:SMALL]
    expected = feed_parser(found.parser(), [log])
    for place in range(len(log)):
        parser = found.parser()
        read = ParserOutput()
        read.add_batch(parser.feed(log[:place]))
        for tag, points in read.points.items():
            assert points == expected.points[tag][: len(points)]
        read.add_batch(parser.feed(log[place:]))
        read.add_batch(parser.finish())
        assert_same(read, expected)


@pytest.mark.parametrize("path", ONE_OF_EACH, ids=named)
def test_hundreds_of_corruptions_are_survived(path: Path) -> None:
    """Flipped, dropped, doubled and invented bytes: no exception, and the cut does not matter."""
    found, log, _ = whole(path)
    assert found.parser is not None
    log = log[:2500]
    for seed in range(400 if path in LARGEST_OF_EACH else 100):
        broken = corrupt(log, random.Random(seed))
        read = feed_parser(found.parser(), [broken])
        if seed % 20 == 0:
            assert_same(feed_parser(found.parser(), chunks(broken, 37)), read)
        assert all(0 <= problem.offset <= len(broken) for problem in read.problems)


def corrupt(log: bytes, dice: random.Random) -> bytes:
    """Damage a log in a few places."""
    data = bytearray(log)
    for _ in range(dice.randint(1, 12)):
        place = dice.randrange(len(data))
        length = dice.randint(1, 40)
        match dice.randrange(5):
            case 0:
                data[place] = dice.randrange(256)
            case 1:
                del data[place : place + length]
            case 2:
                data[place:place] = data[place : place + length]
            case 3:
                data[place:place] = dice.randbytes(length)
            case _:
                data[place:place] = dice.choice(SPITE)
        data = data or bytearray(b"\n")
    return bytes(data)


SPITE = (
    b"\n\n",
    b"\r",
    b"\x00" * 50,
    b"|" * 30,
    b"-" * 60 + b"\n",
    b"{'" * 20,
    b'"' * 3,
    b"[" * 200,
    b'{"a":' * 60,
    b"1e999,-1e999",
    b"9" * 400,
    b"\xff\xfe\xed\xa0\x80",
    b"\x1b[2J\x1b]0;x",
    b"nan inf -nan None null",
    b"Traceback (most recent call last):\n",
    b" 50%|#####     | 99999999999999999999/3 [",
)


@pytest.mark.parametrize("path", ONE_OF_EACH, ids=named)
def test_rubbish_around_a_log_harms_only_itself(path: Path) -> None:
    """Binary rubbish after a log leaves the points before it as they are."""
    found, log, _ = whole(path)
    assert found.parser is not None
    if not log.endswith(b"\n"):
        log += b"\n"
    read = ParserOutput()
    parser = found.parser()
    read.add_batch(parser.feed(log))
    read.add_batch(parser.feed(b"\x00\xff\x17" * 200 + b"\n"))
    for tag, points in feed_parser(found.parser(), [log], finish=False).points.items():
        assert read.points[tag][: len(points)] == points


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=400), places=st.lists(st.integers(0, 400), max_size=6))
@pytest.mark.parametrize("path", ONE_OF_EACH, ids=named)
def test_any_bytes_are_survived(path: Path, data: bytes, places: list[int]) -> None:
    """Bytes of no format at all give no exception, and the same in any cut."""
    found = whole(path)[0]
    assert found.parser is not None
    assert_same(
        feed_parser(found.parser(), cut_at(data, places)), feed_parser(found.parser(), [data])
    )


@pytest.mark.parametrize("path", ONE_OF_EACH, ids=named)
def test_memory_does_not_grow_with_the_log(path: Path) -> None:
    """What was given is not kept: twenty times the log takes no twenty times the memory."""
    found, log, _ = whole(path)
    assert found.parser is not None
    log = log[:20_000]
    parser = found.parser()
    parser.feed(log)
    tracemalloc.start()
    try:
        for _ in range(20):
            parser.feed(log[log.find(b"\n") + 1 :])
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert kept < (3_000_000 if found.name in ("trainer-state", "settings-json") else 600_000)


def test_every_recorded_log_has_exactly_one_reader() -> None:
    """Each demo log of text is claimed, and by the format that was meant."""
    claimed = {path.relative_to(HERE).as_posix(): whole(path)[0].name for path in LOGS}
    assert claimed["demo_logs/sb3_cartpole/stdout.log"] == "console"
    assert claimed["demo_logs/sb3_cartpole/log.txt"] == "console"
    assert claimed["demo_logs/sb3_cartpole/progress.csv"] == "sb3-csv"
    assert claimed["demo_logs/sb3_cartpole/progress.json"] == "jsonl"
    assert claimed["demo_logs/sb3_cartpole/0.monitor.csv"] == "sb3-monitor"
    assert claimed["tests/data/verl_0.9.1/tracking/ppo/tiny.jsonl"] == "jsonl"
    assert claimed["tests/data/spinup_038665d/ppo/progress.txt"] == "csv"
