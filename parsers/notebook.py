"""Jupyter notebooks (`.ipynb`): the trainings whose outputs they hold, in the order of the cells.

A table of Hugging Face's trainers (an output in HTML) is one training; a cell without one is one
training if its text is a console with metrics. Several trainings are several runs, named after
their cell. An error output ends the last training of its own cell, and no other.

A notebook is one JSON document that editors write anew each time they save it, so all of it is read
again when it has changed; while it cannot be read, what was read last stays.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ppo_top.model import UNKNOWN_TIME, Batch, Points, RunEnd, State
from ppo_top.parsers.base import Format, Parser
from ppo_top.parsers.shared.columns import ColumnBuilder
from ppo_top.parsers.shared.documents.json_values import as_list
from ppo_top.parsers.shared.stores.replaced_file import TrainingsStore
from ppo_top.parsers.shared.tables.html_rows import HtmlRows
from ppo_top.parsers.shared.tables.table_columns import LOSS_COLUMN, trainer_columns
from ppo_top.parsers.shared.text.evaluation_heading import begins_with_evaluation
from ppo_top.parsers.shared.text.traceback_end import end_of_traceback
from ppo_top.text.lazy_pattern import lazy_pattern

_MAX_FILE_BYTES = 256 << 20
_MAX_ERROR_CHARS = 1000
_MIN_TEXT_ROWS = 3
"""A cell without a table is a training if its text holds a metric this often: a number that is
printed once or twice is a result."""
_MIN_TABLES = 2
_RULED_TABLE = lazy_pattern(r"^-{9,200}\n(?:\|[^\n]{1,200}\|\n){4,200}-{9,200}$", re.MULTILINE)
"""As the loggers of OpenAI's baselines, Spinning Up and Stable-Baselines print one for each update.
No result looks like that, so that two of them are a training."""
_PROGRESS = lazy_pattern(r"<progress value='(\d{1,15})' max='(\d{1,15})'")
"""How the trainer's bar says the step and how many there will be."""
_EPOCHS = lazy_pattern(r"\bEpoch (\d{1,9}(?:\.\d{1,4})?)/(\d{1,9})\]")
"""Behind the bar; the rows of a table may be those of epochs."""


class _Training:
    """What the outputs of one cell hold of one training."""

    def __init__(self) -> None:
        self.table = ""
        self.text: list[str] = []
        self.error = ""


class NotebookStore(TrainingsStore):
    """Reads a notebook whenever it has changed; each batch belongs to one of its trainings."""

    def __init__(self, path: Path, make_console: Callable[[], Parser]) -> None:
        super().__init__(path)
        self._make_console = make_console

    def _read(self) -> Iterator[Batch]:
        found: dict[int, list[Batch]] = {}
        shows: set[int] = set()
        for number, cell in enumerate(_cells(_load_document(self._path)), 1):
            trainings = _trainings(cell)
            found[number] = [each for training in trainings for each in self._batches(training)]
            if _shows_trained(trainings[0]):
                shows.add(number)
        are_trained = any(found[number] for number in found.keys() - shows)
        for number, shown in found.items():
            if are_trained and number in shows:
                continue
            for count, batch in enumerate(shown, 1):
                part = f"-{count}" if len(shown) > 1 else ""
                batch.stored_run = f"{self._path.stem}-cell-{number}{part}"
                yield batch

    def _batches(self, training: _Training) -> list[Batch]:
        """The points of the table if there is one, else those of the text; its lines in any case.

        Nothing if there is no training; a script of several prints one below the other.
        """
        console = self._make_console()
        printed = console.feed("".join(training.text).encode("utf-8", "replace"))
        printed.add(console.finish())
        needed = _rows_needed(training)
        if training.table:
            batch = printed.as_one()
            points, are_counted = batch.points, batch.counts_updates
            done = _add_table(batch, training.table)
            if are_counted:
                _place_printed(batch, points, done)
            else:
                _add_stated(batch, points, done)
            found = [batch]
        else:
            parts = _by_training(printed)
            found = [each for each in parts if _rows(each) >= needed] or [_joined(parts)]
        if training.error:
            found[-1].ended = end_of_traceback(training.error)
        return [each for each in found if _rows(each) >= needed]


def _by_training(batch: Batch) -> list[Batch]:
    """The trainings of a console; those that print in turns are joined again."""
    found: dict[str, Batch] = {}
    parts, batch.rest = [batch, *batch.rest], []
    for each in parts:
        if each.stored_run in found:
            found[each.stored_run].add(each)
        else:
            found[each.stored_run] = each
    return list(found.values())


def _joined(parts: list[Batch]) -> Batch:
    first, *rest = parts
    for each in rest:
        first.add(each)
    return first.as_one()


def _rows(batch: Batch) -> int:
    return max(map(len, batch.points), default=0)


def _rows_needed(training: _Training) -> int:
    """How often a metric stands in a training at least."""
    if training.table:
        return 1
    tables = _RULED_TABLE.findall("".join(training.text))
    return _MIN_TABLES if len(tables) >= _MIN_TABLES else _MIN_TEXT_ROWS


def _load_document(path: Path) -> object:
    """The document of a file; raises `ValueError` if it is not complete."""
    if path.stat().st_size > _MAX_FILE_BYTES:
        raise ValueError(f"larger than {_MAX_FILE_BYTES:,} bytes")
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"cannot be read now: {str(error)[:100]}") from error


def _cells(document: object) -> list[dict[str, Any]]:
    """The cells of a notebook; version 3 keeps them in worksheets. Raises `ValueError`."""
    if isinstance(document, dict):
        sheets = [document, *as_list(document.get("worksheets"))]
        found = [each["cells"] for each in sheets if isinstance(each, dict) and "cells" in each]
        if found:
            return [cell for cells in found for cell in as_list(cells) if isinstance(cell, dict)]
    raise ValueError("not a notebook: no cells")


def _trainings(cell: dict[str, Any]) -> list[_Training]:
    """The trainings of a cell; text belongs to the table before it, else to the first one."""
    found = [_Training()]
    for output in as_list(cell.get("outputs")):
        if not isinstance(output, dict):
            continue
        if output.get("output_type") in ("error", "pyerr"):
            found[-1].error = _error_words(output)[:_MAX_ERROR_CHARS]
            continue
        data = output.get("data")
        shown = data if isinstance(data, dict) else {}
        page = _text(shown.get("text/html", output.get("html")))
        if LOSS_COLUMN in page and "<table" in page:
            if found[-1].table and not _shows_again(found[-1].table, page):
                found.append(_Training())
            found[-1].table = page
        else:
            found[-1].text.append(_printed(output, shown))
    return found


def _shows_trained(first: _Training) -> bool:
    """Whether a cell lets the agent play that another one has trained: it says so first."""
    return begins_with_evaluation("".join(first.text))


def _printed(output: dict[str, Any], shown: dict[str, Any]) -> str:
    """What an output says; what is shown between printed lines is a line of its own."""
    if output.get("output_type") == "stream" or "text" in output:
        return _text(output.get("text"))
    text = _text(shown.get("text/plain"))
    return text and f"{text}\n"


def _error_words(output: dict[str, Any]) -> str:
    """`KeyError: 'x'`; where a kernel died there is no exception, but a sentence."""
    words = ": ".join(str(output[key]) for key in ("ename", "evalue") if output.get(key))
    return words or _text(output.get("traceback")).partition(". ")[0]


def _shows_again(before: str, page: str) -> bool:
    """Whether a table begins with all rows of the one before: it is the same one, grown."""
    rows, again = (list(HtmlRows().add_text(each)) for each in (before, page))
    return 1 < len(rows) <= len(again) and rows == again[: len(rows)]


def _add_table(batch: Batch, page: str) -> int:
    """Replace what the text gave by the rows of the table; a full bar is a regular end.

    Returns the step at which the bar is; 0 if there is none.
    """
    builder = ColumnBuilder()
    batch.ended = None
    columns = None
    bar = _PROGRESS.search(page)
    per_row = 1
    for cells in HtmlRows().add_text(page):
        if (header := trainer_columns(cells)) is not None:
            columns = header
            per_row = _steps_per_epoch(bar, page) if columns.axis == "epoch" else 1
            continue
        row = None if columns is None else columns.row(cells)
        if row is not None and row.step is not None:
            for tag, value in row.values:
                builder.add_point(tag, row.step * (per_row or 1), UNKNOWN_TIME, value)
    if bar is not None:
        done, total = int(bar[1]), int(bar[2])
        if per_row:
            batch.config["max_steps"] = total
        if done >= total > 0:
            batch.ended = RunEnd(State.FINISHED, f"{done}/{total}")
    batch.points, batch.counts_updates = builder.pop_points(), False
    return 0 if bar is None else int(bar[1])


def _steps_per_epoch(bar: re.Match[str] | None, page: str) -> int:
    """How many of the bar's steps an epoch has; 0 where bar and epochs do not agree on it."""
    epochs = _EPOCHS.search(page)
    if bar is None or epochs is None or not int(epochs[2]):
        return 0
    steps, left = divmod(int(bar[2]), int(epochs[2]))
    is_told = not left and abs(int(bar[1]) - float(epochs[1]) * steps) <= steps / 100
    return steps if is_told else 0


def _place_printed(batch: Batch, printed: list[Points], done: int) -> None:
    """Add what the table lacks of records without a step, if there is one for each row or step.

    A reward function prints one for each step, where the trainer logs each fifth, say.
    """
    shown = {each.tag for each in batch.points}
    rows = batch.points[0].steps if batch.points else array("q")
    for each in printed:
        if each.tag not in shown and len(each) > 1 and len(rows) > 1:
            if len(each) == len(rows):
                batch.points.append(Points(each.tag, rows, each.times, each.values))
            elif len(each) == done == each.steps[-1]:
                batch.points.append(each)


def _add_stated(batch: Batch, printed: list[Points], done: int) -> None:
    """Add what the table lacks of records whose steps are those of the bar: they end where it does.

    The next one would come after it: `[step 195] reward=0.4` and `[step 200] reward=0.5` of 200.
    """
    shown = {each.tag for each in batch.points}
    for each in printed:
        before, last = [0, 0, *sorted({*each.steps})][-2:]
        if each.tag not in shown and 0 < before < last <= done < 2 * last - before:
            batch.points.append(each)


def _text(value: object) -> str:
    """A text of a notebook: a string or a list of its lines."""
    if isinstance(value, list):
        return "".join(each for each in value if isinstance(each, str))
    return value if isinstance(value, str) else ""


def claims(_name: str, head: bytes) -> bool | None:
    """Whether the file is a JSON object."""
    start = head.lstrip()
    return start.startswith(b"{") if start else None


FORMAT = Format(
    name="notebook",
    claims=claims,
    claim_order=10,
    precedence=30,
    text_store=NotebookStore,
    rewritten=True,
)
