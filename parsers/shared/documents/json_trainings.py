"""JSON documents that hold several trainings, each with its rewards.

[{"algorithm": "DQN", "episode_rewards": [21.5, ...]}, ...]
{"env": "CartPole-v1", "runs": [{"metadata": {"seed": 0}, "rewards": [21.5, ...]}, ...]}
{"DQN": {"rewards": [21.5, ...]}, "PPO": {"rewards": [23.1, ...]}}, or `CartPole-v1`, `seed_1`
{"rewards_per_run": [[21.5, ...], [23.1, ...]], "losses_per_run": [[0.5, ...], [0.6, ...]]}
[{"exp": 1, "lr": 0.01, "reward_curve": [21.5, ...]}, ...]
[{"seed": 0, "step": 1000, "reward": 21.5}, ..., {"seed": 1, "step": 1000, "reward": 23.1}, ...]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ppo_top.parsers.base import HEAD_BYTES
from ppo_top.parsers.shared.documents.json_curves import FEWEST_NUMBERS, lists_of
from ppo_top.parsers.shared.documents.json_rows import is_stepped
from ppo_top.parsers.shared.documents.json_values import first_object, flatten, step_of
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.axes import find_step_key
from ppo_top.parsers.shared.tables.table_runs import TableRuns
from ppo_top.text.lazy_pattern import lazy_pattern

_NAME_KEYS = ("algorithm", "algo", "agent")
"""Of a training among several: a `name` may be a pupil's, who has scores, too."""
_NUMBER_KEYS = ("seed", "exp", "experiment")
_KEYS_IN_LIST = ("run_name", *_NAME_KEYS, "seed")
_OF_EACH = lazy_pattern(r"(\w{1,60}?)_(?:per|by)_(run|seed|trial)")
_OF_EACH_START = lazy_pattern(
    rb'"\w{1,60}_(?:per|by)_(?:run|seed|trial)"\s*+:\s*+\[\s*+\[\s*+(?:-?\d|NaN|-?Infinity)'
)
_LISTS = ("runs", "trainings", "trials", "seeds", "experiments")
_NAME_OF_RUN = lazy_pattern(
    r"(?:[A-Za-z][\w/]{1,40}-v\d{1,2}|(?:seed|run|trial)[_ -]?\d{1,6})", re.IGNORECASE
)
"""An environment of Gym, or a number of a training."""
CURVE_START = lazy_pattern(rb'"([^"\\]{1,80})"\s*+:\s*+\[\s*+(?:-?\d|NaN|-?Infinity)')
KEY = lazy_pattern(rb'"([^"\\]{1,80})"\s*+:')
_LIST_START = lazy_pattern(r"\s*+\[\s*+(?=\{)")
_TOKEN = lazy_pattern(rb'"((?:[^"\\]|\\.)*+)"(\s*+:\s*+\{)?|[{}]')
"""A text, and whether it is the name of an object; or where one begins or ends."""
_LIST_OF_RUNS = lazy_pattern(rb'"(?:%s)"\s*+:\s*+\[\s*+\{' % "|".join(_LISTS).encode())
_NAME_START = lazy_pattern(rb'"(?:%s)"\s*+:\s*+"' % "|".join(_NAME_KEYS).encode())


def trainings_of(document: object) -> Iterator[tuple[str, object]]:
    """Each training of a document with its name; "" if it is the document's."""
    if isinstance(document, dict):
        yield from _of_each(document)
        if any(_names_run(name) and _is_training(each) for name, each in document.items()):
            yield from ((name, each) for name, each in document.items() if _is_training(each))
        lists = (document.get(name) for name in _LISTS)
        for number, each in enumerate(next(filter(None, lists), ()), 1):
            if _is_training(each):
                yield _name_in_list(each) or f"run-{number}", each
    elif isinstance(document, list):
        for each in document:
            if name := _training_name(each):
                yield name, each
        if document and (keys := _run_keys(document[0])) is not None:
            yield from _rows_of_runs(*keys, document)


def _run_keys(found: object) -> tuple[TableRuns, list[str]] | None:
    """What tells trainings apart by the keys of a row; None if it is none, or has no such key."""
    row = dict(flatten(found)) if isinstance(found, dict) else {}
    numbers = [key for key, value in row.items() if isinstance(value, int | float)]
    step = find_step_key(numbers)
    if step is None or not any(map(metric_names.is_metric, numbers)):
        return None
    runs, keys = TableRuns(), [*row]
    runs.read_header(keys, keys.index(step))
    return (runs, [keys[at] for at in runs.columns]) if runs.columns else None


def _rows_of_runs(
    runs: TableRuns, keys: Sequence[str], rows: Sequence[object]
) -> Iterator[tuple[str, object]]:
    """The rows of each training, which are told apart as those of a table are."""
    found: dict[str, list[object]] = {}
    for row in rows:
        flat = dict(flatten(row)) if isinstance(row, dict) else {}
        step = step_of(flat)
        runs.turn_to([str(flat.get(key, "")) for key in keys], step)
        runs.current.note_row(step, is_counted=False)
        found.setdefault(runs.current.name, []).append(row)
    yield from found.items()


def _of_each(document: Mapping[str, object]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The trainings of a document whose lists hold one of each: `rewards_per_run`."""
    found = [
        (match[1], match[2], value)
        for name, value in document.items()
        if isinstance(value, list) and value and (match := _OF_EACH.fullmatch(name))
    ]
    for number in range(min((len(value) for _, _, value in found), default=0)):
        training = {name: value[number] for name, _, value in found}
        if _is_training(training):
            yield f"{found[0][1]}-{number + 1}", training


def _names_run(name: str) -> bool:
    """Whether a key says whose rewards an object holds: not `train`, and not `agent_1`."""
    names_algorithm = metric_names.names_algorithm(name) and not metric_names.is_reward(name)
    return names_algorithm or _NAME_OF_RUN.fullmatch(name) is not None


def _is_training(found: object) -> bool:
    """Whether an object holds a training's rewards.

    What states a step is a row, whose rewards are those of one episode.
    """
    if not isinstance(found, dict) or step_of(dict(flatten(found))) is not None:
        return False
    return any(
        metric_names.is_reward(tag) and len(values) >= FEWEST_NUMBERS
        for tag, values in lists_of(found).items()
    )


def _training_name(found: object) -> str:
    """The name of an object in a list that holds a training's rewards; empty if it is none."""
    if not isinstance(found, dict) or not _is_training(found):
        return ""
    names = (found.get(key) for key in _NAME_KEYS)
    numbered = (f"{key} {found[key]}" for key in _NUMBER_KEYS if isinstance(found.get(key), int))
    return next((name for name in names if isinstance(name, str)), next(numbered, ""))


def _name_in_list(found: Mapping[str, object]) -> str:
    """What a training says that it is called, within its settings maybe."""
    ends = {name.rpartition("/")[2]: value for name, value in flatten(found)}
    key = next((key for key in _KEYS_IN_LIST if isinstance(ends.get(key), str | int)), "")
    return f"{key} {ends[key]}" if key == "seed" else str(ends.get(key, ""))


def claims(_name: str, head: bytes) -> bool | None:
    """Whether a document begins with a training that has a name and rewards.

    If it is longer than what is seen of it, a key of each shows that.
    """
    text = head.decode("utf-8", "replace")
    if text.lstrip().startswith("{"):
        return _claims_object(head)
    if not (start := _LIST_START.match(text)):
        return None if not text.strip(" \t\r\n[") and len(head) < HEAD_BYTES else False
    if first := first_object(text[start.end() :].encode()):
        return bool(_training_name(first) or _run_keys(first))
    if len(head) < HEAD_BYTES:
        return None
    is_row = any(map(is_stepped, names_in(head, KEY)))
    return bool(_NAME_START.search(head)) and _holds_rewards(head) and not is_row


def _claims_object(head: bytes) -> bool | None:
    """Whether an object begins with a named training, or has a list of some."""
    if _OF_EACH_START.search(head):
        return True
    runs = _LIST_OF_RUNS.search(head)
    named = [part for name, part in _outer_objects(head) if _names_run(name)]
    if not named and runs is None:
        return False
    if (document := first_object(head)) is not None:
        return any(True for _ in trainings_of(document))
    if any(map(_holds_rewards, named)) or (runs and _holds_rewards(head[runs.end() :])):
        return True
    return None if len(head) < HEAD_BYTES else False


def _outer_objects(head: bytes) -> Iterator[tuple[str, bytes]]:
    """The objects that the outermost one holds, by name, as far as they are seen."""
    depth, name, start = 0, "", 0
    for token in _TOKEN.finditer(head):
        if token[2]:
            depth += 1
            if depth == 2:
                name, start = token[1].decode("utf-8", "replace"), token.end()
        elif token[0] == b"{":
            depth += 1
        elif token[0] == b"}":
            depth -= 1
            if depth == 1 and start:
                yield name, head[start : token.start()]
                start = 0
    if start:
        yield name, head[start:]


def _holds_rewards(head: bytes) -> bool:
    """Whether a list of numbers is called a reward."""
    return any(map(metric_names.is_reward, names_in(head, CURVE_START)))


def names_in(head: bytes, pattern: re.Pattern[bytes]) -> list[str]:
    """The names that a pattern finds in the beginning of a document."""
    return [name.decode("utf-8", "replace") for name in pattern.findall(head)]
