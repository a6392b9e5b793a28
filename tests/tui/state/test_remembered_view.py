"""How one looks at a directory is kept for the next session, privately and in bounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ppo_top.tui.state.actions import Actions
from ppo_top.tui.state.remembered_view import MAX_VIEWS, VIEWS_FILE, RememberedView
from ppo_top.tui.state.ui_state import UiState
from tests.support.screens import write_unhealthy_run
from tests.tui.conftest import MakeUiState


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A directory of one run."""
    write_unhealthy_run(tmp_path / "runs" / "a" / "progress.csv")
    return tmp_path / "runs"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A state directory that is not there yet."""
    return {"XDG_STATE_HOME": str(tmp_path / "state")}


def views_file(tmp_path: Path) -> Path:
    """Where views are kept."""
    return tmp_path / "state" / "ppo-top" / VIEWS_FILE


def changed_ui(make_ui_state: MakeUiState, runs: Path, view: RememberedView) -> UiState:
    """A session in which much was changed."""
    ui = make_ui_state(runs)
    view.restore(ui)
    actions = Actions(ui)
    actions.do_sort()
    actions.do_fold()
    actions.do_toggle_values()
    actions.do_pin()
    actions.do_zoom()
    actions.do_axis()
    actions.do_more_smooth()
    return ui


def test_the_next_session_looks_the_same(
    tmp_path: Path, make_ui_state: MakeUiState, runs: Path, environ: dict[str, str]
) -> None:
    """Of the same directory, however it is written; another one is not concerned."""
    view = RememberedView([runs], environ)
    view.save(changed_ui(make_ui_state, runs, view))
    again, other = make_ui_state(runs), make_ui_state(runs)
    RememberedView([runs / ".." / "runs"], environ).restore(again)
    RememberedView([tmp_path / "others"], environ).restore(other)
    assert (again.run_list.order, again.run_list.fold_seeds) == ("name", False)
    assert again.hidden_sections == {"values"}
    assert again.metrics.pinned == ("reward_mean",)
    assert (again.chart.axis, again.chart.smoothing) == ("time", 0.3)
    assert (other.run_list.order, other.hidden_sections) == ("severity", frozenset())
    assert views_file(tmp_path).stat().st_mode & 0o077 == 0


def test_nothing_is_written_that_did_not_change(
    tmp_path: Path, make_ui_state: MakeUiState, runs: Path, environ: dict[str, str]
) -> None:
    """Nor where the state directory lies among the logs."""
    ui = make_ui_state(runs)
    view = RememberedView([runs], environ)
    view.restore(ui)
    view.save(ui)
    assert not views_file(tmp_path).exists()
    among = RememberedView([runs], {"XDG_STATE_HOME": str(runs)})
    among.save(changed_ui(make_ui_state, runs, among))
    assert sorted(path.name for path in runs.iterdir()) == ["a"]


def test_a_few_hundred_directories_are_remembered(
    tmp_path: Path, make_ui_state: MakeUiState, runs: Path, environ: dict[str, str]
) -> None:
    """The one that was used longest ago goes first."""
    views_file(tmp_path).parent.mkdir(parents=True)
    views_file(tmp_path).write_text(json.dumps({f"/old/{n}": {} for n in range(MAX_VIEWS)}))
    view = RememberedView([runs], environ)
    view.save(changed_ui(make_ui_state, runs, view))
    kept = json.loads(views_file(tmp_path).read_text())
    assert len(kept) == MAX_VIEWS
    assert "/old/0" not in kept and "/old/1" in kept and list(kept)[-1] == str(runs)


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"KEY": 7}', '{"KEY": {"order": 5, "hidden": 3}}', '{"KEY": {"pinned": [1]}}'],
)
def test_a_broken_file_costs_only_the_memory(
    tmp_path: Path, make_ui_state: MakeUiState, runs: Path, environ: dict[str, str], content: str
) -> None:
    """Whatever stands in it, the screen is as at the first start."""
    views_file(tmp_path).parent.mkdir(parents=True)
    views_file(tmp_path).write_text(content.replace("KEY", str(runs)))
    ui = make_ui_state(runs)
    RememberedView([runs], environ).restore(ui)
    assert (ui.run_list.order, ui.metrics.pinned) == ("severity", ())
    assert not ui.hidden_sections


def test_a_write_that_fails_is_silent(
    tmp_path: Path, make_ui_state: MakeUiState, runs: Path
) -> None:
    """The state directory cannot be made: its parent is a file."""
    (tmp_path / "file").write_text("")
    view = RememberedView([runs], {"XDG_STATE_HOME": str(tmp_path / "file")})
    view.save(changed_ui(make_ui_state, runs, view))


def test_logs_of_another_machine_are_remembered_by_their_path_there(
    tmp_path: Path, make_ui_state: MakeUiState, runs: Path, environ: dict[str, str]
) -> None:
    """Copies lie in another folder each time."""
    view = RememberedView([tmp_path / "ppo-top-mirror-one" / "node3:" / "runs"], environ)
    view.save(changed_ui(make_ui_state, runs, view))
    again = make_ui_state(runs)
    RememberedView([tmp_path / "ppo-top-mirror-two" / "node3:" / "runs"], environ).restore(again)
    assert again.run_list.order == "name"
    assert list(json.loads(views_file(tmp_path).read_text())) == ["node3:/runs"]
