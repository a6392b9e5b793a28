"""Tells a set-up that a script prints, before a training or another one, from what it measures."""

from __future__ import annotations

from collections import Counter

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_KEY_LINE = lazy_pattern(r"\W{0,9}(\w[\w .()/-]{0,60})['\"]?([:=])\s{0,20}\S")
_TITLE = lazy_pattern(
    r"(?i)\W{0,9}(?:[\w-]{1,30} ){0,3}"
    r"(?:config(?:uration)?|hyper-?parameters|settings|arg(?:ument)?s)\s?:(?=\s)"
)
"""What a set-up in one line begins with: `Run config: K=8 lr=5.0e-06`."""
_HEADING = lazy_pattern(
    r"(?i)\W{0,9}(?:[\w-]{1,30} ){0,3}(?:config(?:uration)?|hyper-?parameters|settings)"
    r"(?: [a-z]{1,12})?\s?:\s*+"
)
"""`Config loaded:` above a set-up."""
_SETTING = lazy_pattern(
    rf"\W{{0,9}}([A-Za-z][\w .-]{{0,60}}?)['\"]?\s?[:=]\s{{0,20}}({NUMBER_PATTERN})"
    r"(?:\s?[,;|]\s?|\s{0,9}$)"
)
"""`learning_rate: 0.001`, one of `lr=3e-4, gamma=0.99`."""
_MEASURED_WORDS = frozenset({"loss", "losses", "accuracy", "success", "mean", "avg", "average"})
_ENOUGH = 2
"""So many of them, below one another, show that a block is a set-up."""


class SettingsLines:
    """Follows the lines of a console."""

    def __init__(self) -> None:
        self._never_measured = 0
        self._aligned: Counter[int] = Counter()
        """So many of them have their separator in this column, behind blanks that align it."""

    @property
    def is_open(self) -> bool:
        """Whether the last line belongs to a set-up."""
        return self._never_measured >= _ENOUGH or bool(self._aligned)

    def read_text(self, text: str) -> None:
        """Look at a line; one that is no `name: value` ends the block."""
        if (line := _KEY_LINE.match(text)) is None:
            self._never_measured = _ENOUGH if _HEADING.fullmatch(text) else 0
            self._aligned.clear()
        elif metric_names.is_never_measured(line[1]):
            self._never_measured += 1
            if line[1].endswith("  "):
                self._aligned[line.start(2)] += 1

    def read_other(self, text: str, *, has_records: bool) -> ConsoleRecord | None:
        """What a line that is no record sets: hyperparameters before any record, or in a set-up."""
        self.read_text(text)
        if has_records and not self.is_open:
            return None
        config = _settings_of(text)
        return ConsoleRecord([], config=config) if config else None

    def separate(self, found: ConsoleRecord, text: str, *, has_records: bool) -> ConsoleRecord:
        """Make values settings: hyperparameters before any record, and all of a set-up."""
        self.read_text(text)
        names = [tag for tag, _ in found.values]
        if not names or found.config:
            return found
        if (
            all(map(metric_names.numbers_training, names))
            or (not has_records and _are_set(names))
            or (self._never_measured >= _ENOUGH and _may_be_set(names))
            or self._is_aligned(names, text)
            or (found.step is None and _TITLE.match(text))
        ):
            return ConsoleRecord([], config=dict(found.values))
        if found.step is not None or any(map(_is_measured, names)):
            self._never_measured = 0
        return found

    def _is_aligned(self, names: list[str], text: str) -> bool:
        """Whether a line stands in one column with a set-up: `update    : 8` is one of it, too.

        That of an episode may name its settings as well; it has a reward or a loss.
        """
        if self._aligned and any(map(_is_result, names)):
            self._aligned.clear()
        line = _KEY_LINE.match(text) if self._aligned else None
        return line is not None and self._aligned[line.start(2)] >= _ENOUGH


def _settings_of(text: str) -> dict[str, float]:
    """The settings that a line consists of; none if there is anything else in it."""
    found: dict[str, float] = {}
    position = 0
    while position < len(text):
        setting = _SETTING.match(text, position)
        value = parse_number(setting[2]) if setting is not None else None
        if setting is None or value is None or not metric_names.is_setting(setting[1]):
            return {}
        found[setting[1]] = value
        position = setting.end()
    return found


def _are_set(names: list[str]) -> bool:
    """Whether there are settings only; with several, a step is how many there will be.

    `timesteps=50000 | n_envs=4 | eval_freq=8192` counts nothing yet.
    """
    never = [name for name in names if metric_names.is_never_measured(name)]
    if len(never) >= _ENOUGH:
        names = [name for name in names if metric_names.step_axis(name) is None]
    return all(metric_names.is_setting(name) or name in never for name in names)


def _is_measured(name: str) -> bool:
    """Whether a name is that of a result: `entropy`, not `entropy_coef`."""
    is_metric = metric_names.is_metric(name) and len(metric_names.split_words(name)) == 1
    return is_metric or _is_result(name)


def _is_result(name: str) -> bool:
    """Whether a name is that of a reward, a loss or a mean."""
    words = metric_names.split_words(name)
    return metric_names.is_reward(name) or not _MEASURED_WORDS.isdisjoint(words)


def _may_be_set(names: list[str]) -> bool:
    """Whether a line in a set-up belongs to it; `Episode: 1` below it does not."""
    if len(names) > 1:
        return any(map(metric_names.is_setting, names)) and not any(map(_is_measured, names))
    (name,) = names
    is_total = len(metric_names.split_words(name)) > 1 or metric_names.step_axis(name) is None
    return metric_names.is_setting(name) or (is_total and not _is_measured(name))
