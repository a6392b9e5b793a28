"""One speaker on a console stream (a rank, a process) and where its training stands."""

from __future__ import annotations

import re
from array import array

from ppo_top.model import ConfigValue
from ppo_top.parsers.console import ray_results as _results
from ppo_top.parsers.console import trainer_lines as _phrases
from ppo_top.parsers.console.dicts import Layouts
from ppo_top.parsers.console.dicts import record as dict_record
from ppo_top.parsers.console.line_templates import Forms
from ppo_top.parsers.console.progress_bars import Steps
from ppo_top.parsers.console.record import Record
from ppo_top.parsers.console.run_end import Endings
from ppo_top.parsers.console.tables import Table
from ppo_top.parsers.shared import metric_names as vocabulary
from ppo_top.parsers.shared.number_text import NUMBER, number

_BLOCK = re.compile(r"\s*Learning iteration \d+/\d+\s*$")
_BLOCK_ROW = re.compile(
    rf"\s*+([A-Za-z/_][^:|{{}}]{{0,120}}):\s++({NUMBER})\s?(?:s|steps/s|%)?(?:\s\([^)]*\))?\s*+$"
)


class Voice:
    """Reads the lines of one speaker that stand for themselves and gives records their steps."""

    def __init__(self) -> None:
        self.table = Table()
        self.endings = Endings()
        self.steps = Steps()
        self.step: int | None = None
        self.axis = ""
        """What `step` counts; "" as long as no line has said a step."""
        self._seen = False
        self._forms = Forms()
        self.layouts = Layouts()
        self._records = 0
        self._result = _results.Result()
        self._block = False  # inside the block of right-aligned pairs that rsl_rl prints

    def read(self, text: str) -> Record | None:
        """The record of a line that is neither a table's row nor a progress bar."""
        if text.startswith("{"):
            return self._dictionary(text)
        if (self._result.open or text.startswith(_results.HEADS)) and self._result.row(text):
            return self._result.close()
        if self._block and (row := _BLOCK_ROW.match(text)):
            return Record([(row[1].strip(), float(number(row[2]) or 0.0))])
        found = _phrases.read(text) or self._forms.read(text)
        if "Learning iteration" in text and _BLOCK.match(text):
            self._block = True
        elif self._block:
            self._block = not found or ":" in text
        return self._placed(found) if found else None

    def _dictionary(self, text: str) -> Record | None:
        known = self.layouts.read(text.encode("ascii")) if text.isascii() else None
        return Record(list(zip(*known, strict=True))) if known else dict_record(text)

    def _placed(self, found: Record) -> Record:
        """Tell settings that are printed before the training from values of the training."""
        if self._seen or not found.values or found.config:
            return found
        if all(vocabulary.is_setting(tag) for tag, _ in found.values):
            config: dict[str, ConfigValue] = dict(found.values)
            return Record([], config=config)
        return found

    def step_of(self, found: Record) -> int:
        """The step of a record: its own, else the last one said, else the records are counted."""
        self._seen = True
        self._records += 1
        if found.step is None:
            return self._records if self.step is None else self.step
        if self._coarser(found) and self.step is not None and _is_heading(found):
            return self.step
        self.step, self.axis = found.step, found.axis
        return found.step

    def tables(self, steps: array[int]) -> None:
        """Note tables that were read together, and their steps."""
        self._seen = True
        self._records += len(steps)
        self.step, self.axis = steps[-1], "table"
        self.table.open = False

    def count(self, records: int) -> array[int]:
        """The steps of dictionaries that say none: the last one said, else one after the other."""
        if self.axis and self.step is not None:
            return array("q", [self.step]) * records
        return array("q", self.steps.many(records))

    def _coarser(self, found: Record) -> bool:
        """Whether a step counts larger things than the one known (epochs where steps are known)."""
        axes = vocabulary.AXES
        if self.axis not in axes or found.axis not in axes:
            return False
        return axes.index(found.axis) > axes.index(self.axis)


def _is_heading(found: Record) -> bool:
    """A line that says a step and nothing else."""
    return all(vocabulary.axis(tag) is not None for tag, _ in found.values)
