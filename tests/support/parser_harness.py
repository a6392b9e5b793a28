"""Feeds a parser in many ways and compares its outputs, NaN equal to NaN."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from ppo_top.model import Batch, ConsoleLine, Problem, RunEnd
from ppo_top.parsers.base import Parser

ComparablePoint = tuple[int, str, str]
"""Step, time and value; the floats as `repr`, so that NaN equals NaN and no bit is lost."""


@dataclass
class ParserOutput:
    """The whole output of a parser for one file."""

    points: dict[str, list[ComparablePoint]] = field(default_factory=dict)
    config: dict[str, object] = field(default_factory=dict)
    lines: list[tuple[int, str, str, int | None]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ended: RunEnd | None = None
    counts_updates: bool = False
    machine: dict[str, list[ComparablePoint]] = field(default_factory=dict)

    def add_batch(self, batch: Batch) -> None:
        """Append a batch; points after a crash mean that the run goes on.

        Cuts decide how trainings that are logged at once take turns: their points stay apart.
        """
        for other in batch.rest:
            for points in other.points if other.interleaved else ():
                points.tag = f"{points.tag} of {other.stored_run}"
        batch.as_one()
        for columns, added in ((self.points, batch.points), (self.machine, batch.machine)):
            for points in added:
                assert len(points.steps) == len(points.times) == len(points.values)
                rows = zip(points.steps, points.times, points.values, strict=True)
                column = columns.setdefault(points.tag, [])
                column.extend((step, repr(time), repr(value)) for step, time, value in rows)
        self.config.update(batch.config)
        self.lines.extend(comparable_line(line) for line in batch.lines)
        self.problems.extend(batch.problems)
        self.notes.extend(batch.notes)
        if batch.points or batch.ended is not None:
            self.ended = batch.ended
        if batch.points:
            self.counts_updates = batch.counts_updates

    def values(self, tag: str) -> list[float]:
        """The values of a tag, in order."""
        return [float(value) for _, _, value in self.points.get(tag, [])]

    def steps(self, tag: str) -> list[int]:
        """The steps of a tag, in order."""
        return [step for step, _, _ in self.points.get(tag, [])]

    def times(self, tag: str) -> list[float]:
        """The times of a tag, in order."""
        return [float(time) for _, time, _ in self.points.get(tag, [])]

    def values_by_step(self) -> dict[str, list[tuple[int, float]]]:
        """Steps and values by tag."""
        return {
            tag: [(step, float(value)) for step, _, value in points]
            for tag, points in self.points.items()
        }

    def texts(self) -> list[str]:
        """The lines' words."""
        return [text for _, text, _, _ in self.lines]


def comparable_line(line: ConsoleLine) -> tuple[int, str, str, int | None]:
    """A line that can be compared although its time may be NaN."""
    return line.offset, line.text, repr(line.time), line.step


def feed_parser(parser: Parser, parts: Iterable[bytes], *, finish: bool = True) -> ParserOutput:
    """Feed the parts in order and collect the output."""
    read = ParserOutput()
    for part in parts:
        read.add_batch(parser.feed(part))
    if finish:
        read.add_batch(parser.finish())
    return read


def feed_trainings(parser: Parser, parts: Iterable[bytes]) -> dict[str, ParserOutput]:
    """Feed the parts in order and collect the output of each training that they hold."""
    read: dict[str, ParserOutput] = {}
    for batch in (*map(parser.feed, parts), parser.finish()):
        others, batch.rest = batch.rest, []
        for each in (batch, *others):
            if each:
                read.setdefault(each.stored_run, ParserOutput()).add_batch(each)
    return read


def chunks(data: bytes, size: int) -> Iterator[bytes]:
    """Cut into chunks of equal size."""
    return (data[start : start + size] for start in range(0, len(data), size))


def cut_at(data: bytes, offsets: Iterable[int]) -> Iterator[bytes]:
    """Cut at these offsets."""
    start = 0
    for offset in sorted({min(max(offset, 0), len(data)) for offset in offsets}):
        yield data[start:offset]
        start = offset
    yield data[start:]


def parse_every_way(make: Callable[[], Parser], data: bytes) -> ParserOutput:
    """Parse whole, byte by byte and in odd chunks; all must agree."""
    whole = feed_parser(make(), [data])
    for size in (1, 7, 64):
        assert_same(feed_parser(make(), chunks(data, size)), whole)
    return whole


def assert_same(one: ParserOutput, other: ParserOutput) -> None:
    """Assert that two outputs are equal, point by point and line by line."""
    assert list(one.points) == list(other.points) or set(one.points) == set(other.points)
    for tag, points in other.points.items():
        assert one.points[tag] == points, tag
    assert one.machine == other.machine
    assert one.lines == other.lines
    assert repr(one.config) == repr(other.config)
    assert sorted(one.problems) == sorted(other.problems)
    assert one.notes == other.notes
    assert one.ended == other.ended
    assert one.counts_updates == other.counts_updates
