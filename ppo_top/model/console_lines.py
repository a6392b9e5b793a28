"""Lines of console text: single ones, and blocks that are split only when needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, count
from operator import add

from ppo_top.model.named_tuple import NamedTuple

UNKNOWN_TIME = float("nan")
"""The time of lines without a clock."""
MAX_LINE_CHARS = 4096
"""Characters shown of a line."""


class ConsoleLine(NamedTuple):
    """One line of console text, without its line end; `offset` is its first byte in the file."""

    offset: int
    text: str
    time: float = UNKNOWN_TIME
    step: int | None = None


class LineBlock(NamedTuple):
    """The lines of one table (ASCII) and their steps; the text has no final line end."""

    offset: int
    text: str
    steps: Sequence[int | None]

    @property
    def first_line(self) -> ConsoleLine:
        """The first line, as an ordinary one."""
        text = self.text[: self.text.find("\n")] if "\n" in self.text else self.text
        return ConsoleLine(self.offset, text[:MAX_LINE_CHARS], UNKNOWN_TIME, self.steps[0])

    def lines(self) -> Iterator[ConsoleLine]:
        """All lines, split now."""
        texts = self.text.split("\n")
        # A line starts after all lines before it and their line ends.
        starts = map(add, accumulate(map(len, texts), initial=0), count(self.offset))
        for offset, text, step in zip(starts, texts, self.steps, strict=False):
            yield ConsoleLine(offset, text[:MAX_LINE_CHARS], UNKNOWN_TIME, step)


class ConsoleLines:
    """Lines in file order; most are never looked at, so blocks are not split."""

    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts: list[ConsoleLine | LineBlock] = []

    def append(self, part: ConsoleLine | LineBlock) -> None:
        """Add one line, or a block of them."""
        self.parts.append(part)

    def extend(self, lines: Iterable[ConsoleLine] | ConsoleLines) -> None:
        """Add lines, one by one or in blocks as they are."""
        self.parts.extend(lines.parts if isinstance(lines, ConsoleLines) else lines)

    def __len__(self) -> int:
        return sum(len(part.steps) if isinstance(part, LineBlock) else 1 for part in self.parts)

    def __bool__(self) -> bool:
        return bool(self.parts)

    def __iter__(self) -> Iterator[ConsoleLine]:
        for part in self.parts:
            if isinstance(part, LineBlock):
                yield from part.lines()
            else:
                yield part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConsoleLines) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def tail(self, most: int) -> list[ConsoleLine]:
        """At most the last `most` lines; only blocks that hold them are split."""
        first, held = len(self.parts), 0
        while first and held < most:
            first -= 1
            part = self.parts[first]
            held += len(part.steps) if isinstance(part, LineBlock) else 1
        kept = ConsoleLines()
        kept.parts = self.parts[first:]
        return list(kept)[-most:]
