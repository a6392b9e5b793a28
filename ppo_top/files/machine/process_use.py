"""What a training on this machine uses of it: CPU and memory from /proc, GPUs by NVML.

The training is the process that has a log open for writing, with all its children; and what writes
into its standard input, where `train.py | tee run.log` has the log open.
"""

# ruff: noqa: PTH208
# Paths stay strings here: these files are read every few seconds.

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ppo_top.files.machine.nvml import Nvml
from ppo_top.files.machine.open_files import OpenFiles, link_target, processes_below

MAX_PROCESSES = 1_000
"""A training of more processes is measured by these."""
_GIB = 1 << 30
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class ProcessUse:
    """Measures the processes that write some logs, each time it is asked."""

    def __init__(
        self,
        writers: OpenFiles,
        proc: str = "/proc",
        nvml: Callable[[], Nvml] = Nvml,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._writers, self._proc, self._clock = writers, proc, clock
        self._cpu: dict[int, tuple[float, dict[int, float]]] = {}
        """Of a training's first process: when it was measured, and seconds of CPU by process."""
        self._pipes: dict[int, set[int]] = {}
        self._nvml: Nvml | None = None
        with suppress(OSError):
            self._nvml = nvml()

    def measure(self, logs: Iterable[Path]) -> dict[str, float] | None:
        """Values by tag of `machine.tsv`; None if no process here has a log open for writing.

        The first time there are no values: the CPU is the mean since the time before.
        """
        found = self._writers.writers(logs)
        if not found:
            return None
        processes = set(self._with_children(found))
        values = dict(self._measure_processes(min(found), processes))
        if "live.cpu" not in values:
            return {}
        for gpu in self._nvml.used_by(processes) if self._nvml is not None else ():
            named = zip(gpu._fields[1:], gpu[1:], strict=True)
            values |= {f"live.gpu.{gpu.device}.{name}": v for name, v in named if v is not None}
        return values

    def _with_children(self, processes: set[int]) -> Iterator[int]:
        waiting, seen = [*processes, *self._upstream(processes)], set[int]()
        while waiting and len(seen) < MAX_PROCESSES:
            process = waiting.pop()
            if process in seen:
                continue
            seen.add(process)
            yield process
            folder = f"{self._proc}/{process}/task"
            with suppress(OSError):
                for thread in os.listdir(folder):
                    waiting += map(int, self._text(f"{folder}/{thread}/children").split())

    def _upstream(self, processes: set[int]) -> set[int]:
        """The processes whose output is a pipe that these read; looked up once for each."""
        for process in processes - self._pipes.keys():
            pipe = self._target(process, 0)
            self._pipes[process] = {
                int(other)
                for other in (processes_below(self._proc) if pipe.startswith("pipe:") else ())
                if pipe in (self._target(other, 1), self._target(other, 2))
            }
        return set().union(*(self._pipes[process] for process in processes))

    def _target(self, process: int | str, handle: int) -> str:
        return link_target(f"{self._proc}/{process}/fd/{handle}")

    def _measure_processes(self, first: int, processes: set[int]) -> Iterator[tuple[str, float]]:
        now, used = self._clock(), dict[int, float]()
        resident = 0
        for process in processes:
            words = self._text(f"{self._proc}/{process}/stat").rpartition(") ")[2].split()
            if len(words) > 21:
                used[process] = (int(words[11]) + int(words[12])) / _TICKS
                resident += int(words[21])
        then, before = self._cpu.get(first, (now, {}))
        self._cpu[first] = now, used
        if now > then:
            gained = sum(max(0.0, used[each] - before.get(each, 0.0)) for each in used)
            yield "live.cpu", gained / (now - then) / (os.cpu_count() or 1)
        yield "live.process_memory", resident * _PAGE / _GIB
        whole = dict(
            line.split(":", 1) for line in self._text(f"{self._proc}/meminfo").splitlines()
        )
        if {"MemTotal", "MemAvailable"} <= whole.keys():
            total, free = (int(whole[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
            yield "live.memory", 1.0 - free / total

    @staticmethod
    def _text(path: str) -> str:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:  # it just ended
            return ""
