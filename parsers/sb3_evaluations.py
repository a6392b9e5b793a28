"""Stable-Baselines3's evaluations.npz: the returns and lengths of each evaluation's episodes.

EvalCallback rewrites the file at every evaluation, so it may be half-written; it is read again when
it has changed. Only arrays of plain numbers are loaded, never a pickle.
"""

from __future__ import annotations

import zipfile
import zlib
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ppo_top.model import UNKNOWN_TIME, Batch, Points
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.documents.numpy_array import read_array
from ppo_top.parsers.shared.stores.replaced_file import ReplacedFileStore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAX_ARRAY_BYTES = 64 << 20
"""Size of one unpacked array in bytes."""

_READ_ERRORS = (
    ArithmeticError,
    EOFError,
    LookupError,
    MemoryError,
    NotImplementedError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)
"""What unpacking a half-written or damaged archive raises."""

_STEPS_ARRAY = "timesteps"
_TAGS_BY_ARRAY = {
    "results": ("eval/mean_reward", "eval/std_reward"),
    "ep_lengths": ("eval/mean_ep_length",),
    "successes": ("eval/success_rate",),
}


class EvaluationsStore(ReplacedFileStore):
    """Returns each evaluation once; a file that starts over is read from its start."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._steps_given: list[int] = []

    def poll(self, limit: int) -> Batch:
        """The evaluations since the last call."""
        version = self._new_version()
        if version is None:
            return Batch()
        try:
            batch, complete = self._new_evaluations(load_arrays(self._path), limit)
        except ImportError:
            return self._problem(version, "needs numpy, which is not installed")
        except _READ_ERRORS as problem:
            return self._problem(version, f"cannot be read now: {str(problem)[:100]}")
        if complete:
            self._note_read(version)
        return batch

    def _new_evaluations(
        self, arrays: Mapping[str, NDArray[np.float64]], limit: int
    ) -> tuple[Batch, bool]:
        steps = [int(step) for step in arrays[_STEPS_ARRAY]]
        starts_over = steps[: len(self._steps_given)] != self._steps_given
        if starts_over or self._last_problem:  # what was said about the file is withdrawn, too
            self._steps_given, starts_over = [], True
            self._last_problem = ""
        first = len(self._steps_given)
        last = min(len(steps), first + max(limit // len(arrays), 1))
        columns = summarise_episodes(arrays, first, last)
        chosen = array("q", steps[first:last])
        times = array("d", [UNKNOWN_TIME]) * len(chosen)
        points = [Points(tag, chosen, times, values) for tag, values in columns.items() if values]
        self._steps_given = steps[:last]
        return Batch(points, restarted=starts_over), last == len(steps)


def load_arrays(path: Path) -> dict[str, NDArray[np.float64]]:
    """The arrays of the file as floats, evaluations along the first axis."""
    import numpy as np

    arrays: dict[str, NDArray[np.float64]] = {}
    with zipfile.ZipFile(path) as archive:
        for name in (_STEPS_ARRAY, *_TAGS_BY_ARRAY):
            member = f"{name}.npy"
            if member not in archive.namelist():
                continue
            if archive.getinfo(member).file_size > _MAX_ARRAY_BYTES:
                raise ValueError(f"{member} is larger than {_MAX_ARRAY_BYTES:,} bytes")
            arrays[name] = read_array(archive.read(member)).astype(np.float64)
    rows = len(arrays[_STEPS_ARRAY])
    if any(len(values) != rows for values in arrays.values()):
        raise ValueError("arrays differ in length")
    return arrays


def summarise_episodes(
    arrays: Mapping[str, NDArray[np.float64]], first: int, last: int
) -> dict[str, array[float]]:
    """Mean (and spread) over the episodes of evaluations `first` to `last`, by tag."""
    columns: dict[str, array[float]] = {}
    for name, tags in _TAGS_BY_ARRAY.items():
        values = arrays.get(name)
        if values is None or values.size == 0:
            continue
        episodes = values.reshape(len(values), -1)[first:last]
        columns[tags[0]] = array("d", episodes.mean(axis=1).tolist())
        if len(tags) > 1:
            columns[tags[1]] = array("d", episodes.std(axis=1).tolist())
    return columns


def claims(_name: str, head: bytes) -> bool | None:
    """Whether the file is a zip archive (numpy's container)."""
    return head.startswith(b"PK") if head else None


FORMAT = Format(
    name="sb3-evaluations",
    claims=claims,
    claim_order=10,
    precedence=55,
    store=EvaluationsStore,
    rewritten=True,
    one_file=True,
)
