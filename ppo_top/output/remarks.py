"""What a report says beside a run's own verdict: it depends on the disk, so it is never kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ppo_top.files.checkpoints import list_checkpoints
from ppo_top.output.run_report import RunReport
from ppo_top.views.restart import CheckpointSearch, Restart, find_restart


def with_remarks(reports: Sequence[RunReport]) -> list[RunReport]:
    """The reports, with what is said of each run beside its verdict."""
    restarts = _restarts(reports)
    return [
        report._replace(
            remarks=[each.text for each in (restart,) if each is not None],
            additions={"restart": _restart_object(restart)},
        )
        for report, restart in zip(reports, restarts, strict=True)
    ]


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
