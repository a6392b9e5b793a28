"""Records of an evaluation that a script prints like those of its training.

They stand below a heading, or each of their lines begins with the word for it.
"""

from __future__ import annotations

import re

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.names.metric_names import is_reward, step_axis
from ppo_top.parsers.shared.text.evaluation_heading import (
    HEADING_START,
    MAX_HEADING_CHARS,
    is_evaluation_heading,
)
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_TRAINING = lazy_pattern(
    rf"{HEADING_START}(?:(?:training|train phase)(?![\w/])|训练)"
    r"(?:\D*|(?: [a-z]{1,20}){1,3} \d{1,4}/\d{1,4}\b.*)"
    rf"|{HEADING_START}(?<=ing )experiment\b.*",
    re.IGNORECASE,
)
"""`------ TRAINING ------`; `Training configuration 2/12: ...` is that of several, and so is
`Running experiment: lambda_0.05`.
"""
_LABEL = lazy_pattern(
    r"\W{0,8}(?:eval(?:uat(?:ion|ing|e))?|test(?:ing)?|val(?:id(?:ation)?)?"
    r"|(?:evaluator|absolute)(?= - ))"
    r"(?:\s?[\]):|]\W{0,8}|\s?\.{3}\s{0,8}|\s{1,8}[-–—]{1,2}\s{1,8}"
    r"|\s{1,8}(?=(?:episode|ep|step|iteration|iter|epoch|update)\b))",
    re.IGNORECASE,
)
"""`EVALUATOR - ` and, before the last evaluation, `ABSOLUTE - ` are of Mava and Stoix."""
_LONE_REWARD = lazy_pattern(
    rf"([A-Za-z]\w{{0,20}}(?: [A-Za-z]\w{{0,20}}){{0,2}}) ({NUMBER_PATTERN})\s*"
)
_COUNTED = lazy_pattern(
    r"\W{0,8}(?:eval(?:uation)?|test)"
    r"(?:\s{1,8}\d{1,9}\s?/\s?|_ep(?:isode)?\s?[=:]\s?|\s{1,8}episodes\s?[=:]\s?)\d{1,9}\b"
    r"[\s:|,-]{1,8}",
    re.IGNORECASE,
)
"""`Test 20/100  Score: 2.60`, `eval_episode=3, episodic_return=500.0`, `Test Episodes: 10, Avg.
Reward: 21.5`: so many of the episodes of an evaluation are done.
"""
_BASELINE = lazy_pattern(
    r"\W{0,8}random(?:[ _-](?:agent|policy|player|baseline))?\s?[\]):|]\W{0,8}", re.IGNORECASE
)
_MAX_BASELINE_CHARS = 40
"""Of what may stand before its numbers."""
_MAX_KINDS = 256
_FEWEST_PAIRS = 2
"""Of a line, for the label to be about all of them: in `[eval] loss=0.5` it is part of the name."""


def text_behind_label(text: str) -> str:
    """What follows in `[EVAL] Episode 3 | reward: 21.5` and its like; "" in other lines."""
    found = _LABEL.match(text)
    return text[found.end() :] if found else ""


def text_behind_count(text: str) -> str:
    """What follows in `Test 20/100  Score: 2.60` and its like; "" in other lines."""
    found = _COUNTED.match(text)
    return text[found.end() :] if found else ""


def text_behind_baseline(text: str) -> str:
    """What follows in `[Random Agent]: mean_reward: 2.5`; "" in other lines."""
    if "random" not in text[:_MAX_BASELINE_CHARS].lower():
        return ""
    found = _BASELINE.match(text)
    return text[found.end() :] if found else ""


def as_baseline(found: ConsoleRecord) -> ConsoleRecord:
    """The record as that of random actions, with which a script compares its training."""
    values = [(f"random/{tag}", value) for tag, value in found.values if step_axis(tag) is None]
    return ConsoleRecord(values, None, "", time=found.time, is_evaluation=True)


def lone_reward(text: str) -> ConsoleRecord | None:
    """The record of `score 21.5` behind a label, which alone would be prose."""
    found = _LONE_REWARD.fullmatch(text)
    value = parse_number(found[2]) if found and is_reward(found[1]) else None
    return ConsoleRecord([(found[1], value)]) if found and value is not None else None


def is_all_labelled(found: ConsoleRecord) -> bool:
    """Whether the record of what follows a label holds so much that it is about all of it."""
    return len(found.values) >= _FEWEST_PAIRS


def as_evaluation(found: ConsoleRecord, step: int | None, axis: str) -> ConsoleRecord:
    """The record as one of an evaluation, at this step of the training.

    The name of a value of the training stays as it is: `train/rewards` beside `eval/rewards`; and
    so does one that says what it is.
    """
    named = ((tag, value) for tag, value in found.values if step_axis(tag) is None)
    values = [
        (tag if tag.startswith(("eval", "validation", "train/")) else f"eval/{tag}", value)
        for tag, value in named
    ]
    return ConsoleRecord(values, step, axis, time=found.time, is_evaluation=True)


_SURE_OF_NO_STEPS = 3
"""After so many evaluations whose lines say no step, one that goes back is of another training."""


class EvaluationPart:
    """Whether the lines are those of an evaluation: after its heading, with steps that go back.

    Rewards that do not say the training's step are, too, if no line of the training is like theirs.
    """

    def __init__(self) -> None:
        self.is_open = False
        self._has_gone_back = False
        self._parts_without_steps = 0
        self._kinds: set[tuple[str, ...]] = set()
        """What the lines of the training hold."""

    def read_text(self, text: str) -> None:
        """Note a line that is no record: `------ EVALUATION ------` opens the part."""
        if is_evaluation_heading(text):
            self.is_open, self._has_gone_back = True, False
        elif self.is_open and len(text) <= MAX_HEADING_CHARS and _TRAINING.fullmatch(text):
            self.is_open = False

    def is_training(self, kind: tuple[str, ...]) -> bool:
        """Whether lines with these tags have stood outside such a part."""
        return kind in self._kinds

    def read_record(self, found: ConsoleRecord, step: int | None, axis: str) -> ConsoleRecord:
        """A record, marked as one of the evaluation at this step of the training.

        A step beyond it is the training's, which goes on, and so is the same one once more.
        """
        if not self.is_open:
            if len(self._kinds) < _MAX_KINDS:
                self._kinds.add(_kind_of(found))
            return found
        if step is None:
            return found
        if found.step is None or found.axis != axis:
            is_own = _kind_of(found) not in self._kinds
            has_reward = is_own and any(is_reward(tag) for tag, _ in found.values)
            return as_evaluation(found, None, "") if has_reward else found
        self._has_gone_back |= found.step < step
        if self._has_gone_back and self._parts_without_steps >= _SURE_OF_NO_STEPS:
            self.is_open = False
            return found
        if found.step > step:
            self.is_open = False
            self._parts_without_steps += not self._has_gone_back
        if found.step > step or not self._has_gone_back:
            return found
        return as_evaluation(found, step, axis)


def _kind_of(found: ConsoleRecord) -> tuple[str, ...]:
    return tuple(tag for tag, _ in found.values)
