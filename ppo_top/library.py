"""The functions for scripts and notebooks: `ppo_top.check` and `ppo_top.points`.

They do what `ppo-top check --json` and `ppo-top export` do, in this process; nothing is printed.
"""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from ppo_top.model import Severity
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.output.answers import answer_parts, answer_text
from ppo_top.output.check import judge_paths
from ppo_top.output.export import exported_points
from ppo_top.output.reports.overview import JSON
from ppo_top.runs.load import open_loader
from ppo_top.runs.path_settings import settings_for
from ppo_top.settings import Settings, UnusableSettingsError

LogPath = str | os.PathLike[str]
SOURCES = ("all", "best")


class CouldNotLook(Exception):
    """There is no such path, no permission, or nothing that can be read as a log: its text says."""


class Point(NamedTuple):
    """A point of a metric, as in a row of `ppo-top export`.

    `source` is the file's path below the path that was given, `concept` the metric that the tag is
    known as (empty if it is not); `time` is in unix seconds, NaN where the log has no clock. `axis`
    is `step`, `update` where the log states no steps and its updates are counted, or `second` for
    what was measured of the machine, of which `step` is the unix time.
    """

    run: str
    source: str
    tag: str
    concept: str
    step: int
    time: float
    value: float
    axis: str


def check(
    paths: LogPath | Iterable[LogPath],
    *,
    settings: LogPath | None = None,
    goal: float | None = None,
    warn: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """Judge the runs below some paths: the object that `ppo-top check --json` prints.

    `settings` is a `ppo-top.toml` to use instead of the user's own, `goal` the reward to reach.
    `warn` gets each line that the command prints on standard error. CouldNotLook if there is
    nothing to judge.
    """
    found, said = _paths(paths), io.StringIO()
    known = _settings(found, settings, goal, said)
    answer = judge_paths(found, known, None, answer_parts(JSON), said)
    _warn(said, warn)
    if answer is None:
        raise CouldNotLook("; ".join(_lines(said)))
    verdict: dict[str, Any] = json.loads(answer_text(answer, Severity.CRIT, JSON))
    return verdict


def points(
    paths: LogPath | Iterable[LogPath],
    source: str = "all",
    *,
    settings: LogPath | None = None,
    warn: Callable[[str], object] | None = None,
) -> Iterator[Point]:
    """All points of the runs below some paths, run by run; read when the first one is asked for.

    `source` is `all` (every point of every file, as written) or `best` (the merged series that are
    judged, in the sign and unit of their metric). CouldNotLook if there is nothing to read;
    ValueError for another `source`.
    """
    if source not in SOURCES:
        raise ValueError(f"source is {source!r}, expected one of {', '.join(SOURCES)}")
    return _points(_paths(paths), source, settings, warn)


def _points(
    paths: list[Path],
    source: str,
    own: LogPath | None,
    warn: Callable[[str], object] | None,
) -> Iterator[Point]:
    said = io.StringIO()
    loader = open_loader(paths, _settings(paths, own, None, said), said, bounded=True)
    if loader is None:
        _warn(said, warn)
        raise CouldNotLook("; ".join(_lines(said)))
    with closing(loader):
        yield from map(Point._make, exported_points(loader.complete_runs(), source))
    _warn(said, warn)


def _paths(paths: LogPath | Iterable[LogPath]) -> list[Path]:
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not given:
        raise CouldNotLook("no paths")
    if "" in given:
        raise CouldNotLook("an empty path")
    return [Path(path) for path in given]


def _settings(
    paths: list[Path], own: LogPath | None, goal: float | None, said: io.StringIO
) -> Settings:
    try:
        settings = settings_for(paths, Path(own) if own is not None else None)
    except UnusableSettingsError as error:
        raise CouldNotLook(str(error)) from None
    said.writelines(f"{problem}\n" for problem in settings.problems)
    if goal is None:
        return settings
    if not math.isfinite(goal):
        raise ValueError(f"goal is {goal}, expected a finite number")
    return settings._replace(goal=float(goal))


def _lines(said: io.StringIO) -> list[str]:
    return [line.removeprefix("ppo-top: ") for line in said.getvalue().splitlines()]


def _warn(said: io.StringIO, warn: Callable[[str], object] | None) -> None:
    if warn is not None:
        for line in _lines(said):
            warn(line)
