"""`ppo-top check`, once: judges what some paths hold, by way of the cache."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import BinaryIO, TextIO

from ppo_top.files.passed_over import UNASKED_NOTEBOOK
from ppo_top.model import State
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.model.plain import to_plain
from ppo_top.output.answers import Answer
from ppo_top.output.kept_answers import (
    SUMMARY_PART,
    AnsweredRun,
    keep,
    restored_summary,
    summary_text,
)
from ppo_top.output.reports.json_report import run_json_text
from ppo_top.output.reports.run_report import (
    FACTS_PART,
    JSON_PART,
    SKIPPED_PART,
    TEXT_PART,
    RunIdentity,
    RunReport,
    RunSummary,
)
from ppo_top.output.reports.text_report import report_lines, run_summary, skipped_lines
from ppo_top.runs.judge_queue import Reports
from ppo_top.runs.liveness import StateFacts, state_facts, status_at
from ppo_top.runs.load import Loader, open_loader
from ppo_top.runs.memory import RunMemory
from ppo_top.runs.run import Run
from ppo_top.settings import Settings
from ppo_top.support.cache import Cache, verdict_scope
from ppo_top.views.gather_facts import gather_facts
from ppo_top.views.run_view import RunView, make_run_view


def judge_paths(
    paths: Sequence[Path],
    settings: Settings,
    cache: Cache | None,
    parts: Sequence[str],
    err: TextIO,
    *,
    ended: bool = False,
    verbose: bool = False,
    active_s: float = math.inf,
    stdin: BinaryIO | None = None,
) -> Answer | None:
    """The reports on all runs, worst first; None (after a line on `err`) if there is nothing.

    Runs that the cache has and whose logs did not change are not judged again; only these `parts`
    of their reports are read. `ended`: the trainings are over, even if a log was written a moment
    ago. `verbose`: `err` also says which files gave nothing, and why. Logs not written for
    `active_s` seconds are not opened; the answer counts their folders.
    """
    scope = verdict_scope(settings.judging_text) if cache is not None and cache.is_on else ""
    memory = RunMemory(cache, scope, [SUMMARY_PART, *parts]) if cache is not None else None
    reporter = _Reporter(memory, parts)
    make = partial(make_report, tuple(PART_MAKERS if scope else parts))
    loader = open_loader(
        paths,
        settings,
        err,
        Reports(make, reporter.add),
        memory,
        ended=ended,
        verbose=verbose,
        active_s=active_s,
        stdin=stdin,
    )
    if loader is None:
        return None
    with closing(loader):
        reporter.add_remembered(loader.session.runs.values())
        runs = list(loader.session.runs.values())
        files = sum(each.reason != UNASKED_NOTEBOOK for each in loader.passed_over())
        if cache is not None:
            _remember(cache, scope, paths, loader, runs, files)
        in_order = sorted(map(reporter.report, runs), key=lambda each: each.rank)
        return Answer(in_order, loader.problems, files, loader.unopened_folders, loader.unread)


def _remember(
    cache: Cache, scope: str, paths: Sequence[Path], loader: Loader, runs: Iterable[Run], files: int
) -> None:
    """Keep the runs at rest, and the whole answer if all are and all could be read.

    `files` gave nothing.
    """
    loader.remember()
    listing, kept = loader.listing(), []
    for run in runs:
        if run.saved is None:
            return
        saved = run.saved
        kept.append(AnsweredRun(saved.scope, saved.id, run.name, run.path, run.copy_of))
    if listing is not None and not loader.unread:
        keep(cache, scope, paths, listing, loader.problems, files, kept)


class MadeReport(NamedTuple):
    """The report on a run, whatever its name, and what its state depends on."""

    summary: RunSummary
    facts: StateFacts
    texts: dict[str, str]


PART_MAKERS: Mapping[str, Callable[[Run, RunView], str]] = {
    JSON_PART: run_json_text,
    TEXT_PART: lambda run, view: "\n".join(report_lines(run, view)),
    SKIPPED_PART: lambda run, view: "\n".join(skipped_lines(run)),
    FACTS_PART: lambda run, view: json.dumps(to_plain(gather_facts(run))),
}
"""The texts of a report; the cache keeps all of them."""


def make_report(parts: Sequence[str], run: Run) -> MadeReport:
    """These parts of the report on a run that has all its points."""
    now, facts = time.time(), state_facts(run)
    if run.is_over and status_at(facts, now).state in (State.LIVE, State.STALLED):
        facts = facts._replace(settled=(State.ENDED, "said to have ended"))  # --ended
    view = make_run_view(run, None, status_at(facts, now), with_panels=False)
    texts = {part: PART_MAKERS[part](run, view) for part in parts}
    return MadeReport(run_summary(run, view), facts, texts)


class _Reporter:
    """Collects the reports on all runs; remembered runs have theirs already."""

    def __init__(self, memory: RunMemory | None, parts: Sequence[str]) -> None:
        self._memory, self._parts = memory, parts
        self._reports: dict[str, MadeReport] = {}

    def add(self, run: Run, made: MadeReport) -> None:
        """Add the report on a run that is read and judged, and remember it."""
        texts = {part: made.texts[part] for part in self._parts}
        self._reports[run.id] = made._replace(texts=texts)
        if self._memory is not None:
            summary = summary_text(made.summary, made.facts)
            self._memory.save(run, {SUMMARY_PART: summary, **made.texts})

    def add_remembered(self, runs: Iterable[Run]) -> None:
        """Add the reports that are remembered."""
        for run in runs:
            if run.id not in self._reports and run.saved is not None and self._memory is not None:
                memory, saved = self._memory, run.saved
                texts = {part: memory.text(saved, part) for part in memory.text_parts}
                summary, facts = restored_summary(texts.pop(SUMMARY_PART))
                self._reports[run.id] = MadeReport(summary, facts, texts)

    def report(self, run: Run) -> RunReport:
        """The report on a run, by the name that it has now."""
        summary, facts, texts = self._reports[run.id]
        status = status_at(facts, time.time())
        identity = RunIdentity(run.name, run.path, *status, run.copy_of, facts.last_change)
        return RunReport.from_texts(identity, summary, texts)
