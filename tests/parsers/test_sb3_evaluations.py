"""evaluations.npz: rewritten whole, never unpickled."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path
from random import Random

import numpy as np
import pytest

from ppo_top.cli import main
from ppo_top.parsers import sb3_evaluations
from ppo_top.parsers.sb3_evaluations import EvaluationsStore
from tests.support.parser_harness import ParserOutput

DEMO = Path(__file__).parents[2] / "demo_logs" / "sb3_cartpole" / "evaluations.npz"


def poll(store: EvaluationsStore, limit: int = 1000) -> ParserOutput:
    """All that one call gives."""
    read = ParserOutput()
    read.add_batch(store.poll(limit))
    return read


def write(path: Path, count: int, seed: int = 0) -> None:
    """Write `count` evaluations of three episodes as EvalCallback does."""
    dice = np.random.default_rng(seed)
    np.savez(
        path,
        timesteps=np.arange(1, count + 1) * 1000,
        results=dice.normal(size=(count, 3)),
        ep_lengths=dice.integers(1, 500, size=(count, 3)),
    )
    os.utime(path, ns=(count * 10**9, count * 10**9))


def test_evaluations_alone_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing else is logged, the mean of each evaluation is the reward."""
    draw = np.random.default_rng(1)
    for name, means in (
        ("well", np.linspace(20, 400, 40)),
        ("sick", np.concatenate([np.linspace(20, 400, 25), np.full(15, 30.0)])),
    ):
        (tmp_path / name).mkdir()
        np.savez(
            tmp_path / name / "evaluations.npz",
            timesteps=np.arange(1, 41) * 5000,
            results=means[:, None] + draw.normal(0, 20, (40, 5)),
            ep_lengths=np.full((40, 5), 200),
        )
    main(["check", "--json", str(tmp_path)])
    runs = {run["name"]: run for run in json.loads(capsys.readouterr().out)["runs"]}
    assert {name: run["verdict"] for name, run in runs.items()} == {
        "well": "healthy",
        "sick": "crit",
    }
    assert runs["sick"]["findings"][0]["rule"] == "reward-crash"


def test_agrees_with_numpy() -> None:
    """Mean and spread of each evaluation's episodes, at its timesteps."""
    with np.load(DEMO, allow_pickle=False) as found:
        steps, results = found["timesteps"], found["results"]
        lengths = found["ep_lengths"]
    read = poll(EvaluationsStore(DEMO))
    assert read.steps("eval/mean_reward") == steps.tolist()
    assert read.values("eval/mean_reward") == results.mean(axis=1).tolist()
    assert read.values("eval/std_reward") == results.std(axis=1).tolist()
    assert read.values("eval/mean_ep_length") == lengths.mean(axis=1).tolist()


def test_each_evaluation_is_given_once(tmp_path: Path) -> None:
    """The file is rewritten each time; only what is new comes out."""
    path = tmp_path / "evaluations.npz"
    write(path, 2)
    store = EvaluationsStore(path)
    assert poll(store).steps("eval/mean_reward") == [1000, 2000]
    assert poll(store).points == {}
    write(path, 5)
    assert poll(store).steps("eval/mean_reward") == [3000, 4000, 5000]
    store.close()


def test_at_most_so_many_at_once(tmp_path: Path) -> None:
    """A long history comes in slices, none is lost."""
    path = tmp_path / "evaluations.npz"
    write(path, 50)
    store = EvaluationsStore(path)
    read = ParserOutput()
    for _ in range(20):
        read.add_batch(store.poll(30))
    assert read.steps("eval/mean_reward") == [1000 * k for k in range(1, 51)]


def test_a_file_that_starts_over_is_read_again(tmp_path: Path) -> None:
    """A new training in the same place has other steps."""
    path = tmp_path / "evaluations.npz"
    write(path, 3)
    store = EvaluationsStore(path)
    poll(store)
    np.savez(path, timesteps=np.array([500]), results=np.ones((1, 3)), ep_lengths=np.ones((1, 3)))
    assert poll(store).values_by_step()["eval/mean_reward"] == [(500, 1.0)]


def test_half_written_files_wait(tmp_path: Path) -> None:
    """Cut at every byte: no exception, one problem at most, and all points once it is whole."""
    path = tmp_path / "evaluations.npz"
    write(path, 3)
    data = path.read_bytes()
    store = EvaluationsStore(path)
    problems = 0
    for place in range(len(data)):
        path.write_bytes(data[:place])
        read = poll(store)
        assert read.points == {}
        problems += len(read.problems)
    assert problems
    path.write_bytes(data)
    os.utime(path, ns=(1, 1))
    assert poll(store).steps("eval/mean_reward") == [1000, 2000, 3000]


def test_without_numpy_a_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the file is read no more."""
    path = tmp_path / "evaluations.npz"
    write(path, 3)
    monkeypatch.setitem(sys.modules, "numpy", None)
    store = EvaluationsStore(path)
    (problem,) = poll(store).problems
    assert problem.message == "needs numpy, which is not installed"
    assert poll(store).problems == []


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    """An array of objects is refused: loading it could run anything."""
    path = tmp_path / "evaluations.npz"
    bomb = np.array([print], dtype=object)
    np.savez(path, timesteps=np.array([1]), results=bomb, allow_pickle=True)
    read = poll(EvaluationsStore(path))
    assert read.points == {}
    assert len(read.problems) == 1


def test_zip_bombs_are_refused(tmp_path: Path) -> None:
    """An array that would unpack to gigabytes is not unpacked."""
    path = tmp_path / "evaluations.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("timesteps.npy", b"\x00" * (80 << 20))
    assert "larger than" in poll(EvaluationsStore(path)).problems[0].message


def test_a_thousand_corruptions_are_survived(tmp_path: Path) -> None:
    """Damaged archives give problems, never exceptions."""
    path = tmp_path / "evaluations.npz"
    write(path, 4)
    data = path.read_bytes()
    for seed in range(1000):
        dice = Random(seed)
        broken = bytearray(data)
        for _ in range(dice.randint(1, 8)):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        path.write_bytes(broken)
        EvaluationsStore(path).poll(100)


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    """A store that was deleted gives nothing."""
    assert not poll(EvaluationsStore(tmp_path / "evaluations.npz")).points


@pytest.mark.parametrize(("head", "answer"), [(b"PK\x03\x04", True), (b"", None), (b"abc", False)])
def test_what_is_an_archive(head: bytes, answer: bool | None) -> None:
    """numpy's container is a zip archive."""
    assert sb3_evaluations.claims("evaluations.npz", head) is answer
