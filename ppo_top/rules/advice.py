"""What to try, in the option names of the trainer at hand and with the run's own values.

A rule writes `lower {learning_rate}`; for a run of Stable-Baselines3 that becomes
`lower learning_rate (0.03 now; SB3's default is 0.0003)`, for one of verl
`lower actor_rollout_ref.actor.optim.lr (...)`. `{clip_range:name}` is the bare name. A sentence
that needs an option which the trainer does not have is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from ppo_top.catalogue import (
    Producer,
    canonical_names,
    default,
    option,
    options,
    trainers,
)
from ppo_top.model import ConfigValue
from ppo_top.rules.run import Run
from ppo_top.words import clean, number

LOGGED = {"learning_rate": "lr", "clip_range": "clip_range", "kl_coef": "kl_coef"}
"""Options whose value some trainers log as a metric."""

EITHER = {
    "kl_penalty": ("beta", "kl_coef"),
    "batches": ("batch_size", "num_minibatches", "n_steps"),
    "rollouts": ("n_steps", "n_envs", "num_generations", "batch_size"),
    "normalise": ("normalize_advantage", "whiten_rewards"),
    "training_length": ("total_timesteps", "max_steps", "total_iterations", "num_train_epochs"),
}
"""Options that serve the same end: the first that the trainer has is named."""

NAMES = canonical_names() | EITHER.keys()
"""Every option that advice may speak of."""


class Named:
    """An option of the trainer at hand, ready to be put into a sentence."""

    def __init__(self, name: str, now: str = "", default: str = "", whose: str = "") -> None:
        self.name, self.now, self.default, self.whose = name, now, default, whose

    def __format__(self, spec: str) -> str:
        """The name with what is known of its value; the format `name` gives the bare name."""
        words = [f"{self.now} now"] if self.now else []
        if self.default and self.default != self.now:
            words.append(f"{self.whose}'s default is {self.default}")
        return self.name if spec == "name" or not words else f"{self.name} ({'; '.join(words)})"


class Options(Mapping[str, Named]):
    """Looks options up for one run, as a sentence asks for them."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.producer = producer_of(run)

    def __getitem__(self, name: str) -> Named:
        found = [named for each in EITHER.get(name, (name,)) if (named := self._find(each))]
        if not found:
            raise KeyError(name)
        return found[0]

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def _find(self, canonical: str) -> Named | None:
        now = current(self.run, canonical)
        known = _known(self.producer, canonical)
        if known is not None:
            name, usual = known
            return Named(name, now, usual, self.producer.label.split()[0])
        return None if _has_own(self.producer.id) and not now else Named(canonical, now)


@lru_cache(maxsize=1024)
def _known(producer: Producer, canonical: str) -> tuple[str, str] | None:
    """What the trainer calls an option, and its default as text."""
    line = option(producer, canonical)
    return (line.name, _text(default(producer, canonical))) if line is not None else None


@lru_cache(maxsize=64)
def _has_own(trainer: str) -> bool:
    """Whether the catalogue knows what this trainer calls its options."""
    return any(each.trainer == trainer for each in options())


def producer_of(run: Run) -> Producer:
    """The run's trainer as the catalogue knows it."""
    table = trainers().get(run.profile.producer)
    label = table.label if table is not None else run.profile.producer
    return Producer(run.profile.producer, label, run.family, run.profile.algo)


def current(run: Run, canonical: str) -> str:
    """An option's value in this run as text: from its configuration, or as the log has it.

    Schedules begin at the option's value; a value above it was set while the run went on.
    """
    value: ConfigValue | None = run.config.get(canonical)
    history = run.histories.get(LOGGED.get(canonical, ""))
    if history is not None and history.first:
        began = history.first[0]
        if value is None or history.last > 2.0 * began:
            value = max(began, history.last)
    return _text(value)


def _text(value: ConfigValue | None) -> str:
    if value is None or isinstance(value, (bool, str)):
        return "" if value is None else clean(str(value)[:40])
    return number(float(value), 3)


def fill(sentences: Iterable[str], run: Run) -> tuple[str, ...]:
    """Sentences with this run's options in them, without those that do not apply."""
    named, filled = Options(run), []
    for sentence in sentences:
        try:
            filled.append(sentence.format_map(named))
        except KeyError:
            continue
    return tuple(filled)
