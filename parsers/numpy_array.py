"""Rewards or losses that a script saves as an array: `numpy.save("rewards.npy", rewards)`.

What the numbers are is the file's name; their place is the step. An array of several axes may be of
seeds, agents or steps of episodes, which nothing says: it is not read.
"""

from __future__ import annotations

from ppo_top.model import Batch
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.documents.numpy_array import MAGIC, read_array
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.stores.rewritten_points import RewrittenPointsStore, series_batch


class NumpyArrayStore(RewrittenPointsStore):
    """Returns what is new in the file each time it has been written."""

    def _read(self) -> Batch:
        found = read_array(self._path.read_bytes())
        long = [axis for axis in found.shape if axis != 1]
        if len(long) > 1:
            shape = " x ".join(map(str, found.shape))
            raise ValueError(f"an array of {shape} numbers: only a list of them is read")
        return series_batch(self._path, found.astype(float).ravel().tolist())


def claims(name: str, head: bytes) -> bool | None:
    """Whether it is an array in a file that is named after a reward, a loss or an algorithm."""
    return head.startswith(MAGIC) and bool(metric_names.series_of_file(name)) if head else None


FORMAT = Format(
    name="numpy-array",
    claims=claims,
    claim_order=10,
    precedence=45,
    store=NumpyArrayStore,
    rewritten=True,
    one_file=True,
)
