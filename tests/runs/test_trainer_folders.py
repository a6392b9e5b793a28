"""Trainings side by side in the folders that trainers make, with the consoles beside them.

Made up after what the trainers write: rl_games `common/a2c_common.py` (print_statistics, train)
and `algos_torch/torch_ext.py` (safe_filesystem_op).
"""

from __future__ import annotations

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
