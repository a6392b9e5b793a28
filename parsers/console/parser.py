"""What a training run prints: tables, dictionaries, progress bars and its own lines, mixed.

One stream may hold all of them, from several ranks, with colours and warnings in between, so one
parser reads them all. It also collects every line for the log pane.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ppo_top.model import UNKNOWN_TIME, Batch, Problem
from ppo_top.parsers.base import Format
from ppo_top.parsers.console.batch_builder import BatchBuilder
from ppo_top.parsers.console.fast_path import FastPath
from ppo_top.parsers.console.lines import text_check
from ppo_top.parsers.console.lines.log_lines import LogLines
from ppo_top.parsers.console.lines.text_check import intact_start, is_damaged
from ppo_top.parsers.console.lines.unwrap import UnwrappedLine, Unwrapper
from ppo_top.parsers.console.process import ProcessStream
from ppo_top.parsers.console.record_reader import RecordReader
from ppo_top.parsers.console.records import sentences
from ppo_top.parsers.console.steps import progress_bars
from ppo_top.parsers.file_names import UNSURE_CONSOLE_NAMES
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.text.line_splitter import MAX_LINE_BYTES, LineSplitter, Segment
from ppo_top.parsers.shared.text.plain_text import to_plain_text
from ppo_top.parsers.shared.text.utf16 import Utf16Decoder
from ppo_top.text.lazy_pattern import lazy_pattern

_PEEK_BYTES = 1024
_MOST_BARS_A_LINE = 64
_MAX_TORN_CHARS = 1 << 20
_NEWLINE, _DASH, _BRACE, _BAR = b"\n-{|"
_OF_TABLES = (_DASH, _BAR)
"""What a line of a table begins with, which is none that may be unread."""


class ConsoleParser:
    """Reads one console stream.

    Named groups of the user's `patterns` become tags; `step` and `total` are the step and the total
    number of steps.
    """

    def __init__(
        self, patterns: Sequence[re.Pattern[str]] = (), max_line_bytes: int = MAX_LINE_BYTES
    ) -> None:
        self._has_fast_path = not patterns and max_line_bytes >= MAX_LINE_BYTES
        self._decoder = Utf16Decoder()
        self._splitter = LineSplitter(max_line_bytes)
        self._unwrapper = Unwrapper()
        self._log_lines = LogLines()
        self._builder = BatchBuilder(self._log_lines.pop_lines)
        self._fast_path = FastPath(self._builder, self._log_lines)
        self._reader = RecordReader(tuple(patterns), self._builder, self._log_lines)
        self._main_process = self._reader.main_process
        self._bar_steps = self._reader.bar_steps
        self._is_after_bar = self._is_after_evaluation = False
        self._open_text = ""
        """Text that a carriage return ended: to be drawn over, or torn by a bar on stderr."""
        self._is_torn = False
        self._broken_of = ""
        """The process of the line above, if that is only the start of a record."""

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
        self._reader.finish()
        self._log_lines.set_step(self._builder.step)
        self._builder.finish()
        if note := self._reader.unread.note():
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
            or self._broken_of
            or main.awaits_steps
            or main.end_detector.in_traceback
        ):
            return 0
        end = self._read_whole(main, data, offset, position)
        if data[position] not in _OF_TABLES:
            self._reader.unread.add_read(data.count(b"\n", position, end))
        return end

    def _read_whole(self, process: ProcessStream, data: bytes, offset: int, position: int) -> int:
        fast, first = self._fast_path, data[position]
        if first == _DASH:
            return fast.read_table(process, data, offset, position)
        has_bar = self._bar_steps.total is not None  # which would say the step
        if first == _BRACE:
            return 0 if has_bar else fast.read_dicts(process, data, offset, position)
        if not process.is_plain:
            return 0
        if first == _BAR:
            return fast.read_rows(process, data, offset, position)
        end = fast.read_pairs(process, data, offset, position)
        if end or has_bar:
            return end
        return fast.read_evaluation(process, data, offset, position)

    def _read_segment(self, data: bytes, offset: int, position: int) -> int:
        """Read one line, or what is up to a carriage return."""
        segment, end = self._splitter.segment_at(data, offset, position)
        if segment is None:
            self._log_lines.skip_segment(data[end - 1] == _NEWLINE)
        elif segment.data.strip():
            self._log_lines.add_segment(segment, self._read_line(segment))
        else:
            self._read_blank(segment)
        if not self._reader.is_waiting:
            self._log_lines.set_step(self._builder.step)
        return end

    def _read_blank(self, segment: Segment) -> None:
        """Blanks right after the training's bar, or a full one below it, erase it."""
        self._log_lines.add_blank(segment)
        if segment.newline:
            self._end_open_line()
        if segment.data and not segment.data.strip(b" "):
            if self._is_after_bar:
                self._bar_steps.erase()
            elif self._is_after_evaluation:
                self._bar_steps.erase_below()
        self._is_after_bar = self._is_after_evaluation = False

    def _read_line(self, segment: Segment) -> str:
        """Read all values of a line; return its plain text."""
        shown = to_plain_text(segment.data)
        if len(shown) != len(segment.data) and is_damaged(segment.data, segment.offset):
            return self._drop_damaged(segment, shown)
        self._is_after_bar = False
        text = self._read_bars(shown)
        if text.strip():
            self._is_after_bar = False
            self._read_printed(text, segment)
        elif segment.newline:
            self._end_open_line()
        return shown

    def _read_bars(self, text: str) -> str:
        """Read the bars that a text begins with; what stands behind them.

        In the output of a notebook's cell no carriage return need part one from the next.
        """
        for _ in range(_MOST_BARS_A_LINE):
            bar = progress_bars.find_bar(text)
            if bar is None:
                break
            self._is_torn = bool(self._open_text)
            self._is_after_bar = self._reader.follow_bar(bar)
            is_other = not (self._is_after_bar or bar.name)
            self._is_after_evaluation = is_other and bar.done == bar.total
            self._reader.add_bar_values(bar, text[: bar.end], self._is_after_bar)
            text = text[bar.end :] if bar.end else ""
            if not text:
                break
        return progress_bars.text_behind_bare_bars(text) if "[" in text else text

    def _drop_damaged(self, segment: Segment, shown: str) -> str:
        """A line with zeros or control bytes inside costs only itself, and no bar before them."""
        bar = progress_bars.find_bar(to_plain_text(intact_start(segment.data)))
        if bar is not None:
            self._reader.follow_bar(bar)
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
        name = found.process and self._reader.process_name(found.process)
        if found.text == text and not is_dict:
            name = self._broken_of  # the rest of a line has no prefix
        joined = self._reader.processes[name].joined_lines
        lines = joined.add_line(found.text) if is_line else [*joined.release(), found.text]
        joined.is_plain = found.text == text
        self._broken_of = name if joined.is_open else ""
        for line in lines:
            self._reader.parse_line(line.rstrip(), name, found.time)
        process = self._reader.processes[name]
        used = process.templates.pop_last_used()
        if used is None or not is_line or name or lines != [found.text]:
            return
        if process.may_be_read_fast(used[1]):
            parse = process.templates.read_anew
            self._fast_path.line_layouts.learn(text, found.text, *used, parse)

    def _parse_plain(self, lines: Sequence[str]) -> None:
        """Read held lines: those of a wrapped record have no prefixes, others may."""
        for line in lines:
            text, name, time = self._unwrapper.unwrap(line)
            self._reader.parse_line(text.rstrip(), name and self._reader.process_name(name), time)

    def _read_held_lines(self) -> None:
        self._parse_plain(self._main_process.joined_lines.release())
        for name, process in self._reader.processes.items():
            for line in process.joined_lines.release():
                self._reader.parse_line(line.rstrip(), name, UNKNOWN_TIME)

    def _is_closed_dict(self, text: str) -> bool:
        text = text.strip()
        if not text.endswith("}"):
            return False
        return text.startswith("{") or self._unwrapper.unwrap(text).text.startswith("{")

    def _peek_at_bar(self) -> None:
        """Check whether the unfinished line after a dictionary is a bar already."""
        bar = progress_bars.find_bar(to_plain_text(self._splitter.unfinished(_PEEK_BYTES).data))
        if bar is not None:
            self._reader.follow_bar(bar)


_UNSURE_FILE_NAME = lazy_pattern(rf"^(?:{UNSURE_CONSOLE_NAMES})", re.IGNORECASE)
MIN_UNSURE_ROWS = 3
"""A file with such a name is a log if it begins with a metric that comes this often."""


def claims(name: str, head: bytes) -> bool | None:
    """Whether a file with a log's name holds text, and records if other texts have such a name."""
    found = text_check.claims(name, head)
    if not found or not _UNSURE_FILE_NAME.search(name):
        return found
    rows = max(map(len, ConsoleParser().feed(head).points), default=0)
    return True if rows >= MIN_UNSURE_ROWS else None


def tag_of(path: str) -> str:
    """What `Episode 12: 21.5` says: the reward that the file is named after."""
    return metric_names.reward_of_file(path) or sentences.RESULT


FORMAT = Format(
    name="console",
    claims=claims,
    claim_order=80,
    precedence=20,
    parser=ConsoleParser,
    console=True,
    by_lines=True,
    kept_open=True,
    tag_of_path=tag_of,
    unnamed_tag=sentences.RESULT,
)
