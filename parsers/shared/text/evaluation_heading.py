"""Lines that stand over an evaluation: `------ EVALUATION ------`, `Testing 10 episodes...`."""

from __future__ import annotations

import re

from ppo_top.text.lazy_pattern import lazy_pattern

MAX_HEADING_CHARS = 160
HEADING_START = (
    r"\W{0,80}(?:(?<=# )[\w-]{1,20} )?"
    r"(?:(?:start|begin)(?:ing)?|final|now|running|开始)?[ :]{0,2}(?:the )?"
)
"""A heading of Markdown may begin with the name of what is trained: `## DQN Evaluation`."""
_EVALUATION = lazy_pattern(
    rf"{HEADING_START}"
    r"(?:(?:evaluation|evaluating|testing|test phase|visuali[sz]ing)(?![\w/])|评估|测试)"
    r"(?:\D|\d{1,9} (?:episode|game|rollout|run|trial)s?\b)*",
    re.IGNORECASE,
)
_DIGIT = lazy_pattern(r"\d")
_MAX_START_CHARS = 2000


def is_evaluation_heading(text: str) -> bool:
    """Whether a line says nothing but that an evaluation begins."""
    return len(text) <= MAX_HEADING_CHARS and _EVALUATION.fullmatch(text) is not None


def begins_with_evaluation(text: str) -> bool:
    """Whether the heading of an evaluation stands before any line with a number in it."""
    for line in text[:_MAX_START_CHARS].splitlines():
        if is_evaluation_heading(line):
            return True
        if _DIGIT.search(line):
            return False
    return False
