"""Nothing is left unread in silence: which files gave nothing, and why."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path

import pytest

from ppo_top.cli import main
from ppo_top.files import directory_tree
from ppo_top.files.directory_tree import FoundFile
from ppo_top.files.follower import Follower
from ppo_top.files.passed_over import MAX_NAMED, PassedOver, passed_over_lines
from ppo_top.files.rejected import RejectedFiles
from ppo_top.files.tail import Tail
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from tests.support.growing_logs import drain
from tests.support.number_log import ManualClock

LOG = "".join(f"Episode {step} | reward: {step}.5\n" for step in range(1, 31))


def said(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    """What `check` says besides its report, with paths below the folder."""
    main(["check", "--no-cache", *options, str(folder)])
    text = capsys.readouterr().err
    return [line.removeprefix("ppo-top: ") for line in text.replace(f"{folder}/", "").splitlines()]


def test_check_v_names_each_file_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the reasons; models, pictures and source code are not worth a word."""
    (tmp_path / "train.log").write_text(LOG)
    for name, text in (
        ("notes.txt", "try 3e-4"),
        ("data.csv", "a,b\n1,2\n"),
        ("empty.log", ""),
        ("model.pt", "\0"),
        ("train.py", "pass"),
    ):
        (tmp_path / name).write_text(text)
    assert said(tmp_path, capsys) == []
    assert sorted(said(tmp_path, capsys, "-v")) == [
        "passed over data.csv: unrecognised log format",
        "passed over empty.log: empty",
        "passed over notes.txt: not called like a log: give its own path to read it",
    ]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("name", ["rewards_2_v1.txt", "train_log.txt", "scores.npy", "ppo.log"])
def test_a_pickle_is_named_as_one(
    protocol: int, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is never loaded; whatever its name, and whether it was named or found."""
    path = tmp_path / name
    path.write_bytes(pickle.dumps([float(number) for number in range(300)], protocol))
    reason = "a Python pickle: not read, since loading one may run code"
    assert f"passed over {name}: {reason}" in said(tmp_path, capsys, "-v")
    main(["check", "--no-cache", str(path)])
    first, *_ = capsys.readouterr().err.splitlines()
    assert first == f"ppo-top: {path}: {reason}"


def test_where_nothing_is_read_a_hint_leads_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the advice on what to give instead; a single file is named."""
    (tmp_path / "notes.txt").write_text("try 3e-4")
    hint, *_ = said(tmp_path, capsys)
    assert hint.startswith("passed over notes.txt: unrecognised log format")
    (tmp_path / "more.txt").write_text("or 1e-4")
    hint, *_ = said(tmp_path, capsys)
    assert hint == "2 files passed over: `ppo-top check -v` says which, and why"


def test_of_many_files_some_are_named() -> None:
    """Per reason, and the rest are counted."""
    files = [PassedOver(f"/data/{number:04}.json", "no") for number in range(500)]
    lines = list(passed_over_lines([*files, PassedOver("/z.csv", "other")]))
    assert len(lines) == MAX_NAMED + 2
    assert lines[MAX_NAMED] == "passed over 480 more: no"
    assert lines[-1] == "passed over /z.csv: other"


def test_the_session_knows_them_as_they_come_and_go(tmp_path: Path) -> None:
    """For the help of the screen; a file that becomes a log is no longer among them."""
    clock = ManualClock()
    session, follower = Session(Settings()), Follower([tmp_path], clock=clock)

    def look() -> list[str]:
        clock.now += 10
        drain(follower, session)
        return [line.replace(f"{tmp_path}/", "") for line in session.passed_over]

    assert look() == []
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    (tmp_path / "notes.txt").write_text("try 3e-4")
    (tmp_path / "a.ipynb").write_text("{}")
    assert look() == [
        "1 notebook passed over (name them, or use --notebooks): a.ipynb",
        "passed over data.csv: unrecognised log format",
        "passed over notes.txt: not called like a log: give its own path to read it",
    ]
    (tmp_path / "notes.txt").unlink()
    (tmp_path / "a.ipynb").unlink()
    (tmp_path / "data.csv").write_text("step,reward\n" + "1,2\n" * 9)
    look()
    assert look() == []
    follower.close()


def test_a_crowd_of_other_files_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data set with a file for each sample does not fill the memory."""
    monkeypatch.setattr(directory_tree, "MAX_PASSED_OVER", 10)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        for number in range(8):
            (tmp_path / folder / f"{number}.json").write_text("{}")
    follower = Follower([tmp_path])
    drain(follower, Session(Settings()))
    assert len(follower.passed_over()) == 10
    follower.close()


def test_problems_may_be_asked_for_while_files_come_and_go(tmp_path: Path) -> None:
    """`check` and the screen ask in one thread while the reader finds files in another."""
    rejected = RejectedFiles()
    names = [f"{number}.log" for number in range(2_000)]
    for name in names:
        (tmp_path / name).write_bytes(b"PK\x03\x04")
    found = [FoundFile(str(tmp_path / name), name, str(tmp_path), True) for name in names]
    for each in found:
        rejected.add(each, Tail(each.path))
    ended = threading.Event()

    def change() -> None:
        while not ended.is_set():
            rejected.pop_changed()

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(100):
            rejected.problems  # noqa: B018 (it must not raise)
    finally:
        ended.set()
        thread.join()
