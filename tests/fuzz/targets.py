"""What is fuzzed: every log format of the program, and what stands before, beside and behind them.

A target takes bytes and raises where a promise is broken: nothing is raised by what is read, any
cut of the bytes gives the same, and no more comes out than went in.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from unittest import mock

from ppo_top.model import Batch
from ppo_top.parsers import claim, formats
from ppo_top.parsers.base import Format, Parser
from ppo_top.parsers.tensorboard import parser as tfevents
from tests.fuzz import files, framed, others
from tests.support.parser_harness import Read, assert_same, cuts

PLACES = 4
HEAD = 2 * PLACES
"""An input begins with the places of so many cuts, two bytes each."""
SHORT = 200
"""An input as short as this is fed byte by byte, too."""

TIMES = 6
"""So often an event file is repeated for numpy, which reads what repeats itself."""

ENDLESS = 1 << 40

Target = Callable[[bytes], None]


def prepared(data: bytes, places: tuple[int, ...] = (1, 7, 100, 1000)) -> bytes:
    """An input that feeds these bytes with cuts at these places."""
    return b"".join(place.to_bytes(2, "little") for place in places) + data


def taken_apart(given: bytes) -> tuple[list[int], bytes]:
    """Where to cut, in numbers of two bytes, and the bytes to feed."""
    head, data = given[:HEAD].ljust(HEAD, b"\0"), given[HEAD:]
    return [int.from_bytes(head[at : at + 2], "little") for at in range(0, HEAD, 2)], data


def stream(make: Callable[[], Parser], build: Callable[[bytes], bytes], given: bytes) -> None:
    """A parser of bytes: whole, cut, and byte by byte it gives the same."""
    numbers, data = taken_apart(given)
    data = build(data)
    places = [number % (len(data) + 1) for number in numbers]
    whole = bounded(make(), [data])
    assert_same(bounded(make(), list(cuts(data, places))), whole)
    if len(data) <= SHORT:
        assert_same(bounded(make(), [data[at : at + 1] for at in range(len(data))]), whole)
    bounded(make(), [data[: min(places)]])


def columns(given: bytes) -> None:
    """An event file through numpy in both ways, whole and cut, gives what it gives otherwise."""
    numbers, data = taken_apart(given)
    data = framed.event_file(data) * TIMES
    places = [number % (len(data) + 1) for number in numbers]
    one_by_one = bounded(tfevents.TensorBoard(), [data])
    for big in (0, ENDLESS):
        with mock.patch.multiple(tfevents, _NUMPY_PAYS=0, _SMALL_PIECE=0, _BIG_PIECE=big):
            assert_same(bounded(tfevents.TensorBoard(), [data]), one_by_one)
            assert_same(bounded(tfevents.TensorBoard(), list(cuts(data, places))), one_by_one)


def bounded(parser: Parser, pieces: list[bytes]) -> Read:
    """Feed the pieces and end; an answer is never larger than what was asked about."""
    read = Read()
    for piece in pieces:
        read.add(parser.feed(piece))
    read.add(parser.finish())
    size = sum(map(len, pieces))
    assert sum(map(len, read.points.values())) <= 16 * size + 64
    assert sum(len(text) for _, text, _, _ in read.lines) <= 4 * size + 64
    assert len(read.problems) <= size + 64
    return read


def as_is(data: bytes) -> bytes:
    """A file without anything that would hide the rest from chance."""
    return data


def recognised(given: bytes) -> None:
    """Any name and any first bytes: a format, a clear no, or a wish for more."""
    name, _, head = given.partition(b"\0")
    found = claim(name.decode(errors="surrogateescape"), head)
    assert found is None or found is False or isinstance(found, Format)


def silent(make: Callable[[], Parser]) -> bool:
    """Whether a format only stands for files that are read by way of their store."""
    return make().feed(b"{}\n" * 99) == Batch() and getattr(make, "__name__", "").startswith("_")


def together(known: dict[str, Target]) -> Target:
    """All in one: the first byte says which target takes the rest."""
    names = sorted(known)

    def one(given: bytes) -> None:
        if given:
            known[names[given[0] % len(names)]](given[1:])

    return one


def targets() -> dict[str, Target]:
    """Every target by name; a new format has one by being there."""
    found: dict[str, Target] = {"names": recognised}
    for each in formats():
        if each.parser is not None and not silent(each.parser):
            found[each.name] = partial(stream, each.parser, as_is)
            for name, build in framed.BUILDERS.get(each.name, {}).items():
                found[name] = partial(stream, each.parser, build)
        elif each.store is not None:
            found[each.name] = partial(files.whole, each.store, each.name)
    for name, (format_name, build) in files.BUILDERS.items():
        store = next(each.store for each in formats() if each.name == format_name)
        assert store is not None
        found[name] = partial(files.built, store, build)
    return found | others.TARGETS | {"tfevents-columns": columns}
