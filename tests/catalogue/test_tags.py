"""What tags mean, one by one: the values that guides call crucial, and the traps among them."""

from __future__ import annotations

import pytest

from ppo_top.catalogue import (
    UNKNOWN_TRAINER,
    concept,
    identify,
    known_trainers,
    meaning,
)
from ppo_top.model import UNKNOWN_SAMPLE, Sample

TRAINERS = {trainer.id: trainer for trainer in known_trainers()}


LEGACY = """
env/reward_mean reward_mean          ppo/mean_scores reward_mean
env/reward_std reward_std            ppo/std_scores reward_std
env/reward_dist reward_dist          objective/kl ref_kl
objective/kl_dist ref_kl_dist        objective/kl_coef kl_coef
ppo/mean_non_score_reward non_score_reward
objective/entropy seq_entropy        ppo/policy/entropy entropy
ppo/learning_rate lr                 ppo/policy/clipfrac clip_fraction
ppo/policy/approxkl approx_kl        ppo/policy/policykl approx_kl_k1
ppo/policy/ratio ratio_dist          ppo/policy/advantages_mean adv_mean
ppo/policy/advantages adv_dist       ppo/returns/mean return_mean
ppo/returns/var return_var           ppo/val/mean value_mean
ppo/val/var value_var                ppo/val/var_explained explained_variance
ppo/val/clipfrac value_clip_fraction ppo/val/vpred value_pred
ppo/val/error value_error            ppo/loss/policy policy_loss
ppo/loss/value value_loss            ppo/loss/total total_loss
tokens/queries_len_mean query_len_mean tokens/queries_len_std query_len_std
tokens/queries_dist query_len_dist   tokens/responses_len_mean resp_len_mean
tokens/responses_len_std resp_len_std tokens/responses_dist resp_len_dist
tokens/responses_len_dist resp_len_dist
objective/logprobs logprobs_dist     objective/ref_logprobs ref_logprobs_dist
"""

PPO = """
eps eps                              objective/kl ref_kl
objective/entropy seq_entropy        objective/non_score_reward non_score_reward
objective/rlhf_reward rlhf_reward    objective/scores reward_mean
policy/approxkl_avg approx_kl        policy/clipfrac_avg clip_fraction
loss/policy_avg policy_loss          loss/value_avg value_loss
val/clipfrac_avg value_clip_fraction policy/entropy_avg entropy
val/ratio ratio_mean                 val/ratio_var ratio_var
val/num_eos_tokens eos_count         lr lr
episode episode
"""

GRPO = """
num_tokens num_tokens                reward reward_mean
completions/mean_length resp_len_mean completions/min_length resp_len_min
completions/max_length resp_len_max  completions/clipped_ratio truncated_frac
completions/mean_terminated_length term_len_mean
completions/min_terminated_length term_len_min
completions/max_terminated_length term_len_max
rewards/my_custom_reward/mean reward_component_mean{my_custom_reward}
rewards/my_custom_reward/std reward_component_std{my_custom_reward}
reward_std reward_std                kl ref_kl_token
entropy entropy                      clip_ratio clip_fraction
clip_ratio/low_mean clip_low         clip_ratio/low_min clip_low_min
clip_ratio/high_mean clip_high       clip_ratio/high_max clip_high_max
clip_ratio/region_mean clip_fraction frac_reward_zero_std frac_zero_std
"""

SB3 = """
rollout/ep_rew_mean reward_mean      rollout/ep_len_mean ep_len
train/value_loss value_loss          train/entropy_loss entropy
train/policy_gradient_loss policy_loss train/approx_kl approx_kl
train/clip_fraction clip_fraction    train/explained_variance explained_variance
train/learning_rate lr               train/loss total_loss
train/clip_range clip_range          train/n_updates n_updates
time/total_timesteps step            time/iterations iteration
time/fps fps                         time/time_elapsed time_elapsed
eval/mean_reward eval_reward_mean    eval/std_reward eval_reward_std
"""


def pairs(trainer: str, text: str) -> list[tuple[str, str, str]]:
    """(trainer, tag, concept) of a list above."""
    words = text.split()
    return [(trainer, *pair) for pair in zip(words[::2], words[1::2], strict=True)]


CRUCIAL = [
    *pairs("trl-legacy", LEGACY),
    *pairs("trl-ppo", PPO),
    *pairs("trl-grpo", GRPO),
    *pairs("llama-factory", "reward reward_mean lr lr learning_rate lr"),
    *pairs("sb3", SB3),
    ("rllib", "learners/default_policy/qf_mean", "value_mean"),
    *pairs("custom", SB3),
    ("custom", "Iteration", "iteration"),
    ("custom", "Episodes", "n_episodes"),
    ("custom", "Mean Reward", "reward_mean"),
    ("custom", "Mean reward", "reward_mean"),
    ("custom", "KL", "approx_kl"),
    ("custom", "clip%", "clip_fraction"),
]

KINDS_OF_KL = [
    ("rllib", "learners/hunter/mean_kl_loss", "approx_kl"),
    ("rllib", "info/learner/hunter/learner_stats/kl", "approx_kl"),
    ("torchtune", "kl", "ref_kl"),
    ("torchtune", "kl_loss", "ref_kl_token"),
    ("torchtune", "approx_policy_kl", "approx_kl"),
    ("rl4lms", "rollout_info/kl_div_mean", "ref_kl_token"),
    ("rl4lms", "ppo/approx_kl", "approx_kl"),
    ("nemo-aligner", "train_rollouts/init_policy_kl", "ref_kl_token"),
    ("miles", "train/train_rollout_kl", "rollout_kl"),
    ("miles", "train/ppo_kl", "approx_kl_k1"),
    ("areal", "ppo_actor/update/behave_approx_kl/avg", "rollout_kl"),
    ("trl-legacy", "objective/kl", "ref_kl"),
    ("trl-ppo", "objective/kl", "ref_kl"),
    ("trl-grpo", "kl", "ref_kl_token"),
    ("trl-async-grpo", "kl", "approx_kl"),
    ("verl", "actor/kl_loss", "ref_kl_token"),
    ("verl", "actor/ppo_kl", "approx_kl_k1"),
    ("openrlhf", "train/kl", "ref_kl_token"),
    ("openrlhf", "train/ppo_kl", "approx_kl_k1"),
    ("spinning-up", "KL", "approx_kl_k1"),
    ("cleanrl", "losses/old_approx_kl", "approx_kl_k1"),
    ("cleanrl", "losses/approx_kl", "approx_kl"),
    ("rllib", "learners/default_policy/mean_kl_loss", "approx_kl"),
    ("rllib", "info/learner/default_policy/kl", "approx_kl"),
    ("rllib", "info/learner/default_policy/mean_kl_loss", "approx_kl"),
    ("rllib", "ray/tune/info/learner/default_policy/kl", "approx_kl"),
    ("rllib", "info/learner/default/kl", "approx_kl"),
]
"""To the old policy, and to the reference per sequence or per token: three things."""


@pytest.mark.parametrize(("trainer", "tag", "expected"), [*CRUCIAL, *KINDS_OF_KL])
def test_the_values_that_guides_name(trainer: str, tag: str, expected: str) -> None:
    """Every metric that the trainers' logging guides explain stands for its concept."""
    found = meaning(TRAINERS[trainer], tag)
    assert found is not None
    assert found.concept == expected


@pytest.mark.parametrize(
    ("trainer", "tag", "expected"), pairs("trl-ppo", PPO) + pairs("trl-grpo", GRPO)
)
def test_the_prefix_of_trackers_changes_nothing(trainer: str, tag: str, expected: str) -> None:
    """Hugging Face's trainer writes `train/` before every name in TensorBoard and W&B."""
    found = meaning(TRAINERS[trainer], f"train/{tag}")
    assert found is not None
    assert found.concept == expected


@pytest.mark.parametrize(
    ("trainer", "tag", "unit"),
    [
        ("verl", "perf/throughput", "tokens / s"),
        ("prime-rl", "Throughput", "tokens / s"),
        ("sb3", "time/fps", "steps / s"),
    ],
)
def test_a_speed_is_in_what_the_trainer_counts(trainer: str, tag: str, unit: str) -> None:
    """A step of a language model takes a minute, in which it makes a hundred thousand tokens."""
    found = meaning(TRAINERS[trainer], tag)
    assert found is not None and found.concept is not None
    assert concept(found.concept).label == unit


def test_evaluation_has_two_spellings() -> None:
    """`eval_reward` on the console is `eval/reward` on disk, and neither is the training reward."""
    grpo = TRAINERS["trl-grpo"]
    for tag in ("eval_reward", "eval/reward"):
        found = meaning(grpo, tag)
        assert found is not None
        assert found.concept == "eval_reward_mean"
    assert meaning(grpo, "eval_kl") is None


# --- traps: each would be a false alarm ------------------------------------------------------


def value(trainer: str, tag: str, logged: float) -> tuple[str, float]:
    """What a logged number says: (concept, value)."""
    found = meaning(TRAINERS[trainer], tag)
    assert found is not None
    return found.concept, found.offset + found.scale * logged


@pytest.mark.parametrize(
    ("trainer", "tag", "logged", "entropy"),
    [
        ("sb3", "train/entropy_loss", -0.69, 0.69),
        ("sb3", "train/entropy", 0.69, 0.69),
        ("custom", "train/entropy_loss", -0.69, 0.69),
        ("skrl", "Loss / Entropy loss", -0.69, 0.69),
        ("cleanrl", "losses/entropy", 0.69, 0.69),
        ("rsl_rl", "Loss/entropy", 0.69, 0.69),
        ("rllib", "ray/tune/learners/default_policy/entropy", 0.69, 0.69),
        ("verl", "actor/entropy", 0.69, 0.69),
        ("verl", "actor/entropy_loss", 0.69, 0.69),
        ("openrlhf", "train/entropy_loss", 0.69, 0.69),
        ("torchrl", "train/loss_entropy", -0.0069, 0.0069),
    ],
)
def test_the_sign_of_the_entropy(trainer: str, tag: str, logged: float, entropy: float) -> None:
    """The same name is minus the entropy in one trainer and the entropy in another."""
    assert value(trainer, tag, logged) == ("entropy", entropy)


@pytest.mark.parametrize("trainer", ["sb3", "rsl_rl", "torchrl"])
def test_an_evaluation_that_a_script_prints_is_one(trainer: str) -> None:
    """`Mean Reward: 19.1` behind `Evaluating...`; what the trainer logs itself comes first."""
    found = meaning(TRAINERS[trainer], "eval/Mean Reward")
    assert found is not None
    assert found.concept == "eval_reward_mean"
    own = meaning(TRAINERS["sb3"], "eval/mean_reward")
    assert own is not None
    assert own.priority < found.priority
    assert meaning(TRAINERS[trainer], "eval/Best Reward") is None


@pytest.mark.parametrize("tag", ["eval/奖励", "eval/平均奖励", "test/回报"])
def test_an_evaluation_may_be_in_chinese(tag: str) -> None:
    """What joyrl's notebooks print below `开始测试！`."""
    found = meaning(UNKNOWN_TRAINER, tag)
    assert found is not None
    assert found.concept == "eval_reward_mean"


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("entropy_curve", "entropy"),
        ("entropy_values", "entropy"),
        ("policy_loss_history", "policy_loss"),
        ("Epoch_train_loss", "total_loss"),
        ("Avg Batch Rewards", "reward_mean"),
        ("rm_reward", "reward_mean"),
        ("reward_model_score_mean", "reward_mean"),
    ],
)
def test_names_that_scripts_of_ones_own_give(tag: str, expected: str) -> None:
    """What holds the numbers, or of what they are the mean, makes no other metric."""
    found = meaning(UNKNOWN_TRAINER, tag)
    assert found is not None
    assert found.concept == expected


@pytest.mark.parametrize("tag", ["steps_list", "episode_steps_history", "train_step_values"])
def test_a_list_of_steps_may_be_of_the_lengths_of_episodes(tag: str) -> None:
    """It is no count, as `steps` is."""
    assert meaning(UNKNOWN_TRAINER, tag) is None


@pytest.mark.parametrize("other", ["kl", "kl_mean", "kl_div"])
def test_the_kl_of_the_update_is_what_is_called_so(other: str) -> None:
    """A script that prints `kl_mean=0.1 approx_kl=0.001` has two of them."""
    own, beside = meaning(UNKNOWN_TRAINER, "approx_kl"), meaning(UNKNOWN_TRAINER, other)
    assert own is not None and beside is not None
    assert own.priority < beside.priority


def test_terms_of_the_reward_of_isaac_lab_are_parts_of_it_in_skrl() -> None:
    """Under the name that skrl gives to what an environment logs."""
    found = value("skrl", "Info / Episode_Reward/joint_vel", -0.5)
    assert found == ("reward_component_mean{joint_vel}", -0.5)


def test_terms_of_the_reward_on_the_console_of_rsl_rl() -> None:
    """Under legged_gym's names and Isaac Lab's; what else is averaged is no reward."""
    for tag in ("Mean episode rew_torques", "Mean episode Episode_Reward/torques"):
        assert value("rsl_rl", tag, -0.5) == ("reward_component_mean{torques}", -0.5)
    other = meaning(TRAINERS["rsl_rl"], "Mean episode terrain_level")
    assert other is None
    for tag, part in (("Mean episode up_reward", "up"), ("Mean style reward", "style")):
        assert value("rsl_rl", tag, 0.5) == (f"reward_component_mean{{{part}}}", 0.5)


def test_percent_and_shares() -> None:
    """Only the custom console prints percent."""
    assert value("custom", "clip%", 6.2) == ("clip_fraction", pytest.approx(0.062))  # type: ignore[comparison-overlap]
    assert value("custom", "train/clip_fraction", 0.062) == ("clip_fraction", 0.062)
    assert value("openrlhf", "train/dynamic_filtering_pass_rate", 0.25) == ("frac_zero_std", 0.75)


def test_milliseconds_are_seconds() -> None:
    """skrl gives the time of an update in milliseconds."""
    assert value("skrl", "Stats / Algorithm update time (ms)", 250.0) == (
        "stage_time{update}",
        0.25,
    )


def test_rewards_of_rllib_may_be_of_one_iteration() -> None:
    """Since Ray 2.53 (rllib/utils/metrics/stats/series.py, `reduce`) a window begins anew with each
    iteration; the old stack has a mean of the last 100 episodes.
    """
    new = meaning(TRAINERS["rllib"], "env_runners/episode_return_mean")
    old = meaning(TRAINERS["rllib"], "episode_reward_mean")
    assert new is not None
    assert old is not None
    assert (new.sample.kind, old.sample.kind) == ("", "window")


def test_each_kl_coefficient_is_one() -> None:
    """RLlib's weighs the KL to the old policy, TRL's that to the reference."""
    rllib = meaning(TRAINERS["rllib"], "learners/default_policy/curr_kl_coeff")
    legacy = meaning(TRAINERS["trl-legacy"], "objective/kl_coef")
    assert rllib is not None
    assert legacy is not None
    assert rllib.concept == legacy.concept == "kl_coef"


@pytest.mark.parametrize(
    ("trainer", "tag"),
    [
        ("trl-grpo", "completions/mean_terminated_length"),
        ("trl-grpo", "train/completions/min_terminated_length"),
        ("trl-grpo", "completions/max_terminated_length"),
        ("custom", "train/explained_variance"),
    ],
)
def test_zero_may_stand_for_nothing(trainer: str, tag: str) -> None:
    """No completion ended by itself, or the returns had no variance: 0 is no measurement."""
    found = meaning(TRAINERS[trainer], tag)
    assert found is not None
    assert found.zero_missing


def test_points_an_episode_are_marked() -> None:
    """CleanRL logs a return for each episode: to be brought to the grid of updates."""
    cleanrl = TRAINERS["cleanrl"]
    per_episode = {
        tag: found.per_episode
        for tag in ("charts/episodic_return", "charts/episodic_length", "losses/value_loss")
        if (found := meaning(cleanrl, tag)) is not None
    }
    assert per_episode == {
        "charts/episodic_return": True,
        "charts/episodic_length": True,
        "losses/value_loss": False,
    }


@pytest.mark.parametrize(
    ("trainer", "tag"),
    [
        ("rsl_rl", "Train/mean_reward/time"),
        ("rl_games", "rewards/iter"),
        ("rl_games", "rewards/time"),
        ("tianshou", "update/loss/mean"),
        ("megatron-rl", "lm loss vs samples"),
        ("roll", "grad-norm vs samples"),
    ],
)
def test_other_axes_are_not_mixed_in(trainer: str, tag: str) -> None:
    """The same curve again, against seconds or epochs, is not another measurement of the run."""
    found = meaning(TRAINERS[trainer], tag)
    assert found is not None
    assert found.concept == "ignore"


def test_the_better_of_two_tags_comes_first() -> None:
    """Where a trainer has two tags of one concept the one that says more counts."""
    better = [
        ("rsl_rl", "Rnd/mean_extrinsic_reward", "Train/mean_reward"),
        ("verl", "response_length_non_aborted/mean", "response_length/mean"),
        ("trl-legacy", "env/reward_mean", "ppo/mean_scores"),
        ("rllib", "learners/default_policy/entropy", "learners/hunter/entropy"),
        ("ml-agents", "Environment/Group Cumulative Reward", "Environment/Cumulative Reward"),
    ]
    for trainer, first, second in better:
        one, other = (meaning(TRAINERS[trainer], tag) for tag in (first, second))
        assert one is not None
        assert other is not None
        assert one.concept == other.concept
        assert one.priority < other.priority


def test_what_rllib_clips_is_another_metric() -> None:
    """RLlib's value loss, which cannot spike; the unclipped one is another concept."""
    whole = meaning(TRAINERS["rllib"], "learners/default_policy/vf_loss_unclipped")
    assert whole is not None
    clipped = meaning(TRAINERS["rllib"], "learners/default_policy/vf_loss")
    assert clipped is not None
    assert clipped.concept == "value_loss"
    assert whole.concept == "value_error"


def test_sample_factory_ratio_is_not_a_ratio() -> None:
    """Its `train/ratio_mean` is a distance from 1 and would look like a dead policy."""
    assert meaning(TRAINERS["sample_factory"], "train/ratio_mean") is None


@pytest.mark.parametrize(
    ("trainer", "tag"),
    [
        ("sample_factory", "train/num_sgd_steps"),
        ("tianshou", "train/episode"),
        ("tianshou", "train/n/ep"),
        ("tianshou", "n/ep"),
        ("tianshou", "training/n_collected_episodes"),
    ],
)
def test_counts_of_one_call_are_no_running_numbers(trainer: str, tag: str) -> None:
    """A constant 1 would look like updates that are stuck."""
    found = meaning(TRAINERS[trainer], tag)
    assert found is None or found.concept == "n_episodes"


def test_one_name_two_trainers() -> None:
    """`train/loss` and `train/entropy_loss` are decided by who wrote them."""
    openrlhf = identify(["train/entropy_loss", "train/ppo_clip_ratio", "train/policy_loss"])
    sb3 = identify(["train/entropy_loss", "train/value_loss", "rollout/ep_rew_mean"])
    assert (openrlhf.id, sb3.id) == ("openrlhf", "sb3")


def test_success_of_training_and_of_evaluation() -> None:
    """Evaluation success is not merged into that of training episodes, whoever logs it."""
    names = ("eval/success_rate", "test/success_rate", "eval/success_rate", "test_success")
    trainers = (TRAINERS["sb3"], TRAINERS["baselines"], UNKNOWN_TRAINER, UNKNOWN_TRAINER)
    found = [meaning(who, name) for who, name in zip(trainers, names, strict=True)]
    assert [each and each.concept for each in found] == ["eval_success_rate"] * 4
    trained = meaning(TRAINERS["baselines"], "train/success_rate")
    assert trained is not None and trained.concept == "success_rate"


@pytest.mark.parametrize(
    ("tag", "window"),
    [
        ("avg_reward_100", 100),
        ("train/mean_50_return", 50),
        ("mean_100ep_reward", 100),
        ("Average reward over last 100 episodes", 100),
        ("Average Reward (last 100 episodes)", 100),
        ("Last 20 Episodes Average Score", 20),
        ("100-episode average return", 100),
        ("mean_reward_3", 0),
        ("agent_12_mean_reward", 0),
        ("mean_reward_2024", 0),
        ("avg_reward", 0),
        ("reward_100", 0),
        ("rewards (CartPole-v1)", 0),
    ],
)
def test_the_window_of_a_mean_is_known_by_its_name(tag: str, window: int) -> None:
    """Not by the number of an agent, a seed, a year, a file or a version."""
    found = meaning(UNKNOWN_TRAINER, tag)
    assert found is not None and found.concept == "reward_mean"
    assert found.sample == (Sample("window", window) if window else UNKNOWN_SAMPLE)


@pytest.mark.parametrize(
    ("tag", "metric"),
    [
        ("Rewards/mean_episodes", "reward_mean"),
        ("Len/mean_episodes", "ep_len"),
        ("rewards_avg", "reward_mean"),
        ("window_avg_reward", "reward_mean"),
        ("Last Reward", "reward_mean"),
        ("mean_reward_sample", "reward_mean"),
        ("all_rewards", "reward_mean"),
        ("reward_curve", "reward_mean"),
        ("Environment/Lesson Number/difficulty", "curriculum_stage"),
        ("curriculum_stages", "curriculum_stage"),
        ("training_returns", "reward_mean"),
        ("training_rewards2", "reward_mean"),
        ("rewards_12", "reward_mean"),
        ("episode_lengths", "ep_len"),
        ("training_episode_len.avg", "ep_len"),
        ("eval/episode_length", "eval_ep_len"),
        ("Eval mean", "eval_reward_mean"),
        ("action_loss", "policy_loss"),
        ("acc (higher is better)", "preference_accuracy"),  # DeepSpeed-Chat's reward model
        ("running_reward", "reward_mean"),
        ("Moving Average Reward", "reward_mean"),
        ("RewardAverage", "reward_mean"),
        ("Reward (mean)", "reward_mean"),
        ("Reward (max)", "reward_max"),
        ("policy.entropy", "entropy"),
        ("epsilons", "exploration_rate"),
        ("entropyAverage", "entropy"),
        ("evaluation/return-average", "eval_reward_mean"),
        ("eval_R_avg", "eval_reward_mean"),
        ("train_R_max", "reward_max"),
        *((tag, "episode") for tag in ("Episode #", "i_episode", "Global Episode")),
        ("ep_reward_ma100", "reward_mean"),
        ("ep_return_mean", "reward_mean"),
        ("score_last_100", "reward_mean"),
        ("100rew", "reward_mean"),
        ("mean_100ep_reward", "reward_mean"),
        ("avg_total_reward", "reward_mean"),
        ("Reward/Agent_0", "reward_mean"),
        ("mean_reward_agent1", "reward_mean"),
        ("cum_reward", "reward_mean"),
        ("rollout_reward", "reward_mean"),
        ("reward_train", "reward_mean"),
        ("vl_loss", "value_loss"),
        ("pl_loss", "policy_loss"),
        ("dist_entropy", "entropy"),
        ("KLDiv", "approx_kl"),
        ("eps_threshold", "exploration_rate"),
        ("lr_actor", "lr"),
        ("is_success", "success_rate"),
        ("train_loss", "total_loss"),
        ("avg_steps", "ep_len"),
        ("length_mean", "ep_len"),
        ("update_summary/avg_clip_fraction", "clip_fraction"),
        ("eval/Average Score", "eval_reward_mean"),
        ("eval/Rewards", "eval_reward_mean"),
        ("evaluate_reward", "eval_reward_mean"),
        ("Moving average score is", "reward_mean"),
        ("Train reward margins", "preference_margin"),
        ("avg_r_total", "reward_mean"),
        ("Total rewards mean", "reward_mean"),
        ("accuracy_reward_func mean", "reward_component_mean{accuracy_reward_func}"),
        ("Reward moyen (100_ep)", "reward_mean"),
        ("Mittlerer Reward", "reward_mean"),
    ],
)
def test_names_that_own_scripts_give(tag: str, metric: str) -> None:
    """Seen in public logs."""
    found = meaning(identify([tag]), tag)
    assert found is not None and found.concept == metric


def test_the_reward_of_episodes_is_preferred_to_its_running_mean() -> None:
    """Which follows it."""
    tags = ("running_reward", "ep_reward_ma100", "total_reward")
    found = {tag: meaning(identify(tags), tag) for tag in tags}
    priorities = {tag: each.priority for tag, each in found.items() if each is not None}
    assert priorities.keys() == set(tags)
    assert min(priorities, key=lambda tag: priorities[tag]) == "total_reward"


@pytest.mark.parametrize(
    "tag",
    [
        *("Portfolio Return", "eval/Portfolio Return", "eval/random_return"),
        *("best_running_reward", "reward_threshold", "random/total_reward", "opponent_score_100"),
        *("time/rollout_score", "timing/reward", "time/step", "timing_s/step"),
    ],
)
def test_a_return_of_something_else_is_no_reward(tag: str) -> None:
    """Neither in the training nor in its evaluation, nor how long something took."""
    assert meaning(identify([tag]), tag) is None


def test_the_mean_of_all_agents_is_preferred_to_one_of_them() -> None:
    """Of several tags of a metric the one with the lowest priority is drawn and judged."""
    tags = ("Rewards_1", "mean_reward", "reward_2", "reward_agent_0")
    found = {tag: meaning(identify(tags), tag) for tag in tags}
    priorities = {tag: each.priority for tag, each in found.items() if each is not None}
    assert priorities.keys() == set(tags)
    assert min(priorities, key=lambda tag: priorities[tag]) == "mean_reward"
