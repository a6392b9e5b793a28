"""Reading a store: its runs, a file that is replaced, reading again, and a store with a bug."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppo_top.files.reading.store_reader import StoreReader
from ppo_top.files.tail import Tail
from ppo_top.files.update import Source, SourceUpdate
from ppo_top.model import Batch, Points
from ppo_top.parsers.base import Format
from ppo_top.support import internal_errors


class FakeStore:
    """Holds the lines of a file, each `run value`; a line `bug` raises."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.line = 0

    def poll(self, limit: int) -> Batch:
        """One line as a batch of its run."""
        lines = self.path.read_text().splitlines()[self.line :]
        if not lines:
            return Batch()
        self.line += 1
        run, value = lines[0].split()
        points = Points("loss", array("q", [1]), array("d", [5.0]), array("d", [float(value)]))
        return Batch([points], stored_run=run)

    def side_files_changed(self) -> bool:
        """There are none."""
        return False

    def close(self) -> None:
        """Nothing is held."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of two runs."""
    path = tmp_path / "runs.db"
    path.write_text("a 1\nb 2\n")
    return path


@pytest.fixture(autouse=True)
def no_error_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bugs on purpose are not noted in the user's directory."""
    monkeypatch.setattr(internal_errors, "_no_write_paths", [Path("/")])


def reader_of(path: Path) -> StoreReader:
    """A reader of a store in `logs/`."""
    format_ = Format("fake", lambda name, head: True, store=FakeStore)
    source = Source("logs/runs.db", path, path.parent, format_)
    return StoreReader(source, Tail(str(path)), FakeStore)


def updates(reader: StoreReader) -> Iterator[SourceUpdate]:
    """All updates there are now."""
    while reader.has_changed() or reader.more:
        update = reader.read_update(100)
        if update is not None:
            yield update


def replace_file(path: Path, text: str) -> None:
    """A new file with the old name."""
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    os.replace(fresh, path)  # noqa: PTH105


def test_each_run_is_a_source_and_the_end_is_reported(path: Path) -> None:
    """The last update of a backlog is empty and says that there is no more."""
    found = list(updates(reader_of(path)))
    assert [update.source.key for update in found] == [
        "logs/a/runs.db",
        "logs/b/runs.db",
        "logs/runs.db",
    ]
    assert [update.more for update in found] == [True, True, False]
    assert [update.mtime for update in found[:2]] == [5.0, 5.0]
    assert not any(update.reset for update in found)


@pytest.mark.parametrize("how", ["replaced", "reread"])
def test_every_known_run_is_reset_when_the_store_is_read_again(path: Path, how: str) -> None:
    """Whether the file is a new one or the caller wants its points back."""
    reader = reader_of(path)
    list(updates(reader))
    assert not reader.has_changed()
    if how == "replaced":
        replace_file(path, "a 3\nb 4\n")
    else:
        reader.reread()
    resets = {update.source.key for update in updates(reader) if update.reset}
    assert resets == {"logs/a/runs.db", "logs/b/runs.db"}
    assert not reader.has_changed()


def test_a_bug_in_a_store_ends_its_source_until_the_file_is_replaced(path: Path) -> None:
    """It is one problem, not an exception; the points before it stay."""
    path.write_text("a 1\nbug\n")
    reader = reader_of(path)
    *_, last = updates(reader)
    assert "parser failed: ValueError" in last.batch.problems[0].message
    path.write_text("a 1\nbug\nb 2\n")
    assert list(updates(reader)) == []
    replace_file(path, "a 7\n")
    assert [update.reset for update in updates(reader) if update.batch] == [True]


def test_a_store_that_cannot_be_opened_is_a_problem(path: Path) -> None:
    """So the user sees that there is a file, and why nothing of it is shown."""

    def broken(_: Path) -> FakeStore:
        raise RuntimeError("no such table")

    reader = reader_of(path)
    reader.open_store = broken
    (update,) = updates(reader)
    assert "no such table" in update.batch.problems[0].message


def test_a_deleted_store_is_no_new_one(path: Path) -> None:
    """Only a file that is there can replace another."""
    reader = reader_of(path)
    list(updates(reader))
    path.rename(path.with_suffix(".away"))
    assert reader._is_replaced(reader._stamp_now()) is False
