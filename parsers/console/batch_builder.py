"""Collects what a console's records say into the columns of a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppo_top.model import Batch, ConfigValue, ConsoleLines, Problem, RunEnd, State
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.columns import ColumnBuilder

_MAX_OWNED_TAGS = 10_000
_MAX_TAG_SETS = 256


class BatchBuilder:
    """Points, settings and the end of one stream; `step` is that of the last record.

    Several processes may log the same tag: that of the first rank (or the first process) keeps its
    name, the others get the process as a suffix.
    """

    def __init__(self) -> None:
        self.step: int | None = None
        self._is_counted = False
        self._process_by_tag: dict[str, str] = {}
        self._has_other_processes = False
        self._has_died = False
        self._said: set[str] = set()
        self._finished: RunEnd | None = None
        self._known_tag_sets: set[tuple[str, ...]] = set()  # while there is only one process
        self._reset_batch()

    def _reset_batch(self) -> None:
        self._builder = ColumnBuilder()
        self._config: dict[str, ConfigValue] = {}
        self._ended: RunEnd | None = None
        self._notes: list[str] = []

    def pop_batch(self, lines: ConsoleLines, problems: list[Problem]) -> Batch:
        """Everything since the last call as a batch."""
        points, notes = self._builder.pop_points(), self._notes
        batch = Batch(points, self._config, lines, problems, self._ended, notes)
        batch.counts_updates = bool(points) and self._is_counted
        self._reset_batch()
        return batch

    def add_settings(self, config: Mapping[str, ConfigValue]) -> None:
        """Add settings of the run."""
        self._config.update(config)

    def add_note(self, note: str) -> None:
        """Say how the log is written, once."""
        if note not in self._said:
            self._said.add(note)
            self._notes.append(note)

    def set_end(self, ended: RunEnd) -> None:
        """Note that the stream says the run is over."""
        self._ended = ended
        self._has_died = ended.state is State.DIED
        if ended.state is State.FINISHED:
            self._finished = ended

    def add_record(
        self, process: str, found: ConsoleRecord, step: int, *, counted: bool = False
    ) -> None:
        """Add the values of one record at its step, or at its number (`counted`)."""
        tags: tuple[str, ...]
        values: Sequence[float]
        tags, values = zip(*found.values, strict=True) if found.values else ((), ())
        if found.time != found.time and len(set(tags)) == len(tags):
            self.add_row(process, tags, step, values, counted=counted)
            return
        self._note_step(step)
        self._is_counted = counted
        for tag, value in zip(self._tags_of(process, tags), values, strict=True):
            self._builder.add_point(tag, step, found.time, value)

    def add_row(
        self,
        process: str,
        tags: tuple[str, ...],
        step: int,
        values: Sequence[float],
        *,
        counted: bool = False,
    ) -> None:
        """Add one value for each of `tags` (all distinct), without a time."""
        self._note_step(step)
        if tags:  # a line that only says a step gives no point
            self._is_counted = counted
        self._builder.add_row(self._tags_of(process, tags), step, values)

    def _note_step(self, step: int) -> None:
        """Training goes on after a traceback; an earlier regular end still counts."""
        self.step = step
        if self._has_died:
            self._has_died = False
            self._ended = self._finished

    def _tags_of(self, process: str, tags: tuple[str, ...]) -> tuple[str, ...]:
        if process == "" and not self._has_other_processes and tags in self._known_tag_sets:
            return tags
        self._has_other_processes = self._has_other_processes or process != ""
        if len(self._known_tag_sets) < _MAX_TAG_SETS:
            self._known_tag_sets.add(tags)
        return tuple(self._tag_of(process, tag) for tag in tags)

    def _tag_of(self, process: str, tag: str) -> str:
        owner = self._process_by_tag.get(tag)
        if owner is None or (process == "" and owner != ""):
            if len(self._process_by_tag) < _MAX_OWNED_TAGS:
                self._process_by_tag[tag] = process
            owner = process
        return tag if process == owner else f"{tag} [{process}]"
