"""Whether a process that could have written a log is left, where it does not keep the log open.

d3rlpy, TorchRL and others open their tables for each row and close them: no open file tells whether
the training goes on. But it is a process of the user who owns the log, began before the last row,
and has loaded what trainers compute with.
"""

# ruff: noqa: PTH116
# Paths stay strings here, as in `open_files`.

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from ppo_top.files.machine.open_files import SCAN_VALID_S, OpenFiles, processes_below
from ppo_top.text.lazy_pattern import lazy_pattern

CLOCK_SLACK_S = 60.0
"""A process that began so much after the last row counts: the clock may have been set."""
PROGRAM_NAMES = ("ppo-top", "ppo_top", "ppo-top.pyz", "ppo-top-screen.pyz")
_INIT = "1"
"""The first process of a machine starts the others; in a container no answer is given."""
_LIBRARY = lazy_pattern(r"/(numpy|torch|jaxlib|tensorflow|mlx|paddle|mindspore)/")
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class TrainingProcesses:
    """The processes of this machine that may be trainings."""

    def __init__(
        self, files: OpenFiles, proc: str = "/proc", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._files, self._proc, self._clock = files, proc, clock
        self._began: dict[int, list[float]] = {}
        self._next_scan = float("-inf")

    def are_gone(self, logs: Iterable[Path], since: float) -> bool:
        """Whether none is left of those that could write these logs at a time (unix seconds).

        False where that is unknown: see `OpenFiles.has_no_writers`.
        """
        owners = {self._files.owner(log) for log in logs}
        if not owners or None in owners:
            return False
        if self._clock() >= self._next_scan:
            self._began.clear()
            self._next_scan = self._clock() + SCAN_VALID_S
        began = [time for owner in owners if owner is not None for time in self._trainings(owner)]
        return not any(each <= since + CLOCK_SLACK_S for each in began)

    def _trainings(self, owner: int) -> list[float]:
        """When the processes of a user began that have loaded a library of trainers."""
        if owner not in self._began:
            boot = self._boot_time()
            found = (self._beginning(each, owner) for each in processes_below(self._proc))
            self._began[owner] = [boot + each for each in found if each is not None]
        return self._began[owner]

    def _beginning(self, process: str, owner: int) -> float | None:
        """Seconds from the machine's start to that of a process, if it may be a training."""
        folder = f"{self._proc}/{process}"
        try:
            if process == _INIT or os.stat(folder).st_uid != owner or not _may_train(folder):
                return None
            return int(_text(f"{folder}/stat").rpartition(")")[2].split()[19]) / _TICKS
        except (FileNotFoundError, ProcessLookupError):  # it just ended
            return None
        except (OSError, ValueError, IndexError):
            return float("-inf")  # unknown: it may be the one

    def _boot_time(self) -> float:
        """When the machine was started (unix seconds); minus infinity where it does not say."""
        try:
            lines = _text(f"{self._proc}/stat").splitlines()
            began = (float(line.split()[1]) for line in lines if line.startswith("btime "))
            return next(began, float("-inf"))
        except (OSError, ValueError, IndexError):
            return float("-inf")


def _may_train(folder: str) -> bool:
    """Whether a process has loaded such a library, and is not this program, which has it, too."""
    command = _text(f"{folder}/cmdline").split("\0")[:3]  # python, -m, ppo_top
    is_watching = any(each.rpartition("/")[2] in PROGRAM_NAMES for each in command)
    return not is_watching and _LIBRARY.search(_text(f"{folder}/maps")) is not None


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
