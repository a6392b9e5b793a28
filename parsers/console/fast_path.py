"""The quick way through a console: records that repeat a known layout, many lines at a time.

Everything here gives exactly what the careful way gives for the same bytes, or nothing at all.
"""

from __future__ import annotations

from array import array

from ppo_top.parsers.console import fast_dicts as _runs
from ppo_top.parsers.console import fast_tables as _table_runs
from ppo_top.parsers.console.batch_builder import Ledger
from ppo_top.parsers.console.log_lines import Screen
from ppo_top.parsers.console.process import Voice

REGULAR = _DASH, _BRACE = tuple(b"-{")
"""The first bytes of what may be read quickly."""
_SHORTEST, _RUN = 1 << 13, 1 << 17
"""Bytes of dictionaries that are taken at once: fewer after a failure, more after each success."""


class Regular:
    """Reads whole tables and runs of dictionaries into a ledger and onto a screen."""

    def __init__(self, ledger: Ledger, screen: Screen) -> None:
        self._ledger = ledger
        self._screen = screen
        self._tables = _table_runs.Runs()
        self._reach = _SHORTEST

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
            self._ledger.words(group.tags, group.steps, group.words)
        text = piece[position : end - 1].decode("ascii", "replace")
        self._screen.block(place + position, text, tuple(steps))
        return end

    def _run(self, voice: Voice, piece: bytes, place: int, position: int) -> int:
        end = piece.find(b"\n", position) + 1
        first = piece[position:end] if end - position <= _RUN else b""
        shape = _runs.shape_of(first) if first else None
        tags = voice.layouts.known(shape.keys) if shape else None
        if shape is None or tags is None:
            return 0
        end = max(end, piece.rfind(b"\n", position, position + self._reach) + 1)
        found = _runs.columns(piece[position:end], shape)
        self._reach = _SHORTEST
        if found is None:
            return 0
        size, columns = found
        self._reach = min(2 * size + _SHORTEST, _RUN)
        steps = voice.count(len(columns[0]))
        text = piece[position : position + size - 1].decode("ascii")
        self._screen.block(place + position, text, steps)
        self._ledger.columns(tags, steps, columns)
        return position + size

    def _line(self, voice: Voice, piece: bytes, place: int, position: int) -> int:
        end = piece.find(b"\n", position)
        line = piece[position:end]
        if end < 0 or len(line) > _RUN or line[-1:] != b"}" or not line.isascii():
            return 0
        text = line.decode("ascii")
        found = voice.layouts.read(line) if text.isprintable() else None
        if found is None:
            return 0
        tags, values = found
        steps: array[int] = voice.count(1)
        self._screen.block(place + position, text, steps)
        self._ledger.row("", tags, steps[0], values)
        return end + 1
