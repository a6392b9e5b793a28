"""Sentences that say an episode and its reward, as tutorials print them."""

from __future__ import annotations

import re

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.text.number_text import NUMBER_PATTERN, parse_number

_EPISODE_START = re.compile(r"\W{0,8}[Ee]pisode:?\s?#?\s?(\d{1,15})\b")
_REWARD = re.compile(
    rf"\b(reward|return|score)s?\b\W{{0,3}}?(?:(?:of|is|was)\W{{1,3}}?)?({NUMBER_PATTERN})(?![\w.])",
    re.IGNORECASE,
)
_EPISODE_INSIDE = re.compile(
    rf"\b(reward|return|score)s?\s(?:in|for|of|at)\s(?:the\s)?[Ee]pisode:?\s?#?(\d{{1,15}})\b\W{{0,3}}?"
    rf"(?:(?:is|was)\W{{1,3}}?)?({NUMBER_PATTERN})(?![\w.])",
    re.IGNORECASE,
)
"""`Total reward in episode 12 is 21.5`."""
_LENGTH = re.compile(r"\b(?:after|in|lasted|took)\s(\d{1,9})\s(?:time)?steps\b")
_MAX_CHARS = 300


def parse_line(text: str) -> ConsoleRecord | None:
    """The record of `Episode 5 finished after 200 steps with reward 21.5`; None if it is prose."""
    if len(text) > _MAX_CHARS:
        return None
    if (inside := _EPISODE_INSIDE.search(text)) and (value := parse_number(inside[3])) is not None:
        episode = int(inside[2])
        said = [("episode", float(episode)), (inside[1].lower(), value)]
        return ConsoleRecord(said, episode, "episode")
    start = _EPISODE_START.match(text)
    reward = _REWARD.search(text, start.end()) if start is not None else None
    if start is None or reward is None or (value := parse_number(reward[2])) is None:
        return None
    values = [("episode", float(start[1])), (reward[1].lower(), value)]
    if (length := _LENGTH.search(text)) is not None:
        values.append(("episode_length", float(length[1])))
    return ConsoleRecord(values, int(start[1]), "episode")
