"""How one looks at a directory is kept for the next session, privately and in bounds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ppo_top.tui.state.actions import Actions
from ppo_top.tui.state.remembered_view import MAX_VIEWS, VIEWS_FILE, RememberedView
from ppo_top.tui.state.ui_state import UiState
from tests.support.screens import FakeClock, drawn_text, write_unhealthy_run
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


@pytest.mark.parametrize(
    ("away", "told"), [(60.0, ""), (3 * 3600.0, "(3 h): 1 turned red (a); 1 new (b)")]
)
def test_the_next_session_tells_what_happened_meanwhile(
    make_ui_state: MakeUiState, runs: Path, environ: dict[str, str], away: float, told: str
) -> None:
    """As to somebody who left the screen alone for so long; it stays until a key is pressed."""
    write_unhealthy_run(runs / "a" / "progress.csv", broken_from=99)
    ui = make_ui_state(runs)
    ui.note_input()
    RememberedView([runs], environ).save(ui)
    for name in ("a", "b"):
        write_unhealthy_run(runs / name / "progress.csv", broken_from=20 if name == "a" else 99)
    later = make_ui_state(runs)
    later.clock = FakeClock(ui.clock() + away)
    RememberedView([runs], environ).restore(later)
    assert later.news().endswith(told) and bool(later.news()) is bool(told)
    assert any(told in row for row in drawn_text(later, 140, 40))
    later.note_input()
    assert later.news() == ""


@pytest.mark.parametrize(
    "kept", [{"at": "x"}, {"runs": {"a": ["a", "great", "live"]}}, {"runs": 1}, []]
)
def test_what_is_not_understood_of_it_is_nothing(
    make_ui_state: MakeUiState, runs: Path, environ: dict[str, str], tmp_path: Path, kept: object
) -> None:
    """A file of another version costs the news, not the view."""
    view = RememberedView([runs], environ)
    view.save(changed_ui(make_ui_state, runs, view))
    views = json.loads(views_file(tmp_path).read_text())
    for each in views.values():
        each["seen"] = kept
    views_file(tmp_path).write_text(json.dumps(views))
    ui = make_ui_state(runs)
    RememberedView([runs], environ).restore(ui)
    assert ui.news() == ""
    assert ui.hidden_sections == {"values"}


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
