"""A JSON document that a script writes anew each time: rows, or lists of numbers under names.

    [{"step": 2048, "reward": 21.5, "kl": 0.01}, ...]
    {"config": {"lr": 0.0003}, "history": [{"step": 2048, "reward": 21.5}, ...]}
    {"rewards": [21.5, 23.1, ...], "losses": [0.9, 0.7, ...], "rows": [{"fps": 60}, ...]}
    [21.5, 23.1, ...] in a file whose name says what they are: rewards.json
    {"0": 21.5, "1": 23.1, ...} likewise
    [{"algorithm": "DQN", "episode_rewards": [21.5, ...]}, ...], each of them a run

What `json.dump` has half written counts once it is complete; until then the last reading stays.
"""

from __future__ import annotations

import json
import re
from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from ppo_top.model import UNKNOWN_TIME, Batch, ConfigValue, Points, Problem
from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared.columns import ColumnBuilder
from ppo_top.parsers.shared.documents.json_values import (
    first_object,
    flatten,
    number_of,
    settings_of,
    step_of,
    time_of,
)
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.axes import find_step_key
from ppo_top.parsers.shared.stores.replaced_file import ReplacedFileStore
from ppo_top.parsers.shared.stores.rewritten_points import MAX_FILE_BYTES, RewrittenPointsStore
from ppo_top.parsers.shared.text.number_text import as_step

_SETTINGS_KEYS = ("config", "args", "params", "hparams", "hyperparameters", "settings")
_FEWEST_NUMBERS = 2
"""Of a list that may be a curve."""
_NAME_KEYS = ("algorithm", "algo", "agent")
"""Of a training among several: a `name` may be a pupil's, who has scores, too."""
_UNFIT = re.compile(r"[^\w.+-]+")
_MAX_NAME_CHARS = 60


class JsonDocumentStore(RewrittenPointsStore):
    """Returns what is new in the file each time it has been written."""

    def _read(self) -> Batch:
        document = _load(self._path)
        if tag := metric_names.curve_of_file(self._path.name):
            numbers = _in_order(document)
            document = {tag: numbers} if _curve_of(tag, numbers) else document
        batch = read_document(document)
        if batch.problems:
            raise ValueError(batch.problems[0].message)
        return batch


class JsonTrainingsStore(ReplacedFileStore):
    """Reads several trainings, each under its name, whenever the file has been written."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._pending: deque[Batch] = deque()
        self._runs: list[str] = []

    def poll(self, limit: int) -> Batch:
        """All of one training, or nothing while the file is unchanged."""
        del limit
        version = None if self._pending else self._new_version()
        if version is not None:
            try:
                batches = _trainings(self._path)
            except OSError:
                return Batch()
            except (ValueError, RecursionError) as problem:
                return self._problem(version, str(problem)[:120])
            self._note_read(version)
            self._add_pending(batches)
        return self._pending.popleft() if self._pending else Batch()

    def _add_pending(self, batches: Mapping[str, Batch]) -> None:
        gone = {run: Batch(stored_run=run) for run in self._runs if run not in batches}
        for run, batch in (gone | dict(batches)).items():
            batch.stored_run, batch.restarted = run, run in self._runs
            self._pending.append(batch)
        self._runs = list(batches)


def _trainings(path: Path) -> dict[str, Batch]:
    """The trainings of a file by name; raises `ValueError` if there is none."""
    found: dict[str, Batch] = {}
    document = _load(path)
    for each in document if isinstance(document, list) else ():
        if name := _training_name(each):
            plain = _UNFIT.sub("_", name)[:_MAX_NAME_CHARS]
            found[plain if plain not in found else f"{plain}-{len(found) + 1}"] = read_document(
                each
            )
    if not found:
        raise ValueError("no list of rewards under a name")
    return found


def _training_name(found: object) -> str:
    """The name of an object that holds a training's rewards; empty if it is none.

    What states a step is a row, whose rewards are those of one episode.
    """
    if not isinstance(found, dict) or step_of(dict(flatten(found))) is not None:
        return ""
    has_rewards = any(
        metric_names.is_reward(tag) and len(values) >= _FEWEST_NUMBERS
        for tag, values in _lists_of(found).items()
    )
    names = (found.get(key) for key in _NAME_KEYS)
    return next((name for name in names if isinstance(name, str)), "") if has_rewards else ""


def _load(path: Path) -> object:
    """The document of a file; raises `ValueError` if it is not complete."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ValueError(f"larger than {MAX_FILE_BYTES:,} bytes")
    try:
        return json.loads(path.read_bytes())
    except ValueError as problem:
        raise ValueError(f"not complete JSON: {str(problem)[:80]}") from problem


def read_document(document: object) -> Batch:
    """The points and settings of a whole document."""
    lists = _lists_of(document)
    rows = _rows_of(document)
    if rows is not None:
        builder = ColumnBuilder()
        whole = _with_columns([dict(flatten(row)) for row in rows], lists)
        stated = [_add_row(builder, row, number) for number, row in enumerate(whole, 1)]
        points, counts = builder.pop_points(), not stated[-1]
    else:
        points, counts = _curves(lists)
    problems = [] if points else [Problem(0, "no rows and no lists of numbers")]
    return Batch(points, _settings(document), problems=problems, counts_updates=counts)


def _rows_of(document: object) -> list[dict[str, object]] | None:
    """The rows of a list, or of the longest list of rows that an object holds."""
    lists = [document] if isinstance(document, list) else []
    if isinstance(document, dict):
        lists = [value for value in document.values() if isinstance(value, list)]
    found = [[row for row in each if isinstance(row, dict)] for each in lists]
    return max(found, key=len, default=None) or None


def _lists_of(document: object) -> dict[str, list[float]]:
    """The lists of numbers that an object holds, but for those of its settings."""
    if not isinstance(document, dict):
        return {}
    measured = {name: value for name, value in document.items() if name not in _SETTINGS_KEYS}
    return {tag: curve for tag, value in flatten(measured) if (curve := _curve_of(tag, value))}


def _with_columns(
    rows: list[dict[str, object]], lists: Mapping[str, Sequence[float]]
) -> list[dict[str, object]]:
    """The rows with the numbers of each list that has one for each of them.

    Steps that the rows say themselves are theirs.
    """
    has_step = step_of(rows[-1]) is not None
    columns = {
        tag: values
        for tag, values in lists.items()
        if len(values) == len(rows) >= _FEWEST_NUMBERS and not (has_step and _is_stepped(tag))
    }
    return [
        {**{tag: values[place] for tag, values in columns.items()}, **row}
        for place, row in enumerate(rows)
    ]


def _add_row(builder: ColumnBuilder, row: Mapping[str, object], number: int) -> bool:
    """Add a row at its step, else at its number; whether it says its step."""
    step, time = step_of(row), time_of(row)
    for tag, value in row.items():
        point = number_of(tag, value)
        if point is not None:
            builder.add_point(tag, number if step is None else step, time, point)
    return step is not None


def _curves(lists: Mapping[str, list[float]]) -> tuple[list[Points], bool]:
    """Each list of numbers as a curve, and whether nothing says their steps.

    The rewards' list tells how long the run is. A list of another length was filled at another pace
    over the same run: it is spread over it.
    """
    long = {tag: curve for tag, curve in lists.items() if len(curve) >= _FEWEST_NUMBERS}
    if not long and any(map(metric_names.is_metric, lists)) and _stated_steps(lists, 1):
        long = dict(lists)  # of a run that has just begun
    if not long:
        return [], False
    rewards = [tag for tag in long if metric_names.is_reward(tag)]
    length = max(len(long[tag]) for tag in rewards or long)
    stated = _stated_steps(long, length)
    steps = stated or list(range(1, length + 1))
    curves = []
    for tag, values in long.items():
        if not _is_stepped(tag):
            ends = (length * (place + 1) // len(values) for place in range(len(values)))
            at = array("q", (steps[max(end - 1, 0)] for end in ends))
            times = array("d", [UNKNOWN_TIME]) * len(at)
            curves.append(Points(tag, at, times, array("d", values)))
    return curves, stated is None


def _curve_of(tag: str, value: object) -> list[float] | None:
    """The numbers of a list that holds nothing else."""
    if not isinstance(value, list):
        return None
    numbers = [number_of(tag, each) for each in value]
    known = [each for each in numbers if each is not None]
    return known if len(known) == len(numbers) else None


def _in_order(document: object) -> object:
    """The values of `{"0": 21.5, "1": 23.1}` as a list; anything else as it is."""
    if not isinstance(document, dict) or not all(map(str.isdecimal, document)):
        return document
    return [document[key] for key in sorted(document, key=int)]


def _stated_steps(lists: Mapping[str, Sequence[float]], length: int) -> list[int] | None:
    """The list that says the steps of the others, if one of their length does."""
    axes = {tag: metric_names.step_axis(tag.rpartition("/")[2]) for tag in lists}
    tags = [tag for axis in metric_names.STEP_AXES for tag in lists if axes[tag] == axis]
    for tag in (*tags, find_step_key(list(lists))):
        steps = [as_step(each) for each in lists.get(tag or "", ())]
        known = [each for each in steps if each is not None]
        if len(known) == len(steps) == length and known == sorted(known):
            return known
    return None


def _settings(document: object) -> dict[str, ConfigValue]:
    """What stands in an object beside its lists."""
    if not isinstance(document, dict):
        return {}
    plain = {name: value for name, value in document.items() if not isinstance(value, list)}
    for name in _SETTINGS_KEYS:
        settings = plain.pop(name, None)
        plain |= settings if isinstance(settings, dict) else {}
    return dict(settings_of(plain))


_ROWS_START = re.compile(rb"\s*+(?:\[\s*+\{|\{.*?\[\s*+\{)", re.DOTALL)
_CURVE_START = re.compile(rb'"([^"\\]{1,80})"\s*+:\s*+\[\s*+(?:-?\d|NaN|-?Infinity)')
_KEY = re.compile(rb'"([^"\\]{1,80})"\s*+:')


_DOCUMENT_START = re.compile(rb"\{\s*(?:[\"}]|$)|\[\s*(?:\{|$)")
_NUMBERS_START = re.compile(rb'\{\s*+"\d{1,15}"\s*+:\s*+-?\d|\[\s*+[-+\w.]{1,40}+\s*+,\s*+[-\dNI]')
"""Not `[12/400] reward: 21.5`, which is a console's."""
_TRAINING_NAME = re.compile(r"(?:^|[_-])(?:history|metrics|training)", re.IGNORECASE)
_LONG_LIST = re.compile(rb"\[\s*+(?:[-+\d.eE]++,\s*+){5}")
"""A file that has long lists of numbers and such a name is read, whatever the lists are called."""


def claims(name: str, head: bytes) -> bool | None:
    """Whether a metric stands in the first row, or is the name of a list of numbers."""
    start = head.lstrip()
    if not start:
        return None
    if metric_names.curve_of_file(name) and _NUMBERS_START.match(start):
        return True
    if not _DOCUMENT_START.match(start):  # `{'loss': 0.5}` and `[INFO] step=3` are a console's
        return False
    curves = [match[1].decode("utf-8", "replace") for match in _CURVE_START.finditer(start)]
    if any(map(metric_names.is_metric, curves)) or (
        curves and _TRAINING_NAME.search(name) and _LONG_LIST.search(start)
    ):
        return True
    rows = _ROWS_START.match(start)
    keys = [match[1].decode("utf-8", "replace") for match in _KEY.finditer(start)] if rows else []
    if any(map(metric_names.is_metric, keys)) and any(map(_is_stepped, keys)):
        return True
    return None if len(head) < HEAD_BYTES else False


def _is_stepped(name: str) -> bool:
    return metric_names.step_axis(name.rpartition("/")[2]) is not None


_TRAININGS_START = re.compile(r"\s*+\[\s*+(?=\{)")
_NAME_START = re.compile(rb'"(?:%s)"\s*+:\s*+"' % "|".join(_NAME_KEYS).encode())


def claims_trainings(_name: str, head: bytes) -> bool | None:
    """Whether the first object of a list has a name and a training's rewards.

    If it is longer than what is seen of it, a key of each shows that.
    """
    text = head.decode("utf-8", "replace")
    if not (start := _TRAININGS_START.match(text)):
        return None if not text.strip(" \t\r\n[") and len(head) < HEAD_BYTES else False
    if first := first_object(text[start.end() :].encode()):
        return bool(_training_name(first))
    if len(head) < HEAD_BYTES:
        return None
    keys = [match[1].decode("utf-8", "replace") for match in _CURVE_START.finditer(head)]
    is_row = any(_is_stepped(match[1].decode("utf-8", "replace")) for match in _KEY.finditer(head))
    return bool(_NAME_START.search(head)) and any(map(metric_names.is_reward, keys)) and not is_row


FORMAT = Format(
    name="json-document",
    claims=claims,
    claim_order=70,
    precedence=50,
    store=JsonDocumentStore,
    rewritten=True,
    one_file=True,
)
TRAININGS = Format(
    name="json-trainings",
    claims=claims_trainings,
    claim_order=35,
    precedence=50,
    store=JsonTrainingsStore,
    rewritten=True,
)
FORMATS = (FORMAT, TRAININGS)
