"""Which logs are one run: told by where they lie, and where that leaves doubt, by what they say.

A log has a *home*, the directory of its run, and perhaps a *unit*: logs of one unit are one run
whatever they hold (an event file and the progress.csv beside it, the ranks of one launch). Units
and single files in one home are compared: they are one run if what both log begins alike. A log is
placed once and never moves, so a run keeps its name when a file appears.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from ppo_top.runs.short_names import short_names

FirstPointByTag = Mapping[str, tuple[int, float]]
"""tag -> step and value of its first point."""

INNER_FOLDER = re.compile(
    r"tb|tensorboard|tb_logs|tensorboard_logs?|logs?|summaries|\.?summary|metrics|scalars|monitors?"
    r"|train|eval|evaluation|valid|validation|val|test"
)
"""Folders inside a run's directory."""
SINGLE_RUN_FILE = re.compile(
    r"(?i)tfevents|monitor\.csv$|^(progress\.(csv|json|txt)|log\.txt|result\.json|evaluations\.npz"
    r"|trainer_state\.json|hparams\.ya?ml|config\.(ya?ml|json)|params\.json|sf_log\.txt"
    r"|\d{8}\.jsonl)$"  # an inbox of Trackio
)
"""Names that a trainer gives in the directory of one run."""
CHECKPOINT_FOLDER = re.compile(r"checkpoint[-_]\d+$")
START_TIME_FOLDER = re.compile(r"[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d_.+")
"""The folder that torch and transformers name after the start: Nov21_00-40-41_host."""
UNIX_TIME_FOLDER = re.compile(r"\d{9,10}(\.\d+)?$")
"""The folder of hyperparameters that add_hparams and accelerate make beside the metrics."""
TRACKER_RUN_FOLDER = re.compile(r"(offline-)?run-\d{8}_\d{6}-\w+")
"""One run of Weights & Biases or SwanLab."""
ZOO_SETTINGS_PATH = re.compile(r"(?:.*/)?([^/]+)_\d+/\1/(?:config|args)\.ya?ml")
"""rl-baselines3-zoo's settings: PPO/CartPole-v1_3/CartPole-v1/config.yml."""
ATTEMPT_FOLDER = re.compile(r"attempt_\d+$")
INDISTINCT_TAG = re.compile(
    r"(?i)time|fps|sps\b|per_sec|speed|runtime|epoch|iter|step|episodes|n_updates|num_tokens|lr\b"
    r"|learning_rate|clip_range|coef|beta\b"
)
"""Tags that begin alike in different runs (settings, counters) or unlike in one (clocks)."""
MIN_COMMON_TAGS = 4
"""So many equal beginnings are no accident,"""
MIN_EQUAL_SHARE = 0.9
"""if so many of those that both logs have are equal."""
VALUE_TOLERANCE = 0.01
"""Consoles print three digits: so close is the same number."""


MIN_DISTINCT_TAGS = 3
"""Of two logs with fewer telling tags than this so far, more may show that they are one run."""


SETTLED_ROW_COUNT = 3
"""A log with so many rows has shown the tags that it will go on with."""


def row_count(first: FirstPointByTag) -> int:
    """How many rows a log has so far, where its first points can tell (else: enough)."""
    rows: int = getattr(first, "rows", SETTLED_ROW_COUNT)
    return rows


@dataclass(frozen=True, slots=True)
class RunLocation:
    """Where a log belongs by its path. `is_direct`: it lies in the home itself."""

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
        """The first point of each tag of all its logs, of the earliest log that has it."""
        found: dict[str, tuple[int, float]] = {}
        for voice in self.first_points:
            for tag, point in voice.items():
                found.setdefault(_without_train_prefix(tag), point)
        return found


class RunGroups:
    """Runs, as far as logs were placed."""

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
        """The id of the run that a log belongs to; None: cannot be told before it has points.

        `key` is its path below `root`; `first` holds the first point of each tag so far, and is
        kept: it may grow. `must_decide` asks for an answer now, because no points will come.
        """
        known = self._assigned.get((root, key))
        if known is not None:
            return known.id
        place = locate_run(key, first)
        scope = _scope(key, root)
        run = self._units.get((scope, place.unit)) if place.unit else None
        if run is None:
            if not (first or must_decide):
                return None
            run = self._match_in_directory(scope, place, first)
            if run is None and not must_decide and self._is_too_early(scope, place, first):
                return None
            run = run or self._match_nearby(scope, place, first) or self._new_run(scope, place, key)
        if place.unit:
            self._units[scope, place.unit] = run
        self._assigned[root, key] = run
        run.first_points.append(first)
        if (
            place.is_direct and not run.is_direct
        ):  # it began in a folder below: now it has its whole home
            run.is_direct, run.path, run.file = True, place.directory, ""
            self._names.clear()
        return run.id

    def _is_too_early(self, scope: str, place: RunLocation, first: FirstPointByTag) -> bool:
        """Whether more rows may tell that a log is another voice of a run in or near its home.

        Trainers log their first rows with fewer tags than the others.
        """
        doubtful = [
            run
            for run in self._by_directory.get((scope, place.directory), [])
            if similarity(run.merged_first_points, first) is None
            and min(_distinct_tag_count(first), _distinct_tag_count(run.merged_first_points))
            < MIN_DISTINCT_TAGS
        ]
        doubtful += [
            run
            for run in self._runs_nearby(scope, place)
            if len(_compare(run.merged_first_points, first)) < MIN_COMMON_TAGS
        ]
        voices = [voice for run in doubtful for voice in (first, *run.first_points)]
        return any(row_count(voice) < SETTLED_ROW_COUNT for voice in voices)

    def _runs_nearby(self, scope: str, place: RunLocation) -> list[_GroupMembers]:
        """The runs in folders above or below."""
        homes = [
            *_parent_directories(place.directory),
            *self._below.get((scope, place.directory), ()),
        ]
        return [run for home in homes for run in self._by_directory.get((scope, home), ())]

    def _match_in_directory(
        self, scope: str, place: RunLocation, first: FirstPointByTag
    ) -> _GroupMembers | None:
        """A run of the same home that this log is another voice of."""
        others = self._by_directory.get((scope, place.directory), [])
        likes = [(similarity(run.merged_first_points, first), run) for run in others]
        best = max(likes, key=lambda pair: pair[0] or 0.0, default=(None, None))
        if best[0] is not None and best[0] > 0.5:
            return best[1]
        if not first:  # nothing to compare, and nothing to show by itself
            return others[0] if others else None
        loose = [run for like, run in likes if like is None and run.is_direct]
        return loose[0] if place.is_direct and len(others) == 1 and loose else None

    def _match_nearby(
        self, scope: str, place: RunLocation, first: FirstPointByTag
    ) -> _GroupMembers | None:
        """The one run above or below that begins alike without doubt: a console beside the folder
        into which its trainer writes.
        """
        if len(first) < MIN_COMMON_TAGS:
            return None
        found = [
            run
            for run in self._runs_nearby(scope, place)
            if _is_certain_match(run.merged_first_points, first)
        ]
        return found[0] if len(found) == 1 else None

    def _new_run(self, scope: str, place: RunLocation, key: str) -> _GroupMembers:
        home = (scope, place.directory)
        path = place.unit or place.directory
        file = "" if place.unit else _without_suffix(key)
        others = self._by_directory.setdefault(home, [])
        for above in _parent_directories(place.directory):
            self._below.setdefault((scope, above), {})[place.directory] = None
        name = file if file and others else path
        if name in self._runs:
            name = f"{scope}/{name}"
        while name in self._runs:
            name += "'"
        run = _GroupMembers(name, home, path, file, place.is_direct)
        self._runs[name] = run
        others.append(run)
        self._names.clear()
        return run

    def remove_run(self, run: str) -> None:
        """Forget a run whose logs are all gone; should they return, it begins anew."""
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
        """The directory (or file) of a run, below its PATH, with the PATH before it."""
        found = self._runs[run]
        scope = found.directory[0]
        several = len(self._by_directory[found.directory]) > 1
        path = found.file if several and found.file else found.path
        return scope if path == "." else f"{scope}/{path}"

    def run_name(self, run: str) -> str:
        """The shortest end of a run's path that no other run has; it may grow when runs appear."""
        if not self._names:
            self._names = short_names({each: self.run_path(each) for each in self._runs})
        return self._names[run]


def locate_run(key: str, first: FirstPointByTag) -> RunLocation:
    """What the path of a log (and the tags of an event file) say about its run."""
    *folders, name = key.split("/")
    for depth, folder in enumerate(folders):
        if TRACKER_RUN_FOLDER.fullmatch(folder):
            above = folders[:depth]
            if above and above[-1] in ("wandb", "swanlog"):
                above.pop()
            return RunLocation(_join(above), _join(folders[: depth + 1]), is_direct=False)
        if ATTEMPT_FOLDER.fullmatch(folder):
            return RunLocation(_join(folders[:depth]), _join(folders[:depth]))
    if name.endswith(".csv") and "scalars" in folders[1:] and set(first) == {_tag_below(key)}:
        home = _join(folders[: folders.index("scalars", 1)])
        return RunLocation(home, home)  # TorchRL: one file a tag
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


def _tag_below(key: str) -> str:
    return key.rpartition("/scalars/")[2].removesuffix(".csv")


def similarity(some: FirstPointByTag, others: FirstPointByTag) -> float | None:
    """The share of common telling tags that begin alike; None when there are none."""
    alike = _compare(some, others)
    return sum(alike) / len(alike) if alike else None


def _compare(some: FirstPointByTag, others: FirstPointByTag) -> list[bool]:
    """For each tag that both have and that tells runs apart: whether it begins alike."""
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
    return one == other or math.isclose(
        one, other, rel_tol=VALUE_TOLERANCE, abs_tol=_rounding(one, other)
    )


def _rounding(one: float, other: float) -> float:
    """Half a unit of the last digit of the number that was printed shorter: 0.6 may be 0.5723."""
    last = max(int(Decimal(repr(each)).as_tuple().exponent) for each in (one, other))
    return 0.501 * 10.0**last


def _without_train_prefix(tag: str) -> str:
    """A tag without the prefix that transformers adds in some of its outputs."""
    return tag.removeprefix("train/")


def _is_helper_folder(folder: str, events: bool, first: FirstPointByTag) -> bool:
    """Whether TensorBoard's helpers made the folder beside the event file of the run.

    add_hparams names it after the time; add_scalars `<tag>_<key>`, with that tag only.
    """
    tags = list(first)
    if UNIX_TIME_FOLDER.match(folder):
        return True
    return events and len(tags) == 1 and folder.startswith(tags[0].replace("/", "_") + "_")


def _without_inner(folders: list[str]) -> list[str]:
    """Climb out of the folders that lie inside a run's own directory."""
    inner = list(folders)
    if len(inner) > 1 and inner[-2] == ".summary":
        inner.pop()
    while inner and INNER_FOLDER.fullmatch(inner[-1]):
        inner.pop()
    return inner


def _scope(key: str, root: str) -> str:
    """The watched directory; of files that were given one by one, their folder."""
    if "/" not in key and root.endswith("/" + key):
        return root[: -len(key) - 1] or "/"
    return "." if root == key else root


def _join(folders: list[str]) -> str:
    return "/".join(folders) or "."


def _without_suffix(key: str) -> str:
    return re.sub(r"(?<=[^/])\.\w{1,5}$", "", key)
