"""Trainers' option names: to one canonical name, and back to the trainer's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from ppo_top.catalogue.families import GRPO, ON_POLICY, RLHF
from ppo_top.catalogue.table import shared_table, trainer_tables
from ppo_top.catalogue.trainers import Trainer
from ppo_top.model import Axis, ConfigValue, as_number
from ppo_top.model.named_tuple import NamedTuple

ANY_TRAINER = "*"
ONLY = "!only"
MAIN_ALGORITHMS = ("", "PPO", "GRPO", "RLOO", "GRPO/RLOO", "DPO")
"""The algorithms of a trainer's plain lines; others have lines such as `sb3/SAC`."""


_CLIPPING_FAMILIES = frozenset({ON_POLICY, RLHF, GRPO})

DEFAULT_TOTAL_OPTIONS = (
    "total_timesteps", "max_steps", "total_iterations",
    "total_steps", "total_env_steps", "num_env_steps", "total_frames", "max_train_steps",
)  # fmt: skip
"""Options that may hold the total of an unknown trainer's run."""

_ENVIRONMENT_STEPS = ("total_timesteps", "total_env_steps", "num_env_steps", "total_frames")
"""Those of them that never count updates, episodes or epochs."""

TOTALS_OF_NUMBERS = {Axis.EPISODE: "total_episodes", Axis.EPOCH: "num_train_epochs"}
"""Options that hold the total where the steps of a run are numbers of these, whoever wrote it."""

MAX_TOTAL_STEPS = 2.0**63
"""Steps are integers below this."""

MAX_OVERSHOOT_FACTOR = 4
"""If a step exceeds the total by more than this factor, the two count different things."""

_OTHER_UNIT = 4
"""A count of steps so many times as high as the run's own counter is of something finer."""


class Option(NamedTuple):
    """One line of the table: a trainer's name and default for an option."""

    canonical: str
    trainer: str
    name: str
    default: str
    note: str


@cache
def options() -> tuple[Option, ...]:
    """Every line of the table."""
    lines = (cells for cells in _rows() if cells[0] != ONLY)
    return tuple(Option(*(*cells, "", "", "", "")[:5]) for cells in lines)


@cache
def option_families() -> Mapping[str, frozenset[str]]:
    """Canonical name -> the families that have the option, of those that not all have."""
    return {cells[1]: frozenset(cells[2].split()) for cells in _rows() if cells[0] == ONLY}


@cache
def _rows() -> tuple[list[str], ...]:
    return tuple(shared_table("hyperparameters"))


@cache
def canonical_names() -> frozenset[str]:
    """The canonical option names, independent of the trainer."""
    return frozenset(option.canonical for option in options())


@cache
def _spellings(trainer: str) -> dict[str, str]:
    """Spelling -> canonical name: the trainer's own first, then those that need no trainer."""
    found: dict[str, str] = {}
    lines = [each for each in options() if _base_trainer(each.trainer) == trainer]
    lines += [each for each in options() if each.trainer == ANY_TRAINER]
    for line in lines:
        found.setdefault(_normalise_key(line.name), line.canonical)
    for name in canonical_names():
        found.setdefault(name, name)
    for name, canonical in _unambiguous_spellings().items():
        found.setdefault(name, canonical)
    return found


@cache
def _unambiguous_spellings() -> dict[str, str]:
    """Spellings of one trainer that are clear everywhere: `num_ppo_epochs`, not `steps`."""
    meant: dict[str, set[str]] = {}
    for line in options():
        meant.setdefault(_normalise_key(line.name), set()).add(line.canonical)
    clear = {name: names for name, names in meant.items() if len(names) == 1 and "_" in name}
    return {name: next(iter(names)) for name, names in clear.items()}


def _base_trainer(trainer: str) -> str:
    return trainer.partition("/")[0]


def _normalise_key(key: str) -> str:
    key = re.sub(r"[\s\-]+", "_", key.strip().lower())
    return key.replace("/", ".").strip("._")


@lru_cache(maxsize=4096)
def hyperparameter(key: str, trainer: str = "") -> str | None:
    """The canonical name of an option, from any trainer's spelling or config path, or None.

    The longest known suffix of a path counts: `algorithm.kl_ctrl.kl_coef` is `kl_coef`, and
    `critic.optim.lr` is not the actor's learning rate. `trainer` (an id) decides names that
    trainers use differently: `num_iterations`, `max_epochs`.
    """
    parts = _normalise_key(key).split(".")
    known = _spellings(trainer)
    ends = (".".join(parts[start:]) for start in range(len(parts)))
    return next((known[end] for end in ends if end in known), None)


def setting_name(key: str, trainer: Trainer) -> str:
    """The canonical name of a setting in a run of this trainer, else the one that it has.

    A bare `epsilon` is the clip range where a policy is clipped; others explore with it.
    """
    found = hyperparameter(key, trainer.id) or key
    is_bare = _normalise_key(key).rpartition(".")[2] == "epsilon"
    return key if is_bare and trainer.family not in _CLIPPING_FAMILIES else found


@lru_cache(maxsize=4096)
def option(trainer: Trainer, canonical: str) -> Option | None:
    """The table line of a trainer (and its algorithm) for an option, or None."""
    table = trainer_tables().get(trainer.id)
    if table is not None and canonical in table.missing_options:
        return None
    if trainer.algo in MAIN_ALGORITHMS:
        wanted = [table.id, table.like] if table is not None else []
    else:
        wanted = [f"{trainer.id}/{trainer.algo}"]
    lines = [each for each in options() if each.canonical == canonical]
    return next((each for name in wanted for each in lines if each.trainer == name), None)


def option_name(trainer: Trainer, canonical: str) -> str:
    """The trainer's own name for an option, or the canonical one if unknown."""
    found = option(trainer, canonical)
    return found.name if found else canonical


def option_default(trainer: Trainer, canonical: str) -> ConfigValue | None:
    """The trainer's default for an option, or None if it has none or is unknown."""
    found = option(trainer, canonical)
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


def total_steps(
    config: Mapping[str, ConfigValue],
    trainer: Trainer,
    step: int | None = None,
    counted: float | None = None,
    axis: Axis = Axis.STEP,
) -> int | None:
    """The run's total steps, in the unit of its own step counter; None if unknown.

    `config` has canonical names; its totals are of the trainer's steps, or of what the steps of the
    run are (`axis`). `counted` is the newest value of a metric that counts those, where the run's
    own counter may be another one (OmniSafe's event files go by epochs). A number far below the
    newest `step` counts something else (say iterations, where the log has environment steps) and is
    skipped; trainers overshoot their total a little to finish a rollout. Where the trainer is
    unknown, one that is ahead comes first, and environment steps are no total of other numbers.
    """
    table = trainer_tables().get(trainer.id)
    totals, own = [], TOTALS_OF_NUMBERS.get(axis, "")
    for name in (own, *(table.total_options if table else DEFAULT_TOTAL_OPTIONS)):
        value = as_number(config.get(name))
        if value is None or not 1 <= value < MAX_TOTAL_STEPS:
            continue
        if table is None and counted is None and _counts_other(name, axis):
            continue
        total = _whole_rollouts(config, value)
        total *= 1.0 if name == own else _counter_unit(name, value, step, counted)
        if (step or 0) <= MAX_OVERSHOOT_FACTOR * total:
            totals.append(round(total))
    first = next(iter(totals), None)
    return first if table else next((each for each in totals if each >= (step or 0)), first)


def _counts_other(name: str, axis: Axis) -> bool:
    """Whether an option counts environment steps, and the run something else."""
    return axis is not Axis.STEP and name in _ENVIRONMENT_STEPS


def _whole_rollouts(config: Mapping[str, ConfigValue], total: float) -> float:
    """A total of steps without what is too little for an iteration, where these are stated.

    CleanRL's PPO takes `total_timesteps // batch_size` iterations and logs both.
    """
    iterations, size = (
        as_number(config.get(each)) for each in ("total_iterations", "rollout_size")
    )
    if iterations is None or size is None:
        return total
    whole = iterations * size
    return whole if whole <= total < whole + size else total


def _counter_unit(name: str, total: float, step: int | None, counted: float | None) -> float:
    """How far the run's own counter goes in one of what a total counts; 1.0 if it counts that.

    Iterations, and what the count of steps is far beyond, are the run's own:
    `Iteration 3/60 | Steps: 6144`.
    """
    if not step or not counted or counted <= _OTHER_UNIT * step:
        return 1.0
    is_own = name == "total_iterations" or counted > MAX_OVERSHOOT_FACTOR * total
    return 1.0 if is_own else step / counted


def names_self_play(config: Mapping[str, ConfigValue]) -> bool:
    """Whether a configuration says that the policy plays against its past selves.

    As ML-Agents' `self_play:` section does, or an option such as `use_self_play`.
    """
    return any(
        value not in (False, None, 0, "", "false", "False", "none")
        for name, value in config.items()
        if "selfplay" in name.lower().replace("_", "").replace("-", "")
    )
