"""Who wrote a log, decided by the tags that are in it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ppo_top.catalogue import (
    UNKNOWN_TRAINER,
    identify,
    known_trainers,
    meaning,
    with_algorithm,
)

TRAINERS = {trainer.id: trainer for trainer in known_trainers()}

FINGERPRINTS = [
    ("sb3", "PPO", ["rollout/ep_rew_mean", "time/fps", "train/loss", "train/clip_fraction"]),
    ("sb3", "A2C", ["rollout/ep_rew_mean", "train/policy_loss", "train/value_loss"]),
    ("sb3", "DQN", ["rollout/ep_rew_mean", "rollout/exploration_rate", "train/loss"]),
    ("sb3", "DQN", ["rollout/ep_rew_mean", "rollout/exploration rate", "time/episodes"]),
    ("sb3", "SAC", ["rollout/ep_rew_mean", "train/actor_loss", "train/ent_coef"]),
    ("sb3", "TD3", ["rollout/ep_rew_mean", "train/actor_loss", "train/critic_loss"]),
    ("sb3", "TRPO", ["rollout/ep_rew_mean", "train/kl_divergence_loss", "train/value_loss"]),
    ("sb3", "", ["rollout/ep_rew_mean", "time/fps"]),
    ("custom", "", ["Mean reward", "KL", "clip%"]),
    ("custom", "", ["rollout/ep_rew_mean", "train/policy_gradient_loss", "train/approx_kl"]),
    ("trl-legacy", "PPO", ["env/reward_mean", "ppo/policy/clipfrac"]),
    ("trl-ppo", "PPO", ["train/policy/approxkl_avg", "train/objective/kl"]),
    ("trl-ppo", "PPO", ["policy/approxkl_avg", "eps"]),
    ("trl-online-dpo", "DPO", ["train/objective/scores_margin", "train/objective/kl"]),
    ("trl-online-dpo", "DPO", ["objective/rlhf_reward", "val/contain_eos_token", "logps/chosen"]),
    ("trl-grpo", "GRPO", ["train/completions/clipped_ratio", "train/reward"]),
    ("trl-grpo", "GRPO", ["completion_length", "reward", "reward_std"]),
    (
        "trl-distillation",
        "",
        ["completions/mean_length", "completions/mean_terminated_length", "entropy", "loss"],
    ),
    ("trl-distillation", "", ["train/self_distillation/distillation_loss", "train/loss"]),
    (
        "trl-grpo",
        "GRPO/RLOO",
        [
            "completions/mean_length",
            "self_distillation/distillation_loss",
            "self_distillation/reward_mean",
            "kl",
        ],
    ),
    ("trl-async-grpo", "GRPO", ["train/completions/mean_length", "train/sample/staleness_mean"]),
    ("cleanrl", "PPO", ["charts/SPS", "charts/episodic_return", "losses/clipfrac"]),
    ("cleanrl", "DQN", ["charts/SPS", "losses/td_loss"]),
    ("cleanrl", "C51", ["charts/SPS", "losses/loss", "losses/q_values"]),
    ("tianshou", "", ["env_step", "env_episode", "n_ep", "n_st", "rew", "len"]),
    ("tianshou", "DQN", ["training/returns_stat/mean", "update/update_step", "update/loss"]),
    ("tianshou", "SAC", ["training/returns_stat/mean", "update/alpha", "update/actor_loss"]),
    ("pfrl", "DQN", ["train_agent/R", "average_q", "average_loss"]),
    (
        "imitation",
        "PPO",
        ["raw/gen/rollout/ep_rew_mean", "raw/gen/train/clip_fraction", "raw/disc/disc_acc"],
    ),
    (
        "pfrl",
        "PPO",
        [
            "extras/meanplusstdev",
            "eval/stdev",
            "agent/average_policy_loss",
            "agent/average_value_loss",
        ],
    ),
    ("elegantrl", "", ["avgR", "stdR", "avgS", "expR", "objC", "objA"]),
    ("xuance", "PPO", ["Test-Episode-Rewards/Mean-Score", "clip_ratio", "actor_loss"]),
    ("xuance", "SAC", ["Test-Episode-Rewards/Mean-Score", "Qloss", "Ploss", "alpha"]),
    ("xuance", "", ["Train-Episode-Rewards/rank_0"]),
    ("harl", "", ["agent0/dist_entropy", "agent0/ratio", "critic/value_loss"]),
    ("harl", "", ["critic/average_step_rewards"]),
    ("brax", "PPO", ["training/v_loss", "training/policy_loss", "training/sps"]),
    (
        "brax",
        "SAC",
        ["training/critic_loss", "training/actor_loss", "training/alpha", "training/walltime"],
    ),
    ("keras-rl", "", ["episode_reward", "mean_q", "nb_steps", "loss"]),
    ("xuance", "", ["Episode-Steps/rank_0"]),
    ("dreamer", "", ["episode/score", "episode/length", "fps/policy"]),
    ("dreamer", "", ["scalars/train_return", "scalars/train_length"]),
    ("d3rlpy", "DQN", ["rollout_return", "time_environment_step", "loss"]),
    ("d3rlpy", "DQN", ["environment", "time_sample_batch", "time_algorithm_update", "loss"]),
    ("d3rlpy", "SAC", ["rollout_return", "time_environment_step", "temp", "critic_loss"]),
    ("rsl_rl", "PPO", ["Train/mean_reward", "Perf/total_fps"]),
    ("rllib", "PPO", ["ray/tune/learners/default_policy/mean_kl_loss"]),
    ("rllib", "", ["env_runners/episode_return_mean"]),
    ("rllib", "PPO", ["info/learner/default_policy/kl", "episode_reward_mean"]),
    ("rllib", "PPO", ["info/learner/default/kl", "episode_reward_mean"]),
    ("rllib", "PPO", ["info/default/kl", "episode_reward_mean"]),
    ("rllib", "", ["episode_reward_mean", "time_this_iter_s", "timesteps_total"]),
    ("rllib", "PPO", ["env_runners/episode_return_mean", "learners/hunter/mean_kl_loss"]),
    (
        "rllib",
        "PPO",
        ["episode_reward_mean", "time_this_iter_s", "info/learner/p0/learner_stats/kl"],
    ),
    ("di-engine", "PPO", ["basic/train_total_loss", "basic/train_clipfrac"]),
    ("llama-factory", "PPO", ["current_steps", "total_steps", "percentage", "reward"]),
    ("llama-factory", "", ["current_steps", "total_steps", "percentage", "accuracy"]),
    ("sheeprl", "PPO", ["Rewards/rew_avg", "Game/ep_len_avg", "Loss/entropy_loss"]),
    ("sheeprl", "SAC", ["Rewards/rew_avg", "Game/ep_len_avg", "Loss/alpha_loss"]),
    ("skrl", "PPO", ["Reward / Total reward (mean)", "Loss / Value loss"]),
    ("verl", "", ["actor/pg_loss", "response_length/clip_ratio"]),
    ("openrlhf", "", ["train/ppo_clip_ratio", "train/reward", "train/actor_lr"]),
    ("openrlhf", "", ["train/group_reward_std"]),
    ("prime-rl", "", ["Step", "Reward", "Turns", "Branches", "Max Off-Policy"]),
    ("prime-rl", "", ["loss/mean", "entropy/all/mean", "mismatch_kl/all/mean", "optim/lr"]),
    ("prime-rl", "", ["train/agg/effective/agent/reward/mean", "off_policy/mean"]),
    ("roll", "", ["actor/ppo_ratio_clipfrac@sum", "critic/score/mean"]),
    ("areal", "", ["ppo_actor/update/actor_loss/avg", "ppo_actor/task_reward/avg"]),
    ("roll", "DPO", ["actor/acc", "actor/chosen_reward", "actor/reject_reward"]),
    ("areal", "DPO", ["dpo/reward_margin/avg", "dpo/loss/avg"]),
    ("garage", "SAC", ["QF/Qf1Loss", "AlphaTemperature/mean", "Evaluation/AverageReturn"]),
    ("areal", "PPO", ["ppo_actor/update/actor_loss/avg", "ppo_critic/critic_loss/avg"]),
    ("rllm", "", ["batch/termination_reason/env_done", "reward/solver/mean", "train/entropy"]),
    ("rllm-verl", "", ["batch/solve_none", "actor/pg_loss", "actor/ppo_kl"]),
    ("agent-lightning", "", ["training/reward", "training/n_rollouts", "actor/pg_loss"]),
    ("miles", "", ["rollout/raw_reward", "train/ppo_kl", "train/train_rollout_kl"]),
    ("slime", "", ["rollout/raw_reward", "train/ppo_kl", "train/pg_clipfrac"]),
    ("verifiers", "", ["train/mismatch_kl", "train/importance_ratio", "train/reward/std"]),
    ("trlx", "PPO", ["losses/policy_loss", "values/values_error", "policy/approx_kl"]),
    (
        "nemo-aligner",
        "PPO",
        ["train_rollouts/rewards", "train_optim/loss", "train_rollouts/values_mean"],
    ),
    ("nemo-aligner", "", ["train_rollouts/rewards", "train_optim/loss"]),
    ("rl4lms", "", ["rollout_info/ep_rew", "rollout_info/kl_div_mean"]),
    ("torchforge", "", ["rl_trainer/avg_loss", "rl_trainer/learning_rate"]),
    ("torchtune", "PPO", ["scores", "rlhf_reward", "kl", "kl_reward", "approx_policy_kl"]),
    ("torchtune", "", ["rewards", "successes", "kl_loss", "approx_policy_kl"]),
    ("ms-swift", "GRPO", ["train_speed(s/it)", "reward", "frac_reward_zero_std", "kl"]),
    ("ms-swift", "GRPO", ["train/completions_mean_length", "train/frac_reward_zero_std"]),
    ("nemo-rl", "", ["train/reward", "train/gen_kl_error", "train/lr"]),
    ("nemo-rl", "", ["Loss", "Generation KL Error", "Avg Reward"]),
    ("nemo-rl", "DPO", ["train/preference_loss", "train/rewards_chosen_mean", "train/accuracy"]),
    ("skyrl", "", ["reward/avg_raw_reward", "policy/policy_loss", "policy/policy_kl"]),
    ("open-instruct", "", ["scores", "packed_ratio", "policy/clipfrac_avg", "val/ratio"]),
    ("tinker-cookbook", "", ["env/all/reward/total", "optim/lr", "optim/entropy"]),
    ("tinker-cookbook", "DPO", ["dpo_loss", "accuracy", "margin", "chosen_reward"]),
    ("spinning-up", "PPO", ["AverageEpRet", "ClipFrac"]),
    ("corl", "TD3+BC", ["critic_loss", "actor_loss", "d4rl_normalized_score"]),
    ("corl", "IQL", ["value_loss", "q_loss", "actor_loss", "eval/d4rl_normalized_score"]),
    ("corl", "CQL", ["qf1_loss", "cql_min_qf1_loss", "d4rl_normalized_score"]),
    ("rlinf", "", ["env/success_once", "train/actor/policy_loss", "train/actor/approx_kl"]),
    ("rlinf", "PPO", ["env/success_once", "train/actor/policy_loss", "train/critic/value_loss"]),
    ("tunix", "", ["rewards/train/score/mean", "actor/train/loss", "actor/train/kl"]),
    ("tunix", "PPO", ["rewards/train/score/mean", "actor/train/loss", "critic/train/loss"]),
    ("megatron-rl", "", ["lm loss", "rl/kl_term", "rl/pi_over_pi_old", "grad-norm"]),
    ("pipelinerl", "", ["rl/reward", "rl/kl", "rl/kl_new_old", "stats/lr"]),
    ("chatlearn", "", ["rule_reward/train_reward_score", "policy_trainer/pg_loss"]),
    ("torchtitan", "", ["loss/mean", "rollout_reward/_mean", "trainer/lr"]),
    ("xtuner", "", ["rewards/mean", "advantages/mean", "response_len/mean"]),
    ("nanochat", "", ["Step", "loss", "Average reward", "Average sequence length"]),
    ("nanochat", "", ["step", "reward", "sequence_length", "lrm", "pass@1"]),
    ("rlkit", "SAC", ["expl/num steps total", "eval/num steps total", "trainer/Alpha"]),
    ("rlkit", "", ["exploration/num steps total", "evaluation/num steps total"]),
    ("rlpyt", "", ["Diagnostics/CumSteps", "Return/Average", "tdAbsErr/Average"]),
    ("rlpyt", "SAC", ["Diagnostics/CumSteps", "Return/Average", "piLoss/Average", "alpha/Average"]),
    ("lerobot", "", ["loss", "grdn", "lr", "updt_s"]),
    (
        "lerobot",
        "SAC",
        ["train/loss_critic", "train/loss_temperature", "train/replay_buffer_size"],
    ),
    ("acme", "", ["Train/Episode Return", "Train/Steps Per Second", "Train Steps"]),
    ("torchrl", "PPO", ["train/loss_objective", "train/kl_approx"]),
    ("torchrl-trainer", "PPO", ["r_training", "loss_objective", "loss_critic", "clip_fraction"]),
    ("torchrl-trainer", "SAC", ["r_training", "loss_actor", "loss_qvalue", "loss_alpha"]),
    ("torchrl-trainer", "DQN", ["r_training", "loss", "done_percentage"]),
    ("benchmarl", "PPO", ["collection_reward_episode_reward_mean", "train_agents_loss_objective"]),
    ("benchmarl", "DQN", ["eval/reward/episode_reward_mean", "train/agents/loss"]),
    ("agilerl", "PPO", ["train/mean_score", "eval/mean_fitness", "train/mean_entropy_loss"]),
    ("agilerl", "PPO", ["fitness", "score", "entropy_loss", "steps/s"]),
    ("trl-reward", "", ["train/margin", "train/accuracy", "train/mean_reward", "train/loss"]),
    ("tianshou", "", ["training/returns_stat/mean", "update/loss/mean"]),
    ("unknown", "", ["ppo_clip_ratio", "reward"]),
    ("sample_factory", "PPO", ["reward/reward", "train/fraction_clipped", "train/loss"]),
    ("rl_games", "PPO", ["losses/a_loss", "rewards/step", "rewards/iter"]),
    ("rl_games", "PPO", ["losses/a_loss", "rewards0/frame", "rewards0/iter"]),
    ("baselines", "PPO", ["eprewmean", "approxkl", "nupdates", "policy_entropy"]),
    ("baselines", "PPO", ["ep_reward_mean", "approxkl", "serial_timesteps"]),
    ("unknown", "", ["ep_reward_mean", "policy_loss", "approx_kl", "steps"]),
    (
        "pytorch-sac",
        "SAC",
        [
            "episode_reward",
            "actor_loss",
            "critic_loss",
            "alpha_loss",
            "alpha_value",
            "actor_entropy",
        ],
    ),
    ("own-scores", "", ["Episode", "Average Score", "@console"]),
    ("dopamine", "", ["Train/NumEpisodes", "Train/AverageReturns", "Eval/AverageReturns"]),
    ("dopamine", "", ["Average undiscounted return per training episode"]),
    ("drl-code-pytorch", "", ["step_rewards_HalfCheetah-v2"]),
    ("drl-code-pytorch", "", ["evaluate_num", "evaluate_reward"]),
    ("unknown", "", ["Episode", "Average Score", "Score", "@console"]),
    ("pytorch-sac", "SAC", ["train/episode_reward", "train_actor/loss", "train_alpha/value"]),
    ("pytorch-sac", "", ["train/success", "train_actor/loss", "train_critic/loss"]),
    ("baselines", "PPO", ["loss/approximate_kullback-leibler", "episode_reward"]),
    ("baselines", "A2C", ["nupdates", "policy_entropy", "total_timesteps"]),
    ("baselines", "TRPO", ["EpRewMean", "TimestepsSoFar", "meankl"]),
    ("baselines", "DQN", ["mean 100 episode reward", "% time spent exploring", "steps"]),
    ("baselines", "DDPG", ["rollout/return", "rollout/return_history", "train/loss_critic"]),
    ("ml-agents", "PPO", ["Environment/Cumulative Reward", "Policy/Epsilon"]),
    ("ml-agents", "SAC", ["Environment/Cumulative Reward", "Losses/Q1 Loss"]),
    ("omnisafe", "", ["Metrics/EpRet", "Metrics/EpCost", "Train/KL", "Loss/Loss_reward_critic"]),
    (
        "omnisafe-off-policy",
        "",
        ["Metrics/EpRet", "Loss/Loss_reward_critic", "Value/reward_critic", "Value/alpha"],
    ),
    ("minimind-dpo", "DPO", ["loss", "dpo_loss", "aux_loss", "learning_rate"]),
    ("tianshou", "", ["test/reward", "test/length_std", "update/loss/vf"]),
    ("tianshou", "PPO", ["env_step", "len", "loss", "loss/clip", "loss/vf", "n/ep", "n/st"]),
    ("tianshou", "SAC", ["alpha", "env_step", "len", "loss/critic1", "n/ep", "n/st", "rew"]),
    ("torchrl", "DQN", ["train/episode_reward", "train/q_loss", "train/epsilon", "time/speed"]),
    ("torchrl", "SAC", ["train/reward", "train/q_loss", "train/alpha", "time/speed"]),
    ("torchrl", "", ["train/reward", "train/q_loss", "train/actor_loss", "train/sampling_time"]),
    ("unknown", "", ["loss", "accuracy"]),
    ("unknown", "", ["train_return", "train_length"]),
    ("unknown", "", ["episode/score", "episode/length"]),
    ("unknown", "", ["mean 100 episode reward", "policy loss", "kl"]),
    ("unknown", "", []),
]


@pytest.mark.parametrize(("trainer", "algo", "tags"), FINGERPRINTS)
def test_a_trainer_is_known_by_its_tags(trainer: str, algo: str, tags: Sequence[str]) -> None:
    """The marks of one trainer do not fit another one's table, and tell the algorithm."""
    found = identify(tags)
    assert (found.id, found.algo) == (trainer, algo)
    assert found == identify(reversed(tags))


def test_more_tags_may_change_the_answer() -> None:
    """It is asked again when tags appear: at first SB3's algorithm cannot be told."""
    tags = ["rollout/ep_rew_mean", "time/fps"]
    assert identify(tags).label == "SB3"
    assert identify([*tags, "train/clip_fraction"]).label == "SB3 PPO"


def test_families_say_whose_limits_apply() -> None:
    """Control, RLHF with a critic, GRPO and its relatives, and unknown ones."""
    families = {name: each.family for name, each in TRAINERS.items()}
    assert families["sb3"] == families["custom"] == families["rsl_rl"] == "on-policy"
    assert families["trl-legacy"] == families["trl-ppo"] == "rlhf"
    assert families["trl-grpo"] == families["verl"] == families["openrlhf"] == "grpo"
    assert families["nemo-rl"] == families["skyrl"] == families["open-instruct"] == "grpo"
    assert UNKNOWN_TRAINER.family == "unknown"


@pytest.mark.parametrize(
    ("stated", "label", "family"),
    [
        ("dqn", "SB3 DQN", "value-based"),
        ("qrdqn", "SB3 QR-DQN", "value-based"),
        ("ppo_lstm", "SB3 PPO", "on-policy"),
        ("MaskablePPO", "SB3 PPO", "on-policy"),
        ("tqc", "SB3 TQC", "off-policy"),
        ("adam", "SB3", "unknown"),
        (3, "SB3", "unknown"),
        (None, "SB3", "unknown"),
    ],
)
def test_a_setting_tells_the_algorithm_that_no_tag_shows(
    stated: object, label: str, family: str
) -> None:
    """rl-baselines3-zoo's `algo: dqn` stands beside monitors that are the same for all of them."""
    silent = identify(["rollout/ep_rew_mean", "time/fps"])
    found = with_algorithm(silent, stated)
    assert (found.label, found.family) == (label, family)


def test_what_tags_show_of_the_algorithm_counts_more_than_a_setting() -> None:
    """As does a family that they show: a setting may be that of another part of a script."""
    shown = identify(["rollout/ep_rew_mean", "train/clip_fraction"])
    assert with_algorithm(shown, "dqn") == shown
    replay = UNKNOWN_TRAINER._replace(family="off-policy")
    assert with_algorithm(replay, "ppo") == replay
    assert with_algorithm(replay, "sac").algo == "SAC"


def test_the_scores_of_pfrl_are_known_without_their_steps() -> None:
    """Where they are pasted as a table, the first column is its step and no metric."""
    assert identify(["episodes", "elapsed", "mean", "median", "stdev"]).label == "PFRL"


_VERL = """
step actor/entropy actor/pg_loss actor/pg_clipfrac actor/ppo_kl actor/grad_norm actor/lr
critic/score/mean critic/rewards/mean critic/advantages/mean response_length/mean
"""
_SB3 = """
rollout/ep_rew_mean rollout/ep_len_mean time/fps time/total_timesteps train/approx_kl
train/clip_fraction train/clip_range train/entropy_loss train/value_loss train/loss
"""


@pytest.mark.parametrize(("trainer", "tags", "reward"), [
    ("verl", _VERL, "critic_score_mean"), ("sb3", _SB3, "rollout_ep_rew_mean"),
])  # fmt: skip
def test_columns_may_have_another_sign_in_place_of_a_slash(
    trainer: str, tags: str, reward: str
) -> None:
    """Many of them prove the trainer, and mean what its tags mean; a few may be any script's."""
    columns = tags.replace("/", "_").split()
    found = identify(columns)
    assert found == identify(tags.split())
    assert found.id == trainer
    meant = meaning(found, reward)
    assert meant is not None
    assert meant.concept == "reward_mean"
    assert identify(columns[:4]) == UNKNOWN_TRAINER
    assert identify([*columns, "a/b"]) == UNKNOWN_TRAINER
