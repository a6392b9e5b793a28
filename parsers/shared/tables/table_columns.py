"""Tables with a column for each metric: what their columns are, and the rows below them.

Those of Hugging Face's trainers have the columns of `NotebookProgressCallback`
(transformers/utils/notebook.py), and of Unsloth, which adds the trainer's metrics with blanks
around each slash. Others begin with a step and name a metric: `epoch  reward  kl`. Their cells may
be percentages or seconds, and the last may be a remark. In Markdown, where a rule below them shows
that they are names, the step may stand in any column, or in none: a `progress.csv` in an issue.
"""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.axes import find_step_key
from ppo_top.parsers.shared.tables.html_rows import MAX_COLUMNS
from ppo_top.parsers.shared.text.number_text import as_step, parse_number

_STEP_COLUMNS = ("Step", "Epoch")
LOSS_COLUMN = "Training Loss"
TAGS = {LOSS_COLUMN: "loss", "Validation Loss": "eval/loss"}
_NO_VALUE = frozenset({"", "-", "\u2013", "\u2014", "none", "no log", "n/a", "true", "false"})
_AROUND_CELLS = " \t`*"
"""Blanks, and what Markdown sets in bold or as code."""
_FEWEST_PLAIN_COLUMNS = 3
_FEWEST_BEFORE_NOTES = 4
_FEWEST_IN_MARKDOWN = 2
_FEWEST_WITHOUT_STEP = 4
"""Columns of a table whose rows are counted; one of two may list settings and their results."""


class TableRow(NamedTuple):
    """One row: its step, its values by tag, and what the step counts.

    The step is an epoch where the table counts epochs, and None (its axis "") where it has none;
    `axis` is one of `metric_names.STEP_AXES`.
    """

    step: int | None
    values: list[tuple[str, float]]
    axis: str


class TableColumns:
    """The columns of one table: their tags, and which of them is the step (None without one)."""

    def __init__(
        self,
        cells: Sequence[str],
        axis: str,
        *,
        step_place: int | None = 0,
        is_plain: bool = False,
    ) -> None:
        self._has_evaluation = "Validation Loss" in cells
        self.is_plain = is_plain
        self.axis = axis
        self.width = len(cells)
        self.step_place = step_place
        self._tags = tuple(self._tag_of(cell) for cell in cells)
        step_name = cells[0] if step_place is None else cells[step_place]
        self._numbers_steps = is_plain and metric_names.numbers_steps(step_name)

    @property
    def tags(self) -> tuple[str, ...]:
        """Those of the values; the step's, too, where that is the number of an episode."""
        kept = None if self._numbers_steps else self.step_place
        return tuple(tag for at, tag in enumerate(self._tags) if at != kept)

    def _tag_of(self, cell: str) -> str:
        """A column's tag; in tables with evaluations, capitalised columns are their metrics."""
        plain = cell.replace(" / ", "/")
        if plain in TAGS:
            return TAGS[plain]
        if self._has_evaluation and plain[:1].isupper():
            return "eval/" + plain.replace(" ", "_").lower()
        return plain

    def _is_remark(self, place: int) -> bool:
        """Whether a text stands in the last column of many, which is called `Notes`, say."""
        return self.is_plain and place == self.width - 1 >= _FEWEST_BEFORE_NOTES

    def row(self, cells: Sequence[str]) -> TableRow | None:
        """The row of these cells; None if they are none."""
        fewest = 2 if self.step_place == 0 else self.width  # where the rest may be cut off
        if not fewest <= len(cells) <= self.width:
            return None
        step = None
        if self.step_place is not None:
            step = as_step(parse_number(cells[self.step_place]))
            if step is None:
                return None
        values = []
        for place, (tag, cell) in enumerate(zip(self._tags, cells, strict=False)):
            if place == self.step_place and not self._numbers_steps:
                continue
            word = cell.strip(_AROUND_CELLS)
            number = parse_number(word)
            if number is None and self.is_plain and word.endswith("%"):
                tag, number = f"{tag}%", parse_number(word[:-1])
            if number is None and self.is_plain and word.endswith("s"):
                number = parse_number(word[:-1])
            if number is not None:
                values.append((tag, number))
            elif word.lower() not in _NO_VALUE and not self._is_remark(place):
                return None
        return TableRow(step, values, self.axis) if values or step is not None else None


def trainer_columns(cells: Sequence[str]) -> TableColumns | None:
    """The columns that a header names; None if it is not that of Hugging Face's trainers."""
    found = [cell.strip() for cell in cells]
    if len(found) > MAX_COLUMNS or found[:1] not in [[name] for name in _STEP_COLUMNS]:
        return None
    return TableColumns(found, found[0].lower()) if LOSS_COLUMN in found else None


def plain_columns(cells: Sequence[str]) -> TableColumns | None:
    """The columns of any other table that begins with a step and has a metric."""
    found = [cell.strip() for cell in cells]
    axis = metric_names.step_axis(found[0])
    if axis is None and found[0] == find_step_key(found):  # `steps` beside `episodes`, of PFRL
        axis = "timesteps"
    if axis is None or not _FEWEST_PLAIN_COLUMNS <= len(found) <= MAX_COLUMNS or not all(found):
        return None
    is_table = any(map(metric_names.is_metric, found))
    return TableColumns(found, axis, is_plain=True) if is_table else None


def columns_above_rule(cells: Sequence[str]) -> TableColumns | None:
    """The columns of a table in Markdown whose names have a metric, wherever its step stands."""
    found = [cell.strip(_AROUND_CELLS) for cell in cells]
    is_odd = len(set(found)) < len(found) or not all(found)
    if is_odd or not _FEWEST_IN_MARKDOWN <= len(found) <= MAX_COLUMNS:
        return None
    name = find_step_key(found)
    if not any(map(metric_names.is_metric, found)):
        return None
    if name is None and len(found) < _FEWEST_WITHOUT_STEP:
        return None
    place = None if name is None else found.index(name)
    axis = "" if name is None else metric_names.step_axis(name) or "timesteps"
    return TableColumns(found, axis, step_place=place, is_plain=True)
