"""One process (a rank, say) on a console stream, and its current step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ppo_top.parsers.console.lines.run_end import RunEndDetector
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.records import (
    block_rows,
    dicts,
    evaluation_part,
    headings,
    ray_results,
    trainer_lines,
)
from ppo_top.parsers.console.records.di_engine import DiEngineLog
from ppo_top.parsers.console.records.dicts import DictReader
from ppo_top.parsers.console.records.dicts import parse_record as dict_record
from ppo_top.parsers.console.records.joined_lines import JoinedLines
from ppo_top.parsers.console.records.line_templates import LineTemplate, LineTemplates
from ppo_top.parsers.console.records.settings_lines import SettingsLines
from ppo_top.parsers.console.steps.laps import lap_length
from ppo_top.parsers.console.steps.process_steps import ProcessSteps
from ppo_top.parsers.console.tables.nested_map import NestedMap
from ppo_top.parsers.console.tables.ruled_table import ConsoleTable
from ppo_top.parsers.console.tables.tune_table import TuneTable
from ppo_top.parsers.console.tables.wandb_summary import WandbSummary
from ppo_top.parsers.shared.tables.text_tables import TextTables
from ppo_top.text.lazy_pattern import lazy_pattern

_COUNT_OF_BLOCK = lazy_pattern("(?i)num_?(?:time)?steps$")
_TABLE_BORDERS = ("|", "│")
_STATES_STEPS = ("Using LocalLogger is deprecated", "Wrapping the env ")
"""Of verl, which prints `step:1 - ...`, after what a reward function prints of each sample, and of
SB3, whose first table comes after the episodes that a callback prints."""
_SB3_START = lazy_pattern(r"Using \w{3,5} device$")
_SB3_FOLDER = "Logging to "
"""What SB3 prints below that line if it is given an environment that needs no wrapping."""

_INTERVAL_STEPS = " steps performed)"
_KERAS_BAR = lazy_pattern(r"\s*+\d{1,15}/\d{1,15} \[[=>.]{1,80}\] - ETA: ")


class ProcessStream(ProcessSteps):
    """Reads single-line records of one process and gives records their steps."""

    def __init__(self, count_step: Callable[[], int] | None = None) -> None:
        super().__init__(count_step)
        self.table = ConsoleTable()
        self.text_tables = TextTables()
        self.joined_lines = JoinedLines()
        self.end_detector = RunEndDetector()
        self._evaluation = evaluation_part.EvaluationPart()
        self._settings = SettingsLines()
        self.templates = LineTemplates()
        self.dict_reader = DictReader()
        self._ray_result = ray_results.RayResult()
        self._nested_map = NestedMap()
        self._tune_table = TuneTable()
        self._di_engine = DiEngineLog()
        self._run_summary = WandbSummary()
        self._in_block = False
        """Inside a block of single pairs."""
        self._may_be_sb3 = False
        self._headings = headings.WordedHeadings()
        self._in_interval = False
        """Below Keras-RL's `Interval 2 (1000 steps performed)`."""

    def parse_line(self, text: str) -> ConsoleRecord | None:
        """The record of a line that is neither a table row nor a progress bar."""
        if text.startswith(("{", "'")) and (whole := dicts.with_start(text)):
            return self._parse_dict(whole)
        if (result := self._read_block(text)) is not None:
            return result or None
        if self._in_block and (row := block_rows.row_of_block(text)) is not None:
            return row
        if not self._has_records and block_rows.is_rest(text):
            return None
        if self._is_bar_of_interval(text):
            return None
        found = trainer_lines.parse_line(text) or self._parse_pairs(text)
        has_begun = self._has_records or self._stated.has_begun
        found = found or self._headings.read(text, is_first=not has_begun)
        if block_rows.is_heading(text):
            self._in_block = True
        elif self._in_block:
            self._in_block = not found or (":" in text and not found.is_heading)
        found = self._read_below_heading(text, found)
        if found is None or not found.values:
            self._read_start(text)
        if found is None:
            self._evaluation.read_text(text)
            return self._settings.read_other(text, has_records=has_begun)
        found = self._evaluation.read_record(found, self.step, self.axis)
        return self._settings.separate(found, text, has_records=has_begun)

    def _read_start(self, text: str) -> None:
        """Learn from what a trainer prints at its start that a step will be said."""
        is_sb3 = self._may_be_sb3 and text.startswith(_SB3_FOLDER)
        if is_sb3 or text.startswith(_STATES_STEPS):
            self._stated.expect_step()
        is_start = text.startswith("Using ") and _SB3_START.match(text) is not None
        self._may_be_sb3 = self._may_be_sb3 or is_start

    def _is_bar_of_interval(self, text: str) -> bool:
        """Whether a line is a state of a bar within an interval, whose means are printed below."""
        self._in_interval = self._in_interval or text.endswith(_INTERVAL_STEPS)
        return self._in_interval and _KERAS_BAR.match(text) is not None

    def _parse_pairs(self, text: str) -> ConsoleRecord | None:
        """The record of names and numbers.

        Where it is labelled as an evaluation's, its step is that of the training, if that says any.
        """
        if baseline_rest := evaluation_part.text_behind_baseline(text):
            found = self.templates.parse_line(baseline_rest)
            self.templates.pop_last_used()
            if found is not None:
                return evaluation_part.as_baseline(found)
        if count_rest := evaluation_part.text_behind_count(text):
            found = self.templates.parse_line(count_rest)
            self.templates.pop_last_used()
            return found and evaluation_part.as_evaluation(found, None, "")
        rest = evaluation_part.text_behind_label(text)
        found = self.templates.parse_line(rest) if rest else None
        if rest and found is None and (lone := evaluation_part.lone_reward(rest)) is not None:
            return evaluation_part.as_evaluation(lone, None, "")
        if found is None or not evaluation_part.is_all_labelled(found):
            return self.templates.parse_line(text)
        self.templates.pop_last_used()  # which stands for lines without a label
        if self._trains_by_steps:
            return evaluation_part.as_evaluation(found, None, "")
        return found._replace(is_evaluation=True)

    def _read_below_heading(self, text: str, found: ConsoleRecord | None) -> ConsoleRecord | None:
        """Below a line that says only a step each pair is a record, whatever it is called.

        A number of steps there is that of the block.
        """
        if found is None:
            row = block_rows.row_below_heading(text) if self.is_below_heading else None
            self.is_below_heading = row is not None
            return row
        if found.step is not None:
            is_count = len(found.values) == 1 and _COUNT_OF_BLOCK.match(found.values[0][0])
            if self.is_below_heading and is_count:
                return found._replace(step=None, axis="")
            self.is_below_heading = found.is_heading
        return found

    def pop_summary(self) -> ConsoleRecord | None:
        """The last values as wandb or Ray prints them, where the console holds no others."""
        summary = self._run_summary.pop_record()
        found = None if self.dict_reader.has_read else summary
        found = found or self._ray_result.pop_rest()
        return None if self._has_records else found

    def _read_block(self, text: str) -> ConsoleRecord | tuple[()] | None:
        """The record of some program's own lines; empty if a line is its and completes none."""
        if (found := self._di_engine.read_line(text)) is not None:
            return found
        leaf = self._nested_map.read_line(text, may_begin=self.is_below_heading)
        if leaf is not None:
            return leaf
        if self._run_summary.read_line(text):
            return ()
        if self._run_summary.is_open:
            return self.pop_summary() or ()
        if self._ray_result.is_open or text.startswith(ray_results.RESULT_STARTS):
            if self._ray_result.add_line(text):
                return self._ray_result.pop_record() or ()
        elif text[:1] in _TABLE_BORDERS and not self._ray_result.has_trials:
            return self._tune_table.read_line(text)
        return None

    def _parse_dict(self, text: str) -> ConsoleRecord | None:
        known = self.dict_reader.parse_line(text.encode("ascii")) if text.isascii() else None
        found = ConsoleRecord(list(zip(*known, strict=True))) if known else dict_record(text)
        self.dict_reader.has_read |= found is not None and bool(found.values)
        return found

    @property
    def is_in_result(self) -> bool:
        """Whether the last line belongs to a result of Ray's, which is a record in the end."""
        return self._ray_result.is_open

    @property
    def awaits_steps(self) -> bool:
        """Whether records wait for others that tell their step."""
        return self._stated.is_waiting

    def tell_steps(
        self, found: ConsoleRecord, *, may_begin: bool = False
    ) -> Sequence[ConsoleRecord]:
        """The records that have their step, if they say one; this one is the last of them.

        `may_begin`: it may be the first of another training, as something else says.
        """
        ready = self._stated.read(found, self.step, self.axis, may_begin=may_begin)
        self.templates.settle_bare_steps(self.episode_steps.bare_steps_count)
        return ready

    def release_steps(self) -> Sequence[ConsoleRecord]:
        """The records that wait: no others will tell their step."""
        ready = self._stated.release(self.step, self.axis)
        self.templates.settle_bare_steps(self.episode_steps.bare_steps_count)
        return ready

    def may_be_read_fast(self, template: LineTemplate) -> bool:
        """Whether it is known what the step of such lines is, and the line alone tells it."""
        tags, axis = template.tags, template.axis
        may_turn = lap_length(axis, template.config) is not None or len(template.config) > 1
        return not (template.begins_line or may_turn or self.episode_steps.may_wait(tags, axis))

    @property
    def is_plain(self) -> bool:
        """Whether no block, evaluation or wrapped record is open: a line stands for itself."""
        inside = self._in_block or self._ray_result.is_open or self.table.is_open
        inside = inside or self.joined_lines.is_open or self._evaluation.is_open
        inside = inside or self._nested_map.is_open
        return not (inside or self._settings.is_open)

    def note_table(self, step: int) -> None:
        super().note_table(step)
        self.table.is_open = False

    def may_evaluate_at(self, step: int, kinds: Iterable[tuple[str, ...]]) -> bool:
        """Whether evaluations of these tags stand between tables, and say the steps of those."""
        says_steps = self._steps_by_axis["table"] and self.axis in ("table", "timesteps")
        if not says_steps or not self.follows_steps(self.axis, ()):
            return False
        falls = self.step is None or step < self.step or self._nested.falls("timesteps", step)
        is_known = all(map(self._evaluation.is_training, kinds))
        return is_known and not falls and not self._nested.are_nested

    def note_evaluation(self, step: int) -> None:
        """Note the step of an evaluation that was read as a whole; see `may_evaluate_at`."""
        self.axis = "timesteps"
        self.note_steps([step], (), (), is_heading=False)
