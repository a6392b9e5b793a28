"""The common part of parsers of trackers' LevelDB-framed record files."""

from __future__ import annotations

from collections.abc import Iterator

from ppo_top.model import Batch, Problem, RunEnd, State
from ppo_top.parsers.shared.columns import ColumnBuilder, MachineColumns
from ppo_top.parsers.shared.stores.leveldb import LevelDbReader, LevelDbRecord
from ppo_top.parsers.shared.text.console_output import ConsoleOutput


class TrackerParser:
    """Reads the records of one file; `_read_record` decodes one of them."""

    def __init__(self, ident: bytes) -> None:
        self._reader = LevelDbReader(ident)
        self._builder = ColumnBuilder()
        self._machine = MachineColumns()
        self._outputs: dict[int, ConsoleOutput] = {}
        self._batch = Batch()
        self._ended: RunEnd | None = None

    def feed(self, data: bytes) -> Batch:
        """What the records completed by these bytes hold."""
        return self._read_records(self._reader.add_bytes(data))

    def finish(self) -> Batch:
        """What a damaged end still holds, and the console's unfinished lines."""
        batch = self._read_records(self._reader.finish())
        for output in self._outputs.values():
            batch.lines.extend(output.flush())
        return batch

    def _read_records(self, found: Iterator[LevelDbRecord | Problem]) -> Batch:
        self._batch = batch = Batch()
        before = self._ended
        for each in found:
            if isinstance(each, Problem):
                batch.problems.append(each)
                continue
            try:
                self._read_record(each)
            except ValueError as error:  # MalformedMessage is one
                batch.problems.append(Problem(each.offset, f"unreadable record: {error}"))
        batch.points = self._builder.pop_points()
        batch.machine = self._machine.pop_points()
        if batch.points or self._ended is not before:
            batch.ended = self._ended
        return batch

    def _read_record(self, record: LevelDbRecord) -> None:
        """Raises `ValueError` if the record is damaged."""
        raise NotImplementedError

    def _add_point(self, tag: str, step: int, time: float, value: float) -> None:
        if self._ended is not None and self._ended.state is State.DIED:
            self._ended = None  # a point after a crash: the run went on
        self._builder.add_point(tag, step, time, value)

    def _add_output(self, stream: int, text: str, offset: int, time: float) -> None:
        """Text that the run wrote to one of its console streams."""
        output = self._outputs.setdefault(stream, ConsoleOutput())
        self._batch.lines.extend(output.add_text(text, offset, time))
