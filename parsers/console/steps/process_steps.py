"""The step of each record of a process: its own, that of the lines above, or its number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.steps.laps import Laps, lap_length
from ppo_top.parsers.console.steps.stated_steps import StatedSteps
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.tables.episode_order import EpisodeOrder
from ppo_top.parsers.shared.text.number_text import as_step
from ppo_top.text.lazy_pattern import lazy_pattern

_SURE_OF_AXIS = 3
"""After as many steps of one kind, a coarser one in a line is not the step."""
_MAX_KINDS = 256
_MOST_STEPS_A_RECORD = 10
"""A heading of more steps than that for each record so far does not count them."""
_TOTAL_OF_ALL = lazy_pattern("(?i)total[ _]?(?:time|env )?steps$")


class GivenStep(NamedTuple):
    """The step of a record; `counted` if it is only its number, since no line says a step."""

    step: int
    counted: bool = False


def _is_of_tables(found: ConsoleRecord) -> bool:
    """Whether the tables say the step of a record that counts: `Update 3/4`, `* Iteration 5 *`."""
    is_lap = lap_length(found.axis, found.config) is not None
    return is_lap or (found.is_heading and found.axis == "iteration")


def _worker_of(found: ConsoleRecord) -> float | None:
    """The number of the worker, among several side by side, that a record names."""
    return next((value for tag, value in found.values if metric_names.names_worker(tag)), None)


class ProcessSteps:
    """Gives the records of one process their steps, and knows which one the next may have."""

    def __init__(self, count_step: Callable[[], int] | None = None) -> None:
        self._stated = StatedSteps()
        self.episode_steps = self._stated.episode_steps
        self._nested = self._stated.nested
        self._count_step = count_step or partial(next, count(1))
        self._trains_by_steps = False
        self.step: int | None = None
        self.axis = ""
        """What `step` counts; "" until a line has said a step."""
        self._has_records = False
        self._laps = Laps()
        self._episode_order = EpisodeOrder()
        self._steps_by_axis: Counter[str] = Counter()
        self._headings_only = True
        self._steps_are_stray = False
        self._names_coarser = False
        """Whether a record has said a coarser step as well: `update: 10  frames: 10240`."""
        self._kinds_below_headings: set[tuple[str, ...]] = set()
        self._kinds_here: set[tuple[str, ...]] = set()
        self.is_below_heading = False
        """Whether the line before said only a step."""
        self._record_count = 0
        self._counted_tags: set[str] = set()

    def step_of(self, found: ConsoleRecord, *, may_begin: bool = False) -> GivenStep:
        """The step of a record: its own, else the last one, else the number of records.

        `may_begin`: it may be the first of another training, as something else says.
        """
        if self._steps_by_axis["table"]:
            is_behind = self._is_behind_table(found) and not may_begin
            found = found._replace(step=None) if is_behind or _is_of_tables(found) else found
        if not self._is_lone_episode(found):
            found = self._begin_laps(found) if may_begin else self._laps.counts_on(found)
        self._has_records = True
        if self.episode_steps.has_erred and self.step is not None:
            self._steps_are_stray, found = True, found._replace(step=None)
        is_other = self._is_closing_total(found) or self._is_within_block(found)
        if is_other or as_step(found.step) is None:
            found = found._replace(step=None)
        if found.step is None:
            if self.step is None:
                return GivenStep(self._count_record(found), counted=True)
            return GivenStep(self._step_below_heading(found), counted=self._steps_are_stray)
        if self.step is not None and self._is_ignored_step(found, may_begin=may_begin):
            return GivenStep(self.step, counted=self._steps_are_stray)
        self._steps_by_axis[found.axis] += 1
        self._headings_only = self._headings_only and found.is_heading
        self._names_coarser = self._names_coarser or self._names_coarser_step(found)
        self._kinds_here.clear()
        is_ordered = found.axis == "episode" and not found.says_training  # each has its own order
        order = self._episode_order
        step = found.step
        if is_ordered:
            step = order.step_of(step, may_begin=may_begin, worker=_worker_of(found))
        self.step, self.axis = step, found.axis
        self._trains_by_steps |= not found.is_evaluation
        return GivenStep(step)

    def _is_behind_table(self, found: ConsoleRecord) -> bool:
        """Whether a line counts epochs where a table counts more than those: `epoch #3 | Saved`."""
        is_row = found.axis in ("iteration", "epoch", "episode")
        return is_row and self.axis == "table" and (found.step or 0) < (self.step or 0)

    def _is_lone_episode(self, found: ConsoleRecord) -> bool:
        """Whether nothing but episodes is counted: those of another training begin anew."""
        return found.axis == "episode" and set(self._steps_by_axis) <= {"episode"}

    def _count_record(self, found: ConsoleRecord) -> int:
        """The number of a record; lines of different names are one until a name comes again."""
        tags = {tag for tag, _ in found.values}
        is_open = 0 < len(self._counted_tags) < _MAX_KINDS
        if not (is_open and tags.isdisjoint(self._counted_tags)):
            self._record_count += 1
            self._counted_tags.clear()
        self._counted_tags |= tags
        return self._record_count

    def _begin_laps(self, found: ConsoleRecord) -> ConsoleRecord:
        self._laps = Laps()
        return self._laps.counts_on(found)

    def _step_below_heading(self, found: ConsoleRecord) -> int:
        """The step that the last heading said, unless it is a stray one.

        If the only kind of record comes several times below one heading (a debug line now and then
        that says `step=50`), it is not about them: they are counted on.
        """
        assert self.step is not None
        kind = tuple(tag for tag, _ in found.values)
        if len(self._kinds_below_headings) < _MAX_KINDS:
            self._kinds_below_headings.add(kind)
        is_only_kind = self._headings_only and self._kinds_below_headings == {kind}
        is_only_kind = is_only_kind and not self._nested.are_nested and self.axis != "iteration"
        counts_records = self.step <= _MOST_STEPS_A_RECORD * max(1, self._record_count)
        is_only_kind = is_only_kind and counts_records
        if self._steps_are_stray or (kind in self._kinds_here and is_only_kind):
            self._steps_are_stray = True
            self.step += 1
        self._kinds_here.add(kind)
        return self.step

    def follows_steps(self, axis: str, tags: tuple[str, ...]) -> bool:
        """Whether a step of this kind, in lines of these names, is simply the next one."""
        is_known = self._has_records and axis == self.axis
        is_odd = self._steps_are_stray or self._laps.has_turned or self._nested.has_turned
        is_odd = is_odd or self._episode_order.is_counting
        return is_known and not is_odd and not self._nested.hides(tags, axis)

    def note_steps(
        self,
        steps: Sequence[int],
        tags: tuple[str, ...],
        values: Sequence[float],
        *,
        is_heading: bool,
        says_training: bool = False,
    ) -> None:
        """Note the steps and values of lines that were read as a whole; see `follows_steps`.

        `says_training`: they begin with the number of their training.
        """
        self.episode_steps.note_row(tags, values[-len(tags) :])
        self._nested.note_rows(tags, values, steps, self.axis)
        self._steps_by_axis[self.axis] += len(steps)
        if self.axis == "episode" and not says_training:
            self._episode_order.are_in_order(steps)
        self._headings_only &= is_heading
        self.is_below_heading = is_heading
        self._kinds_here.clear()
        self.step = steps[-1]

    def note_table(self, step: int) -> None:
        """Note the step of a table that was read as a whole."""
        if not self._has_records:
            self._stated.note_first()
        self._has_records = self._trains_by_steps = True
        self.step, self.axis = step, "table"
        self._steps_by_axis["table"] += 1
        self._headings_only = False
        self._kinds_here.clear()

    def next_steps(self, count: int) -> tuple[list[int], bool]:
        """The steps of so many dictionaries without one, and whether they are counted.

        The last step, if there was one.
        """
        if self.axis and self.step is not None:
            return [self.step] * count, False
        return [self._count_step() for _ in range(count)], True

    def _is_ignored_step(self, found: ConsoleRecord, *, may_begin: bool) -> bool:
        """Whether a line's own step is not what this process counts."""
        if self._steps_are_stray and found.is_heading:
            return True
        is_sure = self._steps_by_axis[self.axis] >= _SURE_OF_AXIS
        if is_sure and not may_begin and self._has_fewer_parts(found):
            return True
        is_behind = self._names_coarser and (found.step or 0) < (self.step or 0)
        return self._has_coarser_step(found) and (is_sure or is_behind or found.is_heading)

    def _has_fewer_parts(self, found: ConsoleRecord) -> bool:
        """Whether a step counts parts of what is counted, but fewer of them: those of one only.

        An agent that has played 500 episodes has not taken 10 steps.
        """
        return self._is_coarser(self.axis, found.axis) and (found.step or 0) < (self.step or 0)

    def _is_closing_total(self, found: ConsoleRecord) -> bool:
        """Whether a lone `Total steps: 5000` closes a log that has counted something else."""
        if len(found.values) != 1 or not _TOTAL_OF_ALL.match(found.values[0][0]):
            return False
        seen = self._record_count if self.step is None else self._steps_by_axis[self.axis]
        return seen > 1 and not self._steps_by_axis[found.axis]

    def _is_within_block(self, found: ConsoleRecord) -> bool:
        """Whether a lone `Total env interactions: 4000` stands among values of `Epoch: 3`."""
        is_count = found.axis == "timesteps" and found.is_heading
        has_heading = self._headings_only and self.axis in ("iteration", "epoch", "episode")
        return is_count and has_heading and bool(self._kinds_here)

    def _has_coarser_step(self, found: ConsoleRecord) -> bool:
        """Whether a step counts something coarser than the known one (epochs, say, not steps)."""
        return self._is_coarser(found.axis, self.axis)

    def _names_coarser_step(self, found: ConsoleRecord) -> bool:
        """Whether a record says a coarser step beside its own."""
        axes = (metric_names.step_axis(tag) for tag, _ in found.values)
        return any(axis is not None and self._is_coarser(axis, found.axis) for axis in axes)

    @staticmethod
    def _is_coarser(axis: str, other: str) -> bool:
        """Whether one of this axis has several of the other."""
        axes = metric_names.STEP_AXES
        return axis in axes and other in axes and axes.index(axis) > axes.index(other)
