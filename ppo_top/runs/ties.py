"""Which units of logs are one run: named reasons, the surest first.

Each reason is tried on all units before the next one. Units that were tied make a cluster; a weak
reason never ties clusters that hold the same kind of log or unequal values. The result depends on
the logs alone, never on the order in which they arrived.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product

from ppo_top.runs.locations import (
    INNER_FOLDER,
    TRACKER_RUN_FOLDER,
    folders_above,
    path_distance,
)
from ppo_top.runs.log_units import CONSOLE, EVENTS, TRACKER, LogUnit
from ppo_top.runs.same_values import (
    Likeness,
    compare,
    has_equal_heads,
    has_same_clock,
)
from ppo_top.runs.short_names import VAGUE, is_copy_name

JOINED_BY_USER = "joined in the settings"
SAME_FOLDER = "in the same folder"
PRINTED = "its path or name is printed in the console"
SAME_VALUES = "same values at the same steps"
SAME_COMMAND = "output of the same command"
SAME_PROCESS = "written by the same process"
SAME_NAME = "named like the folder"
ONLY_ONE = "the only log of its kind in the folder"

MAX_NEIGHBOURS = 40
"""Most units of a folder of which all pairs are compared; of more, only likely ones."""
MAX_EQUAL_FIRST = 64
"""A first value that more units share tells nothing."""
MIN_EQUAL_FIRST = 2
"""Equal first values by which two units are compared wherever they are."""
MAX_START_DIFFERENCE_S = 10.0
"""In folders side by side, first points further apart are those of a training that was repeated."""
MAX_NAME_DISTANCE = 4
"""Most steps up and down between logs that are tied by their names."""
MAX_ONLY_ONES = 8
"""No run has more kinds of logs than this."""

Compare = Callable[[LogUnit, LogUnit], Likeness]
Tie = tuple[LogUnit, LogUnit, str]


class Cluster:
    """Units that are one run, and the ties by which they are."""

    __slots__ = ("ties", "units")

    def __init__(self, unit: LogUnit) -> None:
        self.units = [unit]
        self.ties: list[Tie] = []

    @property
    def main(self) -> LogUnit:
        """The unit that names the run: a folder before a file, the highest folder first."""
        return min(self.units, key=_rank)

    def reasons(self) -> dict[str, str]:
        """key of a log -> why it belongs to the run; empty for the first log."""
        reached = {self.main.id: ""}
        ties = list(self.ties)
        while ties:
            waiting = []
            for one, other, reason in ties:
                if one.id in reached or other.id in reached:
                    reached.setdefault(one.id, reason)
                    reached.setdefault(other.id, reason)
                else:
                    waiting.append((one, other, reason))
            ties = waiting if len(waiting) < len(ties) else []
        found = {}
        for unit in self.units:
            for number, log in enumerate(sorted(unit.logs, key=lambda log: log.key)):
                found[log.key] = reached[unit.id] or (SAME_FOLDER if number else "")
        return found


def _rank(unit: LogUnit) -> tuple[bool, bool, int, str]:
    is_direct = unit.location.is_direct and bool(unit.location.unit)
    return not unit.has_points, not is_direct, unit.home.count("/"), unit.id


class TieFinder:
    """Ties units to clusters; `compare` may remember what it was asked."""

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
        """Whether nothing speaks against it that the clusters of two units are one run."""
        return not self._is_split(one, other) and all(
            not ours.competes_with(theirs)
            and ours.started_with(theirs)
            and not self._compare(ours, theirs).is_contradiction
            for ours, theirs in self._pairs(one, other)
        )

    # --- reasons -----------------------------------------------------------------------------

    def _tie_as_user_says(self) -> None:
        first: dict[object, LogUnit] = {}
        for unit in self._units:
            for match in sorted(unit.joined_as):
                self._join(first.setdefault(match, unit), unit, JOINED_BY_USER)

    def _tie_printed(self) -> None:
        """A console prints the path or the name of the run."""
        by_name = _units_by_folder_name(self._units)
        for unit in self._units:
            found = [named for each in unit.printed if (named := _named(each, unit, by_name))]
            if any(one.competes_with(other) for one, other in combinations(_distinct(found), 2)):
                continue  # the console of several runs
            for named in _distinct(found):
                refuted = self._compare(unit, named).is_refuted
                if not refuted and not self._is_split(unit, named):
                    self._join(unit, named, PRINTED)

    def _tie_same_values(self) -> None:
        """The nearest first, those of a copy last: it has the same values as its original."""
        pairs = []
        for one, other in self._comparable_pairs():
            if self._is_same_training(one, other):
                crosses = is_copy_name(one.home) != is_copy_name(other.home)
                distance = path_distance(one.home, other.home)
                pairs.append((crosses, distance, one.id, other.id, one, other))
        for *_, one, other in sorted(pairs, key=lambda pair: pair[:4]):
            fits = all(
                not ours.competes_with(theirs) or _is_same_output(ours, theirs)
                for ours, theirs in self._pairs(one, other)
            )
            if fits and not self._is_split(one, other):
                self._join(one, other, SAME_VALUES)

    def _is_same_training(self, one: LogUnit, other: LogUnit) -> bool:
        likeness = self._compare(one, other)
        if not likeness.is_likely:
            return False
        if one.competes_with(other):
            return likeness.is_certain and _is_same_output(one, other)
        if one.home == other.home:
            return True
        if _is_below(one, other.home) or _is_below(other, one.home):
            return likeness.is_certain
        apart = abs(one.start - other.start) > MAX_START_DIFFERENCE_S
        same_clock = not apart and has_same_clock(one.heads, other.heads)
        return likeness.is_certain_anywhere and same_clock

    def _comparable_pairs(self) -> Iterator[tuple[LogUnit, LogUnit]]:
        """Pairs near each other, and all pairs with some equal first values."""
        seen = set()
        for pair in (*self._neighbours(), *self._pairs_with_equal_firsts()):
            one, other = sorted(pair, key=lambda unit: unit.id)
            if one.has_points and other.has_points and (one.id, other.id) not in seen:
                seen.add((one.id, other.id))
                yield one, other

    def _neighbours(self) -> Iterator[tuple[LogUnit, LogUnit]]:
        for home in {unit.home for unit in self._units}:
            near = self._below[home]
            if len(near) <= MAX_NEIGHBOURS:
                yield from (
                    (one, other)
                    for one, other in combinations(near, 2)
                    if home in (one.home, other.home)
                )

    def _pairs_with_equal_firsts(self) -> Iterator[tuple[LogUnit, LogUnit]]:
        table: dict[tuple[str, int, int], list[LogUnit]] = {}
        for unit in self._units:
            for tag, exponent, digits in unit.rough_values:
                for near in (digits - 1, digits, digits + 1):
                    table.setdefault((tag, exponent, near), []).append(unit)
        common: Counter[tuple[LogUnit, LogUnit]] = Counter()
        for same in table.values():
            if 1 < len(same) <= MAX_EQUAL_FIRST:
                common.update(combinations(same, 2))
        return (pair for pair, count in common.items() if count >= MIN_EQUAL_FIRST)

    def _tie_same_process(self) -> None:
        """A process that writes event files into folders side by side or below."""
        by_process: dict[tuple[str, str], list[LogUnit]] = {}
        for unit in self._units:
            for process in unit.processes:
                by_process.setdefault(process, []).append(unit)
        for same in by_process.values():
            for one, other in combinations(same[:MAX_NEIGHBOURS], 2):
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
            pairs = sorted(_pairs_of_one_name(name, same[:MAX_NEIGHBOURS]))
            taken = Counter((distance, each) for distance, *ids in pairs for each in ids)
            units = {unit.id: unit for unit in same}
            for distance, first, second in pairs:
                one, other = units[first], units[second]
                is_only = taken[distance, first] == taken[distance, second] == 1
                if is_only and self._fit(one, other):
                    self._join(one, other, SAME_NAME)

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
            inside = {id(found): found for found in map(self._cluster_of, self._below[home])}
            clusters = list(inside.values())
            if not 1 < len(clusters) <= MAX_ONLY_ONES or any(_stands_alone(c) for c in clusters):
                continue
            firsts = [cluster.units[0] for cluster in clusters]
            if all(self._fit(one, other) for one, other in combinations(firsts, 2)):
                for other in firsts[1:]:
                    self._join(firsts[0], other, ONLY_ONE)

    def _cluster_of(self, unit: LogUnit) -> Cluster:
        return self._cluster[unit.id]


def copies(clusters: Iterable[Cluster]) -> dict[int, Cluster]:
    """id of a cluster that is a copy of another -> the original."""
    by_name: dict[tuple[str, str], list[Cluster]] = {}
    for cluster in clusters:
        for unit in cluster.units:
            for log in unit.logs if TRACKER not in unit.kinds else ():
                if log.facts.heads:
                    shape = f"{log.name}|{log.facts.start}"
                    first = min(log.facts.heads)
                    by_name.setdefault((shape, f"{first}{log.facts.heads[first]}"), []).append(
                        cluster
                    )
    found: dict[int, Cluster] = {}
    for same in by_name.values():
        distinct = list({id(cluster): cluster for cluster in same}.values())
        original = min(distinct, key=lambda each: (is_copy_name(each.main.home), _rank(each.main)))
        for cluster in distinct:
            if cluster is not original and _is_copy(cluster, original):
                found.setdefault(id(cluster), original)
    return {copy: original for copy, original in found.items() if id(original) not in found}


def _is_copy(cluster: Cluster, original: Cluster) -> bool:
    """Whether each log of a cluster that the original has too begins with the same points."""
    theirs = {log.name: log for unit in original.units for log in unit.logs}
    pairs = [
        (log.facts, theirs[log.name].facts)
        for unit in cluster.units
        for log in unit.logs
        if log.name in theirs and log.facts.heads
    ]
    return bool(pairs) and all(
        (one.start == other.start or one.start != one.start)
        and has_equal_heads(one.heads, other.heads)
        and compare(one.heads, other.heads).is_certain
        for one, other in pairs
    )


def _is_same_output(one: LogUnit, other: LogUnit) -> bool:
    """Whether consoles may hold the same output: of `tee`, or of a logger and a shell.

    In another run with the same seed only the clocks differ.
    """
    consoles = [
        [log for log in unit.logs if log.kind == CONSOLE and log.facts.heads]
        for unit in (one, other)
    ]
    if one.kinds & other.kinds != {CONSOLE} or {log.name for log in consoles[0]} & {
        log.name for log in consoles[1]
    }:
        return False
    is_in_line = _is_below(one, other.home) or _is_below(other, one.home)
    return is_in_line and all(
        has_same_clock(ours.facts.heads, theirs.facts.heads) for ours, theirs in product(*consoles)
    )


def _stands_alone(cluster: Cluster) -> bool:
    return any(unit.is_evaluation for unit in cluster.units)


def _is_table(unit: LogUnit) -> bool:
    others = {CONSOLE, EVENTS, TRACKER}
    return not unit.location.unit and unit.has_points and not unit.kinds & others


def _is_below(unit: LogUnit, folder: str) -> bool:
    return unit.home == folder or unit.home.startswith(folder.rstrip("/") + "/")


def _are_close(one: str, other: str) -> bool:
    """Whether a directory is inside the other, or beside it."""
    beside = one.rpartition("/")[0] == other.rpartition("/")[0]
    return beside or one.startswith(other + "/") or other.startswith(one + "/")


def _pairs_of_one_name(name: str, units: Sequence[LogUnit]) -> Iterator[tuple[int, str, str]]:
    """(distance, id, id) of units called the same; a vague name tells only what is below."""
    is_vague = bool(VAGUE.fullmatch(name)) or not re.search(r"\d", name)
    for one, other in combinations(units, 2):
        in_line = _is_below(one, other.home) or _is_below(other, one.home)
        distance = path_distance(one.home, other.home)
        if in_line or (not is_vague and distance <= MAX_NAME_DISTANCE):
            yield distance, one.id, other.id


# --- names that consoles print -------------------------------------------------------------------


def _units_by_folder_name(units: Iterable[LogUnit]) -> Mapping[str, list[LogUnit]]:
    """The last part of each folder of a unit -> units; of a tracker's folder its id, too."""
    found: dict[str, dict[str, LogUnit]] = {}
    for unit in units:
        for folder in unit.folders:
            name = folder.rpartition("/")[2]
            names = {name}
            if TRACKER_RUN_FOLDER.fullmatch(name):
                names.add(name.rpartition("-")[2])
            for each in names:
                found.setdefault(each, {})[unit.id] = unit
    return {name: list(same.values()) for name, same in found.items()}


def _named(
    printed: str, console: LogUnit, by_name: Mapping[str, Sequence[LogUnit]]
) -> LogUnit | None:
    """The unit in the folder that a console prints; of several the nearest, if there is one."""
    parts = [part for part in printed.split("/") if part not in ("", ".", "..", "~")]
    for cut in range(min(3, len(parts))):  # a file or a folder inside the run's
        kept = parts[: len(parts) - cut]
        fitting = [
            (path_distance(unit.home, console.home), unit)
            for unit in by_name.get(kept[-1], [])
            if unit is not console and _fits_path(unit, kept, printed.startswith("/"))
        ]
        nearest = sorted(fitting, key=lambda pair: pair[0])[:2]
        if len(nearest) == 1 or (len(nearest) == 2 and nearest[0][0] < nearest[1][0]):
            return nearest[0][1]
        if nearest:
            return None
    return None


def _fits_path(unit: LogUnit, parts: Sequence[str], is_absolute: bool) -> bool:
    """Whether a folder of a unit ends with these parts; of a path from elsewhere, with two."""
    if len(parts) == 1:
        is_vague = VAGUE.fullmatch(parts[0]) or INNER_FOLDER.fullmatch(parts[0])
        return not is_vague and len(parts[0]) > 2
    needed = list(parts[-2:] if is_absolute else parts)
    return any(folder.split("/")[-len(needed) :] == needed for folder in unit.folders)


def _distinct(units: Iterable[LogUnit]) -> list[LogUnit]:
    return list({unit.id: unit for unit in units}.values())
