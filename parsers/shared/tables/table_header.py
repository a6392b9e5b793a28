"""The names of a table's columns, and the remarks that may stand before them."""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.model import ConfigValue
from ppo_top.parsers.base import HEAD_BYTES
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.axes import find_step_key
from ppo_top.parsers.shared.names.counter_names import is_counter
from ppo_top.parsers.shared.text.number_text import parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_SETTING = lazy_pattern(r"#+\s{0,9}(\w{1,60})\s{0,9}[,:=;\t]\s{0,9}(\S{1,200})\s*")
_RULER = lazy_pattern(r"\s*+[-=+|\s]{3,400}")
_FENCE = lazy_pattern(r"`{3,9}\w{0,20}")
"""Of Markdown, around a table that was pasted into an issue or a note."""
_LONG_FORM_COLUMN = "tag"
"""A column of tables with one point per row, such as those of `ppo-top export`."""


def find_delimiter(header: str) -> str:
    """The delimiter of a header's columns."""
    return max(",\t;", key=header.count)


def delimiter_of_rows(row: str, header_delimiter: str, columns: int) -> str:
    """The delimiter of the rows: another one than the header's where only that parts the first."""
    found = find_delimiter(row)
    is_other = header_delimiter not in row and row.count(found) == columns - 1 > 0
    return found if is_other else header_delimiter


def column_names(head: bytes) -> list[str] | None:
    """The column names at the start of a file; None if the header is not complete yet."""
    whole = len(head) >= HEAD_BYTES
    for line in head.decode("utf-8", "replace").lstrip("\ufeff").splitlines(keepends=True):
        text = line.strip()
        if line.endswith(("\n", "\r")) or whole:  # Python on Windows may end lines with `\r\r\n`
            if text and not is_remark(text):
                return _split_names(text)
        else:
            return None
    return [] if whole else None


def _split_names(text: str) -> list[str]:
    return [name.strip().strip('"') for name in text.lstrip("# ").split(find_delimiter(text))]


def is_ruler(line: str) -> bool:
    """Whether a line below a header only parts it from the rows: `-----`."""
    return bool(_RULER.fullmatch(line))


def is_remark(line: str) -> bool:
    """Whether a line before the header is none: blank, a fence, or a `#` that names no columns."""
    text = line.strip()
    if not text.startswith("#"):
        return not text or _FENCE.fullmatch(text) is not None
    names = _split_names(text)
    return not (are_names(names) and any(map(metric_names.is_metric, names)) and is_stepped(names))


def read_setting(line: str) -> dict[str, ConfigValue]:
    """The setting in a remark: `# gamma,0.99`, `# lr = 3e-4`."""
    match = _SETTING.fullmatch(line.strip())
    if match is None:
        return {}
    value = parse_number(match[2])
    return {match[1]: match[2] if value is None else value}


def are_names(columns: Sequence[str]) -> bool:
    """Whether these may be the names of columns, a metric in each."""
    if not any(columns) or _LONG_FORM_COLUMN in columns:
        return False
    return all(parse_number(column) is None for column in columns if column)


def is_stepped(columns: Sequence[str]) -> bool:
    """Whether one of the columns holds the step."""
    ends = [column.rpartition("/")[2] for column in columns]
    known = find_step_key(columns) is not None or any(map(metric_names.step_axis, ends))
    return known or any(map(is_counter, columns))
