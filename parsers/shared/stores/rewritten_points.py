"""The common part of stores of curves that a script writes anew, and longer, each time.

What is half written counts once it is complete; until then the last reading stays.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path

from ppo_top.model import UNKNOWN_TIME, Batch, Points
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.stores.replaced_file import ReplacedFileStore

MAX_FILE_BYTES = 64 << 20


class RewrittenPointsStore(ReplacedFileStore):
    """Returns what is new in the file each time it has been written."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._given: dict[str, Points] = {}

    def _read(self) -> Batch:
        """All that the file holds; raises `ValueError` if it is not complete."""
        raise NotImplementedError

    def poll(self, limit: int) -> Batch:
        """The points that were added since the last call, all at once."""
        version = self._new_version()
        if version is None:
            return Batch()
        try:
            if version[1] > MAX_FILE_BYTES:
                raise ValueError(f"larger than {MAX_FILE_BYTES:,} bytes")
            batch = self._read()
        except OSError:
            return Batch()
        except ImportError:
            return self._problem(version, "needs numpy, which is not installed")
        except (ValueError, RecursionError) as problem:
            return self._problem(version, str(problem)[:120])
        was_damaged = bool(self._last_problem)
        self._note_read(version)
        return self._new_points(batch, was_damaged)

    def _new_points(self, batch: Batch, was_damaged: bool) -> Batch:
        """What was added; everything if the old points changed, or to withdraw a problem."""
        before, self._given = self._given, {points.tag: points for points in batch.points}
        changed = any(not _continues(self._given.get(tag), old) for tag, old in before.items())
        if changed or was_damaged:
            batch.restarted = True
            return batch
        batch.points = [_rest(points, before.get(points.tag)) for points in batch.points]
        batch.points = [points for points in batch.points if points.steps]
        return batch


def series_batch(path: Path, values: Sequence[float]) -> Batch:
    """The only numbers in a file: its name says what they are, their place is the step."""
    steps = array("q", range(1, len(values) + 1))
    times = array("d", [UNKNOWN_TIME]) * len(values)
    tag = metric_names.series_of_file(path.name)
    return Batch([Points(tag, steps, times, array("d", values))], counts_updates=True)


def _continues(new: Points | None, old: Points) -> bool:
    """Whether the points begin with the old ones, bit by bit."""
    count = len(old.steps)
    return (
        new is not None
        and new.steps[:count] == old.steps
        and new.values[:count].tobytes() == old.values.tobytes()
    )


def _rest(points: Points, given: Points | None) -> Points:
    count = 0 if given is None else len(given.steps)
    return Points(points.tag, points.steps[count:], points.times[count:], points.values[count:])
