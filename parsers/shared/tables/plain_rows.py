"""Many plain rows of a table at once, as columns: no quotes, and as many cells in each row."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from ppo_top.model import UNKNOWN_TIME
from ppo_top.parsers.shared.documents.fast_json import MINUS_ZERO, json_reader
from ppo_top.parsers.shared.names.axes import parse_unix_time
from ppo_top.parsers.shared.text.number_text import as_step, parse_number

_NUMBER_BYTES = b"0123456789+-.eE\n"
_ROW_MARK = b'"",'
"""Stands where a row begins, and after the last one."""

_FEWEST_OF_IDS = 10**15
"""No training takes so many steps: nanoseconds and random numbers are larger."""

Cell = bytes | int | float | None
"""A cell of a plain row: its text, or its number; empty cells are b"" or None."""


def split_columns(block: bytes, delimiter: bytes, width: int) -> Sequence[Sequence[Cell]] | None:
    """The columns of a block of rows; None if a row has another number of cells.

    None also where a blank line would look like a row of empty cells.
    """
    blank_is_row = width == 1 or not delimiter.strip()
    if blank_is_row and not all(map(bytes.strip, block.split(b"\n")[:-1])):
        return None
    if block and not block.translate(None, _NUMBER_BYTES + delimiter):
        columns = _columns_of_numbers(block, delimiter, width)
        if columns is not None:
            return columns
    rows = [line.split(delimiter) for line in block.split(b"\n")[:-1]]
    if not rows or any(len(row) != width for row in rows):
        return None
    return list(zip(*rows, strict=True))


def _columns_of_numbers(block: bytes, delimiter: bytes, width: int) -> list[list[Cell]] | None:
    """The columns of rows that hold plain numbers only, read as JSON; None if they do not fit."""
    if MINUS_ZERO.search(block):
        return None
    if delimiter != b",":
        block = block.replace(delimiter, b",")
    text = _ROW_MARK + block.replace(b"\n", b"," + _ROW_MARK)
    for _ in range(2):  # two empty cells in a row share a comma
        text = b",null,".join(text.split(b",,"))
    try:
        cells = json_reader(len(text))(b"[" + text[:-1] + b"]")
    except ValueError:
        return None
    marks = cells[:: width + 1]
    if marks.count("") != len(marks) or len(marks) != block.count(b"\n") + 1:
        return None
    return [cells[place :: width + 1] for place in range(1, width + 1)]


def parse_steps(cells: Sequence[Cell]) -> array[int]:
    """The steps of a column; raises `ValueError`, `TypeError` or `OverflowError`."""
    try:
        return array("q", cells)  # type: ignore[arg-type]
    except TypeError:
        return array("q", map(_parse_step, cells))


def _parse_step(cell: Cell) -> int:
    """A step of a plain row, `2048` or `2.048e+06`; raises `ValueError` or `TypeError`."""
    if isinstance(cell, int):
        return cell
    if isinstance(cell, bytes) and cell.isdigit():
        return int(cell)
    step = as_step(float(cell))  # type: ignore[arg-type]
    if step is None:
        raise ValueError("no step")
    return step


def may_hold_step(row: Sequence[Cell | str], place: int) -> bool | None:
    """Whether a row may hold a step there, not a word, a date, a fraction or an id.

    None if it has no numbers at all.
    """
    numbers = [number_of(cell.encode() if isinstance(cell, str) else cell) for cell in row]
    if not {*numbers} - {None}:
        return None
    step = as_step(numbers[place]) if place < len(row) else 0
    is_step = step is not None and step < _FEWEST_OF_IDS
    return is_step or row[place] in (None, b"", "")


def parse_times(cells: Sequence[Cell], rows: int) -> array[float]:
    """Unix seconds of a column, or NaN for so many rows without one; raises as `parse_steps`."""
    if not cells:
        return array("d", [UNKNOWN_TIME]) * rows
    return array("d", (parse_unix_time(float(cell)) for cell in cells))  # type: ignore[arg-type]


def number_of(cell: Cell) -> float | None:
    """The number of a cell; words have none."""
    if cell is None or cell == b"":
        return None
    return parse_number(cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell))


def hold_row_of_words(columns: Sequence[Sequence[Cell]]) -> bool:
    """Whether one of the rows has no number in it, but words."""
    if any(map(_are_floats, columns)):
        return False
    rows = zip(*columns, strict=True)
    return any(any(row) and not any(number_of(cell) is not None for cell in row) for row in rows)


def _are_floats(cells: Sequence[Cell]) -> bool:
    """Whether all cells of a column are numbers, quickly."""
    if {*map(type, cells)} <= {int, float}:
        return True
    try:
        array("d", map(float, cells))  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return False
    return True
