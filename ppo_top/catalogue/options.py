"""What trainers call their settings: to one name for all, and back to the trainer's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import NamedTuple

from ppo_top.catalogue.producers import Producer
from ppo_top.catalogue.table import FOLDER, rows, trainers
from ppo_top.model import ConfigValue

ANY = "*"
MAIN_ALGORITHMS = ("", "PPO", "GRPO")
"""The algorithms that a trainer's own lines are about; others have lines of the form `sb3/SAC`."""


TOTALS = ("total_timesteps", "max_steps", "total_iterations")
"""What an unknown trainer's run may end at."""

LARGEST = 2.0**63
"""Steps are whole numbers below this."""


OVERSHOOT = 4
"""A step beyond this many times the total shows that the two do not count the same."""


class Option(NamedTuple):
    """One line of the table: how a trainer spells a setting and what it takes by default."""

    canonical: str
    trainer: str
    name: str
    default: str
    note: str


@cache
def options() -> tuple[Option, ...]:
    """Every line of the table."""
    text = (FOLDER / "hyperparameters.tsv").read_text(encoding="utf-8")
    return tuple(Option(*(*cells, "", "", "", "")[:5]) for _, cells in rows(text))


@cache
def canonical_names() -> frozenset[str]:
    """The names that settings have here, whatever trainer they come from."""
    return frozenset(option.canonical for option in options())


@cache
def _spellings(trainer: str) -> dict[str, str]:
    """Spelling -> canonical name: the trainer's own first, then those that need no trainer."""
    found: dict[str, str] = {}
    lines = [each for each in options() if _base(each.trainer) == trainer]
    lines += [each for each in options() if each.trainer == ANY]
    for line in lines:
        found.setdefault(_plain(line.name), line.canonical)
    for name in canonical_names():
        found.setdefault(name, name)
    for name, canonical in _telling().items():
        found.setdefault(name, canonical)
    return found


@cache
def _telling() -> dict[str, str]:
    """One trainer's own spellings that mean the same everywhere: `num_ppo_epochs`, not `steps`."""
    meant: dict[str, set[str]] = {}
    for line in options():
        meant.setdefault(_plain(line.name), set()).add(line.canonical)
    clear = {name: names for name, names in meant.items() if len(names) == 1 and "_" in name}
    return {name: next(iter(names)) for name, names in clear.items()}


def _base(trainer: str) -> str:
    return trainer.partition("/")[0]


def _plain(key: str) -> str:
    key = re.sub(r"[\s\-]+", "_", key.strip().lower())
    return key.replace("/", ".").strip("._")


@lru_cache(maxsize=4096)
def hyperparameter(key: str, trainer: str = "") -> str | None:
    """The canonical name of a setting, from any trainer's spelling of it or path to it, or None.

    Of a path the longest known end counts: `algorithm.kl_ctrl.kl_coef` is `kl_coef`, and
    `critic.optim.lr` is not the actor's learning rate. `trainer` (an id) settles names that
    trainers use for different things: `num_iterations`, `max_epochs`.
    """
    parts = _plain(key).split(".")
    known = _spellings(trainer)
    ends = (".".join(parts[at:]) for at in range(len(parts)))
    return next((known[end] for end in ends if end in known), None)


def option(producer: Producer, canonical: str) -> Option | None:
    """The line of a trainer (and its algorithm) about a setting."""
    table = trainers().get(producer.id)
    if table is not None and canonical in table.without:
        return None
    if producer.algo in MAIN_ALGORITHMS:
        wanted = [table.id, table.like] if table is not None else []
    else:
        wanted = [f"{producer.id}/{producer.algo}"]
    return next(
        (
            each
            for name in wanted
            for each in options()
            if (each.trainer, each.canonical) == (name, canonical)
        ),
        None,
    )


def option_name(producer: Producer, canonical: str) -> str:
    """What the trainer itself calls a setting; the canonical name where that is not known."""
    found = option(producer, canonical)
    return found.name if found else canonical


def default(producer: Producer, canonical: str) -> ConfigValue | None:
    """The trainer's default of a setting, or None where it has none or it is not known."""
    found = option(producer, canonical)
    return _value(found.default) if found and found.default else None


def _value(text: str) -> ConfigValue:
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def total(
    config: Mapping[str, ConfigValue], producer: Producer, step: int | None = None
) -> int | None:
    """How many steps the run will make, counted as the run counts its own; None if nobody says.

    `config` is under canonical names. A number far below the run's newest `step` counts something
    else (iterations where the log has environment steps) and is passed over; trainers go a little
    beyond their total to finish a rollout.
    """
    table = trainers().get(producer.id)
    for name in table.totals if table else TOTALS:
        value = config.get(name)
        if isinstance(value, (bool, str)) or value is None:
            continue
        if 1 <= value < LARGEST and (step or 0) <= OVERSHOOT * value:
            return int(value)
    return None
