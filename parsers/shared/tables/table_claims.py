"""Which text files are tables of metrics, by their names and first lines."""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.parsers.base import HEAD_BYTES
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.axes import parse_unix_time
from ppo_top.parsers.shared.tables.table_header import (
    are_names,
    column_names,
    find_delimiter,
    is_ruler,
    is_stepped,
)
from ppo_top.parsers.shared.text.number_text import parse_number
from ppo_top.text.lazy_pattern import lazy_pattern

_MIN_COLUMNS = 2
_REWARD_FILE_NAME = lazy_pattern(r"(?i:train|reward|return|episode|learning|progress)")
"""A file with such a name may be a column of rewards, a row an episode, without a step."""
_LOG_FILE_NAME = lazy_pattern(r"(?i:train|reward|return|episode|learning|progress|metrics)")
_VALUE = lazy_pattern(r"[:=]\s?[-+.\d]")
"""In a console's line, which is no name of a column: `reward: 21.5`."""
_PAIR = lazy_pattern(r"[:=\s][-+.]?\d")
"""In a console's line, with or without a sign between: `Episode 3`."""
_PFRL_COLUMNS = ["steps", "episodes", "elapsed", "mean", "median", "stdev"]
"""The first columns of PFRL's scores.txt, none of which says by itself what it measures."""
_UNNAMED_STATISTICS = {"mean", "std"}
"""Columns that do not say of what they are (d3rlpy: of a layer's gradients); `std` alone is that of
the actions."""
_CONSOLE_NAME = "log.txt"
"""Mostly a console: the table that logz.py of Berkeley's course writes has tabs in its header."""
_FIRST_NUMBERS = ("0", "1")
_OTHER_TEXT = lazy_pattern(r"(?i)(?:\w+_)?rewards?\w*\.txt$|.*\.log$|(?:log|train)[^.]*\.txt$")
"""Mostly a list of numbers, prose or a console."""


def claims(name: str, head: bytes) -> bool | None:
    """Whether the header names a metric, and a step; a table of rewards may count its rows."""
    if b"\x00" in head.partition(b"\n")[0] or head.startswith((b"#{", b"{")):
        return False
    if name == _CONSOLE_NAME and b"\t" not in head.partition(b"\n")[0]:
        return False
    if name != _CONSOLE_NAME and _OTHER_TEXT.match(name):
        return _is_table_of_rewards(head)
    columns = column_names(head)
    if columns is None:
        return None
    if not are_names(columns):
        return False
    if columns[: len(_PFRL_COLUMNS)] == _PFRL_COLUMNS:
        return True
    if all(map(metric_names.is_reward, columns)) and _REWARD_FILE_NAME.search(name):
        return not any(map(_VALUE.search, columns))
    is_table = len(columns) >= _MIN_COLUMNS
    of_unknown = _UNNAMED_STATISTICS if _UNNAMED_STATISTICS.issubset(columns) else set()
    charted = any(map(metric_names.is_metric, set(columns) - of_unknown)) or (
        is_stepped(columns) and any(map(metric_names.is_exploration, columns))
    )
    if not charted and is_table and _may_be_charted(name, columns):
        return _holds_numbers(columns, head)
    if not charted or (is_table and is_stepped(columns)):
        return charted
    return (is_table and name.startswith("progress.")) or _counts_rows(name, columns, head)


def _may_be_charted(name: str, columns: Sequence[str]) -> bool:
    """Whether columns are methods, in a file of rewards, or rows are the episodes of a training."""
    if metric_names.reward_of_file(name):
        return True
    is_counted = any(map(metric_names.is_bare_count, columns))
    return is_counted and any(map(metric_names.counts_episodes, columns))


def _is_table_of_rewards(head: bytes) -> bool | None:
    """Whether the header names a reward among others, and the first row below it holds numbers."""
    if b"\n" not in head:
        may_follow = len(head) < HEAD_BYTES and (head[:1].isalpha() or not head.strip())
        return None if may_follow else False
    columns = column_names(head) or []
    if len(columns) < _MIN_COLUMNS or not are_names(columns) or any(map(_PAIR.search, columns)):
        return False
    if not any(map(metric_names.is_reward, columns)):
        return False
    holds = _holds_numbers(columns, head)
    return _is_ruled(head) and is_stepped(columns) if holds is False else holds


def _is_ruled(head: bytes) -> bool:
    """Whether a line of dashes parts the header from the rows."""
    return is_ruler(head.partition(b"\n")[2].partition(b"\n")[0].decode("utf-8", "replace"))


def _counts_rows(name: str, columns: Sequence[str], head: bytes) -> bool | None:
    """Whether a row without a step is one of a training."""
    answer = _numbers_episodes(name, columns, head)
    return _holds_rewards(name, columns, head) if answer is False else answer


def _holds_rewards(name: str, columns: Sequence[str], head: bytes) -> bool | None:
    """Whether a column is a reward and the first row, below the header, has numbers only.

    A score may be a pupil's. In a file named after a training rows may say when each was logged,
    and other cells hold words.
    """
    rewards = [each for each in columns if metric_names.is_reward(each)]
    if len(columns) < _MIN_COLUMNS or all("score" in each.lower() for each in rewards):
        return False
    answer = _holds_numbers(columns, head)
    cells = _first_row(columns, head) if _LOG_FILE_NAME.search(name) else ()
    if answer is not False or not any(parse_unix_time(each) > 0.0 for each in cells or ()):
        return answer
    pairs = zip(columns, cells or (), strict=False)
    numbers = [parse_number(cell) for each, cell in pairs if "reward" in each.lower()]
    return bool(numbers) and None not in numbers


def _numbers_episodes(name: str, columns: Sequence[str], head: bytes) -> bool | None:
    """Whether rows are numbered, as pandas does, and have the steps and the reward of an episode.

    In a file named after a training that may be a game's score, and other cells hold anything.
    """
    is_training = _REWARD_FILE_NAME.search(name) or metric_names.names_algorithm(name)
    steps = [metric_names.is_bare_count(column) for column in columns]
    rewards = [metric_names.is_reward(column) for column in columns]
    if columns[0] or not (is_training and any(steps) and any(rewards)):
        return False
    cells = _first_row(columns, head)
    if not cells:
        return cells if cells is None else False
    read = [cell for cell, *kinds in zip(cells, steps, rewards, strict=True) if any(kinds)]
    return cells[0] in _FIRST_NUMBERS and None not in map(parse_number, read)


def _holds_numbers(columns: Sequence[str], head: bytes) -> bool | None:
    """Whether the first row has numbers only; None if it is not complete yet."""
    cells = _first_row(columns, head)
    return cells if cells is None else bool(cells) and None not in map(parse_number, cells)


def _first_row(columns: Sequence[str], head: bytes) -> Sequence[str] | None:
    """The cells of the first row, none if they are not those of the columns.

    None if the row is not complete yet.
    """
    row, end, _ = head.partition(b"\n")[2].partition(b"\n")
    if not end:
        return None if len(head) < HEAD_BYTES else ()
    header = head.partition(b"\n")[0].decode("utf-8", "replace")
    cells = row.decode("utf-8", "replace").strip().split(find_delimiter(header))
    return cells if len(cells) == len(columns) else ()


def claims_sb3(name: str, head: bytes) -> bool | None:
    """Whether a progress.csv is Stable-Baselines3's; its header may still grow until it says so."""
    answer = claims(name, head)
    columns = column_names(head) or []
    ours = any(column.startswith(("time/", "rollout/", "train/")) for column in columns)
    if ours and answer is False:
        return None
    return ours if answer else answer


def claims_lightning(name: str, head: bytes) -> bool | None:
    """Whether a metrics.csv is that of Lightning's CSVLogger, which has these two columns."""
    answer = claims(name, head)
    return {"epoch", "step"} <= set(column_names(head) or ()) if answer else answer
