"""Collects what a console's records say into the columns of a batch for each training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from ppo_top.model import Batch, ConfigValue, ConsoleLines, Problem, RunEnd
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.training import ConsoleTraining
from ppo_top.parsers.console.trainings import Trainings, is_ray_process
from ppo_top.parsers.shared.names.metric_names import numbers_training


class BatchBuilder:
    """Points, settings and the end of one stream; `step` is that of the last record.

    Where another training begins, so does another batch, with what `pop_lines` gives from then on.
    """

    def __init__(self, pop_lines: Callable[[], ConsoleLines]) -> None:
        self._trainings = Trainings(pop_lines)

    @property
    def step(self) -> int | None:
        """The step of the last record of the training that is read now."""
        return self._trainings.current.step

    @property
    def expects_training(self) -> bool:
        """Whether something says that another training may begin."""
        return bool(self._trainings.current.starts.reason)

    def pop_batch(self, problems: list[Problem]) -> Batch:
        """Everything since the last call as a batch."""
        first, *others = self._trainings.pop_batches()
        first.problems, first.rest = problems, others
        return first

    def add_settings(self, config: Mapping[str, ConfigValue], process: str = "") -> None:
        """Add settings of the run; other ones may turn out to be those of another training."""
        if config:
            self._trainings.of_text(process).add_settings(config)

    def read_text(self, text: str, process: str) -> None:
        """Look for the name or seed of a training in a line that holds no record."""
        if process and not is_ray_process(process):
            return  # each rank has a seed
        training = self._trainings.of_text(process)
        if seed := training.starts.read_text(text):
            training.add_settings(seed)

    def finish(self) -> None:
        """No other training begins."""
        self._trainings.current.keep_settings()

    def add_note(self, note: str) -> None:
        """Say how the log is written, once."""
        self._trainings.current.add_note(note)

    def set_end(self, ended: RunEnd) -> None:
        """Note that the stream says the run is over."""
        self._trainings.current.set_end(ended)

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
        process = self._note_step(process, tags, step, values)
        training = self._trainings.current
        training.is_counted = counted
        names = training.tags_of(process, tags, values)
        for tag, value in zip(names, values, strict=True):
            training.columns.add_point(tag, step, found.time, value)

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
        process = self._note_step(process, tags, step, values)
        training = self._trainings.current
        if tags:  # a line that only says a step gives no point
            training.is_counted = counted
        training.columns.add_rows(training.tags_of(process, tags, values), (step,), values)

    def add_rows(
        self,
        tags: tuple[str, ...],
        steps: Sequence[int],
        values: Sequence[float],
        times: Sequence[float] = (),
        *,
        counted: bool = False,
    ) -> None:
        """Add rows of the main process: for each of `steps`, which never fall, a value a tag.

        `times` are theirs, if they have any; steps that are the rows' numbers are `counted`.
        """
        first = values[: len(tags)]
        self._note_step("", tags, steps[0], first)
        self._trainings.current.starts.note_stride(steps)
        if steps[-1] > steps[0]:
            self._note_step("", tags, steps[-1], first)
        training = self._trainings.current
        if tags:
            training.is_counted = counted
        training.columns.add_rows(training.tags_of("", tags, first), steps, values, times)

    def _note_step(
        self, process: str, tags: tuple[str, ...], step: int, values: Sequence[float]
    ) -> str:
        """Turn to the training of a record; return its process within that."""
        if process:
            process = self._trainings.turn_to_process(process)
        elif begins_with_number(tags):
            self._trainings.turn_to_number(tags[0], values[0], step)
        training = self._trainings.current
        before = training.step
        if before is None:
            training.starts.first_step = step
            training.starts.read_numbers(tags, values)
        elif process == "" and (reason := _reason_to_split(training, tags, step, values)):
            training = self._trainings.begin(reason)
            training.starts.first_step = step
            training.starts.read_numbers(tags, values)
        elif step > before:
            training.starts.note_stride((before, step))
            if training.new_settings or training.starts.reason:
                training.keep_settings()
                training.starts.reason = ""
        training.note_step(step)
        return process


def _reason_to_split(
    training: ConsoleTraining, tags: tuple[str, ...], step: int, values: Sequence[float]
) -> str:
    """Why a record is the first of another training; "" if it is not."""
    before, starts = training.step or 0, training.starts
    if step < before and training.may_split_at(tags):
        return starts.reason_to_split(tags, values, step, before)
    if starts.is_first_of_another(tags, values) and training.knows_none_of(tags):
        return starts.reason
    return ""


@lru_cache(maxsize=256)
def begins_with_number(tags: tuple[str, ...]) -> bool:
    """Whether a record says first which training it belongs to."""
    return bool(tags) and numbers_training(tags[0])
