"""Remembering acknowledged and muted findings."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest

from ppo_top.support.acknowledgements import (
    ACKNOWLEDGEMENTS_FILE,
    MAX_ACKNOWLEDGEMENTS,
    Acknowledgements,
)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An empty state directory."""
    return {"XDG_STATE_HOME": str(tmp_path / "state")}


def test_an_acknowledged_finding_is_known_the_next_time(environ: dict[str, str]) -> None:
    """The note holds for this finding, not for a later one of the same rule."""
    Acknowledgements(environ=environ).acknowledge("/runs/a", "kl-high", 4096, "a test of mine")
    again = Acknowledgements(environ=environ)
    note = again.find("/runs/a", "kl-high", 4096)
    assert note is not None
    assert note.reason == "a test of mine"
    assert again.find("/runs/a", "kl-high", 8192) is None
    assert again.find("/runs/b", "kl-high", 4096) is None


def test_a_muted_rule_is_silent_in_its_run(environ: dict[str, str]) -> None:
    """Muting hides every finding of the rule in this run until it is revoked."""
    memory = Acknowledgements(environ=environ)
    memory.mute("/runs/a", "kl-high")
    assert Acknowledgements(environ=environ).find("/runs/a", "kl-high", 123) is not None
    memory.revoke("/runs/a", "kl-high")
    assert Acknowledgements(environ=environ).find("/runs/a", "kl-high", 123) is None


def test_two_monitors_keep_the_notes_of_both(environ: dict[str, str]) -> None:
    """Both are open when the first one notes something; either takes back what both noted."""
    first, second = Acknowledgements(environ=environ), Acknowledgements(environ=environ)
    first.acknowledge("/runs/a", "kl-high", 4096)
    second.mute("/runs/b", "kl-high")
    second.revoke("/runs/a", "kl-high")
    first.acknowledge("/runs/c", "kl-high", 8192)
    for each in (first, Acknowledgements(environ=environ)):
        assert [note.run for note in each.notes] == ["/runs/b", "/runs/c"]


def test_a_note_that_could_not_be_written_is_written_with_the_next_one(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    """Nor is it forgotten when the notes of another monitor are read."""
    memory = Acknowledgements(environ=environ)
    (tmp_path / "state").write_text("")
    memory.mute("/runs/a", "kl-high")
    (tmp_path / "state").unlink()
    Acknowledgements(environ=environ).mute("/runs/b", "kl-high")
    memory.mute("/runs/c", "kl-high")
    known = [note.run for note in Acknowledgements(environ=environ).notes]
    assert sorted(known) == ["/runs/a", "/runs/b", "/runs/c"]


def test_nothing_is_written_where_logs_live(tmp_path: Path) -> None:
    """A state directory inside the watched path is not used; the session still remembers."""
    memory = Acknowledgements([tmp_path], {"XDG_STATE_HOME": str(tmp_path / "runs" / "state")})
    memory.mute("/runs/a", "kl-high")
    assert memory.find("/runs/a", "kl-high", 1) is not None
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_before_the_first_acknowledgement(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    """Looking alone leaves no trace."""
    assert Acknowledgements(environ=environ).find("/runs/a", "kl-high", 1) is None
    assert list(tmp_path.iterdir()) == []


GOOD_NOTE = {"run": "/runs/b", "rule": "kl-high", "step": None, "reason": "", "time": 1.0}


def damaged(**values: object) -> str:
    """A file whose second note holds values that none of ours has."""
    return json.dumps([GOOD_NOTE, {**GOOD_NOTE, **values}])


@pytest.mark.parametrize(
    "content",
    [
        *("{", "[1]", '[{"who": 1}]', "[" * 100_000, "null", "{}", '""'),
        damaged(run=["x"]),
        damaged(rule=None),
        damaged(step="4096"),
        damaged(step=True),
        damaged(reason=3),
        damaged(time="yesterday"),
    ],
)
def test_a_damaged_file_is_left_as_it_is(
    tmp_path: Path, environ: dict[str, str], content: str
) -> None:
    """It is reported and not overwritten, and the session goes on."""
    path = tmp_path / "state" / "ppo-top" / ACKNOWLEDGEMENTS_FILE
    path.parent.mkdir(parents=True)
    path.write_text(content)
    memory = Acknowledgements(environ=environ)
    memory.mute("/runs/a", "kl-high")
    assert "cannot read" in memory.problem
    assert path.read_text() == content


def test_a_directory_that_cannot_be_written_is_no_crash(tmp_path: Path) -> None:
    """A file is where the state directory should be."""
    (tmp_path / "state").write_text("")
    memory = Acknowledgements(environ={"XDG_STATE_HOME": str(tmp_path / "state")})
    memory.mute("/runs/a", "kl-high")
    assert "cannot write" in memory.problem
    assert memory.find("/runs/a", "kl-high", 1) is not None


def test_the_oldest_notes_are_forgotten(environ: dict[str, str], tmp_path: Path) -> None:
    """The file does not grow for ever."""
    clock = count()
    memory = Acknowledgements(environ=environ, clock=lambda: float(next(clock)))
    write, memory._write = memory._write, lambda: None  # type: ignore[method-assign]
    for step in range(MAX_ACKNOWLEDGEMENTS + 10):
        memory.acknowledge("/runs/a", "kl-high", step)
    write()
    kept = json.loads((tmp_path / "state" / "ppo-top" / ACKNOWLEDGEMENTS_FILE).read_text())
    assert len(kept) == MAX_ACKNOWLEDGEMENTS
    assert kept[0]["step"] == 10
