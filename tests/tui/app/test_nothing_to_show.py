"""Where there is no run, the screen says why, as `check` does."""

from __future__ import annotations

import asyncio
import gzip
import threading
import time
from pathlib import Path

import pytest

from ppo_top.tui.app import nothing_found
from ppo_top.tui.app.app import PpoTop
from tests.support.denied_files import deny_opening
from tests.support.running_app import app_over, screen, until
from tests.support.screens import FakeClock, write_unhealthy_run


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("typo.log", None, "typo.log: no such file or directory; waiting for it"),
        ("model.log", b"PK\x03\x04\x00\x01\x02", "model.log: unrecognised log format"),
    ],
)
async def test_a_path_that_gives_nothing_is_named_with_the_reason(
    tmp_path: Path, name: str, content: bytes | None, why: str
) -> None:
    """Without it one would look at "Looking for logs" for ever."""
    if content is not None:
        (tmp_path / name).write_bytes(content)
    app = app_over(tmp_path / name)
    async with app.run_test(size=(160, 24)):
        await until(lambda: why in screen(app))


async def test_what_is_not_listed_is_counted(tmp_path: Path) -> None:
    """Five reasons are enough to see what is wrong, but there are more."""
    for number in range(8):
        (tmp_path / f"notes{number}.txt").write_text("Dear diary, training went well today.\n")
    app = app_over(tmp_path)
    async with app.run_test(size=(160, 24)):
        await until(lambda: "notes4.txt: no metrics in it" in screen(app))
        assert "and 3 more" in screen(app) and "notes5.txt" not in screen(app)


async def test_the_reason_goes_once_there_is_a_run(tmp_path: Path) -> None:
    """The directory that was waited for appears, with a log in it."""
    app = app_over(tmp_path / "runs")
    async with app.run_test(size=(160, 24)):
        await until(lambda: "waiting for it" in screen(app))
        write_unhealthy_run(tmp_path / "runs" / "a" / "progress.csv")
        await until(lambda: "Update" in screen(app))
        assert "waiting for it" not in screen(app)


async def test_a_log_that_cannot_be_read_is_counted_beside_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `check` says that it is not judged; the help names it."""
    for name in "ab":
        write_unhealthy_run(tmp_path / "runs" / name / "progress.csv")
    closed = tmp_path / "runs" / "b" / "progress.csv"
    deny_opening(closed, monkeypatch)
    app = app_over(tmp_path / "runs")
    async with app.run_test(size=(160, 80)) as pilot:
        await until(lambda: "1 unreadable" in screen(app).splitlines()[0])
        await until(lambda: f"Not judged: {closed}: cannot read" in screen(app).splitlines()[-1])
        await pilot.press("question_mark")
        await until(lambda: f"{closed}: cannot read: permission denied" in screen(app))


async def test_a_run_whose_logs_are_deleted_is_said_to_be_gone(tmp_path: Path) -> None:
    """It leaves the list with a word; the others stay."""
    for name in "ab":
        write_unhealthy_run(tmp_path / "runs" / name / "progress.csv")
    app = app_over(tmp_path / "runs")
    async with app.run_test(size=(160, 24)):
        await until(lambda: "Update KL" in screen(app))
        (tmp_path / "runs" / "a" / "progress.csv").unlink()
        await until(lambda: "Gone: a (all logs were deleted)" in screen(app))
        assert [run.name for run in app.ui_state.session.runs.values()] == ["b"]


@pytest.mark.parametrize("pause", [0.0, 1.0])
async def test_a_log_that_is_compressed_is_not_said_to_be_gone(
    tmp_path: Path, pause: float
) -> None:
    """`logrotate` writes `train.log.1.gz`, then deletes `train.log.1`; both are there at first."""
    lines = [f"step: {n * 2048} | mean reward: {n} | approx kl: 0.0{n % 9}1" for n in range(1, 60)]
    log = tmp_path / "runs" / "train.log.1"
    log.parent.mkdir()
    log.write_text("\n".join(lines) + "\n")
    app = app_over(tmp_path / "runs")
    async with app.run_test(size=(160, 24)):
        await until(lambda: app.judging.all_judged)
        packed = log.with_name("train.log.1.gz")
        packed.write_bytes(gzip.compress(log.read_bytes()))
        await asyncio.sleep(pause)
        log.unlink()
        await until(lambda: shown_logs(app) == ["train.log.1.gz"])
        app.drawing.draw()
        assert "Gone" not in screen(app)
        packed.unlink()
        await until(lambda: "Gone: " in screen(app))


def shown_logs(app: PpoTop) -> list[str]:
    """The logs of all runs."""
    runs = app.ui_state.session.runs.values()
    return [state.source.path.name for run in runs for state in run.sources.values()]


async def test_keys_are_answered_while_a_file_system_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks a dead mount for a path waits for ever: that is left to the reader thread."""
    asked, answered = threading.Event(), threading.Event()

    def never_answers(_: object) -> str:
        assert threading.current_thread() is not threading.main_thread()
        asked.set()
        answered.wait()
        return ""

    monkeypatch.setattr(nothing_found, "unreachable_reason", never_answers)
    app = app_over(tmp_path / "runs")
    async with app.run_test(size=(160, 24)) as pilot:
        await until(asked.is_set)
        await pilot.press("question_mark")
        await until(lambda: "Symbols" in screen(app) or "Esc" in screen(app))
        answered.set()


async def test_the_last_run_that_was_deleted_is_remembered_on_the_empty_page(
    tmp_path: Path,
) -> None:
    """Who looked elsewhere for some seconds still sees what it was, and that it is gone."""
    log = tmp_path / "runs" / "a" / "progress.csv"
    write_unhealthy_run(log)
    app = app_over(tmp_path / "runs")
    async with app.run_test(size=(160, 24)) as pilot:
        await until(lambda: "Update KL" in screen(app))
        log.unlink()
        await until(lambda: "Looking for logs" in screen(app))
        await pilot.press("question_mark")
        await pilot.press("escape")
        assert "Gone: a" not in screen(app)  # any key closes that
        assert "a: its logs were deleted at " in screen(app)
        assert "it was crit (" in screen(app) and "last step 81,920" in screen(app)


@pytest.mark.parametrize("size", [(160, 24), (60, 20), (40, 15)])
async def test_who_comes_back_is_told_what_happened(tmp_path: Path, size: tuple[int, int]) -> None:
    """At every size, until a key is pressed, and some seconds longer."""
    write_unhealthy_run(tmp_path / "runs" / "a" / "progress.csv", broken_from=99)
    app = app_over(tmp_path / "runs")
    app.ui_state.clock = clock = FakeClock(time.time())
    async with app.run_test(size=size) as pilot:
        await until(lambda: app.judging.all_judged)
        write_unhealthy_run(tmp_path / "runs" / "b" / "progress.csv")
        await until(lambda: len(app.ui_state.session.runs) == 2 and "Since" not in screen(app))
        await until(lambda: any(each.verdict == "crit" for each in app.ui_state.listed_runs()))
        clock.now += 7200.0
        app.ui_state.toast = ""  # what is told for some seconds
        app.drawing.draw()
        assert "(2 h): 1 turned red (b)" in screen(app)
        await pilot.press("right")
        assert "(2 h): 1 turned red (b)" in screen(app)
        await pilot.press("right")
        assert "(2 h)" not in screen(app)
