"""Tables with a column for each metric, as Hugging Face's trainers draw them in notebooks.

A notebook holds theirs as HTML; in issues and files it stands as Markdown, with tabs or aligned by
blanks. Its columns are those of `NotebookProgressCallback` (transformers/utils/notebook.py), and of
Unsloth, which adds the trainer's metrics with blanks around each slash. Other tables in text have a
header that begins with a step and names a metric: `epoch  reward  kl`. Their cells may be
percentages or seconds, and a row may end in a remark: `10  -316.82  17.5%  12.5s  [5s]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.axes import find_step_key
from ppo_top.parsers.shared.tables.printed_frame import PrintedFrame
from ppo_top.parsers.shared.text.number_text import as_step, parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_STEP_COLUMNS = ("Step", "Epoch")
LOSS_COLUMN = "Training Loss"
_TAGS = {LOSS_COLUMN: "loss", "Validation Loss": "eval/loss"}
_NO_VALUE = frozenset({"", "-", "\u2013", "\u2014", "none", "no log", "n/a"})
_MAX_COLUMNS = 2000
_MAX_CELL_CHARS = 500
_MAX_OTHER_LINES = 20
"""A table ends after this many lines that are none of its rows."""

_FEWEST_PLAIN_COLUMNS = 3
_FEWEST_BEFORE_NOTES = 4
_PLAIN_HEADER = lazy_pattern(
    r"[\s|]*+(?i:(?:global|total|env|train(?:ing)?)?[ _]?(?:time)?steps?|iter(?:ation)?|itr|epoch"
    r"|ep(?:isode)?|update)\b[^\d:=,;]{5,500}"
)
"""A line without numbers that begins with a step; quick to tell from most others."""
_GAP = lazy_pattern(r"\s{2,}")
_REMARK = lazy_pattern(r"(?<=\s)(?:\[[^][]{0,40}\]|\([^()]{0,40}\))$")
"""In brackets behind the last column, where it has no name."""
_REMARK_ENDS = ("]", ")")
_RULE = lazy_pattern(r"[\s|:+=-]*-[\s|:+=-]*")
_DRAWN = str.maketrans(
    {
        **dict.fromkeys("│┃║", "|"),
        **dict.fromkeys("─━═", "-"),
        **dict.fromkeys("┌┬┐├┼┤└┴┘┏┳┓┡╇┩┣╋┫┗┻┛╒╤╕╞╪╡╘╧╛╔╦╗╠╬╣╚╩╝╭╮╰╯", "+"),
    }
)
"""Lines of boxes, as rich and tabulate draw them, and what stands for them elsewhere."""
_NAMES_WITH_BLANKS = (*_TAGS, "No Log", "No log")


class TableRow(NamedTuple):
    """One row: its step (an epoch where the table counts epochs) and its values by tag."""

    step: int
    values: list[tuple[str, float]]
    axis: str
    """What the step counts: one of `metric_names.STEP_AXES`."""


class TrainerColumns:
    """The columns of one table: their tags, and which of them is the step."""

    def __init__(self, cells: Sequence[str], axis: str, *, is_plain: bool = False) -> None:
        self._has_evaluation = "Validation Loss" in cells
        self.is_plain = is_plain
        self.axis = axis
        self.width = len(cells)
        self.tags = tuple(self._tag_of(cell) for cell in cells)

    def _tag_of(self, cell: str) -> str:
        """A column's tag; in tables with evaluations, capitalised columns are their metrics."""
        plain = cell.replace(" / ", "/")
        if plain in _TAGS:
            return _TAGS[plain]
        if self._has_evaluation and plain[:1].isupper():
            return "eval/" + plain.replace(" ", "_").lower()
        return plain

    def _is_remark(self, place: int) -> bool:
        """Whether a text stands in the last column of many, which is called `Notes`, say."""
        return self.is_plain and place == self.width - 1 >= _FEWEST_BEFORE_NOTES

    def row(self, cells: Sequence[str]) -> TableRow | None:
        """The row of these cells; None if they are none."""
        if not 2 <= len(cells) <= self.width:
            return None
        step = as_step(parse_number(cells[0]))
        if step is None:
            return None
        values = []
        for place, (tag, cell) in enumerate(zip(self.tags[1:], cells[1:], strict=False), 1):
            number = parse_number(cell)
            if number is None and self.is_plain and cell.endswith("%"):
                tag, number = f"{tag}%", parse_number(cell[:-1])
            if number is None and self.is_plain and cell.endswith("s"):
                number = parse_number(cell[:-1])
            if number is not None:
                values.append((tag, number))
            elif cell.strip().lower() not in _NO_VALUE and not self._is_remark(place):
                return None
        return TableRow(step, values, self.axis)


def trainer_columns(cells: Sequence[str]) -> TrainerColumns | None:
    """The columns that a header names; None if it is not that of a trainer's table."""
    found = [cell.strip() for cell in cells]
    if len(found) > _MAX_COLUMNS or found[:1] not in [[name] for name in _STEP_COLUMNS]:
        return None
    return TrainerColumns(found, found[0].lower()) if LOSS_COLUMN in found else None


def _plain_columns(cells: Sequence[str]) -> TrainerColumns | None:
    """The columns of any other table that begins with a step and has a metric."""
    found = [cell.strip() for cell in cells]
    axis = metric_names.step_axis(found[0])
    if axis is None and found[0] == find_step_key(found):  # `steps` beside `episodes`, of PFRL
        axis = "timesteps"
    if axis is None or not _FEWEST_PLAIN_COLUMNS <= len(found) <= _MAX_COLUMNS or not all(found):
        return None
    is_table = any(map(metric_names.is_metric, found))
    return TrainerColumns(found, axis, is_plain=True) if is_table else None


# --- text ----------------------------------------------------------------------------------------


class TrainerTextTable:
    """Finds the table in lines of text: Markdown, tabs, bars, aligned by blanks, or HTML."""

    def __init__(self) -> None:
        self._columns: TrainerColumns | None = None
        self._frame = PrintedFrame()
        self._separator = ""
        self._other_lines = 0
        self._html: HtmlRows | None = None

    @property
    def columns_between_bars(self) -> TrainerColumns | None:
        """The columns of a table in Markdown, while its rows may follow."""
        return self._columns if self._separator == "|" and self._html is None else None

    def note_rows(self) -> None:
        """Rows were read as a whole."""
        self._other_lines = 0
        self._frame.close()

    def note_whole_lines(self, count: int) -> None:
        """Other lines were read as a whole."""
        self._frame.close()
        self.note_other_lines(count)

    def read_line(self, text: str) -> list[TableRow] | None:
        """The rows that a line completes; None if the line belongs to no table."""
        if (framed := self._frame.read_line(text)) is not None:
            return [TableRow(row.step, row.values, row.axis) for row in framed]
        if text.lstrip()[:1] > "~":
            text = text.translate(_DRAWN)
        if self._html is not None or "<table" in text:
            return self._read_html(text)
        may_begin = LOSS_COLUMN in text or _PLAIN_HEADER.fullmatch(text) is not None
        if may_begin and (found := _read_header(text)) is not None:
            self._columns, self._separator = found
            self._other_lines = 0
            return []
        if self._columns is None:
            return None
        return self._read_row(self._columns, text)

    def _read_row(self, columns: TrainerColumns, text: str) -> list[TableRow] | None:
        if _RULE.fullmatch(text):
            return []
        if text.endswith(_REMARK_ENDS) and columns.is_plain:
            text = _REMARK.sub("", text)
        cells = _split_row(text, self._separator, columns.width)
        may_be_cut = not columns.is_plain or self._separator != " "  # whose names may have blanks
        row = columns.row(cells) if may_be_cut or len(cells) >= columns.width else None
        if row is not None:
            self._other_lines = 0
            return [row]
        self.note_other_lines(bool(text.strip()))
        return None

    def note_other_lines(self, count: int) -> None:
        """Lines were read that are none of the table's."""
        self._other_lines += count
        if self._other_lines > _MAX_OTHER_LINES:
            self._columns = None

    def _read_html(self, text: str) -> list[TableRow] | None:
        """A line of an HTML table; other tables than a trainer's are other lines."""
        table = self._html = self._html or HtmlRows()
        rows: list[TableRow] = []
        for cells in table.add_text(text):
            if (columns := trainer_columns(cells)) is not None:
                self._columns = columns
            elif self._columns is not None and (row := self._columns.row(cells)) is not None:
                rows.append(row)
        if "</table" in text or table.lines > _MAX_COLUMNS:
            self._html = self._columns = None
        return rows


def _read_header(text: str) -> tuple[TrainerColumns, str] | None:
    """The columns of a header, and what separates its cells.

    A frame that pandas wraps has a backslash behind its names, and numbers its rows.
    """
    if text.endswith("\\"):
        return None
    for separator in ("\t", "|", "  ", " "):
        if separator in text:
            cells = _split_row(text, separator)
            columns = trainer_columns(cells) or _plain_columns(cells)
            if columns is not None:
                return columns, separator
    return None


def _split_row(text: str, separator: str, width: int = 0) -> list[str]:
    """The cells of a line; `width` is how many there should be."""
    if separator == "\t":
        return text.split("\t")
    text = text.strip()
    if separator == "|":
        return text.removeprefix("|").removesuffix("|").split("|")
    if separator == "  ":
        cells = _GAP.split(text)
        if not width or len(cells) == width:
            return cells
    for name in _NAMES_WITH_BLANKS:
        text = text.replace(name, name.replace(" ", "\0"))
    return [cell.replace("\0", " ") for cell in text.replace(" / ", "/").split()]


# --- HTML ----------------------------------------------------------------------------------------

_ELEMENT = lazy_pattern(r"<(/?)(table|tr|th|td)\b[^<>]{0,500}>", re.IGNORECASE)
_OTHER_ELEMENT = lazy_pattern(r"</?[A-Za-z][^<>]{0,500}>")


class HtmlRows:
    """The rows of HTML tables, as their lines come."""

    def __init__(self) -> None:
        self.lines = 0
        self._cells: list[str] = []
        self._text: list[str] | None = None

    def add_text(self, text: str) -> Iterator[list[str]]:
        """The cells of every row that a piece of text closes; elements are not cut in two."""
        self.lines += 1
        position = 0
        for element in _ELEMENT.finditer(text):
            self._add_content(text[position : element.start()])
            position = element.end()
            closes, name = bool(element[1]), element[2].lower()
            self._end_cell()
            if name in ("th", "td"):
                self._text = None if closes else []
            elif name == "tr" and closes and self._cells:
                yield self._cells
                self._cells = []
            elif not closes:
                self._cells = []
        self._add_content(text[position:])

    def _add_content(self, text: str) -> None:
        if self._text is not None and sum(map(len, self._text)) < _MAX_CELL_CHARS:
            self._text.append(text[:_MAX_CELL_CHARS])

    def _end_cell(self) -> None:
        if self._text is not None and len(self._cells) <= _MAX_COLUMNS:
            import html  # most logs have no such table

            plain = _OTHER_ELEMENT.sub("", " ".join(self._text))
            self._cells.append(html.unescape(plain).strip())
        self._text = None
