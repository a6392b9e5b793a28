"""Which runs are seeds of one experiment: by their settings where they are logged, else by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from ppo_top.model import ConfigValue

FEWEST = 5
"""So many settings must be equal for runs of different names to be one experiment."""

_SEED = re.compile(r"(?i)[-_. ]*(?:\(?seeds?|\bs)?[-_=. ]?\d+\)?$")
_WORD = re.compile(r"[A-Za-z][a-z]*|[0-9]+")
_SEEDS = {"seed", "seeds"}
_OF_ONE_RUN = {
    "name", "path", "paths", "dir", "dirs", "directory", "folder", "file", "filename", "id", "uuid",
    "date", "timestamp", "host", "hostname", "device", "devices", "port", "notes", "tags", "group",
    "wandb", "swanlab", "trackio", "pid", "argv", "command", "commit", "user", "created",
}  # fmt: skip
_OF_THE_TASK = {"env", "environment", "model", "dataset", "task", "reward", "game", "map"}


Settings = frozenset[tuple[str, str]]


class Traits(NamedTuple):
    """What tells whether two runs are seeds of one experiment; what is not logged is empty."""

    stem: str
    settings: Settings = frozenset()
    seed: str = ""


@cache
def sort_of(name: str) -> str:
    """`seed`, `own` (which run it is, where it lies) or `setting`, by the words of a name."""
    words = {word.lower() for word in _WORD.findall(name)}
    if words & _SEEDS:
        return "seed"
    return "own" if words & _OF_ONE_RUN and not words & _OF_THE_TASK else "setting"


def stem(name: str) -> str:
    """A run's name up to its seed: `cartpole_seed3` and `cartpole-3` are `cartpole`."""
    short = _SEED.sub("", name)
    return short if len(short) >= 3 else name


def traits(name: str, config: Mapping[str, ConfigValue]) -> Traits:
    """The traits of a run, from its name and its settings."""
    settings = [(key, str(value)) for key, value in config.items() if sort_of(key) == "setting"]
    seeds = [str(value) for key, value in sorted(config.items()) if sort_of(key) == "seed"]
    return Traits(stem(name), frozenset(settings), " ".join(seeds))


Key = tuple[str, Settings]


def families(runs: Mapping[str, Traits]) -> dict[str, list[str]]:
    """Runs (by id) by experiment: name of the experiment -> ids, both in the order given.

    One name up to the seed is one experiment, unless the settings differ. Equal settings are one
    experiment whatever the names, where a seed of its own is logged for each.
    """
    seeds: dict[Settings, list[str]] = {}
    by_stem: dict[str, set[Settings]] = {}
    for each in runs.values():
        if each.settings:
            seeds.setdefault(each.settings, []).append(each.seed)
            by_stem.setdefault(each.stem, set()).add(each.settings)
    groups: dict[Key, list[str]] = {}
    for run, each in runs.items():
        groups.setdefault(_key(each, seeds, by_stem), []).append(run)
    return _named(groups, runs)


def _key(
    run: Traits, seeds: Mapping[Settings, list[str]], by_stem: Mapping[str, set[Settings]]
) -> Key:
    settings, known = run.settings, by_stem.get(run.stem, set())
    if not settings and len(known) == 1:  # it belongs to its name, which is one experiment
        settings = next(iter(known))
    drawn = seeds.get(settings, [])
    own_seeds = all(drawn) and len(set(drawn)) == len(drawn)
    return ("" if own_seeds and len(settings) >= FEWEST else run.stem), settings


def _named(groups: Mapping[Key, list[str]], runs: Mapping[str, Traits]) -> dict[str, list[str]]:
    """The groups by what their names share, each name once."""
    named: dict[str, list[str]] = {}
    for members in groups.values():
        stems = [runs[run].stem for run in members]
        shared = _shared(stems).rstrip("-_. ")
        name = shared if len(shared) >= 3 else stems[0]
        if name in named:
            others = runs[named[name][0]].settings
            name = f"{name} {_difference(runs[members[0]].settings, others)}".rstrip()
        number = 2
        while name in named:
            name, number = f"{name} #{number}", number + 1
        named[name] = members
    return named


def _difference(settings: Settings, others: Settings) -> str:
    """The setting in which two experiments differ, the shortest to say."""
    apart = [f"{key} {value}" for key, value in settings - others if value]
    return min(apart, key=lambda text: (len(text), text), default="")


def _shared(names: list[str]) -> str:
    """The letters with which all names begin."""
    alike = 0
    for letters in zip(*names, strict=False):
        if len(set(letters)) > 1:
            break
        alike += 1
    return names[0][:alike]
