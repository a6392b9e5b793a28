"""Advice that is another for each trainer: phrases that stand where an option's name misleads.

`desired_kl` of rsl_rl and `target_kl` of SB3 are both limits of an update's KL; raising the one to
0.02 lets the policy move further, setting the other to 0.02 holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ppo_top.rules.advice.advised_option import AdvisedOption
from ppo_top.rules.engine.terms import CTRL, LLM_FAMILIES, RLHF

FindOption = Callable[[str], AdvisedOption]
"""Looks up an option of the run's trainer by its canonical name; KeyError where there is none."""

AdvicePhrase = Callable[[FindOption, str, str], str]
"""(how to look up options, trainer, family) -> the phrase; KeyError where there is none."""

EPOCHS_END_AT = {
    "sb3": "at 1.5 times that",
    "spinning-up": "at 1.5 times that",
    "trl-legacy": "at 1.5 times that",
    "cleanrl": "there",
    "skrl": "there",
}
"""Where an update's epochs end, as the trainers' own code has it."""

KL_ADAPTIVE_TRAINERS = ("rsl_rl", "rl_games")
"""Trainers whose KL target steers the learning rate."""


def kl_limit(find: FindOption, trainer: str, family: str) -> str:
    """A limit to the KL of an update, unless the run has a tighter one."""
    target = find("target_kl")
    if trainer in KL_ADAPTIVE_TRAINERS:
        raise KeyError("target_kl")  # `Options` names it in place of the learning rate
    if trainer == "rllib":
        return f"lower {target}: the KL coefficient follows it"
    wanted = 0.1 if family == RLHF else 0.02
    if target.number is not None and 0.0 < target.number <= wanted:
        raise KeyError("target_kl")
    switch = ", with early_stopping=True" if trainer == "trl-legacy" else ""
    ends = EPOCHS_END_AT.get(trainer, "early")
    return f"set {target.name} to {wanted}{switch}: it ends an update's epochs {ends}"


def larger_batches(find: FindOption, trainer: str, family: str) -> str:
    """Larger batches; some trainers count how many there are instead of what they hold."""
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
"""What brings rewards to a usual size."""


def normalised_rewards(find: FindOption, trainer: str, family: str) -> str:
    """Rewards of a size that the critic can fit."""
    way = REWARD_SCALERS.get(trainer)
    return f"normalise rewards: {way}" if way else "normalise rewards, or divide them"


RETURN_RECORDERS = {
    "sb3": "Monitor(env), or make_vec_env of SB3",
    "cleanrl": "gym.wrappers.RecordEpisodeStatistics",
}
"""What notes the returns of episodes."""


def monitor(find: FindOption, trainer: str, family: str) -> str:
    """How to have episode rewards logged."""
    way = RETURN_RECORDERS.get(trainer)
    return f"wrap the environment: {way}" if way else "log the mean return of finished episodes"


def in_control(find: FindOption, trainer: str, family: str) -> str:
    """Nothing: marks a sentence that is not for language models."""
    return _only_if(family not in LLM_FAMILIES)


def in_text(find: FindOption, trainer: str, family: str) -> str:
    """Nothing: marks a sentence that is for language models only."""
    return _only_if(family != CTRL)


def in_groups(find: FindOption, trainer: str, family: str) -> str:
    """Nothing: marks a sentence that is for groups of completions only."""
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
