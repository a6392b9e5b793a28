"""Checkpoints of another machine: their names are here, and follow, but nothing that is in them."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ppo_top.files.checkpoints import list_checkpoints
from ppo_top.remote.far_side.frames import MOST_CHECKPOINTS
from ppo_top.remote.protocol import CheckpointList, Hello, ProtocolError, RemoteCheckpoint
from tests.support.far_sides import JoinedSides
from tests.support.remembered import Printed
from tests.support.screens import write_unhealthy_run
from tests.support.stand_in_ssh import __file__ as STAND_IN

JoinSides = Callable[..., JoinedSides]
WRITTEN = 1.5e9


@pytest.fixture
def joined() -> Iterator[JoinSides]:
    """Makes joined sides and deletes their copies at the end."""
    made: list[JoinedSides] = []

    def make(folder: Path, most_files: int = 1000) -> JoinedSides:
        made.append(JoinedSides([folder], most_files=most_files))
        return made[-1]

    yield make
    for each in made:
        each.mirror.close()


def save(folder: Path, *steps: int) -> None:
    """Checkpoints as transformers' Trainer names them: folders with the weights."""
    for step in steps:
        checkpoint = folder / f"checkpoint-{step}"
        checkpoint.mkdir(parents=True)
        (checkpoint / "model.safetensors").write_bytes(b"weights")
        os.utime(checkpoint, (WRITTEN + step, WRITTEN + step))


def steps_here(sides: JoinedSides, folder: str = ".") -> list[int]:
    """The numbers of the checkpoints that are seen here."""
    copy = str(sides.mirror.paths[0] / folder)
    return [each.number for each in list_checkpoints([copy], r"checkpoint-(\d+)")]


def restart_of(folder: str, *options: str) -> dict[str, Any]:
    """What `check --json` says of where to restart the first run."""
    found = json.loads(Printed("check", "--json", *options, folder).out)["runs"][0]["restart"]
    assert found is not None
    return dict(found)


def test_the_checkpoint_to_restart_from_is_named_as_on_this_machine(tmp_path: Path) -> None:
    """With the same words, and a path that says where it is."""
    write_unhealthy_run(tmp_path / "sick" / "progress.csv")
    for step in (10_000, 36_000, 60_000):
        (tmp_path / "sick" / f"rl_model_{step}_steps.zip").write_bytes(b"weights")
    ssh = "--ssh", f"{sys.executable} {STAND_IN}", "--remote-python", sys.executable
    here, there = restart_of(str(tmp_path)), restart_of(f"node3:{tmp_path}", *ssh)
    assert here["name"] == "rl_model_36000_steps.zip"
    assert there == {**here, "path": f"node3:{here['path']}"}


def test_only_their_names_and_times_are_sent(tmp_path: Path, joined: JoinSides) -> None:
    """Weights are large, and nobody reads them here."""
    save(tmp_path / "run", 100, 200)
    (tmp_path / "run" / "rl_model_5_steps.zip").write_bytes(b"weights" * 1000)
    os.utime(tmp_path / "run" / "rl_model_5_steps.zip", (WRITTEN, WRITTEN))
    sides = joined(tmp_path)
    sides.sweep()
    assert sides.copies() == {"run/rl_model_5_steps.zip": b""}
    copy = str(sides.mirror.paths[0] / "run")
    (saved,) = list_checkpoints([copy], r"rl_model_(\d+)_steps\.zip")
    assert (saved.written, saved.path) == (WRITTEN, f"node:{tmp_path}/run/rl_model_5_steps.zip")
    found = list_checkpoints([copy], r"checkpoint-(\d+)")
    assert [(each.number, each.written) for each in found] == [
        (100, WRITTEN + 100),
        (200, WRITTEN + 200),
    ]


def test_new_and_deleted_ones_follow(tmp_path: Path, joined: JoinSides) -> None:
    """Trainers keep the newest few; while there is nothing new nothing is sent."""
    save(tmp_path / "run", 100, 200)
    sides = joined(tmp_path)
    sides.sweep()
    save(tmp_path / "run", 300)
    shutil.rmtree(tmp_path / "run" / "checkpoint-100")
    sides.sweep()
    assert steps_here(sides, "run") == [200, 300]
    sides.sweep()
    assert sides.frames == []
    shutil.rmtree(tmp_path / "run")
    sides.sweep()
    assert list(sides.mirror.paths[0].iterdir()) == []


def test_a_new_connection_forgets_what_was_deleted_meanwhile(
    tmp_path: Path, joined: JoinSides
) -> None:
    """The new far side does not know what the old one has sent."""
    save(tmp_path / "run", 100, 200)
    sides = joined(tmp_path)
    sides.sweep()
    shutil.rmtree(tmp_path / "run" / "checkpoint-200")
    sides.connect()
    sides.mirror.apply(Hello(time.time()))
    sides.sweep()
    assert steps_here(sides, "run") == [100]


def test_a_log_inside_a_checkpoint_is_copied_as_any_other(
    tmp_path: Path, joined: JoinSides
) -> None:
    """And the checkpoint stays when that log is deleted."""
    save(tmp_path, 100)
    state = tmp_path / "checkpoint-100" / "trainer_state.json"
    state.write_bytes(b"{}")
    sides = joined(tmp_path)
    sides.sweep()
    assert sides.copies() == {"checkpoint-100/trainer_state.json": b"{}"}
    state.unlink()
    sides.sweep()
    assert (sides.copies(), steps_here(sides)) == ({}, [100])


def test_of_very_many_some_are_sent_from_the_first_to_the_last(
    tmp_path: Path, joined: JoinSides
) -> None:
    """So that there is one from before any fault."""
    count = 2 * MOST_CHECKPOINTS + 10
    for number in range(1, count + 1):
        path = tmp_path / f"model_{number}.pt"
        path.touch()
        os.utime(path, (WRITTEN + number, WRITTEN + number))
    sides = joined(tmp_path, most_files=MOST_CHECKPOINTS)
    sides.sweep()
    found = list_checkpoints([str(sides.mirror.paths[0])], r"model_(\d+)\.pt")
    assert [each.number for each in found] == list(range(1, count + 1, 3))


def test_beyond_the_number_of_files_they_are_left_out(tmp_path: Path, joined: JoinSides) -> None:
    """Which is told."""
    save(tmp_path, *range(4))
    sides = joined(tmp_path, most_files=3)
    sides.sweep()
    assert steps_here(sides) == []
    assert sides.mirror.troubles == [f"node:{tmp_path}: too many checkpoints"]


def test_more_than_were_asked_for_are_refused(tmp_path: Path, joined: JoinSides) -> None:
    """A far side that does not keep its word fills no disk here."""
    sides = joined(tmp_path, most_files=3)
    listed = tuple(RemoteCheckpoint(f"checkpoint-{number}", 1.0, False) for number in range(2))
    sides.mirror.apply(CheckpointList(0, "a", listed))
    with pytest.raises(ProtocolError):
        sides.mirror.apply(CheckpointList(0, "b", listed))
