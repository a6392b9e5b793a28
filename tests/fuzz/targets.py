"""What is fuzzed: every log format of the program, and the code around them.

A target takes bytes and raises where a promise is broken: nothing is raised by what is read, any
cut of the bytes gives the same, and no more comes out than went in.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from unittest import mock

from ppo_top.model import Batch
from ppo_top.parsers import detect_format, formats
from ppo_top.parsers.base import Format, Parser
from ppo_top.parsers.tensorboard import parser as tfevents
from tests.fuzz import files, framed, others
from tests.support.parser_harness import ParserOutput, assert_same, cut_at

CUT_COUNT = 4
CUTS_BYTES = 2 * CUT_COUNT
"""An input starts with the positions of this many cuts, two bytes each."""
MAX_BYTE_BY_BYTE = 200
"""An input as short as this is fed byte by byte, too."""

EVENT_FILE_REPEATS = 6
"""How often an event file is repeated, so that numpy reads it."""


FuzzTarget = Callable[[bytes], None]


def with_cuts(data: bytes, places: tuple[int, ...] = (1, 7, 100, 1000)) -> bytes:
    """An input that feeds these bytes with cuts at these places."""
    return b"".join(place.to_bytes(2, "little") for place in places) + data


def split_cuts(given: bytes) -> tuple[list[int], bytes]:
    """Where to cut, in numbers of two bytes, and the bytes to feed."""
    head, data = given[:CUTS_BYTES].ljust(CUTS_BYTES, b"\0"), given[CUTS_BYTES:]
    return [int.from_bytes(head[at : at + 2], "little") for at in range(0, CUTS_BYTES, 2)], data


def fuzz_parser(make: Callable[[], Parser], build: Callable[[bytes], bytes], given: bytes) -> None:
    """A parser of bytes: whole, cut, and byte by byte it gives the same."""
    numbers, data = split_cuts(given)
    data = build(data)
    places = [number % (len(data) + 1) for number in numbers]
    whole = feed_bounded(make(), [data])
    assert_same(feed_bounded(make(), list(cut_at(data, places))), whole)
    if len(data) <= MAX_BYTE_BY_BYTE:
        assert_same(feed_bounded(make(), [data[at : at + 1] for at in range(len(data))]), whole)
    feed_bounded(make(), [data[: min(places)]])


def fuzz_numpy_decoders(given: bytes) -> None:
    """An event file through numpy in both ways, whole and cut, gives what it gives otherwise."""
    numbers, data = split_cuts(given)
    data = framed.event_file(data) * EVENT_FILE_REPEATS
    places = [number % (len(data) + 1) for number in numbers]
    one_by_one = feed_bounded(tfevents.TensorBoardParser(), [data])
    with mock.patch.multiple(tfevents, _MIN_BYTES_FOR_NUMPY=0, _MIN_NUMPY_PIECE_BYTES=0):
        for pieces in ([data], list(cut_at(data, places))):
            assert_same(feed_bounded(tfevents.TensorBoardParser(), pieces), one_by_one)


def feed_bounded(parser: Parser, pieces: list[bytes]) -> ParserOutput:
    """Feed the pieces and end; an answer is never larger than what was asked about."""
    read = ParserOutput()
    for piece in pieces:
        read.add_batch(parser.feed(piece))
    read.add_batch(parser.finish())
    size = sum(map(len, pieces))
    assert sum(map(len, read.points.values())) <= 16 * size + 64
    assert sum(len(text) for _, text, _, _ in read.lines) <= 4 * size + 64
    assert len(read.problems) <= size + 64
    return read


def unchanged_bytes(data: bytes) -> bytes:
    """A file without anything that would hide the rest from chance."""
    return data


def fuzz_format_detection(given: bytes) -> None:
    """Any name and any first bytes: a format, a clear no, or a wish for more."""
    name, _, head = given.partition(b"\0")
    found = detect_format(name.decode(errors="surrogateescape"), head)
    assert found is None or found is False or isinstance(found, Format)


def gives_no_points(make: Callable[[], Parser]) -> bool:
    """Whether a format only stands for files that are read by way of their store."""
    return make().feed(b"{}\n" * 99) == Batch() and getattr(make, "__name__", "").startswith("_")


def fuzz_together(known: dict[str, FuzzTarget]) -> FuzzTarget:
    """All in one: the first byte says which target takes the rest."""
    names = sorted(known)

    def one(given: bytes) -> None:
        if given:
            known[names[given[0] % len(names)]](given[1:])

    return one


def targets() -> dict[str, FuzzTarget]:
    """Every target by name; a new format has one by being there."""
    found: dict[str, FuzzTarget] = {"names": fuzz_format_detection}
    for each in formats():
        if each.parser is not None and not gives_no_points(each.parser):
            found[each.name] = partial(fuzz_parser, each.parser, unchanged_bytes)
            for name, build in framed.RECORD_FILE_BUILDERS.get(each.name, {}).items():
                found[name] = partial(fuzz_parser, each.parser, build)
        elif each.store is not None:
            found[each.name] = partial(files.fuzz_store_file, each.store, each.name)
    for name, (format_name, build_store) in files.STORE_BUILDERS.items():
        store = next(each.store for each in formats() if each.name == format_name)
        assert store is not None
        found[name] = partial(files.fuzz_built_store, store, build_store)
    return found | others.OTHER_TARGETS | {"tfevents-columns": fuzz_numpy_decoders}
