"""Who has a log open for writing, and when that is unknown."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ppo_top.files.machine import open_files
from ppo_top.files.machine.open_files import OpenFiles
from ppo_top.model import State
from ppo_top.runs import liveness
from ppo_top.runs.liveness import RunStatus, run_status
from ppo_top.runs.load import load_session
from ppo_top.settings import Settings
from tests.support.growing_logs import DEMO_LOGS_FOLDER

HOLD_OPEN_SCRIPT = (
    "import sys; file = open(sys.argv[1], sys.argv[2]); print(flush=True); sys.stdin.read()"
)


@contextmanager
def held(log: Path, mode: str = "a") -> Iterator[None]:
    """Another process has a file open."""
    command = [sys.executable, "-c", HOLD_OPEN_SCRIPT, str(log), mode]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdin is not None
        process.stdout.readline()
        yield
        process.stdin.close()


@pytest.fixture(autouse=True)
def plain_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that the tests run on a machine with a local disk."""
    monkeypatch.setattr(
        open_files, "INITIAL_PID_NAMESPACE", str(Path("/proc/self/ns/pid").readlink())
    )
    monkeypatch.setattr(open_files, "file_system_type", lambda path: "ext4")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log that nobody writes."""
    path = tmp_path / "progress.csv"
    path.write_text("a,b\n")
    return path


def test_a_log_open_for_writing_has_a_writer(log: Path) -> None:
    """Also through a link."""
    link = log.with_name("latest.csv")
    link.symlink_to(log)
    with held(log):
        assert not OpenFiles().has_no_writers([log])
        assert not OpenFiles().has_no_writers([link])
    assert OpenFiles().has_no_writers([log])
    assert OpenFiles().has_no_writers([link])


def test_a_writer_in_a_container_is_seen(log: Path) -> None:
    """`docker run -v $PWD/runs:/workspace`: files are compared, not paths."""
    elsewhere = log.parent / "workspace" / log.name
    elsewhere.parent.mkdir()
    elsewhere.hardlink_to(log)
    with held(elsewhere):
        assert not OpenFiles().has_no_writers([log])
    other = log.parent / "other" / log.name
    other.parent.mkdir()
    with held(other):
        assert OpenFiles().has_no_writers([log])


def test_one_open_log_of_several_is_enough(log: Path) -> None:
    """The console goes to a file; the trainer closed its tables long ago."""
    console = log.with_name("train.log")
    with held(console):
        assert not OpenFiles().has_no_writers([log, console])
    assert OpenFiles().has_no_writers([log, console])


def test_readers_do_not_count(log: Path) -> None:
    """`tail -f` and this program do not keep a run alive."""
    with held(log, "r"):
        assert OpenFiles().has_no_writers([log])


def in_container(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(open_files, "INITIAL_PID_NAMESPACE", "pid:[1]")


def on_a_network(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(open_files, "file_system_type", lambda path: "nfs4")


def on_an_unknown_disk(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(open_files, "file_system_type", lambda path: "")


def of_somebody_else(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(os, "geteuid", lambda: 123_456)


def among_many(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(open_files, "MAX_OPEN_FILES", 2)


@pytest.mark.parametrize(
    "where", [in_container, on_a_network, on_an_unknown_disk, of_somebody_else, among_many]
)
def test_the_answer_is_unknown_where_not_all_processes_are_visible(
    where: Callable[[pytest.MonkeyPatch], None], log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer may be one that this process cannot see."""
    where(monkeypatch)
    assert not OpenFiles().has_no_writers([log])


def test_the_answer_is_unknown_without_a_log(log: Path, tmp_path: Path) -> None:
    """No logs, a pipe, a deleted log, a system without `/proc`."""
    assert not OpenFiles().has_no_writers([])
    assert not OpenFiles().has_no_writers([log, tmp_path / "stdin"])
    assert not OpenFiles(proc=str(tmp_path)).has_no_writers([log])


def test_one_scan_serves_for_a_while(log: Path) -> None:
    """A thousand idle runs cost one scan of the processes."""
    now = [0.0]
    every = OpenFiles(clock=lambda: now[0])
    assert every.has_no_writers([log])
    with held(log):
        assert every.has_no_writers([log])
        now[0] += 60.0
        assert not every.has_no_writers([log])


@pytest.mark.parametrize("name", ["progress.csv", "0.monitor.csv", "stdout.log"])
def test_a_silent_run_is_stalled_only_while_it_has_a_writer(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stable-Baselines3 writes no end marker; a run that ended raises no alarm."""
    now = [0.0]
    monkeypatch.setattr(liveness, "LOG_WRITERS", OpenFiles(clock=lambda: now[0]))
    log = tmp_path / "run" / name
    log.parent.mkdir()
    shutil.copy(next(DEMO_LOGS_FOLDER.glob(f"sb3_*/{name}")), log)
    os.utime(log, (1_760_000_000, 1_760_000_000))
    session = load_session([tmp_path], Settings(), io.StringIO())
    assert session is not None
    (run,) = session.runs.values()
    with held(log):
        stood = run_status(run, 1_760_000_600)
        assert stood == RunStatus(State.STALLED, "no new data for 10 min")
    now[0] += 60.0
    stood = run_status(run, 1_760_000_600)
    assert stood == RunStatus(State.ENDED, "no new data for 10 min · no process has the log open")


def test_nothing_is_known_of_the_writers_of_a_copy(tmp_path: Path) -> None:
    """The log is on another machine: that nobody writes the copy means nothing."""
    log = tmp_path / "ppo-top-mirror-a1" / "node3:" / "runs" / "progress.csv"
    log.parent.mkdir(parents=True)
    log.write_text("a,b\n")
    assert not OpenFiles().has_no_writers([log])
