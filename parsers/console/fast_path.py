"""The quick way through a console: records that repeat a known layout, many lines at a time.

Everything here gives exactly what the careful way gives for the same bytes, or nothing at all.
"""

from __future__ import annotations

from array import array

from ppo_top.parsers.console import fast_dicts, fast_tables
from ppo_top.parsers.console.batch_builder import BatchBuilder
from ppo_top.parsers.console.log_lines import LogLines
from ppo_top.parsers.console.process import ProcessStream

FAST_FIRST_BYTES = _DASH, _BRACE = tuple(b"-{")
"""The first bytes of what may be read quickly."""
_MIN_RUN_BYTES, _MAX_RUN_BYTES = 1 << 13, 1 << 17
"""Bytes of dictionaries that are taken at once: fewer after a failure, more after each success."""


class FastPath:
    """Reads whole tables and runs of dictionaries into a ledger and onto a screen."""

    def __init__(self, builder: BatchBuilder, log_lines: LogLines) -> None:
        self._builder = builder
        self._log_lines = log_lines
        self._table_reader = fast_tables.TableRunReader()
        self._run_bytes = _MIN_RUN_BYTES

    def read_from(
        self, process: ProcessStream, piece: bytes, place: int, position: int, has_bar: bool
    ) -> int:
        """Read what starts at `position`; where it ends, or 0 when it has to go the careful way.

        `has_bar`: a progress bar is drawn on the stream and gives the dictionaries their steps.
        """
        first = piece[position]
        if first == _DASH:
            return self._read_tables(process, piece, place, position)
        if first == _BRACE and not has_bar:
            return self._read_dict_run(process, piece, place, position) or self._read_dict_line(
                process, piece, place, position
            )
        return 0

    def _read_tables(self, process: ProcessStream, piece: bytes, place: int, position: int) -> int:
        found = self._table_reader.read_from(piece, position)
        if found is None:
            return 0
        groups, end = found
        steps: list[int | None] = []
        last = self._builder.step
        for group in groups:
            for step in group.steps:
                # The opening rule comes before the table's step is known.
                steps.append(last)
                steps += [step] * (group.rows + 1)
                last = step
            process.note_tables(group.steps)
            self._builder.add_unparsed_rows(group.tags, group.steps, group.number_cells)
        text = piece[position : end - 1].decode("ascii", "replace")
        self._log_lines.add_block(place + position, text, tuple(steps))
        return end

    def _read_dict_run(
        self, process: ProcessStream, piece: bytes, place: int, position: int
    ) -> int:
        end = piece.find(b"\n", position) + 1
        first = piece[position:end] if end - position <= _MAX_RUN_BYTES else b""
        shape = fast_dicts.shape_of(first) if first else None
        tags = process.dict_layouts.known_tags(shape.keys) if shape else None
        if shape is None or tags is None:
            return 0
        end = max(end, piece.rfind(b"\n", position, position + self._run_bytes) + 1)
        found = fast_dicts.read_columns(piece[position:end], shape)
        self._run_bytes = _MIN_RUN_BYTES
        if found is None:
            return 0
        size, columns = found
        self._run_bytes = min(2 * size + _MIN_RUN_BYTES, _MAX_RUN_BYTES)
        steps = process.next_steps(len(columns[0]))
        text = piece[position : position + size - 1].decode("ascii")
        self._log_lines.add_block(place + position, text, steps)
        self._builder.add_columns(tags, steps, columns)
        return position + size

    def _read_dict_line(
        self, process: ProcessStream, piece: bytes, place: int, position: int
    ) -> int:
        end = piece.find(b"\n", position)
        line = piece[position:end]
        if end < 0 or len(line) > _MAX_RUN_BYTES or line[-1:] != b"}" or not line.isascii():
            return 0
        text = line.decode("ascii")
        found = process.dict_layouts.parse_line(line) if text.isprintable() else None
        if found is None:
            return 0
        tags, values = found
        steps: array[int] = process.next_steps(1)
        self._log_lines.add_block(place + position, text, steps)
        self._builder.add_row("", tags, steps[0], values)
        return end + 1
