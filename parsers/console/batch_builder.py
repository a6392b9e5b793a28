"""Collects what a console's records say into the columns of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ppo_top.model import Batch, ConfigValue, ConsoleLines, Problem, RunEnd, State
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.steps.training_starts import TrainingStarts
from ppo_top.parsers.shared.columns import ColumnBuilder

_MAX_OWNED_TAGS = 10_000
_MAX_TAG_SETS = 256


_NEXT_TRAINING = "training {} in this console: {}, and steps begin anew"


class BatchBuilder:
    """Points, settings and the end of one stream; `step` is that of the last record.

    Where another training begins, so does another batch, with what `pop_lines` gives from then on.

    Several processes may log the same tag: that of the first rank (or the first process) keeps its
    name, the others get the process as a suffix.
    """

    def __init__(self, pop_lines: Callable[[], ConsoleLines]) -> None:
        self.step: int | None = None
        self.starts = TrainingStarts()
        self._training = 1
        self._pop_lines = pop_lines
        self._earlier: list[Batch] = []
        self._known_settings: dict[str, ConfigValue] = {}
        self._new_settings: dict[str, ConfigValue] = {}
        """Settings that may be those of another training, which the next record shows."""
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

    def pop_batch(self, problems: list[Problem]) -> Batch:
        """Everything since the last call as a batch."""
        first, *others = [*self._earlier, self._make_batch()]
        first.problems, first.rest = problems, others
        self._earlier = []
        return first

    def _make_batch(self) -> Batch:
        points, notes = self._builder.pop_points(), self._notes
        batch = Batch(points, self._config, self._pop_lines(), [], self._ended, notes)
        batch.counts_updates = bool(points) and self._is_counted
        batch.stored_run = str(self._training) if self._training > 1 else ""
        self._reset_batch()
        return batch

    def add_settings(self, config: Mapping[str, ConfigValue]) -> None:
        """Add settings of the run; other ones may turn out to be those of another training."""
        self.starts.read_settings(config)
        if self.step is None:
            self._config.update(config)
            self._known_settings.update(config)
        else:
            self._new_settings.update(config)

    def read_text(self, text: str) -> None:
        """Look for the name or seed of a training in a line that holds no record."""
        if seed := self.starts.read_text(text):
            self.add_settings(seed)

    def finish(self) -> None:
        """No other training begins."""
        self._keep_settings()

    def _keep_settings(self) -> None:
        self._config.update(self._new_settings)
        self._known_settings.update(self._new_settings)
        self._new_settings.clear()

    def _begin_training(self, reason: str) -> None:
        """Begin another batch; settings that are not printed again stay as they were."""
        self._earlier.append(self._make_batch())
        self._training += 1
        self.starts = self.starts.next_training()
        self._keep_settings()
        self._config = dict(self._known_settings)
        self._said, self._has_died, self._finished = set(), False, None
        self.step = None
        self.add_note(_NEXT_TRAINING.format(self._training, reason))

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
            self.starts.note_end()

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
        self._note_step(process, tags, step, values)
        self._is_counted = counted
        names = self._tags_of(process, tags, values)
        for tag, value in zip(names, values, strict=True):
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
        self._note_step(process, tags, step, values)
        if tags:  # a line that only says a step gives no point
            self._is_counted = counted
        self._builder.add_row(self._tags_of(process, tags, values), step, values)

    def _note_step(
        self, process: str, tags: tuple[str, ...], step: int, values: Sequence[float]
    ) -> None:
        """Training goes on after a traceback; an earlier regular end still counts."""
        before = self.step
        if before is None:
            self.starts.first_step = step
        elif step < before and process == "" and (not tags or tags in self._known_tag_sets):
            if reason := self.starts.reason_to_split(tags, values, step, before):
                self._begin_training(reason)
                self.starts.first_step = step
                self.starts.read_numbers(tags, values)
        elif step > before and (self._new_settings or self.starts.reason):
            self._keep_settings()
            self.starts.reason = ""
        self.step = step
        if self._has_died:
            self._has_died = False
            self._ended = self._finished

    def _tags_of(
        self, process: str, tags: tuple[str, ...], values: Sequence[float]
    ) -> tuple[str, ...]:
        if process == "" and not self._has_other_processes and tags in self._known_tag_sets:
            return tags
        self._has_other_processes = self._has_other_processes or process != ""
        self.starts.read_numbers(tags, values)
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
