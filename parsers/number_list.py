"""A file of one number a line, as `numpy.savetxt` writes it: `rewards.txt`, `episode_returns.csv`.

What the numbers are is the file's name; the place in the file is the step.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.tables.number_rows import NumberRowsParser, Places
from ppo_top.parsers.shared.text.line_splitter import Segment
from ppo_top.parsers.shared.text.number_text import parse_number

_HEADING = re.compile(rb"\W*[A-Za-z][\w ./-]{0,80}\W*")
_SAVED_NUMBERS = re.compile(rb"(?:[ -]?\d\.\d{18}e[+-]\d\d\r?\n)*[ -]?[\d.e+-]*\r?")
"""Of `numpy.savetxt`, in a file whose name says nothing: no program prints them so."""
_ENDING, _COLUMN = ".out", "column 1"
_FEWEST_LINES = 3
_AROUND_NUMBERS = " \t\r,;[]"


class NumberListParser(NumberRowsParser):
    """Reads one file."""

    _unreadable = "not a number"

    def __init__(self) -> None:
        super().__init__()
        self._first: Segment | None = None
        """A first line of `0` until the next one tells whether it is pandas' name of the column."""

    @property
    def _expects_row(self) -> bool:
        return super()._expects_row and self._first is None

    def _add_line(self, segment: Segment) -> None:
        if self._places is None and segment.data.strip() == b"0" and self._first is None:
            self._first = segment
            return
        first, self._first = self._first, None
        if first is not None and b"." not in segment.data:
            super()._add_line(first)
        super()._add_line(segment)

    def _split(self, line: bytes) -> list[str]:
        return [line.decode("ascii", "replace").strip(_AROUND_NUMBERS)]

    def _read_places(self, cells: Sequence[str]) -> tuple[Places, bool]:
        return Places(1, {"": 0}), parse_number(cells[0]) is None


def _number_of(line: bytes) -> float | None:
    return parse_number(line.decode("ascii", "replace").strip(_AROUND_NUMBERS))


def claims(name: str, head: bytes) -> bool | None:
    """Whether the first lines are a number each, but for a heading.

    A heading alone is waited upon only in a file that is named after a reward.
    """
    says_nothing = name.endswith(_ENDING) and not metric_names.series_of_file(name)
    if says_nothing and not _SAVED_NUMBERS.fullmatch(head):
        return False
    lines = head.split(b"\n")[:-1]
    if lines and _HEADING.fullmatch(lines[0]):
        lines = lines[1:]
        if not lines and not metric_names.reward_of_file(name):
            return False
    if any(line.strip() and _number_of(line) is None for line in lines):
        return False
    return True if len(lines) >= _FEWEST_LINES else None if len(head) < HEAD_BYTES else False


def tag_of(path: str) -> str:
    """What the file's name says; "" if it is none's, but for what is one by its content."""
    return metric_names.series_of_file(path) or (_COLUMN if path.endswith(_ENDING) else "")


FORMAT = Format(
    name="number-list",
    claims=claims,
    claim_order=70,
    precedence=45,
    parser=NumberListParser,
    by_lines=True,
    rewritten=True,
    tag_of_path=tag_of,
)
