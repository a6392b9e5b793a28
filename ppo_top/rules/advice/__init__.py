"""What to try, in the option names of the trainer at hand and with the run's own values.

A rule writes `lower {learning_rate}`; for a run of Stable-Baselines3 that becomes
`lower learning_rate (0.03 now; SB3's default is 0.0003)`, for one of verl
`lower actor_rollout_ref.actor.optim.lr (...)`. What may follow the name is told by `Named`, phrases
such as `{kl_limit}` by `advice.phrases`. A sentence that needs an option which the trainer
does not have, or that asks for what is so already, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from ppo_top.catalogue import (
    Option,
    Producer,
    canonical_names,
    default,
    option,
    options,
    trainers,
)
from ppo_top.model import ConfigValue
from ppo_top.rules.advice.advised_option import FOLLOWED, Named
from ppo_top.rules.advice.phrases import PHRASES, RATE_FOLLOWS
from ppo_top.rules.engine.context import Run

LOGGED = {
    "learning_rate": "lr",
    "clip_range": "clip_range",
    "clip_range_vf": "clip_range_vf",
    "kl_coef": "kl_coef",
}
"""Options whose value some trainers log as a metric."""

EITHER = {
    "kl_penalty": ("beta", "kl_coef"),
    "rollouts": (
        "n_steps",
        "n_envs",
        "num_generations",
        "gradient_accumulation_steps",
        "rollout_size",
        "batch_size",
    ),
    "normalise": ("normalize_advantage", "whiten_rewards"),
    "training_length": ("total_timesteps", "max_steps", "total_iterations", "num_train_epochs"),
}
"""Options that serve the same end: the first that the trainer has is named."""

NAMES = canonical_names() | EITHER.keys() | PHRASES.keys()
"""Everything that advice may speak of."""

COMPUTED = "computed"
"""The note on what looks like an option and is worked out from others."""


class Options(Mapping[str, Named | str]):
    """Looks options and phrases up for one run, as a sentence asks for them."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.producer = producer_of(run)

    def __getitem__(self, name: str) -> Named | str:
        phrase = PHRASES.get(name)
        if phrase is not None:
            return phrase(self.find, self.producer.id, self.run.family)
        return self.find(name)

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)

    def find(self, name: str) -> Named:
        """The option of this name, or the first of those that serve its end; or KeyError."""
        for each in self._ways(name):
            named = self._named(each)
            if named is not None:
                return named
        raise KeyError(name)

    def _ways(self, name: str) -> tuple[str, ...]:
        ways = EITHER.get(name, (name,))
        in_reward = "reward" in self.run.profile.tags.get("ref_kl_token", "")
        return ways[::-1] if name == "kl_penalty" and in_reward else ways

    def _named(self, canonical: str) -> Named | None:
        own, known = current(self.run, canonical), _known(self.producer, canonical)
        if known is None:
            missing = _has_own(self.producer.id) and own is None
            return None if missing else Named(canonical, own)
        line, usual = known
        if line.note == COMPUTED:
            return None
        if canonical == "learning_rate" and self._rate_follows():
            target = self.find("target_kl")
            return Named(target.name, target.value, target.usual, target.whose, FOLLOWED)
        return Named(line.name, own, usual, _whose(self.producer), line.note)

    def _rate_follows(self) -> bool:
        """Whether the KL target sets the learning rate, whatever that was to begin with."""
        if self.producer.id not in RATE_FOLLOWS:
            return False
        schedule = self.run.config.get("lr_schedule") or default(self.producer, "lr_schedule")
        return schedule == "adaptive"


@lru_cache(maxsize=1024)
def _known(producer: Producer, canonical: str) -> tuple[Option, ConfigValue | None] | None:
    """The catalogue's line on an option of a trainer, and its default."""
    line = option(producer, canonical)
    return (line, default(producer, canonical)) if line is not None else None


@lru_cache(maxsize=64)
def _has_own(trainer: str) -> bool:
    """Whether the catalogue knows what this trainer calls its options."""
    own = {trainer, trainers()[trainer].like} if trainer in trainers() else {trainer}
    return any(each.trainer in own for each in options())


def _whose(producer: Producer) -> str:
    """Whose default it is: TRL's, whichever of its trainers, and Spinning Up's."""
    label = producer.label
    return "TRL" if label.startswith("TRL ") else label.removesuffix(" PPO")


def producer_of(run: Run) -> Producer:
    """The run's trainer as the catalogue knows it."""
    table = trainers().get(run.profile.producer)
    label = table.label if table is not None else run.profile.producer
    return Producer(run.profile.producer, label, run.family, run.profile.algo)


def current(run: Run, canonical: str) -> ConfigValue | None:
    """An option's value in this run: from its configuration, or as the log has it.

    Schedules begin at the option's value; a value above it was set while the run went on.
    """
    value: ConfigValue | None = run.config.get(canonical)
    history = run.histories.get(LOGGED.get(canonical, ""))
    if history is not None and history.first:
        began = history.first[0]
        if value is None or history.last > 2.0 * began:
            value = max(began, history.last)
    return value


def fill(sentences: Iterable[str], run: Run) -> tuple[str, ...]:
    """Sentences with this run's options in them, without those that do not apply."""
    named, filled = Options(run), []
    for sentence in sentences:
        try:
            filled.append(sentence.format_map(named))
        except KeyError:
            continue
    return tuple(filled)
