"""Whole lines of names and numbers with known words, read by one regular expression each.

A layout is learnt from a line that was read the long way by its template; it stands only for lines
that the long way would read alike: plain ASCII, without a prefix or with a clock and what always
stands between it and the words, in which words decide everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.console.lines.run_end import may_end_run
from ppo_top.parsers.console.lines.unwrap import (
    CLOCK_BYTES,
    clock_time,
    constant_prefix,
    has_no_prefix,
)
from ppo_top.parsers.console.records import ray_results, trainer_lines
from ppo_top.parsers.console.records.line_templates import NUMBER_MARK, LineTemplate
from ppo_top.parsers.console.records.printed_lines import ParseLine, learn_printed_line
from ppo_top.parsers.shared.names.metric_names import are_heading

PLAIN_NUMBER = rb"([-+]?+(?:\d++(?:\.\d*+)?+(?:[eE][-+]?\d{1,3})?+|nan|inf))"
_OTHER_THINGS = ("{", "%|", "\t")
"""A line with one of these may be something else."""
_KEY_BYTES = 2
_MAX_LAYOUTS = 256
_MAX_ALIKE = 16
"""Layouts that begin alike, as all with a clock do: each of them is tried."""
MAX_EXACT_STEP = 1 << 53
"""Below this a step is the same whether it is parsed as an integer or as a float."""
_MAX_EXACT_DIGITS = 16


class LineLayout(NamedTuple):
    """`pattern` matches a line with its line feed; `pick` chooses the values of `tags`.

    Its groups are the numbers, after the clock if the line begins with one.
    """

    pattern: re.Pattern[bytes]
    tags: tuple[str, ...]
    pick: Callable[[Sequence[bytes]], Sequence[bytes]]
    step_index: int
    axis: str
    episodes_index: int | None
    is_heading: bool
    has_clock: bool = False
    has_groups: bool = False
    """Whether a number may have commas: `12,000`."""

    def lines(self, data: bytes, start: int, most: int) -> list[re.Match[bytes]]:
        """The lines from `start` on that it matches."""
        found: list[re.Match[bytes]] = []
        match = self.pattern.match
        while len(found) < most and (line := match(data, start)):
            found.append(line)
            start = line.end()
        return found

    def rows(self, lines: Iterable[re.Match[bytes]]) -> list[Sequence[bytes]]:
        """The numbers of lines, behind their clocks if they have any."""
        rows: list[Sequence[bytes]] = [line.groups() for line in lines]
        if not self.has_groups:
            return rows
        clock = int(self.has_clock)
        return [[*row[:clock], *(word.replace(b",", b"") for word in row[clock:])] for row in rows]

    def steps_of(self, rows: Sequence[Sequence[bytes]], before: int | None) -> list[int]:
        """The steps of rows up to the first that falls or has to be read the long way."""
        steps: list[int] = []
        for row in rows:
            step = self._step_of(row)
            if step is None or (before is not None and step < before):
                break
            steps.append(step)
            before = step
        return steps

    def _step_of(self, row: Sequence[bytes]) -> int | None:
        if self.episodes_index is not None and float(row[self.episodes_index]) == 0:
            return None
        word = row[self.step_index]
        if word.isdigit() and len(word) < _MAX_EXACT_DIGITS:
            return int(word)
        step = float(word)
        is_exact = -MAX_EXACT_STEP < step < MAX_EXACT_STEP
        return int(step) if is_exact and step.is_integer() else None

    def times_of(self, rows: Sequence[Sequence[bytes]]) -> list[float]:
        """What the clocks of rows say, if they have any."""
        return [clock_time(row[0].decode()) for row in rows] if self.has_clock else []

    def behind_clock(self, between: str) -> LineLayout:
        """The layout of lines that begin with a clock and this text."""
        start = b"(" + CLOCK_BYTES + b")" + re.escape(between.encode())
        pick, episodes = self.pick, self.episodes_index
        return self._replace(
            pattern=re.compile(start + self.pattern.pattern),
            pick=lambda row: pick(row[1:]),
            step_index=self.step_index + 1,
            episodes_index=None if episodes is None else episodes + 1,
            has_clock=True,
        )


class LineLayouts:
    """The layouts of one stream, by the first bytes of their lines."""

    def __init__(self) -> None:
        self._by_start: dict[bytes, list[LineLayout]] = {}
        self._tried: set[tuple[str, str]] = set()

    def starting_like(self, data: bytes, start: int) -> Sequence[LineLayout]:
        """The layouts of lines that begin as the one at `start`."""
        return self._by_start.get(data[start : start + _KEY_BYTES], ())

    def learn(
        self, line: str, text: str, words: str, template: LineTemplate, parse: ParseLine
    ) -> None:
        """Learn the layout of a line that was read by this template, if it may be read so.

        `text` is the line without its prefix, `parse` reads such a text without any template.
        """
        prefix = "" if text == line else constant_prefix(line, text)
        if prefix is None or (prefix, words) in self._tried or len(self._tried) >= _MAX_LAYOUTS:
            return
        self._tried.add((prefix, words))
        begins_alike = not any(map(str.isdigit, text[:_KEY_BYTES]))
        layout = None
        if begins_alike and _stands_for_itself(line, text):
            layout = _plain_layout(text, words, template) or _printed_layout(text, parse)
        if layout is None:
            return
        if text != line:
            layout = layout.behind_clock(prefix)
        alike = self._by_start.setdefault(line[:_KEY_BYTES].encode(), [])
        if len(alike) < _MAX_ALIKE:
            alike.append(layout)


def _stands_for_itself(line: str, text: str) -> bool:
    """Whether all lines with these words are read as what their words and numbers say."""
    if not (line.isascii() and text.isprintable() and text == text.strip()):
        return False
    if any(part in text for part in _OTHER_THINGS) or not has_no_prefix(text):
        return False
    if trainer_lines.may_match(text) or may_end_run(text):
        return False
    return not text.startswith(ray_results.RESULT_STARTS)


def _plain_layout(text: str, words: str, template: LineTemplate) -> LineLayout | None:
    """The layout of lines that are their own normal form, and whose numbers end as it seems."""
    parts = words.split(NUMBER_MARK)
    if any(map(str.isdigit, words)) or any(map(_may_belong_to_number, parts[1:])):
        return None
    layout = _make_layout(PLAIN_NUMBER.join(re.escape(part.encode()) for part in parts), template)
    return layout if layout and layout.pattern.match(f"{text}\n".encode()) else None


def _printed_layout(text: str, parse: ParseLine) -> LineLayout | None:
    """The layout of others."""
    found = learn_printed_line(text, parse)
    layout = _make_layout(found.expression, found.template) if found is not None else None
    return layout and layout._replace(has_groups=found is not None and found.has_groups)


def _make_layout(expression: bytes, template: LineTemplate) -> LineLayout | None:
    if template.step_index is None or len(set(template.tags)) != len(template.tags):
        return None
    return LineLayout(
        re.compile(expression + rb"\n"),
        template.tags,
        picker(template.number_indexes),
        template.step_index,
        template.axis,
        template.episodes_index,
        are_heading(template.tags),
    )


@lru_cache(maxsize=64)
def layout_of_row(tags: tuple[str, ...], width: int, step_place: int, axis: str) -> LineLayout:
    """The layout of a row between bars: a number for each of these tags, and for the step.

    With as many tags as cells the step's is one of them.
    """
    cell = rb" *+" + PLAIN_NUMBER + rb" *+\|"
    pattern = re.compile(rb"\|" + cell * width + rb"\n")
    picked = picker([at for at in range(width) if at != step_place or len(tags) == width])
    return LineLayout(pattern, tags, picked, step_place, axis, None, False)


def _may_belong_to_number(text: str) -> bool:
    """Whether what follows a number could be a part of it, as in `1,000`; not `12, loss`."""
    head = text[:1]
    return head.isalnum() or head in (".", "_") or (head == "," and text[1:2] != " ")


def picker(indexes: Sequence[int]) -> Callable[[Sequence[bytes]], Any]:
    """Picks the elements at some places, as a sequence also where that is one or none."""
    if len(indexes) > 1:
        return itemgetter(*indexes)
    return lambda row: [row[index] for index in indexes]
