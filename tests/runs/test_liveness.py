"""Whether a run is still going: by its end marker, else by its pauses."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from ppo_top.cli import main
from ppo_top.model import State
from ppo_top.runs.liveness import (
    MIN_STALL_S,
    RunStatus,
    StateFacts,
    run_status,
    stall_limit,
    status_at,
)
from ppo_top.runs.run import Run
from tests.support.growing_logs import DEMO_LOGS_FOLDER, WatchedDirectory

HOUR, DAY = 3600.0, 86400.0
WROTE = 1_700_000_000.0
"""When the logs of these tests were last written."""


def only_run(folder: Path) -> Run:
    """The only run in a folder, read to its end."""
    watched = WatchedDirectory(folder)
    watched.finish()
    (run,) = watched.session.runs.values()
    return run


def run_of(tmp_path: Path, text: str) -> Run:
    """A run whose console holds this text, last written at `WROTE`."""
    log = tmp_path / "runs" / "one" / "train.log"
    log.parent.mkdir(parents=True)
    log.write_text(text)
    os.utime(log, (WROTE, WROTE))
    return only_run(tmp_path)


GOING = "".join(
    f"Iteration {n}/20 | Mean Reward: {n}.5 | KL: 0.004 | clip%: 6.2%\n" for n in range(1, 9)
)
DONE = GOING.replace("/20", "/8")
TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "train.py", line 3, in <module>\n'
    "    loss.backward()\n"
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
)


@pytest.mark.parametrize(
    ("quiet", "state"),
    [(1.0, State.LIVE), (59.0, State.LIVE), (120.0, State.STALLED), (3 * DAY, State.ENDED)],
)
def test_a_silent_run_is_stalled_and_after_a_day_ended(
    quiet: float, state: State, tmp_path: Path
) -> None:
    """In a log without times, a stall is a minute without new data."""
    assert run_status(run_of(tmp_path, GOING), WROTE + quiet).state is state


def test_the_text_says_how_long_a_run_has_been_silent(tmp_path: Path) -> None:
    """A stall says for how long."""
    assert "no new data for 10 min" in run_status(run_of(tmp_path, GOING), WROTE + 600).text


def test_a_file_time_in_the_future_counts_as_now(tmp_path: Path) -> None:
    """A clock that was set back does not stall a run."""
    assert run_status(run_of(tmp_path, GOING), WROTE - DAY).state is State.LIVE


@pytest.mark.parametrize(
    ("hours", "state"), [(0.0, State.LIVE), (5.0, State.LIVE), (30.0, State.ENDED)]
)
def test_a_copy_of_an_old_log_is_not_live(hours: float, state: State, tmp_path: Path) -> None:
    """A fresh clone has new files: their own clock counts, but for a few hours it may be wrong."""
    start = int(WROTE - HOUR * hours) - 9
    rows = [f"{start + n},{n},{n}.5,0.01" for n in range(1, 9)]
    log = tmp_path / "runs" / "one" / "progress.csv"
    log.parent.mkdir(parents=True)
    log.write_text("\n".join(["timestamp,step,reward,approx_kl", *rows, ""]))
    os.utime(log, (WROTE, WROTE))
    assert run_status(only_run(tmp_path), WROTE + 1.0).state is state


def test_a_slow_run_has_a_longer_limit() -> None:
    """With an update every ten minutes, fifteen minutes are no stall, an hour is."""
    limit = stall_limit([600.0] * 10)
    assert 15 * 60 < limit < HOUR


def test_a_long_pause_may_happen_again() -> None:
    """The next evaluation takes ten minutes as well."""
    assert stall_limit([10.0, 10.0, 600.0, 10.0]) == 1200.0


def test_without_times_the_limit_is_a_minute() -> None:
    """A plain console log has no pauses to go by."""
    assert stall_limit([]) == MIN_STALL_S


def test_after_a_traceback_a_run_has_died_of_its_last_line(tmp_path: Path) -> None:
    """The error line is what users look for."""
    found = run_status(run_of(tmp_path, GOING + TRACEBACK), WROTE)
    assert found.state is State.DIED
    assert "CUDA out of memory" in found.text


def test_a_run_that_goes_on_after_a_traceback_is_live(tmp_path: Path) -> None:
    """The traceback of a caught error looks the same; only more updates show the difference."""
    found = run_status(run_of(tmp_path, GOING + TRACEBACK + GOING.replace("/20", "/99")), WROTE)
    assert found.state is State.LIVE


def test_an_end_marker_finishes_a_run(tmp_path: Path) -> None:
    """`Training complete!` of the custom script, whatever the time of the file."""
    text = GOING + "Training complete! 20-episode evaluation: 500.0 +/- 0.0\n"
    assert run_status(run_of(tmp_path, text), WROTE + DAY).state is State.FINISHED


def test_a_run_that_reached_its_last_step_is_finished(tmp_path: Path) -> None:
    """`Iteration 8/8` is the end, even without an end marker."""
    assert run_status(run_of(tmp_path, DONE), WROTE + HOUR) == RunStatus(
        State.FINISHED, "all steps done"
    )


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (DONE, "finished"),
        (GOING, "ended"),
        (DONE + "Traceback (most recent call last):\nKeyboardInterrupt\n", "ended"),
    ],
    ids=["done", "going", "interrupted"],
)
def test_a_pipe_that_is_closed_after_the_last_step_is_that_of_a_finished_run(
    text: str, state: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in a file; what the log says of its end counts for more."""
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(text.encode())))
    main(["check", "--json", "-"])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["state"] == state


@pytest.mark.parametrize(
    "form", ["update {n}/20 | steps {s} | ", "Iteration {n}/20 | Steps: {s} | "]
)
def test_steps_beside_the_last_iteration_do_not_hide_the_end(tmp_path: Path, form: str) -> None:
    """`Iteration 20/20 | Steps: 40960` is the end, as `Iteration 20/20` is."""
    lines = [form.format(n=n, s=2048 * n) + f"reward: {n}.5 | KL: 0.0{n}\n" for n in range(1, 21)]
    run = run_of(tmp_path, "".join(lines))
    assert run.total_steps == 20
    assert run_status(run, WROTE + HOUR) == RunStatus(State.FINISHED, "all steps done")


@pytest.mark.parametrize(
    "form",
    ["Episode {n}/50 | reward: {n}.5", "Episodes: {n}/50, Avg reward: {n}.5",
     "Training episode {n}/50 | reward: {n}.5", "Epoch {n}/50 | reward: {n}.5 | KL: 0.0{n}"],
)  # fmt: skip
@pytest.mark.parametrize(("numbers", "state"), [
    (range(1, 41), State.ENDED), (range(1, 51), State.FINISHED), (range(50), State.FINISHED),
    (range(0, 50, 10), State.ENDED),
])  # fmt: skip
def test_a_run_is_finished_with_its_last_episode_or_epoch(
    tmp_path: Path, form: str, numbers: range, state: State
) -> None:
    """Also of those that count from 0, if each of them is logged; after 40 of 50 more may come."""
    run = run_of(tmp_path, "".join(form.format(n=n) + "\n" for n in numbers))
    assert run.total_steps == 50
    assert run.timeline.axis.value == ("epoch" if "Epoch" in form else "episode")
    assert run_status(run, WROTE + 10 * DAY).state is state


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("form", ["Update {n}/50 | timesteps {s}", "epoch: {n}/50 frames: {s}"])
def test_a_total_of_iterations_is_one_of_steps_if_all_are_alike(
    tmp_path: Path, first: int, form: str
) -> None:
    """`Update 3/50 | timesteps 6144`: 102,400 in all; rl_games counts epochs so."""
    form += " reward: {n}.5\n"
    lines = [form.format(n=n + first, s=2048 * (n + 1)) for n in range(49)]
    run = run_of(tmp_path, "".join(lines))
    assert (run.timeline.steps[-1], run.total_steps) == (49 * 2048, 102_400)


def test_iterations_of_different_lengths_tell_no_total_of_steps(tmp_path: Path) -> None:
    """As those of whole episodes, which take as many steps as they do."""
    form = "Update {n}/50 | timesteps {s} | reward {n}.5\n"
    run = run_of(tmp_path, "".join(form.format(n=n, s=2000 * n + 7 * n * n) for n in range(1, 41)))
    assert run.total_steps is None


def test_a_number_of_episodes_is_no_total_of_steps(tmp_path: Path) -> None:
    """Beside `Timesteps: 1200`, `Episode 12/50` does not say how many there will be."""
    form = "Timesteps: {s} | Episode {n}/50 | reward: {n}.5\n"
    run = run_of(tmp_path, "".join(form.format(n=n, s=30 * n) for n in range(1, 41)))
    assert (run.timeline.axis.value, run.total_steps) == ("step", None)


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("torch_cartpole", State.FINISHED),
        ("torch_cartpole_nan", State.DIED),
        ("trl_grpo", State.FINISHED),
    ],
)
def test_real_logs_have_the_right_state(name: str, state: State, tmp_path: Path) -> None:
    """Whatever the times of the files."""
    shutil.copytree(DEMO_LOGS_FOLDER / name, tmp_path / name)
    assert run_status(only_run(tmp_path), WROTE).state is state


def test_a_run_whose_process_exited_has_ended_not_stalled(tmp_path: Path) -> None:
    """Event files have host and process id in their names."""
    exited = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True
    )
    source = next((DEMO_LOGS_FOLDER / "sb3_cartpole").glob("*tfevents*"))
    for number, pid in enumerate((int(exited.stdout), os.getpid())):
        folder = tmp_path / str(number)
        folder.mkdir()
        name = f"events.out.tfevents.1700000000.{socket.gethostname()}.{pid}.0"
        shutil.copy(source, folder / name)
        os.utime(folder / name, (WROTE, WROTE))
    states = [run_status(only_run(tmp_path / str(n)), WROTE + HOUR).state for n in (0, 1)]
    assert states == [State.ENDED, State.STALLED]


def test_the_processes_of_another_machine_cannot_be_asked(tmp_path: Path) -> None:
    """A silent run there is stalled, though its process id means nobody here."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    name = f"events.out.tfevents.1700000000.{socket.gethostname()}.{ended.pid}.0"
    facts = [
        StateFacts(None, MIN_STALL_S, 1000.0, [(f"{folder}/{name}", True)])
        for folder in ("/runs", "/tmp/ppo-top-mirror-a1/node3:/runs")
    ]
    here, there = (status_at(each, 1000.0 + 2 * MIN_STALL_S) for each in facts)
    assert here.state is State.ENDED
    assert there == RunStatus(State.STALLED, "no new data for 2 min")
