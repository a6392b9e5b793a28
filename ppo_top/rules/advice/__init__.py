"""What to try, in the option names of the trainer at hand and with the run's own values.

A rule writes `lower {learning_rate}`; for an SB3 run that becomes `lower learning_rate (0.03 now;
SB3's default is 0.0003)`, for verl `lower actor_rollout_ref.actor.optim.lr (...)`. `AdvisedOption`
documents what may follow the name, `advice.phrases` phrases such as `{kl_limit}`. A sentence is
left out if the trainer lacks the option or the run already has the advised value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache

from ppo_top.catalogue import (
    TOTALS_OF_NUMBERS,
    Option,
    Trainer,
    option,
    option_default,
    option_families,
    options,
    trainer_tables,
)
from ppo_top.model import ConfigValue, Finding, as_number
from ppo_top.rules.advice.advised_option import RATE_FOLLOWS_NOTE, AdvisedOption
from ppo_top.rules.advice.causes import is_excused, ranked_advice
from ppo_top.rules.advice.contradictions import direction_of, without_repeats
from ppo_top.rules.advice.phrases import ADVICE_PHRASES, RATE_FOLLOWS_KL
from ppo_top.rules.advice.rate_symptoms import rate_high, rate_low
from ppo_top.rules.advice.setting_symptoms import rate_adapts
from ppo_top.rules.engine.judged_run import JudgedRun
from ppo_top.rules.engine.rule import Rule
from ppo_top.rules.engine.terms import UNKNOWN_FAMILY

LOGGED_OPTIONS = {
    "learning_rate": "lr",
    "clip_range": "clip_range",
    "clip_range_vf": "clip_range_vf",
    "kl_coef": "kl_coef",
}
"""Options that some trainers log as a metric."""

ALTERNATIVE_OPTIONS = {
    "kl_penalty": ("beta", "kl_coef"),
    "memory_batch": ("micro_batch_size", "batch_size"),
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
"""Options that serve the same purpose: the first that the trainer has is named."""

ROUNDING = 1e-3
"""A logged value that differs by less from the option's is the same, written with fewer digits."""

FAR_FROM_DEFAULT = 30.0
"""An option this many times its default, or less than this part of it, is moved no further off."""

RAISED_RATE = 2.0
"""A learning rate of so many times the trainer's default is not what keeps a run from learning."""

POLICY_SIGNS = frozenset({"entropy", "policy_loss", "approx_kl", "clip_fraction", "value_loss"})
"""Metrics that show a policy gradient in a log whose kind is unknown."""

COMPUTED_NOTE = "computed"
"""The note on options that are computed from others and cannot be set."""


class AdviceOptions:
    """Options and phrases for one run, by the name used in a sentence."""

    def __init__(self, run: JudgedRun) -> None:
        self.run = run
        self.trainer = trainer_of(run)

    def __getitem__(self, name: str) -> AdvisedOption | str:
        phrase = ADVICE_PHRASES.get(name)
        if phrase is not None:
            return phrase(self.find_option, self.run.facts, self.run.family)
        return self.find_option(name)

    def find_option(self, name: str) -> AdvisedOption:
        """The option of this name or its first known alternative; KeyError if there is none."""
        ways = ALTERNATIVE_OPTIONS.get(name, (name,))
        numbered = TOTALS_OF_NUMBERS.get(self.run.profile.axis)
        if name == "training_length" and numbered is not None:
            ways = (numbered, *ways)
        in_reward = "reward" in self.run.profile.tags.get("ref_kl_token", "")
        for each in reversed(ways) if name == "kl_penalty" and in_reward else ways:
            named = self._advised(each)
            if named is not None:
                return named
        raise KeyError(name)

    def _advised(self, canonical: str) -> AdvisedOption | None:
        if canonical == "learning_rate" and "critic-rate" in self.run.facts:
            return None  # the size of policy updates does not depend on it
        families = option_families().get(canonical)
        if families is not None and self.run.family not in families:
            return None
        own = current_value(self.run, canonical)
        if families is not None and own is None and _may_be_of_any_kind(self.run):
            return None
        moment = "at first" if _has_moved(self.run, canonical, own) else "now"
        known = _catalogue_option(self.trainer, canonical)
        if known is None:
            missing = _has_options(self.trainer.id) and own is None
            return None if missing else AdvisedOption(canonical, own, moment=moment)
        line, usual = known
        if line.note == COMPUTED_NOTE:
            return None
        if canonical == "learning_rate" and self._rate_follows():
            kl = self.find_option("target_kl")
            return AdvisedOption(kl.name, kl.value, kl.default, kl.default_owner, RATE_FOLLOWS_NOTE)
        return AdvisedOption(line.name, own, usual, _default_owner(self.trainer), line.note, moment)

    def _rate_follows(self) -> bool:
        """Whether the KL target sets the learning rate, whatever its initial value."""
        if RATE_FOLLOWS_KL not in self.run.facts or not rate_adapts(self.run):
            return False
        schedule = self.run.config.get("lr_schedule")
        return (schedule or option_default(self.trainer, "lr_schedule")) == "adaptive"


def _may_be_of_any_kind(run: JudgedRun) -> bool:
    """Whether nothing tells that a script trains a policy by its gradient, as PPO does."""
    return run.family == UNKNOWN_FAMILY and POLICY_SIGNS.isdisjoint(run.histories)


@cache
def _catalogue_option(trainer: Trainer, canonical: str) -> tuple[Option, ConfigValue | None] | None:
    """The catalogue's line on an option of a trainer, and its default."""
    line = option(trainer, canonical)
    return (line, option_default(trainer, canonical)) if line is not None else None


@cache
def _has_options(trainer: str) -> bool:
    """Whether the catalogue knows this trainer's option names."""
    own = {trainer, trainer_tables()[trainer].like} if trainer in trainer_tables() else {trainer}
    return any(each.trainer in own for each in options())


def _default_owner(trainer: Trainer) -> str:
    """The library whose default it is, without the algorithm: `TRL`, `Spinning Up`."""
    label = trainer.label.partition(" (")[0]
    return "TRL" if label.startswith("TRL ") else label.removesuffix(" PPO")


def trainer_of(run: JudgedRun) -> Trainer:
    """The run's trainer, with the catalogue's label."""
    table = trainer_tables().get(run.profile.trainer_id)
    label = table.label if table is not None else run.profile.trainer_id
    return Trainer(run.profile.trainer_id, label, run.family, run.profile.algo)


def current_value(run: JudgedRun, canonical: str) -> ConfigValue | None:
    """An option's value in this run, from its configuration or its log.

    Schedules start at the option's value; a logged value far above it was set during the run.
    """
    value: ConfigValue | None = run.config.get(canonical)
    history = run.histories.get(LOGGED_OPTIONS.get(canonical, ""))
    if history is not None and history.first:
        began = history.first[0]
        if value is None or history.last > 2.0 * began:
            value = max(began, history.last)
    return value


def _has_moved(run: JudgedRun, canonical: str, value: ConfigValue | None) -> bool:
    """Whether a schedule has moved on from an option's value, as the log shows."""
    history = run.histories.get(LOGGED_OPTIONS.get(canonical, ""))
    if history is None or not isinstance(value, float):
        return False
    return not math.isclose(history.last, value, rel_tol=ROUNDING)


def fill_advice(sentences: Iterable[str], run: JudgedRun) -> tuple[str, ...]:
    """Sentences with this run's options filled in, without those that do not apply."""
    named, filled = AdviceOptions(run), []
    for sentence in sentences:
        try:
            advice = sentence.format_map(named)
        except KeyError:
            continue
        if not _goes_further_off(advice, named):
            filled.append(advice)
    return tuple(filled)


def _goes_further_off(advice: str, named: AdviceOptions) -> bool:
    """Whether it moves an option further away that is already far from its default."""
    direction = direction_of(advice, named.trainer.id)
    if direction is None:
        return False
    option_name, way = direction
    own = as_number(current_value(named.run, option_name))
    usual = as_number(option_default(named.trainer, option_name))
    if option_name == "learning_rate":
        return _rate_goes_further_off(own, usual, way, named.run)
    if own is None or usual is None:
        return False
    low, high = sorted((own, usual))
    return low > 0 and high >= FAR_FROM_DEFAULT * low and (own > usual) == (way > 0)


def _rate_goes_further_off(
    own: float | None, usual: float | None, way: int, run: JudgedRun
) -> bool:
    """The same of the learning rate, which is far above its default much sooner."""
    if way < 0:
        far_below = own is not None and usual is not None and FAR_FROM_DEFAULT * own <= usual
        return bool(rate_low(run)) or far_below or _has_come_down(run, usual)
    if own is None or usual is None:
        return bool(rate_high(run))
    return own >= RAISED_RATE * usual


def _has_come_down(run: JudgedRun, usual: float | None) -> bool:
    """Whether a schedule has brought the learning rate far down, and not above its default."""
    history = run.histories.get("lr")
    if history is None or (usual is not None and history.last > usual):
        return False
    return FAR_FROM_DEFAULT * history.last <= history.high


FINDING_ADVICE = 6
"""Most pieces of advice of a finding whose causes are ranked."""


def explain_cause(
    rule: Rule, run: JudgedRun, first: Finding | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What may stand behind a finding at the newest row, likeliest first, and what to try.

    `first` is the finding that it inherits its causes from, if there is one.
    """
    own = fill_advice(rule.remedies, run)
    if first is not None and not is_excused(first):
        causes, advice = first.causes, (*first.remedies, *own)
    elif rule.ranks_causes:
        causes, templates = ranked_advice(run, rule.id)
        advice = (*fill_advice(templates, run), *own)
    else:
        return rule.causes, own
    return causes, without_repeats(advice, run.profile.trainer_id)[:FINDING_ADVICE]
