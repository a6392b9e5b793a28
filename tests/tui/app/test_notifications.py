"""Notifications outside the screen: once per red finding, with only plain text of a log."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from ppo_top.model import Verdict
from ppo_top.tui.app.notifications import Notifier
from ppo_top.tui.state.listed_run import ListedRun
from ppo_top.tui.state.ui_state import UiState
from ppo_top.views.run_view import make_run_view
from tests.support.growing_logs import DEMO_LOGS_FOLDER
from tests.tui.conftest import MakeUiState


@pytest.fixture
def written() -> list[str]:
    """What was written to the terminal."""
    return []


def test_it_rings_once_when_a_run_turns_red(sick: UiState, written: list[str]) -> None:
    """From amber to red it rings; while it stays red it is silent."""
    (run,) = sick.listed_runs()
    notifier = Notifier(written.append, environment={"TERM": "xterm"})
    assert notifier.note_verdict(replace(run, verdict=Verdict.WARN), notify=True) == ""
    assert notifier.note_verdict(run, notify=True) == f"sick: {run.worst.title}"
    assert notifier.note_verdict(run, notify=True) == ""
    assert written == ["\x07"]


def test_it_names_the_finding_that_the_list_names(
    make_ui_state: MakeUiState, written: list[str]
) -> None:
    """Neither one that is over nor one that is acknowledged, however bad it was."""
    ui = make_ui_state(DEMO_LOGS_FOLDER / "torch_cartpole_lr")
    run = ui.run
    assert run is not None
    worst, second, *_ = (opened.finding for opened in make_run_view(run).open_findings)
    ui.acknowledgements.acknowledge(run.place, worst.rule, worst.since.step)
    ui.invalidate()
    (listed,) = ui.listed_runs()
    text = Notifier(written.append).note_verdict(replace(listed, verdict=Verdict.CRIT), True)
    assert text == f"{run.name}: {second.title}"


def test_what_was_red_at_the_start_does_not_ring(sick: UiState, written: list[str]) -> None:
    """Opening old logs is silent."""
    (run,) = sick.listed_runs()
    notifier = Notifier(written.append, environment={})
    notifier.note_verdict(run, notify=False)
    notifier.note_verdict(run, notify=True)
    assert written == []


def test_desktop_notifications_without_a_bell(sick: UiState, written: list[str]) -> None:
    """OSC 9 carries the words, in the one sequence that was asked for."""
    (run,) = sick.listed_runs()
    notifier = Notifier(written.append, bell=False, desktop=True, environment={})
    notifier.note_verdict(replace(run, verdict=Verdict.UNJUDGED), notify=True)
    notifier.note_verdict(replace(run, name="x\x1b]0;owned\x07"), notify=True)
    assert len(written) == 1
    assert written[0].startswith("\x1b]9;ppo-top: x") and written[0].endswith("\x1b\\")
    assert written[0].count("\x1b") == 2 and "\x07" not in written[0]


def turn_red_in_tmux(run: ListedRun, written: list[str]) -> None:
    """A run turns red below tmux; returns when the command that tells of it has ended."""
    before = set(threading.enumerate())
    notifier = Notifier(written.append, tmux=True, environment={"TMUX": "/tmp/tmux,1,0"})
    notifier.note_verdict(run, notify=True)
    for thread in set(threading.enumerate()) - before:
        thread.join()


def test_tmux_shows_it_and_leaves_no_process(
    sick: UiState, written: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words are one argument, in which tmux finds nothing to execute; its end is waited for."""
    tmux = tmp_path / "tmux"
    tmux.write_text(f'#!/bin/sh\nprintf "%s\\n" $$ "$@" > "{tmp_path}/called"\n')
    tmux.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    (run,) = sick.listed_runs()
    turn_red_in_tmux(replace(run, name="x#(touch y)"), written)
    pid, command, text = (tmp_path / "called").read_text().splitlines()
    assert command == "display-message"
    assert text.startswith("ppo-top: x##(touch y): ")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_without_tmux_on_the_path_the_bell_rings_alone(
    sick: UiState, written: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container that was entered from a pane of tmux."""
    monkeypatch.setenv("PATH", str(tmp_path))
    (run,) = sick.listed_runs()
    turn_red_in_tmux(run, written)
    assert written == ["\x07"]


def test_the_title_is_set_when_it_changes_and_given_back(written: list[str]) -> None:
    """The old title is kept by the terminal and restored."""
    notifier = Notifier(written.append, environment={"TERM": "xterm"})
    notifier.set_title("ppo-top")
    notifier.set_title("ppo-top")
    notifier.set_title("ppo-top: 1 of 3 runs red")
    notifier.restore_title()
    assert written == [
        "\x1b[22;2t",
        "\x1b]2;ppo-top\x1b\\",
        "\x1b]2;ppo-top: 1 of 3 runs red\x1b\\",
        "\x1b[23;2t",
    ]
