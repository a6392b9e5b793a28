"""The curves of a whole JSON document: its lists of rows, and its lists of numbers under names.

Most hold one list of rows, or lists of one length. Others hold what happens at several paces: the
rewards of every episode, rows of every update, evaluations, pairs of a step and a loss.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from ppo_top.model import UNKNOWN_TIME, Batch, ConfigValue, Points, Problem
from ppo_top.parsers.shared.columns import ColumnBuilder
from ppo_top.parsers.shared.documents.final_evaluations import EVALUATION, placed_at_the_end
from ppo_top.parsers.shared.documents.json_rows import (
    JsonRow,
    in_rows,
    is_axis,
    is_pickled,
    is_stepped,
    unpickled,
    values_of,
)
from ppo_top.parsers.shared.documents.json_values import (
    flatten,
    number_of,
    settings_of,
    step_of,
    time_of,
)
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.axes import find_step_key
from ppo_top.parsers.shared.names.counter_names import may_count
from ppo_top.parsers.shared.tables.episode_counts import (
    EPISODE,
    STEPS,
    are_of_parts,
    count_names,
    counting_on,
    read_counts,
)
from ppo_top.parsers.shared.tables.rising_counter import counted_steps
from ppo_top.parsers.shared.text.number_text import as_step

_SETTINGS_KEYS = ("config", "args", "params", "hparams", "hyperparameters", "settings")
FEWEST_NUMBERS = 2
"""Of a list that may be a curve."""
_SAME_COUNT = (0.5, 1.1)
"""Between these shares of a run's last step ends a list of steps that counts as the run does."""

_STEPS_BESIDE = "_T"
_FIRST_ROWS = 8
"""So many tell whether steps beside an episode are its own."""
_PAIR = 2


def read_document(document: object) -> Batch:
    """The points and settings of a whole document."""
    if isinstance(document, dict):
        document = in_rows(document)
    lists = lists_of(document)
    tables = _tables_of(document)
    points, counts = _table_points(tables, lists) if tables else _curves(lists)
    points = [*placed_at_the_end(points, document)] if isinstance(document, dict) else points
    problems = [] if points else [Problem(0, "no rows and no lists of numbers")]
    return Batch(points, _settings(document), problems=problems, counts_updates=counts)


# --- lists of rows --------------------------------------------------------------------------------


def _tables_of(document: object) -> list[list[JsonRow]]:
    """The list of rows, or those that an object holds, the longest first.

    Lists of one metric's values, or of rows, each at its step, may lie deeper in it.
    """
    named = {"": document} if isinstance(document, list) else {}
    named = document if isinstance(document, dict) else named
    found = {
        name: values_of(name, value)
        or [_row_of(name, row) for row in value if isinstance(row, dict) and not is_pickled(row)]
        or _pairs_of(name, value)
        for name, value in named.items()
        if isinstance(value, list)
    }
    for name, value in flatten(_measured(named)):
        if name not in named and isinstance(value, list):
            found[name] = values_of(name, value) or _stepped_rows(name, value)
    return sorted(filter(None, found.values()), key=len, reverse=True)


def _stepped_rows(name: str, value: Sequence[object]) -> list[JsonRow]:
    """The rows of a list of nothing else, of which each says its step and a metric."""
    rows = [_row_of(name, row) for row in value if isinstance(row, dict)]
    are_rows = len(rows) == len(value) and all(any(map(is_axis, row)) for row in rows)
    return rows if are_rows and any(map(metric_names.is_metric, _measured_tags(rows))) else []


def _row_of(table: str, row: Mapping[str, object]) -> JsonRow:
    """A row's values under flat names, which say so if the table holds evaluations."""
    values = dict(flatten(row))
    if not EVALUATION.search(table):
        return values
    return {
        tag if is_axis(tag) or EVALUATION.search(tag) else f"eval/{tag}": value
        for tag, value in values.items()
    }


def _pairs_of(name: str, value: Sequence[object]) -> list[JsonRow]:
    """The rows of `"losses": [[100, 0.5], [200, 0.4]]`; none if it is something else."""
    pairs = [each for each in value if isinstance(each, list) and len(each) == _PAIR]
    steps = [as_step(first) for first, _ in pairs if isinstance(first, int | float)]
    rises = None not in steps and all(low < high for low, high in pairwise(filter(None, steps)))
    if not (metric_names.is_metric(name) and rises and len(steps) == len(value) >= FEWEST_NUMBERS):
        return []
    return [{"step": step, name: second} for step, (_, second) in zip(steps, pairs, strict=True)]


def _table_points(
    tables: Sequence[list[JsonRow]], lists: Mapping[str, list[float]]
) -> tuple[list[Points], bool]:
    """The points of all rows and of the lists beside them, and whether no row says its step.

    Rows and lists of other lengths were filled at other paces over the same run.
    """
    rows, *others = tables
    rows = _with_columns(rows, lists)
    counts, rows_steps = _steps_of_rows(rows)
    seen = _measured_tags(rows)
    tells_pace = not counts and (_rise_evenly(rows_steps) or not _hold_rewards(lists))
    if not tells_pace and not any(map(metric_names.is_metric, seen)):
        return _curves(lists)  # the levels of a game, with the rewards of each; or events
    rest = {tag: values for tag, values in lists.items() if len(values) != len(rows)}
    long = max((len(rest[tag]) for tag in rest if metric_names.is_reward(tag)), default=0)
    scale = range(1, max(long, len(rows)) + 1)
    builder = ColumnBuilder()
    for number, row, step in zip(_spread(scale, len(rows)), rows, rows_steps, strict=True):
        _add_row(builder, row, number if step is None else step, row)
    for other in others:
        tags = _measured_tags(other)
        if not counts and seen.isdisjoint(tags) and all(step_of(row) is not None for row in other):
            seen |= tags
            for row in other:
                _add_row(builder, row, step_of(row) or 0, tags)
    points = builder.pop_points()
    end = max((each.steps[-1] for each in points), default=0)
    return [*points, *_beside(rest, scale if counts else range(1, end + 1))], counts


def _rise_evenly(steps: Sequence[int | None]) -> bool:
    """Whether rows were written every so many steps, and not whenever something happened."""
    gaps = {(after or 0) - (before or 0) for before, after in pairwise(steps)}
    return len(steps) > _PAIR and len(gaps) == 1


def _hold_rewards(lists: Mapping[str, Sequence[float]]) -> bool:
    return any(map(metric_names.is_reward, lists))


def _measured_tags(rows: Sequence[JsonRow]) -> set[str]:
    """The names of numbers that are no axis."""
    numbers = {tag for row in rows for tag in row if number_of(tag, row[tag]) is not None}
    return {tag for tag in numbers if not is_axis(tag)}


def _beside(lists: Mapping[str, list[float]], scale: range) -> list[Points]:
    """The curves of those lists that have a metric among those of their length."""
    lengths = {
        len(lists[tag]) for tag in lists if metric_names.is_metric(tag) and not is_stepped(tag)
    }
    kept = {tag: values for tag, values in lists.items() if len(values) in lengths}
    return _curves(kept, scale)[0] if scale else []


def _with_columns(rows: list[JsonRow], lists: Mapping[str, Sequence[float]]) -> list[JsonRow]:
    """The rows with the numbers of each list that has one for each of them.

    Steps that the rows say themselves are theirs.
    """
    has_step = step_of(rows[-1]) is not None
    columns = {
        tag: values
        for tag, values in lists.items()
        if len(values) == len(rows) >= FEWEST_NUMBERS and not (has_step and is_stepped(tag))
    }
    return [
        {**{tag: values[place] for tag, values in columns.items()}, **row}
        for place, row in enumerate(rows)
    ]


def _steps_of_rows(rows: Sequence[JsonRow]) -> tuple[bool, list[int | None]]:
    """The step that each row says, and whether the rows are counted instead.

    Where a step is that of an episode, the episode is; where both begin anew all the time, neither.
    """
    steps = [step_of(row) for row in rows]
    if steps[-1] is None and (counted := counted_steps(map(_numbers_of, rows))):
        return False, [*counted]
    names = count_names(tuple(rows[-1]))
    if names is None:
        return steps[-1] is None, steps
    numbers = ({tag: number_of(tag, row.get(tag)) for tag in names} for row in rows)
    seen = [found for row in numbers if (found := read_counts(row)) is not None]
    if len(seen) < len(rows) or steps[-1] != seen[-1].steps:
        return steps[-1] is None, steps
    axis = counting_on(seen[:_FIRST_ROWS])
    if axis == EPISODE:
        return False, [each.episode for each in seen]
    if axis == STEPS and not are_of_parts([each.steps for each in seen]):
        return False, steps
    return True, [None] * len(rows)


def _numbers_of(row: JsonRow) -> dict[str, float | None]:
    return {tag: number_of(tag, value) for tag, value in row.items()}


def _add_row(
    builder: ColumnBuilder, row: Mapping[str, object], step: int, tags: Collection[str]
) -> None:
    """Add a row at its step."""
    time = time_of(row)
    for tag, value in row.items():
        point = number_of(tag, value) if tag in tags else None
        if point is not None:
            builder.add_point(tag, step, time, point)


# --- lists of numbers -----------------------------------------------------------------------------


def lists_of(document: object) -> dict[str, list[float]]:
    """The lists of numbers that an object holds, but for those of its settings."""
    if not isinstance(document, dict):
        return {}
    found = flatten(_measured(document))
    return {tag: curve for tag, value in found if (curve := curve_of(tag, value))}


def _measured(document: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in document.items() if name not in _SETTINGS_KEYS}


def curve_of(tag: str, value: object) -> list[float] | None:
    """The numbers of a list that holds nothing else."""
    if not isinstance(value, list):
        return None
    numbers = [number_of(tag, unpickled(each)) for each in value]
    known = [each for each in numbers if each is not None]
    return known if len(known) == len(numbers) else None


def _curves(
    lists: Mapping[str, list[float]], scale: range | None = None
) -> tuple[list[Points], bool]:
    """Each list of numbers as a curve, and whether nothing says their steps.

    The rewards' list tells how long the run is, unless rows beside it do. A list of another length
    was filled at another pace over the same run: it is spread over it, or has steps of its own.
    """
    long = {tag: curve for tag, curve in lists.items() if len(curve) >= FEWEST_NUMBERS}
    is_stated = any(tag + _STEPS_BESIDE in lists for tag in lists) or any(_counts_of(lists, 1))
    if not long and any(map(metric_names.is_metric, lists)) and is_stated:
        long = dict(lists)  # of a run that has just begun
    if not long:
        return [], False
    rewards = [tag for tag in long if metric_names.is_reward(tag)]
    length = max(len(long[tag]) for tag in rewards or long)
    counts = {size: [*_counts_of(long, size)] for size in {*map(len, long.values())}}
    stated = None if scale else next(iter(counts[length]), None)
    steps = stated[1] if stated else scale or range(1, length + 1)
    said = {
        size: next((each for each in found if _count_alike(each[1], steps)), found[0])
        for size, found in counts.items()
        if found
    }
    axes = {tag for tag, _ in said.values()} | {*filter(is_stepped, long)}
    beside = {tag: beside for tag in long if (beside := _steps_beside(long, tag))}
    axes |= {tag for tag in long if beside and tag.endswith(_STEPS_BESIDE)}
    curves = []
    kept = {stated[0]} if stated and metric_names.numbers_steps(stated[0]) else set()
    for tag in (each for each in long if each not in axes - kept):
        values = array("d", long[tag])
        own = said.get(len(values))
        is_own = own and _count_alike(own[1], steps)
        known = beside.get(tag) or (own[1] if own and is_own else None)
        at = array("q", known or _spread(steps, len(values)))
        curves.append(Points(tag, at, array("d", [UNKNOWN_TIME]) * len(at), values))
    return curves, stated is None and not beside


def _steps_beside(lists: Mapping[str, Sequence[float]], tag: str) -> list[int] | None:
    """The steps of a list in the one beside it: `loss` and `loss_T`, as PyMARL has them."""
    stated = [as_step(each) for each in lists.get(tag + _STEPS_BESIDE, ())]
    known = [step for step in stated if step is not None]
    is_whole = len(known) == len(stated) == len(lists[tag])
    return known if is_whole and known == sorted(known) else None


def _spread(steps: Sequence[int], count: int) -> Iterator[int]:
    """So many steps of a run, the last one its end."""
    ends = (len(steps) * (place + 1) // count for place in range(count))
    return (steps[max(end - 1, 0)] for end in ends)


def _count_alike(own: Sequence[int], steps: Sequence[int]) -> bool:
    least, most = _SAME_COUNT
    return least * steps[-1] <= own[-1] <= most * steps[-1]


def _counts_of(
    lists: Mapping[str, Sequence[float]], length: int
) -> Iterator[tuple[str, list[int]]]:
    """The lists that may say the steps of those of their length, the best first, and the steps."""
    of_length = [tag for tag in lists if len(lists[tag]) == length]
    axes = {tag: metric_names.step_axis(tag.rpartition("/")[2]) for tag in of_length}
    tags = [tag for axis in metric_names.STEP_AXES for tag in of_length if axes[tag] == axis]
    loose = [tag for tag in of_length if _ends_in_steps(tag) or may_count(tag)]
    for tag in (*tags, find_step_key(of_length), *loose):
        known = [step for each in lists.get(tag or "", ()) if (step := as_step(each)) is not None]
        rises = known == sorted(known) and (tag not in loose or len({*known}) == length)
        if tag and len(known) == length and rises:
            yield tag, known


def _ends_in_steps(tag: str) -> bool:
    """Whether the name says whose steps they are, as `eval_timesteps` and `eval_episodes` do."""
    last = tag.rpartition("_")[2]
    return metric_names.is_bare_count(last) or metric_names.counts_episodes(last)


# --- settings -------------------------------------------------------------------------------------


def _settings(document: object) -> dict[str, ConfigValue]:
    """What stands in an object beside its lists."""
    if not isinstance(document, dict):
        return {}
    plain = {name: value for name, value in document.items() if not isinstance(value, list)}
    for name in _SETTINGS_KEYS:
        settings = plain.pop(name, None)
        plain |= settings if isinstance(settings, dict) else {}
    return dict(settings_of(plain))
