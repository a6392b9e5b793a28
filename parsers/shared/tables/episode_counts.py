"""Tells the steps of one episode from those of all so far, in rows that say an episode as well.

And those so far from how many there will be: `"timestep": 300, "total_timesteps": 100000`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Generic, TypeVar

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.parsers.shared.names.axes import STEP_KEYS, find_step_key
from ppo_top.parsers.shared.names.metric_names import (
    counts_episodes,
    is_bare_count,
    is_reward,
    normalise,
    step_axis,
)
from ppo_top.parsers.shared.tables.rising_counter import RisingCounter
from ppo_top.parsers.shared.text.number_text import as_step

ENOUGH_ROWS = 4
"""The lengths of as many episodes rise by chance once in 24 logs."""
_SHORT_EPISODE, _SHORT_EPISODES = 0.3, 0.05
"""The next episode, where each has a row, is seldom shorter than this part of the mean one so far,
and several are never: the first row may stand in the midst of a long one."""
_LENGTHS_SHOWN, _MOST_LENGTHS = 3, 8
"""So many falls within so many rows show that bare steps beside a reward are an episode's; two
rises at once that they are not."""
_SHORT_PARTS, _MANY_PARTS = 4, 8
"""Steps of a whole document that begin anew so often, after so few rows on average, are those of
parts of the training."""
_SURE_NAMES = frozenset({"steps", "episodes"})
"""Running counts of the old baselines and of PFRL."""

_TOTAL = "totaltimesteps"
"""Of all so far, or of the whole training; the latter stays as it is."""

_MAX_WAITING = 64
WaitingRow = TypeVar("WaitingRow")

STEPS, EPISODE, NEITHER = "timesteps", "episode", ""


class EpisodeAndSteps(NamedTuple):
    """What a row says of both."""

    episode: int
    steps: int


def read_counts(row: Mapping[str, float | None]) -> EpisodeAndSteps | None:
    """The episode and the bare steps of a row; None if one of both is not there."""
    names = count_names(tuple(row))
    if names is None:
        return None
    episode, steps = as_step(row[names[0]]), as_step(row[names[1]])
    return None if episode is None or steps is None else EpisodeAndSteps(episode, steps)


@lru_cache(maxsize=256)
def count_names(names: tuple[str, ...]) -> tuple[str, str] | None:
    """The names of the episode and of bare steps; None if one of both is not there."""
    episode = next(filter(counts_episodes, names), None)
    steps = next(filter(is_bare_count, names), None)
    return None if episode is None or steps is None else (episode, steps)


@lru_cache(maxsize=256)
def total_names(names: tuple[str, ...]) -> tuple[str, str] | None:
    """The names of a total of timesteps and of steps beside it; None if one is not there."""
    total = find_step_key(names)
    if total is None or normalise(total) != _TOTAL:
        return None
    rest = [name for name in names if step_axis(name) in ("timesteps", "step") and name != total]
    return (total, rest[0]) if rest else None


def is_planned(seen: Sequence[tuple[int, int]]) -> bool:
    """Whether a total stays, and the steps beside it rise up to it at most."""
    totals, steps = {total for total, _ in seen}, [step for _, step in seen]
    return len(totals) == 1 and steps[0] < steps[-1] <= max(totals) and _rises(steps)


def counting_on(seen: Sequence[EpisodeAndSteps]) -> str:
    """Which of both counts on in these rows, the steps if both do."""
    first, last = seen[0], seen[-1]
    if first.steps < first.episode:  # updates of many episodes each, unless they do not rise
        rising = len(seen) > 1 and all(one.steps < other.steps for one, other in pairwise(seen))
        return STEPS if rising else EPISODE
    episodes = last.episode - first.episode
    counts = episodes > 0 and _rises([each.episode for each in seen])
    if _rises([each.steps for each in seen]):
        share = _SHORT_EPISODE if episodes == len(seen) - 1 else _SHORT_EPISODES
        least = share * episodes * first.steps / max(first.episode, 1)
        return EPISODE if counts and last.steps - first.steps < least else STEPS
    if counts:
        return EPISODE
    return STEPS if any(_begins_anew(seen[0], *pair) for pair in pairwise(seen)) else NEITHER


def may_be_lengths(names: Sequence[str]) -> str | None:
    """The step of a table whose name leaves open whose it is, beside a reward and no episode."""
    key = find_step_key(names)
    is_open = key is not None and is_bare_count(key) and not any(map(counts_episodes, names))
    return key if is_open and any(map(is_reward, names)) else None


def coarse_key(names: Sequence[str]) -> str | None:
    """The epoch, where it is what holds the step and a finer count stands beside it."""
    key = find_step_key(names)
    if key is None or step_axis(key) != "epoch":
        return None
    rest = [name for name in names if name != key]
    return key if find_step_key(rest) is not None else None


def tells_lengths(steps: Sequence[int]) -> bool | None:
    """Whether bare steps are the length of each episode; None until that is known.

    Steps that fall to the first one begin anew. From 0 or 1, or by as many as the first, two rows
    are enough to count on.
    """
    if not steps:
        return None
    falls = [after for before, after in pairwise(steps) if after < before]
    if len(steps) < _MOST_LENGTHS:
        is_even = steps[0] in (0, 1) or steps[-1] % steps[0] == 0
        is_enough = len(steps) > 2 or (len(steps) > 1 and is_even and steps[1] > steps[0])
        return False if is_enough and not falls else None
    return len(falls) >= _LENGTHS_SHOWN and any(step != steps[0] for step in falls)


def are_of_parts(steps: Sequence[int]) -> bool:
    """Whether the bare steps of a whole document begin anew all the time."""
    falls = sum(after < before for before, after in pairwise(steps))
    return falls >= _MANY_PARTS and falls * _SHORT_PARTS >= len(steps)


def _rises(counts: Sequence[int]) -> bool:
    return all(before <= after for before, after in pairwise(counts))


def _begins_anew(first: EpisodeAndSteps, before: EpisodeAndSteps, after: EpisodeAndSteps) -> bool:
    """Whether both are back at the first row's."""
    return after.steps < before.steps and after.steps <= first.steps and after.episode <= first[0]


class StepsOfEpisodes:
    """Counts on where the step begins anew with the next episode: `1,104`, then `2,0`.

    Until then the first episode's steps cannot be told from those of all so far. Where each episode
    has one row, its steps are its length, and none is counted on.
    """

    def __init__(self) -> None:
        self._before = 0
        """Steps of the episodes that are over."""
        self._last = EpisodeAndSteps(-1, 0)
        self._has_several_rows = False
        """Whether an episode has had more than one row."""

    def count_on(self, episode: float | None, step: int) -> int:
        """The step in all episodes of a row's step in its own."""
        number = as_step(episode)
        last, now = self._last, self._last.episode if number is None else number
        self._has_several_rows |= number == last.episode and step != last.steps
        falls = step < last.steps or (step == last.steps and self._before > 0)  # one row long
        if falls and self._has_several_rows and now == last.episode + 1:
            self._before += last.steps + (1 if step == 0 else 0)
        elif now < last.episode:  # a run that began anew
            self._before = 0
        self._last = EpisodeAndSteps(now, step)
        return self._before + step


class TableStep(Generic[WaitingRow]):
    """The column of the step in a table, which the first rows may have to tell: they wait here."""

    def __init__(self) -> None:
        self._waiting: list[WaitingRow] = []
        self._names: tuple[str, ...] | None = None
        self._seen: list[EpisodeAndSteps] = []
        self._totals: list[tuple[int, int]] = []
        self._dropped: frozenset[str] = frozenset()
        self._is_open = False
        self._lengths_key: str | None = None
        self._lengths: list[int] = []
        self._coarse_key: str | None = None
        self._epochs: list[float] = []
        self._counter: RisingCounter | None = None
        self._counting: str | None = None

    def episode_key(self, names: Sequence[str]) -> str | None:
        """The column of episodes, where the step may turn out to be that of one of them."""
        found = count_names(tuple(names))
        is_bare = found is not None and not set(names) >= _SURE_NAMES
        return found[0] if found and is_bare and self.key_of(names) == found[1] else None

    @property
    def is_settled(self) -> bool:
        """Whether the columns were seen, and no more rows are needed."""
        return self._names is not None and not self._is_open

    @property
    def is_open(self) -> bool:
        """Whether more rows are needed to tell."""
        return self._is_open

    def read_names(self, names: Sequence[str]) -> None:
        """Look at the columns, once."""
        if self._names is not None:
            return
        self._names = tuple(names)
        found = count_names(self._names)
        is_sure = found is None or set(names) >= _SURE_NAMES
        self._is_open = not is_sure and found is not None and find_step_key(names) == found[1]
        self._coarse_key = coarse_key(self._names)
        self._is_open |= total_names(self._names) is not None or self._coarse_key is not None
        if not self._is_open:
            self._lengths_key = may_be_lengths(self._names)
            self._is_open = self._lengths_key is not None
        if find_step_key(names) is None:
            self._counter = RisingCounter(names)
            self._is_open = self._counter.is_possible

    def leave_out(self, name: str) -> None:
        """Look at the columns again, without one that turned out to hold no steps."""
        dropped = self._dropped | {name}
        names = [each for each in self._names or () if each not in dropped]
        self._names = self._lengths_key = self._counter = None
        self.read_names(names)
        self._dropped = dropped

    def key_of(self, names: Sequence[str]) -> str | None:
        """The column of the step, or None if rows have to be counted."""
        if self._counting in names:
            return self._counting
        return find_step_key([name for name in names if name not in self._dropped])

    def known(self, row: Mapping[str, object]) -> Mapping[str, object]:
        """A row without the columns that turned out not to hold the step.

        One that did, and whose name does not tell, has a name that does.
        """
        if self._counting is not None and self._counting in row:
            return {**row, STEP_KEYS[0]: row[self._counting]}
        if not self._dropped:
            return row
        return {name: value for name, value in row.items() if name not in self._dropped}

    def hold(self, row: WaitingRow, numbers: Mapping[str, float | None]) -> Sequence[WaitingRow]:
        """Keep one of the first rows; all of them once they tell where the step is."""
        self._waiting.append(row)
        if self._counter is not None:
            is_told = self._counter.add(numbers)
            return self.release() if is_told or len(self._waiting) >= _MAX_WAITING else ()
        if (totals := total_names(self._names or ())) is not None:
            total, step = (as_step(numbers.get(name)) for name in totals)
            if total is not None and step is not None:
                self._totals.append((total, step))
        elif (counts := read_counts(numbers)) is not None:
            self._seen.append(counts)
        epoch = numbers.get(self._coarse_key or "")
        if epoch is not None:
            self._epochs.append(epoch)
        step = as_step(numbers.get(self._lengths_key or ""))
        if step is not None:
            self._lengths.append(step)
            if tells_lengths(self._lengths) is not None:
                return self.release()
        is_enough = max(len(self._seen), len(self._totals), len(self._epochs)) >= ENOUGH_ROWS
        return self.release() if is_enough or len(self._waiting) >= _MAX_WAITING else ()

    def release(self) -> Sequence[WaitingRow]:
        """The rows that wait, if any: there are no more to look at."""
        if not self._is_open:
            return ()
        self._is_open = False
        if self._counter is not None:
            self._counting = self._counter.name()
        counting = counting_on(self._seen) if self._seen else STEPS
        names = self._names or ()
        if self._lengths_key is not None:
            if tells_lengths(self._lengths):
                self._dropped |= {self._lengths_key}
        elif counting != STEPS:
            self._dropped |= frozenset(filter(is_bare_count, names))
        if self._totals and is_planned(self._totals):
            self._dropped |= frozenset(filter(None, (total_names(names) or ())[:1]))
        if self._coarse_key and len(self._epochs) >= ENOUGH_ROWS and len(set(self._epochs)) == 1:
            self._dropped |= {self._coarse_key}
        if counting == NEITHER:
            self._dropped |= frozenset(filter(counts_episodes, names))
        rows, self._waiting = self._waiting, []
        return rows
