"""Following whole trees: order, bounds, late formats, pipes, stores, closing."""

from __future__ import annotations

import math
import os
import re
import threading
import time
from collections.abc import Iterator
from io import BytesIO
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.files.follower import Follower
from ppo_top.files.log_set import MAX_LOGS_OF_A_RUN
from ppo_top.model import Batch, Problem
from ppo_top.parsers.base import Format
from ppo_top.parsers.file_names import ANY_FILE_NAME, formats_by_module, is_file_name
from ppo_top.parsers.shared.columns import ColumnBuilder
from tests.support.number_log import (
    FORMAT,
    NUMBER_FILE_NAMES,
    FollowerHarness,
    GrowingFile,
    detect_number_format,
    read_everything,
)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """An empty directory to watch."""
    path = tmp_path / "runs"
    path.mkdir()
    return path


@pytest.fixture
def reader(runs: Path) -> Iterator[FollowerHarness]:
    """A follower of that directory, with its own clock."""
    reader = FollowerHarness(runs)
    yield reader
    reader.follower.close()


def test_points_come_as_they_are_written(runs: Path, reader: FollowerHarness) -> None:
    """A half-written line waits for its rest."""
    log = GrowingFile(runs / "a/x.num")
    log.write("1\n2\n3")
    assert reader.poll_all() == {"a/x.num": [1, 2]}
    log.write("4\n")
    assert reader.poll_all() == {"a/x.num": [1, 2, 34]}
    log.close()


@pytest.mark.parametrize("once", [False, True])
def test_logs_are_read_one_after_another_where_nobody_waits(runs: Path, once: bool) -> None:
    """A screen shows the beginning of each first; a single look lets go of one after another."""
    for name in "abc":
        (runs / f"{name}.num").write_text("1\n" * 100_000)
        os.utime(runs / f"{name}.num", (1e9, 1e9))
    follower = Follower(
        [runs], detector=detect_number_format, name_pattern=NUMBER_FILE_NAMES, once=once
    )
    read = [update.source.key for _ in range(9) for update in follower.poll(1, math.inf).updates]
    follower.close()
    turns = [key for key, _ in groupby(read)]
    assert set(turns) == {"a.num", "b.num", "c.num"}
    assert (len(turns) == 3) is once


def test_an_update_describes_its_file(runs: Path, reader: FollowerHarness) -> None:
    """Source, size and time of the last write come with the points."""
    (runs / "x.num").write_text("1\n")
    os.utime(runs / "x.num", (5, 7))
    reader.poll_all()
    (update,) = reader.updates
    assert (update.source.key, update.source.path, update.source.root) == (
        "x.num",
        runs / "x.num",
        runs,
    )
    assert (update.source.format, update.size, update.mtime, update.reset) == (
        FORMAT,
        2,
        7.0,
        False,
    )


@pytest.mark.parametrize("how", ["replace", "recreate"])
def test_a_file_that_begins_again_is_a_reset(runs: Path, reader: FollowerHarness, how: str) -> None:
    """Replaced, or deleted and recreated between two polls."""
    log = GrowingFile(runs / "x.num")
    log.write("1\n2\n")
    reader.poll_all()
    getattr(log, how)("7\n8\n9\n")
    assert reader.poll_all() == {"x.num": [7, 8, 9]}
    assert reader.resets == 1
    log.close()


def test_half_a_line_of_the_old_file_is_dropped(runs: Path, reader: FollowerHarness) -> None:
    """The unfinished end of a truncated file is not joined to what follows."""
    log = GrowingFile(runs / "x.num")
    log.write("1\n99")
    reader.poll_all()
    log.truncate()
    log.write("5\n")
    assert reader.poll_all() == {"x.num": [5]}
    log.close()


def test_rotation_loses_nothing(runs: Path, reader: FollowerHarness) -> None:
    """The renamed file is a new source; the old name begins again."""
    log = GrowingFile(runs / "x.num")
    log.write("1\n2\n")
    reader.poll_all()
    log.write("3\n")
    log.rotate("x.1.num")
    log.write("4\n")
    assert reader.poll_all() == {"x.num": [4], "x.1.num": [1, 2, 3]}
    log.close()


def test_a_deleted_log_is_removed(runs: Path, reader: FollowerHarness) -> None:
    """A new file with the same name is a new log."""
    log = GrowingFile(runs / "a/x.num")
    log.write("1\n")
    reader.poll_all()
    log.path.unlink()
    assert reader.poll_all() == {}
    log.path.write_text("2\n")
    assert reader.poll_all() == {"a/x.num": [2]}
    assert reader.resets == 1  # who kept the old points must not add these to them
    log.close()


def test_a_deleted_and_restored_directory_is_followed(runs: Path, reader: FollowerHarness) -> None:
    """The path itself may vanish and return."""
    (runs / "x.num").write_text("1\n")
    reader.poll_all()
    (runs / "x.num").unlink()
    runs.rmdir()
    assert reader.poll_all() == {}
    runs.mkdir()
    (runs / "x.num").write_text("2\n")
    assert reader.poll_all() == {"x.num": [2]}


def test_an_empty_file_waits_for_its_format(runs: Path, reader: FollowerHarness) -> None:
    """The format is found with the first bytes."""
    log = GrowingFile(runs / "x.num")
    assert reader.poll_all() == {}
    log.write("1\n")
    assert reader.poll_all() == {"x.num": [1]}
    log.close()


def test_a_rejected_file_is_read_once(
    runs: Path, reader: FollowerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No format is asked again because the file grew."""
    refused = GrowingFile(runs / "x.num")
    refused.write("# no log\n")
    assert reader.poll_all() == {}
    opened = []
    monkeypatch.setattr(os, "open", lambda path, *_: opened.append(path))
    assert reader.poll_all() == {}
    assert opened == []
    monkeypatch.undo()
    asked = []
    monkeypatch.setattr(
        "ppo_top.files.reading.log_reader.LogReader.read_update",
        lambda reader, *_: asked.append(reader),
    )
    refused.write("# still none\n1\n")
    assert reader.poll_all() == {}
    assert asked == []
    refused.close()


@pytest.mark.parametrize("how", ["recreate", "replace", "in place"])
def test_a_rejected_file_that_begins_again_is_tried_again(
    runs: Path, reader: FollowerHarness, how: str
) -> None:
    """`python train.py > train.log` over a file that was something else."""
    file = GrowingFile(runs / "x.num")
    file.write("# no log\n")
    assert reader.poll_all() == {}
    if how == "in place":  # and longer than before when it is next looked at
        file.truncate()
        file.write("1\n2\n3\n4\n5\n6\n7\n8\n")
    else:
        getattr(file, how)("1\n2\n3\n4\n5\n6\n7\n8\n")
    assert reader.poll_all() == {"x.num": [1, 2, 3, 4, 5, 6, 7, 8]}
    file.write("9\n")
    assert reader.poll_all()["x.num"][-1] == 9
    file.close()


def test_a_rejected_file_that_is_unavailable_stays_rejected(
    runs: Path, reader: FollowerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that cannot be checked is not therefore a different one."""
    (runs / "x.num").write_text("# no log\n")
    assert reader.poll_all() == {}
    begun = []
    with monkeypatch.context() as away:
        away.setattr("ppo_top.files.tail.Tail.has_changed", lambda tail: False)
        away.setattr(
            "ppo_top.files.reading.log_reader.LogReader.read_update",
            lambda reader, *_: begun.append(reader),
        )
        assert reader.poll_all() == {}
    assert reader.poll_all() == {}
    assert begun == []


def test_many_rejected_files_are_checked_in_turn(runs: Path, reader: FollowerHarness) -> None:
    """A thousand are all checked within some rounds, none is forgotten."""
    for number in range(1000):
        (runs / f"{number}.num").write_text("# no log\n")
    assert reader.poll_all() == {}
    (runs / "500.num").write_text("1\n2\n3\n4\n5\n")
    for _ in range(20):
        reader.poll_all()
    assert reader.values == {"500.num": [1, 2, 3, 4, 5]}


def test_a_format_may_be_found_late(runs: Path) -> None:
    """A log may begin with pages of warnings before the first number, up to a limit."""

    def late(name: str, head: bytes) -> Format | None:
        return FORMAT if b"7" in head else None

    for pages, known in ((20_000, True), (100_000, False)):
        path = runs / "x.num"
        path.write_text("-\n" * (pages // 2) + "7\n")
        follower = Follower([runs], detector=late, name_pattern=NUMBER_FILE_NAMES)
        assert bool(read_everything(follower)) is known
        follower.close()


def test_a_file_given_as_path_may_have_any_name(tmp_path: Path) -> None:
    """A file that was given is tried as a log even if its name is none."""
    path = tmp_path / "output.2026"
    path.write_text("1\n")

    def console(name: str, head: bytes) -> Format | bool:
        return FORMAT if name.endswith(".log") else False

    follower = Follower([path], detector=console, name_pattern=NUMBER_FILE_NAMES)
    (update,) = read_everything(follower)
    assert update.source.key == "output.2026"
    follower.close()


def test_a_given_file_that_is_no_log_is_reported(tmp_path: Path) -> None:
    """Silence would look like an empty log."""
    path = tmp_path / "model.num"
    path.write_text("# weights")
    reader = FollowerHarness(path)
    assert reader.poll_all() == {}
    assert reader.follower.problems == [f"{path}: unrecognised log format"]
    reader.follower.close()


def test_a_bug_in_a_parser_ends_one_source_only(runs: Path, reader: FollowerHarness) -> None:
    """It is reported with its offset, the other logs go on, and a new file is read again."""
    bad, good = GrowingFile(runs / "bad.num"), GrowingFile(runs / "good.num")
    bad.write("1\n")
    good.write("1\n")
    reader.poll_all()
    bad.write("boom\n2\n")
    good.write("2\n")
    assert reader.poll_all() == {"bad.num": [1], "good.num": [1, 2]}
    (problem,) = reader.problems
    assert problem.startswith("parser failed: RuntimeError('a defect in a reader')")
    bad.write("3\n")
    assert reader.poll_all()["bad.num"] == [1]
    bad.replace("4\n")
    assert reader.poll_all()["bad.num"] == [4]
    bad.close()
    good.close()


def test_a_poll_is_bounded_by_points(runs: Path, reader: FollowerHarness) -> None:
    """A large backlog comes in several polls, with progress."""
    for number in range(10):
        (runs / f"{number}.num").write_text("1\n" * 100)
    result = reader.follower.poll(limit=250)
    count = sum(len(points) for update in result.updates for points in update.batch.points)
    assert 250 <= count < 400
    assert result.more
    assert (result.read_bytes, result.total_bytes) == (2 * count, 2000)


def test_a_poll_is_bounded_by_time(runs: Path, reader: FollowerHarness) -> None:
    """Without any time left it still reads one chunk, so that every poll makes progress."""
    for number in range(5):
        (runs / f"{number}.num").write_text("1\n")
    while not reader.follower.poll(budget=0.0).updates:
        reader.clock.now += 1
    assert len(reader.follower.poll(budget=0.0).updates) == 1


def test_the_newest_log_comes_first(runs: Path, reader: FollowerHarness) -> None:
    """What was written last is what is on the screen."""
    for number in range(10):
        (runs / f"{number}.num").write_text("1\n")
        os.utime(runs / f"{number}.num", (number, number))
    reader.poll_all()
    keys = [update.source.key for update in reader.updates]
    assert keys == [f"{number}.num" for number in reversed(range(10))]


def test_the_focused_log_comes_before_all_others(runs: Path, reader: FollowerHarness) -> None:
    """The run on the screen does not wait for a backlog."""
    for number in range(10):
        (runs / f"{number}.num").write_text("1\n" * 10)
        os.utime(runs / f"{number}.num", (number, number))
    reader.follower.poll(limit=1)
    reader.follower.focus(["3.num"])
    (update,) = reader.follower.poll(limit=1).updates
    assert update.source.key == "3.num"


def test_a_small_log_does_not_wait_for_a_large_one(
    runs: Path, reader: FollowerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sources are read in turn, chunk by chunk."""
    monkeypatch.setattr("ppo_top.files.read_queue.ChunkSizes.adapt", lambda *_: None)
    (runs / "large.num").write_text("1\n" * 2_000_000)
    os.utime(runs / "large.num", (9e9, 9e9))
    (runs / "small.num").write_text("1\n")
    reader.poll_all()
    order = [update.source.key for update in reader.updates]
    assert order.index("small.num") == 1
    assert len(order) > 4


def test_without_a_screen_a_log_is_read_in_large_pieces(runs: Path) -> None:
    """A large piece costs less than many small ones, and no key has to be answered meanwhile."""
    (runs / "large.num").write_text("1\n" * 200_000)
    for once, fewest, most in ((True, 1, 3), (False, 4, 100)):
        reader = FollowerHarness(runs, once=once)
        reader.poll_all()
        reader.follower.close()
        assert fewest <= len(reader.updates) <= most


def test_the_size_of_a_piece_is_learned_once_for_all_logs(runs: Path) -> None:
    """The second log does not begin with small pieces again."""
    reader, pieces = FollowerHarness(runs), []
    for name in ("first.num", "second.num"):
        (runs / name).write_text("1\n" * 200_000)
        reader.poll_all()
        pieces.append(sum(update.source.key == name for update in reader.updates))
    reader.follower.close()
    assert pieces[1] < pieces[0]


def test_equal_paths_below_two_roots_have_two_keys(tmp_path: Path) -> None:
    """Keys are unique: the second includes its root."""
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.num").write_text("1\n")
    reader = FollowerHarness(tmp_path / "old", tmp_path / "new")
    assert set(reader.poll_all()) == {"x.num", f"{tmp_path}/new/x.num"}
    reader.follower.close()


def test_events_only_shorten_the_wait(runs: Path) -> None:
    """With events a write is seen at once, and so are new directories."""
    reader = FollowerHarness(runs, clock=time.monotonic)
    log = GrowingFile(runs / "a/x.num")
    log.write("1\n")
    assert reader.poll_until(lambda: reader.values == {"a/x.num": [1]})
    assert reader.poll_until(lambda: "2 directories" in reader.follower.watch_status)
    log.write("2\n")
    assert reader.poll_until(lambda: reader.values == {"a/x.num": [1, 2]})
    (runs / "b/c/d").mkdir(parents=True)
    (runs / "b/c/d/y.num").write_text("5\n")
    assert reader.poll_until(lambda: reader.values.get("b/c/d/y.num") == [5])
    reader.follower.close()
    log.close()


def test_nothing_is_missed_without_events(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweep finds growth, new files and deletions on a silent file system."""
    monkeypatch.setattr("ppo_top.files.watcher.Watcher.record_event", lambda *_, **__: None)
    reader = FollowerHarness(runs, clock=time.monotonic)
    log = GrowingFile(runs / "a/x.num")
    log.write("1\n")
    assert reader.poll_until(lambda: reader.values == {"a/x.num": [1]})
    log.write("2\n")
    assert reader.poll_until(lambda: reader.values == {"a/x.num": [1, 2]})
    log.path.unlink()
    assert reader.poll_until(lambda: reader.values == {})
    reader.follower.close()
    log.close()


def test_old_logs_are_checked_in_turn(runs: Path, reader: FollowerHarness) -> None:
    """A log that was silent for a day is found to have grown within a few cheap sweeps."""
    for number in range(300):
        (runs / f"{number}.num").write_text("1\n")
        os.utime(runs / f"{number}.num", (1e9, 1e9))
    reader.poll_all()
    with open(runs / "7.num", "a") as log:
        log.write("2\n")
    looks = 0
    while reader.poll_all(2.0)["7.num"] == [1]:
        looks += 1
        assert looks <= 16


def test_any_thread_can_end_a_wait(reader: FollowerHarness) -> None:
    """The screen can interrupt the reader, for instance to close."""
    reader.poll_all()
    timer = threading.Timer(0.05, reader.follower.wake)
    timer.start()
    reader.follower._next_sweep = reader.clock() + 60
    assert reader.follower.wait(60)
    timer.join()
    assert not reader.follower.wait(0)


def test_closing_leaves_nothing_behind(runs: Path) -> None:
    """No thread and no descriptor remains, and closing twice is fine."""
    (runs / "x.num").write_text("1\n")
    threads, handles = threading.active_count(), len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(3):
        reader = FollowerHarness(runs)
        reader.poll_all()
        reader.follower.wait(0)
        assert threading.active_count() > threads
        reader.follower.close()
        reader.follower.close()
        reader.follower.wake()
    assert threading.active_count() == threads
    assert len(os.listdir("/proc/self/fd")) == handles  # noqa: PTH208


def test_a_source_can_be_reread(runs: Path, reader: FollowerHarness) -> None:
    """It comes again from its first byte."""
    for name in ("a", "b"):
        (runs / f"{name}.num").write_text("1\n2\n")
    reader.poll_all()
    reader.values["a.num"] = []
    reader.follower.reread(["a.num"])
    assert reader.poll_all() == {"a.num": [1, 2], "b.num": [1, 2]}
    assert reader.resets == 1


def test_reading_once_starts_no_watching(runs: Path, reader: FollowerHarness) -> None:
    """A check of existing logs starts no thread."""
    threads = threading.active_count()
    (runs / "x.num").write_text("1\n")
    reader.poll_all()
    assert threading.active_count() == threads


def test_zeros_at_the_end_of_a_log_are_reported(runs: Path, reader: FollowerHarness) -> None:
    """They are held back while they may still be filled, and reported in the end."""
    log = GrowingFile(runs / "x.num")
    log.write("1\n")
    log.truncate(10_000)
    assert reader.poll_all() == {"x.num": [1]}
    assert reader.problems == []
    reader.apply(reader.follower.finish())
    assert reader.problems == ["9,998 zero bytes at the end: never written"]
    log.close()


# --- standard input ------------------------------------------------------------------------------


@pytest.fixture
def consoles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers are the only console format."""
    form = Format("numbers", FORMAT.claims, parser=FORMAT.parser, console=True)
    monkeypatch.setattr("ppo_top.parsers.console_format", lambda _: form)


def test_a_pipe_is_read_as_it_comes(consoles: None) -> None:
    """The wait ends when bytes arrive, and the end of the pipe is seen."""
    reading, writing = os.pipe()
    with open(reading, "rb") as stream:
        reader = FollowerHarness(stdin=stream)
        os.write(writing, b"1\n2")
        assert reader.poll_until(lambda: not reader.follower.wait(0.2))
        os.write(writing, b"2\n")
        os.close(writing)
        assert reader.poll_until(lambda: reader.poll_all() == {"stdin": [1, 22]})
        assert reader.poll_until(lambda: not reader.follower.wait(0))
        assert reader.updates[-1].source.key == "stdin"
        assert not reader.follower.poll().more
        assert not reader.follower.wait(0)
        reader.follower.close()


def test_a_silent_pipe_does_not_block(consoles: None) -> None:
    """Nothing has come: nothing is told, and the poll returns."""
    reading, writing = os.pipe()
    with open(reading, "rb") as stream:
        reader = FollowerHarness(stdin=stream)
        assert reader.poll_all() == {}
        reader.follower.close()
    os.close(writing)


def test_a_stream_in_memory_is_read_to_its_end(consoles: None) -> None:
    """Any binary stream can be standard input."""
    reader = FollowerHarness(stdin=BytesIO(b"1\n2\n" * 50_000))
    assert len(reader.poll_all()["stdin"]) == 100_000
    reader.apply(reader.follower.finish())
    assert len(reader.values["stdin"]) == 100_000
    reader.follower.close()


# --- stores --------------------------------------------------------------------------------------


class NumberStore:
    """A store of one number per line."""

    opened = 0
    closed = 0

    def __init__(self, path: Path) -> None:
        type(self).opened += 1
        self._path = path
        self._count = 0

    def poll(self, limit: int) -> Batch:
        """The next numbers, at most `limit`."""
        values = [float(line) for line in self._path.read_text().split()]
        columns = ColumnBuilder()
        for value in values[self._count : self._count + limit]:
            columns.add_point("x", self._count, float("nan"), value)
            self._count += 1
        return Batch(points=columns.pop_points())

    def side_files_changed(self) -> bool:
        return False

    def close(self) -> None:
        """Count the end."""
        type(self).closed += 1


@pytest.fixture
def stores(runs: Path) -> Iterator[FollowerHarness]:
    """A follower for which all files are stores."""
    NumberStore.opened = NumberStore.closed = 0
    form = Format("store", lambda name, head: True, store=NumberStore)
    reader = FollowerHarness(runs)
    reader.follower.close()
    reader.follower = Follower(
        [runs],
        detector=lambda name, head: form if head else None,
        name_pattern=re.compile("db$"),
        clock=reader.clock,
    )
    yield reader
    reader.follower.close()


def test_a_store_is_polled_when_it_or_its_wal_changed(runs: Path, stores: FollowerHarness) -> None:
    """New rows of an SQLite database are first in its write-ahead log."""
    path, wal = runs / "x.db", runs / "x.db-wal"
    path.write_text("1\n2\n")
    assert stores.poll_all() == {"x.db": [1, 2]}
    stamp = path.stat()
    path.write_text("1\n2\n3\n")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    wal.touch()
    assert stores.poll_all() == {"x.db": [1, 2, 3]}
    assert NumberStore.opened == 1


def test_a_large_store_comes_in_parts(runs: Path, stores: FollowerHarness) -> None:
    """A poll asks a store for no more than its limit of points."""
    (runs / "x.db").write_text("1\n" * 1000)
    result = stores.follower.poll(limit=300)
    assert sum(len(points) for update in result.updates for points in update.batch.points) == 300
    assert result.more
    stores.apply(result)
    assert len(stores.poll_all()["x.db"]) == 1000


def test_a_replaced_store_is_reopened(runs: Path, stores: FollowerHarness) -> None:
    """The old one is closed."""
    (runs / "x.db").write_text("1\n")
    stores.poll_all()
    (runs / "other").write_text("8\n9\n")
    (runs / "other").replace(runs / "x.db")
    assert stores.poll_all() == {"x.db": [8, 9]}
    assert stores.resets == 1
    assert (NumberStore.opened, NumberStore.closed) == (2, 1)


def test_a_store_can_be_reread(runs: Path, stores: FollowerHarness) -> None:
    """Rereading opens it again."""
    (runs / "x.db").write_text("1\n2\n")
    stores.poll_all()
    stores.follower.reread(["x.db"])
    assert stores.poll_all() == {"x.db": [1, 2]}
    assert (stores.resets, NumberStore.opened, NumberStore.closed) == (1, 2, 1)


def test_a_bug_in_a_store_ends_that_store_only(runs: Path, stores: FollowerHarness) -> None:
    """It is reported like a bug in a parser."""
    (runs / "x.db").write_text("1\n")
    (runs / "y.db").write_text("one\n")
    assert stores.poll_all() == {"x.db": [1], "y.db": []}
    assert "parser failed: ValueError" in stores.problems[0]


def test_a_store_that_always_answers_does_not_block(
    runs: Path, stores: FollowerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that keeps answering without points is left alone until it changes."""
    (runs / "x.db").write_text("1\n")
    problem = Problem(0, "again")
    monkeypatch.setattr(NumberStore, "poll", lambda *_: Batch(problems=[problem]))
    for _ in range(10_000):
        if not stores.follower.poll(budget=0.0).more:
            return
    pytest.fail("it is asked for ever")


# --- whole lives ---------------------------------------------------------------------------------

LIVES = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.sampled_from("ab"), st.integers(1, 4)),
        st.tuples(st.just("truncate"), st.sampled_from("ab"), st.just(0)),
        st.tuples(st.just("replace"), st.sampled_from("ab"), st.integers(1, 4)),
        st.tuples(st.just("recreate"), st.sampled_from("ab"), st.integers(1, 4)),
        st.tuples(st.just("look"), st.just("a"), st.just(0)),
    ),
    max_size=20,
)


@settings(max_examples=100, deadline=None)
@given(LIVES)
def test_any_history_reads_like_one_whole_read(
    tmp_path_factory: pytest.TempPathFactory, life: list[tuple[str, str, int]]
) -> None:
    """Writers append, truncate, replace and delete between polls: live equals check."""
    root = tmp_path_factory.mktemp("life")
    logs = {name: GrowingFile(root / name / "x.num") for name in "ab"}
    live = FollowerHarness(root)
    number = 0
    for action, name, count in [*life, ("look", "a", 0)]:
        lines = [f"{number + line}\n" for line in range(count)]
        number += count
        if action == "look":
            live.poll_all()
        elif action == "truncate":
            logs[name].truncate()
        else:
            getattr(logs[name], action)("".join(lines))
    whole = FollowerHarness(root)
    assert {key: kept for key, kept in live.values.items() if kept} == whole.poll_all()
    for log in logs.values():
        log.close()
    live.follower.close()
    whole.follower.close()


def test_one_pattern_matches_the_names_of_all_formats() -> None:
    """It matches what any of them does, compressed or not, and little else."""
    for name in ("progress.csv", "events.out.tfevents.1.h", "x.log", "log", "model.pt", "LOG.TXT"):
        for each in (name, f"{name}.gz", f"{name}.xz"):
            assert is_file_name(each) == bool(re.search(ANY_FILE_NAME, each))
            assert is_file_name(each) == bool(formats_by_module(each)) or each.startswith("log.")
    assert detect_number_format("model.pt", b"") is False


def test_a_log_not_written_for_long_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `active_s` old logs cost a `stat`; one that is written again is read from its start."""
    old, new = tmp_path / "a" / "old.num", tmp_path / "b" / "new.num"
    for path in (old, new):
        path.parent.mkdir()
        path.write_text("1\n2\n")
    long_ago = time.time() - 7200.0
    os.utime(old, (long_ago, long_ago))
    opened: list[str] = []
    real_open = os.open

    def recording(path: str, flags: int) -> int:
        opened.append(path)
        return real_open(path, flags)

    monkeypatch.setattr(os, "open", recording)
    follower = Follower(
        [tmp_path], detector=detect_number_format, name_pattern=NUMBER_FILE_NAMES, active_s=3600.0
    )
    found = follower.poll()
    assert [update.source.key for update in found.updates] == ["b/new.num"]
    assert str(old) not in opened
    assert found.read_bytes == found.total_bytes == 4, "what is not read is not waited for"
    with old.open("a") as file:
        file.write("3\n")
    (update,) = read_everything(follower)
    assert list(update.batch.points[0].values) == [1.0, 2.0, 3.0]
    follower.close()


@pytest.mark.parametrize(("logs", "are_read"), [(MAX_LOGS_OF_A_RUN, True), (40, False)])
def test_a_run_that_is_written_is_read_whole(tmp_path: Path, logs: int, are_read: bool) -> None:
    """Its settings and first logs may be weeks old; a folder of many logs is not one run's."""
    for number in range(logs):
        (tmp_path / f"{number}.num").write_text("1\n")
    long_ago = time.time() - 7200.0
    for number in range(1, logs):
        os.utime(tmp_path / f"{number}.num", (long_ago, long_ago))
    follower = Follower(
        [tmp_path], detector=detect_number_format, name_pattern=NUMBER_FILE_NAMES, active_s=3600.0
    )
    read = {update.source.key for update in read_everything(follower)}
    follower.close()
    assert read == ({f"{number}.num" for number in range(logs)} if are_read else {"0.num"})
