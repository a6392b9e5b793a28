"""Names of counters in any words: `game_num`, `ep`, `timesteps_so_far`, `Iterations done`.

A name alone does not tell that a column counts: its numbers have to rise as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.names.metric_names import word_set

_STEPS = word_set("step steps numsteps timestep timesteps frame frames sample samples t")
_ROWS = word_set(
    """
    episode episodes ep eps epi epis game games iteration iterations iter iters it itr update
    updates epoch epochs round rounds generation generations gen rollout rollouts trial trials
    cycle cycles i
    """
)
"""What a row of a table may be. `eps` is mostly the exploration rate, which does not rise."""
_WHOSE = word_set(
    """
    num number no n id idx index count counter nr total global current cumulative train training
    learn learning learner env environment so far done completed played finished gradient grad
    optimizer optimiser log time seen consumed processed trained on
    """
)
_BARE_STEPS = ("steps", "numsteps")
_PLURAL_ROWS = frozenset(word for word in _ROWS if word.endswith("s") and word != "eps")
_SO_FAR = word_set(
    "total global cumulative far env environment seen consumed processed trained train training"
)


class CounterKind(IntEnum):
    """What a name counts; the surest first."""

    ALL_STEPS = 0
    ROWS = 1
    STEPS = 2
    """Of all so far, or of an episode."""


def counters_of(names: Sequence[str]) -> list[tuple[CounterKind, str]]:
    """The names of columns that may count, the surest first, each with its kind."""
    kinds = [(kind, name) for name in names if (kind := _kind_of(name)) is not None]
    return sorted(kinds, key=lambda each: each[0])


def may_count(name: str) -> bool:
    """Whether a name of more than a letter may be that of a counter."""
    return len(name.rpartition("/")[2]) > 1 and _kind_of(name) is not None


def may_lead(name: str) -> bool:
    """Whether a console's line may begin with such a count, of rows or of any steps."""
    is_bare = _kind_of(name) == CounterKind.STEPS
    return may_count(name) and (not is_bare or metric_names.normalise(name) in _BARE_STEPS)


def is_counter(name: str) -> bool:
    """Whether a name numbers rows, or counts all steps so far; `episodes` may be how many.

    What stands in such a column makes a log of what is none otherwise.
    """
    words = metric_names.split_words(name.rpartition("/")[2])
    kind = _kind_of(name) if may_count(name) else None
    return kind == CounterKind.ALL_STEPS or (
        kind == CounterKind.ROWS and not _PLURAL_ROWS.intersection(words)
    )


def _kind_of(name: str) -> CounterKind | None:
    end = name.rpartition("/")[2]
    words = metric_names.split_words(end)
    counted = [word for word in words if word in _STEPS | _ROWS]
    if any(map(str.isdigit, end)):
        return None
    if len(counted) == 1 and _WHOSE.issuperset({*words} - {*counted}):
        is_step = counted[0] in _STEPS
    elif (axis := metric_names.step_axis(end)) is not None:
        is_step = axis in ("step", "timesteps")
    else:
        return None
    if not is_step:
        return CounterKind.ROWS
    return CounterKind.STEPS if _SO_FAR.isdisjoint(words) else CounterKind.ALL_STEPS
