"""Counters that begin anew within another one: `Epoch 1/3` to `3/3` below each `Game 7/100`.

The axis is then the outer counter. Where the inner one came first, or has printed too much before
the outer one went on, its steps have been given away: it counts on from lap to lap.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.shared.names.metric_names import TOTAL_SETTINGS, normalise, step_axis
from ppo_top.parsers.shared.text.number_text import is_start

_MAX_WAITING = 64
_MOST_NUMBERS = 20
"""Of a counter that is waited for, unless it says where it ends."""
_MAX_COUNTERS = 16
_ROW_AXES = frozenset({"iteration", "epoch", "episode"})
"""What may be an outer counter. Steps are finer than all of these: they count on."""


class NestedCounters:
    """Gives records whose counter began anew within another one the step of that.

    Where a second counter appears, records wait until one of both has told which is the outer one.
    """

    def __init__(self) -> None:
        self._waiting: list[ConsoleRecord] = []
        self._newest: dict[str, int] = {}
        """The number of each counter, all laps taken together."""
        self._first: dict[str, int] = {}
        self._before: dict[str, int] = {}
        """The steps of the laps that are over, of counters that count on."""
        self._rises: dict[str, int] = {}
        self._rises_at: dict[str, dict[str, int]] = {}
        """How often each has risen, and had when another one was said."""
        self._open: dict[str, int] = {}
        """How much is waited for, of those that may begin anew yet."""
        self._given_up: set[str] = set()
        """Those of which that was not known before too much was waiting."""
        self._inner: set[str] = set()
        self._outer: set[str] = set()
        """Those within which one begins anew that is the axis all the same."""
        self._totals: dict[str, float] = {}
        """Where counters end, as far as records say it."""
        self._end_laps: set[str] = set()
        """Those that end in each lap."""

    @property
    def is_waiting(self) -> bool:
        """Whether records wait for others that tell which counter is the outer one."""
        return bool(self._waiting)

    @property
    def are_nested(self) -> bool:
        """Whether a counter has begun anew within another one."""
        return bool(self._inner or self._outer)

    @property
    def has_turned(self) -> bool:
        """Whether steps count on that begin anew in the log."""
        return any(self._before.values())

    def read(self, found: ConsoleRecord, axis: str, *, may_begin: bool) -> Sequence[ConsoleRecord]:
        """The records that have their step, in order, this one the last of them.

        `axis`: what the steps count that have been given away. `may_begin`: it may be the first
        record of another training, as something else says.
        """
        found = self._by_shown_counter(found)
        if found.step is not None and _counts(found):
            found = self._read_counters(found, found.step, axis, may_begin=may_begin)
        if not self._waiting and not self._open:
            return (self._settled(found),)
        self._waiting.append(found)
        if self._open and len(self._waiting) < _MAX_WAITING:
            return ()
        return self.release()

    def _by_shown_counter(self, found: ConsoleRecord) -> ConsoleRecord:
        """The record by the counter beside a hidden one: that is the finer one of the two.

        `Iteration 1/10, Episode 2/20` has come after `Iteration 1/10, Episode 1/20`.
        """
        if found.step is None or _name_of(found) not in self._inner or not _counts(found):
            return found
        shown = ((n, k) for n, k in _counters_in(found) if n not in self._hidden)
        name, number = next(shown, ("", 0))
        return found._replace(step=number, axis=step_axis(name) or "") if name else found

    def release(self) -> Sequence[ConsoleRecord]:
        """The records that wait: each counter that is still open counts for itself."""
        self._give_up(*self._open)
        ready, self._waiting = self._waiting, []
        return [self._settled(found) for found in ready]

    def note_rows(
        self, tags: Sequence[str], values: Sequence[float], steps: Sequence[int], axis: str
    ) -> None:
        """Note rows that were read as a whole, whose steps never fell."""
        pairs = list(zip(tags, values[-len(tags) :], strict=True))
        found = ConsoleRecord(pairs, steps[-1], axis)
        if not _counts(found):
            return
        name = _name_of(found)
        if name not in self._newest and len(self._newest) >= _MAX_COUNTERS:
            return
        for place, (tag, _) in enumerate(pairs):
            for number in _numbers_of(tag, values[place :: len(tags)]):
                if normalise(tag) != name:
                    self._note(normalise(tag), number)
        for step in steps:
            self._note(name, step)
        self._rises_at[name] = dict(self._rises)

    def hides(self, tags: Sequence[str], axis: str) -> bool:
        """Whether the steps of lines with these names are, or may be, of one within another."""
        if not (self.are_nested or self._given_up):
            return False
        name = _name_of(ConsoleRecord([(tag, 0.0) for tag in tags], axis=axis))
        return name in self._hidden or self._may_open(name, tags)

    def _may_open(self, name: str, tags: Sequence[str]) -> bool:
        """Whether one that was given up has gone on, or does so in these lines: see `_count_on`."""
        others = {*map(normalise, tags)} - {name}
        return not self._given_up.isdisjoint({*others, *self._rises_since(name, others)})

    @property
    def _hidden(self) -> set[str]:
        return self._inner | self._outer

    def falls(self, axis: str, step: int) -> bool:
        """Whether the counter that has no other name than what it counts has been further."""
        return step < self._newest.get(normalise(axis), step)

    def _note(self, name: str, number: int) -> None:
        number += self._before.get(name, 0)
        known = self._newest.get(name)
        if known is None and len(self._newest) >= _MAX_COUNTERS:
            return
        self._first.setdefault(name, number)
        self._rises[name] = self._rises.get(name, 0) + (known is None or number > known)
        self._newest[name] = number

    def _read_counters(
        self, found: ConsoleRecord, step: int, axis: str, *, may_begin: bool
    ) -> ConsoleRecord:
        name = _name_of(found)
        if name not in self._newest and len(self._newest) >= _MAX_COUNTERS:
            return found
        for other, number in _counters_in(found):
            if other != name:
                self._note(other, number)
        rises = self._rises_since(name, {other for other, _ in _counters_in(found)})
        if name not in self._newest:
            if rises and found.axis in _ROW_AXES:
                self._open[name] = _length_of(found)
        elif self._begins_anew(name, step, found) or (rises and self._ends_again(name, found)):
            is_given = found.axis == axis and name not in self._open
            may_hide = _may_hide(found.axis, rises) and not is_given
            self._begin_lap(name, step, rises, may_hide=may_hide, may_begin=may_begin)
        elif rises:
            self._count_on(name, step, rises, found)
        self._note(name, step)
        if self._rises[name] > self._open.get(name, self._rises[name]):
            self._give_up(name)
        self._rises_at[name] = dict(self._rises)
        return self._with_total(found, name)._replace(step=self._newest[name])

    def _with_total(self, found: ConsoleRecord, name: str) -> ConsoleRecord:
        """The record with the end of all laps, where the end that it says is that of each.

        So it is where the counter is further than the outer one: `Epoch 1/3 | Step 30/60`.
        """
        for other in {name, *(other for other, _ in _counters_in(found))}:
            if total := found.config.get(TOTAL_SETTINGS[step_axis(other) or found.axis]):
                self._totals[other] = float(total)
        setting = TOTAL_SETTINGS[found.axis]
        length, step = found.config.get(setting), found.step or 0
        outer = [other for other in self._totals if other in self._newest and other != name]
        if not length or len(outer) != 1:
            return found
        total = self._totals[outer[0]]
        if name in self._before or step * total > self._newest[outer[0]] * float(length):
            self._end_laps.add(name)
        if name not in self._end_laps:
            return found
        return found._replace(config={**found.config, setting: float(length) * total})

    def _count_on(
        self, name: str, step: int, rises: Mapping[str, int], found: ConsoleRecord
    ) -> None:
        """A counter goes on where others did, which may be in the same line."""
        if self._open.pop(name, 0):
            here = {other for other, _ in _counters_in(found)}
            if step == self._newest[name] or here.isdisjoint(rises):
                self._inner.add(name)
        elif not self._given_up.isdisjoint(rises):
            self._given_up.clear()
            self._open[name] = _MOST_NUMBERS + self._rises[name]

    def _give_up(self, *names: str) -> None:
        self._given_up.update(names)
        for name in names:
            del self._open[name]

    def _rises_since(self, name: str, here: Collection[str]) -> dict[str, int]:
        """How often the outer counters, as far as known, have gone on since this one did.

        `here`: those of the same line, which are not within this one.
        """
        at = self._rises_at.get(name, {})
        rises = {other: number - at.get(other, 0) for other, number in self._rises.items()}
        last = self._newest.get(name)
        return {
            other: number
            for other, number in rises.items()
            if number > 0
            and other != name
            and (other not in self._inner or other in here)
            and step_axis(other) in _ROW_AXES
            and self._newest[other] != last  # else it says the same: `global_iter=10`
        }

    def _begins_anew(self, name: str, step: int, found: ConsoleRecord) -> bool:
        last = self._newest[name] - self._before.get(name, 0)
        if step == last and name in self._open:  # a lap of a single number
            return step == self._first[name] and len(dict(_counters_in(found))) == 1
        return step < last and is_start(step, self._first[name], last)

    def _ends_again(self, name: str, found: ConsoleRecord) -> bool:
        """Whether it is at its end, as in the record before: `Epoch 3/60 - Step 100/100`."""
        last = self._newest[name] - self._before.get(name, 0)
        return found.step == last == found.config.get(TOTAL_SETTINGS[found.axis])

    def _begin_lap(
        self, name: str, step: int, rises: dict[str, int], *, may_hide: bool, may_begin: bool
    ) -> None:
        if name in self._inner:
            return
        is_single = 1 in rises.values() and not may_begin
        if rises and may_hide:
            self._inner.add(name)
        elif rises and (is_single or name in self._open):
            self._outer |= rises.keys()
            self._open = {k: v for k, v in self._open.items() if k not in rises}
            self._before[name] = self._newest[name] + (step == 0)
        else:
            self._before.pop(name, None)  # a run that began anew
        if rises:
            self._open.pop(name, None)

    def _settled(self, found: ConsoleRecord) -> ConsoleRecord:
        """The record without the step of a counter that is not the axis."""
        if found.step is None or not (self.are_nested and _counts(found)):
            return found
        hidden = self._hidden
        if _name_of(found) not in hidden:
            return found
        config = {k: v for k, v in found.config.items() if k != TOTAL_SETTINGS[found.axis]}
        found = found._replace(step=None, axis="", config=config)
        for tag, value in found.values:
            for number in _numbers_of(tag, [value]):
                if normalise(tag) not in hidden:
                    return found._replace(step=number, axis=step_axis(tag) or "")
        return found


def _counts(found: ConsoleRecord) -> bool:
    """Whether a record says the number of a counter of the training.

    Whether the steps in a line of an episode are those of all is seen elsewhere.
    """
    if found.axis not in TOTAL_SETTINGS or found.is_evaluation or found.says_training:
        return False
    return found.axis in _ROW_AXES or all(step_axis(tag) != "episode" for tag, _ in found.values)


def _may_hide(axis: str, others: Iterable[str]) -> bool:
    """Whether the others may be the axis instead: an update is a row, except within iterations."""
    return axis != "iteration" or axis in {step_axis(other) for other in others}


def _length_of(found: ConsoleRecord) -> int:
    """Where a counter ends, if a record says so, else how much of it is waited for."""
    return int(found.config.get(TOTAL_SETTINGS[found.axis], 0)) or _MOST_NUMBERS


def _name_of(found: ConsoleRecord) -> str:
    """The name of the counter that is a record's step."""
    named = (tag for tag, _ in found.values if step_axis(tag) == found.axis)
    return normalise(next(named, found.axis))


def _counters_in(found: ConsoleRecord) -> Iterator[tuple[str, int]]:
    """The names and numbers of a record that may be those of an outer counter."""
    for tag, value in found.values:
        for number in _numbers_of(tag, [value]):
            yield normalise(tag), number


def _numbers_of(tag: str, values: Sequence[float]) -> Iterator[int]:
    if step_axis(tag) in _ROW_AXES:
        yield from (int(value) for value in values if float(value).is_integer())
