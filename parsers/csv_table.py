"""Tables in files: progress.csv of SB3 and RLlib, progress.txt of Spinning Up, any CSV.

SB3 writes its columns in no fixed order and rewrites the file when a key appears, as Lightning does
with its metrics.csv; the follower then starts a new parser. Words, booleans and empty cells are no
points. Lines before the header that begin with `#` are remarks; `# gamma,0.99` is a setting.
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Sequence

from ppo_top.model import Batch, Problem, RunEnd, State
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.columns import RowAxes
from ppo_top.parsers.shared.names.axes import TIME_KEYS, parse_unix_time
from ppo_top.parsers.shared.names.metric_names import is_reward, step_axis
from ppo_top.parsers.shared.tables.episode_counts import StepsOfEpisodes, TableStep, count_names
from ppo_top.parsers.shared.tables.episode_order import EpisodeOrder
from ppo_top.parsers.shared.tables.plain_rows import (
    Cell,
    hold_row_of_words,
    may_hold_step,
    number_of,
    parse_steps,
    parse_times,
    split_columns,
)
from ppo_top.parsers.shared.tables.row_parser import RowParser
from ppo_top.parsers.shared.tables.table_claims import claims, claims_lightning, claims_sb3
from ppo_top.parsers.shared.tables.table_header import (
    delimiter_of_rows,
    find_delimiter,
    is_remark,
    is_ruler,
    read_setting,
)
from ppo_top.parsers.shared.tables.table_runs import TableRuns
from ppo_top.parsers.shared.text.line_splitter import MAX_LINE_BYTES, Segment
from ppo_top.parsers.shared.text.number_text import as_step, parse_number, unwrap_numbers
from ppo_top.text.lazy_pattern import lazy_pattern

_MAX_COLUMNS = 20_000
_DECIMAL_COMMA = lazy_pattern(r"(?<![\d.,])([-+]?\d{1,30}),(\d{1,30})(?![\d.,])")
"""Where semicolons part the cells: `12;-0,5`."""
_CONFIG_PREFIX = "config/"
_EPISODES_PREFIX = "hist_stats/"
"""Of RLlib's lists with one number for each of the last episodes: at first for one."""
_EPISODE = "episode"
_INDEX_NAMES = ("", "Unnamed: 0")
"""Of the column that pandas adds, as it writes and as it reads them."""


class CsvParser(RowParser):
    """Reads a table of one or more trainings; its header shows what parts the cells: , ; or tab."""

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        super().__init__(max_line_bytes)
        self._delimiter = ","
        self._has_rows = False
        self._is_step_seen = False
        self._index_name = _EPISODE
        self._tags: list[str] = []
        self._step_index: int | None = None
        self._step = TableStep[tuple[Sequence[str], int]]()
        self._episode_index: int | None = None
        self._episodes = StepsOfEpisodes()
        self._order: EpisodeOrder | None = None
        self._time_index: int | None = None
        self._row_parts: list[Segment] = []  # of a row with line ends in quotes
        self._row_bytes = 0
        self._runs = TableRuns()

    @property
    def _expects_row(self) -> bool:
        return bool(self._tags) and not self._row_parts and not self._step.is_open

    @property
    def _counts_rows(self) -> bool:
        return self._step_index is None

    # --- row by row ------------------------------------------------------------------------------

    def _add_line(self, segment: Segment) -> None:
        """Add a line; a row is complete once its quotes are closed."""
        self._row_parts.append(segment)
        self._row_bytes += len(segment.data) + 1
        quotes = sum(part.data.count(b'"') for part in self._row_parts)
        if quotes % 2 and self._row_bytes <= self._max_line_bytes:
            return
        start = self._row_parts[0].offset
        text = b"\n".join(part.data for part in self._row_parts).decode("utf-8", "replace")
        self._row_parts, self._row_bytes = [], 0
        if quotes % 2:
            self._problems.append(Problem(start, "unclosed quote"))
            return
        try:
            cells = self._split_cells(text)
        except csv.Error as problem:
            self._problems.append(Problem(start, f"unreadable quotes: {problem}"))
            return
        if self._tags:
            if not is_ruler(text):
                self._add_row(cells, start)
        elif is_remark(text):
            self._config |= read_setting(text)
        else:
            self._read_header(cells, start)

    def _split_cells(self, text: str) -> list[str]:
        if not self._tags:
            self._delimiter = find_delimiter(text)
        else:
            text = unwrap_numbers(text)
            if not self._has_rows:
                self._delimiter = delimiter_of_rows(text, self._delimiter, len(self._tags))
                self._has_rows = True
        if self._delimiter == ";" and "," in text:
            text = _DECIMAL_COMMA.sub(r"\1.\2", text)
        if '"' not in text:
            return text.split(self._delimiter)
        return next(csv.reader([text], delimiter=self._delimiter), [])

    def _read_header(self, cells: Sequence[str], start: int) -> None:
        tags = [cell.strip() for cell in cells]
        tags[:1] = [tag.lstrip("\ufeff# ") for tag in tags[:1]]
        if len(tags) > _MAX_COLUMNS:
            what = f"only the first {_MAX_COLUMNS:,} columns are read"
            self._problems.append(Problem(start, what))
        self._tags = tags[:_MAX_COLUMNS]
        time = next((name for name in TIME_KEYS if name in self._tags), None)
        if _is_index_of_episodes(self._tags):
            self._index_name, self._tags[0] = self._tags[0], _EPISODE
        self._step.read_names(self._tags)
        self._place_step()
        self._time_index = _index(self._tags, time)
        self._runs.read_header(self._tags, self._step_index)

    def _place_step(self) -> None:
        self._step_index = _index(self._tags, self._step.key_of(self._tags))
        self._episode_index = _index(self._tags, self._step.episode_key(self._tags))
        key = None if self._step_index is None else self._tags[self._step_index]
        self._order = EpisodeOrder() if key and step_axis(key) == _EPISODE else None

    def _look_at_steps(self, cells: Sequence[Cell | str]) -> None:
        """Leave out a column of steps that holds none in the first row, but words, dates or ids."""
        while not self._is_step_seen and (at := self._step_index) is not None:
            if (is_step := may_hold_step(cells, at)) is not False:
                self._is_step_seen = bool(is_step)
                return
            self._step.leave_out(self._tags[at])
            self._place_step()

    def _add_row(self, cells: Sequence[str], start: int) -> None:
        if not _are_wordy(cells[len(self._tags) :]):
            what = f"row of {len(cells)} cells under a header of {len(self._tags)}"
            self._problems.append(Problem(start, what))
            return
        self._look_at_steps(cells)
        numbers = [parse_number(cell) if cell else None for cell in cells]
        is_row = any(each is not None for each in numbers)
        if self._counts_rows and not is_row and (any(cells) or len(cells) < len(self._tags)):
            return  # the header once more, a line of another table, or blanks
        if self._step.is_open:
            row = dict(zip(self._tags, numbers, strict=False))
            self._add_first_rows(self._step.hold((cells, start), row))
            return
        at = None if self._step_index is None else _value_at(numbers, self._step_index)
        step = None if at is None else as_step(at)
        if step is not None:
            step = self._step_in_all_laps(cells, step)
        if step is not None and self._episode_index is not None:
            step = self._episodes.count_on(_value_at(numbers, self._episode_index), step)
        named = self._runs.columns
        if named and max(named) < len(cells):
            self._runs.turn_to(
                [cells[at] for at in named], step, _value_at(numbers, self._runs.counter)
            )
        run = self._runs.current
        run.note_row(step, is_counted=self._step_index is None)
        time = parse_unix_time(_value_at(numbers, self._time_index))
        for tag, cell, value in zip(self._tags, cells, numbers, strict=False):
            self._add_cell(tag, cell, value, time)

    def _step_in_all_laps(self, cells: Sequence[str], step: int) -> int:
        """The step of a row, where those of several trainings or rounds stand one below another."""
        if (counted := self._runs.count_on(cells, step)) is not None:
            return counted
        if self._order is not None and not self._runs.columns:
            self._runs.begin_where_episodes_do(step)
            return self._order.step_of(step)
        return step

    def _add_first_rows(self, rows: Sequence[tuple[Sequence[str], int]]) -> None:
        """Add the rows that have waited, now that the column of the step is known."""
        self._place_step()
        if not self._runs.columns:
            self._runs.read_header(self._tags, self._step_index)
        if rows and self._tags[0] == _EPISODE and self._step_index != 0:
            self._tags[0] = self._index_name
        for cells, start in rows:
            self._add_row(cells, start)

    def finish(self) -> Batch:
        """No other rows will tell which column holds the step."""
        self._add_first_rows(self._step.release())
        return super().finish()

    def _add_cell(self, tag: str, cell: str, value: float | None, time: float) -> None:
        if value is None:
            if tag == "done" and cell == "True":
                self._ended = RunEnd(State.FINISHED, "done: True")
        elif tag.startswith(_CONFIG_PREFIX):
            self._config[tag.removeprefix(_CONFIG_PREFIX)] = value
        elif tag and not tag.startswith(_EPISODES_PREFIX):
            run = self._runs.current
            run.columns.add_point(tag, run.step, time, value)

    # --- column by column ------------------------------------------------------------------------

    def _add_block(self, block: bytes) -> bool:
        """Add many plain rows at once; False if a row is not plain or lacks its step."""
        if _may_hold_more(block) or (self._delimiter == ";" and b"," in block):
            return False
        columns = split_columns(block, self._delimiter.encode(), len(self._tags))
        if columns is None:
            return False
        self._look_at_steps([column[0] for column in columns])
        if self._step.is_open:
            return False
        if self._counts_rows and hold_row_of_words(columns):
            return False
        if not _are_distinct_metrics(self._tags):
            return False
        rows = len(columns[0])
        named = self._runs.columns
        if named and not self._runs.goes_on([columns[at] for at in named]):
            return False
        try:
            times = parse_times(
                columns[self._time_index] if self._time_index is not None else (), rows
            )
            steps = self._steps_of(columns)
        except (ValueError, TypeError, OverflowError):
            return False
        steps = self._counted_on(steps, columns)
        axes = RowAxes(steps, times)
        for tag, cells in zip(self._tags, columns, strict=True):
            self._add_column(tag, axes, cells)
        self._runs.current.note_block(rows, steps[-1])
        if self._runs.counter is not None:
            self._runs.last_count = number_of(columns[self._runs.counter][-1])
        return True

    def _steps_of(self, columns: Sequence[Sequence[Cell]]) -> array[int]:
        """The steps of a block; raises `ValueError` if its rows have to be read one by one."""
        if self._step_index is None:
            count = self._runs.current.count
            return array("q", range(count + 1, count + len(columns[0]) + 1))
        steps = parse_steps(columns[self._step_index])
        if not self._runs.stays_in_lap(columns, steps):
            raise ValueError("may begin a lap")
        if self._order and not self._runs.columns:
            self._runs.begin_where_episodes_do(steps[0])
            if not self._order.are_in_order(steps):
                raise ValueError("episodes out of order")
        return steps

    def _counted_on(self, steps: array[int], columns: Sequence[Sequence[Cell]]) -> array[int]:
        """The steps of a block in all episodes."""
        if self._episode_index is None:
            return steps
        episodes = map(number_of, columns[self._episode_index])
        return array("q", map(self._episodes.count_on, episodes, steps))

    def _add_column(self, tag: str, axes: RowAxes, cells: Sequence[Cell]) -> None:
        columns = self._runs.current.columns
        try:
            columns.add_cells(tag, axes, cells)
        except (TypeError, OverflowError):
            columns.add_cells(tag, axes, list(map(number_of, cells)))

    def _pop_batch(self) -> Batch:
        return self._runs.pop_all(super()._pop_batch(), counts_rows=self._counts_rows)


def _may_hold_more(block: bytes) -> bool:
    """Whether cells may hold more than a number or a word."""
    return b'"' in block or b"[" in block or (b"(" in block and b"tensor(" in block)


def _are_wordy(cells: Sequence[str]) -> bool:
    """Whether what a row has beyond its header is no number: a time of day, or a last comma."""
    return all(parse_number(cell) is None for cell in cells)


def _is_index_of_episodes(tags: Sequence[str]) -> bool:
    """Whether pandas numbered rows that hold the reward and the steps of an episode each."""
    names = (_EPISODE, *tags[1:])
    if tags[0] not in _INDEX_NAMES or count_names(names) is None:
        return False
    return count_names(tuple(tags)) is None and any(map(is_reward, names))


def _index(tags: Sequence[str], name: str | None) -> int | None:
    return None if name is None else tags.index(name)


def _value_at(numbers: Sequence[float | None], place: int | None) -> float | None:
    return numbers[place] if place is not None and place < len(numbers) else None


def _are_distinct_metrics(tags: Sequence[str]) -> bool:
    """Whether every column is a metric (RLlib's settings and end are not) with its own name.

    Points of two columns with one name would not be in file order.
    """
    plain = all(tag and tag != "done" and not tag.startswith(_CONFIG_PREFIX) for tag in tags)
    return plain and len(set(tags)) == len(tags)


FORMATS = (
    Format(
        name="sb3-csv",
        claims=claims_sb3,
        claim_order=20,
        precedence=60,
        parser=CsvParser,
        by_lines=True,
        rewritten=True,
        kept_open=True,
    ),
    Format(
        name="lightning-csv",
        claims=claims_lightning,
        claim_order=20,
        precedence=50,
        parser=CsvParser,
        rewritten=True,
    ),
    Format(
        name="csv",
        claims=claims,
        claim_order=60,
        precedence=50,
        parser=CsvParser,
        by_lines=True,
    ),
)
