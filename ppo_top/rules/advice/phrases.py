"""Advice that differs by trainer: phrases for options whose names mean different things.

`desired_kl` in rsl_rl and `target_kl` in SB3 both limit the update KL, but raising the first to
0.02 allows larger updates, while setting the second to 0.02 limits them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ppo_top.rules.advice.advised_option import AdvisedOption
from ppo_top.rules.engine.terms import CTRL, LLM_FAMILIES, RLHF

FindOption = Callable[[str], AdvisedOption]
"""Looks up a trainer's option by its canonical name; KeyError if there is none."""

AdvicePhrase = Callable[[FindOption, str, str], str]
"""(option lookup, trainer id, family) -> phrase; KeyError if there is none."""

EPOCHS_END_AT = {
    "sb3": "at 1.5 times that",
    "spinning-up": "at 1.5 times that",
    "trl-legacy": "at 1.5 times that",
    "cleanrl": "there",
    "skrl": "there",
}
"""At what KL an update's epochs end, from the trainers' code."""

KL_ADAPTIVE_TRAINERS = ("rsl_rl", "rl_games")
"""Trainers whose learning rate follows the KL target."""


def kl_limit(find: FindOption, trainer: str, family: str) -> str:
    """A limit on the update KL, unless the run has a tighter one."""
    target = find("target_kl")
    if trainer in KL_ADAPTIVE_TRAINERS:
        raise KeyError("target_kl")  # `AdviceOptions` names it instead of the learning rate
    if trainer == "rllib":
        return f"lower {target}: the KL coefficient follows it"
    wanted = 0.1 if family == RLHF else 0.02
    if target.number is not None and 0.0 < target.number <= wanted:
        raise KeyError("target_kl")
    switch = ", with early_stopping=True" if trainer == "trl-legacy" else ""
    ends = EPOCHS_END_AT.get(trainer, "early")
    return f"set {target.name} to {wanted}{switch}: it ends an update's epochs {ends}"


def larger_batches(find: FindOption, trainer: str, family: str) -> str:
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


REWARD_SCALERS = {
    "sb3": "VecNormalize(norm_reward=True)",
    "cleanrl": "gym.wrappers.NormalizeReward",
    "skrl": "rewards_shaper",
    "rl_games": "reward_shaper",
    "sample_factory": "reward_scale",
    "trl-legacy": "whiten_rewards=True",
    "trl-ppo": "whiten_rewards=True",
    "openrlhf": "reward.normalize_enable",
}
"""Each trainer's way to normalise rewards."""


def normalised_rewards(find: FindOption, trainer: str, family: str) -> str:
    """Rewards of a scale that the critic can fit."""
    way = REWARD_SCALERS.get(trainer)
    return f"normalise rewards: {way}" if way else "normalise rewards, or divide them"


RETURN_RECORDERS = {
    "sb3": "Monitor(env), or make_vec_env of SB3",
    "cleanrl": "gym.wrappers.RecordEpisodeStatistics",
}
"""Wrappers that record episode returns."""


def monitor(find: FindOption, trainer: str, family: str) -> str:
    """How to have episode rewards logged."""
    way = RETURN_RECORDERS.get(trainer)
    return f"wrap the environment: {way}" if way else "log the mean return of finished episodes"


def in_control(find: FindOption, trainer: str, family: str) -> str:
    """Empty: drops the sentence for language models."""
    return _only_if(family not in LLM_FAMILIES)


def in_text(find: FindOption, trainer: str, family: str) -> str:
    """Empty: drops the sentence for control tasks."""
    return _only_if(family != CTRL)


def in_groups(find: FindOption, trainer: str, family: str) -> str:
    """Empty: keeps the sentence for group-based trainers (GRPO) only."""
    return _only_if(family not in (CTRL, RLHF))


def _only_if(applies: bool) -> str:
    if not applies:
        raise KeyError("family")
    return ""


ADVICE_PHRASES: Mapping[str, AdvicePhrase] = {
    "kl_limit": kl_limit,
    "larger_batches": larger_batches,
    "normalised_rewards": normalised_rewards,
    "monitor": monitor,
    "in_control": in_control,
    "in_text": in_text,
    "in_groups": in_groups,
}
