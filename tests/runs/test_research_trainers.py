"""What trainers of research groups print, from their print statements to the verdict.

Made up after the sources: PyMARL `src/utils/logging.py` (print_recent_stats), on-policy
`runner/shared/mpe_runner.py` and `smac_runner.py`, OmniSafe `common/logger.py` (a rich table),
garage `_functions.py` (log_performance) and `torch/algos/vpg.py` with dowel's table, DeepSpeed-Chat
`step3_rlhf_finetuning/main.py` in its first and its later wording, HARL `common/base_logger.py` and
`envs/smac/smac_logger.py`, Brax `training/logger.py` (EpisodeMetricsLogger) behind absl's prefix,
MushroomRL `core/logger/console_logger.py` (epoch_info), Keras-RL `rl/callbacks.py`
(TrainIntervalLogger).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

import ppo_top
from tests.support.event_files import event_record, scalar_record

UPDATES = 50
FALLS_AT = 35
"""The update at which a sick run loses what it has learned."""


class Update(NamedTuple):
    """One update of a made-up run. `reward` rises from 0 to 100; `is_broken` after the fall."""

    number: int
    reward: float
    is_broken: bool
    value_loss: float

    @property
    def kl(self) -> float:
        """Jumps when the run breaks."""
        return 0.9 if self.is_broken else 0.012

    @property
    def entropy(self) -> float:
        """Falls slowly."""
        return 1.4 - 0.005 * self.number


def print_pymarl(update: Update) -> str:
    """Four statistics a line, in the order of their names."""
    stats = {
        "battle_won_mean": 0.5,
        "ep_length_mean": 58.25,
        "epsilon": max(0.05, 1 - update.number / 10),
        "grad_norm": 1.5,
        "loss": update.value_loss,
        "q_taken_mean": 0.75,
        "return_mean": update.reward,
        "return_std": 2.0,
        "target_mean": 0.75,
        "td_error_abs": 0.1,
        "test_return_mean": update.reward + 1,
    }
    cells = [f"{name + ':':<25}{value:>8.4f}" for name, value in stats.items()]
    lines = ["\t".join(cells[start : start + 4]) for start in range(0, len(cells), 4)]
    at = f"[INFO 12:00:{update.number:02d}] my_main"
    steps = 10_000 * update.number
    head = f"{at} Recent Stats | t_env: {steps:>10} | Episode: {167 * update.number:>8}"
    return "\n".join((f"{at} t_env: {steps} / 2050000", head, *lines, ""))


def print_mappo(update: Update) -> str:
    """Two sentences; the particle environments print a reward."""
    return (
        "\n Scenario simple_spread Algo rmappo Exp check updates "
        f"{update.number}/625 episodes, total num timesteps {10_000 * update.number}/2000000, "
        f"FPS 512.\n\naverage episode rewards is {update.reward}\n"
    )


def printed(row: Mapping[str, float]) -> dict[str, str]:
    """Names and values as a table shows them."""
    return {name: f"{value:.8g}" for name, value in row.items()}


def print_omnisafe(update: Update) -> str:
    """A rich table with a header."""
    row = printed(
        {
            "Metrics/EpRet": update.reward,
            "Metrics/EpCost": 25.0,
            "Train/Epoch": update.number - 1.0,
            "Train/KL": update.kl,
            "Train/Entropy": update.entropy,
            "Loss/Loss_reward_critic": update.value_loss,
            "Value/reward": 3.5,
            "TotalEnvSteps": 10_000.0 * update.number,
        }
    )
    head = (
        f"┏{'━' * 32}┳{'━' * 16}┓\n┃ {'Metrics':<30} ┃ {'Value':<14} ┃\n┡{'━' * 32}╇{'━' * 16}┩\n"
    )
    rows = "".join(f"│ {name:<30} │ {value:<14} │\n" for name, value in row.items())
    return f"{head}{rows}└{'─' * 32}┴{'─' * 16}┘\n"


def print_garage(update: Update) -> str:
    """Two columns without borders, between rules with a gap."""
    row = printed(
        {
            "Evaluation/AverageDiscountedReturn": update.reward / 2,
            "Evaluation/AverageReturn": update.reward,
            "Evaluation/NumEpisodes": 50.0,
            "GaussianMLPPolicy/KL": update.kl,
            "GaussianMLPPolicy/Entropy": update.entropy,
            "GaussianMLPValueFunction/LossAfter": update.value_loss,
            "TotalEnvSteps": 10_000.0 * update.number,
        }
    )
    rule = f"{'-' * 34}  {'-' * 12}\n"
    head = f"2020-06-01 12:00:{update.number:02d} | [ppo] epoch #{update.number} | Time 5.20 s\n"
    return head + rule + "".join(f"{name:<34}  {row[name]:>12}\n" for name in row) + rule


def print_deepspeed_chat(update: Update) -> str:
    """Since June 2023."""
    loss = "inf" if update.is_broken else f"{update.value_loss}"
    return (
        f"Epoch: 0 | Step: {update.number} | PPO Epoch: 1 | Actor Loss: {loss} | "
        f"Critic Loss: {loss} | Unsupervised Loss: 0.0\n"
        "End-to-End => Latency: 2.12s, TFLOPs: 10.50, Samples/sec: 7.55, Time/seq 0.13s\n"
        f"Average reward score: {update.reward} | EMA reward score: {update.reward / 2}\n"
        f"{'-' * 85}\n"
    )


def print_first_deepspeed_chat(update: Update) -> str:
    """Before June 2023."""
    loss = "inf" if update.is_broken else f"{update.value_loss}"
    return (
        f"epoch: 0|step: {update.number}|ppo_ep: 1|act_loss: {loss}|cri_loss: {loss}"
        f"|unsuper_loss: 0.0\naverage reward score: {update.reward}\n{'-' * 85}\n"
    )


def harl_head(update: Update) -> str:
    """The steps so far."""
    return (
        f"Env mamujoco Task HalfCheetah-6x1 Algo happo Exp test updates {update.number}/{UPDATES} "
        f"episodes, total num timesteps {10_000 * update.number}/500000, FPS 812.\n"
    )


def print_harl(update: Update) -> str:
    """A sentence for the steps and one for the episodes."""
    evaluation = f"Evaluation average episode reward is {update.reward + 1}.\n\n"
    return (
        f"{harl_head(update)}Average step reward is 0.01.\n"
        f"Some episodes done, average episode reward is {update.reward}.\n\n{evaluation}"
    )


def print_harl_battles(update: Update) -> str:
    """One sentence, in StarCraft."""
    return (
        f"{harl_head(update)}Increase games 30.0000, win rate on these games is 0.5000, average "
        "step reward is 0.0400, average episode length is 50.0000, average episode reward is "
        f"{update.reward:.4f}.\n\n"
    )


def print_brax(update: Update) -> str:
    """A block of names that end in one column."""
    rows = [f"\n{'Steps':>35} Env: {10_000 * update.number} Log: {update.number}"]
    rows += [f"{'Steps per second:':>35} 50000", f"{'Episode reward:':>35} {update.reward:.4f}"]
    measured = {"entropy_loss": -0.01, "kl_mean": update.kl, "v_loss": update.value_loss}
    rows += [f"{f'Train {name}:':>35} {value:.6f}" for name, value in measured.items()]
    rows += [f"{'Train policy_loss:':>35} -0.010000", "\n"]
    return "I1120 12:00:00.123456 140000 logger.py:85] " + "\n".join(rows)


def print_mushroom(update: Update) -> str:
    """The day comes first in its clock."""
    values = f"J: {update.reward / 2} R: {update.reward} entropy: {update.entropy}"
    return f"20/11/2026 12:00:00 [INFO] Epoch {update.number} | {values}\n"


class Printer(NamedTuple):
    """How a trainer prints an update, and what is known of it."""

    write: Callable[[Update], str]
    producer: str
    reward_tag: str
    steps_per_update: int = 10_000
    found: str = "reward-crash"


PRINTERS = {
    "pymarl": Printer(print_pymarl, "pymarl", "return_mean"),
    "mappo": Printer(print_mappo, "on-policy", "average_episode_rewards"),
    "omnisafe": Printer(print_omnisafe, "omnisafe", "Metrics/EpRet", found="kl-high"),
    "garage": Printer(print_garage, "garage", "Evaluation/AverageReturn"),
    "harl": Printer(print_harl, "harl", "train_episode_rewards"),
    "harl's battles": Printer(print_harl_battles, "harl", "train_episode_rewards"),
    "brax": Printer(print_brax, "brax", "Episode reward", found="kl-high"),
    "mushroom-rl": Printer(print_mushroom, "mushroom-rl", "R", 1),
    "deepspeed-chat": Printer(
        print_deepspeed_chat, "deepspeed-chat", "Average reward score", 1, "non-finite"
    ),
    "first deepspeed-chat": Printer(
        print_first_deepspeed_chat, "deepspeed-chat", "average reward score", 1, "non-finite"
    ),
}


def made_up_run(*, is_sick: bool) -> list[Update]:
    """Rewards that rise for 40 updates; a sick run falls back to its start."""
    draw = random.Random(5)
    updates = []
    for number in range(1, UPDATES + 1):
        broken = is_sick and number > FALLS_AT
        reward = 0.0 if broken else 2.5 * min(number, 40)
        value_loss = 5 / number + draw.uniform(0, 0.02)
        updates.append(Update(number, round(reward + draw.gauss(0, 2), 4), broken, value_loss))
    return updates


def judged(name: str, folder: Path, *, is_sick: bool) -> tuple[list[Update], dict[str, object]]:
    """The updates that were printed, and the run as `check --json` gives it."""
    updates = made_up_run(is_sick=is_sick)
    (folder / "train.log").write_text("".join(map(PRINTERS[name].write, updates)), encoding="utf-8")
    (run,) = ppo_top.check(folder)["runs"]
    return updates, run


@pytest.mark.parametrize("name", PRINTERS)
def test_a_healthy_run_is_named_and_no_problem_is_found(name: str, tmp_path: Path) -> None:
    """Every reward at the step that was printed with it."""
    printer = PRINTERS[name]
    updates, run = judged(name, tmp_path, is_sick=False)
    assert (run["producer"], run["verdict"]) == (printer.producer, "healthy")
    rewards = [each for each in ppo_top.points(tmp_path) if each.concept == "reward_mean"]
    assert {(each.tag, each.axis) for each in rewards} == {(printer.reward_tag, "step")}
    expected = [(each.number * printer.steps_per_update, each.reward) for each in updates]
    assert [(each.step, each.value) for each in rewards] == pytest.approx(expected)


@pytest.mark.parametrize("name", PRINTERS)
def test_a_run_that_breaks_is_critical(name: str, tmp_path: Path) -> None:
    """The reward falls back to its start, or losses are no numbers any more."""
    _, run = judged(name, tmp_path, is_sick=True)
    findings = run["findings"]
    assert isinstance(findings, list)
    assert run["verdict"] == "crit"
    assert PRINTERS[name].found in {each["rule"] for each in findings}


def test_keras_rl_prints_an_interval_below_its_first_step(tmp_path: Path) -> None:
    """Its bar counts the steps of the interval."""
    lines = "".join(
        f"Interval {number} ({10_000 * (number - 1)} steps performed)\n"
        f"    1/10000 [......] - ETA: 1:30 - reward: 0.0000e+00\r10000/10000 [==] - 88s 9ms/step "
        f"- reward: 0.0123\n12 episodes - episode_reward: {number}.250 [-9.000, 99.000] - "
        f"loss: 0.012 - mae: 1.500 - mean_q: 2.125 - mean_eps: 0.{99 - number}\n\n"
        for number in range(1, 9)
    )
    (tmp_path / "train.log").write_text(f"Training for 80000 steps ...\n{lines}")
    (run,) = ppo_top.check(tmp_path)["runs"]
    assert (run["producer"], run["family"]) == ("keras-rl", "value-based")
    found = [each for each in ppo_top.points(tmp_path) if each.concept == "reward_mean"]
    assert [(each.step, each.value) for each in found] == [
        (10_000 * (number - 1), number + 0.25) for number in range(1, 9)
    ]


def test_battles_won_are_read_where_no_reward_is_printed(tmp_path: Path) -> None:
    """MAPPO in StarCraft."""
    lines = "".join(
        f"\n Map 3m Algo rmappo Exp check updates {number}/625 episodes, "
        f"total num timesteps {number * 3200}/2000000, FPS 512.\n\n"
        f"incre win rate is {number / 10}.\neval win rate is 0.25.\n"
        for number in range(1, 9)
    )
    (tmp_path / "train.log").write_text(lines)
    found = [each for each in ppo_top.points(tmp_path) if each.concept == "win_rate"]
    assert [(each.step, each.value) for each in found] == [
        (number * 3200, number / 10) for number in range(1, 9)
    ]
    tests = {each.value for each in ppo_top.points(tmp_path) if each.concept == "eval_win_rate"}
    assert tests == {0.25}


def test_rewards_written_one_environment_after_the_other_are_no_restart(tmp_path: Path) -> None:
    """Stable-Baselines 2 writes, after each update, all episodes of the first one, then others'."""
    tags = ("loss/policy_gradient_loss", "loss/value_function_loss", "loss/entropy_loss")
    log = event_record(file_version="brain.Event:2")
    for update in range(1, 41):
        start = update * 1024
        log += b"".join(scalar_record(tag, start, 0.5 / update, 1e9 + update) for tag in tags)
        ends = [start + environment + at for environment in range(4) for at in (100, 300, 700)]
        log += b"".join(
            scalar_record("episode_reward", end, update + end % 7, 1e9 + update) for end in ends
        )
    (tmp_path / "events.out.tfevents.1700000000.host").write_bytes(log)
    (run,) = ppo_top.check(tmp_path)["runs"]
    assert (run["producer"], run["progress"]["updates"]) == ("baselines", 40)
    assert "restarted" not in {finding["rule"] for finding in run["findings"]}


def test_pfrls_consoles_and_their_scores_are_one_run_each(tmp_path: Path) -> None:
    """Its scripts print where `scores.txt` is, and `prepare_output_dir` keeps their options.

    Each episode names the folder, too. Its rewards are those of the training, the scores those of
    evaluations.
    """
    head = "steps\tepisodes\telapsed\tmean\tmedian\tstdev\tmax\tmin\taverage_q\taverage_loss\n"
    for name, gain in (("20261127T213806.1", 1), ("20261127T214512.2", 2)):
        folder = tmp_path / "results" / name
        folder.mkdir(parents=True)
        rows = [
            f"{n * 500}\t{n * 9}\t{n}.5\t{20 + gain * n}\t20\t1.5\t29\t12\t0.5\t0.1\n"
            for n in range(1, 17)
        ]
        (folder / "scores.txt").write_text(head + "".join(rows))
        (folder / "args.txt").write_text(json.dumps({"lr": gain / 1000, "steps": 8000}))
        logger = f"INFO:pfrl.experiments.train_agent:outdir:results/{name}"
        statistics = "INFO:pfrl.experiments.train_agent:statistics"
        lines = [f"Output files are saved in results/{name}"] if gain == 1 else []
        for n in range(1, 161):
            lines += [f"{logger} step:{n * 50} episode:{n} R:{20.0 + gain * n}"]
            lines += [f"{statistics}:[('average_q', 0.{n}), ('average_loss', 0.1)]"]
        (tmp_path / f"train_{gain}.log").write_text("\n".join(lines) + "\n")
    runs = ppo_top.check([tmp_path])["runs"]
    assert [(run["producer"], len(run["sources"])) for run in runs] == [("pfrl", 3)] * 2
    assert {run["config"]["learning_rate"] for run in runs} == {0.001, 0.002}
    assert {run["state"] for run in runs} == {"finished"}
    assert {run["progress"]["updates"] for run in runs} == {160}
    for run in runs:
        meanings = {metric["tag"]: metric["concept"] for metric in run["metrics"]}
        assert meanings["train_agent/R"] == "reward_mean"
        assert meanings["mean"] == "eval_reward_mean"


def test_imitation_counts_the_steps_of_its_generator(tmp_path: Path) -> None:
    """Tables of the discriminator and rounded means of each round stand between them.

    After imitation `algorithms/adversarial/common.py` (train, train_disc) and `util/logger.py`.
    """

    def table(group: str, rows: Mapping[str, float]) -> list[str]:
        cells = ["-" * 50, f"| {group:<35} |          |"]
        for name, value in rows.items():
            shown = f"{value:<8.3g}" if isinstance(value, float) else f"{value:<8}"
            cells.append(f"|    {name:<32} | {shown} |")
        return [*cells, "-" * 50]

    lines = []
    for n in range(1, 31):
        generator = {
            "gen/rollout/ep_rew_mean": 20.0 + 5 * n,
            "gen/time/total_timesteps": 512 * n,
            "gen/train/approx_kl": 0.011,
            "gen/train/clip_fraction": 0.1,
            "gen/train/entropy_loss": -0.68,
        }
        discriminator = {"disc/disc_acc": 0.5, "disc/disc_loss": 0.69, "disc/global_step": n}
        lines += table("raw/", generator) + 4 * table("raw/", discriminator)
        lines += table("mean/", discriminator | generator)
    (tmp_path / "train.log").write_text("\n".join(lines) + "\n")
    (run,) = ppo_top.check([tmp_path])["runs"]
    assert (run["producer"], run["family"]) == ("imitation", "on-policy")
    assert (run["progress"]["axis"], run["progress"]["step"]) == ("step", 512 * 30)
    metrics = {metric["tag"]: metric for metric in run["metrics"]}
    assert metrics["raw/gen/rollout/ep_rew_mean"]["concept"] == "reward_mean"
    assert metrics["raw/disc/disc_loss"]["points"] == 120
    assert run["restart"] is None
