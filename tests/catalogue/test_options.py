"""What trainers call their settings, and how many steps a run will make."""

from __future__ import annotations

import pytest

from ppo_top.catalogue import (
    UNKNOWN_TRAINER,
    Option,
    Trainer,
    canonical_names,
    hyperparameter,
    identify,
    known_trainers,
    option,
    option_default,
    option_name,
    options,
    setting_name,
    total_steps,
    trainer_tables,
)
from ppo_top.model import Axis, ConfigValue

TRAINERS = {trainer.id: trainer for trainer in known_trainers()}
SB3 = TRAINERS["sb3"]

SPELLINGS = [
    ("learning_rate", "", "learning_rate"),
    ("lr", "", "learning_rate"),
    ("learning rate", "", "learning_rate"),  # SB3's hparams
    ("Learning-Rate", "", "learning_rate"),
    ("train/learning_rate", "", "learning_rate"),
    ("args.learning_rate", "cleanrl", "learning_rate"),
    ("actor_rollout_ref.actor.optim.lr", "verl", "learning_rate"),
    ("actor_rollout_ref/actor/optim/lr", "", "learning_rate"),
    ("critic.optim.lr", "", "critic_learning_rate"),
    ("actor.adam.lr", "openrlhf", "learning_rate"),
    ("algorithm.kl_ctrl.kl_coef", "", "kl_coef"),
    ("algorithm.kl_ctrl.target_kl", "verl", "ref_kl_target"),
    ("init_kl_coef", "", "kl_coef"),
    ("beta", "", "beta"),
    ("actor_rollout_ref.actor.kl_loss_coef", "verl", "beta"),
    ("clip_coef", "", "clip_range"),
    ("cliprange", "", "clip_range"),
    ("clip_param", "", "clip_range"),
    ("clip_eps", "", "clip_range"),
    ("epsilon", "trl-grpo", "clip_range"),
    ("epsilon_high", "", "clip_range_high"),
    ("update_epochs", "", "n_epochs"),
    ("num_ppo_epochs", "", "n_epochs"),
    ("num_iterations", "trl-grpo", "n_epochs"),
    ("num_iterations", "cleanrl", "total_iterations"),
    ("num_sgd_iter", "", "n_epochs"),
    ("max_epochs", "openrlhf", "n_epochs"),
    ("max_epochs", "rl_games", "total_iterations"),
    ("entropy_coeff", "", "ent_coef"),
    ("algorithm.entropy_coef", "rsl_rl", "ent_coef"),
    ("desired_kl", "", "target_kl"),
    ("kl_target", "rllib", "target_kl"),
    ("_train_batch_size_per_learner", "rllib", "n_steps"),
    ("target", "trl-legacy", "ref_kl_target"),
    ("steps", "trl-legacy", None),  # samples, of which its own loops know nothing
    ("total_timesteps", "", "total_timesteps"),
    ("max_steps", "", "max_steps"),
    ("max_iterations", "", "total_iterations"),
    ("num_generations", "", "num_generations"),
    ("actor_rollout_ref.rollout.n", "verl", "num_generations"),
    ("max_completion_length", "", "max_completion_length"),
    ("data.max_response_length", "", "max_completion_length"),
    ("gamma", "", "gamma"),
    ("lam", "", "gae_lambda"),
    ("lambda_", "rllib", "gae_lambda"),
    ("num_steps", "", "n_steps"),
    ("minibatch_size", "cleanrl", "batch_size"),
    ("batch_size", "cleanrl", "rollout_size"),
    ("batch_size", "sb3", "batch_size"),
    ("max_grad_norm", "", "max_grad_norm"),
    ("seed", "", "seed"),
    ("env_id", "", "env_id"),
    ("adam_epsilon", "", None),
    ("vocab_size", "", None),
    ("episode_length", "", None),  # rather the most steps of an episode than those of a rollout
    ("epsilon_anneal_time", "", None),  # in steps: no share of the run
    ("repeat_times", "", None),
    ("polyak", "skrl", "tau"),
    ("polyak", "", None),  # Spinning Up's is the share that stays
    ("target", "", None),
    ("steps", "", None),
    ("", "", None),
]


@pytest.mark.parametrize(("key", "trainer", "expected"), SPELLINGS)
def test_every_spelling_leads_to_one_name(key: str, trainer: str, expected: str) -> None:
    """Names, paths with dots or slashes, blanks: whatever a source calls it."""
    assert hyperparameter(key, trainer) == expected


@pytest.mark.parametrize("line", options(), ids=lambda line: f"{line.trainer}-{line.name}")
def test_every_line_leads_back_to_itself(line: Option) -> None:
    """A trainer's own spelling of an option is understood in a log of that trainer."""
    trainer = "" if line.trainer == "*" else line.trainer.partition("/")[0]
    assert hyperparameter(line.name, trainer) == line.canonical
    assert trainer == "" or trainer in trainer_tables()


@pytest.mark.parametrize(
    ("family", "epsilon"),
    [
        ("on-policy", "clip_range"),
        ("grpo", "clip_range"),
        ("rlhf", "clip_range"),
        ("value-based", "config/epsilon"),
        ("off-policy", "config/epsilon"),
        ("unknown", "config/epsilon"),
    ],
)
def test_who_does_not_clip_explores_with_epsilon(family: str, epsilon: str) -> None:
    """Where nothing shows the family, the name stays as it is. Others are clear."""
    trainer = UNKNOWN_TRAINER._replace(family=family)
    assert setting_name("config/epsilon", trainer) == epsilon
    assert setting_name("clip_epsilon", trainer) == "clip_range"
    assert setting_name("my_own", trainer) == "my_own"


def test_rloo_has_fewer_options_than_grpo_and_other_defaults() -> None:
    """Both are named alike in logs; what GRPO alone has is advised to nobody else."""
    rloo, grpo = TRAINERS["trl-rloo"], TRAINERS["trl-grpo"]
    assert (option_default(grpo, "beta"), option_default(rloo, "beta")) == (0, 0.05)
    assert option_name(rloo, "clip_range") == "epsilon"
    assert option(grpo, "ent_coef") is not None
    assert option(rloo, "ent_coef") is None


def test_canonical_names_stand_for_themselves() -> None:
    """What has been translated once can be translated again."""
    assert {hyperparameter(name) for name in canonical_names()} == canonical_names()


def test_a_trainer_is_spoken_to_in_its_own_words() -> None:
    """The same advice names another option for another trainer."""
    assert option_name(SB3, "n_epochs") == "n_epochs"
    assert option_name(TRAINERS["trl-ppo"], "n_epochs") == "num_ppo_epochs"
    assert option_name(TRAINERS["rllib"], "n_epochs") == "num_epochs"
    assert option_name(TRAINERS["rllib"], "n_steps") == "train_batch_size_per_learner"
    assert option_name(TRAINERS["trl-async-grpo"], "clip_range") == "epsilon"
    assert option_name(TRAINERS["custom"], "clip_range") == "clip_range"
    assert option_name(TRAINERS["tianshou"], "n_epochs") == "update_step_num_repetitions"
    assert option_name(TRAINERS["pfrl"], "gae_lambda") == "lambd"
    assert option_name(TRAINERS["omnisafe"], "learning_rate") == "model_cfgs.actor.lr"
    assert option_name(TRAINERS["di-engine"], "vf_coef") == "policy.learn.value_weight"
    assert option_name(TRAINERS["rl_games"], "vf_coef") == "critic_coef"
    assert option_name(TRAINERS["cleanrl"]._replace(algo="SAC"), "learning_rate") == "policy_lr"
    assert option_name(TRAINERS["skrl"]._replace(algo="DQN"), "gamma") == "discount_factor"
    online_dpo = TRAINERS["trl-online-dpo"]._replace(algo="DPO")
    assert option_name(online_dpo, "max_completion_length") == "max_new_tokens"
    assert option_name(Trainer("unknown", "", "unknown", ""), "n_epochs") == "n_epochs"


def test_defaults_are_those_of_the_algorithm() -> None:
    """SB3's learning rate depends on the algorithm; one algorithm's default is not another's."""
    rates = {
        algo: option_default(SB3._replace(algo=algo), "learning_rate")
        for algo in ("", "PPO", "A2C", "DQN", "SAC", "TRPO")
    }
    assert rates == {
        "": 0.0003, "PPO": 0.0003, "A2C": 0.0007, "DQN": 0.0001, "SAC": 0.0003, "TRPO": None
    }  # fmt: skip
    assert option_default(SB3, "target_kl") is None
    assert option_default(SB3, "normalize_advantage") is True
    assert option_default(SB3, "n_epochs") == 10
    assert option_default(SB3._replace(algo="SAC"), "ent_coef") == "auto"


@pytest.mark.parametrize(
    ("step", "counted", "expected"),
    [
        (30, 600_000, 120),
        (120, 2_400_000, 120),
        (600_000, 600_000, 2_400_000),
        (30, None, 2_400_000),
    ],
)
def test_a_total_is_of_what_the_trainer_counts(
    step: int, counted: float | None, expected: int
) -> None:
    """OmniSafe's event files go by epochs, of 20,000 steps each here, and hold the steps."""
    found = total_steps({"total_timesteps": 2_400_000}, TRAINERS["omnisafe"], step, counted)
    assert found == expected


@pytest.mark.parametrize("option_of_total", ["total_iterations", "max_steps"])
@pytest.mark.parametrize("counted", [6_144, 122_880])
def test_a_total_of_iterations_is_of_the_run_s_own_counter(
    option_of_total: str, counted: float
) -> None:
    """`Iteration 3/60 | Steps: 6144` goes to 60, whatever the steps are; so does a bar's 3/60."""
    assert total_steps({option_of_total: 60}, UNKNOWN_TRAINER, 3, counted) == 60


@pytest.mark.parametrize("name", ["total_steps", "num_env_steps", "total_frames"])
def test_what_scripts_call_the_length_of_a_training(name: str) -> None:
    """Whoever wrote them; a number far below the newest step counts something else."""
    assert total_steps({name: 16_384}, UNKNOWN_TRAINER, 1000) == 16_384
    assert total_steps({name: 30}, UNKNOWN_TRAINER, 1000) is None


@pytest.mark.parametrize("axis", [Axis.UPDATE, Axis.EPISODE, Axis.EPOCH])
def test_environment_steps_are_no_total_of_other_numbers(axis: Axis) -> None:
    """A list of the returns of episodes beside `"total_timesteps": 200000`."""
    config = {"total_timesteps": 200_000}
    assert total_steps(config, UNKNOWN_TRAINER, 1155, axis=axis) is None
    assert total_steps(config, UNKNOWN_TRAINER, 1155, 190_000, axis) is not None
    assert total_steps(config, UNKNOWN_TRAINER, 1155) == 200_000


def test_sheeprl_nests_the_length_of_a_training_below_its_algorithm() -> None:
    """Its event files keep the settings as `algo/total_steps`."""
    trainer = TRAINERS["sheeprl"]
    name = setting_name("algo/total_steps", trainer)
    assert total_steps({name: 16_384.0}, trainer, 1000) == 16_384


@pytest.mark.parametrize("count", [1, 60])
def test_few_steps_in_an_iteration_do_not_make_a_total_of_none(count: int) -> None:
    """100 steps in each of 60 iterations: at the first, 100 is not far beyond 60."""
    assert total_steps({"total_iterations": 60}, UNKNOWN_TRAINER, count, 100 * count) == 60


@pytest.mark.parametrize("trainer", [UNKNOWN_TRAINER, TRAINERS["cleanrl"]])
def test_a_total_of_episodes_or_epochs_is_of_steps_that_number_them(trainer: Trainer) -> None:
    """Of other steps it says nothing, however few there are."""
    config: dict[str, ConfigValue] = {"total_episodes": 500, "num_train_epochs": 8}
    for axis, expected in [(Axis.EPISODE, 500), (Axis.EPOCH, 8), (Axis.STEP, None)]:
        assert total_steps(config, trainer, 3, 30_000, axis) == expected


def test_the_present_spelling_comes_first() -> None:
    """Where a trainer has renamed an option advice speaks of the new name."""
    found = option(TRAINERS["openrlhf"], "clip_range")
    assert found is not None
    assert found.name == "actor.eps_clip"


@pytest.mark.parametrize(
    ("trainer", "config", "step", "expected"),
    [
        ("sb3", {"total_timesteps": 80_000.0}, None, 80_000),
        ("sb3", {"total_timesteps": 80_000}, 81_920, 80_000),  # the last rollout is finished
        ("sb3", {"max_steps": 5}, None, None),
        ("trl-grpo", {"max_steps": 100, "total_timesteps": 7}, 3, 100),
        ("trl-grpo", {"max_steps": -1}, 3, None),
        ("rsl_rl", {"total_iterations": 1500}, 10, 1500),
        ("custom", {"total_iterations": 20}, 3, 20),
        ("custom", {"total_iterations": 20}, 2048, None),  # steps of the environment
        ("custom", {"total_iterations": 20, "total_timesteps": 40960}, 2048, 40960),
        ("unknown", {"max_steps": 7}, None, 7),
        ("unknown", {"max_steps": 20, "total_iterations": 60}, 31, 60),  # a bar of each iteration
        ("unknown", {"max_steps": 20}, 21, 20),
        ("sb3", {"total_timesteps": True}, None, None),
        ("sb3", {"total_timesteps": "many"}, None, None),
        ("sb3", {"total_timesteps": float("nan")}, None, None),
        ("sb3", {"total_timesteps": float("inf")}, None, None),
        ("sb3", {}, None, None),
    ],
)
def test_how_many_steps_a_run_will_make(
    trainer: str, config: dict[str, float], step: int | None, expected: int | None
) -> None:
    """The total counts what the run counts; numbers that cannot be totals are none."""
    known = TRAINERS.get(trainer, identify(()))
    assert total_steps(config, known, step) == expected


@pytest.mark.parametrize(
    ("iterations", "expected"), [(78, 39_936), (77, 40_000), (39_936, 40_000), (None, 40_000)]
)
def test_a_total_is_of_the_iterations_that_its_steps_suffice_for(
    iterations: int | None, expected: int
) -> None:
    """CleanRL's `ppo.py`: `args.num_iterations = args.total_timesteps // args.batch_size`."""
    cleanrl = identify(["charts/SPS", "losses/clipfrac"])
    config: dict[str, ConfigValue] = {"total_timesteps": 40_000, "rollout_size": 512}
    if iterations is not None:
        config["total_iterations"] = iterations
    assert total_steps(config, cleanrl, 1024) == expected
