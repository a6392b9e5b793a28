"""Tells the steps of one episode from those of all so far: `Episode 3 | Step 200 | ...`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.names import metric_names
from ppo_top.parsers.shared.tables.episode_counts import (
    ENOUGH_ROWS,
    EPISODE,
    STEPS,
    EpisodeAndSteps,
    count_names,
    counting_on,
    read_counts,
)

_MAX_WAITING = 64
_OPEN_AXES = ("timesteps", "step")
"""What a step counts whose name may be that of an episode's steps."""


class EpisodeSteps:
    """Gives records that say an episode and bare steps the one of both that counts on.

    The first records wait until a few are there. Where the steps fall later, they count on from the
    episode before if that had several records (`i_ep 0: step: 500`, ..., `i_ep 1: step: 0`); else
    the log does not say the step after all: `has_erred`, and its records have to be counted.
    """

    def __init__(self) -> None:
        self.has_erred = False
        self._waiting: list[ConsoleRecord] = []
        self._seen: list[EpisodeAndSteps] = []
        self._last_episode = math.nan
        self._has_several_rows = False
        """Whether an episode has had more than one record."""
        self.steps_before = 0
        """Of the episodes that are over, where the steps begin anew in each."""
        self._axis: str | None = None
        """`timesteps` or `episode`, "" if neither counts on, None until that is known."""

    @property
    def bare_steps_count(self) -> bool | None:
        """Whether the bare steps are those of all episodes so far; None if that is unknown."""
        return self._axis == STEPS if self._axis else None

    @property
    def is_waiting(self) -> bool:
        """Whether records wait for others that tell what their steps count."""
        return bool(self._waiting)

    @property
    def has_turned(self) -> bool:
        """Whether the steps have begun anew in an episode, and count on."""
        return self.steps_before > 0

    def may_follow(self, tags: tuple[str, ...]) -> bool:
        """Whether it is known how the steps of records with these names count on."""
        return not self.has_turned or count_names(tags) is not None

    def may_wait(self, tags: tuple[str, ...], axis: str) -> bool:
        """Whether it is open yet what counts on in records of these tags, whose step is this."""
        return self._axis is None and axis in _OPEN_AXES and count_names(tags) is not None

    def read(self, found: ConsoleRecord, before: int | None) -> Sequence[ConsoleRecord]:
        """The records that have their step, in order, this one the last of them.

        `before`: the step of the record before it.
        """
        counts = _counts_in(found)
        if self._axis is not None:
            if self._axis == STEPS and found.values:
                self._look_for_error(found, before)
            return (self._settle(found, counts) if counts else self._follow(found),)
        if counts is None and not self._waiting:
            return (found,)
        self._waiting.append(found)
        if counts is not None:
            self._seen.append(counts)
        is_enough = len(self._seen) >= ENOUGH_ROWS or len(self._waiting) >= _MAX_WAITING
        return self.release() if is_enough else ()

    def _look_for_error(self, found: ConsoleRecord, before: int | None) -> None:
        """Notice steps that fall while episodes go on."""
        tags, values = zip(*found.values, strict=True)
        names, last = count_names(tags), self._last_episode
        self.note_row(tags, values)
        if names is None or before is None:
            return
        if self._last_episode < last:  # a run that began anew
            self.steps_before = 0
        steps = dict(found.values)[names[1]]
        falls = self.steps_before + steps < before + self.has_turned
        if not (falls and self._last_episode > last):
            return
        if self._has_several_rows and self._last_episode == last + 1:
            self.steps_before = before + (steps == 0)
        else:
            self.has_erred = True

    def release(self) -> Sequence[ConsoleRecord]:
        """The records that wait, with what the seen ones tell."""
        if not self._waiting:
            return ()
        ready, self._waiting = self._waiting, []
        says_step = any(found.step is not None for found in ready)
        self._axis = _counted_axis(self._seen, says_step=says_step)
        for each in self._seen:
            self._note_episode(each.episode)
        seen = [(found, _counts_in(found)) for found in ready]
        return [found if counts is None else self._settle(found, counts) for found, counts in seen]

    def note_row(self, tags: tuple[str, ...], values: Sequence[float]) -> None:
        """Note the newest row, or the last one of those that were read as a whole."""
        if (names := count_names(tags)) is not None:
            self._note_episode(values[tags.index(names[0])])

    def _note_episode(self, episode: float) -> None:
        self._has_several_rows |= episode == self._last_episode
        self._last_episode = episode

    def _settle(self, found: ConsoleRecord, counts: EpisodeAndSteps) -> ConsoleRecord:
        if self._axis == STEPS:
            return found._replace(step=self.steps_before + counts.steps, axis=STEPS)
        return found._replace(step=counts.episode, axis=EPISODE) if self._axis else found

    def _follow(self, found: ConsoleRecord) -> ConsoleRecord:
        """A record that says bare steps without their episode, behind one that said it."""
        if found.step is None or not self.has_turned:
            return found
        names = [tag for tag, value in found.values if value == found.step]
        is_bare = any(map(metric_names.is_bare_count, names))
        return found._replace(step=found.step + self.steps_before) if is_bare else found


def _counted_axis(seen: Sequence[EpisodeAndSteps], *, says_step: bool) -> str:
    """What counts on; "" if the records say no step and nothing shows that one of both is it."""
    counting = counting_on(seen)
    if says_step:
        return counting or STEPS
    both_rise = counting == STEPS and seen[-1].episode > seen[0].episode
    return STEPS if both_rise else ""


def _counts_in(found: ConsoleRecord) -> EpisodeAndSteps | None:
    """The episode and the bare steps of a record, unless it says its step by a clearer name."""
    if found.step is not None and found.axis not in _OPEN_AXES:
        return None
    counts = read_counts(dict(found.values))
    return counts if counts is not None and found.step in (None, counts.steps) else None
