"""Lines of pairs that differ in their numbers only, taken apart once and then by place.

What a line says follows from its words; so the second line of a form teaches where the numbers of a
record stand, and those after it cost one search for numbers. Prose is remembered as such too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ppo_top.model import ConfigValue
from ppo_top.parsers.console import key_values as _pairs
from ppo_top.parsers.console.record import Record
from ppo_top.parsers.shared.number_text import NUMBER, number, whole

_NUMBER = re.compile(rf"(?<![\w.@/%()#+\-^])({NUMBER})(?!\w|\.\d)")
_GAP = "\0"
_CLOCK = "\0:\0"
_PROBE = 7_000_001
"""Stands for the first number of a form while it is learnt; no line has it by chance."""
_LONGEST = 512
_MOST = 4096


class Form(NamedTuple):
    """The names in a line and the places of their numbers among all of the line's numbers."""

    tags: tuple[str, ...]
    places: tuple[int, ...]
    step: int | None
    axis: str
    episodes: int | None
    """Where a count of episodes stands: zero makes the reward beside it a placeholder."""
    config: Mapping[str, ConfigValue]


_UNSURE = Form((), (), None, "", None, {})
"""A form whose numbers cannot be told by their places; its lines are read one by one."""


class Forms:
    """Reads lines of pairs and remembers their forms; what it gives is what `_pairs.read` gives."""

    def __init__(self) -> None:
        self._forms: dict[str, Form | None] = {}
        self._seen: set[str] = set()

    def read(self, text: str) -> Record | None:
        """The record of a line, or None when the line is prose."""
        if len(text) > _pairs.LONGEST:
            return None
        parts = _NUMBER.split(_pairs.prepare(text))
        words = _GAP.join(parts[::2])
        if len(words) > _LONGEST or _CLOCK in words:
            return _pairs.read(text)
        if words not in self._forms:
            return self._new(text, words, parts)
        form = self._forms[words]
        if form is None:
            return None
        if form is _UNSURE:
            return _pairs.read(text)
        return _filled(form, parts[1::2]) or _pairs.read(text)

    def _new(self, text: str, words: str, parts: list[str]) -> Record | None:
        """Read a line of an unknown form; learn the form when it comes the second time."""
        if words not in self._seen:
            if len(self._seen) >= _MOST:
                self._seen.clear()
            self._seen.add(words)
            return _pairs.read(text)
        if len(self._forms) >= _MOST:
            self._forms.clear()
        self._forms[words] = _learnt(parts)
        return _pairs.read(text)


def _learnt(parts: list[str]) -> Form | None:
    """The form of a line, by a probe whose numbers tell their place; None: it is prose."""
    count = len(parts) // 2
    probe = parts[:]
    probe[1::2] = [str(_PROBE + place) for place in range(count)]
    found = _pairs.read("".join(probe))
    if found is None:
        return None
    if any(isinstance(value, int) and value >= _PROBE for value in found.config.values()):
        return _UNSURE
    places = [int(value) - _PROBE for _, value in found.values]
    if any(place not in range(count) for place in places):
        return _UNSURE
    tags = tuple(tag for tag, _ in found.values)
    step = None if found.step is None else found.step - _PROBE
    episodes = next((at for tag, at in zip(tags, places, strict=True) if _pairs.counts(tag)), None)
    return Form(tags, tuple(places), step, found.axis, episodes, found.config)


def _filled(form: Form, words: list[str]) -> Record | None:
    """The record of a known form; None when its numbers ask for a closer look."""
    values = [number(words[place]) for place in form.places]
    step = None
    if form.step is not None:
        said = number(words[form.step])
        step = None if said is None else whole(said)
        if step is None:
            return None
    if form.episodes is not None and number(words[form.episodes]) == 0:
        return None
    pairs = [
        (tag, value) for tag, value in zip(form.tags, values, strict=True) if value is not None
    ]
    return Record(pairs, step, form.axis, form.config) if len(pairs) == len(values) else None
