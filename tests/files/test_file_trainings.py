"""A file of several trainings is several runs, from the command line and while it grows."""

from __future__ import annotations

import json
import os
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from ppo_top.cli import main
from tests.support.growing_logs import WatchedDirectory


def training(seed: int, steps: int = 12) -> str:
    """What one training of a loop over seeds prints."""
    lines = [f"Episode {step} | reward: {step}.{seed} | kl: 0.01" for step in range(1, steps + 1)]
    return "\n".join([f"seed: {seed}", *lines, "Training complete!", ""])


def test_each_training_is_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Named after the file, with the reason, and each with its own end."""
    (tmp_path / "train.log").write_text("".join(map(training, (1, 2, 3))))
    main(["check", "--json", str(tmp_path)])
    runs = {run["name"]: run for run in json.loads(capsys.readouterr().out)["runs"]}
    assert runs.keys() == {tmp_path.name, "train-2", "train-3"}
    assert {run["progress"]["updates"] for run in runs.values()} == {12}
    assert {run["state"] for run in runs.values()} == {"finished"}
    (note,) = runs["train-3"]["sources"][0]["notes"]
    assert note.startswith("training 3 in this console: another seed is printed")


@pytest.mark.parametrize(("total", "first"), [(12, "finished"), (20, "ended")])
def test_a_training_that_another_follows_is_finished_with_its_last_step(
    total: int, first: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the last one of the file is, though none of them says so."""
    text = "".join(map(training, (1, 2))).replace("Training complete!\n", "")
    (tmp_path / "train.log").write_text(text.replace(" | reward", f"/{total} | reward"))
    main(["check", "--json", str(tmp_path)])
    runs = {run["name"]: run for run in json.loads(capsys.readouterr().out)["runs"]}
    assert runs[tmp_path.name]["state"] == first
    assert (runs["train-2"]["state"] == "finished") == (first == "finished")


def test_a_training_that_begins_while_one_looks(tmp_path: Path) -> None:
    """The one before is complete; what is appended belongs to the new one."""
    watched = WatchedDirectory(tmp_path)
    for text in (training(1), training(2)[:150], training(2)[150:]):
        with (tmp_path / "train.log").open("a") as file:
            file.write(text)
        watched.read_new()
    session = watched.session
    assert session.judge()
    assert {run.name: len(run.timeline) for run in session.sorted_runs()} == {
        tmp_path.name: 12,
        "train-2": 12,
    }
    assert all(run.is_settled for run in session.runs.values())
    watched.follower.close()


def test_a_file_that_is_written_anew(tmp_path: Path) -> None:
    """Nothing is left of the second training that the file held before."""
    watched, log = WatchedDirectory(tmp_path), tmp_path / "train.log"
    log.write_text(training(1) + training(2))
    watched.read_new()
    log.write_text(training(3, steps=6))
    watched.read_new()
    runs = watched.session.runs.values()
    points = {key: state.points for run in runs for key, state in run.sources.items()}
    assert points.pop("train.log") > 0
    assert not any(points.values())
    watched.follower.close()


def test_each_training_of_a_pipe_is_a_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`cat seed1.log seed2.log | ppo-top check -`: as in a file; the last one's pipe was closed."""
    last = training(2).removesuffix("Training complete!\n")
    data = BytesIO((training(1) + last).encode())
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(data))
    main(["check", "--json", "-"])
    runs = {run["name"]: run for run in json.loads(capsys.readouterr().out)["runs"]}
    assert {name: (run["state"], run["progress"]["updates"]) for name, run in runs.items()} == {
        "standard input": ("finished", 12),
        "standard input-2": ("ended", 12),
    }


@pytest.mark.parametrize("piped", [False, True])
def test_trainings_that_run_at_once_are_none_the_end_of_another(
    piped: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A launcher prints lines of both in turn; with its pipe both end."""
    lines = [
        f"seed={seed} | step={step} | reward={step}.{seed} | kl=0.01\n"
        for step in range(1, 13)
        for seed in (1, 2)
    ]
    log = tmp_path / "train.log"
    log.write_text("".join(lines))
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(log.read_bytes())))
    main(["check", "--json", "-" if piped else str(log)])
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [run["progress"]["updates"] for run in runs] == [12, 12]
    assert {run["state"] for run in runs} == {"ended" if piped else "live"}


def test_a_training_that_begins_in_a_pipe() -> None:
    """Its points are kept: a pipe cannot be read again."""
    reading, writing = os.pipe()
    with open(reading, "rb") as stream:
        watched = WatchedDirectory(stdin=stream)
        for seed in (1, 2):
            os.write(writing, training(seed).encode())
            watched.read_and_judge()
        runs = {run.name: run for run in watched.session.runs.values()}
        assert {name: len(run.timeline) for name, run in runs.items()} == {
            "standard input": 12,
            "standard input-2": 12,
        }
        assert not any(run.can_drop_history or run.can_be_sent for run in runs.values())
        os.close(writing)
        watched.finish()


def test_the_settings_can_join_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`[runs] join`: the user knows better."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "train.log").write_text("".join(map(training, (1, 2))))
    settings = tmp_path / "ppo-top.toml"
    settings.write_text('[runs]\njoin = ["logs/**"]\n')
    main(["check", "--json", "--settings", str(settings), str(tmp_path / "logs")])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert [source["joined_by"] for source in run["sources"]] == [None, "joined in the settings"]
