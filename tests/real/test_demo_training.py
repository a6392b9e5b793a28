"""The PPO that `ppo-top demo --live` trains: what it prints, what it logs, how each fault shows."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINE = re.compile(
    r"Iteration (\d+)/(\d+) \| Episodes: (\d+) \| Mean Reward: (nan|[\d.]+)"
    r" \| KL: (nan|[\d.]+) \| clip%: ([\d.]+)%"
)
LAST = re.compile(r"Training complete! 20-episode evaluation: [\d.]+ \+/- [\d.]+")
TAGS = {
    "rollout/ep_rew_mean", "rollout/ep_len_mean", "train/value_loss", "train/entropy_loss",
    "train/policy_gradient_loss", "train/approx_kl", "train/clip_fraction", "train/clip_range",
    "train/explained_variance", "train/learning_rate", "train/n_updates", "eval/mean_reward",
    "eval/std_reward",
}  # fmt: skip

Scalars = dict[str, list[float]]


def train(logdir: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Train in a new process, as the live demo does."""
    return subprocess.run(
        [sys.executable, "-m", "ppo_top.demo.train", "--logdir", str(logdir), *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )


def trained(logdir: Path, *options: str) -> list[str]:
    """The console lines of a run that succeeded."""
    done = train(logdir, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def scalars(logdir: Path) -> Scalars:
    """Read the event file with TensorBoard's own reader."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(logdir), size_guidance={"scalars": 0})
    events.Reload()
    return {tag: [e.value for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}


def column(lines: Sequence[str], group: int) -> list[float]:
    """One number of each console line."""
    found = [LINE.fullmatch(line) for line in lines]
    return [float(match.group(group)) for match in found if match]


def test_without_torch_one_line_says_how_to_get_it(tmp_path: Path) -> None:
    """Where torch is missing, only main() fails, and says in one line what to install."""
    blocked = (
        "import sys; sys.modules['torch'] = None; from ppo_top.demo.train import main;"
        f"sys.exit(main(['--logdir', {str(tmp_path)!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", blocked], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "training needs more: pip install torch gymnasium tensorboard"
    ]


@pytest.mark.real
def test_healthy_training_prints_its_iterations_and_reaches_the_goal(tmp_path: Path) -> None:
    """Twenty iterations are printed in order, the reward reaches 500, an evaluation ends it."""
    lines = trained(tmp_path, "--seed", "1")
    assert column(lines, 1) == list(range(1, 21))
    assert column(lines, 4)[-1] == 500.0
    assert max(column(lines, 5)) < 0.03
    assert LAST.fullmatch(lines[-1])
    assert len(lines) == 21


@pytest.mark.real
def test_events_carry_every_tag_and_agree_with_the_console(tmp_path: Path) -> None:
    """The event file has all tags, one point an iteration, with the console's figures."""
    lines = trained(tmp_path, "--iterations", "3")
    logged = scalars(tmp_path)
    assert set(logged) == TAGS
    assert all(len(logged[tag]) == 3 for tag in TAGS if not tag.startswith("eval/"))
    assert logged["rollout/ep_rew_mean"] == pytest.approx(column(lines, 4), abs=0.05)
    assert logged["train/approx_kl"] == pytest.approx(column(lines, 5), abs=6e-5)
    assert [100 * each for each in logged["train/clip_fraction"]] == pytest.approx(
        column(lines, 6), abs=0.06
    )
    assert logged["train/learning_rate"] == pytest.approx([1e-3, 2e-3 / 3, 1e-3 / 3])


@pytest.mark.real
def test_hyperparameters_are_in_the_events(tmp_path: Path) -> None:
    """A reader finds the clip range and the learning rate as text in the event file."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    trained(tmp_path, "--iterations", "1", "--fault", "clip")
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    (note,) = events.Tensors("hyperparameters/text_summary")
    text = note.tensor_proto.string_val[0].decode()
    assert "|clip_range|10.0" in text
    assert "|learning_rate|0.01" in text


@pytest.mark.real
def test_the_same_seed_trains_the_same_run(tmp_path: Path) -> None:
    """Two runs with one seed print the same; another seed prints something else."""
    once = trained(tmp_path / "a", "--iterations", "1", "--seed", "7")
    again = trained(tmp_path / "b", "--iterations", "1", "--seed", "7")
    other = trained(tmp_path / "c", "--iterations", "1", "--seed", "8")
    assert once == again != other


@pytest.mark.real
def test_a_learning_rate_far_too_high_shows_in_kl_and_clipping(tmp_path: Path) -> None:
    """Fault `lr`: over a fifth is clipped from the start until KL explodes.

    On some processors the policy is certain then: it moves no more, and nothing is clipped.
    """
    trained(tmp_path, "--fault", "lr", "--iterations", "10")
    logged = scalars(tmp_path)
    exploded = [at for at, kl in enumerate(logged["train/approx_kl"]) if kl > 1.0]
    assert exploded
    assert min(logged["train/clip_fraction"][: exploded[0] + 1]) > 0.2


@pytest.mark.real
def test_without_clipping_kl_is_high_while_nothing_is_clipped(tmp_path: Path) -> None:
    """Fault `clip`: KL above 1 from the first iteration, clip fraction next to 0."""
    trained(tmp_path, "--fault", "clip", "--iterations", "3")
    logged = scalars(tmp_path)
    assert min(logged["train/approx_kl"]) > 1.0
    assert max(logged["train/clip_fraction"]) < 0.02


@pytest.mark.real
def test_punished_entropy_collapses_while_the_reward_is_low(tmp_path: Path) -> None:
    """Fault `entropy`: under a tenth of the start within three iterations, reward far from 500."""
    trained(tmp_path, "--fault", "entropy", "--iterations", "5")
    logged = scalars(tmp_path)
    assert -logged["train/entropy_loss"][2] < 0.1 * 0.69
    assert max(logged["rollout/ep_rew_mean"]) < 150


@pytest.mark.real
def test_a_critic_with_the_wrong_sign_explains_nothing(tmp_path: Path) -> None:
    """Fault `critic`: explained variance stays at 0 and the value loss only rises."""
    trained(tmp_path, "--fault", "critic", "--iterations", "8")
    logged = scalars(tmp_path)
    assert max(logged["train/explained_variance"]) < 0.05
    assert logged["train/value_loss"] == sorted(logged["train/value_loss"])
    assert logged["rollout/ep_rew_mean"][-1] < 15


@pytest.mark.real
def test_a_nan_reward_is_reported_and_then_kills_the_run(tmp_path: Path) -> None:
    """Fault `nan`: the eighth iteration logs NaN, then the process crashes with a traceback."""
    done = train(tmp_path, "--fault", "nan")
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert len(lines) == 8
    assert "Mean Reward: nan | KL: nan" in lines[-1]
    assert done.stderr.startswith("Traceback (most recent call last):")
    assert "ValueError" in done.stderr
