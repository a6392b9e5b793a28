"""What a report says beside a run's own verdict: it depends on the disk, so it is never kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ppo_top.files.checkpoints import list_checkpoints
from ppo_top.model import Severity
from ppo_top.output.reports.run_report import RunReport
from ppo_top.views.restart import CheckpointSearch, Restart, find_restart
from ppo_top.views.siblings import BelowSiblings, runs_below_siblings, sibling


def with_remarks(reports: Sequence[RunReport]) -> list[RunReport]:
    """The reports, with what is said of each run beside its verdict."""
    below = _below_siblings(reports)
    return [
        report._replace(
            remarks=[said.text for said in (lower, restart) if said is not None],
            below_siblings=lower.title if lower is not None else "",
            additions={"restart": _restart_object(restart), "siblings": _sibling_object(lower)},
        )
        for report, restart, lower in zip(reports, _restarts(reports), below, strict=True)
    ]


def _below_siblings(reports: Sequence[RunReport]) -> list[BelowSiblings | None]:
    compared = {
        str(number): sibling(report.identity.name, report.identity.path, report.summary.sibling)
        for number, report in enumerate(reports)
        if report.summary.sibling is not None and not report.identity.copy_of
    }
    found = runs_below_siblings(compared)
    return [found.get(str(number)) for number in range(len(reports))]


def _restarts(reports: Sequence[RunReport]) -> list[Restart | None]:
    searches = [report.summary.checkpoints for report in reports]
    folders = Counter(folder for each in searches if each is not None for folder in each.folders)
    shared = [folder for folder, runs in folders.items() if runs > 1]
    return [_restart(search.without_folders(shared)) if search else None for search in searches]


def _restart(search: CheckpointSearch) -> Restart | None:
    if not search.fault:
        return None
    return find_restart(search, list_checkpoints(search.folders, search.pattern))


def _restart_object(restart: Restart | None) -> dict[str, Any] | None:
    if restart is None:
        return None
    checkpoint = restart.checkpoint
    return {
        "text": restart.text,
        "name": checkpoint.name if checkpoint else None,
        "path": checkpoint.path if checkpoint else None,
        "number": checkpoint.number if checkpoint else None,
    }


def _sibling_object(below: BelowSiblings | None) -> dict[str, Any] | None:
    if below is None:
        return None
    return {
        "text": below.text,
        "severity": Severity.WATCH.word,
        "others": below.others,
        "since_step": below.since,
    }
