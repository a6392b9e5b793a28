"""How trainers name their checkpoints, and what the number in a name counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import PurePath

from ppo_top.catalogue.table import shared_table
from ppo_top.model.named_tuple import NamedTuple

STEP = "step"
"""Of a number that counts what the log's own steps count; else it is that of a metric."""


class CheckpointName(NamedTuple):
    """One line of the table.

    `pattern` matches a name; its group is the number. `files_only`: a console counts otherwise.
    `folders` are pairs: how the log's folder ends, and the checkpoints' folder from there.
    """

    pattern: str
    counts: str
    files_only: bool
    folders: tuple[tuple[str, str], ...]

    def folders_of(self, log_folder: PurePath) -> Iterator[PurePath]:
        """Where the checkpoints of a log in this folder may be, nearest first."""
        for end, then in self.folders:
            names = [] if end == "." else end.split("/")
            if not names:
                yield log_folder / then
            elif len(log_folder.parts) > len(names) and log_folder.match(end):
                yield log_folder.parents[len(names) - 1] / then


def checkpoint_name(trainer: str) -> CheckpointName | None:
    """How a trainer (an id) names its checkpoints; None if their numbers cannot be placed."""
    return _all_names().get(trainer)


def any_checkpoint_name() -> str:
    """A regex of the whole names of all trainers' checkpoints."""
    return "|".join(sorted({each.pattern for each in _all_names().values()}))


@cache
def _all_names() -> dict[str, CheckpointName]:
    return {cells[0]: _checkpoint_name(*cells[1:5]) for cells in shared_table("checkpoints")}


def _checkpoint_name(name: str, counts: str, logs: str, folders: str) -> CheckpointName:
    pattern = re.escape(name).replace(r"\*", ".*").replace(r"\#", r"(\d{1,18})")
    pairs = tuple((end, then) for end, _, then in (each.partition(":") for each in folders.split()))
    return CheckpointName(pattern, counts, logs == "files", pairs)
