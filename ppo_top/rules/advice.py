"""What to try, in the option names of the trainer at hand and with the run's own values.

A rule writes `lower {learning_rate}`; for a run of Stable-Baselines3 that becomes
`lower learning_rate (0.03 now; SB3's default is 0.0003)`, for one of verl `lower actor.optim.lr`.
`{clip_range:name}` is the bare name. A sentence that needs an option which the trainer does not
have is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ppo_top.rules.options import NAMES, OPTIONS, TRAINERS
from ppo_top.rules.run import Run
from ppo_top.rules.say import num

LOGGED = {"learning_rate": "lr", "clip_range": "clip_range", "beta": "kl_coef"}
"""Options whose value some trainers log as a metric."""


class Option:
    """An option of the trainer at hand, ready to be put into a sentence."""

    def __init__(self, name: str, now: str = "", default: str = "", whose: str = "") -> None:
        self.name, self.now, self.default, self.whose = name, now, default, whose

    def __format__(self, spec: str) -> str:
        """The name with what is known of its value; the format `name` gives the bare name."""
        words = [f"{self.now} now"] if self.now else []
        if self.default and self.default != self.now:
            words.append(f"{self.whose}'s default is {self.default}")
        return self.name if spec == "name" or not words else f"{self.name} ({'; '.join(words)})"


class Options(Mapping[str, Option]):
    """Looks options up for one run, as a sentence asks for them."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def __getitem__(self, option: str) -> Option:
        whose = TRAINERS.get(self.run.producer)
        if whose is None:
            return Option(option, current(self.run, option))
        name, default = OPTIONS[self.run.producer][option]
        shown = num(float(default)) if default else ""
        return Option(name, current(self.run, option), shown, whose)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


def current(run: Run, option: str) -> str:
    """An option's value in this run as text: from its configuration, or as it was first logged."""
    value = run.config.get(option)
    if value is None and option in LOGGED:
        history = run.histories.get(LOGGED[option])
        value = history.first[0] if history is not None and history.first else None
    if value is None or isinstance(value, (bool, str)):
        text = "" if value is None else str(value)[:40]
        return "".join(letter for letter in text if letter.isprintable())
    return num(float(value))


def fill(sentences: Iterable[str], run: Run) -> tuple[str, ...]:
    """Sentences with this run's options in them, without those that do not apply."""
    options, filled = Options(run), []
    for sentence in sentences:
        try:
            filled.append(sentence.format_map(options))
        except KeyError:
            continue
    return tuple(filled)
