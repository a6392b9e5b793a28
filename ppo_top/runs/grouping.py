"""Decides which logs are one run: by their paths, and if that is not enough, by their first points.

A log has a *home*, the directory of its run, and perhaps a *unit*: logs of one unit are one run
whatever they hold (an event file and the progress.csv next to it, the ranks of one launch). Units
and single files in one home are compared: they are one run if the metrics that both log have the
same first values. A log is assigned once and never moves, so a run keeps its name when a file
appears.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from ppo_top.runs.short_names import short_names

FirstPointByTag = Mapping[str, tuple[int, float]]
"""tag -> (step, value) of its first point."""

INNER_FOLDER = re.compile(
    r"tb|tensorboard|tb_logs|tensorboard_logs?|logs?|summaries|\.?summary|metrics|scalars|monitors?"
    r"|train|eval|evaluation|valid|validation|val|test|dvclive"
)
"""Names of folders inside a run's directory."""
SINGLE_RUN_FILE = re.compile(
    r"(?i)tfevents|monitor\.csv$|^(progress\.(csv|json|txt)|log\.txt|result\.json|evaluations\.npz"
    r"|trainer_state\.json|hparams\.ya?ml|config\.(ya?ml|json)|params\.json|sf_log\.txt"
    r"|\d{8}\.jsonl)$"  # an inbox of Trackio
)
"""Files that occur once in a run's directory."""
CHECKPOINT_FOLDER = re.compile(r"checkpoint[-_]\d+$")
START_TIME_FOLDER = re.compile(r"[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d_.+")
"""A folder that torch and transformers name after the start: Nov21_00-40-41_host."""
UNIX_TIME_FOLDER = re.compile(r"\d{9,10}(\.\d+)?$")
"""A folder of hyperparameters that add_hparams and accelerate make next to the metrics."""
TRACKER_RUN_FOLDER = re.compile(r"(offline-)?run-\d{8}_\d{6}-\w+")
"""The folder of a run of Weights & Biases or SwanLab."""
ZOO_SETTINGS_PATH = re.compile(r"(?:.*/)?([^/]+)_\d+/\1/(?:config|args)\.ya?ml")
"""rl-baselines3-zoo's settings: PPO/CartPole-v1_3/CartPole-v1/config.yml."""
ATTEMPT_FOLDER = re.compile(r"attempt_\d+$")
INDISTINCT_TAG = re.compile(
    r"(?i)time|fps|sps\b|per_sec|speed|runtime|epoch|iter|step|episodes|n_updates|num_tokens|lr\b"
    r"|learning_rate|clip_range|coef|beta\b"
)
"""Tags with equal first values in different runs (settings, counters), or unequal ones in the same
run (clocks).
"""
MIN_COMMON_TAGS = 4
"""Common tags needed for a certain match between a run and a log in different folders."""
MIN_EQUAL_SHARE = 0.9
"""Share of the common tags whose first values must be equal for a certain match."""
VALUE_TOLERANCE = 0.01
"""Relative difference up to which values are the same: consoles print three digits."""

MIN_DISTINCT_TAGS = 3
"""With fewer distinct tags than this, wait for more before calling two logs different runs."""

SETTLED_ROW_COUNT = 3
"""A log with this many rows is taken to have logged all its tags."""


def row_count(first: FirstPointByTag) -> int:
    """How many rows a log has so far; enough if its first points do not say."""
    rows: int = getattr(first, "rows", SETTLED_ROW_COUNT)
    return rows


@dataclass(frozen=True, slots=True)
class RunLocation:
    """Where a log belongs by its path. `is_direct`: it is in the home itself."""

    directory: str
    unit: str
    is_direct: bool = True


@dataclass(slots=True)
class _GroupMembers:
    id: str
    directory: tuple[str, str]
    path: str
    file: str
    is_direct: bool
    first_points: list[FirstPointByTag] = field(default_factory=list)

    @property
    def merged_first_points(self) -> dict[str, tuple[int, float]]:
        """The first point of each tag, from the earliest log that has it."""
        found: dict[str, tuple[int, float]] = {}
        for log in self.first_points:
            for tag, point in log.items():
                found.setdefault(_without_train_prefix(tag), point)
        return found


class RunGroups:
    """The runs to which logs have been assigned."""

    def __init__(self) -> None:
        self._runs: dict[str, _GroupMembers] = {}
        self._by_directory: dict[tuple[str, str], list[_GroupMembers]] = {}
        self._below: dict[tuple[str, str], dict[str, None]] = {}  # directory -> homes inside it
        self._units: dict[tuple[str, str], _GroupMembers] = {}
        self._assigned: dict[tuple[str, str], _GroupMembers] = {}
        self._names: dict[str, str] = {}

    def assign_run(
        self, key: str, root: str, first: FirstPointByTag, must_decide: bool = False
    ) -> str | None:
        """The id of the run that a log belongs to; None if that needs more points.

        `key` is its path below `root`; `first` holds the first point of each tag so far, and is
        kept: it may grow. `must_decide`: no more points will come.
        """
        known = self._assigned.get((root, key))
        if known is not None:
            return known.id
        location = locate_run(key, first)
        scope = _scope(key, root)
        run = self._units.get((scope, location.unit)) if location.unit else None
        if run is None:
            if not (first or must_decide):
                return None
            run = self._match_in_directory(scope, location, first)
            if run is None and not must_decide and self._is_too_early(scope, location, first):
                return None
            run = run or self._match_nearby(scope, location, first)
            run = run or self._new_run(scope, location, key)
        if location.unit:
            self._units[scope, location.unit] = run
        self._assigned[root, key] = run
        run.first_points.append(first)
        if location.is_direct and not run.is_direct:  # so far its logs were in a folder below
            run.is_direct, run.path, run.file = True, location.directory, ""
            self._names.clear()
        return run.id

    def _is_too_early(self, scope: str, location: RunLocation, first: FirstPointByTag) -> bool:
        """Whether more rows may show that a log belongs to a run in or near its home.

        Trainers often log fewer tags in their first rows.
        """
        doubtful = []
        for run in self._by_directory.get((scope, location.directory), []):
            known = run.merged_first_points
            distinct = min(_distinct_tag_count(first), _distinct_tag_count(known))
            if similarity(known, first) is None and distinct < MIN_DISTINCT_TAGS:
                doubtful.append(run)
        nearby = self._runs_nearby(scope, location)
        compared = ((run, _compare(run.merged_first_points, first)) for run in nearby)
        doubtful += [run for run, alike in compared if len(alike) < MIN_COMMON_TAGS]
        logs = [log for run in doubtful for log in (first, *run.first_points)]
        return any(row_count(log) < SETTLED_ROW_COUNT for log in logs)

    def _runs_nearby(self, scope: str, location: RunLocation) -> list[_GroupMembers]:
        """The runs in folders above or below."""
        below = self._below.get((scope, location.directory), ())
        homes = [*_parent_directories(location.directory), *below]
        return [run for home in homes for run in self._by_directory.get((scope, home), ())]

    def _match_in_directory(
        self, scope: str, location: RunLocation, first: FirstPointByTag
    ) -> _GroupMembers | None:
        """The run in the same home that the log belongs to."""
        others = self._by_directory.get((scope, location.directory), [])
        scored = [(similarity(run.merged_first_points, first), run) for run in others]
        score, best = max(scored, key=lambda pair: pair[0] or 0.0, default=(None, None))
        if score is not None and score > 0.5:
            return best
        if not first:  # nothing to compare, and no run of its own
            return others[0] if others else None
        unknown = [run for score, run in scored if score is None and run.is_direct]
        return unknown[0] if location.is_direct and len(others) == 1 and unknown else None

    def _match_nearby(
        self, scope: str, location: RunLocation, first: FirstPointByTag
    ) -> _GroupMembers | None:
        """The one run above or below that matches for certain (a console log next to the folder
        that its trainer writes to).
        """
        if len(first) < MIN_COMMON_TAGS:
            return None
        nearby = self._runs_nearby(scope, location)
        found = [run for run in nearby if _is_certain_match(run.merged_first_points, first)]
        return found[0] if len(found) == 1 else None

    def _new_run(self, scope: str, location: RunLocation, key: str) -> _GroupMembers:
        home = (scope, location.directory)
        path = location.unit or location.directory
        file = "" if location.unit else re.sub(r"(?<=[^/])\.\w{1,5}$", "", key)
        others = self._by_directory.setdefault(home, [])
        for above in _parent_directories(location.directory):
            self._below.setdefault((scope, above), {})[location.directory] = None
        name = file if file and others else path
        if name in self._runs:
            name = f"{scope}/{name}"
        while name in self._runs:
            name += "'"
        run = _GroupMembers(name, home, path, file, location.is_direct)
        self._runs[name] = run
        others.append(run)
        self._names.clear()
        return run

    def remove_run(self, run: str) -> None:
        """Forget a run whose logs are all gone; if they return, it starts over."""
        found = self._runs.pop(run, None)
        if found is None:
            return
        others = self._by_directory[found.directory]
        others.remove(found)
        if not others:
            del self._by_directory[found.directory]
            scope, home = found.directory
            for above in _parent_directories(home):
                del self._below[scope, above][home]
        for table in (self._units, self._assigned):
            for key in [key for key, each in table.items() if each is found]:
                del table[key]
        self._names.clear()

    def run_path(self, run: str) -> str:
        """The directory (or file) of a run, starting with its PATH."""
        found = self._runs[run]
        scope = found.directory[0]
        several = len(self._by_directory[found.directory]) > 1
        path = found.file if several and found.file else found.path
        return scope if path == "." else f"{scope}/{path}"

    def run_name(self, run: str) -> str:
        """The shortest end of a run's path that no other run has; may grow with new runs."""
        if not self._names:
            self._names = short_names({each: self.run_path(each) for each in self._runs})
        return self._names[run]


def locate_run(key: str, first: FirstPointByTag) -> RunLocation:
    """The location of a log by its path (and the tags of an event file)."""
    *folders, name = key.split("/")
    for depth, folder in enumerate(folders):
        if TRACKER_RUN_FOLDER.fullmatch(folder):
            above = folders[:depth]
            if above and above[-1] in ("wandb", "swanlog"):
                above.pop()
            return RunLocation(_join(above), _join(folders[: depth + 1]), is_direct=False)
        if ATTEMPT_FOLDER.fullmatch(folder):
            return RunLocation(_join(folders[:depth]), _join(folders[:depth]))
    tag = key.rpartition("/scalars/")[2].removesuffix(".csv")
    if name.endswith(".csv") and "scalars" in folders[1:] and set(first) == {tag}:
        home = _join(folders[: folders.index("scalars", 1)])
        return RunLocation(home, home)  # TorchRL: one file a tag
    folder, _, tag = f"/{key}".rpartition("/plots/metrics/")
    if name.endswith(".tsv") and folder + tag and set(first) == {tag.removesuffix(".tsv")}:
        home = _join(_without_inner(folder.split("/")[1:]))
        return RunLocation(home, home)  # DVCLive: one file a tag, too
    events = "tfevents" in name
    if ZOO_SETTINGS_PATH.fullmatch(key) or (folders and CHECKPOINT_FOLDER.search(folders[-1])):
        folders.pop()  # trainer_state.json
    elif folders and _is_helper_folder(folders[-1], events, first):
        folders.pop()
    inner = _without_inner(folders)
    if events and len(inner) > 1 and inner[-2] == "runs" and START_TIME_FOLDER.fullmatch(inner[-1]):
        return RunLocation(_join(inner[:-2]), _join(inner), is_direct=False)
    home = _join(inner)
    return RunLocation(home, home if SINGLE_RUN_FILE.search(name) else "")


def similarity(some: FirstPointByTag, others: FirstPointByTag) -> float | None:
    """The share of common distinct tags with equal first values; None if there are no such tags."""
    alike = _compare(some, others)
    return sum(alike) / len(alike) if alike else None


def _compare(some: FirstPointByTag, others: FirstPointByTag) -> list[bool]:
    """Whether the first values are equal, for each common tag that tells runs apart."""
    return [
        _is_same_value(some[_without_train_prefix(tag)][1], value)
        for tag, (_, value) in others.items()
        if _without_train_prefix(tag) in some and not INDISTINCT_TAG.search(tag)
    ]


def _is_certain_match(some: FirstPointByTag, others: FirstPointByTag) -> bool:
    alike = _compare(some, others)
    return len(alike) >= MIN_COMMON_TAGS and sum(alike) >= MIN_EQUAL_SHARE * len(alike)


def _parent_directories(home: str) -> list[str]:
    """The directories above a home, up to the watched one."""
    parts = home.split("/")
    above = ["/".join(parts[:count]) for count in range(1, len(parts))]
    return above if home == "." else [".", *above]


def _distinct_tag_count(first: FirstPointByTag) -> int:
    """How many tags tell runs apart."""
    return sum(not INDISTINCT_TAG.search(tag) for tag in first)


def _is_same_value(one: float, other: float) -> bool:
    if not (math.isfinite(one) and math.isfinite(other)):
        return repr(one) == repr(other)
    last_digit = max(int(Decimal(repr(each)).as_tuple().exponent) for each in (one, other))
    rounding = 0.501 * 10.0**last_digit  # half a unit of the shorter number: 0.6 may be 0.5723
    return math.isclose(one, other, rel_tol=VALUE_TOLERANCE, abs_tol=rounding)


def _without_train_prefix(tag: str) -> str:
    """A tag without the prefix that transformers adds in some of its outputs."""
    return tag.removeprefix("train/")


def _is_helper_folder(folder: str, events: bool, first: FirstPointByTag) -> bool:
    """Whether a helper of TensorBoard made the folder next to the event file of the run.

    add_hparams names it after the time; add_scalars `<tag>_<key>`, with that tag only.
    """
    tags = list(first)
    if UNIX_TIME_FOLDER.match(folder):
        return True
    return events and len(tags) == 1 and folder.startswith(tags[0].replace("/", "_") + "_")


def _without_inner(folders: list[str]) -> list[str]:
    """The run's own directory, without the folders inside it."""
    inner = list(folders)
    if len(inner) > 1 and inner[-2] == ".summary":
        inner.pop()
    while inner and INNER_FOLDER.fullmatch(inner[-1]):
        inner.pop()
    return inner


def _scope(key: str, root: str) -> str:
    """The watched directory; for a file given by itself, its folder."""
    if "/" not in key and root.endswith("/" + key):
        return root[: -len(key) - 1] or "/"
    return "." if root == key else root


def _join(folders: list[str]) -> str:
    return "/".join(folders) or "."
