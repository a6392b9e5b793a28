"""Progress bars of tqdm: the only place where the Hugging Face trainer's console shows its step."""

from __future__ import annotations

import re

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.steps.laps import MAX_LAP
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN, as_step, named_numbers
from ppo_top.text.lazy_pattern import lazy_pattern

_BAR_START = lazy_pattern(
    r"\s*+(?P<name>[^%{}\r\n]{0,240}?:)?\s*+\d{1,3}%\|[^|\r\n]{0,400}+\|"
    r"\s*+(?P<done>\d{1,15})/(?P<total>\d{1,15})\s*+\["
)
_ENDLESS_BAR = lazy_pattern(
    r"\s*+(?P<name>[^%{}\r\n]{0,240}?:)?\s*+(?P<done>\d{1,15}) ?[A-Za-z]{1,20} \["
    r"\d{1,6}:\d\d(?::\d\d)?, [^\],=]{1,40}"
    rf", [A-Za-z_][\w/.@-]{{0,80}}=\s?{NUMBER_PATTERN}[,\]]"
)
"""`60032it [00:10, 5524.06it/s, reward=0.475]`: tqdm was given no total, or has gone beyond it."""
_BARE_ENDLESS_BARS = lazy_pattern(
    r"(?:\s*+(?:[A-Za-z][\w ]{0,40}: )?\d{1,15} ?[A-Za-z]{1,20} \["
    r"\d{1,6}:\d\d(?::\d\d)?, [^\],=]{1,30}(?:/s|s/[A-Za-z]{1,20})\])++"
)
"""`3it [00:30, 10.1s/it]`: such bars without values, which count anything."""
_DESCRIPTION = lazy_pattern(r"\s*+\[([^\[\]]{1,4000}+)\]:(?=\s*+\d{1,3}%\|)")
_DESCRIBED_VALUE = lazy_pattern(
    rf"(?:^|\| )([A-Za-z_][\w/.@-]{{0,80}}): ({NUMBER_PATTERN})(?= \||$)"
)
_BAR_REST = lazy_pattern(r"[^\]\r\n]*+\]")
_VALUE_AFTER_BAR = lazy_pattern(rf", ([A-Za-z_][\w/.@-]{{0,80}})=\s?({NUMBER_PATTERN})(?=[,\]])")
_PART = lazy_pattern(r"\b(?:epoch|episode|iteration|iter|round)\W{0,3}\d", re.IGNORECASE)
_NUMBERED_PART = lazy_pattern(r"\s*+(epoch|episode|iteration) (\d{1,9})\W*", re.IGNORECASE)
"""`Epoch 3: : 0it [04:20, ?it/s, loss=1.33]`: Lightning counts no batches of a loader that has no
length, and draws such a bar when the epoch is over."""
_PART_OF_EPISODE = lazy_pattern(r"(?:\[|#)(\d{1,9})/\d{1,9}(?:\]|$)")
_TRAINING_BAR_NAME = lazy_pattern(
    r"train|step|iter|epoch|episode|update|progress"
    r"|\b(?:rl|a2c|a3c|ddpg|dqn|grpo|ppo|reinforce|sac|td3)\b",
    re.IGNORECASE,
)
_DATA_BAR_NAME = lazy_pattern(r"\b(?:dataset|split)s?\b", re.IGNORECASE)
"""`Tokenizing train dataset`, `Generating train split`: they count examples."""
_NAMED_VALUE = lazy_pattern(
    rf"(?:^|[,;|]? )(?P<name>[A-Za-z][\w -]{{0,40}}?(?: \([a-z]{{1,20}}\))?)"
    rf"(?:: {{0,2}}| ?= {{0,2}}| )(?P<value>{NUMBER_PATTERN})"
    rf"(?: \(init[:=] {{0,2}}{NUMBER_PATTERN}\))?(?=[,;: ]|$)"
)
"""What `set_description(f"Reward: {reward:.2f}")` puts before a bar; TorchRL's tutorials say what
it was at first, too: `average reward= 9.2 (init= 9.1), step count (max): 31`."""
_MOST_TOTALS = 64
_EVALUATION = lazy_pattern(r"eval|test|valid", re.IGNORECASE)


class ProgressBar(NamedTuple):
    """One state of a bar; `end` is where the text after it starts (0: not complete yet).

    `total` is 0 where it does not say it.
    """

    name: str
    done: int
    total: int
    end: int
    description: str = ""
    """What stands in brackets before it: trlX puts its metrics there."""

    @property
    def counts_part(self) -> bool:
        """Whether it is one of many that each count a part of the training: `Epoch #3`."""
        return _PART.search(self.name) is not None


def find_bar(text: str) -> ProgressBar | None:
    """The bar at the start of `text`; complete up to its `[` is enough."""
    if "%|" not in text:
        return _find_endless_bar(text)
    described = _DESCRIPTION.match(text)
    match = _BAR_START.match(text, described.end() if described else 0)
    if match is None:
        return None
    rest = _BAR_REST.match(text, match.end())
    end = rest.end() if rest else 0
    name = (match["name"] or "").rstrip(":")
    description = described[1] if described else ""
    return ProgressBar(name, int(match["done"]), int(match["total"]), end, description)


def _find_endless_bar(text: str) -> ProgressBar | None:
    """The bar without a total at the start of `text`, if it has values: others count anything."""
    match = _ENDLESS_BAR.match(text) if "=" in text and "/" in text else None
    if match is None:
        return None
    end = text.find("]", match.end() - 1) + 1
    return ProgressBar((match["name"] or "").rstrip(":"), int(match["done"]), 0, end)


def text_behind_bare_bars(text: str) -> str:
    """What is printed behind bars without total and values: they end no line of their own."""
    bars = _BARE_ENDLESS_BARS.match(text) if "/" in text and ", " in text else None
    return text if bars is None else text[bars.end() :] or text


def values_after_bar(bar: ProgressBar, text: str) -> list[tuple[str, float]]:
    """The values that tqdm prints after the rate: `12.3s/it, kl=0.01, reward=1.5]`.

    Empty if the bar is not called after a training and none of them is a metric: one that loads
    weights names a file there.
    """
    found = named_numbers(_VALUE_AFTER_BAR.findall(text))
    told = bool(bar.name) or any(metric_names.is_metric(key) for key, _ in found)
    return found if told else []


def _values_before(bar: ProgressBar) -> list[tuple[str, float]]:
    """The values before a bar: `losses/total_loss: 1.64 | losses/policy_loss: 0.12`, or its name's.

    A name is one of values if one of them is a training's reward or loss: `Reward: 21.5, Loss:
    0.3`, and neither `Critic epoch 3` nor `Evaluating, reward: 9.5`.
    """
    if bar.description:
        return named_numbers(_DESCRIBED_VALUE.findall(bar.description))
    if _EVALUATION.search(_NAMED_VALUE.sub("", bar.name)):
        return []
    found = named_numbers(_NAMED_VALUE.findall(bar.name))
    return found if any(_is_measured(key) for key, _ in found) else []


def _is_measured(key: str) -> bool:
    is_count = metric_names.step_axis(key.rpartition(" ")[2]) is not None
    return metric_names.is_metric(key) and not (is_count or _is_evaluation(key))


def _is_evaluation(key: str) -> bool:
    return _EVALUATION.search(key) is not None


def _counts_training(bar: ProgressBar) -> bool:
    if not bar.name:
        return True
    is_named = _TRAINING_BAR_NAME.search(bar.name) and not _DATA_BAR_NAME.search(bar.name)
    return bool(is_named or _values_before(bar))


def _may_be_lap(bar: ProgressBar) -> bool:
    """Whether a bar may be one of many, of an update or epoch each: `12/12`, then `9/9`."""
    return bar.total <= MAX_LAP or bar.done == bar.total


class TrainingBar:
    """Progress of the training, by the bar that counts its steps.

    The first bar without a name (or with one like "Training") is the trainer's; a bar with another
    total (evaluation, loading) is followed only once the trainer's is full, and not if one with
    that total has been drawn before: the last evaluation comes after the last step.
    """

    def __init__(self) -> None:
        self.done: int | None = None
        self.total: int | None = None
        self._other_totals: set[int] = set()

    def follow(self, bar: ProgressBar) -> bool:
        """Follow the bar; False if it is not the trainer's."""
        if not _counts_training(bar):
            return False
        if not bar.total:
            return self._follow_endless(bar)
        is_other = bool(self.total) and self.total != bar.total
        if is_other and (self.done != self.total or bar.total in self._other_totals):
            if len(self._other_totals) < _MOST_TOTALS:
                self._other_totals.add(bar.total)
            return False
        self.total, self.done = bar.total, bar.done
        return True

    def _follow_endless(self, bar: ProgressBar) -> bool:
        """Follow a bar without a total, unless the trainer's has one that it has not passed."""
        if self.total and bar.done <= self.total:
            return False
        self.total, self.done = self.total or 0, bar.done
        return True


class BarValues:
    """Records of the values after bars: each is drawn many times and counts once.

    Values of the training bar have its step and count when they change; an evaluation's are shown
    until the next one, so each of them counts alone. Those of a bar inside a step (OpenRLHF's
    minibatches) count when that bar is full; their step counts such bars.
    """

    def __init__(self) -> None:
        self._last_values: tuple[str, list[tuple[str, float]]] = ("", [])
        self._full_bars = 0
        self._last_bar: ProgressBar | None = None
        self._before = 0
        """The steps of all bars that were full before this one began."""

    def read_record(self, bar: ProgressBar, text: str, followed: bool) -> ConsoleRecord | None:
        """The record of a bar's values, if they are new."""
        if not (bar.description or bar.name or "=" in text) or not _counts_training(bar):
            return None
        values = [*_values_before(bar), *values_after_bar(bar, text)]
        if not values or (bar.name, values) == self._last_values:
            return None
        if not (bar.total or bar.done) and (part := _NUMBERED_PART.fullmatch(bar.name)):
            seen, self._last_values = self._last_values[1], (bar.name, values)
            is_new = values != seen  # not those of the part before, when this one begins
            return ConsoleRecord(values, int(part[2]), part[1].lower()) if is_new else None
        if followed:
            seen, self._last_values = self._last_values[1], (bar.name, values)
            values = [each for each in values if not (_is_evaluation(each[0]) and each in seen)]
            axes = [(axis, value) for key, value in values if (axis := metric_names.step_axis(key))]
            if axes and (stated := as_step(axes[0][1])) is not None:
                return ConsoleRecord(values, stated, axes[0][0])
            part = _PART_OF_EPISODE.search(bar.name)
            before = (int(part[1]) - 1) * bar.total if part and int(part[1]) else self._laps(bar)
            return ConsoleRecord(values, before + bar.done)
        if bar.done != bar.total:
            return None
        self._last_values = bar.name, values
        self._full_bars += 1
        return ConsoleRecord(values, self._full_bars)

    def _laps(self, bar: ProgressBar) -> int:
        """The steps before this bar where each update or epoch has one of its own."""
        last, self._last_bar = self._last_bar, bar
        if last is None or last.name != bar.name or not bar.total:
            self._before = 0
        elif last.done == last.total and _may_be_lap(last) and _may_be_lap(bar):
            self._before += last.total
        elif last.total != bar.total:
            self._before = 0
        return self._before
