"""Patterns of paths by which a user says which logs are one run, and which are not.

`*` stands for any characters of a name, `**` for any folders, and a word in braces for one part of
a name that is compared: `logs/{run}.log` and `tb/{run}/**`. A pattern fits the end of a path, or a
folder on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.text.lazy_pattern import lazy_pattern

MAX_PATTERN_CHARS = 200
MAX_WILDCARDS = 8
"""More of them could take forever to compare."""

_PIECE = lazy_pattern(r"\*\*/|\*\*|\*|\?|\{\w+\}")

PatternMatch = tuple[int, tuple[str, ...]]
"""(number of the entry, what stands for its words)."""


class RunPatterns(NamedTuple):
    """Each entry is a set of patterns that belong together."""

    join: tuple[tuple[str, ...], ...] = ()
    split: tuple[tuple[str, ...], ...] = ()

    def joined_as(self, path: str) -> Iterator[PatternMatch]:
        """What makes a log one run with others: all that have the same here."""
        return _matches(self.join, path)

    def split_as(self, path: str) -> frozenset[PatternMatch]:
        """What keeps a log apart from others: all that have something else here."""
        return frozenset(_matches(self.split, path))


NO_PATTERNS = RunPatterns()


def find_pattern_fault(pattern: str) -> str:
    """What is wrong with a pattern; empty if nothing is."""
    if not pattern or len(pattern) > MAX_PATTERN_CHARS:
        return f"expected 1 to {MAX_PATTERN_CHARS} characters"
    if len(_PIECE.findall(pattern)) > MAX_WILDCARDS:
        return f"more than {MAX_WILDCARDS} wildcards"
    return "braces need a word: {run}" if set("{}") & set(_PIECE.sub("", pattern)) else ""


def _matches(entries: Iterable[tuple[str, ...]], path: str) -> Iterator[PatternMatch]:
    for number, patterns in enumerate(entries):
        for pattern in patterns:
            found = _compiled(pattern).search(path)
            if found is not None:
                words = sorted((name, text or "") for name, text in found.groupdict().items())
                yield number, tuple(f"{name}={text}" for name, text in words)
                break


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    """The expression of a pattern; it fits at the end of a path or before a `/`."""
    text, at, known = "", 0, set[str]()
    for piece in _PIECE.finditer(pattern):
        text += re.escape(pattern[at : piece.start()])
        word, at = piece[0], piece.end()
        name = f"w_{word[1:-1]}"
        if word.startswith("{"):
            text += f"(?P={name})" if name in known else f"(?P<{name}>[^/]+?)"
            known.add(name)
        else:
            text += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}[word]
    text += re.escape(pattern[at:].rstrip("/"))
    return re.compile(rf"(?:^|/){text}(?:/|$)")
