"""Columns left of the step that change only where the steps begin anew.

In `round,step,reward` the steps of all rounds count on; in `matrix_size,episode,reward` each size
has a training of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.shared.names.axes import TIME_KEYS
from ppo_top.parsers.shared.names.metric_names import is_metric, normalise, step_axis

_MOST_COLUMNS = 8
_FEWEST_ROWS = 3
"""Of a lap whose columns have stayed as they were."""
_PARTS = frozenset({"round", "cycle", "stage", "phase", "generation", "level", "task", "lesson"})
"""What one training goes through, one after the other."""


class Lap(NamedTuple):
    """A lap of the steps begins: `column` has changed, from the text `before`."""

    column: int
    before: str
    counts_on: bool
    """Whether it is a part of the same training."""


class OuterColumns:
    """Follows the columns that have stayed as they are since the steps began."""

    def __init__(self, tags: Sequence[str], step: int | None) -> None:
        self._tags = tags
        left = range(min(step or 0, _MOST_COLUMNS))
        self._places = [at for at in left if self._may_tell(tags[at])]
        self._texts: dict[int, str] = {}
        self._first: int | None = None
        self._last = self._rows = 0

    def __bool__(self) -> bool:
        return bool(self._places)

    @property
    def first_step(self) -> int:
        """The step of the first row."""
        return self._first or 0

    def name_of(self, column: int) -> str:
        """The name of a column, as it is used for its runs."""
        return normalise(self._tags[column])

    def read_row(self, cells: Sequence[str], step: int) -> Lap | None:
        """Note a row; the lap that begins with it."""
        if self._first is None:
            self._first = step
        texts = {at: cells[at].strip() for at in self._places if at < len(cells)}
        changed = [at for at in self._texts if texts.get(at) != self._texts[at]]
        begins = bool(self._texts) and step < self._last and step <= self._first
        lap = None
        if begins and changed and self._rows >= _FEWEST_ROWS:
            lap = self._lap(min(changed))
        elif changed:
            self._places = [at for at in self._places if at not in changed]
        self._rows = 1 if begins else self._rows + 1
        self._texts = {at: text for at, text in texts.items() if at in self._places}
        self._last = step
        return lap

    def stays(self, columns: Sequence[Sequence[object]], steps: Sequence[int]) -> bool:
        """Whether rows that are read as a whole are of the same lap; they are noted then."""
        first = steps[0] if self._first is None else self._first
        rest = range(int(self._first is None), len(steps))
        end = next((at for at in rest if steps[at] <= first), len(steps))
        if end == 0:
            return False
        texts = {at: text_of(columns[at][0]) for at in self._places}
        kept = [
            at
            for at in self._places
            if self._texts.get(at, texts[at]) == texts[at]
            and columns[at][:end].count(columns[at][0]) == end
        ]
        if kept and end < len(steps):
            return False
        self._places, self._texts = kept, {at: texts[at] for at in kept}
        self._first, self._last, self._rows = first, steps[-1], self._rows + len(steps)
        return True

    @staticmethod
    def _may_tell(tag: str) -> bool:
        """Not an episode, in which steps begin anew as they do in each of its kind, nor what a
        logger writes: `train/learning_rate`.
        """
        is_logged = "/" in tag or is_metric(tag) or tag in TIME_KEYS
        return not is_logged and step_axis(tag) != "episode"

    def _lap(self, column: int) -> Lap:
        name = self._tags[column]
        counts_on = normalise(name) in _PARTS or step_axis(name) is not None
        return Lap(column, self._texts[column], counts_on)


def text_of(cell: object) -> str:
    """The text of a cell, which may be bytes or a number."""
    return (cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)).strip()
