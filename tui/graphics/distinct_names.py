"""Names in few cells that keep the part in which they differ."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from rich.cells import cell_len

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.text.format import common_start
from ppo_top.tui.graphics.styled_text import ELLIPSIS, shorten

START_CELLS = 4
"""What is kept of a name's beginning where it differs from others only later."""


class SharedParts(NamedTuple):
    """How many letters at the start and at the end of a name another one has, too."""

    start: int
    end: int


@lru_cache(maxsize=16)
def shared_parts(names: Sequence[str]) -> dict[str, SharedParts]:
    """What each of some names shares with the one that is most like it."""
    different = set(names)
    starts = _longest_common_start(sorted(different))
    reversed_names = sorted(name[::-1] for name in different)
    ends = {name[::-1]: size for name, size in _longest_common_start(reversed_names).items()}
    return {name: SharedParts(starts[name], ends[name]) for name in different}


def _longest_common_start(in_order: Sequence[str]) -> dict[str, int]:
    """The longest start that each name shares with another; neighbours share most."""
    longest = dict.fromkeys(in_order, 0)
    for pair in pairwise(in_order):
        alike = len(common_start(pair))
        for name in pair:
            longest[name] = max(longest[name], alike)
    return longest


def shorten_distinctly(name: str, shared: SharedParts, cells: int) -> str:
    """A name in at most so many cells: the part that tells it from the others stays."""
    wide = any(cell_len(letter) != 1 for letter in name)
    if cell_len(name) <= cells or wide or cells < 3 * START_CELLS:
        return shorten(name, cells)
    if shared.start + 1 < cells:
        return name[: cells - 1] + ELLIPSIS
    if shared.end + 1 < cells - START_CELLS:
        tail = max(shared.end + 1, (cells - 1) // 2)
        return name[: cells - 1 - tail] + ELLIPSIS + name[-tail:]
    room = cells - START_CELLS - 2
    first = max(START_CELLS, min(shared.start - room // 3, len(name) - room))
    return name[:START_CELLS] + ELLIPSIS + name[first : first + room] + ELLIPSIS
