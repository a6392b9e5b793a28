"""Notices that another training begins in the same console, as where a loop tries several seeds.

That takes evidence of two kinds: steps begin anew, in a record like those before; and either the
training before has said that it is complete, or has ended at a round number of episodes or epochs,
as a loop does and a crash hardly ever; or another name or setting is printed. A training that is
resumed, or that crashed and is started again as it was, shows none of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppo_top.model import ConfigValue
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.metric_names import (
    TOTAL_SETTINGS,
    numbers_training,
    step_axis,
)
from ppo_top.parsers.shared.text.number_text import is_round, is_start, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_NAMED = lazy_pattern(
    r"(?i)(?<![a-z])(seed|run|trial|experiment|fold|logging (?:outputs )?to|learning rate|lr"
    r"|env(?:ironment)?|config(?:uration)?(?= \d{1,4}/\d))"
    r"(?:[_ ](?:id|name|number))?(?:\s*[:=#]\s*|\s+)['\"]?(?=[\w./-]*[\d/])([\w./-]{1,200})"
)
"""What tells one training of a console from the next, in a line of text."""
_TITLE = lazy_pattern(
    r"(?i)\s{0,9}(?:starting |now )?training (\w[\w.-]{0,60} on \w[\w.:/-]{0,100})(?: \(|\s|$)"
)
"""A line that says what is trained where: `Training dqn on grid_world (seed=42)`."""
_ALGORITHM_TITLE = lazy_pattern(
    r"(?i)\W{0,100}(?:\d{1,3}\W{1,3}|\d{1,3}/\d{1,3}\W{1,3})?(?:(?:now|starting) )?training"
    r"(?: the| an?| with| using)?((?: [A-Za-z][\w-]{0,30}){1,4})"
)
"""A line that says which algorithm trains now: `=== Training Double DQN agent ===`."""
_HEADING = lazy_pattern(
    r"[^\w\s]{2,100} ?([a-z][\w-]{0,30}(?: [a-z][\w-]{0,30}){0,3}) ?[^\w\s]{2,100}"
)
"""A line that may say no more than its name: `=== SARSA ===`."""
_OTHER_ALGORITHMS = frozenset({"q-learning", "qlearning", "actor-critic"})
_WORDS = (
    "seed",
    "run",
    "trial",
    "experiment",
    "fold",
    "logging",
    "learning",
    "lr",
    "env",
    "config",
)
"""A line without any of them names nothing: looking for them is quicker."""
_MAX_TEXT_CHARS = 300
_MAX_NAMES = 64
_TOTALS = frozenset({"max_steps", *TOTAL_SETTINGS.values()})
"""An evaluation may have another number of episodes."""
_ROUND_AXES = frozenset({"episode", "epoch", "iteration"})
"""What a loop counts up to a round number; an episode is often cut at a round number of steps."""
_FEWEST_STRIDES = 10
"""Fewer records tell nothing of how a loop counts."""
_RESUMED = lazy_pattern(r"resum|restor|load|continu|phase|stage|level|curricul|fine-?tun")
"""Words, in lower case, of trainings whose counter begins anew and that are one all the same."""

HAD_ENDED = "the one before was complete"
ANOTHER_ALGORITHM = "another algorithm is printed"
"""Whose lines may have other names."""


class TrainingStarts:
    """What is known of the training so far; asked when a step goes back."""

    def __init__(self, names: Mapping[str, object] | None = None) -> None:
        self.first_step: int | None = None
        self.reason = ""
        """Why the next record may be the first of another training, if its step is a first one."""
        self._names: dict[str, object] = dict(names or {})
        self._numbers: dict[str, float] = {}
        self._may_go_on = False
        """Whether a line has said that the training is resumed, or goes on otherwise."""
        self.stride: int | None = None
        """The distance of its first two steps."""

    def read_text(self, text: str) -> dict[str, ConfigValue]:
        """Look at a line that holds no record; the seed if it says one."""
        seed: dict[str, ConfigValue] = {}
        words = text[:_MAX_TEXT_CHARS].lower()
        self._may_go_on = self._may_go_on or _RESUMED.search(words) is not None
        if "training " in words and (title := _TITLE.match(text[:_MAX_TEXT_CHARS])):
            self._note("training", title[1])
        elif algorithm := _algorithm_of(words):
            self._note("algorithm", algorithm)
        if not any(word in words for word in _WORDS):
            return seed
        for name, word in _NAMED.findall(text[:_MAX_TEXT_CHARS]):
            number = parse_number(word)
            value = word.rstrip("./-") if number is None else number
            self._note(name.lower(), value)
            if name.lower() == "seed" and number is not None:
                seed["seed"] = number
        return seed

    def read_settings(self, settings: Mapping[str, ConfigValue]) -> None:
        """Look at printed settings."""
        for name, value in settings.items():
            if name not in _TOTALS:
                self._note(name, value)

    def _note(self, name: str, value: object) -> None:
        if self._names.get(name, value) != value:
            self.reason = f"another {name} is printed"
        if name in self._names or len(self._names) < _MAX_NAMES:
            self._names[name] = value

    def note_end(self) -> None:
        """The training says that it is complete."""
        self.reason = self.reason or HAD_ENDED

    def read_numbers(self, tags: Sequence[str], values: Sequence[float]) -> None:
        """Look at the first record of a kind."""
        self._numbers |= _numbers_of(tags, values)

    def note_stride(self, steps: Sequence[int]) -> None:
        """Look at the first steps."""
        if self.stride is None and len(steps) > 1 and steps[1] > steps[0]:
            self.stride = steps[1] - steps[0]

    def reason_to_split(
        self, tags: Sequence[str], values: Sequence[float], step: int, before: int
    ) -> str:
        """Why a record at `step` after one at `before` is another training's; "" if it is not."""
        first = self.first_step
        if first is None or first >= before or not self.is_first(step, before):
            return ""
        numbers = _numbers_of(tags, values)
        others = [name for name in numbers if numbers[name] != self._numbers.get(name)]
        if others:
            return f"another {others[0]} is printed"
        return self.reason or self._round_end(tags, values, step, before)

    def is_first_of_another(self, tags: Sequence[str], values: Sequence[float]) -> bool:
        """Whether another algorithm was said to train, and this is its first iteration."""
        if self.reason != ANOTHER_ALGORITHM:
            return False
        pairs = zip(tags, values, strict=True)
        return any(value == 1 and step_axis(_last_part(tag)) == "iteration" for tag, value in pairs)

    def _round_end(
        self, tags: Sequence[str], values: Sequence[float], step: int, before: int
    ) -> str:
        """That the training has ended at a round number; "" if it has not, or goes on."""
        stride = self.stride or 1
        total = before if self.first_step else before + stride
        if self._may_go_on or not is_round(total) or total < _FEWEST_STRIDES * stride:
            return ""
        pairs = zip(tags, values, strict=True)
        is_counted = any(value == step and step_axis(tag) in _ROUND_AXES for tag, value in pairs)
        return f"the one before ended at a round {total}" if is_counted else ""

    def is_first(self, step: int, before: int) -> bool:
        """Whether a step, after one at `before`, may be the first of another training."""
        return is_start(step, self.first_step or 0, before)

    def differs_from(self, other: TrainingStarts) -> str:
        """A name or setting that both have printed with other values; "" if there is none."""
        shared = self._names.keys() & other._names.keys()
        return min((name for name in shared if self._names[name] != other._names[name]), default="")

    def next_training(self) -> TrainingStarts:
        """What is known when it begins: the names that were printed stay."""
        return TrainingStarts(self._names)


def _last_part(tag: str) -> str:
    return tag.rpartition("/")[2].removesuffix("s")


def _algorithm_of(text: str) -> str:
    """The algorithm that a line of lower-case words says to train; "" if it says none."""
    if "training " in text:
        found = _ALGORITHM_TITLE.match(text)
    else:
        found = _HEADING.fullmatch(text.rstrip())
    words = found[1].split() if found else []
    for place, word in enumerate(words):
        if word in _OTHER_ALGORITHMS or metric_names.names_algorithm(word):
            return " ".join(words[: place + 1])
    return ""


def _numbers_of(tags: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    return {tag: value for tag, value in zip(tags, values, strict=True) if numbers_training(tag)}
