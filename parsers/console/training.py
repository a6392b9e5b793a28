"""What a console has said of one of its trainings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppo_top.model import Batch, ConfigValue, ConsoleLines, RunEnd, State
from ppo_top.parsers.console.steps.training_starts import ANOTHER_ALGORITHM, TrainingStarts
from ppo_top.parsers.shared.columns import ColumnBuilder
from ppo_top.parsers.shared.names.metric_names import is_setting

_MAX_OWNED_TAGS = 10_000
_MAX_TAG_SETS = 256


class ConsoleTraining:
    """Points, settings and the end of one training; `step` is that of its last record.

    Several processes may log the same tag: that of the first rank (or the first process) keeps its
    name, the others get the process as a suffix.
    """

    def __init__(self, number: int, starts: TrainingStarts) -> None:
        self.number = number
        self.starts = starts
        self.step: int | None = None
        self.columns = ColumnBuilder()
        self.is_counted = False
        self.known_settings: dict[str, ConfigValue] = {}
        self.new_settings: dict[str, ConfigValue] = {}
        """Settings that may be those of another training, which the next record shows."""
        self.known_tag_sets: set[tuple[str, ...]] = set()  # while there is only one process
        self._process_by_tag: dict[str, str] = {}
        self._has_other_processes = False
        self._has_stopped = False
        self._finished: RunEnd | None = None
        self._said: set[str] = set()
        self._lines = ConsoleLines()
        self._reset_batch()

    def _reset_batch(self) -> None:
        self._config: dict[str, ConfigValue] = {}
        self._ended: RunEnd | None = None
        self._notes: list[str] = []
        self._lines = ConsoleLines()

    def pop_batch(self) -> Batch:
        """Everything since the last call as a batch."""
        points, notes = self.columns.pop_points(), self._notes
        ended = self._ended or (self._finished if points else None)
        batch = Batch(points, self._config, self._lines, [], ended, notes)
        batch.counts_updates = bool(points) and self.is_counted
        batch.stored_run = str(self.number) if self.number > 1 else ""
        self._reset_batch()
        return batch

    def next_training(self, number: int, *, same_processes: bool) -> ConsoleTraining:
        """Another one in the same console: what is not printed again stays as it was."""
        other = ConsoleTraining(number, self.starts.next_training())
        other.known_settings = {**self.known_settings, **self.new_settings}
        self.new_settings.clear()
        other._config = dict(other.known_settings)
        if same_processes:
            other.known_tag_sets = set(self.known_tag_sets)
            other._process_by_tag = dict(self._process_by_tag)
            other._has_other_processes = self._has_other_processes
        return other

    def add_settings(self, config: Mapping[str, ConfigValue]) -> None:
        """Add settings of the run; other ones may turn out to be those of another training."""
        self.starts.read_settings(config)
        if self.step is None:
            self._config.update(config)
            self.known_settings.update(config)
        else:
            self.new_settings.update(config)

    def keep_settings(self) -> None:
        """No other training began: what was printed holds for this one."""
        self._config.update(self.new_settings)
        self.known_settings.update(self.new_settings)
        self.new_settings.clear()

    def add_lines(self, lines: ConsoleLines) -> None:
        """Add lines for the log pane."""
        self._lines.extend(lines)

    def add_note(self, note: str) -> None:
        """Say how the log is written, once."""
        if note not in self._said:
            self._said.add(note)
            self._notes.append(note)

    def set_end(self, ended: RunEnd) -> None:
        """Note that the stream says the run is over."""
        self._ended = ended
        self._has_stopped = ended.state is not State.FINISHED
        if not self._has_stopped:
            self._finished = ended
            self.starts.note_end()

    def may_split_at(self, tags: tuple[str, ...]) -> bool:
        """Whether a record of these names, whose step is behind, may be another training's first.

        Those of names that are new may count something else, unless they are those of settings:
        `best (alpha=0.2) | Episode 1000 | ...` behind lines of `epsilon=0.1`.
        """
        if self.starts.reason == ANOTHER_ALGORITHM or not tags or tags in self.known_tag_sets:
            return True
        measured = _without_settings(tags)
        return len(measured) < len(tags) and any(
            measured == _without_settings(known) for known in self.known_tag_sets
        )

    def knows_none_of(self, tags: tuple[str, ...]) -> bool:
        """Whether no record has had any of these names."""
        return all(known.isdisjoint(tags) for known in map(set, self.known_tag_sets))

    def note_step(self, step: int) -> None:
        """It goes on, also after a traceback; an earlier regular end still counts."""
        self.step = step
        if self._has_stopped:
            self._has_stopped = False
            self._ended = self._finished

    def tags_of(
        self, process: str, tags: tuple[str, ...], values: Sequence[float]
    ) -> tuple[str, ...]:
        """The names under which values of a process are kept."""
        if process == "" and not self._has_other_processes and tags in self.known_tag_sets:
            return tags
        self._has_other_processes = self._has_other_processes or process != ""
        self.starts.read_numbers(tags, values)
        if len(self.known_tag_sets) < _MAX_TAG_SETS:
            self.known_tag_sets.add(tags)
        return tuple(self._tag_of(process, tag) for tag in tags)

    def _tag_of(self, process: str, tag: str) -> str:
        owner = self._process_by_tag.get(tag)
        if owner is None or (process == "" and owner != ""):
            if len(self._process_by_tag) < _MAX_OWNED_TAGS:
                self._process_by_tag[tag] = process
            owner = process
        return tag if process == owner else f"{tag} [{process}]"


def _without_settings(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(tag for tag in tags if not is_setting(tag.rpartition("(")[2]))
