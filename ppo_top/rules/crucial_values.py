"""Rows of the checklist: the values that trainers' guides call crucial, by family."""

from __future__ import annotations

from ppo_top.model import Profile

CrucialValues = tuple[tuple[str, str], ...]

_CTRL_VALUES: CrucialValues = (
    ("reward_mean", "reward"),
    ("entropy", "entropy"),
    ("value_loss", "value loss"),
    ("approx_kl", "approx KL"),
    ("clip_fraction", "clip fraction"),
    ("explained_variance", "explained var"),
    ("ep_len", "episode length"),
    ("lr", "learning rate"),
)

_A2C_VALUES: CrucialValues = tuple(
    line for line in _CTRL_VALUES if line[0] not in ("approx_kl", "clip_fraction")
)

_OFF_POLICY_VALUES: CrucialValues = (
    ("reward_mean", "reward"),
    ("critic_loss", "critic loss"),
    ("actor_loss", "actor loss"),
    ("ep_len", "episode length"),
    ("lr", "learning rate"),
)

_DQN_VALUES: CrucialValues = tuple(
    ("total_loss", "TD loss") if name == "critic_loss" else (name, label)
    for name, label in _OFF_POLICY_VALUES
    if name != "actor_loss"
)

_BY_ALGO = {
    "A2C": _A2C_VALUES,
    "DQN": _DQN_VALUES,
    "SAC": _OFF_POLICY_VALUES,
    "TD3": _OFF_POLICY_VALUES,
    "DDPG": _OFF_POLICY_VALUES,
}
"""Crucial values of algorithms without a clipped update."""

_TRL_LEGACY_VALUES: CrucialValues = (
    ("reward_mean", "reward"),
    ("ref_kl", "KL to reference"),
    ("ratio_dist", "ratio"),
    ("clip_fraction", "clip fraction"),
    ("approx_kl", "approx KL"),
    ("value_loss", "value loss"),
    ("non_score_reward", "KL penalty"),
    ("kl_coef", "KL coefficient"),
    ("entropy", "entropy"),
    ("explained_variance", "explained var"),
)

_TRL_PPO_VALUES: CrucialValues = (
    ("reward_mean", "score"),
    ("rlhf_reward", "RLHF reward"),
    ("non_score_reward", "KL penalty"),
    ("value_loss", "value loss"),
    ("ratio_mean", "ratio"),
    ("clip_fraction", "clip fraction"),
    ("approx_kl", "approx KL"),
    ("ref_kl", "KL to reference"),
    ("entropy", "entropy"),
)

_GRPO_VALUES: CrucialValues = (
    ("reward_mean", "reward"),
    ("ref_kl_token", "KL to reference"),
    ("clip_fraction", "clip ratio"),
    ("clip_low", "clip ratio low"),
    ("clip_high", "clip ratio high"),
    ("truncated_frac", "truncated fraction"),
    ("reward_component_mean{f}", "reward {}"),
    ("entropy", "entropy"),
    ("reward_std", "reward std"),
    ("frac_zero_std", "zero-std groups"),
)
"""`reward_component_mean{f}` is one row per reward function, `{}` its name."""

_UNKNOWN_VALUES: CrucialValues = (
    ("reward_mean", "reward"),
    ("entropy", "entropy"),
    ("value_loss", "value loss"),
)

_UPDATE_KL_VALUES: CrucialValues = (("approx_kl", "approx KL"),)
_CRITIC_VALUES: CrucialValues = (
    ("value_loss", "value loss"),
    ("explained_variance", "explained var"),
)


def crucial_values(profile: Profile) -> CrucialValues:
    """(concept, label) of each checklist row of a run, most important first."""
    if profile.family == "ctrl":
        return _BY_ALGO.get(profile.algo, _CTRL_VALUES)
    if profile.family == "rlhf":
        return _TRL_LEGACY_VALUES if profile.trainer_id == "trl-legacy" else _TRL_PPO_VALUES
    if profile.family == "grpo":
        if profile.trainer_id not in ("verl", "openrlhf"):
            return _GRPO_VALUES
        with_critic = any(concept in profile.tags for concept, _ in _CRITIC_VALUES)
        return _GRPO_VALUES + _UPDATE_KL_VALUES + (_CRITIC_VALUES if with_critic else ())
    return _UNKNOWN_VALUES


_WHY_MISSING: dict[tuple[str, str], str] = {
    ("sb3", "reward_mean"): "wrap the env in Monitor, or wait for an episode to end",
    ("sb3", "ep_len"): "wrap the env in Monitor, or wait for an episode to end",
    ("custom", "entropy"): "print or log `train/entropy_loss`",
    ("custom", "value_loss"): "print or log `train/value_loss`",
    ("custom", "explained_variance"): "print or log `train/explained_variance`",
    ("custom", "lr"): "print or log `train/learning_rate`",
    ("custom", "ep_len"): "print or log `rollout/ep_len_mean`",
    ("rsl_rl", "approx_kl"): "rsl_rl adapts its learning rate to the KL but does not log it",
    ("rsl_rl", "clip_fraction"): "rsl_rl does not log it",
    ("rsl_rl", "explained_variance"): "rsl_rl does not log it",
    ("skrl", "approx_kl"): "skrl's KLAdaptiveLR uses it but does not log it",
    ("skrl", "clip_fraction"): "skrl does not log it",
    ("skrl", "explained_variance"): "skrl does not log it",
    ("skrl", "entropy"): "set entropy_loss_scale above 0",
    ("rllib", "clip_fraction"): "RLlib does not log it",
    ("rllib", "approx_kl"): "set use_kl_loss=True",
    ("trl-legacy", "ratio_dist"): "histogram, needs log_with='wandb' (not in TensorBoard)",
    ("trl-grpo", "ref_kl_token"): "set beta above 0 (its default is 0: no reference model)",
    ("trl-grpo", "entropy"): "needs TRL 0.20 or later",
    ("trl-grpo", "frac_zero_std"): "needs TRL 0.19 or later",
    ("trl-grpo", "truncated_frac"): "needs TRL 0.17 or later",
    ("trl-grpo", "clip_low"): "needs TRL 0.17 or later; use_liger_loss logs one clip_ratio",
    ("trl-grpo", "clip_high"): "needs TRL 0.17 or later; use_liger_loss logs one clip_ratio",
    ("trl-grpo", "clip_fraction"): "needs TRL 0.16 or later",
    ("verl", "ref_kl_token"): "set actor.use_kl_loss=True or algorithm.use_kl_in_reward=True",
    ("verl", "entropy"): "set actor.calculate_entropy=True",
    ("openrlhf", "entropy"): "set actor.entropy_coef (0 logs it without a bonus)",
    ("openrlhf", "clip_low"): "OpenRLHF logs one ppo_clip_ratio",
    ("openrlhf", "clip_high"): "OpenRLHF logs one ppo_clip_ratio",
    ("openrlhf", "frac_zero_std"): "set algo.dynamic_filtering_enable",
    ("spinning-up", "explained_variance"): "Spinning Up does not log it",
    ("spinning-up", "lr"): "constant in Spinning Up",
}

_TRAINER_LABELS = {
    "sb3": "SB3",
    "trl-legacy": "TRL's PPOTrainer",
    "trl-ppo": "TRL's PPOTrainer",
    "trl-grpo": "TRL's GRPOTrainer",
    "rllib": "RLlib",
    "rsl_rl": "rsl_rl",
    "cleanrl": "CleanRL",
    "openrlhf": "OpenRLHF",
    "spinning-up": "Spinning Up",
}


def not_logged_text(concept: str, trainer_id: str) -> str:
    """The note on a metric that a run does not log, with the option that would log it."""
    why = _WHY_MISSING.get((trainer_id, concept))
    unnamed = trainer_id in ("custom", "unknown", "")
    by = "" if unnamed else f" by {_TRAINER_LABELS.get(trainer_id, trainer_id)}"
    return f"not logged: {why}" if why else f"not logged{by}"
