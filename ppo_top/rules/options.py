"""How each trainer calls its options, and their defaults: one table a trainer.

Each entry reads `option`, `option=default`, `option>its name there` or both
(`option>its name there=default`). What a trainer does not have is not listed.
"""

from __future__ import annotations

_TABLES = {
    "sb3": """
        learning_rate=0.0003 target_kl clip_range=0.2 clip_range_vf ent_coef=0 vf_coef=0.5
        n_epochs=10 batch_size=64 n_steps=2048 max_grad_norm=0.5 gamma=0.99 gae_lambda=0.95
        normalize_advantage total_timesteps n_envs""",
    "custom": """
        learning_rate>lr clip_range>clip_eps ent_coef>entropy_coef vf_coef n_epochs batch_size
        n_steps max_grad_norm gamma gae_lambda total_timesteps>iterations n_envs""",
    "cleanrl": """
        learning_rate>--learning-rate=0.00025 target_kl>--target-kl clip_range>--clip-coef=0.2
        clip_range_vf>--clip-vloss ent_coef>--ent-coef=0.01 vf_coef>--vf-coef=0.5
        n_epochs>--update-epochs=4 batch_size>--num-minibatches=4 n_steps>--num-steps=128
        max_grad_norm>--max-grad-norm=0.5 gamma>--gamma=0.99 gae_lambda>--gae-lambda=0.95
        normalize_advantage>--norm-adv total_timesteps>--total-timesteps n_envs>--num-envs=4""",
    "trl-legacy": """
        learning_rate=1.41e-5 target_kl=1 clip_range>cliprange=0.2
        clip_range_vf>cliprange_value=0.2 vf_coef=0.1 n_epochs>ppo_epochs=4
        batch_size>mini_batch_size n_steps>batch_size=128 max_grad_norm gamma=1 gae_lambda>lam=0.95
        beta>init_kl_coef=0.2 kl_target>target=6 kl_horizon>horizon=10000
        max_completion_length>max_new_tokens temperature scale_rewards>use_score_scaling
        whiten_rewards total_timesteps>steps""",
    "trl-ppo": """
        learning_rate=3e-6 clip_range>cliprange=0.2 clip_range_vf>cliprange_value=0.2 vf_coef=0.1
        n_epochs>num_ppo_epochs=4 batch_size>num_mini_batches=1
        n_steps>gradient_accumulation_steps=1 max_grad_norm=1 gamma=1 gae_lambda>lam=0.95
        beta>kl_coef=0.05 max_completion_length>response_length=53 temperature=0.7
        missing_eos_penalty whiten_rewards total_timesteps>total_episodes""",
    "trl-grpo": """
        learning_rate=1e-6 clip_range>epsilon=0.2 clip_range_high>epsilon_high
        ent_coef>entropy_coef n_epochs>num_iterations=1 batch_size>per_device_train_batch_size=8
        n_steps>generation_batch_size max_grad_norm=1 beta=0 max_completion_length=256
        num_generations=8 temperature=1 scale_rewards mask_truncated>mask_truncated_completions
        total_timesteps>max_steps""",
    "rsl-rl": """
        learning_rate=0.001 target_kl>desired_kl=0.01 clip_range>clip_param=0.2
        clip_range_vf>use_clipped_value_loss ent_coef>entropy_coef=0.01 vf_coef>value_loss_coef=1
        n_epochs>num_learning_epochs=5 batch_size>num_mini_batches=4 n_steps>num_steps_per_env=24
        max_grad_norm=1 gamma=0.99 gae_lambda>lam=0.95
        normalize_advantage>normalize_advantage_per_mini_batch total_timesteps>max_iterations
        n_envs>num_envs""",
    "rllib": """
        learning_rate>lr=5e-5 target_kl>kl_target=0.01 clip_range>clip_param=0.3
        clip_range_vf>vf_clip_param=10 ent_coef>entropy_coeff=0 vf_coef>vf_loss_coeff=1
        n_epochs>num_epochs=30 batch_size>minibatch_size=128 n_steps>train_batch_size=4000
        max_grad_norm>grad_clip gamma=0.99 gae_lambda>lambda_=1 total_timesteps>stop
        n_envs>num_env_runners""",
    "skrl": """
        learning_rate=0.001 target_kl>kl_threshold=0 clip_range>ratio_clip=0.2
        clip_range_vf>value_clip=0.2 ent_coef>entropy_loss_scale=0 vf_coef>value_loss_scale=1
        n_epochs>learning_epochs=8 batch_size>mini_batches=2 n_steps>rollouts=16
        max_grad_norm>grad_norm_clip=0.5 gamma>discount_factor=0.99 gae_lambda>lambda=0.95
        total_timesteps>timesteps n_envs>num_envs""",
    "verl": """
        learning_rate>actor.optim.lr=1e-6 clip_range>actor.clip_ratio=0.2
        clip_range_high>actor.clip_ratio_high=0.2 clip_range_vf>critic.cliprange_value=0.5
        ent_coef>actor.entropy_coeff=0 n_epochs>actor.ppo_epochs=1
        batch_size>actor.ppo_mini_batch_size=256 n_steps>data.train_batch_size=1024
        max_grad_norm>actor.grad_clip=1 gamma>algorithm.gamma=1 gae_lambda>algorithm.lam=1
        beta>actor.kl_loss_coef=0.001 kl_target>algorithm.kl_ctrl.target_kl=0.1
        kl_horizon>algorithm.kl_ctrl.horizon=10000
        max_completion_length>data.max_response_length=512 num_generations>rollout.n=1
        temperature>rollout.temperature=1 scale_rewards>algorithm.norm_adv_by_std_in_grpo
        total_timesteps>trainer.total_epochs""",
    "openrlhf": """
        learning_rate>actor_learning_rate=1e-6 clip_range>eps_clip=0.2
        clip_range_high>eps_clip_low_high clip_range_vf>value_clip=0.5 ent_coef>entropy_loss_coef
        n_epochs>max_epochs=1 batch_size>train_batch_size=128 n_steps>rollout_batch_size=1024
        max_grad_norm>max_norm=1 gamma=1 gae_lambda>lambd=1 beta>init_kl_coef=0.01 kl_target
        kl_horizon=10000 max_completion_length>generate_max_len=1024
        num_generations>n_samples_per_prompt=1 temperature=1 total_timesteps>num_episodes""",
    "spinning-up": """
        learning_rate>pi_lr=0.0003 target_kl=0.01 clip_range>clip_ratio=0.2 vf_coef>vf_lr=0.001
        n_epochs>train_pi_iters=80 batch_size>steps_per_epoch=4000 n_steps>steps_per_epoch=4000
        gamma=0.99 gae_lambda>lam=0.97 total_timesteps>epochs""",
}

TRAINERS = {
    "sb3": "SB3",
    "custom": "the script",
    "cleanrl": "CleanRL",
    "trl-legacy": "TRL",
    "trl-ppo": "TRL",
    "trl-grpo": "TRL",
    "rsl-rl": "rsl_rl",
    "rllib": "RLlib",
    "skrl": "skrl",
    "verl": "verl",
    "openrlhf": "OpenRLHF",
    "spinning-up": "Spinning Up",
}
"""Producer -> its name in a sentence."""


def _entry(word: str) -> tuple[str, tuple[str, str]]:
    left, _, default = word.partition("=")
    option, _, name = left.partition(">")
    return option, (name or option, default)


OPTIONS = {who: dict(map(_entry, table.split())) for who, table in _TABLES.items()}
"""Producer -> option -> (its name there, its default or "")."""

NAMES = frozenset(option for table in OPTIONS.values() for option in table)
"""Every option that advice may speak of."""
