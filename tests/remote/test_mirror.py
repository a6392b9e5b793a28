"""The copies are like the logs there, whatever happens to those, and nothing else is touched."""

from __future__ import annotations

import fcntl
import os
import random
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppo_top.remote.mirror import remove_abandoned
from ppo_top.remote.protocol import (
    FileComplete,
    FileData,
    Frame,
    Gone,
    Hello,
    ProtocolError,
    RootState,
)
from tests.support.far_sides import JoinedSides

Joined = Callable[..., JoinedSides]


@pytest.fixture
def joined() -> Iterator[Joined]:
    """Makes joined sides and deletes their copies at the end."""
    made: list[JoinedSides] = []

    def make(*folders: Path, space: int = 1 << 30, most_files: int = 1000) -> JoinedSides:
        made.append(JoinedSides(folders, space, most_files))
        return made[-1]

    yield make
    for each in made:
        each.mirror.close()


def sent_bytes(sides: JoinedSides) -> int:
    """Bytes of files in the last look."""
    return sum(len(each.data) for each in sides.frames if isinstance(each, FileData))


def write(path: Path, data: bytes, mode: str = "wb") -> None:
    """Write a log, some time after it was written last."""
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.stat().st_mtime_ns if path.exists() else 0
    with open(path, mode) as file:
        file.write(data)
    if before:
        os.utime(path, ns=(before + 10_000_000, before + 10_000_000))


def test_only_new_bytes_are_sent(tmp_path: Path, joined: Joined) -> None:
    """Of a log that grows; nothing at all of one that does not."""
    log = tmp_path / "a" / "train.log"
    write(log, b"x" * 5000)
    sides = joined(tmp_path)
    sides.sweep()
    assert sides.copies() == {"a/train.log": b"x" * 5000}
    sides.sweep()
    assert sides.frames == []
    write(log, b"more\n", "ab")
    sides.sweep()
    assert sent_bytes(sides) == 5
    assert sides.copies() == {"a/train.log": b"x" * 5000 + b"more\n"}


def test_copies_have_the_time_of_the_log(tmp_path: Path, joined: Joined) -> None:
    """What judges whether a run is live, corrected by the difference of the clocks."""
    log = tmp_path / "train.log"
    write(log, b"x")
    os.utime(log, (1e9, 1e9))
    sides = joined(tmp_path)
    sides.mirror.apply(Hello(time.time() - 100))
    sides.sweep()
    copy = sides.mirror.paths[0] / "train.log"
    assert copy.stat().st_mtime == pytest.approx(1e9 + 100, abs=5)
    os.utime(log, (1.1e9, 1.1e9))
    sides.sweep()
    assert sent_bytes(sides) == 0
    assert copy.stat().st_mtime == pytest.approx(1.1e9 + 100, abs=5)


def test_clocks_that_differ_by_the_way_of_a_message_are_equal(joined: Joined) -> None:
    """Half a second is no difference."""
    sides = joined(Path("/runs"))
    sides.mirror.apply(Hello(time.time() - 0.5))
    assert sides.mirror.skew == 0.0


@pytest.mark.parametrize("name", ["train.log", "progress.csv", "trainer_state.json"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a" * 9000, b"b" * 4000),  # truncated
        (b"a" * 9000, b"b" * 20_000),  # replaced by something longer
        (b"a" * 9000, b"b" * 9000),  # of the same size
        (b"", b"x"),
        (b"x", b""),
    ],
)
def test_a_log_that_began_anew_is_sent_anew(
    tmp_path: Path, joined: Joined, name: str, before: bytes, after: bytes
) -> None:
    """The copy never mixes the two."""
    write(tmp_path / name, before)
    sides = joined(tmp_path)
    sides.sweep()
    write(tmp_path / name, after)
    sides.sweep()
    assert sides.copies() == {name: after}


def test_a_table_that_is_changed_in_the_middle_is_sent_anew(tmp_path: Path, joined: Joined) -> None:
    """Beginning and end may be as before: all bytes of such files are compared."""
    table = b"x,y\n" + b"1,2\n" * 10_000
    write(tmp_path / "progress.csv", table)
    sides = joined(tmp_path)
    sides.sweep()
    changed = table[:20_000] + b"3,4\n" + table[20_004:] + b"5,6\n"
    write(tmp_path / "progress.csv", changed)
    sides.sweep()
    assert sides.copies() == {"progress.csv": changed}


def test_a_deleted_log_has_no_copy(tmp_path: Path, joined: Joined) -> None:
    """Nor a folder that is empty then."""
    write(tmp_path / "a" / "b" / "train.log", b"x")
    write(tmp_path / "c.log", b"y")
    sides = joined(tmp_path)
    sides.sweep()
    (tmp_path / "a" / "b" / "train.log").unlink()
    sides.sweep()
    assert sides.copies() == {"c.log": b"y"}
    assert not (sides.mirror.paths[0] / "a").exists()


def test_a_path_may_be_a_file_a_folder_or_missing_in_turn(tmp_path: Path, joined: Joined) -> None:
    """A file that is named may be called anything."""
    root = tmp_path / "run"
    sides = joined(root)
    sides.sweep()
    assert not sides.mirror.paths[0].exists()
    write(root, b"text")
    sides.sweep()
    assert sides.copies() == {"": b"text"}
    root.unlink()
    write(root / "train.log", b"x")
    sides.sweep()
    assert sides.copies() == {"train.log": b"x"}
    (root / "train.log").unlink()
    root.rmdir()
    sides.sweep()
    assert not sides.mirror.paths[0].exists()


def test_only_files_with_the_names_of_logs_are_opened(tmp_path: Path, joined: Joined) -> None:
    """No checkpoints, sources or settings of ours, nothing in folders of tools, no pipes."""
    for name in ("model.pt", "train.py", "ppo-top.toml", ".git/train.log", "venv.txt"):
        write(tmp_path / name, b"x")
    os.mkfifo(tmp_path / "out.log")
    write(tmp_path / "progress.csv", b"a,b\n")
    sides = joined(tmp_path)
    sides.sweep()
    assert sides.copies() == {"progress.csv": b"a,b\n"}


def test_links_are_followed_once(tmp_path: Path, joined: Joined) -> None:
    """Out of the tree, but neither back into it nor above it."""
    write(tmp_path / "elsewhere" / "train.log", b"x")
    runs = tmp_path / "runs"
    write(runs / "a" / "train.log", b"y")
    (runs / "latest").symlink_to(runs / "a")
    (runs / "other").symlink_to(tmp_path / "elsewhere")
    (runs / "up").symlink_to(tmp_path)
    (runs / "broken").symlink_to(tmp_path / "nothing")
    sides = joined(runs)
    sides.sweep()
    assert sides.copies() == {"a/train.log": b"y", "other/train.log": b"x"}


def test_names_of_any_bytes_are_kept(tmp_path: Path, joined: Joined) -> None:
    """Also those that are no UTF-8."""
    name = os.fsdecode(b"r\xff\xc3\xa9\n.log")
    write(tmp_path / name, b"x")
    sides = joined(tmp_path)
    sides.sweep()
    assert sides.copies() == {name: b"x"}


def test_what_cannot_be_read_is_told_and_costs_nothing_else(
    tmp_path: Path, joined: Joined, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file, or a whole folder; logs in a folder that cannot be listed for a while stay."""
    write(tmp_path / "a" / "train.log", b"x")
    write(tmp_path / "b.log", b"y")
    sides = joined(tmp_path)
    sides.sweep()
    listed = os.scandir

    def scandir(path: str) -> object:
        if path == f"{tmp_path}/a":
            raise OSError(5, "Input/output error")
        return listed(path)

    write(tmp_path / "b.log", b"z", "ab")
    with monkeypatch.context() as patch:
        patch.setattr("ppo_top.remote.far_side.log_lister.os.scandir", scandir)
        sides.sweep()
    assert sides.copies() == {"a/train.log": b"x", "b.log": b"yz"}
    assert sides.mirror.troubles == [f"node:{tmp_path}/a: input/output error"]


def test_beyond_the_space_the_largest_logs_are_left_out(tmp_path: Path, joined: Joined) -> None:
    """And named."""
    for size in (100, 300, 5000):
        write(tmp_path / f"{size}.log", b"x" * size)
    sides = joined(tmp_path, space=1000)
    sides.sweep()
    assert list(sides.copies()) == ["100.log", "300.log"]
    (trouble,) = sides.mirror.troubles
    assert trouble.startswith(f"node:{tmp_path}/5000.log: too large")
    write(tmp_path / "100.log", b"x" * 500, "ab")
    sides.sweep()
    assert {name: len(data) for name, data in sides.copies().items()} == {
        "100.log": 600,
        "300.log": 300,
    }


def test_beyond_the_number_of_files_the_rest_is_left_out(tmp_path: Path, joined: Joined) -> None:
    """And that is told."""
    for number in range(12):
        write(tmp_path / f"{number}.log", b"x")
    sides = joined(tmp_path, most_files=10)
    sides.sweep()
    assert len(sides.copies()) == 10
    assert sides.mirror.troubles == [f"node:{tmp_path}: more than 10 files"]


def test_a_database_comes_with_its_log_as_one(tmp_path: Path, joined: Joined) -> None:
    """The copy can be read at any time and holds what was committed."""
    path = tmp_path / "runs.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA wal_autocheckpoint = 0")
        base.execute("CREATE TABLE points (value)")
        sides = joined(tmp_path)
        for count in (1, 2, 3):
            base.execute("INSERT INTO points VALUES (?)", (count,))
            if count == 3:
                base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            for log in sides.far.logs.values():
                log.next_look = 0.1  # ten seconds later
            sides.sweep()
            with closing(sqlite3.connect(f"file:{_copy_of(sides, tmp_path)}", uri=True)) as copy:
                assert copy.execute("SELECT count(*) FROM points").fetchone() == (count,)


def _copy_of(sides: JoinedSides, folder: Path) -> Path:
    """A copy of the copied database, for opening it writes beside it."""
    target = folder.with_name("opened")
    target.mkdir(exist_ok=True)
    for old in target.iterdir():
        old.unlink()
    for name, data in sides.copies().items():
        (target / name).write_bytes(data)
    return target / "runs.db"


def test_a_database_is_not_sent_again_and_again(tmp_path: Path, joined: Joined) -> None:
    """It is sent as a whole: every ten seconds at most."""
    with closing(sqlite3.connect(tmp_path / "runs.db")) as base:
        base.execute("CREATE TABLE points (value)")
        sides = joined(tmp_path)
        sides.sweep()
        assert sent_bytes(sides) > 0
        base.execute("CREATE TABLE other (value)")
        sides.sweep()
        assert sent_bytes(sides) == 0


def test_a_new_connection_brings_only_the_rest(tmp_path: Path, joined: Joined) -> None:
    """Also after one that broke in the middle of a file, or with changes meanwhile."""
    write(tmp_path / "a.log", os.urandom(5000))
    write(tmp_path / "b.log", b"b" * 5000)
    write(tmp_path / "c.log", b"c")
    sides = joined(tmp_path)
    sides.sweep()
    write(tmp_path / "a.log", b"more", "ab")
    write(tmp_path / "b.log", b"new")
    (tmp_path / "c.log").unlink()
    sides.connect()
    sides.sweep()
    assert sent_bytes(sides) == len(b"more") + len(b"new")
    expected = {name: (tmp_path / name).read_bytes() for name in ("a.log", "b.log")}
    assert sides.copies() == expected


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_cut_connection_leaves_whole_files_or_beginnings(
    tmp_path: Path, joined: Joined, share: float
) -> None:
    """New files are there when they are whole; the next connection completes everything."""
    content = {f"{n}.log": random.Random(n).randbytes(3_000_000) for n in range(3)}
    for name, data in content.items():
        write(tmp_path / name, data)
    sides = joined(tmp_path)
    sides.far.sweep()
    sides.bring_over(int(share * 9_000_000))
    assert sides.copies().items() <= content.items()
    sides.connect()
    sides.sweep()
    assert sides.copies() == content


@settings(max_examples=25)
@given(st.integers(0, 1 << 32))
def test_copies_follow_whatever_happens(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """Drawn courses of logs that grow, are truncated, replaced, renamed and deleted."""
    draw = random.Random(seed)
    folder = tmp_path_factory.mktemp("runs")
    sides = JoinedSides([folder])
    names = ["a.log", "b/progress.csv", "b/history.json", "d/e/events.out.tfevents.1"]
    try:
        for _ in range(8):
            for name in draw.sample(names, 2):
                _change(draw, folder, name, draw.choice(names))
            if draw.random() < 0.3:
                sides.connect()
            sides.sweep()
            files = [path for path in folder.rglob("*") if path.is_file()]
            expected = {str(path.relative_to(folder)): path.read_bytes() for path in files}
            assert sides.copies() == expected
    finally:
        sides.mirror.close()


def _change(draw: random.Random, folder: Path, name: str, other: str) -> None:
    path, kind = folder / name, draw.choice(["append", "append", "truncate", "replace", "delete"])
    if kind == "append" or not path.exists():
        write(path, draw.randbytes(draw.randrange(1, 9000)), "ab")
    elif kind == "truncate":
        write(path, path.read_bytes()[: draw.randrange(path.stat().st_size + 1)])
    elif kind == "replace":
        (folder / other).parent.mkdir(parents=True, exist_ok=True)
        path.replace(folder / other)
    else:
        path.unlink()


def test_the_folder_is_private_and_deleted_at_the_end(tmp_path: Path, joined: Joined) -> None:
    """Logs may hold what others on this machine shall not see."""
    write(tmp_path / "a.log", b"x")
    sides = joined(tmp_path)
    sides.sweep()
    folder = next(each for each in sides.mirror.paths[0].parents if "mirror-" in each.name)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    sides.mirror.close()
    assert not folder.exists()


HOSTILE: list[list[Frame]] = [
    [FileData(0, "a.log", 5, b"x")],
    [FileData(0, "a.log", 0, b"x"), FileData(0, "a.log", 5, b"x")],
    [FileComplete(0, "a.log", 1.0, None)],
    [FileData(0, "ppo-top.toml", 0, b"x")],
    [FileData(0, ".bashrc", 0, b"x")],
    [FileData(0, f"{n}.log", 0, b"") for n in range(2001)],
    [FileData(0, "a.log", 0, b"x" * 900), FileData(0, "a.log", 900, b"x" * 900)],
]


@pytest.mark.parametrize("frames", HOSTILE)
def test_a_far_side_that_does_not_keep_its_word_is_refused(
    tmp_path: Path, joined: Joined, frames: list[Frame]
) -> None:
    """Bytes from nowhere, names that were not asked for, more files and bytes than agreed."""
    sides = joined(tmp_path, space=1000)
    sides.mirror.apply(RootState(0, "folder", ""))
    with pytest.raises(ProtocolError):
        for frame in frames:
            sides.mirror.apply(frame)


def test_frames_for_files_that_are_not_there_are_harmless(tmp_path: Path, joined: Joined) -> None:
    """A file that was never sent may go."""
    sides = joined(tmp_path)
    sides.mirror.apply(Gone(0, "never/there.log"))
    sides.mirror.apply(Gone(0, ""))
    sides.sweep()
    assert sides.mirror.paths[0].is_dir()


def test_copies_of_a_process_that_was_killed_are_deleted(tmp_path: Path) -> None:
    """By the next one, unless somebody still holds them."""
    folders = [tmp_path / f"ppo-top-mirror-{name}" for name in ("old", "held", "young")]
    for folder in folders:
        folder.mkdir()
        (folder / ".lock").touch()
    for folder in folders[:2]:
        os.utime(folder, (1e9, 1e9))
    with open(folders[1] / ".lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        remove_abandoned(tmp_path)
    assert [folder.exists() for folder in folders] == [False, True, True]
