"""Worker processes: the same answers as without them, a low priority, and none is left behind."""

from __future__ import annotations

import io
import json
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ppo_top.files.follower import Follower
from ppo_top.output import check
from ppo_top.output.reports.overview import OutputStyle, overview
from ppo_top.output.reports.run_report import report_json
from ppo_top.runs import judge_queue, workers
from ppo_top.runs.judge_queue import Reports
from ppo_top.runs.load import load_session
from ppo_top.runs.pipeline import read_to_end
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.runs.workers import WorkerPool, worker_count
from ppo_top.settings import Settings
from ppo_top.support.cores import usable_cores
from tests.support.corpus_sample import corpus_sample
from tests.support.drawn_runs import HEALTHY_COLUMNS
from tests.support.growing_logs import DEMO_LOGS_FOLDER, WatchedDirectory, judged_objects
from tests.support.remembered import age
from tests.support.screens import write_unhealthy_run
from tests.support.worker_reports import (
    DOOMED,
    OWNER,
    TOLD,
    killed_in_a_worker,
    niceness_and_process,
    sleeps_in_a_worker,
)

SETTINGS = Settings(thresholds={"kl-high": {"warn": 0.05}}, muted=frozenset({"clip-high"}), goal=90)


@pytest.fixture
def use_workers(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """A function that has all but one of the runs sent to this many workers, however small."""

    def use(count: int) -> None:
        monkeypatch.setattr(WorkerPool, "has_room", count > 0)
        monkeypatch.setattr(WorkerPool, "take_back", lambda pool: None)
        monkeypatch.setattr(workers, "worker_count", lambda cores: count)
        monkeypatch.setattr(workers, "MIN_WAITING_POINTS", 0)
        monkeypatch.setattr(workers, "MIN_RUN_POINTS", 0)
        monkeypatch.setattr(workers, "JOB_POINTS", 2_000)
        monkeypatch.setattr(judge_queue, "PATIENCE_S", 1e6)  # the tests beside this one need cores

    return use


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs that a worker judged."""
    found: list[str] = []
    close = Run.close

    def note(run: Run, *arguments: object) -> None:
        found.append(run.id)
        close(run, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Run, "close", note)
    return found


def write_drawn_run(folder: Path, seed: int) -> None:
    """A run of any family as JSON lines, of which one metric may break at some update."""
    rng = random.Random(seed)
    columns = HEALTHY_COLUMNS[rng.choice(list(HEALTHY_COLUMNS))]
    broken, since = rng.choice(list(columns)), rng.randrange(10, 90)
    spoiled = rng.choice([float("nan"), 0.0, 7.0, -3.0])
    folder.mkdir(parents=True)
    with (folder / "metrics.jsonl").open("w") as log:
        for number in range(rng.randrange(2, 120)):
            row: dict[str, object] = {"step": 1000 * number}
            for name, column in columns.items():
                value = column(number) if callable(column) else column
                row[name] = spoiled if name == broken and number > since else value
            log.write(json.dumps(row) + "\n")


def write_own_script(folder: Path, sign: float) -> None:
    """A run whose first values tell what is logged, in a console that was rotated once."""
    folder.mkdir(parents=True)
    lines = [
        f"step: {1000 * row} reward: {0.5 * row} entropy_loss: {sign * (0.69 - 0.002 * row)}"
        for row in range(1, 200)
    ]
    (folder / "train.log.1").write_text("\n".join(lines[:120]) + "\n")
    (folder / "train.log").write_text("\n".join(lines[120:]) + "\n")


def many_runs(folder: Path) -> Path:
    """Shipped runs, a dozen of the corpus, drawn ones and own scripts, all of them over."""
    shutil.copytree(DEMO_LOGS_FOLDER, folder)
    for run in corpus_sample(12):
        shutil.copytree(run, folder / run.name)
    for seed in range(8):
        write_drawn_run(folder / f"drawn_{seed}", seed)
    for number, sign in enumerate((-1.0, 1.0)):
        write_own_script(folder / f"own_{number}", sign)
    age(folder)
    return folder


def printed(folder: Path) -> tuple[str, str, str]:
    """What `check` prints as JSON, as text, and of problems, without what the clock changes."""
    err = io.StringIO()
    answer = check.judge_paths([folder], SETTINGS, None, [], err)
    assert answer is not None
    texts = report_json(answer.reports), overview(answer.reports, style=OutputStyle(verbose=True))
    as_json, text = (re.sub(r"no new data for [\w ]+", "", each) for each in texts)
    return as_json, text, err.getvalue()


def test_check_says_the_same_in_the_same_order(
    use_workers: Callable[[int], None], sent: list[str], tmp_path: Path
) -> None:
    """Text, JSON (byte for byte) and problems do not depend on who judged."""
    folder = many_runs(tmp_path / "runs")
    expected = printed(folder)
    assert not sent
    use_workers(2)
    assert printed(folder) == expected
    assert len(sent) > 20


def watch(folder: Path) -> WatchedDirectory:
    """The folder as the screen has it, with workers."""
    watched = WatchedDirectory(folder)
    watched.session = Session(Settings(), parallel=True)
    return watched


def test_runs_that_workers_judged_open_and_go_on(
    use_workers: Callable[[int], None], sent: list[str], tmp_path: Path
) -> None:
    """They come back without points: a look, or a new point, reads their logs."""
    for name in ("first", "second", "third"):
        write_unhealthy_run(tmp_path / name / "progress.csv", updates=60)
    age(tmp_path)
    use_workers(1)
    watched = watch(tmp_path)
    read_to_end(watched.follower, watched.session)
    grown, opened = sorted(sent)[:2]
    assert all(run.findings and run.judged for run in watched.session.runs.values())
    assert not watched.session.runs[opened].held_points
    log = tmp_path / grown / "progress.csv"
    log.write_text(log.read_text() + "200000,50,0.009,0.1\n")
    watched.now += 60.0
    read_to_end(watched.follower, watched.session, in_view=list(watched.session.runs))
    watched.finish()
    watched.session.close()
    expected = WatchedDirectory(tmp_path)
    expected.finish()
    assert judged_objects(watched.session) == judged_objects(expected.session)


def test_a_run_that_ends_later_is_read_again_for_that(tmp_path: Path) -> None:
    """Rules about a whole run need its points; until they are back, its findings stay."""
    write_unhealthy_run(tmp_path / "only" / "progress.csv", updates=60)
    watched = WatchedDirectory(tmp_path)
    watched.read_and_judge()
    (run,) = watched.session.runs.values()
    before = [finding.rule for finding in run.findings]
    run.close(run.evaluation.saved(32), is_over=False)
    run.mark_over()
    watched.session.judge()
    assert [finding.rule for finding in run.findings] == before
    assert watched.session.sources_to_reread() == {"only/progress.csv"}
    watched.follower.close()


def test_live_runs_are_judged_here(
    use_workers: Callable[[int], None], sent: list[str], tmp_path: Path
) -> None:
    """They are going to grow, and would have to be read again at once."""
    for name in ("first", "second", "third"):
        write_unhealthy_run(tmp_path / name / "progress.csv")
    use_workers(1)
    watched = watch(tmp_path)
    read_to_end(watched.follower, watched.session)
    watched.finish()
    watched.session.close()
    assert len(watched.session.runs) == 3
    assert not sent


def test_a_worker_that_dies_costs_its_run_only(
    use_workers: Callable[[int], None],
    sent: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That run is judged here, a line says so, and nothing else changes."""
    for name in ("a", DOOMED, "c", "d", "e"):
        write_unhealthy_run(tmp_path / name / "progress.csv", updates=400)
    age(tmp_path)
    expected = printed(tmp_path)
    use_workers(1)
    monkeypatch.setenv(OWNER, str(os.getpid()))
    monkeypatch.setattr(check, "make_report", killed_in_a_worker)
    as_json, text, problems = printed(tmp_path)
    assert (as_json, text) == expected[:2]
    assert problems == (
        f"ppo-top: {DOOMED}: the worker process died (exit code -9), judged without it\n"
    )
    assert sent
    assert DOOMED not in sent


def test_little_data_needs_no_worker(tmp_path: Path) -> None:
    """Starting one would take longer than judging."""
    for number in range(4):
        write_unhealthy_run(tmp_path / str(number) / "progress.csv", updates=400)
    assert processes_that_judge(tmp_path) == {os.getpid()}


def test_a_single_run_needs_no_worker(use_workers: Callable[[int], None], tmp_path: Path) -> None:
    """However large: nobody would judge beside it."""
    write_unhealthy_run(tmp_path / "only" / "progress.csv", updates=400)
    use_workers(2)
    assert processes_that_judge(tmp_path) == {os.getpid()}


def processes_that_judge(folder: Path) -> set[int]:
    """The ids of the processes that judge the runs in a folder."""
    processes: set[int] = set()
    load_session(
        [folder],
        Settings(),
        io.StringIO(),
        Reports(niceness_and_process, lambda run, made: processes.add(made[1])),
    )
    return processes


def test_a_worker_without_a_core_is_not_waited_for(
    use_workers: Callable[[int], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others have the cores, and workers the lowest priority: the runs are judged here."""
    for number in range(3):
        write_unhealthy_run(tmp_path / str(number) / "progress.csv", updates=400)
    use_workers(1)
    monkeypatch.setattr(judge_queue, "PATIENCE_S", 0.01)
    monkeypatch.setenv(OWNER, str(os.getpid()))
    judged: dict[str, int] = {}
    reports = Reports(sleeps_in_a_worker, lambda run, made: judged.update({run.id: made}))
    load_session([tmp_path], Settings(), io.StringIO(), reports)
    assert len(judged) == 3
    assert set(judged.values()) == {os.getpid()}


def test_workers_have_a_low_priority(use_workers: Callable[[int], None], tmp_path: Path) -> None:
    """Whoever else wants the core gets it."""
    for number in range(4):
        write_unhealthy_run(tmp_path / str(number) / "progress.csv", updates=400)
    use_workers(1)
    found: dict[int, int] = {}
    load_session(
        [tmp_path],
        Settings(),
        io.StringIO(),
        Reports(niceness_and_process, lambda run, made: found.update({made[1]: made[0]})),
    )
    assert sorted(found.values()) == [os.nice(0), min(19, os.nice(0) + workers.NICENESS)]


OWNER_PROGRAM = """
import os, sys
from pathlib import Path
from ppo_top.runs import workers
workers.MIN_WAITING_POINTS = workers.MIN_RUN_POINTS = 0
workers.worker_count = lambda cores: 1
from ppo_top.runs.judge_queue import Reports
from ppo_top.runs.load import load_session
from ppo_top.settings import Settings
from tests.support.worker_reports import OWNER, never_ends
os.environ[OWNER] = str(os.getpid())
load_session([Path(sys.argv[1])], Settings(), sys.stderr, Reports(never_ends))
"""


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A process with a worker in the middle of its work, and a handle that tells when that ends."""
    for number in range(4):
        write_unhealthy_run(tmp_path / "runs" / str(number) / "progress.csv", updates=400)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", OWNER_PROGRAM, str(tmp_path / "runs")]
    environment = {**os.environ, TOLD: str(pipe), "PYTHONPATH": str(root)}
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        with pipe.open() as told:
            handle = os.pidfd_open(int(told.readline()))
        yield process, handle
        process.kill()
    os.close(handle)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="no handle on a process: not Linux")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_is_left_behind(
    owner: tuple[subprocess.Popen[bytes], int], how: signal.Signals
) -> None:
    """However the owner ends (Ctrl-C goes to its whole group), a worker ends with it."""
    process, worker = owner
    os.killpg(process.pid, how)
    assert process.wait(20) != 0
    assert select.select([worker], [], [], 20)[0], "the worker lives on"


@pytest.mark.parametrize(
    ("cores", "count"), [(1, 0), (1.5, 0), (2, 1), (4, 1), (8, 3), (10, 4), (128, 4)]
)
def test_they_use_half_of_the_cores_at_most(cores: float, count: int) -> None:
    """But two processes where there are two cores, and never more than five."""
    assert worker_count(cores) == count


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity: not Linux")
def test_a_single_core_has_no_worker() -> None:
    """With an affinity of one core, as in a job that asked for one."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert worker_count(usable_cores()) == 0
    finally:
        os.sched_setaffinity(0, before)


def test_a_cgroup_limits_the_cores(tmp_path: Path) -> None:
    """The tightest of those that hold for this process, in both versions of cgroups."""

    def write(path: str, text: str) -> None:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    assert usable_cores(tmp_path) == len(os.sched_getaffinity(0))
    write("proc/self/cgroup", "4:cpu,cpuacct:/job\n1:memory:/else\n0::/slice/job\n")
    write("sys/fs/cgroup/slice/cpu.max", "50000 100000\n")
    write("sys/fs/cgroup/slice/job/cpu.max", "max 100000\n")
    assert usable_cores(tmp_path) == 0.5
    write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "25000\n")
    write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n")
    assert usable_cores(tmp_path) == 0.25
    write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n")
    assert usable_cores(tmp_path) == 0.5


def test_follow_and_the_screen_read_the_same_way(
    use_workers: Callable[[int], None], tmp_path: Path
) -> None:
    """One loop: a backlog is judged as by `check`, with workers or without."""
    for seed in range(12):
        write_drawn_run(tmp_path / f"drawn_{seed}", seed)
    age(tmp_path)
    answers = []
    for count in (0, 2):
        use_workers(count)
        session, follower = Session(Settings(), parallel=True), Follower([tmp_path])
        read_to_end(follower, session)
        follower.close()
        session.close()
        answers.append({run.id: repr(run.findings) for run in session.runs.values()})
    assert answers[0] == answers[1]
