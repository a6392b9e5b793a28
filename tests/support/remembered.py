"""Finished runs to judge twice, and which files are opened for it."""

from __future__ import annotations

import contextlib
import io
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from ppo_top import cli
from ppo_top.files.reading.store_reader import StoreReader
from ppo_top.files.tail import Tail
from tests.support.installed_program import copy_of

NAMES = ("sb3_cartpole", "torch_cartpole_lr", "trl_grpo_lr1e-1")
"""Shipped runs: event files, tables and an archive of evaluations; a console; dictionaries."""


def age(folder: Path, seconds: float = 2 * 24 * 3600.0) -> None:
    """Make everything below a folder as old as if it had been written then."""
    then = time.time() - seconds
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (then, then))


def finished_runs(folder: Path) -> Path:
    """A directory of runs that ended two days ago."""
    for name in NAMES:
        copy_of(name, folder / name)
    age(folder)
    return folder


class Printed:
    """What a command printed, without what the time of day decides."""

    def __init__(self, *arguments: str | Path) -> None:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            self.code = cli.main([str(each) for each in arguments])
        self.out = re.sub(r"no new data for [\w ]+", "", out.getvalue())
        self.err = err.getvalue()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Printed) and vars(self) == vars(other)

    def __repr__(self) -> str:
        return f"{self.code} {self.err!r} {self.out[:200]!r}"


@contextlib.contextmanager
def opened_files() -> Iterator[set[str]]:
    """The paths of the logs that are opened meanwhile."""
    opened: set[str] = set()
    read_bytes, read_store = Tail.read_new_bytes, StoreReader.read_update

    def note_bytes(tail: Tail, *limits: int) -> object:
        opened.add(tail.path)
        return read_bytes(tail, *limits)

    def note_store(store: StoreReader, limit: int) -> object:
        opened.add(store.tail.path)
        return read_store(store, limit)

    with (
        mock.patch.object(Tail, "read_new_bytes", note_bytes),
        mock.patch.object(StoreReader, "read_update", note_store),
    ):
        yield opened
