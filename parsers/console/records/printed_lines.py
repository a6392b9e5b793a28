"""Which numbers of a line are values, for lines that are rewritten before they are read.

`[Episode   12] return = 20.5 (mean of last 100: 19.2)` is read in its normal form, but a layout has
to match what is printed. So the line is read with probes in place of its numbers, which come out as
the values that they stand for, and again with other spellings and other blanks, which must make no
difference. A number that does make one stands in the layout as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ppo_top.model import ConfigValue
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.records.line_templates import (
    FIRST_PROBE,
    NUMBER_MARK,
    LineTemplate,
    index_of_episodes,
)
from ppo_top.parsers.shared.text.number_text import parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

ParseLine = Callable[[str], ConsoleRecord | None]

_SMALL_MARK = "\1"
_SPELLINGS = ("{}", "{}.5", "-{}.5")
"""How a number with a point or a sign is spelled; others stay whole."""
_SMALL_NUMBERS = ("1", "97", "12.5", "100.0")
"""Of them one is as good as another where only a share may stand."""
_MAX_NUMBERS = 16
_DIGITS = lazy_pattern(
    r"(?<![\w.])(\d{1,3}(?:,\d{3}){1,3}+|[-+]?\d{1,9}+(?:\.\d{1,20}+)?(?:[eE][-+]?\d{1,3})?)(?!\d)"
)
"""Whatever may be a number, also inside brackets or before a unit."""
_PAD = lazy_pattern(r" {2,40}+")
"""Blanks of which there are more or fewer, as a number is shorter or longer."""
_TOKEN = lazy_pattern(r"( {2,40}+|\0)")
_MARK = lazy_pattern(r"(\0)")
_PADS = (None, " ", " " * 5)
_ANY_PAD = rb" {1,40}+"
_SMALL = rb"\d{1,3}+(?:\.\d{1,4}+)?+"
_WHOLE = rb"(\d{1,9}+)"
_GROUPED = rb"(\d{1,3}+(?:,\d{3}){0,3}+)"
"""`12,000`"""
_NUMBER = rb"([-+]?+\d{1,9}+(?:\.\d{1,20}+)?+(?:[eE][-+]?\d{1,3})?+)"


class PrintedLine(NamedTuple):
    """`expression` matches such lines; its groups are the numbers of which the template speaks."""

    expression: bytes
    template: LineTemplate
    has_groups: bool
    """Whether a number may have commas."""


class _Reading(NamedTuple):
    """What was read of a line with probes: tags, places of their numbers and of the step."""

    tags: tuple[str, ...]
    places: tuple[int, ...]
    step: int
    axis: str
    config: dict[str, ConfigValue]
    begins_line: bool


def learn_printed_line(text: str, parse: ParseLine) -> PrintedLine | None:
    """The layout of a line; None if its numbers have no fixed meaning."""
    parts = _DIGITS.split(text)
    words, numbers = parts[::2], parts[1::2]
    if len(numbers) > _MAX_NUMBERS or "," in words[1:-1]:  # `5,5` may be followed by `1,234`
        return None
    line = _ProbedLine(words, numbers, parse)
    reading = line.learn()
    if reading is None:
        return None
    return PrintedLine(line.expression(), line.template_of(reading), line.has_groups)


class _ProbedLine:
    """A line whose numbers are replaced, except those that are `fixed`."""

    def __init__(self, words: list[str], numbers: list[str], parse: ParseLine) -> None:
        self._words, self._numbers, self._parse = words, numbers, parse
        self._fixed: set[int] = set()
        self._small: set[int] = set()
        """Those of the fixed ones that may be any small number: `(5 %)`."""
        self._has_pads = False
        self._grouped = {at for at, number in enumerate(numbers) if "," in number}
        self._whole = {at for at, number in enumerate(numbers) if number.isdigit()}

    def learn(self) -> _Reading | None:
        """What is read of the line, if other numbers do not change it."""
        self._fix_parts_of_names()
        reading = self._read() or self._read_with_one_fixed()
        for at in range(len(self._numbers)):
            if reading is not None and at not in (*reading.places, reading.step):
                reading = self._read_beside(at)
        if reading is None or not self._is_true(reading):
            return None
        for at in self._whole & {*reading.places} - {reading.step}:
            self._whole.discard(at)
            if not self._is_always(reading):
                self._whole.add(at)
        self._has_pads = self._is_always(reading, _PADS)
        return reading if self._is_always(reading) else None

    @property
    def has_groups(self) -> bool:
        """Whether a number may have commas."""
        return bool(self._grouped - self._fixed)

    def _is_always(self, reading: _Reading, pads: Sequence[str | None] = (None,)) -> bool:
        """Whether the same is read of all spellings of the numbers, with all of these pads."""
        return all(self._read(each, pad) == reading for each in _SPELLINGS for pad in pads)

    @property
    def _free(self) -> list[int]:
        return [at for at in range(len(self._numbers)) if at not in self._fixed]

    def _fix_parts_of_names(self) -> None:
        """`reward of the last 100`: the number belongs to the name."""
        found = self._parse(self._text("{}"))
        names = " ".join(tag for tag, _ in found.values) if found is not None else ""
        self._fixed |= {at for at in self._free if str(FIRST_PROBE + at) in names}

    def _spell(self, at: int, spelling: str) -> str:
        if at in self._fixed:
            return self._numbers[at]
        if at in self._grouped:
            spelling = "{:,}" if spelling == "{}" else "{}"
        return ("{}" if at in self._whole else spelling).format(FIRST_PROBE + at)

    def _text(self, spelling: str, pad: str | None = None) -> str:
        words = NUMBER_MARK.join(self._words)
        if pad is not None:
            words = _PAD.sub(pad, words)
        spelled = [self._spell(at, spelling) for at in range(len(self._numbers))]
        texts = words.split(NUMBER_MARK)
        return "".join(a + b for a, b in zip(texts, [*spelled, ""], strict=True))

    def _read(self, spelling: str = "{}", pad: str | None = None) -> _Reading | None:
        """What is read with probes; None if a value is none of them."""
        found = self._parse(self._text(spelling, pad))
        if found is None or found.step is None:
            return None
        place_of = {parse_number(self._spell(at, spelling)): at for at in self._free}
        places = [place_of.get(value) for _, value in found.values]
        known = [place for place in places if place is not None]
        step = place_of.get(float(found.step))
        if step is None or len(known) < len(places):
            return None
        tags = tuple(tag for tag, _ in found.values)
        config = dict(found.config)
        return _Reading(tags, tuple(known), step, found.axis, config, found.begins_line)

    def _read_with_one_fixed(self) -> _Reading | None:
        """What is read if one number must be what it is: `[12/400] (3 %)` is a share."""
        for at in self._free:
            self._fixed.add(at)
            if (found := self._read()) is not None:
                return found
            self._fixed.discard(at)
        return None

    def _read_beside(self, at: int) -> _Reading | None:
        """What is read beside a number that is no value; notes whether that may be another."""
        self._fixed.add(at)
        as_it_is = self._read()
        self._fixed.discard(at)
        if self._read() != as_it_is:
            self._fixed.add(at)
            if all(self._read_with(at, each) == as_it_is for each in _SMALL_NUMBERS):
                self._small.add(at)
        return as_it_is

    def _read_with(self, at: int, number: str) -> _Reading | None:
        """What is read with another number in place of a fixed one."""
        before, self._numbers[at] = self._numbers[at], number
        found = self._read()
        self._numbers[at] = before
        return found

    def _is_true(self, reading: _Reading) -> bool:
        """Whether the line itself is read so."""
        found = self._parse(
            "".join(a + b for a, b in zip(self._words, [*self._numbers, ""], strict=True))
        )
        if found is None or found.step is None or found.axis != reading.axis:
            return False
        values = [parse_number(self._numbers[place]) for place in reading.places]
        is_step = parse_number(self._numbers[reading.step]) == found.step
        is_step = is_step and found.config == reading.config
        return is_step and found.values == list(zip(reading.tags, values, strict=True))

    def template_of(self, reading: _Reading) -> LineTemplate:
        """The same, by numbers that are not fixed."""
        free = self._free
        places = tuple(map(free.index, reading.places))
        episodes = index_of_episodes(reading.tags, places)
        step = free.index(reading.step)
        more = (reading.config, reading.begins_line)
        return LineTemplate(reading.tags, places, step, reading.axis, episodes, *more)

    def expression(self) -> bytes:
        """Matches the line with any other numbers and pads."""
        marked = self._words[0]
        for at, text in enumerate(self._words[1:]):
            number = _SMALL_MARK if at in self._small else self._numbers[at]
            marked += (number if at in self._fixed else NUMBER_MARK) + text
        token = _TOKEN if self._has_pads else _MARK
        texts = [re.escape(text.encode()) for text in token.split(marked)]
        numbers = iter([self._number_at(at) for at in self._free])
        found = token.findall(marked)
        texts[1::2] = [next(numbers) if each == NUMBER_MARK else _ANY_PAD for each in found]
        return b"".join(texts).replace(_SMALL_MARK.encode(), _SMALL)

    def _number_at(self, at: int) -> bytes:
        if at in self._grouped:
            return _GROUPED
        return _WHOLE if at in self._whole else _NUMBER
