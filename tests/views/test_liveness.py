"""Whether a run is alive: its own words first, then its rhythm."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ppo_top.model import State
from ppo_top.runs.run import Run
from ppo_top.views.liveness import MIN_STALL_S, RunStatus, run_status, stall_limit
from tests.support.growing_logs import DEMO_LOGS_FOLDER, WatchedDirectory

HOUR, DAY = 3600.0, 86400.0
WROTE = 1_700_000_000.0
"""When the logs of these tests were last written."""


def only_run(folder: Path) -> Run:
    """The one run below a folder, read whole."""
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
def test_a_silence_becomes_a_stall_and_then_an_end_without_a_word(
    quiet: float, state: State, tmp_path: Path
) -> None:
    """Without an end mark and a clock, a minute of silence is a stall, a day is the end."""
    assert run_status(run_of(tmp_path, GOING), WROTE + quiet).state is state


def test_the_words_tell_how_long_it_has_been_silent(tmp_path: Path) -> None:
    """A stall says for how long."""
    assert "no new data for 10 min" in run_status(run_of(tmp_path, GOING), WROTE + 600).text


def test_a_file_from_the_future_is_new(tmp_path: Path) -> None:
    """A clock that jumped back does not make a run older than it is."""
    assert run_status(run_of(tmp_path, GOING), WROTE - DAY).state is State.LIVE


def test_a_slow_run_is_allowed_its_own_rhythm() -> None:
    """A record each ten minutes: fifteen minutes of silence are no stall, an hour is."""
    limit = stall_limit([600.0] * 10)
    assert 15 * 60 < limit < HOUR


def test_a_long_pause_that_came_before_may_come_again() -> None:
    """An evaluation that took ten minutes takes ten minutes the next time."""
    assert stall_limit([10.0, 10.0, 600.0, 10.0]) == 1200.0


def test_without_a_clock_a_minute_is_the_limit() -> None:
    """Nothing is known of the rhythm of a console without times."""
    assert stall_limit([]) == MIN_STALL_S


def test_a_traceback_means_death_with_its_last_line(tmp_path: Path) -> None:
    """The error line is what a person looks for."""
    found = run_status(run_of(tmp_path, GOING + TRACEBACK), WROTE)
    assert found.state is State.DIED
    assert "CUDA out of memory" in found.text


def test_a_run_that_goes_on_after_a_traceback_lives(tmp_path: Path) -> None:
    """A caught error is printed like a fatal one; the next record tells them apart."""
    found = run_status(run_of(tmp_path, GOING + TRACEBACK + GOING.replace("/20", "/99")), WROTE)
    assert found.state is State.LIVE


def test_the_last_word_of_a_training_is_its_end(tmp_path: Path) -> None:
    """The custom script says so itself."""
    text = GOING + "Training complete! 20-episode evaluation: 500.0 +/- 0.0\n"
    assert run_status(run_of(tmp_path, text), WROTE + DAY).state is State.FINISHED


def test_a_run_that_made_all_its_steps_is_finished(tmp_path: Path) -> None:
    """`Iteration 8/8` is the end, although nothing says so."""
    text = GOING.replace("/20", "/8")
    assert run_status(run_of(tmp_path, text), WROTE + HOUR) == RunStatus(
        State.FINISHED, "all steps done"
    )


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("torch_cartpole", State.FINISHED),
        ("torch_cartpole_nan", State.DIED),
        ("trl_grpo", State.FINISHED),
    ],
)
def test_real_logs_tell_their_end(name: str, state: State, tmp_path: Path) -> None:
    """Whatever the times of the files say."""
    shutil.copytree(DEMO_LOGS_FOLDER / name, tmp_path / name)
    assert run_status(only_run(tmp_path), WROTE).state is state


def test_a_writer_that_is_gone_has_not_stalled(tmp_path: Path) -> None:
    """Event files name host and process: of this machine's own it can be told that they ended."""
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True
    )
    source = next((DEMO_LOGS_FOLDER / "sb3_cartpole").glob("*tfevents*"))
    for number, pid in enumerate((int(gone.stdout), os.getpid())):
        folder = tmp_path / str(number)
        folder.mkdir()
        name = f"events.out.tfevents.1700000000.{socket.gethostname()}.{pid}.0"
        shutil.copy(source, folder / name)
        os.utime(folder / name, (WROTE, WROTE))
    states = [run_status(only_run(tmp_path / str(n)), WROTE + HOUR).state for n in (0, 1)]
    assert states == [State.ENDED, State.STALLED]
