"""What some trainers print in sentences of their own, and what says settings instead of values."""

from __future__ import annotations

import pytest

from ppo_top import catalogue
from ppo_top.parsers.console.parser import ConsoleParser
from tests.support.parser_harness import ParserOutput, parse_every_way


def read(text: str) -> ParserOutput:
    """Read lines in every way."""
    return parse_every_way(ConsoleParser, text.encode() + b"\n")


def test_a_plan_is_no_place() -> None:
    """verl's workers say how many steps there will be before the first one."""
    plan = "(WorkerDict pid=464) Total steps: 700, num_warmup_steps: -1\n"
    got = read(f"{plan}step:1 - actor/pg_loss:0.5")
    assert got.config == {"max_steps": 700, "num_warmup_steps": -1}
    assert got.values_by_step() == {"step": [(1, 1.0)], "actor/pg_loss": [(1, 0.5)]}


def test_a_dictionary_of_options_holds_settings() -> None:
    """How completions are sampled is no value of the training."""
    got = read("kwargs: {'n': 8, 'logprobs': 0, 'temperature': 0.7, 'detokenize': False}")
    assert got.points == {}
    assert got.config == {"n": 8.0, "logprobs": 0.0, "temperature": 0.7, "detokenize": 0.0}


@pytest.mark.parametrize("end", [". Training.", "."])
def test_ml_agents_lines(end: str) -> None:
    """Unity's trainers print sentences; a window without an episode has no reward."""
    line = "[INFO] Walker. Step: {}. Time Elapsed: 30.4 s. "
    first = line.format(10000) + f"Mean Reward: 1.25. Std of Reward: 0.75{end}"
    none = line.format(20000) + "No episode was completed since last summary. Training."
    old = "INFO:mlagents.trainers: run: Walker: Step: 30000. Time Elapsed: 9.5 s "
    old += "Mean Reward: -1.5. Std of Reward: 0.500. Training."
    assert read("\n".join((first, none, old))).values_by_step() == {
        "Environment/Cumulative Reward": [(10000, 1.25), (30000, -1.5)],
        "Environment/Cumulative Reward (std)": [(10000, 0.75), (30000, 0.5)],
    }


def test_lines_of_pytorch_sac_drq_and_td_mpc2() -> None:
    """Their loggers write a letter for each value (logger.py), and colour what is measured."""
    sac = "| \x1b[33mtrain\x1b[0m          | E: 2 | S: {step} | R: 2.5000 | D: 03.1 s | BR: 0.5000"
    losses = " | ALOSS: -0.1000 | CLOSS: 0.5000 | TLOSS: 0.1000 | TVAL: 0.2500 | AENT: 1.5000"
    drq = "| {what: <14} | F: 4000 | S: 2000 | E: 4 | L: 500 | R: {reward}0 | T: 0:00:10"
    td_mpc2 = " train            E: 1,200       I: 600,000     R: 3.5      S: 0.5      T: 0:00:10"
    got = read(
        "\n".join(
            (
                sac.format(step=1000) + losses,
                drq.format(what="train", reward="-7.5"),
                drq.format(what="eval", reward="4.25"),
                td_mpc2,
            )
        )
    )
    assert got.values_by_step() == {
        "train/episode_reward": [(1000, 2.5), (2000, -7.5), (600_000, 3.5)],
        "train_actor/loss": [(1000, -0.1)],
        "train_critic/loss": [(1000, 0.5)],
        "train_alpha/value": [(1000, 0.25)],
        "train_actor/entropy": [(1000, 1.5)],
        "eval/episode_reward": [(2000, 4.25)],
    }


def test_lines_of_mtrl() -> None:
    """Of several tasks at once: each has its own reward (mtrl/logger.py, config/metrics)."""
    line = (
        "| train | E: {n} | S: {n}500 | D: 5.7 s | Su: 0.4000 | BR: 0.8837 | ALOSS: -6.2500"
        " | CLOSS: 115.5000 | R_0: 38.5000 | R_1: -2.5000 | Su_0: 1.0000 | Su_1: 0.0000 | ENV_0: 0"
    )
    assert read("\n".join(line.format(n=n) for n in (1, 2))).values_by_step() == {
        "train/success": [(1500, 0.4), (2500, 0.4)],
        "train_actor/loss": [(1500, -6.25), (2500, -6.25)],
        "train_critic/loss": [(1500, 115.5), (2500, 115.5)],
    }


def test_pytorch_a2c_ppo_lines() -> None:
    """The second line stands at the step of the first."""
    got = read(
        "Updates 10, num timesteps 5632, FPS 512 \n"
        " Last 10 training episodes: mean/median reward 20.1/19.5, min/max reward 9.0/31.0"
    )
    assert got.values_by_step()["mean reward"] == [(5632, 20.1)]
    assert got.values_by_step()["max reward"] == [(5632, 31.0)]


def test_pytorch_a2c_ppo_lines_with_losses() -> None:
    """Its main.py has them among the arguments of that line; copies print them, too."""
    got = read(
        "Updates 10, num timesteps 5632, FPS 512 \n"
        " Last 10 training episodes: mean/median reward 20.1/19.5, min/max reward 9.0/31.0, "
        "entropy 0.6931, value loss 0.0212, action loss -0.0131"
    )
    assert got.values_by_step()["entropy"] == [(5632, 0.6931)]
    assert got.values_by_step()["value loss"] == [(5632, 0.0212)]
    assert got.values_by_step()["policy loss"] == [(5632, -0.0131)]


def test_lines_of_a_popular_collection() -> None:
    """An episode, what it returned and its steps (sweetice's TD3.py and SAC.py)."""
    got = read(
        "Ep_i \t7, the ep_r is \t-12.50, the step is \t199\nEp_i 8, the ep_r is 3.5, the t is 80"
    )
    assert got.values_by_step() == {
        "ep_r": [(7, -12.5), (8, 3.5)],
        "ep_length": [(7, 199.0), (8, 80.0)],
    }


def test_evaluations_of_a_robot_that_navigates() -> None:
    """DRL-robot-navigation prints nothing else than these: the reward, and how many collided."""
    dots = "." * 46
    got = read(
        f"{dots}\nAverage Reward over 10 Evaluation Episodes, Epoch 61: -86.200000, 0.900000\n"
        f"{dots}\n{dots}\nAverage Reward over 10 Evaluation Episodes, Epoch 62: 21.5, 0.0\n{dots}"
    )
    assert got.values_by_step() == {
        "eval/mean_reward": [(61, -86.2), (62, 21.5)],
        "eval/collision_rate": [(61, 0.9), (62, 0.0)],
    }


def test_an_episode_is_counted_before_its_score() -> None:
    """As PPO-pytorch-Mujoco prints the mean of those that a batch has ended."""
    got = read("6066 episode score is 564.60\n6079 episode score is 509.12")
    assert got.values_by_step()["episode score"] == [(6066, 564.6), (6079, 509.12)]


@pytest.mark.parametrize("reward", ["21.5", "[21.5]"])
def test_sheeprl_lines(reward: str) -> None:
    """A line an episode, several at one step (sheeprl/algos/ppo/ppo.py)."""
    got = read(
        f"Rank-0: policy_step=512, reward_env_0={reward}\nRank-0: policy_step=512, reward_env_3=8.0"
    )
    assert got.values_by_step() == {"reward_env": [(512, 21.5), (512, 8.0)]}


def test_torch_ac_lines() -> None:
    """One-letter names with four statistics each; the names are those of its CSV file."""
    got = read(
        "U 1 | F 002048 | FPS 0817 | D 2 | rR:μσmM 0.14 0.31 0.00 0.96 | F:μσmM 60.2 16.6 6.0 64.0 "
        "| H 1.940 | V 0.021 | pL -0.004 | vL 0.016 | ∇ 0.078"
    )
    assert got.values_by_step() == {
        "FPS": [(2048, 817.0)],
        "rreturn_mean": [(2048, 0.14)],
        "num_frames_mean": [(2048, 60.2)],
        "entropy": [(2048, 1.94)],
        "value": [(2048, 0.021)],
        "policy_loss": [(2048, -0.004)],
        "value_loss": [(2048, 0.016)],
        "grad_norm": [(2048, 0.078)],
    }


def test_lines_of_grokking_deep_reinforcement_learning() -> None:
    """Means of the last 10 and 100 episodes; the print statement of the book's notebooks."""
    line = (
        "el {}, ep {:04}, ts {:07}, ar 10 {:05.1f}\u00b1{:05.1f}, 100 {:05.1f}\u00b1{:05.1f}, "
        "ex 100 {:02.1f}\u00b1{:02.1f}, ev {:05.1f}\u00b1{:05.1f}"
    )
    got = read(line.format("00:01:06", 35, 1432, 9.5, 2.0, 21.5, 3.5, 0.25, 0.1, 123.4, 5.6))
    assert got.values_by_step() == {
        "episode": [(1432, 35.0)],
        "mean_reward": [(1432, 21.5)],
        "std_reward": [(1432, 3.5)],
        "exploration_ratio": [(1432, 0.2)],
        "eval/mean_reward": [(1432, 123.4)],
        "eval/std_reward": [(1432, 5.6)],
    }


def test_tianshou_tests_stand_at_the_last_step() -> None:
    """Its test line counts epochs, the lines of training environment steps."""
    got = read(
        "Epoch #1: 1024it [00:10, 93.2it/s, env_step=1024, len=24, loss=0.5, rew=24.00]\n"
        "Epoch #1: test_reward: 123.500000 ± 20.4, best_reward: 123.5 ± 20.4 in #1"
    )
    assert got.values_by_step()["rew"] == [(1024, 24.0)]
    assert got.values_by_step()["test/reward"] == [(1024, 123.5)]
    assert got.values_by_step()["test/reward_std"] == [(1024, 20.4)]


def test_pfrl_logs_episodes_statistics_and_evaluations() -> None:
    """pfrl/experiments/train_agent.py and evaluator.py, by `logging`; NumPy 2 names its numbers."""
    lines = ["Output files are saved in results/20261127T211000.1"]
    for episode, step in enumerate((40, 90, 150)):  # a DQN trains at each step
        lines += [
            "INFO:pfrl.experiments.train_agent:"
            f"outdir:results/20261127T211000.1 step:{step} episode:{episode} R:{20.0 + episode}",
            "INFO:pfrl.experiments.train_agent:"
            f"statistics:[('average_q', np.float64({episode}.5)), "
            f"('average_loss', 0.{episode}), ('cumulative_steps', {step}), ('n_updates', {step})]",
        ]
    lines += [
        f"INFO:pfrl.experiments.evaluator:evaluation episode {n} length:9 R:9.0" for n in "01"
    ]
    got = read("\n".join(lines))
    assert got.values_by_step()["train_agent/R"] == [(40, 20.0), (90, 21.0), (150, 22.0)]
    assert got.values_by_step()["average_q"] == [(40, 0.5), (90, 1.5), (150, 2.5)]
    assert got.values_by_step()["evaluator/R"] == [(150, 9.0), (150, 9.0)]


def test_statistics_of_pfrl_count_when_something_was_trained() -> None:
    """It prints them for each episode; before the first update of PPO they are not numbers."""
    line = (
        "INFO:pfrl.experiments.train_agent:"
        "statistics:[('average_value_loss', {}), ('n_updates', {})]"
    )
    rows = [("nan", 0), ("nan", 0), (58.5, 48), (58.5, 48), (52.25, 96)]
    episodes = [f"outdir:out step:{20 * n} episode:{n} R:20.0" for n in range(1, 6)]
    lines = [f"{text}\n{line.format(*row)}" for text, row in zip(episodes, rows, strict=True)]
    got = read("\n".join(lines)).values_by_step()
    assert got["average_value_loss"] == [(60, 58.5), (100, 52.25)]
    assert len(got["train_agent/R"]) == 5


def test_pfrl_with_several_environments_logs_a_mean() -> None:
    """train_agent_batch.py; without an episode yet the mean is not a number."""
    line = (
        "INFO:pfrl.experiments.train_agent_batch:outdir:out step:{} episode:{} "
        "last_R: {} average_R:{}"
    )
    rows = [line.format(1000, 0, "nan", "nan"), line.format(2000, 40, 21.0, 19.5)]
    assert read("\n".join(rows)).values_by_step()["train_agent/average_R"] == [(2000, 19.5)]


def test_elegantrl_prints_a_row_for_each_evaluation() -> None:
    """elegantrl/train/evaluator.py; its steps have three digits."""
    rows = [(1024, 7, -1210.5, -6.04), (2048, 15, -890.25, -4.4)]
    values = "".join(f"{number:7.2f}" for number in (1.31, -55.2, 0.42))
    lines = [
        f"{0:<3}{step:8.2e}{time:8.0f} |{reward:8.2f}{310.4:7.1f}{200:7.0f}{0:6.0f} |"
        f"{each:8.2f}{values} "
        for step, time, reward, each in rows
    ]
    got = read("\n".join(lines))
    assert got.values_by_step()["avgR"] == [(1020, -1210.5), (2050, -890.25)]
    assert got.values_by_step()["objA"] == [(1020, -55.2), (2050, -55.2)]


def test_ml_agents_trains_several_behaviours() -> None:
    """The first one's reward keeps the name; the other's is marked, and neither is mixed in."""
    line = (
        "[INFO] {}. Step: {}. Time Elapsed: 9.5 s. Mean Reward: {}. Std of Reward: 0.5. Training."
    )
    got = read("\n".join(line.format(who, at, r) for at, who, r in (
        (1000, "Goalie?team=0", -1.5), (1000, "Striker?team=1", 1.5),
        (2000, "Goalie?team=0", -0.5), (2000, "Striker?team=1", 0.5),
    )))  # fmt: skip
    tag = "Environment/Cumulative Reward"
    assert got.values_by_step()[tag] == [(1000, -1.5), (2000, -0.5)]
    assert got.values_by_step()[f"{tag} [Striker?team=1]"] == [(1000, 1.5), (2000, 0.5)]


def test_loops_of_acme_stay_apart() -> None:
    """acme/utils/loggers/terminal.py: each loop prints its own `Steps`."""
    loop = (
        "[Environment Loop] Episode Length = 20 | Episode Return = -{e}.000 | Episodes = {e} | "
        "Steps = {s} | Steps Per Second = 37.277\n"
    )
    learner = "[Learner] Loss = 0.058 | Steps = {n} | Walltime = 4.277\n"
    got = read("".join(loop.format(e=n, s=20 * n) + learner.format(n=7 * n) for n in range(2, 8)))
    steps = [20 * n for n in range(2, 8)]
    assert got.steps("Environment Loop/Episode Return") == got.steps("Learner/Loss") == steps
    assert got.values("Environment Loop/Steps") == steps
    assert got.values("Learner/Steps") == [7 * n for n in range(2, 8)]
    trainer = catalogue.identify(got.points)
    assert trainer.id == "acme"
    meaning = catalogue.meaning(trainer, "Environment Loop/Episode Return")
    assert meaning is not None and meaning.concept == "reward_mean"


def test_settings_line_by_line() -> None:
    """A lone setting printed before the training is not a metric."""
    head = "actor_lr=1e-06\ntotal_steps=1000\nLoRA: r=16, alpha=32\n"
    got = read(head + "Epoch 1: loss=0.5\nalpha: 0.25")
    assert got.config == {"actor_lr": 1e-06, "total_steps": 1000.0, "alpha": 32.0}
    assert got.values_by_step() == {"Epoch": [(1, 1.0)], "loss": [(1, 0.5)], "alpha": [(1, 0.25)]}
