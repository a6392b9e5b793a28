"""One process (a rank, say) on a console stream, and its current step."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import count

from ppo_top.parsers.console import ray_results, trainer_lines
from ppo_top.parsers.console.dicts import DictReader
from ppo_top.parsers.console.dicts import parse_record as dict_record
from ppo_top.parsers.console.line_templates import LineTemplates
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.run_end import RunEndDetector
from ppo_top.parsers.console.tables import ConsoleTable
from ppo_top.parsers.shared import metric_names
from ppo_top.parsers.shared.number_text import NUMBER_PATTERN, parse_number

_RSL_RL_HEADING = re.compile(r"\s*Learning iteration \d+/\d+\s*$")
_RSL_RL_ROW = re.compile(
    rf"\s*+([A-Za-z/_][^:|{{}}]{{0,120}}):\s++({NUMBER_PATTERN})\s?(?:s|steps/s|%)?(?:\s\([^)]*\))?\s*+$"
)


class ProcessStream:
    """Reads single-line records of one process and gives records their steps."""

    def __init__(self, count_step: Callable[[], int] | None = None) -> None:
        self.table = ConsoleTable()
        self.end_detector = RunEndDetector()
        self._count_step = count_step or partial(next, count(1))
        self.step: int | None = None
        self.axis = ""
        """What `step` counts; "" until a line has said a step."""
        self.counts_records = False
        """Whether a record was given its number, since nothing has said a step."""
        self._has_records = False
        self._templates = LineTemplates()
        self.dict_reader = DictReader()
        self._record_count = 0
        self._ray_result = ray_results.RayResult()
        self._in_rsl_rl_block = False  # inside the block of right-aligned pairs that rsl_rl prints

    def parse_line(self, text: str) -> ConsoleRecord | None:
        """The record of a line that is neither a table row nor a progress bar."""
        if text.startswith("{"):
            return self._parse_dict(text)
        if (
            self._ray_result.is_open or text.startswith(ray_results.RESULT_STARTS)
        ) and self._ray_result.add_line(text):
            return self._ray_result.pop_record()
        if self._in_rsl_rl_block and (row := _RSL_RL_ROW.match(text)):
            return ConsoleRecord([(row[1].strip(), float(parse_number(row[2]) or 0.0))])
        found = trainer_lines.parse_line(text) or self._templates.parse_line(text)
        if "Learning iteration" in text and _RSL_RL_HEADING.match(text):
            self._in_rsl_rl_block = True
        elif self._in_rsl_rl_block:
            self._in_rsl_rl_block = not found or ":" in text
        return self._separate_settings(found) if found else None

    def _parse_dict(self, text: str) -> ConsoleRecord | None:
        known = self.dict_reader.parse_line(text.encode("ascii")) if text.isascii() else None
        return ConsoleRecord(list(zip(*known, strict=True))) if known else dict_record(text)

    def _separate_settings(self, found: ConsoleRecord) -> ConsoleRecord:
        """Make values that are all hyperparameters, before any record, settings."""
        if self._has_records or not found.values or found.config:
            return found
        if all(metric_names.is_setting(tag) for tag, _ in found.values):
            return ConsoleRecord([], config=dict(found.values))
        return found

    def step_of(self, found: ConsoleRecord) -> int:
        """The step of a record: its own, else the last one, else the number of records."""
        self._has_records = True
        self._record_count += 1
        if found.step is None:
            self.counts_records |= self.step is None
            return self._record_count if self.step is None else self.step
        if self._has_coarser_step(found) and self.step is not None and _is_heading(found):
            return self.step
        self.step, self.axis = found.step, found.axis
        return found.step

    def note_table(self, step: int) -> None:
        """Note the step of a table that was read as a whole."""
        self._has_records = True
        self._record_count += 1
        self.step, self.axis = step, "table"
        self.table.is_open = False

    def next_step(self) -> int:
        """The step of a dictionary without one: the last one, else counted."""
        if self.axis and self.step is not None:
            return self.step
        self.counts_records = True
        return self._count_step()

    def _has_coarser_step(self, found: ConsoleRecord) -> bool:
        """Whether a step counts something coarser than the known one (epochs, say, not steps)."""
        axes = metric_names.STEP_AXES
        if self.axis not in axes or found.axis not in axes:
            return False
        return axes.index(found.axis) > axes.index(self.axis)


def _is_heading(found: ConsoleRecord) -> bool:
    """Whether a line says only a step."""
    return all(metric_names.step_axis(tag) is not None for tag, _ in found.values)
