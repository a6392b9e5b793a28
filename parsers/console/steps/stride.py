"""Guesses every how many steps a training logs, from a block of its records."""

from __future__ import annotations

from collections.abc import Sequence

_MOST_OUTSTANDING = 2
"""Records that were logged but not written yet when a block is written."""
_EPOCH_TOLERANCE = 0.03
_ROUND_STRIDES = frozenset((1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000))


def find_stride(
    room: int, records: int, total: int, epochs: Sequence[float], *, is_end: bool
) -> int | None:
    """Steps between records, if `records` of them lie in `room` steps; None if no number fits.

    `total` is the number of steps of the whole training, `epochs` are those of the records; with
    `is_end` nothing is outstanding.
    """
    if records < 1 or room < records:
        return None
    most = room // records
    outstanding = 1 if is_end else _MOST_OUTSTANDING
    least = room // (records + outstanding) + 1
    if is_end and most * records == room:
        return most
    fitting = range(min(least, most), most + 1)
    return max(fitting, key=lambda stride: _likelihood(stride, total, epochs))


def _likelihood(stride: int, total: int, epochs: Sequence[float]) -> tuple[bool, bool, bool, int]:
    """Sort key: whole epochs in all, whole strides in all, a round number."""
    return (
        _gives_whole_epochs(stride, total, epochs),
        total % stride == 0,
        stride in _ROUND_STRIDES,
        stride,
    )


def _gives_whole_epochs(stride: int, total: int, epochs: Sequence[float]) -> bool:
    """Whether the training ends after a whole number of epochs at this stride."""
    if len(epochs) < 2 or epochs[-1] <= epochs[0]:
        return False
    in_all = (epochs[-1] - epochs[0]) / (len(epochs) - 1) / stride * total
    nearest = round(in_all)
    return nearest >= 1 and abs(in_all - nearest) <= _EPOCH_TOLERANCE * nearest
