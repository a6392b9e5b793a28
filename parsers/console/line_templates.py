"""Lines of pairs that differ in their numbers only, taken apart once and then by place.

What a line says follows from its words; so the second line of a form teaches where the numbers of a
record stand, and those after it cost one search for numbers. Prose is remembered as such too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ppo_top.model import ConfigValue
from ppo_top.parsers.console import key_values
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.number_text import NUMBER_PATTERN, as_step, parse_number

_NUMBER_IN_LINE = re.compile(rf"(?<![\w.@/%()#+\-^])({NUMBER_PATTERN})(?!\w|\.\d)")
_NUMBER_MARK = "\0"
_CLOCK_MARK = "\0:\0"
_FIRST_PROBE = 7_000_001
"""Stands for the first number of a form while it is learnt; no line has it by chance."""
_MAX_TEMPLATE_CHARS = 512
_MAX_LINE_TEMPLATES = 4096


class LineTemplate(NamedTuple):
    """The names in a line and the places of their numbers among all of the line's numbers."""

    tags: tuple[str, ...]
    number_indexes: tuple[int, ...]
    step_index: int | None
    axis: str
    episodes_index: int | None
    """Where a count of episodes stands: zero makes the reward beside it a placeholder."""
    config: Mapping[str, ConfigValue]


_NO_TEMPLATE = LineTemplate((), (), None, "", None, {})
"""A form whose numbers cannot be told by their places; its lines are read one by one."""


class LineTemplates:
    """Reads lines of pairs and remembers their forms; what it gives is what `_pairs.read` gives."""

    def __init__(self) -> None:
        self._templates: dict[str, LineTemplate | None] = {}
        self._seen_once: set[str] = set()

    def parse_line(self, text: str) -> ConsoleRecord | None:
        """The record of a line, or None when the line is prose."""
        if len(text) > key_values.MAX_PAIRS_LINE_CHARS:
            return None
        parts = _NUMBER_IN_LINE.split(key_values.normalise_line(text))
        words = _NUMBER_MARK.join(parts[::2])
        if len(words) > _MAX_TEMPLATE_CHARS or _CLOCK_MARK in words:
            return key_values.parse_line(text)
        if words not in self._templates:
            return self._parse_unknown(text, words, parts)
        form = self._templates[words]
        if form is None:
            return None
        if form is _NO_TEMPLATE:
            return key_values.parse_line(text)
        return _fill_template(form, parts[1::2]) or key_values.parse_line(text)

    def _parse_unknown(self, text: str, words: str, parts: list[str]) -> ConsoleRecord | None:
        """Read a line of an unknown form; learn the form when it comes the second time."""
        if words not in self._seen_once:
            if len(self._seen_once) >= _MAX_LINE_TEMPLATES:
                self._seen_once.clear()
            self._seen_once.add(words)
            return key_values.parse_line(text)
        if len(self._templates) >= _MAX_LINE_TEMPLATES:
            self._templates.clear()
        self._templates[words] = _learn_template(parts)
        return key_values.parse_line(text)


def _learn_template(parts: list[str]) -> LineTemplate | None:
    """The form of a line, by a probe whose numbers tell their place; None: it is prose."""
    count = len(parts) // 2
    probe = parts[:]
    probe[1::2] = [str(_FIRST_PROBE + place) for place in range(count)]
    found = key_values.parse_line("".join(probe))
    if found is None:
        return None
    if any(isinstance(value, int) and value >= _FIRST_PROBE for value in found.config.values()):
        return _NO_TEMPLATE
    places = [int(value) - _FIRST_PROBE for _, value in found.values]
    if any(place not in range(count) for place in places):
        return _NO_TEMPLATE
    tags = tuple(tag for tag, _ in found.values)
    step = None if found.step is None else found.step - _FIRST_PROBE
    episodes = next(
        (at for tag, at in zip(tags, places, strict=True) if key_values.is_episode_count(tag)), None
    )
    return LineTemplate(tags, tuple(places), step, found.axis, episodes, found.config)


def _fill_template(template: LineTemplate, words: list[str]) -> ConsoleRecord | None:
    """The record of a known form; None when its numbers ask for a closer look."""
    values = [parse_number(words[place]) for place in template.number_indexes]
    step = None
    if template.step_index is not None:
        said = parse_number(words[template.step_index])
        step = None if said is None else as_step(said)
        if step is None:
            return None
    if template.episodes_index is not None and parse_number(words[template.episodes_index]) == 0:
        return None
    pairs = [
        (tag, value) for tag, value in zip(template.tags, values, strict=True) if value is not None
    ]
    return (
        ConsoleRecord(pairs, step, template.axis, template.config)
        if len(pairs) == len(values)
        else None
    )
