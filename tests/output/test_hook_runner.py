"""Commands of hooks: bounded in time, number and output; what fails costs a line."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppo_top.output import hook_runner
from ppo_top.output.hook_runner import MAX_PROCESSES, MAX_WAITING, HookCall, HookRunner

LONG_S = 60.0


class Told(list[str]):
    """The lines that were told, and the runner that tells them."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = HookRunner(self.append)

    def run(self, script: str, run: str = "run", stdin: bytes = b"", **variables: str) -> None:
        """Run a shell script as a hook's command."""
        call = HookCall(run, "ppo_7, crit kl-high", ("sh", "-c", script), stdin, variables)
        self.runner.start(call)

    def end(self) -> list[str]:
        """The lines once everything has run."""
        assert self.runner.wait(LONG_S)
        return list(self)


@pytest.fixture
def told() -> Iterator[Told]:
    """A runner that is closed at the end."""
    told = Told()
    yield told
    told.runner.close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little time for commands."""
    monkeypatch.setattr(hook_runner, "TIME_LIMIT_S", 0.2)
    monkeypatch.setattr(hook_runner, "GRACE_S", 0.2)


def test_a_command_gets_input_and_variables(told: Told, tmp_path: Path) -> None:
    """And what it prints is not told when it succeeds."""
    out = tmp_path / "out"
    told.run(f'echo quiet; {{ cat; echo "$PPO_TOP_RULE $HOME"; }} > {out}', stdin=b"{}\n",
             PPO_TOP_RULE="kl-high")  # fmt: skip
    assert told.end() == []
    assert out.read_text() == f"{{}}\nkl-high {os.environ['HOME']}\n"


def test_no_shell_reads_the_command(told: Told, tmp_path: Path) -> None:
    """What looks like a second command is an argument."""
    words = (sys.executable, "-c", "import sys; sys.exit(sys.argv[1:] != ['$HOME;', '*'])")
    told.runner.start(HookCall("run", "", (*words, "$HOME;", "*"), b"", {}))
    assert told.end() == []


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("echo one; echo two >&2; exit 3", "exit code 3: two"),
        ("exit 1", "exit code 1"),
        ("printf '\\033[31mred'; exit 1", "exit code 1: \ufffd[31mred"),
        ("kill -9 $$", "ended by signal 9"),
    ],
)
def test_a_failure_is_one_line(told: Told, script: str, line: str) -> None:
    """With the last line that the command printed."""
    told.run(script)
    assert told.end() == [f"hook sh (ppo_7, crit kl-high): {line}"]


def test_a_program_that_is_gone_is_one_line(told: Told) -> None:
    """It may have been there when watching began."""
    told.runner.start(HookCall("run", "ppo_7", ("/no/such/program",), b"", {}))
    told.run("exit 0")
    assert told.end() == ["hook /no/such/program (ppo_7): cannot run: No such file or directory"]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("trap", ["", "trap '' TERM; "])
def test_a_command_that_hangs_is_stopped(told: Told, trap: str) -> None:
    """By SIGTERM, then by SIGKILL, with what it started."""
    told.run(f"{trap}while :; do sleep 60; done")
    (line,) = told.end()
    assert line.startswith("hook sh (ppo_7, crit kl-high): stopped after 0.2 s")


@pytest.mark.usefixtures("quick")
def test_a_flood_of_output_is_read_and_forgotten(told: Told) -> None:
    """The command never waits for us, and only the end of its output is kept."""
    told.run("yes")
    (line,) = told.end()
    assert line.startswith("hook sh (ppo_7, crit kl-high): stopped after 0.2 s")


def test_input_that_nobody_reads_holds_nothing_up(told: Told) -> None:
    """More than a pipe holds."""
    told.run("exit 0", stdin=b"x" * 1_000_000)
    assert told.end() == []


def test_what_a_command_leaves_behind_is_not_waited_for(told: Told) -> None:
    """A program in the background keeps the output open."""
    begin = time.monotonic()
    told.run("sleep 30 & exit 2")
    assert told.end() == ["hook sh (ppo_7, crit kl-high): exit code 2"]
    assert time.monotonic() - begin < 15


def test_commands_of_a_run_run_in_order(told: Told, tmp_path: Path) -> None:
    """Each after the other, whatever runs beside them."""
    out = tmp_path / "out"
    for number in range(5):
        told.run(f"echo begin {number} >> {out}; echo end {number} >> {out}")
        told.run("true", run=f"other-{number}")
    assert told.end() == []
    lines = [f"{word} {number}" for number in range(5) for word in ("begin", "end")]
    assert out.read_text().splitlines() == lines


def test_few_run_at_a_time_and_few_wait(told: Told, tmp_path: Path) -> None:
    """Four wait for a pipe to be opened; what is beyond a hundred more is told, oldest first."""
    gate, out = tmp_path / "gate", tmp_path / "out"
    os.mkfifo(gate)
    for number in range(MAX_PROCESSES + MAX_WAITING + 2):
        told.run(f"echo {number} >> {out}; read line < {gate}", run=f"run-{number}")
    assert len(told) == 2
    assert all("not run, more than 100 commands wait" in line for line in told)
    while not out.exists() or len(out.read_text().split()) < MAX_PROCESSES:
        time.sleep(0.01)  # processes of others: nothing tells when they have written
    assert sorted(map(int, out.read_text().split())) == list(range(MAX_PROCESSES))


@pytest.mark.usefixtures("quick")
def test_the_end_of_watching_ends_the_commands(told: Told) -> None:
    """What waits is told; what runs is ended."""
    told.run("trap '' TERM; sleep 60; sleep 60")
    told.run("true")
    begin = time.monotonic()
    told.runner.close()
    assert time.monotonic() - begin < 15
    assert told[0] == "1 command of hooks not run: the watching ends"
