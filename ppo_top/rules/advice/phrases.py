"""Advice that differs by trainer: phrases for options whose names mean different things.

`desired_kl` in rsl_rl and `target_kl` in SB3 both limit the update KL, but raising the first to
0.02 allows larger updates, while setting the second to 0.02 limits them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from ppo_top.rules.advice.advised_option import AdvisedOption
from ppo_top.rules.engine.terms import GRPO, LLM_FAMILIES, OFF_POLICY, RLHF, VALUE_BASED

FindOption = Callable[[str], AdvisedOption]
"""Looks up a trainer's option by its canonical name; KeyError if there is none."""

Facts = Mapping[str, str]
"""What the code of a trainer and an algorithm does: `catalogue.facts_about`."""

USUAL_RATES = {RLHF: "1e-6", GRPO: "1e-6", VALUE_BASED: "0.001", OFF_POLICY: "0.001"}
"""What most trainers' own defaults are close to, where it is not PPO's 0.0003: TRL and verl for
language models; Spinning Up, TD3's authors and SB3's TD3 for replay learners."""

PPO_RATE = "0.0003"

USUAL_BONUS = (0.001, 0.05)
"""Between these lie most entropy coefficients: 0.01 of PPO's paper, less for language models."""

PPO_BONUS = 0.01
"""That of PPO's paper for Atari games."""

AdvicePhrase = Callable[[FindOption, Facts, str], str]
"""(option lookup, facts, family) -> phrase; KeyError if there is none."""

RATE_FOLLOWS_KL = "rate-follows-kl"
"""The fact that the learning rate follows the KL target."""


def kl_limit(find: FindOption, facts: Facts, family: str) -> str:
    """A limit on the update KL, unless the run has a tighter one."""
    target = find("target_kl")
    if RATE_FOLLOWS_KL in facts:
        raise KeyError("target_kl")  # `AdviceOptions` names it instead of the learning rate
    if "kl-controlled" in facts:
        return f"lower {target}: the KL coefficient follows it"
    if "critic-rate" in facts:
        return f"lower {target}"
    wanted = 0.1 if family == RLHF else 0.02
    if target.number is not None and 0.0 < target.number <= wanted:
        raise KeyError("target_kl")
    switch = f", with {facts['target-kl-switch']}" if "target-kl-switch" in facts else ""
    ends = facts.get("epochs-end", "early")
    return f"set {target.name} to {wanted}{switch}: it ends an update's epochs {ends}"


def usual_rate(find: FindOption, facts: Facts, family: str) -> str:
    """Raise a learning rate that is far too low, to a usual one where no default is known."""
    rate = find("learning_rate")
    if rate.default is not None:
        return f"raise {rate}"
    return f"raise {rate:, to about {USUAL_RATES.get(family, PPO_RATE)}}"


def low_exploration(find: FindOption, facts: Facts, family: str) -> str:
    """A low final exploration rate, and the options that set it and its fall, where known."""
    words, named = "a final exploration rate of 0.01 to 0.1, reached within half of the run", []
    for name in ("exploration_final", "exploration_fraction"):
        with suppress(KeyError):
            option = find(name)
            named += [f"{option}"] * ((option.default, option.number) != (None, None))
    return f"{words}: {', '.join(named)}" if named else words


def more_entropy(find: FindOption, facts: Facts, family: str) -> str:
    """A usual entropy bonus, or a multiple of one that is usual already."""
    bonus, (least, most) = find("ent_coef"), USUAL_BONUS
    if bonus.number is not None and bonus.number >= most:
        raise KeyError("ent_coef")
    if bonus.number is not None and bonus.number >= least:
        return f"raise the entropy bonus: {bonus}, by 3 to 10 times"
    return f"raise the entropy bonus: {bonus}, to {least}-{most}"


def less_entropy(find: FindOption, facts: Facts, family: str) -> str:
    """A usual entropy bonus, or none where it is no larger than that."""
    bonus = find("ent_coef")
    known = bonus.number if bonus.value is not None else None
    wanted = "0" if known is not None and known <= PPO_BONUS else f"{PPO_BONUS} or 0"
    return f"lower the entropy bonus: {bonus:above 0}, to {wanted}"


def larger_batches(find: FindOption, facts: Facts, family: str) -> str:
    """Larger batches; some trainers set their number instead of their size."""
    ways = (
        ("batch_size", "larger batches: {}"),
        ("num_minibatches", "larger batches: fewer {:above 1}"),
        ("n_steps", "larger batches: longer rollouts, {}"),
    )
    for name, words in ways:
        try:
            return words.format(find(name))
        except KeyError:
            continue
    raise KeyError("batch_size")


def normalised_rewards(find: FindOption, facts: Facts, family: str) -> str:
    """Rewards of a scale that the critic can fit."""
    way = facts.get("reward-scaler")
    return f"normalise rewards: {way}" if way else "normalise rewards, or divide them"


def monitor(find: FindOption, facts: Facts, family: str) -> str:
    """How to have episode rewards logged."""
    way = facts.get("return-recorder")
    return f"wrap the environment: {way}" if way else "log the mean return of finished episodes"


def fewer_checkpoints(find: FindOption, facts: Facts, family: str) -> str:
    """Keep fewer checkpoints, by the trainer's option where it is known to have one."""
    words = "keep fewer of them"
    with suppress(KeyError):
        option = find("kept_checkpoints")
        if option.default_owner:
            return f"{words}: {option}"
    return words


def in_control(find: FindOption, facts: Facts, family: str) -> str:
    """Empty: drops the sentence for language models."""
    return _only_if(family not in LLM_FAMILIES)


def in_text(find: FindOption, facts: Facts, family: str) -> str:
    """Empty: drops the sentence for control tasks."""
    return _only_if(family in LLM_FAMILIES)


def in_groups(find: FindOption, facts: Facts, family: str) -> str:
    """Empty: keeps the sentence for group-based trainers (GRPO) only."""
    return _only_if(family == GRPO)


def _only_if(applies: bool) -> str:
    if not applies:
        raise KeyError("family")
    return ""


ADVICE_PHRASES: Mapping[str, AdvicePhrase] = {
    "kl_limit": kl_limit,
    "usual_rate": usual_rate,
    "low_exploration": low_exploration,
    "more_entropy": more_entropy,
    "less_entropy": less_entropy,
    "larger_batches": larger_batches,
    "normalised_rewards": normalised_rewards,
    "monitor": monitor,
    "fewer_checkpoints": fewer_checkpoints,
    "in_control": in_control,
    "in_text": in_text,
    "in_groups": in_groups,
}
