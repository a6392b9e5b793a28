"""What trainers of language models, MAPPO and ML-Agents print, by their own print statements.

Made up after the sources: AReaL `areal/utils/stats_logger.py` and `stats_tracker`, slime
`slime/backends/megatron_utils/model.py`, ROLL `roll/pipeline/rlvr/actor_worker.py`, prime-rl
`src/prime_rl/trainer/rl/train.py` and
`orchestrator/orchestrator.py`, SkyRL `skyrl/train/utils/tracking.py`, torchforge
`observability/metrics.py` (ConsoleBackend), NeMo-RL `algorithms/grpo.py`, trlX
`trainer/accelerate_base_trainer.py`, minimind `trainer/train_ppo.py`, `trainer/train_grpo.py` and
`trainer/train_dpo.py`, mlx-lm-lora `trainer/grpo_trainer.py` and `trainer/dpo_trainer.py`,
on-policy `runner/shared/mpe_runner.py`, ml-agents 0.8
`trainers/trainer.py`.
"""

from __future__ import annotations

from pprint import pformat
from typing import NamedTuple

import pytest

from ppo_top import catalogue
from ppo_top.catalogue.tags import meaning
from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, parse_every_way


class PrintedUpdate(NamedTuple):
    """One update as it is printed, `{n}` being its number."""

    update: str
    trainer: str
    reward_tag: str
    steps: list[int]


CASES = {
    "areal": PrintedUpdate(
        "20260101-12:00:0{n}.123 StatsLogger INFO: Epoch 1/10 Step {n}/467 "
        "Train step {n}/4670 done.\n"
        "| grpo_actor/actor_loss/avg | 0.0e+00 | grpo_actor/entropy/avg | 1.4e-01 |\n"
        "| grpo_actor/task_reward/avg | {n}.0e-01 |  |  |\n",
        "areal",
        "grpo_actor/task_reward/avg",
        [1, 2, 3],
    ),
    "slime": PrintedUpdate(
        "[2026-01-01 12:00:0{n}] rollout.py:5 - rollout {n}: {{'rollout/raw_reward': 0.{n}, "
        "'rollout/rewards': 0.0, 'rollout/response_lengths': 512.5, 'rollout/log_probs': -0.2}}\n"
        "[2026-01-01 12:00:0{n}] model.py:6 - step {n}: {{'train/loss': 0.01, "
        "'train/pg_clipfrac': 0.001, 'train/ppo_kl': 0.0002, "
        "'train/entropy_loss': 0.3, 'train/grad_norm': 0.4}}\n",
        "slime",
        "rollout/raw_reward",
        [1, 2, 3],
    ),
    "roll": PrintedUpdate(
        "step: {n}, {{'actor/ppo_ratio_clipfrac': 0.01, 'actor/approxkl': 0.002, "
        "'critic/score/mean': 0.{n}, 'tokens/response_length/mean': 512.0}}\n",
        "roll",
        "critic/score/mean",
        [1, 2, 3],
    ),
    "prime-rl": PrintedUpdate(
        "12:00:0{n} SUCCESS Step {n} | Time: 8.15s | Reward: 0.{n} | Loss: 0.0123 | Entropy: 0.4 | "
        "Mismatch KL: 0.0004 | Grad. Norm: 0.0912 | LR: 1.00e-06 | Throughput: 4711 tokens/s | "
        "MFU: 31.2% | Peak Mem.: 40.1 GiB\n",
        "prime-rl",
        "Reward",
        [1, 2, 3],
    ),
    "prime-rl's orchestrator": PrintedUpdate(
        "12:00:0{n} SUCCESS Step {n} |   8.15s | Reward 0.{n}000 | Trainable 120/128 (93.8%) | "
        "Turns 1.0 | Branches 1.0 | Max Off-Policy 1 | Error 0.0% | Cancelled 0.0% | "
        "Truncation 2.1%\n",
        "prime-rl",
        "Reward",
        [1, 2, 3],
    ),
    "minimind-ppo": PrintedUpdate(
        "Epoch:[1/1]({n}/9751), Actor Loss: 0.5, Critic Loss: 0.2, Reward: 0.{n}, KL: 0.01, "
        "KL_ref: 0.02, Avg Response Len: 120.50, Actor LR: 0.00000030, Critic LR: 0.00000050\n",
        "minimind-ppo",
        "Reward",
        [1, 2, 3],
    ),
    "minimind": PrintedUpdate(
        "Epoch:[1/1]({n}/9751), Reward: 0.{n}, KL_ref: 0.02, Approx KL: 0.01, ClipFrac: 0.1, "
        "Critic Loss: 0.2, Avg Response Len: 120.50, Actor LR: 0.0000003, Critic LR: 0.0000005\n",
        "minimind",
        "Reward",
        [1, 2, 3],
    ),
    "minimind-grpo": PrintedUpdate(
        "Epoch:[1/1]({n}/9751), Reward: -2.{n}, KL_ref: -0.0010, Adv Std: 0.92, Adv Mean: -0.0, "
        "Actor Loss: 0.0, Avg Response Len: 271.38, Learning Rate: 0.00000030\n",
        "minimind-grpo",
        "Reward",
        [1, 2, 3],
    ),
    "own-grpo": PrintedUpdate(
        "GRPO step {n}/500 | loss: 0.01 | mean_reward: 0.{n} | KL: 0.0008 | clip_frac: 0.001\n",
        "own-grpo",
        "mean_reward",
        [1, 2, 3],
    ),
    "own-grpo with the rewards of a group": PrintedUpdate(
        "[step 000{n}] rewards=[0.{n},1] loss=-3.8475 kl=-0.0249 |grad|=6.10e-05 lr=0.0100\n",
        "own-grpo",
        "rewards_1",
        [1, 2, 3],
    ),
    "own-grpo with their spread": PrintedUpdate(
        "[step 00{n}] loss=+0.01 reward_mean=0.{n} reward_std=0.123 kl=0.00{n} tok/s=123.4\n",
        "own-grpo",
        "reward_mean",
        [1, 2, 3],
    ),
    "own-grpo with the spread behind it": PrintedUpdate(
        "Step {n}/60 | loss 0.01 | reward 0.{n} ± 0.210 | kl 0.0040 | len 30 | acc 10.00%\n",
        "own-grpo",
        "reward",
        [1, 2, 3],
    ),
    "mlx-grpo": PrintedUpdate(
        "\nIter {n}0:\n"
        "----------------------------------------\n"
        "Loss: 0.041\n"
        "Total Rewards:  μ=0.{n}56, σ=0.379\n"
        "Group Rewards:  μ=0.656, σ=0.379\n"
        "KL Divergence: 0.0012\n"
        "----------------------------------------\n"
        "Individual Reward Functions:\n"
        "  \N{BULLET} r1_int: μ=0.375, σ=0.217, cov=75.00%\n",
        "mlx-grpo",
        "Total Rewards mean",
        [10, 20, 30],
    ),
    "mlx-grpo in one line": PrintedUpdate(
        "Iter {n}: Train loss 0.001, Total rewards mean 0.{n}75, Total rewards std 0.000, "
        "Grouped rewards mean 0.875, Grouped rewards std 0.000, KL 0.001, "
        "r1_int mean 0.100, r1_int std 0.000, Learning Rate 1.000e-05, It/sec 0.024, "
        "Tokens/sec 19.182, Peak mem 73.175 GB\n",
        "mlx-grpo",
        "Total rewards mean",
        [1, 2, 3],
    ),
    "trlx": PrintedUpdate(
        "\r[losses/total_loss: 1.64 | losses/policy_loss: 0.12 | "
        "losses/value_loss: 0.9 | reward/mean: 0.{n}]:  {n}%|#   | {n}/100 [00:01<00:09, 9.1it/s]",
        "",
        "reward/mean",
        [1, 2, 3],
    ),
    "mappo": PrintedUpdate(
        "\n Scenario simple_spread Algo rmappo Exp check updates {n}/100 episodes, "
        "total num timesteps {n}200/20000000, FPS 512.\n\naverage episode rewards is -18{n}.25\n",
        "",
        "average_episode_rewards",
        [1200, 2200, 3200],
    ),
    "ml-agents 0.8": PrintedUpdate(
        "INFO:mlagents.trainers: run-0: Brain: Step: {n}000. Mean Reward: -57.2{n}. "
        "Std of Reward: 0.000. Training.\n",
        "ml-agents",
        "Environment/Cumulative Reward",
        [1000, 2000, 3000],
    ),
    "ml-agents with groups": PrintedUpdate(
        "[INFO] PushBlock. Step: {n}000. Time Elapsed: 60.123 s. Mean Reward: 0.000. "
        "Mean Group Reward: 1.{n}25. Training.\n",
        "ml-agents",
        "Environment/Group Cumulative Reward",
        [1000, 2000, 3000],
    ),
    "nemo-rl": PrintedUpdate(
        "========================= Step {n}/100 =========================\n"
        "\N{BAR CHART} Training Results:\n"
        "  \N{BULLET} Loss: 0.0123\n"
        "  \N{BULLET} Generation KL Error: 0.0004\n"
        "  \N{BULLET} Avg Reward: 0.{n}\n"
        "  \N{BULLET} Mean Generation Length: 123.4567\n",
        "nemo-rl",
        "Avg Reward",
        [1, 2, 3],
    ),
    "skyrl": PrintedUpdate(
        "".join(
            f"(skyrl_entrypoint pid=7) {line}\n"
            for line in (
                "2026-01-01 12:00:0{n}.200 | INFO     | skyrl.train.utils.tracking:log:160 - "
                "Step {n}: ",
                "{{'generate/avg_num_tokens': '301.2500',",
                " 'policy/policy_loss': '-0.0012',",
                " 'policy/policy_lr': '0.0000',",
                " 'reward/avg_raw_reward': '0.{n}235',",
                " 'trainer/global_step': {n}}}",
            )
        ),
        "skyrl",
        "reward/avg_raw_reward",
        [1, 2, 3],
    ),
    "torchforge": PrintedUpdate(
        "=== [global_reduce] - METRICS STEP {n} ===\n"
        "  grpo_loss/kl_divergence_mean: 0.01\n"
        "  rollout/count: 64.0\n"
        "  reward/evaluate_response/avg_reward: 0.{n}\n"
        "==============================\n",
        "",
        "reward/evaluate_response/avg_reward",
        [1, 2, 3],
    ),
}


def read(name: str) -> ParserOutput:
    """Three updates as the trainer prints them."""
    text = "".join(CASES[name].update.format(n=number) for number in (1, 2, 3)) + "\n"
    return parse_every_way(ConsoleParser, text.encode())


@pytest.mark.parametrize("name", CASES)
def test_reward_has_its_values_steps_and_meaning(name: str) -> None:
    """The reward of each update, at its own step, and as the reward."""
    case, found = CASES[name], read(name)
    trainer = catalogue.identify(found.points)
    assert found.steps(case.reward_tag) == case.steps
    assert len(set(found.values(case.reward_tag))) == 3
    known = meaning(trainer, case.reward_tag)
    assert known is not None
    assert known.concept == "reward_mean"
    assert not case.trainer or trainer.id == case.trainer


def test_minimind_trains_preferences_too() -> None:
    """Its DPO begins at a rate of 4e-8, far too low for anything but a language model."""
    update = (
        "Epoch:[1/1]({n}/4292), loss: 0.6{n}, dpo_loss: 0.6{n}, aux_loss: 0.0000, "
        "learning_rate: 0.00000004, epoch_time: 9.000min\n"
    )
    text = "".join(update.format(n=number) for number in (20, 40, 60))
    found = parse_every_way(ConsoleParser, text.encode())
    trainer = catalogue.identify(found.points)
    assert (trainer.id, trainer.family) == ("minimind-dpo", "preference")
    for tag, concept in (("loss", "total_loss"), ("learning_rate", "lr")):
        known = meaning(trainer, tag)
        assert known is not None
        assert (found.steps(tag), known.concept) == ([20, 40, 60], concept)


@pytest.mark.parametrize(
    ("update", "loss"),
    [
        ("loss 0.69{n}, chosen_r 0.11, rejected_r -0.01, acc 0.71, lr 1e-05, it/s 0.512", "loss"),
        ("Train loss 0.6{n}, Chosen reward -8.0, Rejected reward -16.4, It/sec 1.1", "Train loss"),
    ],
)
def test_mlx_trains_preferences_too(update: str, loss: str) -> None:
    """As it prints them now, and as it did before."""
    text = "".join(f"Iter {{n}}: {update}\n".format(n=number) for number in (20, 40, 60))
    found = parse_every_way(ConsoleParser, text.encode())
    trainer = catalogue.identify(found.points)
    known = meaning(trainer, loss)
    assert (trainer.id, trainer.family) == ("mlx-dpo", "preference")
    assert known is not None
    assert (found.steps(loss), known.concept) == ([20, 40, 60], "total_loss")


@pytest.mark.parametrize("tag", ["KL", "kl", "mean_kl"])
def test_the_kl_of_an_own_grpo_is_to_the_reference(tag: str) -> None:
    """It is a part of its loss; nothing says how far an update moves the policy."""
    for tags in (["GRPO step", tag], ["grpo_loss", tag]):
        known = meaning(catalogue.identify(tags), tag)
        assert known is not None
        assert known.concept == "ref_kl_token"


@pytest.mark.parametrize(
    ("trainer", "tag", "expected"),
    [
        ("minimind-grpo", "KL_ref", ("ref_kl_token", -1.0)),
        ("minimind-ppo", "KL_ref", ("ref_kl", 1.0)),
        ("minimind-ppo", "KL", None),
        ("minimind", "KL_ref", ("ref_kl_token", 1.0)),
        ("minimind", "Approx KL", ("approx_kl", 1.0)),
    ],
)
def test_what_minimind_calls_kl(trainer: str, tag: str, expected: tuple[str, float] | None) -> None:
    """GRPO prints what the reference's log probabilities exceed the policy's by, below 0 mostly.

    PPO first printed sums over the tokens of a response, later means that cannot be negative.
    """
    known = meaning(catalogue.identify(read(trainer).points), tag)
    assert (known and (known.concept, known.scale)) == expected


def test_rewards_that_are_normalised_are_not_the_reward() -> None:
    """slime's `rollout/rewards` has a mean of 0."""
    assert meaning(catalogue.identify(read("slime").points), "rollout/rewards") is None


def test_every_value_of_a_block_and_of_a_row_is_read() -> None:
    """torchforge prints a pair a line, AReaL several a row, with empty cells at the end."""
    assert set(read("torchforge").points) >= {"rollout/count", "grpo_loss/kl_divergence_mean"}
    areal = read("areal")
    assert areal.values("grpo_actor/entropy/avg") == [0.14] * 3
    assert areal.config["max_steps"] == 4670


def test_skyrls_console_rounds_its_learning_rate_to_0() -> None:
    """It prints four decimals, so that 0.0000 is no measurement."""
    found = read("skyrl")
    known = meaning(catalogue.identify(found.points), "policy/policy_lr")
    assert found.values("policy/policy_lr") == [0.0] * 3
    assert known is not None
    assert (known.concept, known.zero_missing) == ("lr", True)


def test_prime_rls_trainer_prints_no_colons() -> None:
    """Nor what it is that took so long."""
    line = (
        "12:00:0{n} SUCCESS Step {n} |  1m 2s | Loss 0.012{n} | Entropy 0.4 | Mismatch KL 0.0004 | "
        "Grad. Norm 0.0912 | LR 1.00e-06 | Throughput 4711 tokens/s | MFU 31.2% | "
        "Peak Mem. 40.1 GiB\n"
    )
    text = "".join(line.format(n=number) for number in (1, 2, 3))
    found = parse_every_way(ConsoleParser, text.encode())
    assert catalogue.identify(found.points).id == "prime-rl"
    assert found.values_by_step()["Loss"] == [(1, 0.0121), (2, 0.0122), (3, 0.0123)]
    assert found.values("Mismatch KL") == [0.0004] * 3


def test_nemo_rl_prints_a_block_of_single_pairs() -> None:
    """Each below "Training Results:", whatever its name, with the validation's in its own."""
    found = read("nemo-rl")
    assert found.values("Generation KL Error") == [0.0004] * 3
    assert found.values("Mean Generation Length") == [123.4567] * 3
    assert "Training Results" not in found.points


def test_di_engines_pipelines_print_sentences() -> None:
    """Those of its newer examples (`ding/framework/middleware/functional`: evaluator, trainer)."""
    text = "".join(
        f"[11-20 08:00:0{n}] INFO     Evaluation: Train Iter({n}) Env Step({n}000) "
        f"Episode Return(21.{n}25)    evaluator.py:288\n"
        f"[11-20 08:00:0{n}] INFO     Training: Train Iter({n})\tEnv Step({n}000)\tLoss(0.0{n}1)"
        "    trainer.py:42\n"
        for n in (1, 2, 3)
    )
    found = parse_every_way(ConsoleParser, text.encode())
    assert catalogue.identify(found.points).id == "di-engine"
    assert found.values_by_step()["basic/eval_episode_return_mean"] == [
        (1000, 21.125), (2000, 21.225), (3000, 21.325),
    ]  # fmt: skip
    assert found.steps("basic/train_total_loss") == [1000, 2000, 3000]


def test_totals() -> None:
    """Where a total is printed beside the step."""
    assert read("mappo").config["total_timesteps"] == 20_000_000
    assert read("trlx").config["max_steps"] == 100
    assert read("nemo-rl").config["max_steps"] == 100


def test_what_slime_prints_of_a_rollouts_speed() -> None:
    """`perf 7: {...}` says the rollout as `rollout 7: {...}` does."""
    text = "".join(
        f"(RolloutManager pid=7) [2026-01-01 12:00:0{n}] rollout.py:9 - perf {n}: "
        f"{{'rollout/truncated_ratio': 0.4{n}, 'perf/rollout_time': 371.2}}\n"
        for n in (7, 8, 9)
    )
    read = parse_every_way(ConsoleParser, text.encode())
    assert read.steps("rollout/truncated_ratio") == [7, 8, 9]


CONFIGURATION = {
    "actor_rollout_ref": {
        "actor": {
            "clip_ratio": 0.25,
            "entropy_coeff": 0.001,
            "grad_clip": 1.0,
            "kl_loss_type": "low_var_kl",
            "optim": {"lr": 1e-06, "min_lr_ratio": None, "warmup_style": "constant"},
            "shuffle": False,
            "strategy": "fsdp",
            "use_dynamic_bsz": False,
            "use_kl_loss": False,
        },
        "hybrid_engine": True,
        "model": {"external_lib": None, "path": "a/model", "use_remove_padding": False},
        "rollout": {"do_sample": True, "name": "vllm", "temperature": 1.0},
    },
    "algorithm": {"adv_estimator": "grpo", "gamma": 1.0, "kl_penalty": "kl", "lam": 0.95},
}


NUMBERS = dict.fromkeys(
    (
        *("prompt_length", "response_length", "temperature", "top_k", "top_p", "n", "max_num_seqs"),
        *("max_num_batched_tokens", "tensor_model_parallel_size", "log_prob_micro_batch_size"),
        *("gpu_memory_utilization", "total_training_steps", "kl_coef", "grad_clip", "lr"),
    ),
    1.0,
)
"""What is set in numbers in older versions: more than half of it."""


@pytest.mark.parametrize("worker", ["", "(TaskRunner pid=7) "])
@pytest.mark.parametrize("numbers", [{}, NUMBERS])
def test_the_configuration_of_verl_is_no_record(worker: str, numbers: dict[str, float]) -> None:
    """`pprint(OmegaConf.to_container(config))` of main_ppo.py, above the first step."""
    printed = pformat({**CONFIGURATION, "critic": numbers})
    update = "step:1 - actor/entropy:0.5 - actor/pg_clipfrac:0.01 - critic/score/mean:0.25"
    lines = [*printed.splitlines(), update, update.replace("step:1", "step:2")]
    read = parse_every_way(ConsoleParser, "".join(f"{worker}{each}\n" for each in lines).encode())
    assert read.values_by_step()["actor/pg_clipfrac"] == [(1, 0.01), (2, 0.01)]
    assert not any("actor_rollout_ref" in tag or "algorithm" in tag for tag in read.points)
    assert read.config["actor_rollout_ref.actor.clip_ratio"] == 0.25
    assert read.config["actor_rollout_ref.model.path"] == "a/model"


def test_a_nested_result_stays_a_record() -> None:
    """RLlib's results hold the settings, too, and say their step."""
    result = {
        "training_iteration": 3,
        "env_runners": {"episode_return_mean": 21.5},
        "config": {"lr": 1e-4, "gamma": 0.99, "kl_coeff": 0.2, "clip_param": 0.3, **CONFIGURATION},
    }
    read = parse_every_way(ConsoleParser, f"{result}\n".encode())
    assert read.values_by_step()["env_runners/episode_return_mean"] == [(3, 21.5)]
