"""What rl-baselines3-zoo leaves of a training: monitors, evaluations and its settings."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import ppo_top
from tests.support.event_files import scalar_record
from tests.support.growing_logs import WatchedDirectory, grow_logs, judged_objects

ENVIRONMENTS, EPISODES, LENGTH = 4, 120, 250
EVAL_FREQ = 20_000
TOTAL = ENVIRONMENTS * EPISODES * LENGTH


def write_zoo_folder(folder: Path, algo: str = "ppo") -> Path:
    """A training that learns on four environments, all of whose episodes are equally long."""
    draw = random.Random(5)
    folder.mkdir()
    for number in range(ENVIRONMENTS):
        rows = [
            f"{-200.0 + 2.5 * episode + draw.gauss(0.0, 20.0):.6f},{LENGTH},{episode * 1.5:.6f}"
            for episode in range(1, EPISODES + 1)
        ]
        head = f'#{{"t_start": {1_700_000_000.0 + number}, "env_id": "MyLander-v2"}}\nr,l,t\n'
        (folder / f"{number}.monitor.csv").write_text(head + "\n".join(rows) + "\n")
    steps = np.arange(EVAL_FREQ, TOTAL + 1, EVAL_FREQ)
    scores = np.array([[-190.0 + 0.0025 * step + 5.0 * k for k in range(5)] for step in steps])
    lengths = np.full(scores.shape, LENGTH)
    np.savez(folder / "evaluations.npz", timesteps=steps, results=scores, ep_lengths=lengths)
    settings = folder / "MyLander-v2"
    settings.mkdir()
    start = "!!python/object/apply:collections.OrderedDict\n"
    args = f"- - - algo\n    - {algo}\n  - - n_timesteps\n    - -1\n"
    (settings / "args.yml").write_text(start + args)
    (settings / "config.yml").write_text(f"{start}- - - n_timesteps\n    - {float(TOTAL)}\n")
    return folder


def test_it_is_one_healthy_run_of_its_algorithm_at_the_trainings_steps(tmp_path: Path) -> None:
    """Though it holds no loss, and each monitor counts the steps of its own environment."""
    (run,) = ppo_top.check([write_zoo_folder(tmp_path / "MyLander-v2_1")])["runs"]
    assert (run["producer"], run["family"]) == ("sb3", "on-policy")
    assert run["verdict"] in ("healthy", "info")
    assert run["progress"]["step"] == run["progress"]["total"] == TOTAL
    assert run["progress"]["updates"] == EPISODES
    kinds = Counter(source["format"] for source in run["sources"])
    assert kinds == {"sb3-monitor": ENVIRONMENTS, "sb3-evaluations": 1, "settings-yaml": 2}


@pytest.mark.parametrize(
    ("algo", "family"), [("dqn", "value-based"), ("qrdqn", "value-based"), ("tqc", "off-policy")]
)
def test_its_settings_tell_the_family(tmp_path: Path, algo: str, family: str) -> None:
    """Nothing else does."""
    (run,) = ppo_top.check([write_zoo_folder(tmp_path / "run", algo)])["runs"]
    assert run["family"] == family


@pytest.mark.parametrize("seed", range(4))
def test_logs_that_grow_in_turns_come_to_the_same(tmp_path: Path, seed: int) -> None:
    """Of environments that are found one after the other."""
    whole = write_zoo_folder(tmp_path / "whole")
    at_once = WatchedDirectory(whole)
    at_once.finish()
    live = tmp_path / "live" / "whole"
    live.mkdir(parents=True)
    watched = WatchedDirectory(live)
    for _ in grow_logs(whole, live, parts=4, seed=seed):
        watched.read_and_judge()
    watched.finish()
    assert judged_objects(watched.session) == judged_objects(at_once.session)


def test_a_console_belongs_to_both_folders_that_it_prints(tmp_path: Path) -> None:
    """The folder of the logs holds one of settings: `CartPole-v1_2/CartPole-v1/args.yml`."""
    for number in (1, 2):
        folder = tmp_path / "logs" / "dqn" / f"MyLander-v2_{number}"
        folder.parent.mkdir(parents=True, exist_ok=True)
        write_zoo_folder(folder, "dqn")
        events = tmp_path / "tb" / "MyLander-v2" / f"DQN_{number}"
        events.mkdir(parents=True)
        steps = range(1000, TOTAL, 1000)
        record = b"".join(
            scalar_record("train/loss", n, 1.0 / n + number, 1.7e9 + n) for n in steps
        )
        (events / "events.out.tfevents.1700000000.host").write_bytes(record)
        head = f"Log path: logs/dqn/MyLander-v2_{number}\nLogging to tb/MyLander-v2/DQN_{number}\n"
        lines = (f"| total_timesteps | {n} |\n| loss | {1.0 / n + number:.3g} |" for n in steps)
        rule = "-" * 34
        table = "".join(f"{rule}\n{each}\n{rule}\n" for each in lines)
        (tmp_path / f"dqn{number}.log").write_text(head + table)
    runs = ppo_top.check([tmp_path])["runs"]
    assert {run["name"] for run in runs} == {"MyLander-v2_1", "MyLander-v2_2"}
    assert [len(run["sources"]) for run in runs] == [ENVIRONMENTS + 5] * 2
