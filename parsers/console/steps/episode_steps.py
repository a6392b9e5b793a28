"""Tells the steps of one episode from those of all so far: `Episode 3 | Step 200 | ...`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.names.metric_names import counts_episodes, is_bare_count
from ppo_top.parsers.shared.text.number_text import as_step

_ENOUGH_RECORDS = 4
"""The lengths of as many episodes rise by chance once in 24 logs."""
_MAX_WAITING = 64
_SHORT_EPISODE = 0.3
"""The next episodes are seldom shorter than this part of the mean one so far; if they are, the
number of the episode is as right a step."""


class _Counts(NamedTuple):
    episode: int
    steps: int


class EpisodeSteps:
    """Gives records that say an episode and bare steps the one of both that counts on.

    The first records wait until a few are there. Where the steps fall later, the log does not say
    the step after all: `has_erred`, and its records have to be counted.
    """

    def __init__(self) -> None:
        self.has_erred = False
        self._waiting: list[ConsoleRecord] = []
        self._seen: list[_Counts] = []
        self._last_episode = math.nan
        self._axis: str | None = None
        """`timesteps` or `episode`, "" if neither counts on, None until that is known."""

    @property
    def bare_steps_count(self) -> bool | None:
        """Whether the bare steps are those of all episodes so far; None if that is unknown."""
        return self._axis == "timesteps" if self._axis else None

    @property
    def is_waiting(self) -> bool:
        """Whether records wait for others that tell what their steps count."""
        return bool(self._waiting)

    def may_wait(self, tags: tuple[str, ...]) -> bool:
        """Whether it is open yet what counts on in records of these tags."""
        return self._axis is None and _count_tags(tags) is not None

    def read(self, found: ConsoleRecord, before: int | None) -> Sequence[ConsoleRecord]:
        """The records that have their step, in order, this one the last of them.

        `before`: the step of the record before it.
        """
        counts = _counts_in(found)
        if self._axis is not None:
            if self._axis == "timesteps" and found.values:
                self._look_for_error(found, before)
            return (found if counts is None else self._settle(found, counts),)
        if counts is None and not self._waiting:
            return (found,)
        self._waiting.append(found)
        if counts is not None:
            self._seen.append(counts)
            if found.step is not None and counts.steps < counts.episode:
                self._axis = "episode"
        is_enough = len(self._seen) >= _ENOUGH_RECORDS or len(self._waiting) >= _MAX_WAITING
        return self.release() if is_enough or self._axis else ()

    def _look_for_error(self, found: ConsoleRecord, before: int | None) -> None:
        """Notice steps that fall while episodes go on."""
        tags, values = zip(*found.values, strict=True)
        names, last = _count_tags(tags), self._last_episode
        self.note_row(tags, values)
        if names is None or before is None or not self._last_episode > last:
            return
        if dict(found.values)[names[1]] < before:
            self.has_erred = True

    def release(self) -> Sequence[ConsoleRecord]:
        """The records that wait, with what the seen ones tell."""
        if not self._waiting:
            return ()
        ready, self._waiting = self._waiting, []
        if self._axis is None:
            says_step = any(found.step is not None for found in ready)
            self._axis = _counted_axis(self._seen, says_step=says_step)
        seen = [(found, _counts_in(found)) for found in ready]
        return [found if counts is None else self._settle(found, counts) for found, counts in seen]

    def note_row(self, tags: tuple[str, ...], values: Sequence[float]) -> None:
        """Note the newest row, or the last one of those that were read as a whole."""
        if (names := _count_tags(tags)) is not None:
            self._last_episode = values[tags.index(names[0])]

    def _settle(self, found: ConsoleRecord, counts: _Counts) -> ConsoleRecord:
        if self._axis == "timesteps":
            return found._replace(step=counts.steps, axis="timesteps")
        return found._replace(step=counts.episode, axis="episode") if self._axis else found


def _counted_axis(seen: Sequence[_Counts], *, says_step: bool) -> str:
    """What counts on; "" if the records say no step and nothing shows that one of both is it."""
    first, last = seen[0], seen[-1]
    rises = all(one.steps <= other.steps for one, other in pairwise(seen))
    episodes, steps = last.episode - first.episode, last.steps - first.steps
    if episodes <= 0:
        return "timesteps" if says_step else ""
    is_length = not rises or steps < _SHORT_EPISODE * episodes * first.steps / max(first.episode, 1)
    if says_step:
        return "episode" if is_length else "timesteps"
    return "" if is_length else "timesteps"


def _counts_in(found: ConsoleRecord) -> _Counts | None:
    """The episode and the bare steps of a record, unless it says its step by a clearer name."""
    if found.step is not None and found.axis not in ("timesteps", "step"):
        return None
    names = _count_tags(tuple([tag for tag, _ in found.values]))
    if names is None:
        return None
    row = dict(found.values)
    episode, steps = as_step(row[names[0]]), as_step(row[names[1]])
    if episode is None or steps is None or found.step not in (None, steps):
        return None
    return _Counts(episode, steps)


@lru_cache(maxsize=256)
def _count_tags(tags: tuple[str, ...]) -> tuple[str, str] | None:
    """The tags that say the episode and the steps of a kind of record."""
    episode = next(filter(counts_episodes, tags), None)
    steps = next(filter(is_bare_count, tags), None)
    return None if episode is None or steps is None else (episode, steps)
