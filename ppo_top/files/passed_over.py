"""Files that were not read, or gave nothing, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ppo_top.files.mirrors import shown_path
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.text.format import first_names, plural

NOT_A_LOG = "unrecognised log format"
PICKLE = "a Python pickle: not read, since loading one may run code"
UNKNOWN_NAME = "not called like a log: give its own path to read it"
UNASKED_NOTEBOOK = "a notebook"
EMPTY = "empty"
NO_METRICS = "no metrics in it"

MAX_NAMED = 20
"""How many files a list names for each reason."""


class PassedOver(NamedTuple):
    """A file that is no source of any run."""

    path: str
    reason: str


def passed_over_lines(files: Iterable[PassedOver]) -> Iterator[str]:
    """One line a file, by reason; of many with one reason only the first are named.

    Notebooks have a line of their own, which is always printed (`notebooks_line`).
    """
    by_reason = defaultdict(list)
    for path, reason in sorted(files):
        if reason != UNASKED_NOTEBOOK:
            by_reason[reason].append(shown_path(path))
    for reason, paths in by_reason.items():
        yield from (f"passed over {path}: {reason}" for path in paths[:MAX_NAMED])
        if len(paths) > MAX_NAMED:
            yield f"passed over {len(paths) - MAX_NAMED:,} more: {reason}"


def notebooks_line(files: Iterable[PassedOver]) -> str:
    """Which notebooks were passed over; empty if none."""
    paths = sorted(shown_path(path) for path, reason in files if reason == UNASKED_NOTEBOOK)
    if not paths:
        return ""
    named = first_names(paths, MAX_NAMED)
    return f"{plural(len(paths), 'notebook')} passed over (name them, or use --notebooks): {named}"
