"""A remembered run is the run that was judged, without its points."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.model import Mark, Severity, SeverityChange
from ppo_top.model.plain import from_plain, to_plain
from ppo_top.runs.liveness import run_status
from ppo_top.runs.memory import RunMemory
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.support.cache import Cache
from ppo_top.views.run_view import make_run_view
from tests.support.drawn_runs import CTRL_COLUMNS, RLHF_COLUMNS, DrawnColumns, draw_rows
from tests.support.growing_logs import demo_runs, drain
from tests.support.installed_program import copy_of
from tests.support.remembered import age, opened_files

DEMO_RUNS = demo_runs()


class CachedDirectory:
    """A session that goes on, as the screen has it, with a cache."""

    def __init__(self, folder: Path, cache: Path) -> None:
        memory = RunMemory(Cache([folder], {"XDG_CACHE_HOME": str(cache)}), "scope")
        self.now = 0.0
        self.follower = Follower([folder], clock=lambda: self.now, memory=memory)
        self.session = Session(Settings(), memory=memory)
        self.read()

    def read(self, *in_view: str) -> None:
        """Read and judge what is new, and the runs in view again."""
        self.now += 3600.0
        drain(self.follower, self.session)
        self.session.judge()
        while keys := self.session.sources_to_reread(in_view):
            self.follower.reread(keys)
            drain(self.follower, self.session)
            self.session.judge()

    @property
    def run(self) -> Run:
        """The only run."""
        (run,) = self.session.runs.values()
        return run

    def close(self) -> None:
        """The end of this session."""
        assert self.session.remember(60.0)
        self.follower.close()


def shown(run: Run) -> list[object]:
    """What lists, headers and the verdict show of a run that is not in view."""
    view = make_run_view(run, None, run_status(run, 2e9))
    steps = run.timeline.steps
    return [
        *(run.id, run.name, run.path, run.findings, to_plain(run.profile), run.evaluation.config),
        *(run.points, run.last_change, run.total_steps, run.evaluation.trainer),
        *(view.verdict, view.headline, view.state, view.state_text, view.progress),
        *([finding.finding for finding in view.open_findings], view.cleared_findings),
        *(len(steps), steps[-1] if len(steps) else None),
        *[(row.concept, row.status, row.text, row.note) for row in view.checklist],
    ]


@pytest.mark.parametrize("run", DEMO_RUNS, ids=lambda run: run.name)
def test_it_looks_as_when_it_was_judged(run: Path, tmp_path: Path) -> None:
    """Findings with all their versions, the verdict, state, speed and newest values."""
    folder = tmp_path / "runs"
    shutil.copytree(run, folder / run.name)
    age(folder)
    first = CachedDirectory(folder, tmp_path / "cache")
    before = shown(first.run)
    first.close()
    with opened_files() as opened:
        second = CachedDirectory(folder, tmp_path / "cache")
    assert not opened
    assert repr(shown(second.run)) == repr(before)
    assert second.run.held_points == 0
    second.read(second.run.id)  # it is opened
    assert second.run.held_points == second.run.points
    assert repr(shown(second.run)) == repr(before)
    second.close()


@pytest.mark.parametrize("columns", [CTRL_COLUMNS, RLHF_COLUMNS], ids=["control", "rlhf"])
@pytest.mark.parametrize("sick", [False, True])
def test_drawn_runs(columns: DrawnColumns, sick: bool, tmp_path: Path) -> None:
    """Healthy ones, and ones whose updates become too large and end in NaN."""
    folder = tmp_path / "runs" / "drawn"
    folder.mkdir(parents=True)
    lines = [",".join(["step", *columns])]
    for mark, drawn in draw_rows(columns, 300):
        values = dict(drawn)
        if sick and mark.row > 150:
            values |= {"approx_kl": 0.3, "clip_fraction": 0.7}
        if sick and mark.row > 290:
            values |= {"policy_loss": math.nan}
        lines.append(",".join([str(mark.step), *map(repr, values.values())]))
    (folder / "progress.csv").write_text("\n".join(lines) + "\n")
    age(tmp_path / "runs")
    first = CachedDirectory(tmp_path / "runs", tmp_path / "cache")
    assert bool(first.run.findings) >= sick
    first.close()
    second = CachedDirectory(tmp_path / "runs", tmp_path / "cache")
    assert repr(shown(second.run)) == repr(shown(first.run))
    second.close()


def test_a_remembered_run_that_goes_on_is_read_again(tmp_path: Path) -> None:
    """Live, after it was shown from the cache."""
    folder = tmp_path / "runs"
    log = folder / "a" / "train.log"
    log.parent.mkdir(parents=True)
    lines = [f"step {row} | reward {row % 9} | kl 0.01\n" for row in range(300)]
    log.write_text("".join(lines[:100]))
    age(folder)
    CachedDirectory(folder, tmp_path / "cache").close()
    second = CachedDirectory(folder, tmp_path / "cache")
    assert second.run.held_points == 0
    log.write_text("".join(lines))
    second.read()
    second.read()
    assert second.run.held_points == second.run.points
    assert len(second.run.timeline) == 300
    log.write_text("")  # `> train.log`
    second.read()
    assert second.run.points == 0
    second.close()


def test_a_remembered_run_that_is_deleted_goes(tmp_path: Path) -> None:
    """Live, after it was shown from the cache."""
    folder = tmp_path / "runs"
    shutil.copytree(DEMO_RUNS[0], folder / "a")
    age(folder)
    CachedDirectory(folder, tmp_path / "cache").close()
    second = CachedDirectory(folder, tmp_path / "cache")
    assert second.session.runs
    shutil.rmtree(folder / "a")
    second.read()
    assert not second.session.runs
    second.close()


@pytest.mark.parametrize(
    ("name", "seconds", "remembered"),
    [
        ("torch_cartpole", 58.0, False),  # it says that it has ended, but was just written
        ("torch_cartpole", 62.0, True),
        ("sb3_cartpole", 7200.0, False),  # silent without a word: stalled
        ("sb3_cartpole", 2 * 24 * 3600.0, True),
    ],
)
def test_a_run_is_remembered_once_it_is_over(
    name: str, seconds: float, remembered: bool, tmp_path: Path
) -> None:
    """Before that it may go on, and the rules about whole runs have not spoken yet."""
    folder = tmp_path / "runs"
    copy_of(name, folder / "a")
    for path in (folder / "a").iterdir():
        if name == "sb3_cartpole" and path.name != "progress.csv":
            path.unlink()  # only this one has no clock of its own, which is years old
    age(folder, seconds)
    watched = CachedDirectory(folder, tmp_path / "cache")
    watched.session.remember(60.0)
    assert (watched.run.saved is not None) is remembered
    watched.close()


def test_a_run_that_is_written_again_is_not_shown_from_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its log was closed, so it was over; now a process has it open."""
    folder = tmp_path / "runs"
    copy_of("sb3_cartpole", folder / "a")
    age(folder, 7200.0)
    monkeypatch.setattr("ppo_top.runs.liveness.LOG_WRITERS.has_no_writers", lambda logs: True)
    CachedDirectory(folder, tmp_path / "cache").close()
    for closed in (True, False):
        monkeypatch.setattr(
            "ppo_top.runs.liveness.LOG_WRITERS.has_no_writers", lambda logs, closed=closed: closed
        )
        with opened_files() as opened:
            CachedDirectory(folder, tmp_path / "cache").follower.close()
        assert bool(opened) is not closed


def test_a_run_from_the_future_is_not_remembered(tmp_path: Path) -> None:
    """Its clock, or ours, is wrong: nothing follows from its age."""
    folder = tmp_path / "runs"
    shutil.copytree(DEMO_RUNS[0], folder / "a")
    age(folder, -3600.0)
    watched = CachedDirectory(folder, tmp_path / "cache")
    watched.session.remember(60.0)
    assert watched.run.saved is None
    watched.close()


def test_values_survive_as_plain_data() -> None:
    """NaN and infinities included."""
    change = SeverityChange(Mark(3, 4096, math.nan), Severity.WARN)
    assert repr(from_plain(SeverityChange, to_plain(change))) == repr(change)
    with pytest.raises((TypeError, ValueError)):
        from_plain(SeverityChange, [[3, 4096], 3])
    with pytest.raises((TypeError, ValueError)):
        from_plain(SeverityChange, [[3, 4096, 1.0], 9])
