"""One JSON object per line: SB3's progress.json, RLlib's result.json, verl's file logger.

Nested objects become tags joined by `/`; NaN and Infinity are read bare and as strings.
verl wraps its metrics as `{"step": 1, "data": {...}}` and writes NaN and infinity as null there.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from itertools import chain, compress
from operator import itemgetter
from typing import Any

from ppo_top.model import UNKNOWN_TIME, Batch, Problem, RunEnd, State
from ppo_top.parsers.base import Format
from ppo_top.parsers.shared.columns import RowAxes
from ppo_top.parsers.shared.documents.fast_json import json_reader
from ppo_top.parsers.shared.documents.json_line_claims import claims_lines
from ppo_top.parsers.shared.documents.json_values import (
    flatten,
    number_of,
    parse_object,
    settings_of,
    step_of,
    time_of,
)
from ppo_top.parsers.shared.names.axes import TIME_KEYS, parse_unix_time, step_and_total
from ppo_top.parsers.shared.tables.episode_counts import TableStep
from ppo_top.parsers.shared.tables.row_parser import RowParser
from ppo_top.parsers.shared.tables.table_runs import TableRun, TableRuns
from ppo_top.parsers.shared.text.line_splitter import Segment
from ppo_top.text.lazy_pattern import lazy_pattern

_MAX_COLUMNS = 1_000
_BRACE = {ord("{")}
_BOOLEANS = (b"true", b"false")
_SURROGATES = (b"\\ud", b"\\uD")
"""Perhaps half of a surrogate pair."""
_SPECIAL_KEY = lazy_pattern(r"^done$|^config/|train_runtime$|^global_step/max_steps$")
"""Keys of settings, of the end, and of a step within a text."""
_SETTINGS_KEYS = frozenset({"config", "args", "hparams", "hyperparameters"})
"""Keys of an object of settings, and types of a record that holds nothing else."""
_RUNTIME_KEYS = ("train_runtime", "train/train_runtime")


Rows = Sequence[dict[str, Any]]


class JsonLinesParser(RowParser):
    """Reads one file of JSON objects, one per line.

    A key may tell the trainings of several seeds apart (`TableRuns`).
    """

    def __init__(self) -> None:
        super().__init__()
        self._step_is_count = False
        self._step = TableStep[Segment]()
        self._runs = TableRuns()
        self._tags: Sequence[str] = ()
        """The keys of the first record."""
        self._run_tags: Sequence[str] | None = None
        """Those among them that tell trainings apart."""
        self._counter_tag = ""

    @property
    def _counts_rows(self) -> bool:
        return self._step_is_count

    def finish(self) -> Batch:
        """A last object without a line end counts if it is closed."""
        rest = self._splitter.unfinished()
        if rest.data.rstrip().endswith(b"}"):
            self._add_line(rest)
        self._add_first_lines(self._step.release())
        return self._pop_batch()

    def _add_block(self, block: bytes) -> bool:
        """Add many flat objects at once, as columns."""
        *lines, _ = block.split(b"\n")
        count = len(lines)
        if block.count(b"{") != count or not _are_flat_objects(lines, block):
            return False
        try:  # as many objects as braces, which all begin a line: each line is an object
            rows = json_reader(len(block))(b"[" + b",".join(lines) + b"]")
            if set(map(type, rows)) != {dict} or len(rows) != count:
                return False
            keys = list(map(tuple, rows))
            tags = list(dict.fromkeys(chain.from_iterable(dict.fromkeys(keys))))
            if len(tags) > _MAX_COLUMNS or any(map(_SPECIAL_KEY.search, tags)):
                return False
            if () in keys or ({"type", "event"} & set(tags) and any(map(_is_settings, rows))):
                return False
            self._step.read_names(tuple(rows[0]))
            if self._step.is_open or not self._go_on_with_run(rows, tags):
                return False
            steps = self._steps_of(rows, tags)
            if not self._stays_in_lap(rows, steps):
                return False
            axes = RowAxes(steps, _times_of(rows, tags))
        except (ValueError, TypeError, OverflowError, KeyError):
            return False
        self._runs.current.count += count
        self._runs.current.step = axes.steps[-1]
        self._runs.last_count = number_of(self._counter_tag, rows[-1].get(self._counter_tag))
        self._step_is_count = self._step.key_of(tags) is None
        self._add_columns(tags, rows, keys, axes)
        if "total_steps" in tags:
            self._read_totals(rows)
        return True

    def _read_totals(self, rows: Rows) -> None:
        """How many steps there will be: the last row that says so is right."""
        for row in rows:
            if (stated := step_and_total(row)) is not None:
                self._config["max_steps"] = stated[1]

    def _steps_of(self, rows: Rows, tags: Sequence[str]) -> array[int]:
        """The step of each row; raises an error if these rows do not agree where it is."""
        key = self._step.key_of(tags)
        if key is None:
            count = self._runs.current.count
            return array("q", range(count + 1, count + len(rows) + 1))
        return array("q", [row[key] for row in rows])

    def _add_columns(
        self, tags: Sequence[str], rows: Rows, keys: Sequence[tuple[str, ...]], axes: RowAxes
    ) -> None:
        """Add the points of each tag, from those rows that hold it."""
        numbers = {each: number for number, each in enumerate(dict.fromkeys(keys))}
        kinds = [numbers[each] for each in keys]
        holders: dict[bytes, tuple[RowAxes, Rows]] = {bytes([True] * len(numbers)): (axes, rows)}
        for tag in tags:
            having = bytes(tag in each for each in numbers)
            if having not in holders:
                filled = bytes(map(having.__getitem__, kinds))
                holders[having] = axes.part(filled), list(compress(rows, filled))
            part, holding = holders[having]
            self._add_column(tag, part, list(map(itemgetter(tag), holding)))

    def _go_on_with_run(self, rows: Rows, tags: Sequence[str]) -> bool:
        """Whether all rows of a block go on with the training of the row before."""
        keys = self._find_run_tags(tags)
        return not keys or self._runs.goes_on([[row[key] for row in rows] for key in keys])

    def _stays_in_lap(self, rows: Rows, steps: Sequence[int]) -> bool:
        if not self._runs.has_laps:
            return True
        columns = [[row.get(tag, "") for row in rows] for tag in self._tags]
        return self._runs.stays_in_lap(columns, steps)

    def _find_run_tags(self, tags: Sequence[str]) -> Sequence[str]:
        """The keys, among those of the first record, of what tells trainings apart."""
        if self._run_tags is None:
            step = self._step.key_of(tags)
            self._tags = tags
            self._runs.read_header(tags, None if step is None else tags.index(step))
            self._run_tags = [tags[at] for at in self._runs.columns]
            self._counter_tag = "" if self._runs.counter is None else tags[self._runs.counter]
        return self._run_tags

    def _add_column(self, tag: str, axes: RowAxes, cells: Sequence[Any]) -> None:
        columns = self._runs.current.columns
        try:
            columns.add_cells(tag, axes, cells)
        except (TypeError, OverflowError):  # texts, some of which may be numbers
            columns.add_cells(tag, axes, [number_of(tag, cell) for cell in cells])

    def _add_line(self, segment: Segment) -> None:
        found = parse_object(segment.data)
        if isinstance(found, str):
            self._problems.append(Problem(segment.offset, found))
            return
        wrapped = found.get("data")
        if isinstance(wrapped, dict) and "step" in found and len(found) <= 3:
            self._add_record(wrapped, found, null=math.nan)
        elif self._is_first(segment, found):
            return
        else:
            self._add_record(found, found, null=None)

    def _is_first(self, segment: Segment, found: Mapping[str, object]) -> bool:
        """Whether a record has to wait for more of them, which tell where the step is."""
        if self._step.is_settled:
            return False
        row = {tag: number_of(tag, value) for tag, value in flatten(_settings_apart(found)[0])}
        if row:
            self._step.read_names(tuple(row))
        if not self._step.is_open:
            return False
        self._add_first_lines(self._step.hold(segment, row))
        return True

    def _add_first_lines(self, lines: Sequence[Segment]) -> None:
        """Add the records that have waited, now that the key of the step is known."""
        for segment in lines:
            self._add_line(segment)

    def _add_record(
        self, values: Mapping[str, object], outer: Mapping[str, object], null: float | None
    ) -> None:
        metrics, settings = _settings_apart(values)
        self._config |= dict(settings_of(settings))
        if not metrics:
            return
        flat = dict(flatten(metrics))
        step = step_of(outer) if outer is not values else step_of(self._step.known(flat))
        step = self._step_in_all_laps(flat, step)
        run = self._turn_to_run(flat, step)
        run.count += 1
        self._read_totals([flat])
        time = time_of(outer)
        at = run.step = run.count if step is None else step
        for tag, value in flat.items():
            point = null if value is None else number_of(tag, value)
            if point is not None:
                self._step_is_count = step is None
                run.columns.add_point(tag, at, time, point)
        if values.get("done") is True:
            self._ended = RunEnd(State.FINISHED, "done: true")
        elif any(name in values for name in _RUNTIME_KEYS):
            self._ended = RunEnd(State.FINISHED, "train_runtime")

    def _step_in_all_laps(self, flat: Mapping[str, object], step: int | None) -> int | None:
        """The step of a record, where those of several trainings or rounds follow each other."""
        self._find_run_tags(list(flat))
        if step is None or not self._runs.has_laps:
            return step
        counted = self._runs.count_on([str(flat.get(tag, "")) for tag in self._tags], step)
        self._run_tags = [self._tags[at] for at in self._runs.columns]
        return step if counted is None else counted

    def _turn_to_run(self, flat: Mapping[str, object], step: int | None) -> TableRun:
        """The training of a record."""
        keys = self._find_run_tags(list(flat))
        if keys and all(key in flat for key in keys):
            count = number_of(self._counter_tag, flat.get(self._counter_tag))
            self._runs.turn_to([str(flat[key]) for key in keys], step, count)
        return self._runs.current

    def _pop_batch(self) -> Batch:
        return self._runs.pop_all(super()._pop_batch(), counts_rows=self._counts_rows)


def _are_flat_objects(lines: Sequence[bytes], block: bytes) -> bool:
    """Whether each line of a block begins an object, and none holds a list or a boolean."""
    if not all(lines) or {*map(itemgetter(0), lines)} != _BRACE:
        return False
    if b"[" in block or any(map(block.__contains__, _BOOLEANS)):
        return False
    return b"\\" not in block or not any(map(block.__contains__, _SURROGATES))


def _is_settings(record: Mapping[str, object]) -> bool:
    """Whether the type of a record says that all of it is settings."""
    return record.get("type", record.get("event")) in tuple(_SETTINGS_KEYS)


def _settings_apart(
    record: Mapping[str, object],
) -> tuple[Mapping[str, object], dict[str, object]]:
    """What a record measures, and its settings: all of it where its type says so."""
    named = {key: held for key in _SETTINGS_KEYS if isinstance(held := record.get(key), dict)}
    settings = {name: value for held in named.values() for name, value in held.items()}
    if _is_settings(record):
        rest = record.keys() - named.keys() - {"type", "event"}
        return {}, {key: record[key] for key in record if key in rest} | settings
    return {key: value for key, value in record.items() if key not in named}, settings


def _times_of(rows: Rows, tags: Sequence[str]) -> array[float]:
    """The unix time of each row, or NaN; raises an error if the rows disagree where it is."""
    key = next((name for name in TIME_KEYS if name in tags), None)
    if key is None:
        return array("d", [UNKNOWN_TIME]) * len(rows)
    stated = [row[key] for row in rows]
    if None in stated:
        raise ValueError("a time is missing")
    return array("d", map(parse_unix_time, stated))


FORMAT = Format(
    name="jsonl",
    claims=claims_lines,
    claim_order=40,
    precedence=60,
    parser=JsonLinesParser,
)
