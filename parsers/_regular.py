"""The quick way through a console: records that repeat a known layout, many lines at a time.

Everything here gives exactly what the careful way gives for the same bytes, or nothing at all.
"""

from __future__ import annotations

from array import array

from ppo_top.parsers import _runs, _table_runs
from ppo_top.parsers._ledger import Ledger
from ppo_top.parsers._screen import Screen
from ppo_top.parsers._voice import Voice

_DASH, _BRACE = b"-{"
_FEWEST = 4
_RUN = 1 << 17
"""Bytes of dictionaries that are taken at once."""


class Regular:
    """Reads whole tables and runs of dictionaries into a ledger and onto a screen."""

    def __init__(self, ledger: Ledger, screen: Screen) -> None:
        self._ledger = ledger
        self._screen = screen
        self._tables = _table_runs.Runs()
        self._not_before = 0  # a run that failed is not tried again line by line

    def read(self, voice: Voice, piece: bytes, place: int, position: int, bars: bool) -> int:
        """Read what starts at `position`; where it ends, or 0 when it has to go the careful way.

        `bars`: a progress bar is drawn on the stream and gives the dictionaries their steps.
        """
        first = piece[position]
        if first == _DASH:
            return self._table(voice, piece, place, position)
        if first == _BRACE and not bars:
            return self._run(voice, piece, place, position) or self._line(
                voice, piece, place, position
            )
        return 0

    def _table(self, voice: Voice, piece: bytes, place: int, position: int) -> int:
        found = self._tables.read(piece, position)
        if found is None:
            return 0
        groups, end = found
        steps: list[int | None] = []
        last = self._ledger.step
        for group in groups:
            for step in group.steps:
                # The opening rule comes before the table's step is known.
                steps.append(last)
                steps += [step] * (group.rows + 1)
                last = step
            voice.tables(group.steps)
            self._ledger.columns(group.tags, group.steps, group.columns)
        texts = piece[position : end - 1].decode("ascii", "replace").split("\n")
        self._screen.many(texts, place + position, steps)
        return end

    def _run(self, voice: Voice, piece: bytes, place: int, position: int) -> int:
        if place + position < self._not_before:
            return 0
        end = piece.rfind(b"\n", position, position + _RUN) + 1
        block = _runs.alike(piece[position:end])
        if block.count(b"\n") < _FEWEST or not block.isascii():
            return 0
        end = position + len(block)
        shape = _runs.shape_of(block[: block.find(b"\n")])
        tags = voice.layouts.known(shape.keys)
        columns = _runs.columns(block, shape) if tags else None
        if tags is None or columns is None:
            self._not_before = place + (end if tags else position + 1)
            return 0
        steps = voice.count(len(columns[0]))
        self._screen.many(block[:-1].decode("ascii").split("\n"), place + position, steps)
        self._ledger.columns(tags, steps, columns)
        return end

    def _line(self, voice: Voice, piece: bytes, place: int, position: int) -> int:
        end = piece.find(b"\n", position)
        line = piece[position:end]
        if end < 0 or len(line) > _RUN or line[-1:] != b"}" or b"\r" in line or not line.isascii():
            return 0
        found = voice.layouts.read(line)
        if found is None:
            return 0
        tags, values = found
        steps: array[int] = voice.count(1)
        self._screen.many([line.decode("ascii")], place + position, steps)
        self._ledger.row("", tags, steps[0], values)
        return end + 1
