"""Steps of records that do not say theirs, from the progress bar of the training.

The Hugging Face trainer writes each record with `tqdm.write`: the bar is erased, the record
printed, the bar drawn again. The bar is on stderr and the records on stdout, so a console that is
redirected to a file has them in one of two orders:

* interleaved (a terminal, `python -u`): a record has the step of the bar around it;
* block-buffered: Python holds stdout back until some KB are full. The bar is still erased and drawn
  again at each record's time, with nothing in between, and the records come in a block much later.
  They belong to those places in the same order.

Where nothing was erased (`print` beside a bar, blanks lost in a copy), a block of records is spaced
evenly, in whole steps, up to the bar.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import lru_cache

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.records.dicts import RUNTIME_KEY, steps_ahead_of_bar
from ppo_top.parsers.console.steps.progress_bars import ProgressBar, TrainingBar
from ppo_top.parsers.console.steps.stride import find_stride

_MAX_LOG_CALLS = 1 << 16
_MAX_HELD = 4096
_FEWEST_IN_BLOCK = 3
_EVALUATION_PREFIX = "eval_"


class BarSteps:
    """Places the records of one process; `place` is called for each, in order.

    `is_block_buffered`: records have come in blocks, long after they were logged. `counts_bars`:
    each has a bar of its own, so that their steps are only their numbers.
    """

    def __init__(self, place: Callable[[ConsoleRecord, int], None]) -> None:
        self.is_block_buffered = False
        self._place_record = place
        self._bar = TrainingBar()
        self._held: list[ConsoleRecord] = []
        self._log_calls: deque[int] = deque(maxlen=_MAX_LOG_CALLS)
        self._is_erased = self._is_erased_below = False
        self._last_step = 0
        self._stride = 1
        self._has_block_stride = False
        self._drawn_since_record: set[int] = set()
        self._last_epoch = float("-inf")
        self._placed_in_bar = self.counts_bars = False

    @property
    def total(self) -> int | None:
        """The steps that the training will have; None without a bar, 0 if it does not say."""
        return self._bar.total

    @property
    def is_waiting(self) -> bool:
        """Whether a record waits for the next bar."""
        return bool(self._held)

    def may_count(self, step: int) -> bool:
        """Whether the bar may count the steps of records that state theirs, this one now.

        That of a rollout is full, or nearly, at each of them, and one inside a step has a smaller
        total.
        """
        done, total = self._bar.done, self._bar.total
        if done is None or not total:
            return True
        return step <= total and (done <= step + 1 or step >= total - 1)

    def count_step(self) -> int:
        """The step of a record on a console without a bar: the number of records so far."""
        self._last_step += 1
        return self._last_step

    def draw(self, bar: ProgressBar) -> bool:
        """Follow a bar and place what waits for it; False if it is not the training's."""
        before = self._bar.done
        if not self._bar.follow(bar):
            return False
        if before is not None and bar.done < before and bar.done == 0:
            self._begin_again(before)
        elif self._held:
            self._place_held(bar.done)
        elif self._is_erased or (self._is_erased_below and bar.done == before):
            self._log_calls.append(bar.done)
        self._is_erased = self._is_erased_below = False
        if len(self._drawn_since_record) < _MAX_HELD:
            self._drawn_since_record.add(bar.done)
        return True

    def erase(self) -> None:
        """The bar was erased: something is about to be written in its place."""
        self._is_erased = True

    def erase_below(self) -> None:
        """The full bar of an evaluation was erased, to be closed or for its record.

        For a record the training's bar is drawn again where it was.
        """
        self._is_erased_below = True

    def note_text(self) -> None:
        """Other text was printed: what the bar was erased for, if no record is outstanding."""
        if not self._log_calls:
            self._is_erased = False

    def add(self, record: ConsoleRecord) -> None:
        """Place a record, or hold it until the next bar says its step."""
        kind = _kind(record)
        if self._log_calls:
            self.is_block_buffered |= len(self._log_calls) >= _FEWEST_IN_BLOCK
            self._place(record, kind, self._log_calls.popleft() + kind.ahead)
            return
        self._is_erased = False
        self._held.append(record)
        if len(self._held) > _MAX_HELD or kind.is_summary:
            self.finish()

    def finish(self) -> None:
        """Place what is held: no bar follows."""
        if self._held and self.counts_bars:
            self._count_held()
        elif self._held:
            self._place_held(self._end_of_bar(), is_end=True)

    def _end_of_bar(self) -> int:
        """Where the bar ends. W&B's output.log has its first state only, and then the summary."""
        is_over = any(_kind(record).is_summary for record in self._held)
        unmoved = not self._bar.done and not self._placed_in_bar
        return (self._bar.total if is_over and unmoved else self._bar.done) or 0

    def _begin_again(self, before: int) -> None:
        """The bar starts anew: another training, or a bar for each record."""
        self.counts_bars = bool(self._held) and not self._placed_in_bar
        if self.counts_bars:
            self._count_held()
            return
        if self._held:
            self._place_held(before, is_end=True)
        if self._placed_in_bar:
            self._last_step, self._has_block_stride = 0, False
            self._last_epoch = float("-inf")
        self._placed_in_bar = False
        self._log_calls.clear()

    def _count_held(self) -> None:
        """Count the records that came after a bar of their own."""
        held, self._held = self._held, []
        for record in held:
            self._place(record, _kind(record), self.count_step())

    def _place_held(self, done: int, *, is_end: bool = False) -> None:
        """Place all held records below or at `done` steps of the bar."""
        held, self._held = [(record, _kind(record)) for record in self._held], []
        self._placed_in_bar = True
        logged = [each for each in held if not each[1].is_summary]
        done += max((kind.ahead for _, kind in logged), default=0)
        if len(logged) == 1 and not self._has_block_stride and not is_end:
            self._stride = max(done - self._last_step, 1)
            self._place(*logged[0], done)
        elif logged:
            self._place_block(logged, done, is_end=is_end)
        for record, kind in held:
            if kind.is_summary:
                self._place(record, kind, max(done, self._last_step))

    def _place_block(
        self, records: list[tuple[ConsoleRecord, _Kind]], done: int, *, is_end: bool
    ) -> None:
        """Space records evenly between the last one and the bar; evaluations share a step."""
        updates = sum(not kind.is_evaluation for _, kind in records)
        if updates >= _FEWEST_IN_BLOCK and len(self._drawn_since_record) >= _FEWEST_IN_BLOCK:
            self.is_block_buffered = True
        room = done - self._last_step
        spare = room - updates * self._stride
        if (
            updates
            and not 0 <= spare < 2 * self._stride
            and not (self._has_block_stride and spare > 0)
        ):
            epochs = [r.values[kind.epoch][1] for r, kind in records if kind.epoch is not None]
            found = find_stride(room, updates, self._bar.total or done, epochs, is_end=is_end)
            self._has_block_stride = found is not None and updates >= _FEWEST_IN_BLOCK
            self._stride = found or max(room // (updates + 1), 1)
        for record, kind in records:
            ahead = 0 if kind.is_evaluation else self._stride
            self._place(record, kind, self._last_step + ahead)

    def _place(self, record: ConsoleRecord, kind: _Kind, step: int) -> None:
        """A step only falls if the epoch does too: the training was resumed in the same file."""
        epoch = self._last_epoch if kind.epoch is None else record.values[kind.epoch][1]
        if step < self._last_step and epoch >= self._last_epoch:
            step = self._last_step + (0 if kind.is_evaluation else 1)
        self._last_step, self._last_epoch = step, epoch
        self._drawn_since_record.clear()
        self._place_record(record, step)


class _Kind(NamedTuple):
    """What the names of a record tell."""

    is_summary: bool
    is_evaluation: bool
    ahead: int
    """Steps that it is ahead of the bar around it."""
    epoch: int | None
    """Where its epoch stands."""


@lru_cache(maxsize=256)
def _kind_of(tags: tuple[str, ...]) -> _Kind:
    return _Kind(
        RUNTIME_KEY in tags,
        any(tag.startswith(_EVALUATION_PREFIX) for tag in tags),
        steps_ahead_of_bar(tags),
        tags.index("epoch") if "epoch" in tags else None,
    )


def _kind(record: ConsoleRecord) -> _Kind:
    return _kind_of(tuple([tag for tag, _ in record.values]))


def is_evaluation(record: ConsoleRecord) -> bool:
    """Whether a record is one of the trainer's evaluations."""
    return _kind(record).is_evaluation
