"""What a training run prints: tables, dictionaries, progress bars and lines of its own, mixed.

One stream may hold all of them, from several ranks, with colours and warnings in between, so one
parser reads them all and gives every line to the log pane as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ppo_top.model import Batch, ConfigValue, Ended, State
from ppo_top.model.console_lines import LONGEST as LONGEST_LINE
from ppo_top.parsers.base import Format
from ppo_top.parsers.console import dicts as _dicts
from ppo_top.parsers.console import progress_bars as _bars
from ppo_top.parsers.console import tables as _tables
from ppo_top.parsers.console.batch_builder import Ledger
from ppo_top.parsers.console.encoding import Text
from ppo_top.parsers.console.fast_path import REGULAR, Regular
from ppo_top.parsers.console.log_lines import Screen
from ppo_top.parsers.console.process import Voice
from ppo_top.parsers.console.record import Record
from ppo_top.parsers.console.unwrap import Unwrapper
from ppo_top.parsers.shared.last_values import of_lines
from ppo_top.parsers.shared.line_splitter import LONGEST, Segment, Segments
from ppo_top.parsers.shared.number_text import number, whole
from ppo_top.parsers.shared.plain_text import plain

_PEEK = 1024
_MOST_VOICES = 64
_NEWLINE = 10


class _Held(NamedTuple):
    """A dictionary that waits for the progress bar that is drawn behind it."""

    found: Record
    drawn: int | None
    """Where the bar stood before it, if one was drawn since the dictionary before."""


class Console:
    """Reads one console stream; `patterns` are a user's own, their named groups become tags.

    In a pattern the groups `step` and `total` are the step and the total number of steps.
    """

    def __init__(self, patterns: Sequence[re.Pattern[str]] = (), longest: int = LONGEST) -> None:
        self._patterns = tuple(patterns)
        self._careful = bool(patterns) or longest < LONGEST  # the quick way knows neither
        self._text = Text()
        self._segments = Segments(longest)
        self._unwrapper = Unwrapper()
        self._main = Voice()
        self._voices: dict[str, Voice] = {"": self._main}
        self._ledger = Ledger()
        self._screen = Screen()
        self._regular = Regular(self._ledger, self._screen)
        self._position = _bars.Position()
        self._besides = _bars.Besides()
        self._drawn: int | None = None
        self._held: _Held | None = None

    def feed(self, data: bytes) -> Batch:
        """Take the next bytes of the stream and give what is complete."""
        if not self._text.plain:
            data = self._text.decode(data)
        piece, place = self._segments.add(data)
        if self._segments.dropped is not None:
            self._screen.lost(self._segments.dropped)
        position = 0
        while position < len(piece):
            position = self._many(piece, place, position) or self._one(piece, place, position)
        if self._held is not None:
            self._peek()
        return self._take()

    def finish(self) -> Batch:
        """Give what waited; an unfinished last line counts only if it is a closed dictionary."""
        rest = self._segments.rest()
        if rest.data.strip():
            shown = plain(rest.data)
            text = self._unwrapper.clean(shown).text.rstrip()
            if text.startswith("{") and text.endswith("}"):
                self._read(rest)
            self._screen.show(rest.offset, shown)
        self._settle()
        for name, voice in self._voices.items():
            table = voice.table.close()
            if table is not None and _tables.is_certain(table):
                self._give(name, table)
        self._screen.settle(self._ledger.step)
        return self._take()

    def _take(self) -> Batch:
        return self._ledger.take(self._screen.take(), self._segments.take_problems())

    # --- from bytes to lines ---------------------------------------------------------------------

    def _many(self, piece: bytes, place: int, position: int) -> int:
        """Read regular records quickly; 0 when there are none, or something waits for its rest."""
        if piece[position] not in REGULAR or (
            self._screen.waiting
            or not self._screen.fresh
            or self._held is not None
            or self._careful
            or self._main.table.started
            or self._main.endings.in_traceback
        ):
            return 0
        bars = self._position.total is not None
        return self._regular.read(self._main, piece, place, position, bars)

    def _one(self, piece: bytes, place: int, position: int) -> int:
        """Read one segment carefully."""
        segment, end = self._segments.cut(piece, place, position)
        if segment is None:
            self._screen.lost(piece[end - 1] == _NEWLINE)
        elif segment.data.strip():
            self._screen.words(segment, self._read(segment))
        else:
            self._screen.blank(segment)
        if not self._waits():
            self._screen.settle(self._ledger.step)
        return end

    def _waits(self) -> bool:
        """Whether lines wait for a record whose step is not known yet."""
        if self._held is not None or self._main.table.started:
            return True
        return len(self._voices) > 1 and any(v.table.started for v in self._voices.values())

    def _read(self, segment: Segment) -> str:
        """Take all values out of a line; give the line's plain text."""
        shown = plain(segment.data)
        bar = _bars.find_bar(shown)
        if bar is not None:
            self._beside(bar, shown[: bar.end], self._bar(bar))
            if not bar.end or not shown[bar.end :].strip():
                return shown
        if self._held is not None:
            self._settle()
        text, name, time = self._unwrapper.clean(shown[bar.end :] if bar else shown)
        self._parse(text.rstrip(), name and self._voice(name), time)
        return shown

    def _voice(self, name: str) -> str:
        if name not in self._voices:
            if len(self._voices) >= _MOST_VOICES:
                return ""
            self._voices[name] = Voice()
        return name

    # --- from lines to records -------------------------------------------------------------------

    def _parse(self, text: str, name: str, time: float) -> None:
        voice = self._voices[name]
        if (self._patterns and self._own(text, name, time)) or self._table(text, name):
            return
        found = None if voice.endings.in_traceback else voice.read(text)
        if found is not None:
            self._found(text, name, found if time != time else found._replace(time=time))
        ended = voice.endings.see(text, found is not None)
        if ended is not None:
            self._ledger.end(ended)

    def _found(self, text: str, name: str, found: Record) -> None:
        if name == "" and text.startswith("{") and found.values and found.step is None:
            self._dict(found)
        else:
            self._give(name, found)
        if _dicts.FINISHED in text and (farewell := _dicts.farewell(found)):
            self._ledger.end(Ended(State.FINISHED, farewell))

    def _table(self, text: str, name: str) -> bool:
        """Take a line that belongs to a table."""
        table = self._voices[name].table
        if text[:1] == "-" and _tables.RULE.fullmatch(text):
            closes = table.started
            record = table.close()
            table.open = not closes
            if record is not None:
                self._give(name, record)
            return True
        if not table.open or table.row(text):
            return table.open
        if not table.started:
            table.open = False
        elif table.stranger() and (record := table.close()) is not None:
            self._give(name, record)
        return False

    def _own(self, text: str, name: str, time: float) -> bool:
        """Take a line that one of the user's patterns describes."""
        for pattern in self._patterns:
            match = pattern.search(text[:LONGEST_LINE])
            if match is None:
                continue
            groups = {tag: number(word) for tag, word in match.groupdict().items() if word}
            values = {tag: value for tag, value in groups.items() if value is not None}
            step, total = values.pop("step", None), values.pop("total", None)
            config: dict[str, ConfigValue] = {} if total is None else {"total_iterations": total}
            at = None if step is None else whole(step)
            self._give(name, Record(list(values.items()), at, "step", config, time))
            return True
        return False

    # --- dictionaries and bars -------------------------------------------------------------------

    def _bar(self, bar: _bars.Bar) -> bool:
        """Follow a bar; False when it does not count the training's steps."""
        known = self._position.total
        if not self._position.see(bar):
            return False
        if bar.total != known:
            self._ledger.configure({"max_steps": bar.total})
        self._drawn = bar.done
        if self._held is not None:
            ahead = _dicts.ahead_of_bar(self._held.found)
            self._release(self._main.steps.by_bar(bar.done + ahead))
        return True

    def _beside(self, bar: _bars.Bar, text: str, followed: bool) -> None:
        """Take the values that stand beside a bar, unless lines say more and better."""
        found = None if self._main.axis else self._besides.see(bar, text, followed)
        if found is not None and found.step is not None:
            self._ledger.record("", found, found.step)

    def _dict(self, found: Record) -> None:
        if self._position.total is None:
            self._ledger.record("", found, self._main.count(1)[0])
            return
        self._held = _Held(found, self._drawn)
        self._drawn = None

    def _settle(self) -> None:
        """Something else than a bar stands behind the dictionary that waits."""
        if self._held is None:
            return
        drawn = self._held.drawn
        if drawn is not None:
            drawn += _dicts.ahead_of_bar(self._held.found)
        self._release(self._main.steps.by_count(drawn))

    def _release(self, step: int) -> None:
        held, self._held = self._held, None
        assert held is not None
        self._ledger.record("", held.found, step)
        if not self._waits():
            self._screen.settle(step)

    def _peek(self) -> None:
        """See whether the line that is being written behind a dictionary is a bar already."""
        bar = _bars.find_bar(plain(self._segments.rest(_PEEK).data))
        if bar is not None:
            self._bar(bar)

    def _give(self, name: str, found: Record) -> None:
        """Place a record that knows its step or follows the last one."""
        self._ledger.configure(found.config)
        if found.values or found.step is not None:
            self._ledger.record(name, found, self._voices[name].step_of(found))


_NAMES = re.compile(
    r"\.(?:log|out|err|stdout|stderr)(?:\.\d+)?$"
    r"|^(?:stdout|stderr|nohup\.out|console)(?!.*\.(?:pyc?|php|[jt]sx?|css|html?|java|go|rs|c|cc|cpp|h)$)"
    r"|(?:log|output|console|train|stdout|stderr)[^.]*\.txt$",
    re.IGNORECASE,
)
_NOT = re.compile(r"^debug|requirements", re.IGNORECASE)
_SWANLAB = b'{"index":'
"""How the points of a SwanLab store start; it keeps them in files named .log."""
_BINARY = re.compile(rb"[\x00\x01\x02\x03\x04\x05\x06\x0e-\x1a]")


def claims(name: str, head: bytes) -> bool | None:
    """Whether a file with a log's name holds text."""
    if _NOT.match(name):
        return False
    if not head:
        return None
    head = Text().decode(head)
    return not _BINARY.search(head) and not head.startswith(_SWANLAB)


FORMAT = Format(
    name="console",
    names=_NAMES,
    claims=claims,
    order=80,
    rank=20,
    parser=Console,
    console=True,
    newest=of_lines(Console),
    held=True,
)
