"""The whole answer of `check` or `status`, kept while nothing below the paths changes.

Whether it still holds is seen from the stamps of all directories and files alone. Only what is
needed to print is loaded: no parsers, no rules.
"""

# ruff: noqa: PTH100
from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from ppo_top.files.directory_tree import folder_stamp
from ppo_top.files.tail import file_stamp
from ppo_top.files.update import Listing
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.model.plain import from_plain, to_plain
from ppo_top.output.answers import Answer
from ppo_top.output.reports.run_report import RunIdentity, RunReport, RunSummary
from ppo_top.runs.liveness import LAST_STATES, StateFacts, status_at
from ppo_top.support.cache import Cache

ANSWER_PART, SUMMARY_PART = "answer", "summary"

MIN_AGE_S = 2.0
"""A younger file may change once more without a new modification time."""


class AnsweredRun(NamedTuple):
    """A run of an answer: where it is kept, and what it is called."""

    scope: str
    id: str
    name: str
    path: str
    copy_of: str


def summary_text(summary: RunSummary, facts: StateFacts) -> str:
    """A summary as it is kept."""
    return json.dumps(to_plain([summary, facts]))


def restored_summary(text: str) -> tuple[RunSummary, StateFacts]:
    """A summary that was kept; raises ValueError or TypeError if it is something else."""
    summary, facts = json.loads(text)
    return from_plain(RunSummary, summary), from_plain(StateFacts, facts)


def recall(cache: Cache, scope: str, paths: Sequence[Path], parts: Sequence[str]) -> Answer | None:
    """The answer for these paths if nothing below them changed; `parts` of its reports are read."""
    text = cache.read_key(scope, _key(paths)).get(ANSWER_PART)
    try:
        if text is None:
            return None
        folders, files, problems, passed_over, entries = json.loads(text)
        if any(folder_stamp(path) != tuple(stamp) for path, stamp in folders.items()):
            return None
        if any(file_stamp(path) != tuple(stamp) for path, stamp in files.items()):
            return None
        runs = [AnsweredRun(*entry) for entry in entries]
        return Answer(_reports(cache, runs, parts), problems, passed_over)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _reports(cache: Cache, runs: Sequence[AnsweredRun], parts: Sequence[str]) -> list[RunReport]:
    scopes = {run.scope for run in runs}
    texts = {
        (scope, part): cache.read_part(scope, part)
        for scope in scopes
        for part in (SUMMARY_PART, *parts)
    }
    now, reports = time.time(), []
    for run in runs:
        summary, facts = restored_summary(texts[run.scope, SUMMARY_PART][run.id])
        status = status_at(facts, now)
        if status.state not in LAST_STATES:  # somebody writes again
            raise ValueError("not over")
        identity = RunIdentity(run.name, run.path, *status, run.copy_of, facts.last_change)
        found = {part: texts[run.scope, part][run.id] for part in parts}
        reports.append(RunReport.from_texts(identity, summary, found))
    return sorted(reports, key=lambda each: each.rank)


def keep(
    cache: Cache,
    scope: str,
    paths: Sequence[Path],
    listing: Listing,
    problems: Sequence[str],
    passed_over: int,
    runs: Iterable[AnsweredRun],
) -> None:
    """Keep an answer whose runs are kept, with what it rests on."""
    newest = max((stamp[1] for stamp in listing.files.values()), default=0) / 1e9
    if time.time() - newest > MIN_AGE_S:
        rest = problems, passed_over, list(runs)
        text = json.dumps([listing.folders, listing.files, *rest])
        cache.write([(scope, ANSWER_PART, _key(paths), text)])


def _key(paths: Sequence[Path]) -> str:
    """Paths as they were given, for they are printed, and where they are."""
    return json.dumps([[str(path), os.path.abspath(path)] for path in paths])
