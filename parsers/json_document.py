"""A JSON document that a script writes anew each time: rows, or lists of numbers under names.

    [{"step": 2048, "reward": 21.5, "kl": 0.01}, ...]
    {"config": {"lr": 0.0003}, "history": [{"step": 2048, "reward": 21.5}, ...]}
    {"rewards": [21.5, 23.1, ...], "losses": [0.9, 0.7, ...], "rows": [{"fps": 60}, ...]}
    {"metrics": {"reward": [{"step": 2048, "value": 21.5}, ...], "kl": [...]}}
    [21.5, 23.1, ...] in a file whose name says what they are: rewards.json
    {"0": 21.5, "1": 23.1, ...} likewise
    {"0": {"reward": 21.5, "loss": 0.9}, "1": {...}, ...}, rows under their steps
    [[21.5, 23.1, ...], [-3.5, -2.1, ...]] of two agents, or [[2048, 21.5], ...], likewise
    [{"algorithm": "DQN", "episode_rewards": [21.5, ...]}, ...], each a run (`json_trainings`)
    [[1700000000.5, 2048, 21.5], ...], TensorBoard's download of a tag, whose name the file may have

The same as `str` writes it for Python, with other quotes, is read likewise (`python_literals`).
What `json.dump` has half written counts once it is complete; until then the last reading stays.
"""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePath

from ppo_top.model import Batch
from ppo_top.parsers.base import HEAD_BYTES, Format
from ppo_top.parsers.shared.documents import json_trainings
from ppo_top.parsers.shared.documents.json_curves import curve_of, read_document
from ppo_top.parsers.shared.documents.json_rows import is_stepped
from ppo_top.parsers.shared.documents.python_literals import as_json, is_literal
from ppo_top.parsers.shared.names import download_names, metric_names
from ppo_top.parsers.shared.names.counter_names import is_counter
from ppo_top.parsers.shared.names.run_names import plain_run_name
from ppo_top.parsers.shared.stores.replaced_file import TrainingsStore
from ppo_top.parsers.shared.stores.rewritten_points import MAX_FILE_BYTES, RewrittenPointsStore
from ppo_top.text.lazy_pattern import lazy_pattern

_MOST_AGENTS = 16
"""Longer lists may be the rewards of each step of so many episodes."""
_DOWNLOAD_COLUMNS = 3
"""Of TensorBoard: the time, the step and the value."""


class JsonDocumentStore(RewrittenPointsStore):
    """Returns what is new in the file each time it has been written."""

    def _read(self) -> Batch:
        document = _load(self._path)
        if tag := metric_names.curve_of_file(self._path.name):
            numbers = _in_order(document)
            document = {tag: numbers} if curve_of(tag, numbers) else _of_agents(document, tag)
        elif _TRAINING_NAME.search(self._path.name) and curve_of("", document):
            document = {PurePath(self._path.name).stem: document}
        document = _downloaded_rows(document, self._path.name) or document
        batch = read_document(document)
        if batch.problems:
            raise ValueError(batch.problems[0].message)
        return batch


class JsonTrainingsStore(TrainingsStore):
    """Reads several trainings, each under its name, whenever the file has been written."""

    def _read(self) -> list[Batch]:
        found: dict[str, Batch] = {}
        for name, training in json_trainings.trainings_of(_load(self._path)):
            plain = plain_run_name(name)
            run = plain if plain not in found else f"{plain}-{len(found) + 1}"
            found[run] = read_document(training)
            found[run].stored_run = run
        if not found:
            raise ValueError("no list of rewards under a name")
        return list(found.values())


def _load(path: Path) -> object:
    """The document of a file; raises `ValueError` if it is not complete."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ValueError(f"larger than {MAX_FILE_BYTES:,} bytes")
    data = path.read_bytes()
    try:
        return json.loads(as_json(data) if is_literal(data[:HEAD_BYTES]) else data)
    except ValueError as problem:
        raise ValueError(f"not complete JSON: {str(problem)[:80]}") from problem


def _of_agents(document: object, tag: str) -> object:
    """The curves of several agents, each under its number, or pairs of a step and a value; else
    what it was.
    """
    if not isinstance(document, list) or not document:
        return document
    lengths = {len(each) if isinstance(each, list) else 0 for each in document}
    if lengths == {2}:
        return {tag: document}
    if not 1 < len(document) <= _MOST_AGENTS < min(lengths) == max(lengths):
        return document
    return {f"{tag} {place}": curve for place, curve in enumerate(document, 1)}


def _in_order(document: object) -> object:
    """The values of `{"0": 21.5, "1": 23.1}` as a list; anything else as it is."""
    if not isinstance(document, dict) or not all(map(str.isdecimal, document)):
        return document
    return [document[key] for key in sorted(document, key=int)]


def _downloaded_rows(document: object, name: str) -> list[dict[str, object]]:
    """The rows of TensorBoard's download of one tag; none if it is something else."""
    points = document if isinstance(document, list) else []
    tag = download_names.tag_of(name)
    rows: list[dict[str, object]] = [
        {"wall_time": point[0], "step": point[1], tag: point[2]}
        for point in points
        if isinstance(point, list) and len(point) == _DOWNLOAD_COLUMNS
    ]
    return rows if len(rows) == len(points) else []


_ROWS_START = lazy_pattern(rb"\s*+(?:\[\s*+\{|\{.*?\[\s*+\{)", re.DOTALL)
_NUMBERED_ROWS_START = lazy_pattern(
    rb'\s*+\{\s*+"\d{1,15}"\s*+:\s*+\{[^{}]{1,4000}+\}\s*+,\s*+"\d{1,15}"\s*+:\s*+\{'
)

_DOCUMENT_START = lazy_pattern(rb"\{\s*(?:[\"}]|$)|\[\s*(?:\{|$)")
_NUMBERS_START = lazy_pattern(
    rb'\{\s*+"\d{1,15}"\s*+:\s*+-?\d|(?:\[\s*+){1,2}[-+\w.]{1,40}+\s*+,\s*+[-\dNI]'
)
"""Not `[12/400] reward: 21.5`, which is a console's."""
_DOWNLOAD_START = lazy_pattern(
    rb"\[\s*+\[\s*+\d{10}(?:\.\d++)?\s*+,\s*+\d{1,15}\s*+,\s*+\"?-?(?:[\d.]|NaN|Inf)"
)
_TRAINING_NAME = lazy_pattern(r"(?:^|[_-])(?:history|metrics|training)", re.IGNORECASE)
_GYM_STATISTICS_NAME = lazy_pattern(r"^openaigym\.episode_batch\.")
"""Of gym's own monitor, until 0.22: lists of all episodes, the times first."""
_REWARDS_NAME = lazy_pattern(r"(?:^|[_-])rewards?(?:[_-]|\.|$)", re.IGNORECASE)
"""Rows in such a file need no step: they are counted."""
_LONG_LIST = lazy_pattern(rb"\[\s*+(?:[-+\d.eE]++,\s*+){5}")
"""A file that has long lists of numbers and such a name is read, whatever the lists are called."""
_LINE_BEHIND = lazy_pattern(rb"\}[ \t\r]*+\n\s*+[^\s\]}]")
"""Of a console that prints a dictionary first."""
_DICT_BEHIND = lazy_pattern(rb"\}[ \t]++\{'")
"""Of a console, too, whose lines have lost their ends."""
_ONE_LONG_LIST = lazy_pattern(rb"\[\s*+(?:[-+\d.eE]++,\s*+){20}")


def claims(name: str, head: bytes) -> bool | None:
    """Whether a metric stands in the first row, or is the name of a list of numbers."""
    start = _json_head(head).lstrip()
    if not start:
        return None
    if _NUMBERS_START.match(start) and (
        metric_names.curve_of_file(name)
        or (_TRAINING_NAME.search(name) and _ONE_LONG_LIST.match(start))
    ):
        return True
    if _DOWNLOAD_START.match(start):
        return True
    if not _DOCUMENT_START.match(start):  # `{'loss': 0.5}` and `[INFO] step=3` are a console's
        return False
    is_literal_line = is_literal(head) and _DICT_BEHIND.search(head)
    if is_literal_line or (name.endswith(".txt") and _LINE_BEHIND.search(start)):
        return False
    curves = json_trainings.names_in(start, json_trainings.CURVE_START)
    is_named = _TRAINING_NAME.search(name) and _LONG_LIST.search(start)
    if any(map(metric_names.is_metric, curves)) or (curves and is_named):
        return True
    if _GYM_STATISTICS_NAME.search(name):
        return True
    is_numbered = _NUMBERED_ROWS_START.match(start) is not None
    rows = is_numbered or _ROWS_START.match(start)
    keys = json_trainings.names_in(start, json_trainings.KEY) if rows else []
    if any(map(metric_names.is_metric, keys)) and (is_numbered or any(map(_may_be_step, keys))):
        return True
    if _REWARDS_NAME.search(name) and any(map(metric_names.is_reward, keys)):
        return True
    return None if len(head) < HEAD_BYTES else False


def _claims_trainings(name: str, head: bytes) -> bool | None:
    return json_trainings.claims(name, _json_head(head))


def _json_head(head: bytes) -> bytes:
    return as_json(head) if is_literal(head) else head


def _may_be_step(name: str) -> bool:
    return is_stepped(name) or is_counter(name)


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
    claims=_claims_trainings,
    claim_order=35,
    precedence=50,
    store=JsonTrainingsStore,
    rewritten=True,
)
FORMATS = (FORMAT, TRAININGS)
