"""Lines of key-value pairs that differ only in their numbers, parsed once per template.

The meaning of a line follows from its words, so the second line of a template shows where the
numbers of a record are, and later ones need only a search for numbers. Prose is remembered as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from ppo_top.model import ConfigValue
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.records import key_values
from ppo_top.parsers.console.records.normal_form import normalise_line
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN, as_step, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_NUMBER_IN_LINE = lazy_pattern(
    rf"(?<![\w.@/%()#+\-^])({NUMBER_PATTERN})(?!(?!(?:h|m|ms|s)\b)\w|\.\d)"
)
NUMBER_MARK = "\0"
"""Stands for a number in the words of a line."""
_CLOCK_MARK = "\0:\0"
FIRST_PROBE = 7_000_001
"""Replaces the first number of a line while its template is learned; too odd to be real."""
_MAX_TEMPLATE_CHARS = 512
_MAX_LINE_TEMPLATES = 4096


class LineTemplate(NamedTuple):
    """The names in a line and the indexes of their numbers among all of its numbers."""

    tags: tuple[str, ...]
    number_indexes: tuple[int, ...]
    step_index: int | None
    axis: str
    episodes_index: int | None
    """Index of a count of episodes: zero makes the reward a placeholder."""
    config: Mapping[str, ConfigValue]
    begins_line: bool
    """Whether the step is only the number that the line begins with."""


_NO_TEMPLATE = LineTemplate((), (), None, "", None, {}, False)
"""Marks lines whose numbers have no fixed meaning; they are parsed one by one."""


class LineTemplates:
    """Parses lines exactly as `key_values.parse_line` does, but remembers their templates."""

    def __init__(self) -> None:
        self._templates: dict[str, LineTemplate | None] = {}
        self._seen_once: set[str] = set()
        self._last_used: tuple[str, LineTemplate] | None = None
        self._bare_steps_count: bool | None = None

    def settle_bare_steps(self, count: bool | None) -> None:
        """Note what `steps` beside a count of episodes have turned out to be."""
        if count is not self._bare_steps_count:
            self._bare_steps_count, self._last_used = count, None
            self._templates.clear()

    def pop_last_used(self) -> tuple[str, LineTemplate] | None:
        """Words and template of the line read since the last call, if it was read by one."""
        used, self._last_used = self._last_used, None
        return used

    def parse_line(self, text: str) -> ConsoleRecord | None:
        """The record of a line, or None if it is prose."""
        if not key_values.may_be_record(text):
            return None
        normal = normalise_line(text)
        parts = _NUMBER_IN_LINE.split(normal)
        words = NUMBER_MARK.join(parts[::2])
        if len(words) > _MAX_TEMPLATE_CHARS or _CLOCK_MARK in words:
            return self._read_normal(text, normal)
        if words not in self._templates:
            return self._parse_unknown(text, normal, words, parts)
        template = self._templates[words]
        if template is None:
            return None
        found = None if template is _NO_TEMPLATE else _fill_template(template, parts[1::2])
        if found is None:
            return self._read_normal(text, normal)
        self._last_used = words, template
        return found

    def _parse_unknown(
        self, text: str, normal: str, words: str, parts: list[str]
    ) -> ConsoleRecord | None:
        """Parse a line without a template; learn the template the second time."""
        if words not in self._seen_once:
            if len(self._seen_once) >= _MAX_LINE_TEMPLATES:
                self._seen_once.clear()
            self._seen_once.add(words)
            return self._read_normal(text, normal)
        if len(self._templates) >= _MAX_LINE_TEMPLATES:
            self._templates.clear()
        found, template = self._read_normal(text, normal), self._learn_template(parts)
        if (
            template
            and template.tags
            and not _is_same(_fill_template(template, parts[1::2]), found)
        ):
            template = _NO_TEMPLATE  # a word that is a number, as in `reward -> nan`
        self._templates[words] = template
        return found

    def _learn_template(self, parts: list[str]) -> LineTemplate | None:
        """The template of a line, from a probe whose numbers say their index; None for prose."""
        count = len(parts) // 2
        probe = parts[:]
        probe[1::2] = [str(FIRST_PROBE + place) for place in range(count)]
        found = self.read_anew("".join(probe))
        if found is None:
            return None
        if any(isinstance(value, int) and value >= FIRST_PROBE for value in found.config.values()):
            return _NO_TEMPLATE
        if not all(math.isfinite(value) for _, value in found.values):
            return _NO_TEMPLATE  # `reward (nan)`: in brackets it is no number of the line
        places = [int(value) - FIRST_PROBE for _, value in found.values]
        if any(place not in range(count) for place in places):
            return _NO_TEMPLATE
        tags = tuple(tag for tag, _ in found.values)
        step = None if found.step is None else found.step - FIRST_PROBE
        if step is not None and step not in range(count):
            return _NO_TEMPLATE
        episodes = index_of_episodes(tags, places)
        return LineTemplate(
            tags, tuple(places), step, found.axis, episodes, found.config, found.begins_line
        )

    def _read_normal(self, text: str, normal: str) -> ConsoleRecord | None:
        return key_values.parse_normal_line(text, normal, self._bare_steps_count)

    def read_anew(self, text: str) -> ConsoleRecord | None:
        """The record of a line, without any template."""
        return key_values.parse_line(text, self._bare_steps_count)


def index_of_episodes(tags: Iterable[str], places: Iterable[int]) -> int | None:
    """The place of a count of episodes among those of the tags."""
    pairs = zip(tags, places, strict=True)
    return next((at for tag, at in pairs if key_values.is_episode_count(tag)), None)


def _is_same(one: ConsoleRecord | None, other: ConsoleRecord | None) -> bool:
    """Whether two readings of a line say the same, NaN included."""
    return repr(one and one[:3]) == repr(other and other[:3])


def _fill_template(template: LineTemplate, words: list[str]) -> ConsoleRecord | None:
    """The record of a line with a template; None if its numbers need a full parse."""
    values = [parse_number(words[place]) for place in template.number_indexes]
    step = None
    if template.step_index is not None:
        step = as_step(parse_number(words[template.step_index]))
        if step is None:
            return None
    if template.episodes_index is not None and parse_number(words[template.episodes_index]) == 0:
        return None
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        return None
    pairs = list(zip(template.tags, numbers, strict=True))
    begins_line = template.begins_line
    return ConsoleRecord(pairs, step, template.axis, template.config, begins_line=begins_line)
