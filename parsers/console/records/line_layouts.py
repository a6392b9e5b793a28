"""Whole lines of names and numbers with known words, read by one regular expression each.

A layout is learnt from a line that was read the long way by its template; it stands only for lines
that the long way would read alike: plain ASCII, without a prefix, in which words decide everything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from ppo_top.parsers.console.lines.run_end import may_end_run
from ppo_top.parsers.console.lines.unwrap import has_no_prefix
from ppo_top.parsers.console.records import ray_results, trainer_lines
from ppo_top.parsers.console.records.line_templates import LineTemplate
from ppo_top.parsers.shared.names.metric_names import step_axis

_NUMBER = rb"([-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?|nan|inf))"
_NUMBER_MARK = "\0"
_CHANGED_BEFORE_PARSING = ("[", "(", "#", "\t", "  ", "Epoch", ": episode: ", "{", " = ", "%|")
"""A line with one of these is rewritten before its pairs are searched, or may be another thing."""
_KEY_BYTES = 4
_MAX_LAYOUTS = 256
MAX_EXACT_STEP = 1 << 53
"""Below this a step is the same whether it is parsed as an integer or as a float."""


class LineLayout(NamedTuple):
    """`pattern` matches a line with its line feed; `pick` chooses the values of `tags`."""

    pattern: re.Pattern[bytes]
    tags: tuple[str, ...]
    pick: Callable[[Sequence[bytes]], Sequence[bytes]]
    step_index: int
    axis: str
    episodes_index: int | None
    is_heading: bool

    def step_of(self, words: Sequence[bytes]) -> int | None:
        """The step among the numbers of a line; None if the line has to be read the long way."""
        if self.episodes_index is not None and float(words[self.episodes_index]) == 0:
            return None
        step = float(words[self.step_index])
        is_exact = -MAX_EXACT_STEP < step < MAX_EXACT_STEP
        return int(step) if is_exact and step.is_integer() else None


class LineLayouts:
    """The layouts of one stream, by the first bytes of their lines."""

    def __init__(self) -> None:
        self._by_start: dict[bytes, list[LineLayout]] = {}
        self._tried: set[str] = set()

    def starting_like(self, data: bytes, start: int) -> Sequence[LineLayout]:
        """The layouts of lines that begin as the one at `start`."""
        return self._by_start.get(data[start : start + _KEY_BYTES], ())

    def learn(self, line: str, words: str, template: LineTemplate) -> None:
        """Learn the layout of a line that was read by this template, if it may be read so."""
        if words in self._tried or len(self._tried) >= _MAX_LAYOUTS:
            return
        self._tried.add(words)
        layout = _make_layout(line, words, template)
        first = words.find(_NUMBER_MARK)
        if layout is not None and first >= _KEY_BYTES:
            self._by_start.setdefault(words[:_KEY_BYTES].encode(), []).append(layout)


def _make_layout(line: str, words: str, template: LineTemplate) -> LineLayout | None:
    if template.step_index is None or len(set(template.tags)) != len(template.tags):
        return None
    if not (line.isascii() and line.isprintable() and line == line.strip()):
        return None
    if any(part in words for part in _CHANGED_BEFORE_PARSING) or not has_no_prefix(line):
        return None
    if trainer_lines.may_match(line) or may_end_run(line):
        return None
    if line.startswith(ray_results.RESULT_STARTS):
        return None
    parts = words.split(_NUMBER_MARK)
    if any(_may_belong_to_number(part) for part in parts[1:]):
        return None
    pattern = _NUMBER.join(re.escape(part.encode()) for part in parts) + rb"\n"
    return LineLayout(
        re.compile(pattern),
        template.tags,
        _picker(template.number_indexes),
        template.step_index,
        template.axis,
        template.episodes_index,
        all(step_axis(tag) is not None for tag in template.tags),
    )


@lru_cache(maxsize=64)
def layout_of_row(tags: tuple[str, ...], axis: str) -> LineLayout:
    """The layout of a row between bars: the step, and a number for each of these tags."""
    cell = rb" *+" + _NUMBER + rb" *+\|"
    pattern = re.compile(rb"\|" + cell * (1 + len(tags)) + rb"\n")
    return LineLayout(pattern, tags, _picker(range(1, 1 + len(tags))), 0, axis, None, False)


def _may_belong_to_number(text: str) -> bool:
    """Whether what follows a number could be a part of it, as in `1,000`; not `12, loss`."""
    head = text[:1]
    return head.isalnum() or head in (".", "_") or (head == "," and text[1:2] != " ")


def _picker(indexes: Sequence[int]) -> Callable[[Sequence[bytes]], Any]:
    if len(indexes) > 1:
        return itemgetter(*indexes)
    return lambda numbers: [numbers[index] for index in indexes]
