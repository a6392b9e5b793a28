"""`ppo-top host:/runs`, by a stand-in for ssh: commands work as on paths of this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from ppo_top.cli import main
from tests.support.far_sides import python_of_a_slow_clock
from tests.support.installed_program import Tool, copy_of
from tests.support.program_in_terminal import ProgramTerminal
from tests.support.stand_in_ssh import __file__ as STAND_IN

SSH = f"{sys.executable} {STAND_IN} --only-host node3"


@pytest.fixture(autouse=True)
def by_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every ssh is the stand-in; returns where copies are put."""
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setenv("PPO_TOP_SSH", SSH)
    monkeypatch.setenv("TMPDIR", str(copies))
    monkeypatch.setattr("tempfile.tempdir", None)
    return copies


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A sick and a healthy run."""
    copy_of("torch_cartpole_lr", tmp_path / "runs" / "sick")
    copy_of("sb3_cartpole", tmp_path / "runs" / "well")
    return tmp_path / "runs"


def report(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What `check --json` prints."""
    main(["check", "--json", "--no-cache", *arguments])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_verdict_is_that_of_the_same_logs_here(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All but names and paths, which begin with the host."""
    here, there = report([str(runs)], capsys), report([f"node3:{runs}"], capsys)
    assert len(here["runs"]) == 2
    for local, remote in zip(here["runs"], there["runs"], strict=True):
        assert remote.pop("name") == f"node3: {local.pop('name')}"
        assert remote.pop("path") == f"node3:{local.pop('path')}"
        remote.pop("restart"), local.pop("restart")  # checkpoints there are not listed
        assert remote == local


def test_hosts_and_paths_of_this_machine_stand_side_by_side(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs of one name are told apart; each keeps its own name."""
    found = report([f"node3:{runs}/sick", str(runs / "sick"), f"node3:{runs}/well"], capsys)
    names = {run["name"]: run["path"] for run in found["runs"]}
    assert names == {
        "node3: sick": f"node3:{runs}/sick",
        "sick": f"{runs}/sick",
        "node3: well": f"node3:{runs}/well",
    }


def test_no_text_holds_a_path_of_the_copies(
    runs: Path, capsys: pytest.CaptureFixture[str], by_stand_in: Path
) -> None:
    """Whatever is printed: reports, what was passed over, what cannot be read, points."""
    (runs / "notes.txt").write_text("nothing of interest")
    (runs.parent / "shopping.txt").write_text("milk, and bread")  # named, so that it is a problem
    (runs / "empty.log").touch()
    (runs / "broken.csv").write_bytes(b"\0\1\2" * 100)
    for command in (
        ["check", "-v"],
        ["check", "--json"],
        ["status"],
        ["export", "--format", "csv"],
        ["report", "-o", "-"],
    ):
        main([*command, f"node3:{runs}", f"node3:{runs}/sick", f"node3:{runs.parent}/shopping.txt"])
        said = "".join(capsys.readouterr())
        assert "node3: sick" in said
        assert str(by_stand_in) not in said, command
    main(["check", f"node3:{runs}/notes.txt"])
    said = "".join(capsys.readouterr())
    assert f"node3:{runs}/notes.txt: nothing here that I can read" in said


def test_a_host_that_fails_takes_down_only_itself(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others are judged, and the exit code says that not all could be looked at."""
    code = main(["check", f"nowhere:{runs}", f"node3:{runs}/well"])
    out, err = capsys.readouterr()
    assert code == 2
    assert "node3: well" in out
    assert err.startswith("ppo-top: nowhere: cannot connect: ssh: Could not resolve hostname")
    assert main(["check", f"node3:{runs}/well"]) == 0


def test_a_wrong_clock_leaves_no_log_unjudged(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is told, and times are corrected by it: a healthy run passes."""
    slow = python_of_a_slow_clock(tmp_path)
    code = main(["check", "--remote-python", slow, f"node3:{runs}/well"])
    out, err = capsys.readouterr()
    assert (code, "not judged" in out) == (0, False)
    assert err.startswith("ppo-top: node3: its clock is ")


@pytest.mark.parametrize("command", [["check"], ["status"], ["export", "--format", "csv"]])
def test_without_any_path_there_is_an_error(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Code 2, one line for each path, nothing on standard output."""
    assert main([*command, "nowhere:/runs", "node3:/nonexistent/runs"]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 2)
    assert "ppo-top: node3:/nonexistent/runs: no such file or directory\n" in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--ssh", "'"], "--ssh: No closing quotation"),
        (["--ssh", ""], "--ssh: no command"),
        (["--remote-python", "python3; rm -rf x"], "expected the name or the path of a program"),
        (["--remote-space", "much"], "expected a size: 500MB, 1GiB"),
        (["--", "-oProxyCommand=x:/runs"], "not the name of a host"),
    ],
)
def test_wrong_options_are_told_before_anything_is_started(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Code 2 and a line."""
    try:
        code = main(["check", "node3:/runs", *options])
    except SystemExit as ended:
        code = int(str(ended.code))
    assert code == 2
    assert said in capsys.readouterr().err


def test_a_program_of_the_users_takes_the_place_of_python_there(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its path, which may begin with that of the home there."""
    shutil.copy(shutil.which("true") or "/bin/true", tmp_path / "my-python")
    assert main(["status", "--remote-python", str(tmp_path / "my-python"), f"node3:{runs}"]) == 2
    assert "node3: cannot connect: ssh ended with code 0" in capsys.readouterr().err


def test_without_room_for_copies_there_is_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is started."""
    monkeypatch.setattr("tempfile.tempdir", "/nonexistent")
    assert main(["check", "node3:/runs"]) == 2
    assert capsys.readouterr().err == (
        "ppo-top: /nonexistent: no room for copies: no such file or directory\n"
    )


def test_a_settings_file_there_is_not_used(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Settings come from this machine."""
    (runs / "ppo-top.toml").write_text("nonsense")
    assert report([f"node3:{runs}"], capsys)["runs"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_following_goes_on_as_logs_grow_and_leaves_nothing_behind(
    runs: Path, tmp_path: Path, by_stand_in: Path, ending: signal.Signals
) -> None:
    """A host that fails is one line, however often it is tried again."""
    words = (f"node3:{runs}/well", f"nowhere:{runs}")
    tool = Tool(tmp_path / "home", "check", "--follow", *words)
    assert tool.says("node3: well: ", 60), tool.errors
    copy_of("torch_cartpole_nan", runs / "well" / "late")
    assert tool.says("node3: late: died", 60), tool.errors
    assert len(list(by_stand_in.iterdir())) == 2
    tool.stop(ending)
    assert list(by_stand_in.iterdir()) == []
    assert sum("nowhere" in line for line in tool.errors) == 1


def test_the_monitor_shows_runs_of_another_machine(
    runs: Path, tmp_path: Path, by_stand_in: Path
) -> None:
    """And says in its first line which machine it cannot reach."""
    screen = ProgramTerminal(tmp_path / "home", f"node3:{runs}", f"nowhere:{runs}")
    assert screen.wait_for_text("node3: sick", 60), screen.output[-2000:]
    assert screen.wait_for_text("nowhere: no connection", 60), screen.output[-2000:]
    os.write(screen.terminal, b"q")
    assert screen.wait_for_exit(60) == 0
    screen.close()
    assert list(by_stand_in.iterdir()) == []
