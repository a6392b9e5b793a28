"""Whether a trainer is left that closes its log after each row."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ppo_top.files.machine import open_files
from ppo_top.files.machine.open_files import OpenFiles
from ppo_top.files.machine.training_processes import TrainingProcesses
from ppo_top.model import State
from ppo_top.runs import liveness
from ppo_top.runs.liveness import run_status
from ppo_top.runs.load import load_session
from ppo_top.settings import Settings

BOOTED, WROTE = 1_760_000_000, 1_760_009_000.0
NAMESPACE = "pid:[4026531836]"
TICKS = os.sysconf("SC_CLK_TCK")
NUMPY = "7f00 r-xp 0 08:01 7 /env/lib/python3.12/site-packages/numpy/_core/_multiarray_umath.so\n"
SHELL = "7f00 r-xp 0 08:01 7 /usr/bin/bash\n"


class Machine:
    """A machine whose processes are files: `/proc` of its own."""

    def __init__(self, folder: Path) -> None:
        self.proc = folder / "proc"
        (self.proc / "self" / "ns").mkdir(parents=True)
        (self.proc / "self" / "ns" / "pid").symlink_to(NAMESPACE)
        (self.proc / "stat").write_text(f"cpu 1 2 3\nbtime {BOOTED}\n")
        self.now = 0.0
        files = OpenFiles(proc=str(self.proc))
        self.trainings = TrainingProcesses(files, str(self.proc), lambda: self.now)

    def add(
        self, process: int, began: float, maps: str = NUMPY, command: str = "python train.py"
    ) -> Path:
        """A process that began at a time (unix seconds)."""
        folder = self.proc / str(process)
        folder.mkdir()
        before = " ".join(["S", *["0"] * 18, str(round((began - BOOTED) * TICKS)), "0"])
        (folder / "stat").write_text(f"{process} (python (x) 3) {before}\n")
        (folder / "maps").write_text(maps)
        (folder / "cmdline").write_text("\0".join(command.split()))
        return folder

    def is_over(self, log: Path) -> bool:
        """Whether nobody is left who could have written a log, at a new look."""
        self.now += 60.0
        return self.trainings.are_gone([log], WROTE)


@pytest.fixture(autouse=True)
def plain_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A local disk."""
    monkeypatch.setattr(open_files, "file_system_type", lambda path: "ext4")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """With a shell that was there before the log."""
    made = Machine(tmp_path)
    made.add(11, WROTE - 3600, SHELL)
    return made


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A table of our own."""
    path = tmp_path / "loss.csv"
    path.write_text("1,1,0.5\n")
    return path


def test_a_training_that_began_before_the_last_row_may_be_its_writer(
    machine: Machine, log: Path
) -> None:
    """One that began later is another one; without numpy it is none."""
    assert machine.is_over(log)
    machine.add(12, WROTE + 300)
    machine.add(13, WROTE - 300, SHELL)
    assert machine.is_over(log)
    machine.add(14, WROTE - 300)
    assert not machine.is_over(log)


def test_a_clock_that_was_set_by_some_seconds_hides_no_training(
    machine: Machine, log: Path
) -> None:
    """It began 50 s after the row that it wrote."""
    machine.add(12, WROTE + 50)
    assert not machine.is_over(log)


@pytest.mark.parametrize("command", ["/env/bin/python3 /env/bin/ppo-top runs", "python -m ppo_top"])
def test_this_program_is_no_training(command: str, machine: Machine, log: Path) -> None:
    """It has loaded numpy, too, and watches from before, in this terminal or another one."""
    machine.add(12, WROTE - 300, command=command)
    assert machine.is_over(log)


def test_a_process_that_cannot_be_read_may_be_the_one(machine: Machine, log: Path) -> None:
    """Nothing is said that is not known, but the first process of a machine is no training."""
    (machine.add(1, BOOTED) / "maps").unlink()
    (machine.proc / "1" / "maps").mkdir()
    assert machine.is_over(log)
    (machine.add(12, WROTE - 300) / "stat").write_text("cut sh")
    assert not machine.is_over(log)


@pytest.mark.parametrize("stat", ["cpu 1 2 3\n", "btime\n", "btime soon\n", None])
def test_where_a_machine_does_not_say_when_it_began_any_training_may_be_the_one(
    stat: str | None, machine: Machine, log: Path
) -> None:
    """Sandboxes leave lines out of `/proc/stat`, or all of it."""
    (machine.proc / "stat").unlink()
    if stat is not None:
        (machine.proc / "stat").write_text(stat)
    assert machine.is_over(log)
    machine.add(12, WROTE + 300)
    assert not machine.is_over(log)


def test_it_is_unknown_where_writers_cannot_be_seen(
    machine: Machine, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container, a network's disk, a log that is gone, no logs."""
    assert not machine.trainings.are_gone([], WROTE)
    assert not machine.is_over(log.with_name("gone.csv"))
    with monkeypatch.context() as patch:
        patch.setattr(open_files, "INITIAL_PID_NAMESPACE", "pid:[1]")
        assert not machine.is_over(log)
    monkeypatch.setattr(open_files, "file_system_type", lambda path: "nfs4")
    assert not Machine(log.parent / "other").is_over(log)


def write_d3rlpy(folder: Path) -> None:
    """One table a metric."""
    folder.mkdir(parents=True)
    for name in (
        "rollout_return",
        "loss",
        "time_step",
        "time_environment_step",
        "time_sample_batch",
    ):
        rows = "".join(f"{n},{n * 1000},{n / 7}\n" for n in range(1, 20))
        (folder / f"{name}.csv").write_text(rows)


def write_own_table(folder: Path) -> None:
    """Of a program that nobody knows: it may be no Python's."""
    folder.mkdir(parents=True)
    rows = "".join(f"{n * 1000},{n / 7},{n / 9}\n" for n in range(1, 20))
    (folder / "history.csv").write_text("step,reward,loss\n" + rows)


@pytest.mark.parametrize(
    ("write", "state"), [(write_d3rlpy, State.ENDED), (write_own_table, State.STALLED)]
)
def test_the_tables_of_a_known_trainer_have_ended_with_its_process(
    write: Callable[[Path], None],
    state: State,
    machine: Machine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A silent run is stalled as long as its process may be there."""
    write(tmp_path / "logs" / "DoubleDQN_online_20261127204500")
    for path in tmp_path.glob("logs/*/*.csv"):
        os.utime(path, (WROTE, WROTE))
    monkeypatch.setattr(liveness, "TRAININGS", machine.trainings)
    session = load_session([tmp_path / "logs"], Settings(), io.StringIO())
    assert session is not None
    (run,) = session.runs.values()
    ended = run_status(run, WROTE + 600.0)
    assert ended.state is state
    assert ended.text.startswith("no new data for 10 min")
    machine.add(12, WROTE - 300)
    machine.now += 60.0
    assert run_status(run, WROTE + 600.0).state is State.STALLED
