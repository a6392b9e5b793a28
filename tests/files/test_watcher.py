"""Which directories are watched, what happens if that is impossible, and closing."""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from watchdog.observers import Observer

from ppo_top.files.machine.mounts import NETWORK_FILE_SYSTEMS, file_system_type
from ppo_top.files.watcher import Hints, Watcher

LOCAL_MOUNT = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"


class WakeSignal:
    """A callback that a test can wait for."""

    def __init__(self) -> None:
        self.event = threading.Event()

    def __call__(self) -> None:
        self.event.set()


@pytest.fixture
def wake() -> WakeSignal:
    """Set when a watcher has a hint."""
    return WakeSignal()


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    """A mount table in which everything is local."""
    table = tmp_path / "mountinfo"
    table.write_text(LOCAL_MOUNT)
    return table


@pytest.fixture
def watcher(wake: WakeSignal, mounts: Path) -> Iterator[Watcher]:
    """A watcher, closed at the end."""
    watcher = Watcher(wake, mounts=mounts)
    yield watcher
    watcher.close()


def hint(watcher: Watcher, wake: WakeSignal) -> Hints:
    """The hints after a wake-up."""
    assert wake.event.wait(5)
    wake.event.clear()
    return watcher.pop_hints()


def test_growth_wakes(tmp_path: Path, watcher: Watcher, wake: WakeSignal) -> None:
    """Appending to a file gives its directory."""
    runs = tmp_path / "runs"
    runs.mkdir()
    log = runs / "a.log"
    log.touch()
    watcher.set_directories([str(runs)])
    log.write_text("1\n")
    assert str(runs) in hint(watcher, wake).written
    assert watcher.summary == "Watching 1 directory (inotify)"


def test_new_names_wake(tmp_path: Path, watcher: Watcher, wake: WakeSignal) -> None:
    """So do a new directory, a new file and a renamed one."""
    runs = tmp_path / "runs"
    runs.mkdir()
    watcher.set_directories([str(runs)])
    (runs / "ppo").mkdir()
    assert hint(watcher, wake).renamed == {str(runs)}
    (runs / "a.log").touch()
    assert hint(watcher, wake).renamed == {str(runs)}


def test_the_target_of_a_link_is_watched(
    tmp_path: Path, watcher: Watcher, wake: WakeSignal
) -> None:
    """`latest-run` itself never changes."""
    (tmp_path / "run-1").mkdir()
    link = tmp_path / "latest"
    link.symlink_to("run-1")
    watcher.set_directories([str(link)])
    (tmp_path / "run-1/a.log").touch()
    assert hint(watcher, wake).renamed == {str(link)}


def test_directories_no_longer_wanted_are_unwatched(
    tmp_path: Path, watcher: Watcher, wake: WakeSignal
) -> None:
    """Watches follow the runs that live."""
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    watcher.set_directories([str(one)])
    watcher.set_directories([str(two)])
    assert watcher.summary == "Watching 1 directory (inotify)"
    (one / "a").touch()
    (two / "a").touch()
    hints = hint(watcher, wake)
    assert hints.written == {str(two)}


def test_a_deleted_directory_is_ignored(tmp_path: Path, watcher: Watcher) -> None:
    """It may vanish before it is watched or while it is."""
    there = tmp_path / "there"
    there.mkdir()
    watcher.set_directories([str(tmp_path / "nowhere"), str(there)])
    assert watcher.summary == "Watching 1 directory (inotify)"
    assert watcher.problem == ""
    there.rmdir()
    watcher.set_directories([])
    assert watcher.summary == "Polling for changes"


def test_the_number_of_watches_is_bounded(tmp_path: Path, wake: WakeSignal, mounts: Path) -> None:
    """Each watch is a thread: a thousand runs must not make a thousand."""
    folders = [tmp_path / str(number) for number in range(9)]
    for folder in folders:
        folder.mkdir()
    watcher = Watcher(wake, max_watches=3, mounts=mounts)
    watcher.set_directories(map(str, folders))
    assert watcher.summary == "Watching 3 directories (inotify)"
    watcher.close()


def test_closing_stops_all_threads(tmp_path: Path, wake: WakeSignal, mounts: Path) -> None:
    """No descriptor remains either."""
    threads, handles = threading.active_count(), len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(3):
        watcher = Watcher(wake, mounts=mounts)
        watcher.set_directories([str(tmp_path)])
        assert threading.active_count() > threads
        watcher.close()
        watcher.close()
    assert threading.active_count() == threads
    assert len(os.listdir("/proc/self/fd")) == handles  # noqa: PTH208


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "cannot watch every directory (inotify watch limit reached)"),
        (errno.EMFILE, "cannot watch every directory (too many open files)"),
    ],
)
def test_out_of_watches(
    tmp_path: Path,
    wake: WakeSignal,
    mounts: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    words: str,
) -> None:
    """What the system allows is used, the rest is polled and reported."""
    said = "inotify watch limit reached" if number == errno.ENOSPC else os.strerror(number)
    folders = [tmp_path / str(count) for count in range(5)]
    for folder in folders:
        folder.mkdir()
    schedule = Observer.schedule  # type: ignore[attr-defined]

    def limited(self: object, handler: object, path: str, **options: object) -> object:
        if path.endswith(("3", "4")):
            raise OSError(number, said)
        return schedule(self, handler, path, **options)

    monkeypatch.setattr(Observer, "schedule", limited)
    watcher = Watcher(wake, mounts=mounts)
    watcher.set_directories(map(str, folders))
    assert watcher.summary == "Watching 3 directories (inotify)"
    assert watcher.problem == f"{words}, polling instead"
    watcher.set_directories(map(str, folders[:3]))
    assert watcher.problem == ""
    watcher.close()


def test_no_inotify_at_all(
    tmp_path: Path, wake: WakeSignal, mounts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If not even the observer starts everything is polled."""

    def fail(*_: object) -> None:
        raise OSError(errno.EMFILE, "inotify instance limit reached")

    monkeypatch.setattr(Observer, "start", fail)
    watcher = Watcher(wake, mounts=mounts)
    watcher.set_directories([str(tmp_path)])
    assert watcher.summary == "Polling for changes"
    assert "inotify instance limit reached" in watcher.problem
    watcher.close()


def test_without_watchdog_everything_is_polled(
    tmp_path: Path, wake: WakeSignal, mounts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program as one file has none."""
    monkeypatch.setitem(sys.modules, "watchdog.events", None)
    watcher = Watcher(wake, mounts=mounts)
    watcher.set_directories([str(tmp_path)])
    assert watcher.summary == "Polling for changes"
    assert "watchdog" in watcher.problem
    watcher.close()


@pytest.mark.parametrize(
    "kind",
    [
        "nfs",
        "nfs4",
        "lustre",
        "fuse.sshfs",
        "fuse",
        "9p",
        "overlay",
        "cifs",
        "smb3",
        "ceph",
        "gpfs",
    ],
)
def test_network_file_systems_are_polled(
    tmp_path: Path, wake: WakeSignal, mounts: Path, kind: str
) -> None:
    """Writes of other machines cause no events, so these are not watched but named."""
    far = tmp_path / "far"
    far.mkdir()
    mounts.write_text(f"{LOCAL_MOUNT}30 22 0:9 / {far} rw - {kind} server:/x rw\n")
    watcher = Watcher(wake, mounts=mounts)
    watcher.set_directories([str(far)])
    assert watcher.summary == f"Polling for changes ({kind})"
    watcher.set_directories([str(far), str(tmp_path)])
    assert watcher.summary == f"Watching 1 directory (inotify), polling {kind}"
    watcher.close()


def test_local_file_systems_are_watched() -> None:
    """None of the usual ones counts as a network file system."""
    for kind in ("ext4", "xfs", "btrfs", "zfs", "tmpfs", "apfs", ""):
        assert not NETWORK_FILE_SYSTEMS.fullmatch(kind)


def test_the_innermost_mount_counts(tmp_path: Path) -> None:
    """Mounts inside mounts, names with spaces, a mount over a mount, optional fields."""
    table = tmp_path / "mountinfo"
    table.write_text(
        LOCAL_MOUNT
        + "30 22 0:9 / /data rw shared:2 master:3 - nfs4 server:/x rw\n"
        + "31 30 0:9 / /data/my\\040runs rw - xfs /dev/sdb rw\n"
        + "32 22 0:9 / /over rw - ext4 /dev/sdc rw\n"
        + "33 22 0:9 / /over rw - fuse.sshfs host:/ rw\n"
        + "broken line\n"
    )
    kinds = [
        file_system_type(path, table)
        for path in ("/home", "/data/a", "/data/my runs/a", "/database", "/over/x")
    ]
    assert kinds == ["ext4", "nfs4", "xfs", "ext4", "fuse.sshfs"]
    assert file_system_type("/", tmp_path / "none") == ""


def test_the_real_table_of_mounts_is_read() -> None:
    """This machine's own root has a type."""
    assert file_system_type("/")


def test_a_flooded_directory_is_unwatched(
    tmp_path: Path, watcher: Watcher, wake: WakeSignal
) -> None:
    """With thousands of events per second it is polled until it calms down."""
    folder = str(tmp_path)
    watcher.set_directories([folder])
    for _ in range(2_001):
        watcher.record_event(folder, is_rename=False)
    watcher.unwatch_busy()
    assert watcher.summary == "Polling for changes"
    watcher.set_directories([folder])
    assert watcher.summary == "Polling for changes"


def test_many_events_wake_once(tmp_path: Path, watcher: Watcher, wake: WakeSignal) -> None:
    """Until the hints are collected, more of the same wakes nobody."""
    folder = str(tmp_path)
    watcher.record_event(folder, is_rename=False)
    assert hint(watcher, wake) == Hints({folder}, set())
    watcher.record_event(folder, is_rename=False)
    wake.event.clear()
    watcher.record_event(folder, is_rename=False)
    assert not wake.event.is_set()
    assert watcher.pop_hints() == Hints({folder}, set())
    assert watcher.pop_hints() == Hints(set(), set())
    watcher.record_event(folder, is_rename=True)
    assert hint(watcher, wake) == Hints({folder}, {folder})
