"""The series of a chart as a CSV file: in the current directory, but never where logs are."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ppo_top.tui.state.actions import Actions
from ppo_top.tui.state.ui_state import UiState
from tests.support.screens import write_unhealthy_run
from tests.tui.conftest import MakeUiState


@pytest.fixture(name="ui")
def zoomed(tmp_path: Path, make_ui_state: MakeUiState) -> UiState:
    """The zoomed reward of a run."""
    write_unhealthy_run(tmp_path / "runs" / "a b" / "progress.csv")
    ui = make_ui_state(tmp_path / "runs")
    ui.paths = (tmp_path / "runs",)
    ui.overlay, ui.concept = "zoom", "reward_mean"
    return ui


def test_the_series_up_to_the_row_shown_is_written(
    ui: UiState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the columns of `export`; a second time under another name, nothing is overwritten."""
    monkeypatch.chdir(tmp_path)
    ui.cursor.row = 9
    Actions(ui).do_write()
    assert ui.toast == "10 points written to a_b-reward_mean.csv"
    with open(tmp_path / "a_b-reward_mean.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["step"], row["concept"], float(row["value"])) for row in rows[:2]] == [
        ("2048", "reward_mean", 24.0),
        ("4096", "reward_mean", 28.0),
    ]
    assert len(rows) == 10
    ui.cursor.row = None
    Actions(ui).do_write()
    assert ui.toast == "40 points written to a_b-reward_mean-2.csv"


@pytest.mark.parametrize("folder", ["runs", "runs/a b"])
def test_nothing_is_written_where_logs_are(
    ui: UiState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    """Below a watched path the key says why it does nothing."""
    monkeypatch.chdir(tmp_path / folder)
    before = sorted(tmp_path.rglob("*"))
    Actions(ui).do_write()
    assert "nothing is written where logs are" in ui.toast
    assert sorted(tmp_path.rglob("*")) == before


def test_the_directory_of_a_file_that_is_watched_is_one_of_logs(
    ui: UiState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`ppo-top progress.csv` does not write beside it."""
    log = tmp_path / "runs" / "a b" / "progress.csv"
    ui.paths = (log,)
    monkeypatch.chdir(log.parent)
    Actions(ui).do_write()
    assert "nothing is written where logs are" in ui.toast


def test_a_directory_that_cannot_be_written_to_is_named(
    ui: UiState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is too long for the system, a full disk: a line, and no traceback."""
    monkeypatch.setattr("ppo_top.output.series_file.MAX_NAME_CHARS", 400)
    monkeypatch.chdir(tmp_path)
    assert ui.run is not None
    ui.run.name = "x" * 400
    Actions(ui).do_write()
    assert "cannot be written" in ui.toast


def test_the_series_is_copied_up_to_the_row_shown(ui: UiState) -> None:
    """As steps and values that a spreadsheet takes."""
    ui.cursor.row = 2
    assert Actions(ui).series_to_copy(1000) == "step,value\n2048,24.0\n4096,28.0\n6144,32.0\n"
    assert ui.toast == "3 points sent to the terminal's clipboard"


def test_of_a_long_series_the_newest_points_are_copied(ui: UiState) -> None:
    """Terminals take so many characters at once; the rest is said to be missing."""
    text = Actions(ui).series_to_copy(64)
    assert len(text) <= 64
    assert text.splitlines()[0] == "step,value"
    assert text.splitlines()[-1].startswith("81920,")
    assert ui.toast.startswith(f"newest {len(text.splitlines()) - 1} of 40 points")


def test_without_a_chart_the_keys_say_where_they_work(ui: UiState) -> None:
    """Nothing is copied from the main page."""
    ui.overlay = ""
    assert Actions(ui).series_to_copy(1000) == ""
    assert ui.toast == "y copies the series of a chart: Enter opens it"
