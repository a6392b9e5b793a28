"""What a training run prints: tables, dictionaries, progress bars and its own lines, mixed.

One stream may hold all of them, from several ranks, with colours and warnings in between, so one
parser reads them all. It also collects every line for the log pane.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ppo_top.model import UNKNOWN_TIME, Batch, ConfigValue, Problem, RunEnd, State
from ppo_top.model.console_lines import MAX_LINE_CHARS as LONGEST_LINE
from ppo_top.parsers.base import Format
from ppo_top.parsers.console.batch_builder import BatchBuilder
from ppo_top.parsers.console.fast_path import FastPath
from ppo_top.parsers.console.lines import text_check
from ppo_top.parsers.console.lines.encoding import Utf16Decoder
from ppo_top.parsers.console.lines.log_lines import LogLines
from ppo_top.parsers.console.lines.text_check import intact_start, is_damaged
from ppo_top.parsers.console.lines.unread_lines import UnreadLines
from ppo_top.parsers.console.lines.unwrap import UnwrappedLine, Unwrapper
from ppo_top.parsers.console.process import ProcessStream
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.records import dicts
from ppo_top.parsers.console.steps import progress_bars
from ppo_top.parsers.console.steps.bar_steps import BarSteps
from ppo_top.parsers.console.tables import ruled_table
from ppo_top.parsers.file_names import UNSURE_CONSOLE_NAMES
from ppo_top.parsers.shared.text.line_splitter import MAX_LINE_BYTES, LineSplitter, Segment
from ppo_top.parsers.shared.text.number_text import as_step, parse_number
from ppo_top.parsers.shared.text.plain_text import to_plain_text

_PEEK_BYTES = 1024
_MAX_PROCESSES = 64
_MAX_TORN_CHARS = 1 << 20
BLOCK_BUFFERED = "this log is block-buffered: run python with -u to see it live"
_NEWLINE, _DASH, _BRACE, _BAR = b"\n-{|"


class ConsoleParser:
    """Reads one console stream.

    Named groups of the user's `patterns` become tags; `step` and `total` are the step and the total
    number of steps.
    """

    def __init__(
        self, patterns: Sequence[re.Pattern[str]] = (), max_line_bytes: int = MAX_LINE_BYTES
    ) -> None:
        self._patterns = tuple(patterns)
        self._has_fast_path = not patterns and max_line_bytes >= MAX_LINE_BYTES
        self._decoder = Utf16Decoder()
        self._splitter = LineSplitter(max_line_bytes)
        self._unwrapper = Unwrapper()
        self._bar_steps = BarSteps(self._add_placed)
        self._main_process = ProcessStream(self._bar_steps.count_step)
        self._processes: dict[str, ProcessStream] = {"": self._main_process}
        self._log_lines = LogLines()
        self._builder = BatchBuilder(self._log_lines.pop_lines)
        self._fast_path = FastPath(self._builder, self._log_lines)
        self._unread = UnreadLines()
        self._bar_values = progress_bars.BarValues()
        self._is_after_bar = False
        self._open_text = ""
        """Text that a carriage return ended: to be drawn over, or torn by a bar on stderr."""
        self._is_torn = False

    def feed(self, data: bytes) -> Batch:
        """What the next bytes of the stream complete."""
        if not self._decoder.is_utf8:
            data = self._decoder.decode(data)
        data, offset = self._splitter.add_bytes(data)
        if self._splitter.dropped_newline is not None:
            self._log_lines.skip_segment(self._splitter.dropped_newline)
        position = 0
        while position < len(data):
            end = self._read_fast(data, offset, position)
            position = end or self._read_segment(data, offset, position)
        if self._bar_steps.is_waiting:
            self._peek_at_bar()
        return self._pop_batch()

    def finish(self) -> Batch:
        """What was waiting; an unfinished last line counts only if it is a closed dictionary."""
        rest = self._splitter.unfinished()
        shown = to_plain_text(rest.data)
        if rest.data.strip():
            self._log_lines.add_line(rest.offset, shown)
        if self._is_closed_dict(self._open_text * self._is_torn + shown):
            self._read_line(rest)
        elif not self._is_torn:
            self._read_open_text()
        self._read_held_lines()
        self._bar_steps.finish()
        for name, process in self._processes.items():
            if (summary := process.pop_summary()) is not None:
                self._add_record(name, summary)
            table = process.table.pop_record()
            if table is not None and ruled_table.has_certain_step(table):
                self._add_record(name, table)
            self._add_stepped(name, process.release_steps())
        self._log_lines.set_step(self._builder.step)
        self._builder.finish()
        if note := self._unread.note():
            self._builder.add_note(note)
        return self._pop_batch()

    def _pop_batch(self) -> Batch:
        return self._builder.pop_batch(self._splitter.pop_problems())

    # --- from bytes to lines ---------------------------------------------------------------------

    def _read_fast(self, data: bytes, offset: int, position: int) -> int:
        """Read a table, dictionary or line as a whole; its end, or 0 if that takes longer."""
        main = self._main_process
        if (
            self._log_lines.pending
            or not self._log_lines.at_line_start
            or self._bar_steps.is_waiting
            or self._open_text
            or not self._has_fast_path
            or main.table.has_rows
            or main.joined_lines.is_open
            or main.awaits_steps
            or main.end_detector.in_traceback
        ):
            return 0
        first = data[position]
        end = 0
        if first == _DASH:
            return self._fast_path.read_table(main, data, offset, position)
        if first == _BAR:
            return self._fast_path.read_rows(main, data, offset, position) if main.is_plain else 0
        if first != _BRACE:
            if main.is_plain:
                end = self._fast_path.read_pairs(main, data, offset, position)
        elif self._bar_steps.total is None:  # a bar would say the step
            end = self._fast_path.read_dict(main, data, offset, position)
        self._unread.add_read(data.count(b"\n", position, end))
        return end

    def _read_segment(self, data: bytes, offset: int, position: int) -> int:
        """Read one line, or what is up to a carriage return."""
        segment, end = self._splitter.segment_at(data, offset, position)
        if segment is None:
            self._log_lines.skip_segment(data[end - 1] == _NEWLINE)
        elif segment.data.strip():
            self._log_lines.add_segment(segment, self._read_line(segment))
        else:
            self._read_blank(segment)
        if not self._is_waiting():
            self._log_lines.set_step(self._builder.step)
        return end

    def _read_blank(self, segment: Segment) -> None:
        """Blanks right after the training's bar erase it."""
        self._log_lines.add_blank(segment)
        if segment.newline:
            self._end_open_line()
        if segment.data and self._is_after_bar and not segment.data.strip(b" "):
            self._bar_steps.erase()
        self._is_after_bar = False

    def _is_waiting(self) -> bool:
        """Whether lines wait for a record whose step is unknown yet."""
        if self._bar_steps.is_waiting or self._main_process.table.has_rows:
            return True
        return len(self._processes) > 1 and any(v.table.has_rows for v in self._processes.values())

    def _read_line(self, segment: Segment) -> str:
        """Read all values of a line; return its plain text."""
        shown = text = to_plain_text(segment.data)
        if len(shown) != len(segment.data) and is_damaged(segment.data, segment.offset):
            return self._drop_damaged(segment, shown)
        self._is_after_bar = False
        bar = progress_bars.find_bar(shown)
        if bar is not None:
            self._is_torn = bool(self._open_text)
            self._is_after_bar = self._follow_bar(bar)
            self._add_bar_values(bar, shown[: bar.end], self._is_after_bar)
            text = shown[bar.end :] if bar.end else ""
        if text.strip():
            self._is_after_bar = False
            self._read_printed(text, segment)
        elif segment.newline:
            self._end_open_line()
        return shown

    def _drop_damaged(self, segment: Segment, shown: str) -> str:
        """A line with zeros or control bytes inside costs only itself, and no bar before them."""
        bar = progress_bars.find_bar(to_plain_text(intact_start(segment.data)))
        if bar is not None:
            self._follow_bar(bar)
        self._splitter.problems.append(Problem(segment.offset, "damaged line: control bytes"))
        self._open_text, self._is_torn, self._is_after_bar = "", False, False
        return shown

    def _read_printed(self, text: str, segment: Segment) -> None:
        """Read what was printed between bars; a bar on stderr may tear it anywhere."""
        if self._is_torn and len(self._open_text) < _MAX_TORN_CHARS:
            text = self._open_text + text
        else:
            self._read_open_text()
        self._open_text, self._is_torn = text, False
        if segment.newline or self._bar_steps.total is None or self._is_closed_dict(text):
            self._read_open_text(is_line=segment.newline)

    def _end_open_line(self) -> None:
        """A line ended on either stream; a dictionary goes on until it is closed."""
        if not (self._is_torn and self._unwrapper.unwrap(self._open_text).text.startswith("{")):
            self._read_open_text()

    def _read_open_text(self, *, is_line: bool = False) -> None:
        text, self._open_text, self._is_torn = self._open_text, "", False
        if not text:
            return
        plain = self._main_process.joined_lines
        if is_line and plain.is_open and plain.is_plain:
            self._parse_plain(plain.add_line(text))
            return
        is_dict = text[0] == "{"
        found = UnwrappedLine(text, "", UNKNOWN_TIME) if is_dict else self._unwrapper.unwrap(text)
        name = found.process and self._process_name(found.process)
        joined = self._processes[name].joined_lines
        lines = joined.add_line(found.text) if is_line else [*joined.release(), found.text]
        joined.is_plain = found.text == text
        for line in lines:
            self._parse_line(line.rstrip(), name, found.time)
        process = self._processes[name]
        used = process.templates.pop_last_used()
        if used is None or not is_line or name or lines != [text]:
            return
        if process.may_be_read_fast(used[1]):
            self._fast_path.line_layouts.learn(text, *used)

    def _parse_plain(self, lines: Sequence[str]) -> None:
        """Read held lines: those of a wrapped record have no prefixes, others may."""
        for line in lines:
            text, name, time = self._unwrapper.unwrap(line)
            self._parse_line(text.rstrip(), name and self._process_name(name), time)

    def _read_held_lines(self) -> None:
        self._parse_plain(self._main_process.joined_lines.release())
        for name, process in self._processes.items():
            for line in process.joined_lines.release():
                self._parse_line(line.rstrip(), name, UNKNOWN_TIME)

    def _is_closed_dict(self, text: str) -> bool:
        text = text.strip()
        if not text.endswith("}"):
            return False
        return text.startswith("{") or self._unwrapper.unwrap(text).text.startswith("{")

    def _process_name(self, name: str) -> str:
        if name not in self._processes:
            if len(self._processes) >= _MAX_PROCESSES:
                return ""
            self._processes[name] = ProcessStream()
        return name

    # --- from lines to records -------------------------------------------------------------------

    def _parse_line(self, text: str, name: str, time: float) -> None:
        process = self._processes[name]
        if (self._patterns and self._match_patterns(text, name, time)) or self._add_table_line(
            text, name
        ):
            return
        rows = process.trainer_table.read_line(text)
        if rows is not None:
            for row in rows:
                self._add_record(name, ConsoleRecord(row.values, row.step, row.axis, time=time))
            return
        found = None if process.end_detector.in_traceback else process.parse_line(text)
        if found is not None:
            self._add_found(text, name, found if time != time else found._replace(time=time))
        else:
            if name == "":
                self._bar_steps.note_text()
            self._builder.read_text(text, name)
        self._unread.add_line(text, is_read=found is not None)
        ended = process.end_detector.read_line(text, found is not None)
        if ended is not None:
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
        table = self._processes[name].table
        if ruled_table.is_rule(text):
            record = table.add_rule(text)
            if record is not None:
                self._add_record(name, record)
            return True
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
            groups = {tag: parse_number(word) for tag, word in match.groupdict().items() if word}
            values = {tag: value for tag, value in groups.items() if value is not None}
            step, total = values.pop("step", None), values.pop("total", None)
            config: dict[str, ConfigValue] = {} if total is None else {"total_iterations": total}
            found = ConsoleRecord(list(values.items()), as_step(step), "step", config, time)
            self._add_record(name, found)
            return True
        return False

    # --- dictionaries and bars -------------------------------------------------------------------

    def _follow_bar(self, bar: progress_bars.ProgressBar) -> bool:
        """Follow a bar; False if it does not count the training's steps."""
        known = self._bar_steps.total
        if not self._bar_steps.draw(bar):
            return False
        if bar.total != known:
            self._builder.add_settings({"max_steps": bar.total})
        return True

    def _add_bar_values(self, bar: progress_bars.ProgressBar, text: str, followed: bool) -> None:
        """Add the values next to a bar, unless other lines say more."""
        found = (
            None if self._main_process.axis else self._bar_values.read_record(bar, text, followed)
        )
        if found is not None and found.step is not None:
            self._builder.add_record("", found, found.step)

    def _add_dict(self, found: ConsoleRecord) -> None:
        if self._bar_steps.total is None:
            step, counted = self._main_process.next_step()
            self._builder.add_record("", found, step, counted=counted)
        else:
            self._bar_steps.add(found)

    def _add_placed(self, found: ConsoleRecord, step: int) -> None:
        """Add a dictionary at the step that the bars tell."""
        self._builder.add_record("", found, step, counted=self._bar_steps.counts_bars)
        if self._bar_steps.is_block_buffered:
            self._builder.add_note(BLOCK_BUFFERED)
        if not self._is_waiting():
            self._log_lines.set_step(step)

    def _peek_at_bar(self) -> None:
        """Check whether the unfinished line after a dictionary is a bar already."""
        bar = progress_bars.find_bar(to_plain_text(self._splitter.unfinished(_PEEK_BYTES).data))
        if bar is not None:
            self._follow_bar(bar)

    def _add_record(self, name: str, found: ConsoleRecord) -> None:
        """Add a record at its own step, else at the last one."""
        self._builder.add_settings(found.config, name)
        if found.values or found.step is not None:
            self._add_stepped(name, self._processes[name].tell_steps(found))

    def _add_stepped(self, name: str, records: Sequence[ConsoleRecord]) -> None:
        for found in records:
            may_begin = self._builder.expects_training
            step, counted = self._processes[name].step_of(found, may_begin=may_begin)
            self._builder.add_record(name, found, step, counted=counted)


_UNSURE_FILE_NAME = re.compile(rf"^(?:{UNSURE_CONSOLE_NAMES})", re.IGNORECASE)
MIN_UNSURE_ROWS = 3
"""A file with such a name is a log if it begins with a metric that comes this often."""


def claims(name: str, head: bytes) -> bool | None:
    """Whether a file with a log's name holds text, and records if other texts have such a name."""
    found = text_check.claims(name, head)
    if not found or not _UNSURE_FILE_NAME.search(name):
        return found
    rows = max(map(len, ConsoleParser().feed(head).points), default=0)
    return True if rows >= MIN_UNSURE_ROWS else None


FORMAT = Format(
    name="console",
    claims=claims,
    claim_order=80,
    precedence=20,
    parser=ConsoleParser,
    console=True,
    by_lines=True,
    kept_open=True,
)
