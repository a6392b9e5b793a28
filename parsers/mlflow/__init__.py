"""MLflow's local stores: a database (`mlflow.db`), or a directory a run (`mlruns/0/<id>/`).

Metrics have steps and times in milliseconds; whoever logs without a step gets 0 at every point, and
such points are counted instead. Parameters are settings.
"""

from __future__ import annotations

from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.mlflow.database import MlflowDatabase
from ppo_top.parsers.mlflow.run_folder import MlflowRunFolder
from ppo_top.parsers.shared.stores.magic import claims_by_magic
from ppo_top.parsers.shared.stores.sqlite_snapshot import SQLITE_MAGIC


def claims_run(_name: str, head: bytes) -> bool | None:
    """Whether a meta.yaml describes a run (experiments and models have one, too)."""
    is_run = b"\nrun_id:" in head or b"\nrun_uuid:" in head
    if is_run and b"\nlifecycle_stage:" in head:
        return True
    return None if len(head) < HEAD_BYTES and b"artifact_" not in head else False


FORMATS = (
    Format(
        name="mlflow-db",
        claims=claims_by_magic(SQLITE_MAGIC),
        claim_order=20,
        precedence=75,
        store=MlflowDatabase,
    ),
    Format(
        name="mlflow-run",
        claims=claims_run,
        claim_order=20,
        precedence=75,
        store=MlflowRunFolder,
    ),
)
