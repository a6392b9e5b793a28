"""A console that logrotate moves out of the way: `train.log.2`, `train.log.1`, `train.log`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from ppo_top.cli import main
from tests.support.growing_logs import DEMO_LOGS_FOLDER, WatchedDirectory

LINES = (DEMO_LOGS_FOLDER / "sb3_cartpole_lr3e-2" / "stdout.log").read_text().splitlines(True)
TABLE_STARTS = [
    number - 1 for number, line in enumerate(LINES) if line.startswith(("| rollout/", "| eval/"))
]
CUTS = (0, TABLE_STARTS[len(TABLE_STARTS) // 3], TABLE_STARTS[2 * len(TABLE_STARTS) // 3])
OLDEST, OLDER, NEWEST = (
    "".join(LINES[begin:end]) for begin, end in zip(CUTS, (*CUTS[1:], None), strict=True)
)


def checked(capsys: pytest.CaptureFixture[str], path: Path) -> list[dict[str, object]]:
    """What `check` knows of each run."""
    main(["check", "--no-cache", "--json", str(path)])
    runs: list[dict[str, object]] = json.loads(capsys.readouterr().out)["runs"]
    return runs


def test_rotated_logs_are_one_run_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The higher the number the older, compressed or not: findings are those of the whole log."""
    whole, rotated = tmp_path / "whole", tmp_path / "rotated"
    whole.mkdir()
    rotated.mkdir()
    (whole / "train.log").write_text("".join(LINES))
    (rotated / "train.log.2.gz").write_bytes(gzip.compress(OLDEST.encode()))
    (rotated / "train.log.1").write_text(OLDER)
    (rotated / "train.log").write_text(NEWEST)
    (expected,), (found,) = checked(capsys, whole), checked(capsys, rotated)
    assert found["name"] == "rotated"
    for each in ("verdict", "progress", "findings", "open"):
        assert found[each] == expected[each]


def test_a_log_that_is_rotated_while_it_is_watched_stays_one_run(tmp_path: Path) -> None:
    """As live as on disk: nothing begins again."""
    log = tmp_path / "train.log"
    log.write_text(OLDEST)
    watched = WatchedDirectory(tmp_path)
    watched.read_and_judge()
    (before,) = watched.session.runs.values()
    rows = len(before.timeline)
    for text in (OLDER, NEWEST):
        for number in (2, 1):
            if (old := tmp_path / f"train.log.{number - 1}".removesuffix(".0")).exists():
                old.rename(tmp_path / f"train.log.{number}")
        log.write_text(text)
        watched.read_and_judge()
    watched.finish()
    (after,) = watched.session.runs.values()
    assert (after.id, after.name) == (before.id, before.name)
    assert len(after.timeline) > 2 * rows
    assert [*after.timeline.steps] == sorted(after.timeline.steps)


def test_a_training_that_failed_at_once_is_not_the_one_after_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It logged one update, at the step at which the other one's first is."""
    first_table = "".join(LINES[: TABLE_STARTS[1]])
    (tmp_path / "train.log.1").write_text(first_table)
    (tmp_path / "train.log").write_text("".join(LINES))
    assert len(checked(capsys, tmp_path)) == 2


def test_a_training_that_begins_again_in_the_new_log_is_another_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its steps are not above those of the log that was rotated."""
    (tmp_path / "train.log.1").write_text("".join(LINES))
    (tmp_path / "train.log").write_text(OLDEST.replace("| 21.", "| 22."))
    assert {run["name"] for run in checked(capsys, tmp_path)} == {"train", "train.log.1"}
