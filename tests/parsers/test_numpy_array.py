"""`numpy.save("rewards.npy", rewards)`: rewritten whole, never unpickled."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from ppo_top.cli import main
from ppo_top.parsers import detect_format
from ppo_top.parsers.numpy_array import FORMAT, NumpyArrayStore
from tests.support.parser_harness import ParserOutput


def save(path: Path, values: object, moment: int = 1) -> Path:
    """Save the array as a script does, at a moment of its own."""
    np.save(path, np.array(values), allow_pickle=True)
    os.utime(path, ns=(moment * 10**9, moment * 10**9))
    return path


def poll(store: NumpyArrayStore) -> ParserOutput:
    """All that one call gives."""
    read = ParserOutput()
    read.add_batch(store.poll(10))
    return read


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "int16", ">f8"])
def test_every_number_is_a_point(tmp_path: Path, kind: str) -> None:
    """Of any plain type, in a list or in one row or column."""
    numbers = np.array([21.0, -3.0, 500.0], dtype=kind)
    for shape in ((3,), (1, 3), (3, 1)):
        path = save(tmp_path / "episode_rewards.npy", numbers.reshape(shape))
        read = poll(NumpyArrayStore(path))
        assert read.values("episode_rewards") == [21.0, -3.0, 500.0]
        assert read.steps("episode_rewards") == [1, 2, 3]


def test_only_what_is_new_comes_out(tmp_path: Path) -> None:
    """Scripts save the whole array after each episode."""
    path = save(tmp_path / "scores.npy", [1.0, 2.0])
    store = NumpyArrayStore(path)
    assert poll(store).values("scores") == [1.0, 2.0]
    assert not poll(store).points
    save(path, [1.0, 2.0, 3.0], 2)
    assert (found := poll(store)).values("scores") == [3.0]
    assert found.steps("scores") == [3]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (np.zeros((3, 200)), "3 x 200 numbers"),
        (np.array([{"reward": 1.0}], dtype=object), "does not hold numbers"),
        (np.array([1.0, None]), "a Python pickle: not read, since loading one may run code"),
        (np.array(["1.0"]), "does not hold numbers"),
    ],
    ids=["several axes", "a dictionary", "a pickle", "words"],
)
def test_what_is_not_read_is_said(tmp_path: Path, values: object, problem: str) -> None:
    """Which axis the episodes are on, nothing says; a pickle is never opened."""
    read = poll(NumpyArrayStore(save(tmp_path / "rewards.npy", values)))
    assert not read.points
    assert problem in read.problems[0].message


def test_half_a_file_waits(tmp_path: Path) -> None:
    """It is being written: the whole one is read."""
    path = save(tmp_path / "rewards.npy", np.arange(100.0))
    whole = path.read_bytes()
    for cut in (5, 40, 130, len(whole) - 3):
        path.write_bytes(whole[:cut])
        store = NumpyArrayStore(path)
        assert not poll(store).points
        path.write_bytes(whole)
        os.utime(path, ns=(2 * 10**9, 2 * 10**9))
        assert poll(store).values("rewards") == [float(number) for number in range(100)]


def test_arrays_of_other_things_are_left_alone() -> None:
    """The file's name says what its numbers are."""
    head = b"\x93NUMPY\x01\x00"
    assert detect_format("rewards.npy", head) is FORMAT
    assert detect_format("SpaceInvaders_PPO.npy", head) is FORMAT
    assert detect_format("walker_TD3.npy", head) is FORMAT
    assert detect_format("itr_0_losses.npy", head) is FORMAT
    assert not detect_format("loss_landscape.npy", head)
    assert not detect_format("observations.npy", head)
    assert not detect_format("rewards.npy", b"PK")


@pytest.mark.parametrize(
    ("name", "concept"),
    [("policy_loss", "policy_loss"), ("itr_0_losses", None), ("itr_0_policy_loss", None)],
)
def test_losses_are_what_their_name_says_if_it_says_anything(
    name: str, concept: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are charted in any case."""
    save(tmp_path / f"{name}.npy", [3.0, 2.0, 1.0])
    main(["check", "--json", "--no-cache", str(tmp_path)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (metric,) = run["metrics"]
    assert (metric["tag"], metric["concept"], metric["last"]) == (name, concept, 1.0)


def test_rewards_are_judged_beside_more_losses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One for each gradient step, of which nothing says how many an episode has."""
    draw = np.random.default_rng(3)
    means = np.concatenate([np.linspace(0.0, 200.0, 300), np.full(200, 5.0)])
    save(tmp_path / "rewards.npy", means + draw.normal(0.0, 8.0, 500))
    save(tmp_path / "policy_loss.npy", draw.random(5000))
    assert main(["check", "--json", "--no-cache", str(tmp_path)]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert "reward-crash" in {found["rule"] for found in run["findings"]}
    assert run["progress"]["step"] == 500


def test_it_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A collapse is found; the steps are counted."""
    draw = np.random.default_rng(3)
    means = np.concatenate([np.linspace(0.0, 200.0, 300), np.full(200, 5.0)])
    save(tmp_path / "rewards.npy", means + draw.normal(0.0, 8.0, 500))
    assert main(["check", "--json", str(tmp_path)]) == 1
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert "reward-crash" in {found["rule"] for found in run["findings"]}
    assert run["progress"]["axis"] == "update"
