"""What popular code prints, line by line as its own statements do.

Made up after the sources: PARL `parl/utils/logger.py` and `examples/*/train.py`, EfficientZero
`core/log.py` and `core/utils.py`, LeRobot `src/lerobot/rl/actor.py` and `utils/utils.py`, CORL
`algorithms/finetune/iql.py`, minimind `trainer/train_agent.py`, ColossalChat
`coati/distributed/grpo_consumer.py`, Oat `oat/learners/base.py` and `oat/collectors/base.py`,
Open-Reasoner-Zero `orz/ppo/trainer.py` and `orz/ppo/actors.py`, OfflineRL-Kit
`offlinerlkit/utils/logger.py` and `policy_trainer/mf_policy_trainer.py`, robomimic
`robomimic/scripts/train.py`, alpha-zero-general `othello/pytorch/NNet.py`, ART
`src/art/local/backend.py`, slime `slime/observability/rollout_metrics.py`.
"""

from __future__ import annotations

from pprint import pformat

import pytest

from ppo_top import catalogue
from ppo_top.catalogue.tags import meaning
from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, parse_every_way

ESCAPE = "\x1b"
PARL = f"{ESCAPE}[32m[01-02 10:03:04 MainThread @train.py:119]{ESCAPE}[0m "


def read(text: str) -> ParserOutput:
    """Read lines in every way."""
    return parse_every_way(ConsoleParser, text.encode() + b"\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Total Steps: 3000 Reward: 190.25", {"Total Steps": 3000.0, "Reward": 190.25}),
        (
            "Training: total steps: 3000, episode rewards: 190.25",
            {"total steps": 3000.0, "episode rewards": 190.25},
        ),
        (
            "{'sample_steps': 3000, 'mean_episode_rewards': 190.25, 'vf_loss': 20.5}",
            {"sample_steps": 3000.0, "mean_episode_rewards": 190.25, "vf_loss": 20.5},
        ),
        ("eval_agent done, (steps, eval_reward): (3000, 190.25)", {"eval/mean_reward": 190.25}),
    ],
)
def test_lines_of_parl(line: str, expected: dict[str, float]) -> None:
    """Its logger puts the time, the thread and the place in the source into one bracket."""
    values = read(PARL + line).values_by_step()
    assert values == {tag: [(3000, value)] for tag, value in expected.items()}


def test_episodes_of_parl() -> None:
    """Its tutorials count episodes; an evaluation says no step and stands at the last one."""
    got = read(
        f"{PARL}Episode 40, Reward Sum 23.5.\n{PARL}Evaluation over: 5 episodes, Reward: 21.5\n"
    )
    assert got.values_by_step() == {
        "Episode": [(40, 40.0)],
        "reward": [(40, 23.5)],
        "eval/mean_reward": [(40, 21.5)],
    }


def test_lines_of_efficientzero() -> None:
    """Its formatter ends a row of brackets with an arrow; the step has a number sign."""
    prefix = "[2026-01-02 10:03:04,123][train][INFO][log.py><_log] ==> "
    line = (
        prefix
        + "#{n}000       Total Loss: -{n}.250   [weighted Loss:-1.100   Policy Loss: {n}    ]"
    )
    got = read("\n".join(line.format(n=number) for number in (7, 8, 9))).values_by_step()
    assert got["Total Loss"] == [(7000, -7.25), (8000, -8.25), (9000, -9.25)]
    assert got["Policy Loss"] == [(7000, 7.0), (8000, 8.0), (9000, 9.0)]


@pytest.mark.parametrize("process", ["", "[PID: 77] "])
def test_lines_of_lerobots_actor(process: str) -> None:
    """The level, the process, the time and 15 characters of the path stand before its name."""
    got = read(
        f"INFO {process}2026-01-02 10:03:04 /rl/actor.py:385 "
        "[ACTOR] Global step 120: Episode reward: 1.5"
    )
    assert got.values_by_step() == {"Global step": [(120, 120.0)], "Episode reward": [(120, 1.5)]}


def test_evaluations_of_corl() -> None:
    """It prints the step above and, behind the reward, that of D4RL, from 0 to 100."""
    rule = "---------------------------------------"
    got = read(
        f"Time steps: 5000\n{rule}\n"
        f"Evaluation over 10 episodes: 1234.500 , D4RL score: 38.125\n{rule}"
    ).values_by_step()
    assert got["eval/mean_reward"] == [(5000, 1234.5)]
    assert got["eval/d4rl_score"] == [(5000, 38.125)]


def test_minimind_trains_agents_too() -> None:
    """Its KL is to the reference, and printed with the sign turned."""
    got = read(
        "Epoch:[1/1](10/1000), Reward:0.5000, KL:-0.0020, GrpStd:0.2310, AdvStd:0.9800, "
        "Loss:0.0100, AvgLen:151.00, AdvMean:0.0001, LR:0.00000030"
    )
    trainer = catalogue.identify(got.points)
    assert trainer.id == "minimind-agent"
    assert (known := meaning(trainer, "KL")) is not None
    assert (known.concept, known.scale) == ("ref_kl_token", -1.0)


def test_colossalchat_prints_a_block_of_single_pairs() -> None:
    """Its KL is that of GRPO's objective, to the reference."""
    block = (
        "Loss: 0.0100\nReward: 0.{n}\nformat Reward: 0.9000\nAcc Reward: 0.4000\n"
        "Advantages: 0.0001\nEntropy: 0.5000\nKL: 0.0500\n"
    )
    got = read("".join(block.format(n=number) for number in (1, 2, 3)))
    trainer = catalogue.identify(got.points)
    assert trainer.id == "coati"
    assert got.values_by_step()["Reward"] == [(1, 0.1), (2, 0.2), (3, 0.3)]
    for tag, concept in {"Reward": "reward_mean", "KL": "ref_kl_token"}.items():
        assert (known := meaning(trainer, tag)) is not None
        assert known.concept == concept


def test_oat_prints_its_update_with_pprint() -> None:
    """The step of the policy is that of the dictionary, which is broken into lines."""
    update = {
        "actor/avg_reward": 0.5,
        "actor/response_tok_len": 300.5,
        "misc/prompt_consumed": 128,
        "misc/query_step": 1024,
        "train/global_step": 16,
        "train/learning_round": 8,
        "train/pg_clipfrac": 0.01,
        "train/pg_loss": 0.02,
    }
    got = read(pformat(update))
    trainer = catalogue.identify(got.points)
    assert trainer.id == "oat"
    assert got.values_by_step()["actor/avg_reward"] == [(16, 0.5)]
    assert (known := meaning(trainer, "actor/avg_reward")) is not None
    assert known.concept == "reward_mean"


def test_lines_before_a_dictionary_do_not_wait_for_the_last_one() -> None:
    """Open-Reasoner-Zero prints pairs and a dictionary for each update, beside a bar."""
    update = (
        "avg_raw_rewards: 0.{n}, avg_kl: 0.001, avg_orm_score: 0.0, avg_custom_rewards: 0.{n}\n"
        "{{'policy_loss': 0.01, 'actor_lr': 1e-06, 'clip_ratio': 0.002}}\n"
        "Episode [1/20]:   {n}%|▏         | {n}/135 [05:00<10:00:00, 60.0s/it]\n"
    )
    got = read("".join(update.format(n=number) for number in range(1, 8)))
    trainer = catalogue.identify(got.points)
    assert trainer.id == "orz"
    steps = got.steps("avg_raw_rewards")
    assert steps == sorted(steps)
    assert got.steps("policy_loss") == [1, 2, 3, 4, 5, 6, 7]


def test_bars_that_are_full_at_every_record_are_counted_on() -> None:
    """alpha-zero-general trains ten epochs, each with a bar, in each of its iterations."""
    bar = (
        "EPOCH ::: {n}\n"
        "Training Net: 100%|██████████| 120/120 [00:03<00:00, Loss_pi={n}.5e-1, Loss_v=2.0e-1]\n"
    )
    got = read("".join(bar.format(n=number) for number in (1, 2, 3)))
    assert got.steps("Loss_pi") == [120, 240, 360]


def test_short_bars_that_begin_anew_are_counted_on() -> None:
    """ART draws one for the few gradient steps of each of its updates."""
    bar = "".join(
        f"train:  30%|███ | {done}/3 [00:01<00:05, 2.1s/it, policy_loss=0.{{n}}{done}]\r"
        for done in (1, 2, 3)
    )
    got = read("\n".join(bar.format(n=number) for number in (1, 2, 3)))
    assert got.steps("policy_loss") == list(range(1, 10))


def test_short_bars_of_other_lengths_are_counted_on() -> None:
    """ART trains on as many groups as are left of an update's: once twelve, once nine."""
    bar = "train: 100%|█████| {k}/{k} [00:01<00:00, 2.1s/it, policy_loss=0.{n}5]\n"
    got = read("".join(bar.format(n=n, k=k) for n, k in enumerate((12, 9, 20, 9))))
    assert got.steps("policy_loss") == [12, 21, 41, 50]


def test_a_long_bar_that_begins_anew_may_be_another_training() -> None:
    """Of a thousand steps none is counted on."""
    bar = "".join(
        f"train:  30%|███ | {done}/900 [00:01<00:05, 2.1s/it, policy_loss=0.{{n}}{done}]\r"
        for done in (300, 600, 900)
    )
    got = read("\n".join(bar.format(n=number) for number in (1, 2)))
    assert got.steps("policy_loss") == [300, 600, 900, 300, 600, 900]


def test_tables_below_the_bars_of_epochs() -> None:
    """OfflineRL-Kit draws a bar for each epoch, and its tables say a `timestep`."""
    epoch = (
        "Epoch #{n}/1000:  50%|████  | 500/1000 [00:05<00:05, 190.1it/s, loss/actor=-{n}.5]\r"
        "Epoch #{n}/1000: 100%|████████| 1000/1000 [00:09<00:00, 190.1it/s, loss/actor=-{n}.5]\n"
        "--------------------------------------------------------------\n"
        "| eval/normalized_episode_reward | 3{n}.5                      |\n"
        "| loss/actor                     | -{n}.5                      |\n"
        "| timestep                       | {n}000                      |\n"
        "--------------------------------------------------------------\n"
    )
    got = read("".join(epoch.format(n=number) for number in (1, 2, 3)))
    assert got.steps("eval/normalized_episode_reward") == [1000, 2000, 3000]
    assert got.steps("loss/actor") == sorted(got.steps("loss/actor"))


def test_a_heading_above_a_dictionary_says_its_step_and_a_bar_does_not() -> None:
    """robomimic draws a bar of 100 batches for each epoch, and prints indented JSON below it."""
    epoch = (
        "100%|██████████| 100/100 [00:30<00:00,  3.1it/s]\nTrain Epoch {n}\n"
        '{{\n    "Loss": 0.{n},\n    "Policy_Grad_Norms": 0.1\n}}\n'
    )
    got = read("".join(epoch.format(n=number) for number in (1, 2, 3)))
    assert got.values_by_step()["Loss"] == [(1, 0.1), (2, 0.2), (3, 0.3)]


def test_evaluations_of_slime_say_their_rollout() -> None:
    """`eval 20: {...}` stands between `rollout 20: {...}` and the next one."""
    prefix = "(RolloutManager pid=7) [2026-01-02 10:03:04] rollout_metrics.py:247 - "
    lines = [f"{prefix}eval {10 * n}: {{'eval/aime': 0.{n}}}" for n in (1, 2, 3)]
    assert read("\n".join(lines)).steps("eval/aime") == [10, 20, 30]
