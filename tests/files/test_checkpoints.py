"""Checkpoints are listed by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppo_top.files import checkpoints
from ppo_top.files.checkpoints import list_checkpoints

PATTERN = r"model_(\d+)\.pt"


def test_files_and_folders_of_that_name_are_listed_by_number(tmp_path: Path) -> None:
    """9 before 10, whatever the names' order."""
    for name in ("model_10.pt", "model_9.pt", "model_x.pt", "model_9.pt.tmp"):
        (tmp_path / name).touch()
    (tmp_path / "model_2.pt").mkdir()
    found = list_checkpoints([str(tmp_path)], PATTERN)
    assert [(each.name, each.number) for each in found] == [
        ("model_2.pt", 2),
        ("model_9.pt", 9),
        ("model_10.pt", 10),
    ]


def test_the_first_folder_counts_where_two_hold_one_number(tmp_path: Path) -> None:
    """The nearest one."""
    near, far = tmp_path / "run", tmp_path
    near.mkdir()
    for folder in (near, far):
        (folder / "model_1.pt").touch()
    (found,) = list_checkpoints([str(near), str(far)], PATTERN)
    assert found.path == str(near / "model_1.pt")


def test_what_cannot_be_listed_is_left_out(tmp_path: Path) -> None:
    """No such folder, a file in its place, a link to nothing."""
    (tmp_path / "file").touch()
    (tmp_path / "model_3.pt").symlink_to(tmp_path / "gone")
    folders = [str(tmp_path / "none"), str(tmp_path / "file"), str(tmp_path)]
    assert list_checkpoints(folders, PATTERN) == []


def test_a_folder_of_any_size_is_listed_in_bounded_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more names only the first are looked at."""
    monkeypatch.setattr(checkpoints, "MAX_NAMES", 3)
    for number in range(10):
        (tmp_path / f"model_{number}.pt").touch()
    assert len(list_checkpoints([str(tmp_path)], PATTERN)) == 3
