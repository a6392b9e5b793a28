"""Sentences that say an episode and its reward, or a step in words, as tutorials print them."""

from __future__ import annotations

import re

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.names.metric_names import step_axis
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN, named_numbers, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_EPISODE_START = lazy_pattern(
    r"\W{0,8}(?:(?:[Ff]inished|[Cc]ompleted|[Ee]nded|[Ee]nd of) )?"
    r"(?:[Ee]pisode|[Ee]p|EP):?\s?#?\s?(\d{1,15})\b"
)
_REWARD = lazy_pattern(
    r"\b(reward|return|score)s?(?: sum)?\b[^\w,;]{0,3}?"
    rf"(?:(?:of|is|was)\W{{1,3}}?)?({NUMBER_PATTERN})"
    r"(?!\w|\.\d)",
    re.IGNORECASE,
)
"""Not `21.5 reward, 200 steps`."""
_EPISODE_INSIDE = lazy_pattern(
    r"\b(reward|return|score)s?\s(?:\(|(?:in|for|of|at|after)\s(?:the\s)?)episode:?\s?#?(\d{1,15})\b"
    rf"\W{{0,4}}?(?:(?:is|was)\W{{1,3}}?)?({NUMBER_PATTERN})(?!\w|\.\d)",
    re.IGNORECASE,
)
"""`Total reward in episode 12 is 21.5`, `Score (episode 12): 21.5`."""
_TOTALS = lazy_pattern(
    rf"\b(episode (?:reward|return|score)(?: total)?) was ({NUMBER_PATTERN})\W{{1,3}}?"
    rf"(?:(running mean)\W{{1,3}}?({NUMBER_PATTERN}))?"
)
"""Karpathy's Pong: `resetting env. episode reward total was -21.0. running mean: -20.5`."""
_LENGTH = lazy_pattern(
    r"\b(?:after|in|lasted|took)\s(\d{1,9}|\d{1,3}(?:,\d{3}){1,3})\s(?:time)?steps\b"
)
_LENGTH_AND_RETURN = lazy_pattern(
    rf"(Train|Test) episode of length (\d{{1,9}}) with return ({NUMBER_PATTERN})\.?"
)
"""Dreamer's `Train episode of length 1000 with return 21.5.`"""
_EPISODE_AND_NUMBER = lazy_pattern(
    rf"\W{{0,8}}[Ee]pisode\s?#?(\d{{1,15}})\s?(?::|=|-{{1,2}}>?|=>)\s?({NUMBER_PATTERN})\W{{0,3}}"
)
"""`Episode 12: 21.5`: nothing says what it measures."""
_STEP_IN_WORDS = lazy_pattern(
    r"(?:^|(?<= ))(?:[Aa]fter|[Aa]t|@) (?:"
    r"(\d{1,15}) (episode|(?:time)?step|iteration|epoch|update|frame|game)s?"
    r"|(episode|(?:time)?step|iteration|epoch|update|frame|game)s? #?(\d{1,15}))\b,?"
)
_LONE_REWARD = lazy_pattern(
    r"(?i)^(?:the )?((?:\w{1,20} ){0,3}(?:reward|return|score)s?) (?:is|was) "
    rf"(?={NUMBER_PATTERN}$)"
)
"""What is left of `The average reward is 21.5 after 100 episodes`."""
_EVALUATION_START = lazy_pattern(r"(?i)eval\w{0,8}(?: results?)?\s*+[:,-]\s*+")
_MAX_CHARS = 300

RESULT = "result"
"""The name of a number of which nothing says what it measures."""


class StepInWords(NamedTuple):
    """A step that a line says in words, and the line without them."""

    step: int
    axis: str
    rest: str


def find_step(text: str) -> StepInWords | None:
    """The step of `Evaluation at step 1000: mean reward 21.5`; `rest` is `eval mean reward 21.5`.

    None if the line says none, or several.
    """
    if len(text) > _MAX_CHARS or not any(sign in text for sign in ("fter ", "t ", "@ ")):
        return None
    found = list(_STEP_IN_WORDS.finditer(text))
    if len(found) != 1:
        return None
    (step,) = found
    axis = step_axis(step[2] or step[3])
    rest = f"{text[: step.start()].rstrip()}{text[step.end() :]}".strip()
    rest = _LONE_REWARD.sub(r"\1: ", _EVALUATION_START.sub("eval ", rest, count=1))
    return None if axis is None else StepInWords(int(step[1] or step[4]), axis, rest)


def _episode_and_number(number: re.Match[str]) -> ConsoleRecord | None:
    value = parse_number(number[2])
    if value is None:
        return None
    said = [("episode", float(number[1])), (RESULT, value)]
    return ConsoleRecord(said, int(number[1]), "episode")


def _length_and_return(said: re.Match[str]) -> ConsoleRecord | None:
    value = parse_number(said[3])
    if value is None:
        return None
    group, length = said[1].lower(), float(said[2])
    return ConsoleRecord([(f"{group}/return", value), (f"{group}/episode_length", length)])


def _totals(said: re.Match[str]) -> ConsoleRecord:
    return ConsoleRecord(named_numbers([(said[1], said[2]), (said[3], said[4] or "")]))


def says_length(text: str) -> bool:
    """Whether a text says how long an episode was: `in 200 steps`."""
    return _LENGTH.search(text) is not None


def parse_line(text: str) -> ConsoleRecord | None:
    """The record of `Episode 5 finished after 200 steps with reward 21.5`; None if it is prose."""
    if len(text) > _MAX_CHARS:
        return None
    if (inside := _EPISODE_INSIDE.search(text)) and (value := parse_number(inside[3])) is not None:
        episode = int(inside[2])
        said = [("episode", float(episode)), (inside[1].lower(), value)]
        return ConsoleRecord(said, episode, "episode")
    if (number := _EPISODE_AND_NUMBER.fullmatch(text.rstrip())) is not None:
        return _episode_and_number(number)
    if (sized := _LENGTH_AND_RETURN.fullmatch(text.strip())) is not None:
        return _length_and_return(sized)
    if " was " in text and (totals := _TOTALS.search(text)) is not None:
        return _totals(totals)
    start = _EPISODE_START.match(text)
    reward = _REWARD.search(text, start.end()) if start is not None else None
    if start is None or reward is None or (value := parse_number(reward[2])) is None:
        return None
    values = [("episode", float(start[1])), (reward[1].lower(), value)]
    if (length := _LENGTH.search(text)) is not None:
        values.append(("episode_length", float(length[1].replace(",", ""))))
    return ConsoleRecord(values, int(start[1]), "episode")
