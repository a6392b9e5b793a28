"""An option of the trainer, as a sentence of advice names it."""

from __future__ import annotations

from ppo_top.model import ConfigValue, as_number
from ppo_top.text.format import clean, number

OFF_VALUES = (None, False, 0, "False", "false", "None", "none", "")

RATE_FOLLOWS_NOTE = "the learning rate follows it"
"""The note on a KL target named instead of the learning rate."""

SINCE = "since "
"""How the note begins that names the first version with an option."""

SHOWN_NOTE_PREFIXES = (SINCE, "two ", RATE_FOLLOWS_NOTE)
"""Prefixes of notes shown in a sentence: since which version, how many numbers."""


MOVED = {"above": "if it was raised", "below": "if it was lowered"}
"""What is supposed of an unknown value beside a default that needs no change."""


class AdvisedOption:
    """An option: its name, the run's value and the trainer's default, if known.

    Format specs: empty prints name and values, `name` the bare name. `above 0.2`, `below 0.28` and
    `off` print the same, but raise KeyError (dropping the sentence) if the run's known value does
    not satisfy them; with `known below 0.1` an unknown value fails too. A spec starting with a
    comma is appended, except to a KL target that the learning rate follows. `moment` says when the
    option has this value: a schedule moves on from it.
    """

    def __init__(
        self,
        name: str,
        value: ConfigValue | None = None,
        default: ConfigValue | None = None,
        default_owner: str = "",
        note: str = "",
        moment: str = "now",
    ) -> None:
        self.name, self.value, self.moment = name, value, moment
        self.default, self.default_owner = default, default_owner
        self.note = note if note.startswith(SHOWN_NOTE_PREFIXES) else ""

    @property
    def number(self) -> float | None:
        """The run's value or else the default, if it is a number."""
        return as_number(self.default if self.value is None else self.value)

    def __format__(self, spec: str) -> str:
        if spec == "name":
            return self.name
        if spec.startswith(","):
            return f"{self}{'' if self.note == RATE_FOLLOWS_NOTE else spec}"
        known = spec.startswith("known ")
        condition = spec.removeprefix("known ").split()
        if spec and not self._satisfies(not known, *condition):
            raise KeyError(self.name)
        now, usual = _text(self.value), _text(self.default)
        words = [f"{now} {self.moment}"] if now else self._supposed(*condition)
        if usual and usual != now:
            words.append(f"{self.default_owner}'s default is {usual}")
        if self.note.startswith(SINCE):
            version = self.note.removeprefix(SINCE)
            words.append(f"needs {self.default_owner or 'version'} {version} or later")
        elif self.note:
            words.append(self.note)
        return f"{self.name} ({'; '.join(words)})" if words else self.name

    def _supposed(self, word: str = "", limit: str = "0") -> list[str]:
        """What has to be so for advice to be of use, where only the default is known."""
        usual = as_number(self.default)
        if word not in MOVED or usual is None or _is(usual, word, limit):
            return []
        return [MOVED[word]]

    def _satisfies(self, unknown: bool, word: str, limit: str = "0") -> bool:
        """Whether the value is `above` or `below` a limit, or `off`; `unknown` if it is unset."""
        if word == "off":
            return self.value in OFF_VALUES
        own = as_number(self.value)
        return unknown if own is None else _is(own, word, limit)


def _is(value: float, word: str, limit: str) -> bool:
    """Whether a value is `above` or `below` a limit."""
    return value > float(limit) if word == "above" else value < float(limit)


def _text(value: ConfigValue | None) -> str:
    if value is None or isinstance(value, (bool, str)):
        return "" if value is None else clean(str(value)[:40])
    return number(float(value), 3)
