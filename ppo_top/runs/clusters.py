"""Clusters of units, each a run with the reasons for it, and which of them are copies."""

from __future__ import annotations

from collections.abc import Iterable

from ppo_top.runs.locations import EVALUATION_NAME
from ppo_top.runs.log_units import TRACKER, LogUnit
from ppo_top.runs.same_values import compare, has_equal_heads
from ppo_top.runs.short_names import is_copy_name

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


def _rank(unit: LogUnit) -> tuple[bool, bool, bool, int, str]:
    is_direct = unit.location.is_direct and bool(unit.location.unit)
    evaluates = bool(EVALUATION_NAME.search(unit.home.rpartition("/")[2]))
    return not unit.has_points, evaluates, not is_direct, unit.home.count("/"), unit.id


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
