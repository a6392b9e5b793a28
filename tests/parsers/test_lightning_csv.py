"""Lightning's metrics.csv: sparse rows, and a file that is written anew for each new column."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ppo_top.cli import main
from ppo_top.files.directory_tree import FoundFile
from ppo_top.files.reading.log_reader import LogReader
from ppo_top.parsers import detect_format
from tests.support.parser_harness import ParserOutput
from tests.support.recordings import DATA_FOLDER, comparable_columns, recorded_points

BASE = DATA_FOLDER / "lightning_2.6.6"
FIRST = "epoch,step,train/reward\r\n0,1,0.5\r\n0,3,0.625\r\n"
WIDER = "epoch,eval/reward,step,train/reward\r\n0,,1,0.5\r\n0,,3,0.625\r\n0,0.75,3,\r\n"


class FollowedTable:
    """A file, and all that the follower has read of it since it was last written anew."""

    def __init__(self, path: Path) -> None:
        self._reader = LogReader(FoundFile(str(path), path.name, str(path.parent)), detect_format)
        self.output = ParserOutput()

    def read(self) -> ParserOutput:
        """All points up to now."""
        while self._reader.has_changed() or self._reader.more:
            update = self._reader.read_update()
            if update is None:
                break
            assert update.source.format.name == "lightning-csv"
            if update.reset:
                self.output = ParserOutput()
            self.output.add_batch(update.batch)
        return self.output


@pytest.mark.parametrize("kind", ["healthy", "sick"])
def test_every_cell_equals_that_of_the_csv_reader(kind: str) -> None:
    """Also in columns that began late; an empty cell is no point."""
    rows = [{**row, "time": "nan"} for row in recorded_points(f"{BASE.name}/{kind}")]
    output = FollowedTable(BASE / kind / "version_0" / "metrics.csv").read()
    assert output.points == comparable_columns(rows)
    assert output.problems == []


def test_a_file_that_got_a_column_is_read_again(tmp_path: Path) -> None:
    """The logger writes all rows anew, under the old name; then it appends."""
    path = tmp_path / "metrics.csv"
    path.write_text(FIRST, newline="")
    growing = FollowedTable(path)
    assert growing.read().values("train/reward") == [0.5, 0.625]
    path.write_text(WIDER, newline="")
    assert growing.read().values_by_step() == {
        "epoch": [(1, 0.0), (3, 0.0), (3, 0.0)],
        "step": [(1, 1.0), (3, 3.0), (3, 3.0)],
        "train/reward": [(1, 0.5), (3, 0.625)],
        "eval/reward": [(3, 0.75)],
    }
    with path.open("a", newline="") as file:
        file.write("1,,5,0.5\r\n")
    assert growing.read().values("train/reward") == [0.5, 0.625, 0.5]


def test_check_names_the_trainer_and_finds_the_sick_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With the settings of hparams.yaml beside the table."""
    main(["check", "--json", "--no-cache", str(BASE)])
    runs = {run["name"]: run for run in json.loads(capsys.readouterr().out)["runs"]}
    assert {run["producer"] for run in runs.values()} == {"lightning"}
    assert [len(run["sources"]) for run in runs.values()] == [2, 2]
    assert runs["healthy/version_0"]["verdict"] == "healthy"
    found = [each["rule"] for each in runs["sick/version_0"]["findings"]]
    assert "reward-crash" in found
