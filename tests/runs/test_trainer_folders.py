"""Trainings side by side in the folders that trainers make, with the consoles beside them.

Made up after what the trainers write: rl_games `common/a2c_common.py` (print_statistics, train)
and `algos_torch/torch_ext.py` (safe_filesystem_op), PureJaxRL `purejaxrl/ppo.py` (callback), rsl_rl
`rsl_rl/utils/logger.py` (log), Isaac Lab `isaaclab/utils/io/yaml.py` (dump_yaml).
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import ppo_top
from tests.support.event_files import event_record, scalar_record

EPOCHS = 40


def write_rl_games_training(folder: Path, name: str, gain: float, minute: int) -> None:
    """Its event file, and the console that names no folder but that of its checkpoints."""
    run = f"runs/cartpole_28-12-{minute}-32"
    head = f"Loading config:  {name}.yaml\nStarted to train\ncurrent training device: cpu\n"
    lines = []
    log = event_record(file_version="brain.Event:2")
    for epoch in range(1, EPOCHS + 1):
        frames, reward, time = 256 * epoch, 20 + gain * epoch, 1e9 + 60 * minute + epoch
        lines.append(
            f"fps step: 4524 fps step and policy inference: 1546 fps total: {700 + epoch} "
            f"epoch: {epoch}/{EPOCHS} frames: {frames}"
        )
        if epoch % 10 == 0:
            checkpoint = f"=> saving checkpoint '{run}/nn/cartpole.pth'"
            lines += [f"saving next best rewards:  [{reward}]", checkpoint]
        values = {"losses/a_loss": 0.01, "losses/c_loss": 1 / epoch, "info/epochs": epoch}
        values |= {"rewards/step": reward, "losses/entropy": 0.69 - epoch / 200}
        log += b"".join(scalar_record(tag, frames, value, time) for tag, value in values.items())
        log += scalar_record("rewards/iter", epoch, reward, time)
    (folder / run / "summaries").mkdir(parents=True)
    (folder / run / "summaries" / f"events.out.tfevents.1000{minute}.host").write_bytes(log)
    (folder / f"{name}.log").write_text(head + "\n".join(lines) + "\nMAX EPOCHS NUM!\n")


def test_rl_games_prints_its_runs_folder_with_each_checkpoint(tmp_path: Path) -> None:
    """So each of two consoles belongs to its event file, which alone has no end."""
    write_rl_games_training(tmp_path, "slow", 1.0, 56)
    write_rl_games_training(tmp_path, "fast", 2.0, 58)
    runs = ppo_top.check([tmp_path])["runs"]
    assert {run["name"] for run in runs} == {"cartpole_28-12-56-32", "cartpole_28-12-58-32"}
    assert [run["state"] for run in runs] == ["finished"] * 2
    assert [sorted(each["format"] for each in run["sources"]) for run in runs] == [
        ["console", "tfevents"]
    ] * 2
    newest = [run["progress"]["step"] for run in runs]
    assert newest == [256 * EPOCHS] * 2
    assert [run["progress"]["total"] for run in runs] == newest


def test_a_console_of_rl_games_is_known_by_itself(tmp_path: Path) -> None:
    """It prints speeds and the best mean so far, but no reward to judge."""
    write_rl_games_training(tmp_path, "train", 1.0, 56)
    (run,) = ppo_top.check([tmp_path / "train.log"])["runs"]
    assert (run["producer"], run["verdict"]) == ("rl_games", "info")
    assert run["open"] == ["no-reward"]
    assert run["progress"]["step"] == 256 * EPOCHS
    concepts = {metric["tag"]: metric["concept"] for metric in run["metrics"]}
    assert concepts["fps total"] == "fps"
    assert concepts["saving next best rewards"] is None


def purejaxrl_lines(gain: float, episodes: int = 300) -> list[str]:
    """What its callback prints of each episode; the first forty are played before any update."""
    draw = random.Random(30)
    step, lines = 0, []
    for episode in range(episodes):
        length = round(20 + draw.gauss(0, 4) + gain * max(0, episode - 40))
        step += 4 * length
        lines.append(f"global step={step}, episodic return={float(length)}\n")
    return lines


def test_trainings_of_one_seed_are_two_though_they_begin_alike(tmp_path: Path) -> None:
    """`python ppo.py | tee slow.out`: until the first update both play the same episodes."""
    (tmp_path / "slow.out").write_text("".join(purejaxrl_lines(0.5)))
    (tmp_path / "fast.out").write_text("".join(purejaxrl_lines(1.0)))
    runs = ppo_top.check([tmp_path])["runs"]
    assert {run["name"] for run in runs} == {"slow", "fast"}


def test_the_same_output_in_two_files_is_one_run_though_one_lost_a_line(tmp_path: Path) -> None:
    """What a shell wrote, beside what the script's own logger did."""
    lines = purejaxrl_lines(0.5)
    (tmp_path / "train.log").write_text("".join(lines))
    (tmp_path / "nohup.out").write_text("".join(lines[:100] + lines[101:]))
    (run,) = ppo_top.check([tmp_path])["runs"]
    assert len(run["sources"]) == 2


def test_sheeprls_dreamer_is_no_ppo_and_its_model_is_not_its_policy(tmp_path: Path) -> None:
    """Its value loss is that of imagined states, and grows with them."""
    folder = tmp_path / "logs" / "runs" / "dreamer_v3" / "CartPole-v1" / "2026-11-28" / "version_0"
    folder.mkdir(parents=True)
    log = event_record(file_version="brain.Event:2")
    for update in range(1, 41):
        values = {"Rewards/rew_avg": 20.0 + 5 * update, "Game/ep_len_avg": 20 + 5 * update}
        values |= {"Loss/value_loss": 1 + update / 4, "Loss/policy_loss": 0.01 * update}
        values |= {"Loss/world_model_loss": 12 / update, "State/kl": 3.5}
        log += b"".join(
            scalar_record(tag, 100 * update, value, 1e9 + update) for tag, value in values.items()
        )
    (folder / "events.out.tfevents.1700000000.host.7.0").write_bytes(log)
    lines = [f"Rank-0: policy_step={20 * n}, reward_env_0={20.0 + n}\n" for n in range(1, 200)]
    (tmp_path / "dv3.log").write_text("".join(lines))
    (run,) = ppo_top.check([tmp_path])["runs"]
    assert (run["producer"], run["family"]) == ("sheeprl-dreamer", "off-policy")
    assert run["verdict"] == "healthy"
    concepts = {metric["tag"]: metric["concept"] for metric in run["metrics"]}
    assert concepts["Loss/value_loss"] == "critic_loss"
    assert concepts["State/kl"] is concepts["Loss/policy_loss"] is None


def test_the_learning_rates_of_actor_and_critic_in_sbx_are_judged(tmp_path: Path) -> None:
    """SBX logs as SB3 does, but for these (`sbx/sac/sac.py`: _update_learning_rate)."""
    names = ("rollout/ep_rew_mean", "train/actor_loss", "train/critic_loss")
    rates = ("train/learning_rate_actor", "train/learning_rate_critic")
    log = event_record(file_version="brain.Event:2")
    for update in range(1, 41):
        values = dict.fromkeys(names, -1200.0 + random.Random(update).gauss(0, 30))
        values |= dict.fromkeys(rates, 0.07)
        log += b"".join(
            scalar_record(tag, 800 * update, value, 1e9 + update) for tag, value in values.items()
        )
    (tmp_path / "events.out.tfevents.1700000000.host.7.0").write_bytes(log)
    (run,) = ppo_top.check([tmp_path])["runs"]
    assert (run["producer"], run["family"]) == ("sb3", "off-policy")
    assert "learning-rate-extreme" in run["open"]
    concepts = {metric["tag"]: metric["concept"] for metric in run["metrics"]}
    assert [concepts[rate] for rate in rates] == ["lr", "critic_lr"]


def test_ml_agents_keeps_its_settings_above_the_folder_of_a_behaviour(tmp_path: Path) -> None:
    """`results/<run>/configuration.yaml`, beside `<behaviour>/events...` (mlagents learn.py)."""
    folder = tmp_path / "results" / "first" / "3DBall"
    folder.mkdir(parents=True)
    (folder.parent / "configuration.yaml").write_text(
        "behaviors:\n  3DBall:\n    trainer_type: ppo\n    hyperparameters:\n"
        "      batch_size: 64\n      learning_rate: 0.0003\n      num_epoch: 3\n"
        "    max_steps: 480000\n"
    )
    tag = "Environment/Cumulative Reward"
    log = event_record(file_version="brain.Event:2")
    log += b"".join(scalar_record(tag, 12_000 * n, n + n % 3, 1e9 + n) for n in range(1, 41))
    (folder / "events.out.tfevents.1700000000.host.1.0").write_bytes(log)
    (run,) = ppo_top.check([tmp_path])["runs"]
    assert (run["producer"], run["family"], run["progress"]["total"]) == (
        "ml-agents", "on-policy", 480_000,
    )  # fmt: skip
    expected = {"batch_size": 64, "learning_rate": 0.0003, "n_epochs": 3}
    assert {name: run["config"][name] for name in expected} == expected


ISAAC_LAB_SETTINGS = """\
seed: 42
device: cuda:0
num_steps_per_env: 24
max_iterations: {iterations}
obs_groups:
  policy:
  - policy
algorithm:
  class_name: PPO
  num_learning_epochs: 5
  learning_rate: 0.0005
  schedule: fixed
  gamma: 0.99
load_checkpoint: model_.*.pt
"""


def write_isaac_lab_start(folder: Path, console: Path, first: int, last: int, clock: int) -> None:
    """One start of a training: iterations `first` to `last` - 1, both printed and logged."""
    draw = random.Random(first)
    log, printed = event_record(file_version="brain.Event:2"), ""
    for step in range(first, last):
        reward, loss = 5.0 + 0.4 * step + draw.gauss(0, 2.0), abs(draw.gauss(0.5, 0.1))
        values = {"Train/mean_reward": reward, "Loss/value": loss, "Loss/surrogate": -0.01}
        values |= {"Loss/entropy": 1.4 - step / 200, "Perf/total_fps": 9000.0}
        time = clock + step
        log += b"".join(scalar_record(tag, step, value, time) for tag, value in values.items())
        printed += f"{'#' * 80}\n{f' Learning iteration {step}/{last} '.center(80)}\n\n"
        printed += f"{'Mean value loss:':>40} {loss:.4f}\n{'Mean surrogate loss:':>40} -0.0100\n"
        printed += f"{'Mean entropy loss:':>40} {1.4 - step / 200:.4f}\n"
        printed += f"{'Mean reward:':>40} {reward:.2f}\n"
    settings = folder / "params" / "agent.yaml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(ISAAC_LAB_SETTINGS.format(iterations=last - first))
    (folder / f"events.out.tfevents.{clock}.host.{first}.0").write_bytes(log)
    console.write_text(printed)


def test_isaac_labs_settings_are_those_of_the_log_beside_their_folder(tmp_path: Path) -> None:
    """After its scripts/reinforcement_learning/rsl_rl/train.py: `log_dir/params/agent.yaml`."""
    folder = tmp_path / "logs" / "rsl_rl" / "cartpole" / "2025-11-28_13-20-45"
    write_isaac_lab_start(folder, tmp_path / "train.log", 0, 60, 1_700_000_000)
    (run,) = ppo_top.check([tmp_path])["runs"]
    assert run["config"]["learning_rate"] == 0.0005
    assert (run["config"]["lr_schedule"], run["config"]["n_steps"]) == ("fixed", 24)
    assert len(run["sources"]) == 3


def test_rsl_rl_numbers_its_iterations_from_0(tmp_path: Path) -> None:
    """After its utils/logger.py: the last of 60 is `Learning iteration 59/60`."""
    write_isaac_lab_start(tmp_path / "run", tmp_path / "run.log", 0, 60, 1_700_000_000)
    (run,) = ppo_top.check([tmp_path])["runs"]
    assert (run["progress"]["step"], run["progress"]["total"]) == (59, 60)
    assert (run["state"], run["state_text"]) == ("finished", "all steps done")


def test_the_total_of_a_resumed_training_is_the_last_one_printed(tmp_path: Path) -> None:
    """`learn(60)` after iteration 59 prints `Learning iteration 59/119`."""
    for number, (first, last) in enumerate([(0, 60), (59, 119)]):
        console = tmp_path / "run" / f"console{number + 1}.log"
        console.parent.mkdir(exist_ok=True)
        write_isaac_lab_start(tmp_path / "run", console, first, last, 1_700_000_000 + 900 * number)
    (tmp_path / "run" / "params" / "agent.yaml").unlink()
    (run,) = ppo_top.check([tmp_path])["runs"]
    assert (run["progress"]["step"], run["progress"]["total"]) == (118, 119)
    assert run["state"] == "finished"


def test_spinning_ups_epochs_are_a_total_of_steps(tmp_path: Path) -> None:
    """After spinup `algos/pytorch/ppo/ppo.py` and `utils/logx.py` (save_config, dump_tabular)."""
    rows = ["Epoch\tAverageEpRet\tEpLen\tTotalEnvInteracts\tLossV\tKL\tClipFrac\tStopIter\tTime"]
    for epoch in range(25):
        result = 20.5 + 3 * epoch + epoch % 4
        counted = f"{result}\t{result}\t{2000 * (epoch + 1)}"
        rows.append(f"{epoch}\t{counted}\t{90.5 - epoch}\t0.004\t0.05\t79.0\t{3.5 * epoch}")
    (tmp_path / "progress.txt").write_text("\n".join(rows) + "\n")
    settings = '{\n    "epochs":\t25,\n    "pi_lr":\t0.0003,\n    "steps_per_epoch":\t2000\n}'
    (tmp_path / "config.json").write_text(settings)
    (run,) = ppo_top.check([tmp_path])["runs"]
    assert (run["producer"], run["state"]) == ("spinning-up", "finished")
    assert run["progress"]["step"] == run["progress"]["total"] == 50_000


def test_what_wandb_keeps_of_the_output_is_of_its_run_whatever_the_id(tmp_path: Path) -> None:
    """CORL's scripts give each run a UUID: `wandb.init(id=str(uuid.uuid4()))`."""
    folder = tmp_path / "wandb" / "offline-run-20251128_184442-b536a47b-4701-4f88-b348-f2ef7b11851e"
    failed = "Traceback (most recent call last):\nTypeError: no such file\n"
    (folder / "files").mkdir(parents=True)
    (folder / "files" / "output.log").write_text(failed)
    printed = f"wandb: Run data is saved locally in {folder}\n"
    (tmp_path / "train.log").write_text(printed + failed)
    (run,) = ppo_top.check([tmp_path])["runs"]
    assert (run["state"], len(run["sources"])) == ("died", 2)


def test_what_one_log_has_as_nan_and_another_leaves_out_parts_no_run(tmp_path: Path) -> None:
    """Keras-RL's console and its JSON of lists, before the first update.

    After keras-rl2 `rl/callbacks.py` (TrainEpisodeLogger, FileLogger).
    """
    draw = random.Random(3)
    lists: dict[str, list[float]] = {"loss": [], "mean_q": [], "episode_reward": [], "nb_steps": []}
    lines, step = ["Training for 20000 steps ..."], 0
    for number in range(60):
        length = 20 + number + round(draw.gauss(0, 4))
        step += length
        row = [math.nan if not number else draw.gauss(0.5, 0.1) for _ in range(2)]
        for values, value in zip(lists.values(), (*row, length, step), strict=True):
            values.append(value)
        means = f",  loss: {row[0]:f}, mean_q: {row[1]:f}" if number else ""
        played = f"episode reward: {length:.3f}, mean reward:  1.000 [ 1.000,  1.000]"
        timed = f"duration: 0.2s, episode steps: {length}, steps per second:  90"
        lines.append(f" {step}/20000: episode: {number + 1}, {timed}, {played}{means}")
    (tmp_path / "console.log").write_text("\n".join(lines) + "\n")
    (tmp_path / "dqn_log.json").write_text(json.dumps(lists))
    (run,) = ppo_top.check([tmp_path])["runs"]
    assert (run["producer"], len(run["sources"])) == ("keras-rl", 2)
