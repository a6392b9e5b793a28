"""What a training run prints: tables, dictionaries, progress bars and lines of its own, mixed.

One stream may hold all of them, from several ranks, with colours and warnings in between, so one
parser reads them all and gives every line to the log pane as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import accumulate, repeat
from typing import NamedTuple

from ppo_top.model import UNKNOWN_TIME, Batch, ConfigValue, Ended, Line, State
from ppo_top.parsers import _bars, _dicts, _tables
from ppo_top.parsers._clean import Unwrapper, plain
from ppo_top.parsers._numbers import number, whole
from ppo_top.parsers._record import Record
from ppo_top.parsers._segments import LONGEST, Segment, Segments
from ppo_top.parsers._sheet import Sheet
from ppo_top.parsers._voice import Voice
from ppo_top.parsers.base import Format

LONGEST_LINE = 4096
"""Characters of a line that are shown."""

_PEEK = 1024
_MOST_VOICES = 64
_MOST_OWNED_TAGS = 10_000
_DASH, _BRACE = b"-{"
_LEADING = re.compile(rb"[ \t]*+")
_new_line = partial(tuple.__new__, Line)


class _Held(NamedTuple):
    """A dictionary that waits for the progress bar that is drawn behind it."""

    tags: tuple[str, ...]
    values: Sequence[float]
    drawn: int | None
    """Where the bar stood before it, if one was drawn since the dictionary before."""


class Console:
    """Reads one console stream; `patterns` are a user's own, their named groups become tags.

    In a pattern the groups `step` and `total` are the step and the total number of steps.
    """

    def __init__(self, patterns: Sequence[re.Pattern[str]] = (), longest: int = LONGEST) -> None:
        self._patterns = tuple(patterns)
        self._segments = Segments(longest)
        self._unwrapper = Unwrapper()
        self._voices: dict[str, Voice] = {"": Voice()}
        self._owners: dict[str, str] = {}
        self._position = _bars.Position()
        self._drawn: int | None = None
        self._held: _Held | None = None
        self._blocks = _tables.Blocks()
        self._layouts = _dicts.Layouts()
        self._step: int | None = None
        self._waiting: list[Line] = []
        self._overdrawn: tuple[int, str] | None = None
        self._fresh = True  # nothing stands yet on the physical line
        self._begin()

    def _begin(self) -> None:
        self._sheet = Sheet()
        self._config: dict[str, ConfigValue] = {}
        self._lines: list[Line] = []
        self._ended: Ended | None = None

    def feed(self, data: bytes) -> Batch:
        """Take the next bytes of the stream and give what is complete."""
        piece, place = self._segments.add(data)
        position = 0
        while position < len(piece):
            position = self._fast(piece, place, position) or self._slow(piece, place, position)
        if self._held is not None:
            self._peek()
        return self._take()

    def finish(self) -> Batch:
        """Give what waited; an unfinished last line counts only if it is a closed dictionary."""
        rest = self._segments.rest()
        if rest.data.strip():
            self._last(rest)
        self._settle()
        for name, voice in self._voices.items():
            table = voice.table.close()
            if table is not None and _tables.is_certain(table):
                self._give(name, table)
        self._flush()
        return self._take()

    def _last(self, rest: Segment) -> None:
        text = self._unwrapper.clean(plain(rest.data)).text
        if text.startswith("{") and text.rstrip().endswith("}"):
            self._read(rest)
        self._show(rest.offset, plain(rest.data))

    def _take(self) -> Batch:
        batch = Batch(
            self._sheet.take(),
            self._config,
            self._lines,
            self._segments.take_problems(),
            self._ended,
        )
        self._begin()
        return batch

    # --- regular records, many at a time ---------------------------------------------------------

    def _fast(self, piece: bytes, place: int, position: int) -> int:
        """Read a known table or dictionary at `position`; 0 when it has to go the careful way."""
        first = piece[position]
        if (first != _DASH and first != _BRACE) or not self._idle():
            return 0
        if first == _DASH:
            return self._fast_table(piece, place, position)
        return self._fast_dict(piece, place, position)

    def _idle(self) -> bool:
        voice = self._voices[""]
        return (
            not self._waiting
            and self._fresh
            and self._held is None
            and not voice.table.started
            and not voice.endings.in_traceback
            and not self._patterns
        )

    def _fast_table(self, piece: bytes, place: int, position: int) -> int:
        block = self._blocks.read(piece, position)
        if block is None:
            return 0
        texts = piece[position : block.end - 1].decode("ascii", "replace").split("\n")
        offsets = accumulate((len(text) + 1 for text in texts), initial=place + position)
        self._lines.append(Line(place + position, texts[0][:LONGEST_LINE], step=self._step))
        columns = zip(offsets, texts, repeat(UNKNOWN_TIME), repeat(block.step), strict=False)
        next(columns)
        self._lines.extend(map(_new_line, columns))
        voice = self._voices[""]
        self._step = voice.step_of(Record([], block.step, "table"))
        voice.table.open = False
        self._row("", block.tags, block.step, block.values)
        return block.end

    def _fast_dict(self, piece: bytes, place: int, position: int) -> int:
        end = piece.find(b"\n", position)
        line = piece[position:end]
        if end < 0 or line[-1:] != b"}" or b"\r" in line or self._position.total is not None:
            return 0
        found = self._layouts.read(line)
        if found is None:
            return 0
        self._count(*found)
        text = line.decode("utf-8", "replace")[:LONGEST_LINE]
        self._lines.append(Line(place + position, text, step=self._step))
        return end + 1

    # --- line by line ----------------------------------------------------------------------------

    def _slow(self, piece: bytes, place: int, position: int) -> int:
        segment, end = self._segments.cut(piece, place, position)
        if segment is None:
            self._fresh = piece[end - 1] == 10
            self._overdrawn = None
        elif segment.data.strip():
            self._words(segment)
        else:
            self._blank(segment)
        return end

    def _words(self, segment: Segment) -> None:
        text = self._read(segment)
        indent = _LEADING.match(segment.data)
        offset = segment.offset + (indent.end() if indent and not text[:1].isspace() else 0)
        if segment.newline:
            self._show(offset, text)
            self._fresh, self._overdrawn = True, None
        else:
            self._fresh, self._overdrawn = False, (offset, text)

    def _blank(self, segment: Segment) -> None:
        """Nothing but blanks: an empty line, the end of `\\r\\n`, or a bar wiped out."""
        if not segment.newline:
            self._overdrawn = None
            self._fresh = False
            return
        if self._overdrawn is not None and not segment.data:
            self._show(*self._overdrawn)
        elif self._fresh:
            self._show(segment.offset, "")
        self._fresh, self._overdrawn = True, None

    def _show(self, offset: int, text: str) -> None:
        """Give a line to the log pane, at once or together with the record it belongs to."""
        self._waiting.append(Line(offset, text[:LONGEST_LINE], step=self._step))
        if self._held is None and not any(v.table.started for v in self._voices.values()):
            self._flush()

    def _flush(self) -> None:
        step = self._step
        self._lines.extend(line._replace(step=step) for line in self._waiting)
        self._waiting.clear()

    def _read(self, segment: Segment) -> str:
        """Take all values out of a line; give the line's plain text."""
        shown = plain(segment.data)
        bar = _bars.find_bar(shown)
        if bar is not None:
            self._bar(bar)
            if not bar.end or not shown[bar.end :].strip():
                return shown
        self._settle()
        text, name, time = self._unwrapper.clean(shown[bar.end :] if bar else shown)
        self._parse(text.rstrip(), self._voice(name), time)
        return shown

    def _voice(self, name: str) -> str:
        if name in self._voices or len(self._voices) < _MOST_VOICES:
            self._voices.setdefault(name, Voice())
            return name
        return ""

    def _parse(self, text: str, name: str, time: float) -> None:
        voice = self._voices[name]
        if self._own(text, name, time) or self._table(text, name):
            return
        if not voice.endings.in_traceback and (found := voice.read(text)) is not None:
            self._found(text, name, found, time)
        ended = voice.endings.see(text)
        if ended is not None:
            self._ended = ended

    def _found(self, text: str, name: str, found: Record, time: float) -> None:
        if name == "" and text.startswith("{") and found.values and found.step is None:
            self._config |= found.config
            self._dict(found)
        else:
            self._give(name, found._replace(time=time))
        if _dicts.is_last(found):
            self._ended = Ended(State.FINISHED, text[:LONGEST_LINE])

    def _table(self, text: str, name: str) -> bool:
        """Take a line that belongs to a table."""
        table = self._voices[name].table
        if _tables.RULE.fullmatch(text):
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

    def _bar(self, bar: _bars.Bar) -> None:
        known = self._position.total
        if not self._position.see(bar):
            return
        if bar.total != known:
            self._config["max_steps"] = bar.total
        if self._held is not None:
            ahead = _dicts.ahead_of_bar(self._held.tags)
            self._release(self._voices[""].steps.by_bar(bar.done + ahead))
        else:
            self._drawn = bar.done

    def _dict(self, found: Record) -> None:
        tags = tuple(tag for tag, _ in found.values)
        values = [value for _, value in found.values]
        if self._position.total is None:
            self._count(tags, values)
            return
        self._held = _Held(tags, values, self._drawn)
        self._drawn = None

    def _count(self, tags: tuple[str, ...], values: Sequence[float]) -> None:
        voice = self._voices[""]
        step = voice.step if voice.axis and voice.step is not None else voice.steps.by_count()
        self._step = step
        self._row("", tags, step, values)

    def _settle(self) -> None:
        """Something else than a bar stands behind the dictionary that waits."""
        if self._held is not None:
            drawn = self._held.drawn
            if drawn is not None:
                drawn += _dicts.ahead_of_bar(self._held.tags)
            self._release(self._voices[""].steps.by_count(drawn))

    def _release(self, step: int) -> None:
        held, self._held = self._held, None
        assert held is not None
        self._step = step
        self._row("", held.tags, step, held.values)
        if not any(v.table.started for v in self._voices.values()):
            self._flush()

    def _peek(self) -> None:
        """See whether the line that is being written behind a dictionary is a bar already."""
        bar = _bars.find_bar(plain(self._segments.rest(_PEEK).data))
        if bar is not None:
            self._bar(bar)

    # --- points ----------------------------------------------------------------------------------

    def _give(self, name: str, found: Record) -> None:
        self._config |= found.config
        if not found.values and found.step is None:
            return
        step = self._step = self._voices[name].step_of(found)
        tags = tuple(tag for tag, _ in found.values)
        values = [value for _, value in found.values]
        if found.time != found.time and len(set(tags)) == len(tags):
            self._row(name, tags, step, values)
            return
        self._alive()
        for tag, value in zip(tags, values, strict=True):
            self._sheet.add(self._tag(name, tag), step, found.time, value)

    def _row(self, name: str, tags: tuple[str, ...], step: int, values: Sequence[float]) -> None:
        self._alive()
        if len(self._voices) > 1:
            tags = tuple(self._tag(name, tag) for tag in tags)
        self._sheet.row(tags, step, values)

    def _alive(self) -> None:
        """Training goes on, so a traceback before it was survived."""
        if self._ended is not None and self._ended.state is State.DIED:
            self._ended = None

    def _tag(self, name: str, tag: str) -> str:
        """The tag, marked with its speaker if another one (or the first rank) logs the same."""
        if len(self._voices) == 1:
            return tag
        owner = self._owners.setdefault(tag, name) if len(self._owners) < _MOST_OWNED_TAGS else ""
        if name == "" and owner != "":
            self._owners[tag] = owner = ""
        return tag if name == owner else f"{tag} [{name}]"


_NAMES = re.compile(
    r"\.(?:log|out|err|stdout|stderr)(?:\.\d+)?$|^(?:stdout|stderr|nohup\.out|console)"
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
    return not _BINARY.search(head) and not head.startswith(_SWANLAB)


FORMAT = Format(
    name="console",
    names=_NAMES,
    claims=claims,
    order=80,
    rank=20,
    parser=Console,
    console=True,
)
