"""A log that states no step: its updates are counted, and every view calls them updates."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ppo_top.cli import main
from ppo_top.output.reports.html_report import html_report
from tests.support.screens import read_session, write_unhealthy_console

STEP = re.compile(r"\bstep \d")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """What a command prints."""
    main([str(each) for each in arguments])
    return capsys.readouterr().out


def run_object(capsys: pytest.CaptureFixture[str], log: Path) -> dict[str, Any]:
    """The one run of `check --json`."""
    (run,) = json.loads(printed(capsys, "check", "--json", log))["runs"]
    found: dict[str, Any] = run
    return found


@pytest.fixture
def counted(tmp_path: Path) -> Path:
    """A console without a step; from update 20 on its policy updates are far too large."""
    return write_unhealthy_console(tmp_path / "counted" / "train.log")


@pytest.fixture
def stated(tmp_path: Path) -> Path:
    """The same with `step=2048` and so on in each line."""
    return write_unhealthy_console(tmp_path / "stated" / "train.log", "step={step} | ")


def test_json_says_what_a_step_is(counted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`axis` is `update`, and the log says why."""
    run = run_object(capsys, counted)
    progress = run["progress"]
    assert [progress[name] for name in ("axis", "step", "updates")] == ["update", 40, 40]
    (source,) = run["sources"]
    assert source["notes"] == ["the log states no step: its updates are counted"]


def test_a_table_without_a_step_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a CSV the number of the row."""
    table = tmp_path / "progress.csv"
    table.write_text("mean reward,approx kl\n" + "1.5,0.01\n" * 12)
    assert run_object(capsys, table)["progress"]["axis"] == "update"


def test_a_stated_step_is_a_step(stated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In JSON and in the report."""
    run = run_object(capsys, stated)
    assert run["progress"]["axis"] == "step"
    assert run["sources"][0]["notes"] == []
    text = printed(capsys, "check", stated)
    assert "step 81,920 · 40 updates" in text and "since step 40,960" in text


def test_a_step_that_is_stated_late_counts(stated: Path) -> None:
    """A line before the training has none; the run has a step all the same."""
    stated.write_text("mean reward: 12.0\n" + stated.read_text())
    (run,) = read_session([stated]).runs.values()
    assert run.timeline.axis == "step"


def test_reports_say_update(counted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Text, status line and page: nowhere is a counted update called a step."""
    text = printed(capsys, "check", counted)
    assert "update 40" in text and "since update 20" in text
    assert not STEP.search(text)
    assert "update 40" in printed(capsys, "status", counted)
    for other in ("markdown", "github", "junit"):
        text = printed(capsys, "check", "--format", other, counted)
        assert "update 20" in text and not STEP.search(text)
    page = html_report(read_session([counted]).runs.values(), now=0.0)
    assert "update 40" in page and "since update 20" in page
    assert not STEP.search(page)


def test_tables_of_several_runs_say_update(
    counted: Path, stated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside a run whose steps are known, each by its own."""
    lines = printed(capsys, "check", counted, stated).splitlines()
    rows = {line.split()[1]: line for line in lines if line.startswith("✗ ")}
    assert "update 20" in rows["counted"]
    assert " 40,960 " in rows["stated"]


def test_export_says_what_a_step_is(counted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON lines have `axis`; the columns of CSV stay, and it is told on standard error."""
    for source in ("all", "best"):
        lines = printed(capsys, "export", "--format", "jsonl", "--source", source, counted)
        assert {json.loads(line)["axis"] for line in lines.splitlines()} == {"update"}
    main(["export", "--format", "csv", str(counted)])
    written = capsys.readouterr()
    assert written.out.startswith("run,source,tag,concept,step,time,value\n")
    assert written.err == "ppo-top: counted: no log states a step; its updates are counted\n"
