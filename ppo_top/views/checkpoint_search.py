"""What to look for on disk when advice is to go back: it follows from the run alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ppo_top.catalogue.checkpoints import STEP, checkpoint_name
from ppo_top.model import NO_STEP, Axis, Finding
from ppo_top.runs.run import Run
from ppo_top.views.restart import CheckpointSearch
from ppo_top.views.run_view import OpenFinding, RunView

RECORD_COUNTING_FORMATS = frozenset({"console", "notebook"})
"""Formats of logs that may count their records instead of the trainer's steps."""

_RESTART = re.compile(r"\b(go back to|restart from|from) (the|a) ([a-z]+ ){0,2}checkpoint\b")


def asks_for_restart(advice: str) -> bool:
    """Whether an advice is to go back to an earlier checkpoint."""
    return _RESTART.search(advice) is not None


def checkpoint_folders(run: Run) -> list[str]:
    """Where its checkpoints may be; none if the numbers in their names say nothing."""
    named = checkpoint_name(run.evaluation.trainer.id)
    if named is None:
        return []
    sources = [each for each in run.sources.values() if not each.source.is_piped]
    if named.files_only:
        sources = [each for each in sources if each.format not in RECORD_COUNTING_FORMATS]
    logs = dict.fromkeys(source.source.path.parent for source in sources)
    return list(dict.fromkeys(str(each) for log in logs for each in named.folders_of(log)))


def checkpoint_search(run: Run, view: RunView) -> CheckpointSearch | None:
    """What to look for; None if the numbers in the names of a trainer's checkpoints say nothing."""
    named, folders = checkpoint_name(run.evaluation.trainer.id), checkpoint_folders(run)
    if named is None or not folders:
        return None
    begins = view.progress.first_time
    search = CheckpointSearch(folders, named.pattern, named.counts, begins)
    fault = _fault(view.open_findings)
    before = _number_at(run, fault, named.counts) if fault is not None else None
    if fault is None or before is None:
        return search
    return search._replace(fault=fault.title, before=before)


def _fault(opened: Sequence[OpenFinding]) -> Finding | None:
    """The earliest open finding among those at least as severe as one that asks for a restart."""
    asking = [each for each in opened if any(map(asks_for_restart, each.finding.remedies))]
    worst = max((each.severity for each in asking), default=None)
    if worst is None:
        return None
    severe = (each.finding for each in opened if each.severity >= worst)
    return min(severe, key=lambda finding: finding.first_sign.row)


def _number_at(run: Run, fault: Finding, counts: str) -> float | None:
    """The number that a checkpoint of the fault's first sign would have; None if unknown."""
    if counts == STEP:
        is_stated = run.timeline.axis is not Axis.UPDATE and fault.first_sign.step != NO_STEP
        return fault.first_sign.step if is_stated else None
    track = run.timeline.tracks.get(counts)
    seen = track.count_until(fault.first_sign.row) if track is not None else 0
    return track.values[seen - 1] if track is not None and seen else None
