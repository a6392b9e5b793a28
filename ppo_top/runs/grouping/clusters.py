"""Clusters of units, each a run with the reasons for it, and which of them are copies."""

from __future__ import annotations

from collections.abc import Iterable

from ppo_top.model import SourceFacts
from ppo_top.runs.grouping.locations import EVALUATION_NAME, TRACKER_RUN_FOLDER
from ppo_top.runs.grouping.log_entry import TRACKER, LogEntry
from ppo_top.runs.grouping.log_units import LogUnit
from ppo_top.runs.grouping.rotation import rotation
from ppo_top.runs.grouping.same_values import compare, has_equal_heads
from ppo_top.runs.grouping.short_names import is_copy_name

MAX_TITLE_CHARS = 80
"""Of what a tracker calls a run; people put settings into it."""
SAME_FOLDER = "in the same folder"
"""Why the logs of a unit belong together."""

Tie = tuple[LogUnit, LogUnit, str]
"""Two units, and why they are one run."""


class Cluster:
    """Units that are one run, and the ties by which they are."""

    __slots__ = ("ties", "units")

    def __init__(self, unit: LogUnit) -> None:
        self.units = [unit]
        self.ties: list[Tie] = []

    @property
    def main(self) -> LogUnit:
        """The unit that names the run.

        A training's before its evaluations', a folder before a file, the highest folder first.
        """
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


def _rank(unit: LogUnit) -> tuple[bool, bool, bool, int, tuple[str, int]]:
    is_direct = unit.location.is_direct and bool(unit.location.unit)
    evaluates = bool(EVALUATION_NAME.search(unit.home.rpartition("/")[2]))
    return (
        not unit.has_points,
        evaluates,
        not is_direct,
        unit.home.count("/"),
        rotation(unit.id.removesuffix("|file")),
    )


def title_of(cluster: Cluster) -> str:
    """What its tracker calls a run whose folder only the tracker has named; else empty."""
    folder = cluster.main.location.unit.rpartition("/")[2]
    if not TRACKER_RUN_FOLDER.fullmatch(folder):
        return ""
    titles = (" ".join(log.facts.title.split()) for log in cluster.main.logs)
    return next(filter(None, titles), "")[:MAX_TITLE_CHARS]


class CopyFinder:
    """Finds runs that are copies; two logs are compared again only once one has changed."""

    def __init__(self) -> None:
        self._compared: dict[tuple[str, str], tuple[int, int, bool]] = {}

    def forget(self) -> None:
        """Compare all logs again: one may come back as another."""
        self._compared.clear()

    def copies(self, clusters: Iterable[Cluster]) -> dict[int, Cluster]:
        """id of a cluster that is a copy of another -> the original."""
        found: dict[int, Cluster] = {}
        for same in _alike(clusters):
            original = min(same, key=lambda each: (is_copy_name(each.main.home), _rank(each.main)))
            for cluster in same:
                if cluster is not original and self._is_copy(cluster, original):
                    found.setdefault(id(cluster), original)
        return {copy: original for copy, original in found.items() if id(original) not in found}

    def _is_copy(self, cluster: Cluster, original: Cluster) -> bool:
        """Whether each log of a cluster that the original has too begins with the same points."""
        theirs = {log.name: log for unit in original.units for log in unit.logs}
        pairs = [
            (log, theirs[log.name])
            for unit in cluster.units
            for log in unit.logs
            if log.name in theirs and log.facts.heads
        ]
        return bool(pairs) and all(self._begin_alike(*pair) for pair in pairs)

    def _begin_alike(self, one: LogEntry, other: LogEntry) -> bool:
        versions, pair = (one.facts.version, other.facts.version), (one.key, other.key)
        known = self._compared.get(pair)
        if known is None or known[:2] != versions:
            known = self._compared[pair] = *versions, _have_same_points(one.facts, other.facts)
        return known[2]


def _alike(clusters: Iterable[Cluster]) -> list[list[Cluster]]:
    """The clusters that hold logs of one name which begin with the same values at the same time,
    for each such log.
    """
    found: dict[tuple[str, str], dict[int, Cluster]] = {}
    for cluster in clusters:
        for unit in cluster.units:
            for log in unit.logs if TRACKER not in unit.kinds else ():
                if log.facts.heads:
                    shape = f"{log.name}|{log.facts.start}"
                    first = min(log.facts.heads)
                    same = found.setdefault((shape, f"{first}{log.facts.heads[first]}"), {})
                    same[id(cluster)] = cluster
    return [list(same.values()) for same in found.values()]


def _have_same_points(one: SourceFacts, other: SourceFacts) -> bool:
    return (
        (one.start == other.start or one.start != one.start)
        and has_equal_heads(one.heads, other.heads)
        and compare(one.heads, other.heads).is_certain
    )
