"""Decides which logs are one run, from all that is known of them so far.

A log has a *home*, the directory of its run, and perhaps a *unit*: logs of one unit are one run
whatever they hold (`log_units`). Units are tied by evidence (`ties`). The answer depends on the
logs alone: it is made anew when something that matters turns up (another log, first values, a path
that a console prints), so a run may gain logs, or lose them to another one. In the end it is the
same however the logs arrived, and whichever directory above them is watched.
"""

# ruff: noqa: PTH100
# Paths stay strings here: an object for each would cost more than the comparison.

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import product

from ppo_top.files.mirrors import mirrored_host, shown_path
from ppo_top.files.update import STDIN_NAME
from ppo_top.model import SourceFacts
from ppo_top.parsers.file_names import without_compression
from ppo_top.paths import is_inside
from ppo_top.runs.grouping.clusters import Cluster, CopyFinder, title_of
from ppo_top.runs.grouping.locations import folders_above
from ppo_top.runs.grouping.log_entry import SETTINGS, LogEntry
from ppo_top.runs.grouping.log_units import LogUnit, units_of
from ppo_top.runs.grouping.same_values import NO_LIKENESS, Likeness, compare
from ppo_top.runs.grouping.short_names import short_names
from ppo_top.runs.grouping.ties import TieFinder
from ppo_top.settings.run_patterns import NO_PATTERNS, RunPatterns

SETTLED_ROW_COUNT = 3
"""A log with this many rows is taken to have logged all its tags."""

FILE_ENDING = r"(?<=[^/])\.(?!\d+$)\w{1,5}$"
"""What is left out where a run is named after a file; a number tells a rotated log from the new."""


class LogGroup:
    """A run: its logs by key, each with the reason why it belongs to it.

    `path` is its directory (or file), starting with its PATH; `host` the machine that it is on,
    empty for this one.
    """

    def __init__(self, id_: str, path: str, joined_by: Mapping[str, str], host: str) -> None:
        self.id = id_
        self.path = path
        self.joined_by = joined_by
        self.host = host
        self.title = ""
        """what a tracker calls it, where its folder only says when it began"""
        self.name = ""
        self.copy_of = ""
        """name of the run that this is a copy of"""


class RunGroups:
    """All logs, and the runs that they make."""

    def __init__(self, patterns: RunPatterns = NO_PATTERNS) -> None:
        self._patterns = patterns
        self._logs: dict[str, LogEntry] = {}
        self._roots: dict[str, tuple[str, str]] = {}
        self._id_of: dict[str, str] = {}
        """key -> id of the run to which a log belonged before"""
        self._versions: dict[str, int] = {}
        self._units: Mapping[str, LogUnit] = {}
        self._compared: dict[tuple[str, str], tuple[LogUnit, LogUnit, Likeness]] = {}
        self._copies = CopyFinder()
        self.is_stale = False
        """Whether the groups may be others than the last time."""

    def add_log(
        self,
        key: str,
        path: str,
        root: str,
        format_: str,
        facts: SourceFacts,
        has_siblings: bool = False,
    ) -> None:
        """Add a log; `facts` may grow. `root` is the PATH that it was found in.

        `has_siblings`: only this file was asked for, and others beside it end as it does.
        """
        self._logs[key] = LogEntry(key, os.path.abspath(path), format_, facts, has_siblings)
        self._roots[key] = root, os.path.abspath(root)
        self.is_stale = True

    def note(self, key: str) -> None:
        """Look whether something is new about a log."""
        version = self._logs[key].facts.version
        if self._versions.get(key) != version:
            self._versions[key], self.is_stale = version, True

    def decide(self, key: str) -> None:
        """Put a log into a run although little is known of it: no more points may come."""
        if not self._logs[key].is_decided:
            self._logs[key].is_decided = self.is_stale = True

    def remove_logs(self, keys: Iterable[str]) -> None:
        """Forget logs that are gone."""
        for key in keys:
            for table in (self._logs, self._roots, self._id_of, self._versions):
                table.pop(key, None)
        self._compared.clear()
        self._copies.forget()
        self.is_stale = True

    def groups(self) -> list[LogGroup]:
        """The runs, named; logs of which too little is known are in none."""
        self.is_stale = False
        self._units = units_of(self._logs.values(), self._patterns, self._units)
        clusters = TieFinder(list(self._units.values()), self._likeness).clusters()
        near = _neighbour_counts(clusters)
        listed = [each for each in clusters if self._is_listed(each, near)]
        found = self._numbered(listed)
        _name_groups(found.values())
        for copy, original in self._copies.copies(listed).items():
            if id(original) in found:
                found[copy].copy_of = found[id(original)].name
        return list(found.values())

    # --- what is listed ----------------------------------------------------------------------

    def _is_listed(self, cluster: Cluster, near: Mapping[str, int]) -> bool:
        """Whether enough is known of some logs to show them as a run.

        Trainers often log fewer tags in their first rows: if there are other logs near, more rows
        may show that it is the same run.
        """
        logs = [log for unit in cluster.units for log in unit.logs if log.kind != SETTINGS]
        has_points = any(log.facts.heads for log in logs)
        if has_points and any(log.key in self._id_of for log in logs):
            return True
        is_alone = all(near[unit.home] == 1 for unit in cluster.units)
        if not has_points:
            decided = [log for log in logs if log.is_decided]
            return bool(decided) and (is_alone or any(log.facts.has_last_words for log in decided))
        is_settled = any(log.facts.rows >= SETTLED_ROW_COUNT or log.is_decided for log in logs)
        return is_settled or is_alone or any(unit.location.unit for unit in cluster.units)

    # --- names -------------------------------------------------------------------------------

    def _numbered(self, clusters: Sequence[Cluster]) -> dict[int, LogGroup]:
        """id of a cluster -> its run, with the id of the run that its main log belonged to."""
        found: dict[int, LogGroup] = {}
        taken: set[str] = set()
        ordered = sorted(clusters, key=lambda each: each.main.id)
        shared = Counter(each.main.home for each in ordered)
        paths = {id(each): self._path(each, shared) for each in ordered}
        for cluster in ordered:
            before = self._id_before(cluster)
            if before and before not in taken:
                taken.add(before)
                found[id(cluster)] = _group(before, paths[id(cluster)][0], cluster)
        for cluster in ordered:
            if id(cluster) not in found:
                path, inside = paths[id(cluster)]
                name = inside if inside not in taken else shown_path(path)
                while name in taken:
                    name += "'"
                taken.add(name)
                found[id(cluster)] = _group(name, path, cluster)
        self._id_of = {key: group.id for group in found.values() for key in group.joined_by}
        return found

    def _id_before(self, cluster: Cluster) -> str:
        units = [cluster.main, *cluster.units]
        before = (self._id_of.get(log.key, "") for unit in units for log in unit.logs)
        return next(filter(None, before), "")

    def _path(self, cluster: Cluster, shared: Mapping[str, int]) -> tuple[str, str]:
        """The path of a run with its PATH as it was given, and the path below that.

        `shared`: home -> how many runs have their main unit there.
        """
        main = cluster.main
        log = main.logs[0]
        root, absolute = self._roots[log.key]
        if root == str(STDIN_NAME):
            number = log.key.partition("/")[0].removeprefix("stdin")
            return root + number, root + number
        if log.path == absolute or not is_inside(log.path, absolute):
            # A file given by itself, or one of the runs in it: its folder stands for it.
            root, absolute = root.rpartition("/")[0] or ".", absolute.rpartition("/")[0] or "/"
        path = main.location.unit or main.home
        is_one_of_several = shared[main.home] > 1 or log.may_be_one_of_several
        if not main.location.unit and is_one_of_several:
            path = re.sub(FILE_ENDING, "", without_compression(log.path))
        if not is_inside(path, absolute):
            return root, "."
        inside = path[len(absolute) :].strip("/")
        return (f"{root.rstrip('/')}/{inside}", inside) if inside else (root, ".")

    # --- values ------------------------------------------------------------------------------

    def _likeness(self, one: LogUnit, other: LogUnit) -> Likeness:
        """How alike two units are, compared again only if there are other values."""
        known = self._compared.get((one.id, other.id))
        if known is None or known[0] is not one or known[1] is not other:
            known = self._compared[one.id, other.id] = one, other, _likeness(one, other)
        return known[2]


def _likeness(one: LogUnit, other: LogUnit) -> Likeness:
    """How alike two units are, whole or, of a training that was resumed, by one of its parts.

    A console or a table that the second part wrote anew begins as that does.
    """
    whole = compare(one.heads, other.heads)
    if not whole.is_contradiction and whole != NO_LIKENESS:
        return whole
    by_part = (compare(ours, theirs) for ours, theirs in product(one.parts, other.parts))
    return next((found for found in by_part if found.is_certain), whole)


def _group(name: str, path: str, cluster: Cluster) -> LogGroup:
    group = LogGroup(name, shown_path(path), cluster.reasons(), mirrored_host(path))
    group.title = title_of(cluster)
    return group


def _name_groups(groups: Collection[LogGroup]) -> None:
    """Name the runs; those of another machine `host: name`."""
    for host in {group.host for group in groups}:
        of_host = {group.id: group for group in groups if group.host == host}
        names = short_names({name: group.path for name, group in of_host.items()})
        names |= _titles(of_host, names)
        for name, group in of_host.items():
            group.name = f"{host.strip('[]')}: {names[name]}" if host else names[name]


def _titles(groups: Mapping[str, LogGroup], names: Mapping[str, str]) -> dict[str, str]:
    """id -> what the tracker calls the run, with the tracker's id where that is not unique."""
    taken = Counter(group.title or names[id_] for id_, group in groups.items())
    titled = {id_: group for id_, group in groups.items() if group.title}
    found = {}
    for id_, group in titled.items():
        only = taken[group.title] == 1
        found[id_] = group.title if only else f"{group.title} {group.path.rpartition('-')[2]}"
    return found


def _neighbour_counts(clusters: Iterable[Cluster]) -> dict[str, int]:
    """home -> how many clusters have a log there, above or below."""
    at: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for cluster in clusters:
        homes = {unit.home for unit in cluster.units}
        at.update(homes)
        inside.update(homes.union(*map(folders_above, homes)))
    return {home: inside[home] + sum(at[above] for above in folders_above(home)) for home in at}
