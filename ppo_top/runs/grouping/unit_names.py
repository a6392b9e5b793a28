"""Units by their names: those that a console prints, and those that are called the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from ppo_top.runs.grouping.locations import (
    INNER_FOLDER,
    TRACKER_RUN_FOLDER,
    common_folder,
    folders_above,
    is_same_or_nested,
    path_distance,
)
from ppo_top.runs.grouping.log_units import LogUnit
from ppo_top.runs.grouping.short_names import VAGUE

NUMBER = re.compile(r"\d+")
MAX_NAME_DISTANCE = 4
"""Most steps up and down between logs that are tied by their names."""


MAX_OF_ONE_NAME = 40
"""Of more units that are called the same below a folder, none is tied to one elsewhere there."""


def pairs_of_one_name(
    name: str, units: Sequence[LogUnit]
) -> Iterator[tuple[int, LogUnit, LogUnit]]:
    """(distance, unit, unit) for units called the same; a vague name tells only what is below."""
    is_vague = bool(VAGUE.fullmatch(name)) or not re.search(r"\d", name)
    below: dict[str, list[LogUnit]] = {}
    for unit in units:
        for folder in (unit.home, *folders_above(unit.home)):
            below.setdefault(folder, []).append(unit)
    for folder, near in below.items():
        if len(near) > MAX_OF_ONE_NAME:
            continue
        for one, other in combinations(near, 2):
            homes = one.home, other.home
            if common_folder(*homes) != folder:
                continue  # they are nearer to each other, in a folder below
            if _are_attempts(folder, *homes):
                continue
            distance = path_distance(*homes)
            if is_same_or_nested(*homes) or (not is_vague and distance <= MAX_NAME_DISTANCE):
                yield distance, one, other


def _are_attempts(folder: str, one: str, other: str) -> bool:
    """Whether the folders below a common one differ in numbers alone: times, or attempts.

    `PPO_20261129-122905/exp_seed=42` was begun again as `PPO_20261129-123005/exp_seed=42`.
    """
    start = len(folder.rstrip("/")) + 1
    ours, theirs = (NUMBER.sub("0", home[start:].partition("/")[0]) for home in (one, other))
    return ours == theirs != ""


def units_by_folder_name(units: Iterable[LogUnit]) -> Mapping[str, list[LogUnit]]:
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


def named_units(console: LogUnit, by_name: Mapping[str, Sequence[LogUnit]]) -> list[LogUnit]:
    """The units whose path or name a console prints."""
    named = (_named(printed, console, by_name) for printed in console.printed)
    return list({unit.id: unit for unit in named if unit is not None}.values())


def _named(
    printed: str, console: LogUnit, by_name: Mapping[str, Sequence[LogUnit]]
) -> LogUnit | None:
    """The unit in the folder that a console prints; of several the nearest, if there is one.

    Settings are in the way of no log, though a folder inside that one may hold more of them.
    """
    parts = [part for part in printed.split("/") if part not in ("", ".", "..", "~")]
    for cut in range(min(3, len(parts))):  # a file or a folder inside the run's
        kept = parts[: len(parts) - cut]
        fitting = [
            ((path_distance(unit.home, console.home), not unit.has_points), unit)
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
