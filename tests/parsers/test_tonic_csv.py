"""Tonic's log.csv, as `tonic/utils/logger.py` writes it: columns in the order of their names."""

from __future__ import annotations

from pathlib import Path

from ppo_top import check, points

COLUMNS = "actor/loss,critic/q,test/episode_score/mean,train/episode_score/mean,train/episodes"
ROWS = [f"-0.01,0.5,{20 + n}.5,{10 + n}.5,{20 * n},{5000 * n},1200.5" for n in range(1, 6)]


def test_steps_are_those_of_all_episodes(tmp_path: Path) -> None:
    """`train/steps` beside `train/episodes` is a running count."""
    header = f"{COLUMNS},train/steps,train/steps_per_second"
    (tmp_path / "log.csv").write_text("\n".join([header, *ROWS]) + "\n")
    (run,) = check([str(tmp_path)])["runs"]
    assert (run["producer"], run["family"]) == ("tonic", "off-policy")
    assert run["progress"]["axis"] == "step"
    read = [p for p in points([str(tmp_path)]) if p.tag == "train/episode_score/mean"]
    assert [(p.step, p.value) for p in read] == [(5000 * n, 10.5 + n) for n in range(1, 6)]


def test_steps_of_one_episode_are_not_those_of_all(tmp_path: Path) -> None:
    """A table of one's own counts its episodes."""
    rows = "\n".join(f"{n},{10 + n % 3},2{n}.5" for n in range(1, 8))
    (tmp_path / "train_log.csv").write_text(f"Episode,Steps,Reward\n{rows}\n")
    read = [p for p in points([str(tmp_path)]) if p.tag == "Reward"]
    assert [p.step for p in read] == list(range(1, 8))
