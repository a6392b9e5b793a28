"""Tables in lines of text: Markdown, tabs, bars, aligned by blanks, of pandas, or in HTML."""

from __future__ import annotations

from ppo_top.parsers.shared.tables.html_rows import MAX_COLUMNS, HtmlRows
from ppo_top.parsers.shared.tables.printed_frame import PrintedFrame
from ppo_top.parsers.shared.tables.table_columns import (
    LOSS_COLUMN,
    TAGS,
    TableColumns,
    TableRow,
    columns_above_rule,
    plain_columns,
    trainer_columns,
)
from ppo_top.parsers.shared.text.number_text import parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_MAX_OTHER_LINES = 20
"""A table ends after this many lines that are none of its rows."""

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
_MARKDOWN_RULE = lazy_pattern(
    r"\|?(?:\s{0,9}:?-{2,200}:?\s{0,9}\|){1,200}(?:\s{0,9}:?-{2,200}:?\s{0,9})?"
)
_DRAWN = str.maketrans(
    {
        **dict.fromkeys("│┃║", "|"),
        **dict.fromkeys("─━═", "-"),
        **dict.fromkeys("┌┬┐├┼┤└┴┘┏┳┓┡╇┩┣╋┫┗┻┛╒╤╕╞╪╡╘╧╛╔╦╗╠╬╣╚╩╝╭╮╰╯", "+"),
    }
)
"""Lines of boxes, as rich and tabulate draw them, and what stands for them elsewhere."""
_NAMES_WITH_BLANKS = (*TAGS, "No Log", "No log")


class TextTables:
    """Finds their rows, line by line."""

    def __init__(self) -> None:
        self._columns: TableColumns | None = None
        self._names: list[str] = []
        """The cells of the line above, between bars: a rule below it makes them names."""
        self._frame = PrintedFrame()
        self._separator = ""
        self._other_lines = 0
        self._html: HtmlRows | None = None

    @property
    def columns_between_bars(self) -> TableColumns | None:
        """The columns of a table in Markdown, while its rows may follow."""
        return self._columns if self._separator == "|" and self._html is None else None

    def note_rows(self) -> None:
        """Rows were read as a whole."""
        self._other_lines = 0
        self._frame.close()

    def note_whole_lines(self, count: int) -> None:
        """Other lines were read as a whole."""
        self._frame.close()
        self._names = []
        self.note_other_lines(count)

    def read_line(self, text: str) -> list[TableRow] | None:
        """The rows that a line completes; None if the line belongs to no table."""
        if (framed := self._frame.read_line(text)) is not None:
            return framed
        if text.lstrip()[:1] > "~":
            text = text.translate(_DRAWN)
        if self._html is not None or "<table" in text:
            return self._read_html(text)
        may_begin = LOSS_COLUMN in text or _PLAIN_HEADER.fullmatch(text) is not None
        if may_begin and (found := _read_header(text)) is not None:
            self._begin(*found)
            return []
        if self._is_below_names(text):
            return []
        if self._columns is None:
            return None
        return self._read_row(self._columns, text)

    def _begin(self, columns: TableColumns | None, separator: str) -> None:
        self._columns, self._separator = columns, separator
        self._other_lines, self._names = 0, []

    def _is_below_names(self, text: str) -> bool:
        """Whether a line is the rule of Markdown below the names of a table."""
        names, self._names = self._names, []
        if "|" not in text:
            return False
        if not names or _MARKDOWN_RULE.fullmatch(text.strip()) is None:
            cells = _split_row(text, "|")
            self._names = [] if any(parse_number(cell) is not None for cell in cells) else cells
            return False
        self._begin(columns_above_rule(names), "|")
        return self._columns is not None

    def _read_row(self, columns: TableColumns, text: str) -> list[TableRow] | None:
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
        if "</table" in text or table.lines > MAX_COLUMNS:
            self._html = self._columns = None
        return rows


def _read_header(text: str) -> tuple[TableColumns, str] | None:
    """The columns of a header, and what separates its cells.

    A frame that pandas wraps has a backslash behind its names, and numbers its rows.
    """
    if text.endswith("\\"):
        return None
    for separator in ("\t", "|", "  ", " "):
        if separator in text:
            cells = _split_row(text, separator)
            if any(parse_number(cell.strip()) is not None for cell in cells):
                continue  # `Epoch 1 - Training Loss: 2.15`
            columns = trainer_columns(cells) or plain_columns(cells)
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
