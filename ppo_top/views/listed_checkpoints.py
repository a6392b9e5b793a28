"""From where to resume the selected run."""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.files.checkpoints import Checkpoint
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.views.checkpoint_search import checkpoint_folders, checkpoint_search
from ppo_top.views.restart import CheckpointSearch, Restart, find_restart
from ppo_top.views.run_view import RunView


class ListedCheckpoints(NamedTuple):
    """The checkpoints on disk of the run with this id, as last listed."""

    run_id: str = ""
    found: Sequence[Checkpoint] = ()


def search_for(session: Session, run: Run, view: RunView) -> CheckpointSearch | None:
    """Where checkpoints of a run may be, and none of another run."""
    search = checkpoint_search(run, view)
    if search is None or not search.fault:
        return search
    others = (each for each in session.runs.values() if each is not run)
    return search.without_folders(folder for each in others for folder in checkpoint_folders(each))


def restart_at(view: RunView | None, run: Run | None, listed: ListedCheckpoints) -> Restart | None:
    """The checkpoint to resume from, seen at the row of a view; None before they are listed."""
    if run is None or view is None or run.id != listed.run_id:
        return None
    search = checkpoint_search(run, view)
    return find_restart(search, listed.found) if search is not None else None
