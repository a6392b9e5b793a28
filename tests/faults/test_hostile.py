"""Text from strangers: names, tags and lines that try to draw, to move the cursor or to mislead."""

from __future__ import annotations

import csv
import json
import os
import unicodedata
from pathlib import Path

import pytest

from tests.support.installed_program import Tool, copy_of
from tests.support.program_in_terminal import ProgramTerminal

HOSTILE_TEXT = "a\x1b]0;owned\x07\x1b[3J\x9b31m\u202eb\u200b[red]c[/red]\r\nd"
FORBIDDEN_TEXT = ("\x1b]0;owned", "\x1b[3J", "\x9b", "\u202e", "\u200b", "\x07")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A run in a directory, with tags and with lines, that are all meant to do harm."""
    folder = tmp_path / "runs" / HOSTILE_TEXT.replace("/", "|")
    copy_of("torch_cartpole_lr", folder)
    rows = "".join(f"{step},{step * 1.5},{1 / (step + 1)}\n" for step in range(30))
    header = '"step","' + HOSTILE_TEXT.replace("\r\n", "") + '","loss"\n'
    (folder / "metrics.csv").write_text(header + rows)
    with open(folder / "stdout.log", "a") as log:
        log.write(f"Traceback (most recent call last):\nRuntimeError: {HOSTILE_TEXT}\n")
    return tmp_path / "runs"


def assert_harmless(text: str) -> None:
    """No control, format or surrogate character but line ends and tabs."""
    for sign in FORBIDDEN_TEXT:
        assert sign not in text
    bad = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\n\t"}
    assert not bad


@pytest.mark.parametrize("arguments", [["check"], ["status"], ["status", "--format", "tmux"]])
def test_printed_text_is_harmless(tmp_path: Path, runs: Path, arguments: list[str]) -> None:
    """Reports show such text and are not moved by it."""
    tool = Tool(tmp_path / "home", *arguments, runs)
    assert tool.end(60) in (0, 1), tool.errors
    assert tool.lines
    assert_harmless("".join(tool.lines + tool.errors))


def test_json_and_csv_escape_names(tmp_path: Path, runs: Path) -> None:
    """They escape what they must, and parse back to the same names."""
    tool = Tool(tmp_path / "home", "check", "--json", runs)
    tool.end(60)
    found = json.loads("".join(tool.lines))
    assert_harmless("".join(tool.lines))
    assert any("owned" in each["name"] for each in found["runs"])
    tool = Tool(tmp_path / "home", "export", runs, "--format", "csv", "--source", "all")
    assert tool.end(60) == 0
    rows = list(csv.reader("".join(tool.lines).splitlines(keepends=True)))
    assert {len(row) for row in rows} == {7}


def test_drawn_text_is_harmless(tmp_path: Path, runs: Path) -> None:
    """The screen shows such text and is not moved by it."""
    screen = ProgramTerminal(tmp_path / "home", runs)
    assert screen.wait_for_text("owned"), screen.output[-2000:]
    for key in (b"\r", b"\x1b", b"f", b"q"):
        os.write(screen.terminal, key)
        screen.read_output(0.3)
    assert screen.wait_for_exit() == 0
    screen.close()
    text = screen.output.decode()
    for sign in FORBIDDEN_TEXT[:-1]:  # the bell is our own
        assert sign not in text


def test_settings_among_the_logs_cannot_do_harm(tmp_path: Path, runs: Path) -> None:
    """Paths, commands and endless expressions in a stranger's file are ignored."""
    (runs / "ppo-top.toml").write_text(
        'console = ["(a+)+$"]\n'
        'command = "touch /tmp/owned"\n'
        f'[rules.kl-high]\nwarn = 1e400\ntext = "{"x" * 100}"\n'
        '[tags]\n"../../etc/passwd" = "approx_kl"\n'
    )
    tool = Tool(tmp_path / "home", "check", runs)
    assert tool.end(60) in (0, 1, 2), tool.errors
    assert not any("Traceback (most recent" in line for line in tool.errors)
    assert_harmless("".join(tool.lines + tool.errors))
