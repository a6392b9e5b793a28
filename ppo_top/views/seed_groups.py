"""Which runs are seeds of one experiment: by logged settings, else by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from ppo_top.model import ConfigValue
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.text.format import common_start

MIN_EQUAL_SETTINGS = 5
"""Runs of different names need at least this many equal settings to be one experiment."""

_SEED_SUFFIX = re.compile(r"(?i)[-_. ]*(?:\(?seeds?|\bs)?[-_=. ]?\d+\)?$")
_BARE_NUMBER = re.compile(r"(?i)(?<!seed)(?<!seeds)/\d+$")
_NAME_WORD = re.compile(r"[A-Za-z][a-z]*|[0-9]+")
_SEED_WORDS = {"seed", "seeds"}
_WORDS_OF_ONE_RUN = {
    "name", "path", "paths", "dir", "dirs", "directory", "folder", "file", "filename", "id", "uuid",
    "date", "timestamp", "host", "hostname", "device", "devices", "port", "notes", "tags", "group",
    "wandb", "swanlab", "trackio", "pid", "argv", "command", "commit", "user", "created",
}  # fmt: skip
_WORDS_OF_THE_TASK = {"env", "environment", "model", "dataset", "task", "reward", "game", "map"}


SeedSettings = frozenset[tuple[str, str]]


class RunTraits(NamedTuple):
    """What identifies seeds of one experiment; empty where not logged."""

    name_stem: str
    settings: SeedSettings = frozenset()
    seed: str = ""


@cache
def setting_kind(name: str) -> str:
    """`seed`, `own` (identity and location of the run) or `setting`, by the words of a name."""
    words = {word.lower() for word in _NAME_WORD.findall(name)}
    if words & _SEED_WORDS:
        return "seed"
    return "own" if words & _WORDS_OF_ONE_RUN and not words & _WORDS_OF_THE_TASK else "setting"


def name_stem(name: str) -> str:
    """A run's name up to its seed: `cartpole_seed3` and `cartpole-3` are `cartpole`.

    A folder of numbers is not: `logs/3` need have nothing to do with `logs/4`.
    """
    if _BARE_NUMBER.search(name):
        return name
    short = _SEED_SUFFIX.sub("", name)
    return short if len(short) >= 3 else name


def run_traits(name: str, config: Mapping[str, ConfigValue]) -> RunTraits:
    """The traits of a run, from its name and its settings."""
    settings = [
        (key, str(value)) for key, value in config.items() if setting_kind(key) == "setting"
    ]
    seeds = [str(value) for key, value in sorted(config.items()) if setting_kind(key) == "seed"]
    return RunTraits(name_stem(name), frozenset(settings), " ".join(seeds))


SeedGroupKey = tuple[str, SeedSettings]


def group_seeds(runs: Mapping[str, RunTraits]) -> dict[str, list[str]]:
    """Group run ids by experiment: name of the experiment -> ids, both in the order given.

    Runs with the same name but for the seed are one experiment unless their settings differ. Runs
    with equal settings are one experiment whatever their names, if each logs its own seed.
    """
    seeds: dict[SeedSettings, list[str]] = {}
    by_stem: dict[str, set[SeedSettings]] = {}
    for each in runs.values():
        if each.settings:
            seeds.setdefault(each.settings, []).append(each.seed)
            by_stem.setdefault(each.name_stem, set()).add(each.settings)
    groups: dict[SeedGroupKey, list[str]] = {}
    for run, each in runs.items():
        groups.setdefault(_key(each, seeds, by_stem), []).append(run)
    return _named(groups, runs)


def _key(
    run: RunTraits,
    seeds: Mapping[SeedSettings, list[str]],
    by_stem: Mapping[str, set[SeedSettings]],
) -> SeedGroupKey:
    settings, known = run.settings, by_stem.get(run.name_stem, set())
    if not settings and len(known) == 1:  # its name belongs to one experiment only
        settings = next(iter(known))
    drawn = seeds.get(settings, [])
    own_seeds = all(drawn) and len(set(drawn)) == len(drawn)
    return ("" if own_seeds and len(settings) >= MIN_EQUAL_SETTINGS else run.name_stem), settings


def _named(
    groups: Mapping[SeedGroupKey, list[str]], runs: Mapping[str, RunTraits]
) -> dict[str, list[str]]:
    """The groups by the common prefix of their names, made unique."""
    named: dict[str, list[str]] = {}
    for members in groups.values():
        stems = [runs[run].name_stem for run in members]
        shared = common_start(stems).rstrip("-_. ")
        name = shared if len(shared) >= 3 else stems[0]
        if name in named:
            others = runs[named[name][0]].settings
            name = f"{name} {_difference(runs[members[0]].settings, others)}".rstrip()
        first, number = name, 2
        while name in named:
            name, number = f"{first} #{number}", number + 1
        named[name] = members
    return named


def _difference(settings: SeedSettings, others: SeedSettings) -> str:
    """The shortest setting in which two experiments differ."""
    apart = [f"{key} {value}" for key, value in settings - others if value]
    return min(apart, key=lambda text: (len(text), text), default="")
