"""Finding logs: new and deleted files, links, names, permissions, and the cost."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ppo_top.files.discovery import Discovery
from ppo_top.parsers.file_names import is_file_name
from ppo_top.paths import NON_LOG_SUFFIXES
from tests.support.number_log import ManualClock

LOG_NAME = re.compile(r"\.log$").search
OLD_TIME = 1_600_000_000


def age(*folders: Path) -> None:
    """Make directories look unchanged for years."""
    for folder in folders:
        os.utime(folder, (OLD_TIME, OLD_TIME))


def make(*paths: Path) -> None:
    """Make files and the directories above them."""
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


class DiscoveryHarness:
    """A discovery, and the files it found and has not reported as removed."""

    def __init__(self, *paths: Path, max_depth: int = 32) -> None:
        self.clock = ManualClock()
        self.discovery = Discovery(paths, LOG_NAME, max_depth, self.clock)
        self.keys: list[str] = []

    def scan_all(self, **options: object) -> list[str]:
        """The keys of all logs, sorted."""
        self.clock.now += 5
        while True:
            look = self.discovery.scan(0.05, **options)  # type: ignore[arg-type]
            for found in look.removed:
                self.keys.remove(found.key)
            self.keys += [found.key for found in look.found]
            if not look.more:
                return sorted(self.keys)


def test_logs_are_found_by_their_names(tmp_path: Path) -> None:
    """Files with other names are passed over, hidden directories are not."""
    make(tmp_path / "a.log", tmp_path / "b/.summary/0/c.log", tmp_path / "b/model.pt")
    assert DiscoveryHarness(tmp_path).scan_all() == ["a.log", "b/.summary/0/c.log"]


def test_new_files_and_directories_are_found(tmp_path: Path) -> None:
    """At any depth, also in directories that had not changed for long."""
    make(tmp_path / "old/sub/a.log")
    age(tmp_path / "old/sub", tmp_path / "old", tmp_path)
    finder = DiscoveryHarness(tmp_path)
    assert finder.scan_all() == ["old/sub/a.log"]
    make(tmp_path / "old/sub/b.log", tmp_path / "new/x/y/c.log")
    assert finder.scan_all() == ["new/x/y/c.log", "old/sub/a.log", "old/sub/b.log"]


def test_deleted_files_and_trees_are_reported(tmp_path: Path) -> None:
    """Deleted files and whole trees."""
    make(tmp_path / "a.log", tmp_path / "b/c/d.log")
    finder = DiscoveryHarness(tmp_path)
    assert len(finder.scan_all()) == 2
    (tmp_path / "b/c/d.log").unlink()
    (tmp_path / "b/c").rmdir()
    (tmp_path / "b").rmdir()
    assert finder.scan_all() == ["a.log"]
    (tmp_path / "a.log").unlink()
    assert finder.scan_all() == []


def test_a_path_may_appear_late_vanish_and_return(tmp_path: Path) -> None:
    """A missing path is waited for, as a directory or as a file."""
    root = tmp_path / "runs"
    finder = DiscoveryHarness(root)
    assert finder.scan_all() == []
    assert finder.discovery.problems == {}
    make(root / "a.log")
    assert finder.scan_all() == ["a.log"]
    (root / "a.log").unlink()
    root.rmdir()
    assert finder.scan_all() == []
    root.touch()
    assert finder.scan_all() == ["runs"]
    root.unlink()
    make(root / "b.log")
    assert finder.scan_all() == ["b.log"]


def test_a_path_that_is_a_file_may_have_any_name(tmp_path: Path) -> None:
    """A path that is a file is taken whatever its name is."""
    make(tmp_path / "output.2026")
    finder = DiscoveryHarness(tmp_path / "output.2026")
    (found,) = finder.discovery.scan(1.0).found
    assert (found.key, found.is_explicit) == ("output.2026", True)


def test_a_named_pipe_as_path_is_a_problem(tmp_path: Path) -> None:
    """It is reported and never opened."""
    os.mkfifo(tmp_path / "pipe")
    finder = DiscoveryHarness(tmp_path / "pipe")
    assert finder.scan_all() == []
    assert finder.discovery.problems == {str(tmp_path / "pipe"): "not a regular file"}


def test_special_files_named_like_logs_are_ignored(tmp_path: Path) -> None:
    """Named pipes and links to devices are no logs."""
    os.mkfifo(tmp_path / "pipe.log")
    (tmp_path / "null.log").symlink_to("/dev/null")
    assert DiscoveryHarness(tmp_path).scan_all() == []


def test_overlapping_paths_are_scanned_once(tmp_path: Path) -> None:
    """The same path twice, one below the other, and one by a link."""
    make(tmp_path / "runs/a/x.log")
    (tmp_path / "link").symlink_to(tmp_path / "runs")
    roots = [tmp_path / "runs", tmp_path / "runs", tmp_path / "link", tmp_path / "runs/a"]
    assert DiscoveryHarness(*roots).scan_all() == ["a/x.log"]


def test_tool_folders_are_skipped_unless_given(tmp_path: Path) -> None:
    """Version control, environments and caches hold no runs; as a PATH they are searched."""
    make(tmp_path / ".git/a.log", tmp_path / "node_modules/x/b.log", tmp_path / ".cache/t/c.log")
    assert DiscoveryHarness(tmp_path).scan_all() == []
    assert DiscoveryHarness(tmp_path, tmp_path / ".cache/t").scan_all() == ["c.log"]


def test_depth_is_bounded(tmp_path: Path) -> None:
    """Nothing deeper than the limit is listed."""
    make(tmp_path / "1/2/a.log", tmp_path / "1/2/3/b.log")
    assert DiscoveryHarness(tmp_path, max_depth=2).scan_all() == ["1/2/a.log"]


def test_a_link_to_a_covered_directory_is_ignored(tmp_path: Path) -> None:
    """`latest-run` leads to a directory that is listed anyway: its logs keep their own path."""
    make(tmp_path / "run-1/a.log")
    (tmp_path / "latest-run").symlink_to("run-1")
    finder = DiscoveryHarness(tmp_path)
    assert finder.scan_all() == ["run-1/a.log"]
    make(tmp_path / "run-2/a.log")
    (tmp_path / "latest-run").unlink()
    (tmp_path / "latest-run").symlink_to("run-2")
    assert finder.scan_all() == ["run-1/a.log", "run-2/a.log"]


def test_a_link_out_of_the_tree_is_followed(tmp_path: Path) -> None:
    """Runs elsewhere are found under the link's name, also after its target changes."""
    make(tmp_path / "far/one/a.log", tmp_path / "far/two/b.log")
    root = tmp_path / "runs"
    root.mkdir()
    link = root / "current"
    link.symlink_to(tmp_path / "far/one")
    finder = DiscoveryHarness(root)
    assert finder.scan_all() == ["current/a.log"]
    link.unlink()
    link.symlink_to(tmp_path / "far/two")
    assert finder.scan_all() == ["current/b.log"]
    link.unlink()
    assert finder.scan_all() == []


def test_two_links_to_one_target_count_once(tmp_path: Path) -> None:
    """The first one is followed."""
    make(tmp_path / "far/a.log")
    root = tmp_path / "runs"
    root.mkdir()
    for name in ("one", "two"):
        (root / name).symlink_to(tmp_path / "far")
    assert len(DiscoveryHarness(root).scan_all()) == 1


def test_linked_files(tmp_path: Path) -> None:
    """A link to a log elsewhere is a log; one to a log in the tree is ignored."""
    make(tmp_path / "far/x.txt", tmp_path / "runs/a.log")
    (tmp_path / "runs/far.log").symlink_to(tmp_path / "far/x.txt")
    (tmp_path / "runs/latest.log").symlink_to("a.log")
    (tmp_path / "runs/broken.log").symlink_to("nowhere")
    assert DiscoveryHarness(tmp_path / "runs").scan_all() == ["a.log", "far.log"]


def test_loops_end(tmp_path: Path) -> None:
    """Links to the tree itself, above it, to themselves and to one another."""
    make(tmp_path / "runs/a/x.log")
    (tmp_path / "runs/a/self").symlink_to(tmp_path / "runs")
    (tmp_path / "runs/above").symlink_to(tmp_path)
    (tmp_path / "runs/loop").symlink_to("loop")
    (tmp_path / "runs/ping").symlink_to("pong")
    (tmp_path / "runs/pong").symlink_to("ping")
    assert DiscoveryHarness(tmp_path / "runs").scan_all() == ["a/x.log"]


def test_a_path_that_is_a_link_follows_its_target(tmp_path: Path) -> None:
    """`ppo-top latest-run`: the link may get a new target."""
    make(tmp_path / "one/a.log", tmp_path / "two/b.log")
    age(tmp_path / "one", tmp_path / "two")
    link = tmp_path / "latest"
    link.symlink_to("one")
    finder = DiscoveryHarness(link)
    assert finder.scan_all() == ["a.log"]
    link.unlink()
    link.symlink_to("two")
    assert finder.scan_all() == ["b.log"]


@pytest.mark.parametrize("name", ["a\nb.log", "\x1b[31m.log", "\u202e.log", " .log", "é.log"])
def test_any_name_is_kept(tmp_path: Path, name: str) -> None:
    """Control characters, bidirectional marks and spaces stay as they are."""
    make(tmp_path / name / name)
    assert DiscoveryHarness(tmp_path).scan_all() == [f"{name}/{name}"]


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    """They are kept so that the file can be opened."""
    path = os.fsencode(tmp_path) + b"/\xff.log"
    with open(path, "wb"):
        pass
    (key,) = DiscoveryHarness(tmp_path).scan_all()
    assert os.fsencode(key) == b"\xff.log"


@pytest.fixture
def deny(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path, int], None]]:
    """Make listing a directory fail with an error number (0: no more), also for root."""
    failing: dict[str, int] = {}
    scandir = os.scandir

    def scan(path: str) -> Iterator[os.DirEntry[str]]:
        if failing.get(path):
            raise OSError(failing[path], os.strerror(failing[path]))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scan)
    yield lambda path, error: failing.__setitem__(str(path), error)


def test_a_directory_without_permission_is_reported_and_tried_again(
    tmp_path: Path, deny: Callable[[Path, int], None]
) -> None:
    """One closed directory hides nothing else, and is read once it is open."""
    make(tmp_path / "open/a.log", tmp_path / "shut/b.log")
    deny(tmp_path / "shut", 13)
    finder = DiscoveryHarness(tmp_path)
    assert finder.scan_all() == ["open/a.log"]
    problem = "cannot read: permission denied"
    assert finder.discovery.problems == {str(tmp_path / "shut"): problem}
    deny(tmp_path / "shut", 0)
    assert finder.scan_all() == ["open/a.log", "shut/b.log"]
    assert finder.discovery.problems == {}


def test_an_unavailable_file_system_loses_no_runs(
    tmp_path: Path, deny: Callable[[Path, int], None]
) -> None:
    """A stale network mount keeps its runs and is reported."""
    make(tmp_path / "a/x.log")
    finder = DiscoveryHarness(tmp_path)
    finder.scan_all()
    make(tmp_path / "a/y.log")
    deny(tmp_path / "a", 116)
    assert finder.scan_all() == ["a/x.log"]
    assert "stale" in finder.discovery.problems[str(tmp_path / "a")]
    deny(tmp_path / "a", 0)
    assert finder.scan_all() == ["a/x.log", "a/y.log"]


def test_a_directory_is_listed_again_only_when_it_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unrelated files cost one look."""
    folders = [tmp_path / f"d{number}" for number in range(20)]
    for folder in folders:
        make(*(folder / f"model-{number}.pt" for number in range(50)))
    age(*folders, tmp_path)
    listed: list[str] = []
    scandir = os.scandir

    def scan(path: str) -> object:
        listed.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scan)
    finder = DiscoveryHarness(tmp_path)
    finder.scan_all()
    assert len(listed) == 21
    listed.clear()
    for _ in range(10):
        finder.scan_all()
    assert listed == []
    make(folders[3] / "a.log")
    assert finder.scan_all() == ["d3/a.log"]
    assert set(listed) == {str(folders[3])}


def test_a_change_within_the_clock_resolution_is_seen(tmp_path: Path) -> None:
    """A recently modified directory is listed again even if its time stamp stays."""
    make(tmp_path / "a.log")
    finder = DiscoveryHarness(tmp_path)
    finder.scan_all()
    stamp = tmp_path.stat()
    make(tmp_path / "b.log")
    os.utime(tmp_path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert finder.scan_all() == ["a.log", "b.log"]


def test_time_stamps_in_the_future_do_no_harm(tmp_path: Path) -> None:
    """A writer's clock may be ahead."""
    make(tmp_path / "a/x.log")
    os.utime(tmp_path / "a", (4e9, 4e9))
    finder = DiscoveryHarness(tmp_path)
    finder.scan_all()
    make(tmp_path / "a/y.log")
    assert finder.scan_all() == ["a/x.log", "a/y.log"]


def test_a_crowded_directory_with_much_change_costs_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a slow listing it is not listed for a while, hints or not, but not forgotten."""
    seconds = iter(range(1_000_000))
    monkeypatch.setattr("ppo_top.files.discovery.time.thread_time", lambda: next(seconds))
    finder = DiscoveryHarness(tmp_path)
    finder.scan_all()
    make(tmp_path / "a.log")
    assert finder.scan_all(hints=[str(tmp_path)]) == []
    finder.clock.now += 50
    assert finder.scan_all() == ["a.log"]


def test_a_hinted_directory_is_listed_at_once(tmp_path: Path) -> None:
    """A directory in which something happened is listed at once."""
    make(tmp_path / "a/x.log")
    finder = DiscoveryHarness(tmp_path)
    finder.scan_all()
    make(tmp_path / "a/y.log")
    assert finder.scan_all(recheck_known=False) == ["a/x.log"]
    assert finder.scan_all(recheck_known=False, hints=[str(tmp_path / "a")]) == [
        "a/x.log",
        "a/y.log",
    ]


def test_a_scan_stops_when_its_time_is_up(tmp_path: Path) -> None:
    """A large tree is seen in several scans, nothing in it twice."""
    make(*(tmp_path / f"{number}/a.log" for number in range(30)))
    discovery = Discovery([tmp_path], LOG_NAME)
    found, looks, more = [], 0, True
    while more:
        look = discovery.scan(0.0, recheck_known=not looks)
        found += [each.key for each in look.found]
        looks, more = looks + 1, look.more
    assert looks > 10
    assert sorted(found) == sorted(f"{number}/a.log" for number in range(30))


def test_no_format_wants_a_skipped_suffix() -> None:
    """The list of suffixes that are never logs contradicts no format."""
    stems = ("x", "progress", "log", "trainer_state", "config", "train_log", "result")
    for suffix in NON_LOG_SUFFIXES:
        assert not any(is_file_name(f"{stem}.{suffix}") for stem in stems)


@pytest.mark.parametrize("name", ["console.py", "console.php", "stdout.h", "console_util.test.js"])
def test_source_code_is_no_log(name: str) -> None:
    """Projects have source files named like console output."""
    assert not is_file_name(name)


@pytest.mark.parametrize("name", ["console", "console.log", "stdout.node-1", "nohup.out"])
def test_console_output_needs_no_suffix(name: str) -> None:
    """Launchers' names for it are enough."""
    assert is_file_name(name)


def test_a_host_name_may_look_like_a_suffix(tmp_path: Path) -> None:
    """tensorboardX ends the name of an event file with the host, such as a Portuguese one."""
    make(tmp_path / "events.out.tfevents.1700000000.node.pt")
    discovery = Discovery([tmp_path], is_file_name)
    assert len(discovery.scan(1.0).found) == 1


def test_too_many_directories_are_reported_and_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is bounded when someone watches the root of a machine."""
    monkeypatch.setattr("ppo_top.files.directory_tree.MAX_DIRECTORIES", 5)
    make(*(tmp_path / f"{number}/a.log" for number in range(30)))
    finder = DiscoveryHarness(tmp_path)
    assert len(finder.scan_all()) == 4
    words = "more than 5 directories, the rest is ignored"
    assert finder.discovery.problems == {f"{tmp_path}/*": words}
