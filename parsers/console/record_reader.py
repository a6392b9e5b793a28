"""Records of a console's lines, from several processes and beside bars, and their steps."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ppo_top.model import ConfigValue, RunEnd, State
from ppo_top.model.console_lines import MAX_LINE_CHARS as LONGEST_LINE
from ppo_top.parsers.console.batch_builder import BatchBuilder
from ppo_top.parsers.console.lines.log_lines import LogLines
from ppo_top.parsers.console.lines.unread_lines import UnreadLines
from ppo_top.parsers.console.process import ProcessStream
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.records import dicts, trainer_lines
from ppo_top.parsers.console.steps import progress_bars
from ppo_top.parsers.console.steps.bar_steps import BarSteps, is_evaluation
from ppo_top.parsers.console.tables import ruled_table
from ppo_top.parsers.console.tables.metrics_panel import MetricsPanel
from ppo_top.parsers.console.tables.population_table import PopulationTable
from ppo_top.parsers.console.tables.puffer_dashboard import PufferDashboard
from ppo_top.parsers.console.tables.rlinf_table import RlinfTable
from ppo_top.parsers.console.tables.trial_table import TrialTable
from ppo_top.parsers.console.trainings import TRIAL
from ppo_top.parsers.shared.names.metric_names import TOTAL_SETTINGS
from ppo_top.parsers.shared.text.number_text import as_step, named_numbers

_MAX_PROCESSES = 64
BLOCK_BUFFERED = "this log is block-buffered: run python with -u to see it live"

_FRAMES = (PopulationTable, PufferDashboard, MetricsPanel, RlinfTable, TrialTable)
"""Tables with a frame of lines, each of which makes one record."""


class RecordReader:
    """Reads whole lines without prefixes, each of a named process, and bars.

    What they say goes to `builder`; `log_lines` learn the step of lines that waited for it.
    """

    def __init__(
        self, patterns: Sequence[re.Pattern[str]], builder: BatchBuilder, log_lines: LogLines
    ) -> None:
        self._patterns = patterns
        self._builder = builder
        self._log_lines = log_lines
        self.bar_steps = BarSteps(self._add_placed)
        self.main_process = ProcessStream(self.bar_steps.count_step)
        self.processes: dict[str, ProcessStream] = {"": self.main_process}
        self.unread = UnreadLines()
        self._bar_values = progress_bars.BarValues()
        self._new_total: int | None = None
        self._bar_step: int | None = None
        """Where the bar is, once it has told the step of a dictionary."""
        self._heads_dicts = False
        """Whether a line above a dictionary says the step, so that the bar counts what is in it."""
        self._pair_lists = trainer_lines.PairLists()
        self._frames = tuple(table() for table in _FRAMES)
        self._first_trial = ""

    @property
    def is_waiting(self) -> bool:
        """Whether lines wait for a record whose step is unknown yet."""
        if self.bar_steps.is_waiting or self.main_process.table.has_rows:
            return True
        return len(self.processes) > 1 and any(v.table.has_rows for v in self.processes.values())

    def process_name(self, name: str) -> str:
        """The name under which a process is read; "" where there are too many."""
        if name not in self.processes:
            if len(self.processes) >= _MAX_PROCESSES:
                return ""
            self.processes[name] = ProcessStream()
        return name

    def finish(self) -> None:
        """Add what still waits, and what the log may have been cut off in."""
        for name, process in self.processes.items():
            if (summary := process.pop_summary()) is not None:
                self._add_record(name, summary)
            table = process.table.pop_record()
            if table is not None and ruled_table.has_certain_step(table.values):
                self._add_record(name, table)
        self._add_waiting()
        if self.main_process.step is not None:
            self._settle_total(self.main_process.step)

    def _add_waiting(self) -> None:
        """Add the records that wait for others to tell their steps."""
        self.bar_steps.finish()
        for name, process in self.processes.items():
            self._add_stepped(name, process.release_steps())

    def parse_line(self, text: str, name: str, time: float) -> None:
        """Read a line of this process, written at this unix time."""
        for each in dicts.parted(text):
            self._parse_text(each, name, time)

    def _parse_text(self, text: str, name: str, time: float) -> None:
        process = self.processes[name]
        if (self._patterns and self._match_patterns(text, name, time)) or self._add_table_line(
            text, name
        ):
            return
        if (rows := process.text_tables.read_line(text)) is not None:
            for row in rows:
                self._add_record(name, ConsoleRecord(row.values, row.step, row.axis, time=time))
            return
        if (listed := self._pair_lists.read_line(text)) is not None:
            if listed:
                self._add_record(name, listed._replace(time=time))
            self.unread.add_line(text, is_read=True)
            return
        found = None if process.end_detector.in_traceback else process.parse_line(text)
        if found is not None:
            self._add_found(text, name, found if time != time else found._replace(time=time))
        else:
            if name == "":
                self.bar_steps.note_text()
            self._builder.read_text(text, name)
        self.unread.add_line(text, is_read=found is not None or process.is_in_result)
        ended = process.end_detector.read_line(text, found is not None)
        if ended is not None:
            self._add_waiting()  # printed before it: no sign that the run goes on
            self._builder.set_end(ended)

    def _add_found(self, text: str, name: str, found: ConsoleRecord) -> None:
        if name == "" and text.startswith("{") and found.values and found.step is None:
            self._add_dict(found)
        else:
            self._add_record(name, found)
        if dicts.RUNTIME_KEY in text and (summary := dicts.runtime_text(found)):
            self._builder.set_end(RunEnd(State.FINISHED, summary))

    def _add_table_line(self, text: str, name: str) -> bool:
        """Add a line to the table it belongs to; False if there is none."""
        process = self.processes[name]
        table = process.table
        for frame in self._frames:
            if frame.read_line(text):
                if (record := frame.pop_record(text)) is not None:
                    self._add_record(name, record)
                return True
        text = text.lstrip()  # of a code block in a text
        if ruled_table.is_rule(text):
            record = table.add_rule(text, is_titled=process.is_below_heading)
            if record is not None:
                self._add_record(name, record)
            return True
        if text[:1] == "|" and (record := table.open_bare(text)) is not None:
            self._add_record(name, record)
        if not table.is_open or table.add_line(text):
            return table.is_open
        if not table.has_rows:
            table.is_open = False
        elif table.note_other_line() and (record := table.pop_record()) is not None:
            self._add_record(name, record)
        return False

    def _match_patterns(self, text: str, name: str, time: float) -> bool:
        """Read a line that matches one of the user's patterns."""
        for pattern in self._patterns:
            match = pattern.search(text[:LONGEST_LINE])
            if match is None:
                continue
            values = dict(named_numbers(match.groupdict("").items()))
            step, total = values.pop("step", None), values.pop("total", None)
            config: dict[str, ConfigValue] = {} if total is None else {"total_iterations": total}
            found = ConsoleRecord(list(values.items()), as_step(step), "step", config, time)
            self._add_record(name, found)
            return True
        return False

    def follow_bar(self, bar: progress_bars.ProgressBar) -> bool:
        """Follow a bar; False if it does not count the training's steps."""
        known = self.bar_steps.total
        if not self.bar_steps.draw(bar):
            return False
        if self._bar_step is not None:
            self._bar_step = bar.done
        if bar.total and bar.total != known and not bar.counts_part:
            self._new_total = bar.total
        return True

    def _settle_total(self, stated: int | None = None) -> None:
        """Take over the length of a training, once that has a record.

        `trainer.evaluate()` after the training has a bar of its own, and that of a rollout does not
        count what the record has `stated`.
        """
        if stated is not None and not self.bar_steps.may_count(stated):
            return
        if self._new_total is not None:
            self._builder.add_settings({"max_steps": self._new_total})
            self._new_total = None

    def add_bar_values(self, bar: progress_bars.ProgressBar, text: str, followed: bool) -> None:
        """Add the values next to a bar, unless other lines say more.

        Those of a bar that counts nothing are of the epoch, say, that its name and the lines say.
        """
        axis = self.main_process.axis
        if axis and (bar.total or bar.done):
            return
        found = self._bar_values.read_record(bar, text, followed)
        if found is None or found.step is None or axis not in ("", found.axis):
            return
        self._settle_total()
        self._builder.add_record("", found, found.step)
        if found.axis:  # it says which step that is: that of lines without one, too
            self._add_stepped("", self.main_process.release_steps())
            tags = tuple(tag for tag, _ in found.values)
            values = [value for _, value in found.values]
            self.main_process.note_steps([found.step], tags, values, is_heading=False)

    def _add_dict(self, found: ConsoleRecord) -> None:
        """Add a dictionary behind the lines before it, whose steps no line has told."""
        if self.main_process.awaits_steps:
            self._add_stepped("", self.main_process.release_steps())
        self._heads_dicts |= self.main_process.is_below_heading
        if self.bar_steps.total is None or self._heads_dicts:
            (step,), counted = self.main_process.next_steps(1)
            self._builder.add_record("", found, step, counted=counted)
        else:
            self.bar_steps.add(found)

    def _add_placed(self, found: ConsoleRecord, step: int) -> None:
        """Add a dictionary at the step that the bars tell."""
        if not is_evaluation(found):
            self._settle_total()
        self._builder.add_record("", found, step, counted=self.bar_steps.counts_bars)
        if not self.bar_steps.counts_bars:
            self._bar_step = step
        if self.bar_steps.is_block_buffered:
            self._builder.add_note(BLOCK_BUFFERED)
        if not self.is_waiting:
            self._log_lines.set_step(step)

    def _add_record(self, name: str, found: ConsoleRecord) -> None:
        """Add a record at its own step, else at that of the bar, else at the last one."""
        self._first_trial = self._first_trial or found.trial
        if found.trial != self._first_trial and found.trial:
            name = self.process_name(TRIAL + found.trial)  # its steps are not those of the first
        is_beside_bar = name == "" and found.step is None and not self.main_process.axis
        if found.values and is_beside_bar and self._bar_step is not None:
            self._builder.add_settings(found.config, name)
            self._builder.add_record(name, found, self._bar_step)
        elif found.values or found.step is not None:
            may_begin = self._builder.expects_training
            self._add_stepped(name, self.processes[name].tell_steps(found, may_begin=may_begin))
        else:
            self._builder.add_settings(found.config, name)

    def _add_stepped(self, name: str, records: Sequence[ConsoleRecord]) -> None:
        for found in records:
            source = TRIAL + found.trial if found.trial else name
            says_more = found.step is None or len(found.values) > 1
            if not found.config.keys().isdisjoint(TOTAL_SETTINGS.values()):
                self._new_total = None  # the record says it itself
            elif says_more and not is_evaluation(found):
                self._settle_total(found.step)
            self._builder.add_settings(found.config, name)
            may_begin = self._builder.expects_training
            step, counted = self.processes[name].step_of(found, may_begin=may_begin)
            self._builder.add_record(source, found, step, counted=counted)
