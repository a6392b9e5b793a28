"""A file of one line of numbers between commas: `rewards.txt`, as `",".join(...)` leaves it.

What the numbers are is the file's name; their place is the step. Several lines may be of seeds or
agents, and few numbers the first row of a table: they are not read.
"""

from __future__ import annotations

from ppo_top.model import Batch
from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.stores.rewritten_points import RewrittenPointsStore, series_batch
from ppo_top.parsers.shared.tables.number_rows import MOST_COLUMNS
from ppo_top.parsers.shared.text.number_text import parse_number

_BUFFER_BYTES = 4096
"""A file of a multiple of this size ends where a buffer did, in the middle of a number."""
_ENDS = (b",", b"\n")


class NumberRowStore(RewrittenPointsStore):
    """Returns what is new in the file each time it has been written."""

    def _read(self) -> Batch:
        data = self._path.read_bytes()
        row, *others = filter(None, map(bytes.strip, data.splitlines())) or [b""]
        if others:
            raise ValueError(f"{len(others) + 1} rows of numbers: only one is read")
        is_cut = len(data) % _BUFFER_BYTES == 0 and not data.endswith(_ENDS)
        values = _numbers_of(row, is_cut)
        if values is None:
            raise ValueError("not a row of numbers")
        return series_batch(self._path, values)


def _numbers_of(row: bytes, is_cut: bool) -> list[float] | None:
    """The numbers of a row, but for a last one that may go on; None if one is anything else."""
    *cells, last = row.decode("ascii", "replace").split(",")
    if last.strip() and not is_cut:
        cells.append(last)
    numbers = [parse_number(cell.strip()) for cell in cells]
    return None if None in numbers else [each for each in numbers if each is not None]


def claims(name: str, head: bytes) -> bool | None:
    """Whether there are more numbers than a table has columns, in a line that is the only one."""
    row, end, rest = head.lstrip().partition(b"\n")
    numbers = _numbers_of(row, is_cut=not end)
    if numbers is None or rest.strip() or not metric_names.series_of_file(name):
        return False
    return True if len(numbers) > MOST_COLUMNS else None if len(head) < HEAD_BYTES else False


FORMAT = Format(
    name="number-row",
    claims=claims,
    claim_order=50,
    precedence=45,
    store=NumberRowStore,
    rewritten=True,
    one_file=True,
)
