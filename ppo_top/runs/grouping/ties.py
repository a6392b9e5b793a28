"""Which units of logs are one run: named reasons, the surest first.

Each reason is tried on all units before the next one. Units that were tied make a cluster; a weak
reason never ties clusters that hold the same kind of log or unequal values. The result depends on
the logs alone, never on the order in which they arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations, groupby, pairwise, product
from operator import itemgetter

from ppo_top.runs.grouping.clusters import SAME_FOLDER, Cluster
from ppo_top.runs.grouping.comparable_units import MAX_NEIGHBOURS, comparable_pairs
from ppo_top.runs.grouping.locations import (
    START_TIME_FOLDER,
    folders_above,
    is_same_or_nested,
    path_distance,
)
from ppo_top.runs.grouping.log_entry import CONSOLE, EVENTS, TRACKER
from ppo_top.runs.grouping.log_units import LogUnit
from ppo_top.runs.grouping.rotation import goes_on, resumes, rotation
from ppo_top.runs.grouping.same_values import Likeness, has_same_clock, parts_later
from ppo_top.runs.grouping.short_names import is_copy_name
from ppo_top.runs.grouping.unit_names import (
    named_units,
    pairs_of_one_name,
    units_by_folder_name,
)

JOINED_BY_USER = "joined in the settings"
PRINTED = "its path or name is printed in the console"
SAME_VALUES = "same values at the same steps"
ROTATED = "goes on where the log before it ended"
RESUMED = "resumes the training of the log before it"
SAME_COMMAND = "output of the same command"
SAME_PROCESS = "written by the same process"
SAME_NAME = "named like the folder"
ONLY_ONE = "the only log of its kind in the folder"

MAX_START_DIFFERENCE_S = 10.0
"""In folders side by side, first points further apart are those of a training that was repeated."""
MAX_ONLY_ONES = 8
"""No run has more kinds of logs than this."""

Compare = Callable[[LogUnit, LogUnit], Likeness]


class TieFinder:
    """Ties units into clusters; `compare` may remember what it was asked."""

    def __init__(self, units: Sequence[LogUnit], compare: Compare) -> None:
        self._units = units
        self._compare = compare
        self._cluster = {unit.id: Cluster(unit) for unit in units}
        self._below: dict[str, list[LogUnit]] = {}
        for unit in units:
            for folder in (unit.home, *folders_above(unit.home)):
                self._below.setdefault(folder, []).append(unit)

    def clusters(self) -> list[Cluster]:
        """All clusters, in order of their first unit."""
        ways = (
            self._tie_as_user_says,
            self._tie_streams,
            self._tie_rotated,
            self._tie_resumed,
            self._tie_printed,
            self._tie_same_values,
            self._tie_same_process,
            self._tie_tables,
            self._tie_same_names,
            self._tie_only_ones,
        )
        for way in ways:
            way()
        return list({id(each): each for each in self._cluster.values()}.values())

    # --- joining -----------------------------------------------------------------------------

    def _join(self, one: LogUnit, other: LogUnit, reason: str) -> None:
        ours, theirs = self._cluster[one.id], self._cluster[other.id]
        if ours is theirs:
            return
        ours.units += theirs.units
        ours.ties += [*theirs.ties, (one, other, reason)]
        for unit in theirs.units:
            self._cluster[unit.id] = ours

    def _pairs(self, one: LogUnit, other: LogUnit) -> Iterator[tuple[LogUnit, LogUnit]]:
        return product(self._cluster[one.id].units, self._cluster[other.id].units)

    def _is_split(self, one: LogUnit, other: LogUnit) -> bool:
        """Whether the user keeps the clusters of two units apart."""
        return any(ours.split_as != theirs.split_as for ours, theirs in self._pairs(one, other))

    def _fit(self, one: LogUnit, other: LogUnit) -> bool:
        """Whether nothing speaks against joining the clusters of two units."""
        return not self._is_split(one, other) and all(
            not ours.competes_with(theirs)
            and ours.started_with(theirs)
            and ours.trains_the_same(theirs)
            and not self._compare(ours, theirs).is_contradiction
            for ours, theirs in self._pairs(one, other)
        )

    # --- reasons -----------------------------------------------------------------------------

    def _tie_as_user_says(self) -> None:
        first: dict[object, LogUnit] = {}
        for unit in self._units:
            for match in sorted(unit.joined_as):
                self._join(first.setdefault(match, unit), unit, JOINED_BY_USER)

    def _tie_rotated(self) -> None:
        """`train.log.2`, `train.log.1`, `train.log`, as far as the steps of each go on."""
        by_log: dict[str, list[tuple[int, LogUnit]]] = {}
        for unit in self._units:
            if unit.kinds == {CONSOLE} and len(unit.logs) == 1:
                base, number = rotation(unit.logs[0].path)
                by_log.setdefault(base, []).append((-number, unit))
        for units in by_log.values():
            oldest_first = [unit for _, unit in sorted(units, key=itemgetter(0))]
            for older, newer in pairwise(oldest_first):
                follows = goes_on(older.logs[0].facts, newer.logs[0].facts)
                if follows and not self._is_split(older, newer):
                    self._join(older, newer, ROTATED)

    def _tie_resumed(self) -> None:
        """`out/runs/Nov21_00-40-41_node7`: transformers' Trainer begins another when resumed."""
        by_home: dict[str, list[LogUnit]] = {}
        for unit in self._units:
            folder = unit.location.unit.rpartition("/")[2]
            if unit.kinds == {EVENTS} and START_TIME_FOLDER.fullmatch(folder):
                by_home.setdefault(unit.home, []).append(unit)
        for units in by_home.values():
            for older, newer in pairwise(sorted(units, key=lambda unit: (unit.start, unit.id))):
                if resumes(older.heads, newer.heads) and not self._is_split(older, newer):
                    self._join(older, newer, RESUMED)

    def _tie_printed(self) -> None:
        """A console prints the path or the name of the run."""
        by_name = units_by_folder_name(self._units)
        for unit in self._units:
            found = named_units(unit, by_name)
            if any(one.competes_with(other) for one, other in combinations(found, 2)):
                continue  # the console of several runs
            for named in found:
                refuted = self._compare(unit, named).is_refuted
                if not refuted and not self._is_split(unit, named):
                    self._join(unit, named, PRINTED)

    def _tie_same_values(self) -> None:
        """The nearest first, those of a copy last: it has the same values as its original."""
        pairs = []
        for one, other in comparable_pairs(self._units, self._below):
            if self._is_same_training(one, other):
                crosses = is_copy_name(one.home) != is_copy_name(other.home)
                distance = path_distance(one.home, other.home)
                pairs.append((crosses, distance, one.id, other.id, one, other))
        for *_, one, other in sorted(pairs, key=lambda pair: pair[:4]):
            fits = all(
                not ours.competes_with(theirs)
                or _is_same_output(ours, theirs)
                or _is_other_part(ours, theirs)
                for ours, theirs in self._pairs(one, other)
            )
            if fits and not self._is_split(one, other):
                self._join(one, other, SAME_VALUES)

    def _is_same_training(self, one: LogUnit, other: LogUnit) -> bool:
        """Whether equal values show it; asked last, for comparing takes longest."""
        if one.competes_with(other):
            return _is_same_output(one, other) and self._compare(one, other).is_certain
        if one.home == other.home:
            likeness = self._compare(one, other)
            # an untrained policy has the same few rewards in its evaluation
            is_alike = one.is_evaluation is other.is_evaluation
            return likeness.is_likely if is_alike else likeness.is_certain
        if is_same_or_nested(one.home, other.home):
            return self._compare(one, other).is_certain
        apart = abs(one.start - other.start) > MAX_START_DIFFERENCE_S
        same_clock = not apart and has_same_clock(one.heads, other.heads)
        return same_clock and self._compare(one, other).is_certain_anywhere

    def _tie_same_process(self) -> None:
        """A process that writes event files into folders side by side or below."""
        by_process: dict[tuple[str, str], list[LogUnit]] = {}
        for unit in self._units:
            for process in unit.processes:
                by_process.setdefault(process, []).append(unit)
        for same in by_process.values():
            few = len(same) <= MAX_NEIGHBOURS
            by_path = sorted(same, key=lambda unit: unit.home)
            for one, other in combinations(same, 2) if few else pairwise(by_path):
                if _are_close(one.home, other.home) and self._fit(one, other):
                    self._join(one, other, SAME_PROCESS)

    def _tie_tables(self) -> None:
        """Tables side by side that have no column in common: losses.csv, rewards.csv."""
        for home in {unit.home for unit in self._units}:
            tables = [unit for unit in self._below[home] if unit.home == home and _is_table(unit)]
            pairs = list(combinations(tables[: MAX_ONLY_ONES + 1], 2))
            if len(tables) <= MAX_ONLY_ONES and all(self._fit(*pair) for pair in pairs):
                for one, other in pairs:
                    self._join(one, other, SAME_FOLDER)

    def _tie_same_names(self) -> None:
        """`ppo_7.log`, the folder `ppo_7`, `tables/ppo_7.csv`: the nearest first."""
        by_name: dict[str, list[LogUnit]] = {}
        for unit in self._units:
            name = unit.stem if not unit.location.unit else unit.home.rpartition("/")[2]
            if name and not unit.is_evaluation and TRACKER not in unit.kinds:
                by_name.setdefault(name, []).append(unit)
        for name, same in by_name.items():
            pairs = sorted(pairs_of_one_name(name, same), key=itemgetter(0))
            for _, nearest in groupby(pairs, key=itemgetter(0)):
                self._tie_all_or_none([(one, other) for _, one, other in nearest])

    def _tie_all_or_none(self, pairs: Sequence[tuple[LogUnit, LogUnit]]) -> None:
        """Tie the pairs that fit, unless a third unit fits two that do not fit each other."""
        connected: dict[str, dict[str, LogUnit]] = {}
        for one, other in pairs:
            if self._fit(one, other):
                both = {one.id: one, other.id: other}
                both |= connected.get(one.id, {}) | connected.get(other.id, {})
                connected.update(dict.fromkeys(both, both))
        for units in {id(each): each for each in connected.values()}.values():
            first, *others = units.values()
            if all(self._fit(*pair) for pair in self._pairs_apart(units.values())):
                for other in others:
                    self._join(first, other, SAME_NAME)

    def _pairs_apart(self, units: Iterable[LogUnit]) -> Iterator[tuple[LogUnit, LogUnit]]:
        """All pairs of units that are not in one cluster."""
        return (
            (one, other)
            for one, other in combinations(units, 2)
            if self._cluster[one.id] is not self._cluster[other.id]
        )

    def _tie_streams(self) -> None:
        """Standard output and standard error of one command, or its ranks."""
        by_name: dict[tuple[str, str], LogUnit] = {}
        for unit in self._units:
            if unit.stream_name:
                first = by_name.setdefault((unit.home, unit.stream_name), unit)
                if not self._is_split(first, unit):
                    self._join(first, unit, SAME_COMMAND)

    def _tie_only_ones(self) -> None:
        """All logs in and below a folder fit each other, and each is the only one of its kind."""
        for home in sorted({unit.home for unit in self._units}, key=lambda home: -len(home)):
            inside = (self._cluster[unit.id] for unit in self._below[home])
            clusters = list({id(each): each for each in inside}.values())
            if not 1 < len(clusters) <= MAX_ONLY_ONES or any(_stands_alone(c) for c in clusters):
                continue
            firsts = [cluster.units[0] for cluster in clusters]
            if all(self._fit(one, other) for one, other in combinations(firsts, 2)):
                for other in firsts[1:]:
                    self._join(firsts[0], other, ONLY_ONE)


def _is_same_output(one: LogUnit, other: LogUnit) -> bool:
    """Whether consoles may hold the same output: of `tee`, or of a logger and a shell.

    In another run with the same seed only the clocks differ, or nothing until the first update.
    """
    consoles = [
        [log for log in unit.logs if log.kind == CONSOLE and log.facts.heads]
        for unit in (one, other)
    ]
    if one.kinds & other.kinds != {CONSOLE} or {log.name for log in consoles[0]} & {
        log.name for log in consoles[1]
    }:
        return False
    heads = [(ours.facts.heads, theirs.facts.heads) for ours, theirs in product(*consoles)]
    is_near = is_same_or_nested(one.home, other.home)
    return is_near and all(has_same_clock(*pair) and not parts_later(*pair) for pair in heads)


def _is_other_part(one: LogUnit, other: LogUnit) -> bool:
    """Whether consoles hold different parts of a training that was resumed."""
    either = resumes(one.heads, other.heads) or resumes(other.heads, one.heads)
    return one.kinds == other.kinds == {CONSOLE} and either


def _stands_alone(cluster: Cluster) -> bool:
    return any(unit.is_evaluation for unit in cluster.units)


def _is_table(unit: LogUnit) -> bool:
    others = {CONSOLE, EVENTS, TRACKER}
    return not unit.location.unit and unit.has_points and not unit.kinds & others


def _are_close(one: str, other: str) -> bool:
    """Whether a directory is inside the other, or beside it."""
    beside = one.rpartition("/")[0] == other.rpartition("/")[0]
    return beside or one.startswith(other + "/") or other.startswith(one + "/")
