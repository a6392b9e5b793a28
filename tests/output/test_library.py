"""`ppo_top.check` and `ppo_top.points`: the commands' answers, for scripts and notebooks."""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import ppo_top
from ppo_top.cli import main
from ppo_top.output.export import EXPORT_COLUMNS
from ppo_top.support import internal_errors
from tests.support.growing_logs import DEMO_LOGS_FOLDER
from tests.support.installed_program import copy_of
from tools.docs import ROOT

SICK, HEALTHY = DEMO_LOGS_FOLDER / "torch_cartpole_lr", DEMO_LOGS_FOLDER / "sb3_cartpole"
DOCUMENT = (ROOT / "docs" / "library.md").read_text("utf-8")


def example(name: str) -> str:
    """A code block of docs/library.md."""
    found = re.search(rf"<!-- {name} -->\n```python\n(.*?)^```", DOCUMENT, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sick and a healthy run below `runs`, in the current directory."""
    for path in (SICK, HEALTHY):
        shutil.copytree(path, tmp_path / "runs" / path.name)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def test_check_is_the_object_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a path, as text or not, and of several."""
    for given, words in ((str(SICK), [SICK]), (SICK, [SICK]), ([HEALTHY, SICK], [HEALTHY, SICK])):
        found = ppo_top.check(given)
        assert capsys.readouterr() == ("", "")
        main(["check", "--json", *map(str, words)])
        assert json.loads(capsys.readouterr().out) == found


def test_where_nothing_may_be_written_is_forgotten_after_each_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook that checks run after run keeps no list of them, and may watch one meanwhile."""
    monkeypatch.setattr(internal_errors, "_reported", {})
    monkeypatch.setattr(internal_errors, "_no_write_paths", [])
    runs = [copy_of("sb3_cartpole", tmp_path / name) for name in ("once", "watched")]
    internal_errors.forbid_writes_below([runs[1]])  # as a monitor in this process does
    written = []
    for run in runs:
        ppo_top.check(run)
        said = internal_errors.report_internal_error(
            run.name, RuntimeError("boom"), {"XDG_STATE_HOME": str(run / "state")}
        )
        written.append("errors.log" in said)
    assert written == [True, False]


def test_a_goal_and_settings_count(tmp_path: Path) -> None:
    """As on the command line."""
    file = tmp_path / "mine.toml"
    rule = 'id = "poor"\nmetric = "reward_mean"\nbelow = 600\nseverity = "crit"'
    file.write_text(f"[[rule]]\n{rule}\n")
    (run,) = ppo_top.check(HEALTHY, settings=file)["runs"]
    assert (run["verdict"], run["open"]) == ("crit", ["poor"])
    (run,) = ppo_top.check(HEALTHY, goal=10_000.0)["runs"]
    assert (run["verdict"]) != "crit"


def test_a_goal_that_is_no_finite_number_is_an_error() -> None:
    """As on the command line."""
    with pytest.raises(ValueError, match="goal is nan, expected a finite number"):
        ppo_top.check(HEALTHY, goal=float("nan"))


@pytest.mark.parametrize("source", ["all", "best"])
def test_points_are_the_rows_of_export(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With the same columns and values, and what the steps are; a missing time is NaN."""
    main(["export", "--format", "csv", "--source", source, str(SICK)])
    head, *rows = csv.reader(capsys.readouterr().out.splitlines())
    found = list(ppo_top.points(SICK, source))
    assert capsys.readouterr() == ("", "")
    assert head == list(EXPORT_COLUMNS)
    assert (*EXPORT_COLUMNS, "axis") == ppo_top.Point._fields
    assert {point.axis for point in found} == {"step"}
    for point, row in zip(found, rows, strict=True):
        when = "" if math.isnan(point.time) else repr(point.time)
        assert [*map(str, point[:5]), when, repr(point.value)] == row


def test_points_may_be_left_early() -> None:
    """Nothing is read before the first is asked for, and nothing stays open after the last."""
    nothing = ppo_top.points("/no/such/place")
    first = next(ppo_top.points(SICK))
    assert first.run == SICK.name
    with pytest.raises(ppo_top.CouldNotLook, match="/no/such/place: no such file or directory"):
        next(nothing)


@pytest.mark.parametrize(
    ("paths", "why"),
    [
        ("/no/such/place", "^/no/such/place: no such file or directory$"),
        ([], "no paths"),
        ("", "an empty path"),
        (ROOT / "docs", "nothing here that I can read as a training log"),
    ],
)
def test_nothing_to_look_at_is_an_exception(paths: Any, why: str) -> None:
    """Its text is what the command says."""
    with pytest.raises(ppo_top.CouldNotLook, match=why):
        ppo_top.check(paths)


def test_settings_that_cannot_be_read_are_an_exception(tmp_path: Path) -> None:
    """The verdict would be another one."""
    with pytest.raises(ppo_top.CouldNotLook, match=r"no\.toml: no such file"):
        ppo_top.check(SICK, settings=tmp_path / "no.toml")


def test_remarks_go_to_a_function(tmp_path: Path) -> None:
    """What the command says on standard error, without its name in front."""
    shutil.copytree(HEALTHY, tmp_path / "run")
    (tmp_path / "ppo-top.toml").write_text("gaol = 3\n")
    said: list[str] = []
    ppo_top.check(tmp_path, warn=said.append)
    assert [line for line in said if "unknown key 'gaol'" in line]
    assert not [line for line in said if line.startswith("ppo-top: ")]


def test_another_source_is_an_error() -> None:
    """At the call."""
    with pytest.raises(ValueError, match="expected one of all, best"):
        ppo_top.points(SICK, "worst")


def test_the_example_of_a_test_fails_for_a_sick_run(runs: Path) -> None:
    """And passes for a healthy one."""
    names: dict[str, Any] = {}
    exec(example("test"), names)
    (runs / "latest").symlink_to(HEALTHY)
    names["test_the_training_stays_healthy"]()
    (runs / "latest").unlink()
    (runs / "latest").symlink_to(SICK)
    with pytest.raises(AssertionError, match="updates-too-large"):
        names["test_the_training_stays_healthy"]()


@pytest.mark.usefixtures("runs")
def test_the_example_of_a_notebook_gives_a_table_of_runs() -> None:
    """The blocks of the document, one after the other."""
    pytest.importorskip("pandas", reason="the example makes frames of pandas")
    names: dict[str, Any] = {}
    for name in ("frame", "wide", "verdicts"):
        exec(example(name), names)
    assert list(names["points"].columns) == [*EXPORT_COLUMNS, "axis"]
    summary = names["summary"]
    assert dict(summary["verdict"]) == {SICK.name: "crit", HEALTHY.name: "healthy"}
    assert summary["reward_mean"][HEALTHY.name] > summary["reward_mean"][SICK.name]
