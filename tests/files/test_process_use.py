"""What a training uses of this machine: of real processes, and of a driver that is made up."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ppo_top.catalogue import machine_tag
from ppo_top.files.machine import open_files
from ppo_top.files.machine.nvml import GpuUse, Nvml
from ppo_top.files.machine.open_files import OpenFiles
from ppo_top.files.machine.process_use import ProcessUse

BUSY_SCRIPT = """
import os, sys, time
log = open(sys.argv[1], "a")
if sys.argv[2] == "child" and os.fork():
    os.wait(); os._exit(0)
held = b"x" * 200_000_000
while time.process_time() < 0.2:
    pass
print(flush=True)
sys.stdin.read()
"""


class FakeDriver:
    """Two GPUs; process 42 works on the second one, of which the power is not known."""

    def nvmlInit_v2(self) -> int:
        return 0

    def nvmlDeviceGetCount_v2(self, count: Any) -> int:
        count._obj.value = 2
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, index: int, device: Any) -> int:
        device._obj.value = index + 1
        return 0

    def nvmlDeviceGetComputeRunningProcesses_v3(
        self, device: ctypes.c_void_p, size: Any, found: Any
    ) -> int:
        size._obj.value = 1
        found[0].pid = 42 if device.value == 2 else 7
        return 0

    def nvmlDeviceGetUtilizationRates(self, device: ctypes.c_void_p, use: Any) -> int:
        use._obj.gpu = 35
        return 0

    def nvmlDeviceGetMemoryInfo(self, device: ctypes.c_void_p, memory: Any) -> int:
        memory._obj.total, memory._obj.used = 80 << 30, 20 << 30
        return 0

    def nvmlDeviceGetTemperature(self, device: ctypes.c_void_p, sensor: int, heat: Any) -> int:
        heat._obj.value = 61
        return 0

    def nvmlDeviceGetPowerUsage(self, device: ctypes.c_void_p, power: Any) -> int:
        return 3  # not supported


class OldDriver:
    """A driver from before 510: the function that tells processes has another version there."""

    def nvmlInit_v2(self) -> int:
        return 0


def no_driver() -> Nvml:
    """A machine without an NVIDIA driver."""
    raise OSError


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log that nobody writes."""
    path = tmp_path / "progress.csv"
    path.write_text("a,b\n")
    return path


@contextmanager
def training(log: Path, kind: str = "alone") -> Iterator[int]:
    """A process, or its child, that has a log open, 200 MB, and worked for 0.2 s; its id."""
    command = [sys.executable, "-c", BUSY_SCRIPT, str(log), kind]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdin is not None
        process.stdout.readline()
        yield process.pid
        process.stdin.close()


def use(seconds: list[float], nvml: Any = no_driver) -> ProcessUse:
    """Measures real processes by a clock that shows these seconds."""
    return ProcessUse(OpenFiles(), nvml=nvml, clock=lambda: seconds[0])


def test_a_log_that_nobody_writes_has_no_process(log: Path) -> None:
    """So there is nothing to measure."""
    assert use([0.0]).measure([log]) is None


def test_a_training_is_measured_between_two_looks(log: Path) -> None:
    """Its memory, and the share of all cores; every value is one that the catalogue knows."""
    seconds = [0.0]
    measures = use(seconds)
    with training(log):
        assert measures.measure([log]) == {}
        seconds[0] = 10.0
        found = measures.measure([log])
    assert found is not None
    assert 0.15 < found["live.process_memory"] < 0.5
    assert 0.0 <= found["live.cpu"] < 0.1
    assert 0.0 < found["live.memory"] < 1.0
    assert all(machine_tag(tag) is not None for tag in found)


def test_the_time_that_a_process_worked_is_its_share_of_the_cores(log: Path) -> None:
    """0.2 s of one core within a second; what it did before the first look does not count."""
    seconds = [0.0]
    measures = use(seconds)
    with training(log) as process:
        measures.measure([log])
        measures._cpu[process] = (0.0, {})  # as if it had begun since
        seconds[0] = 1.0
        found = measures.measure([log])
    assert found is not None
    cores = os.cpu_count() or 1
    assert 0.15 <= found["live.cpu"] * cores < 0.6


def test_children_count(log: Path) -> None:
    """Environments and data loaders run in processes of their own."""
    seconds = [0.0]
    measures = use(seconds)
    with training(log, "child"):
        measures.measure([log])
        seconds[0] = 1.0
        found = measures.measure([log])
    assert found is not None
    assert found["live.process_memory"] > 0.15


def test_of_a_pipe_the_process_before_is_measured(log: Path) -> None:
    """`train.py | tee run.log`: tee has the log open, and does nothing."""
    script = "held = b'x' * 200_000_000; print(flush=True); import time; time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as trainer:
        hold = "import sys; f = open(sys.argv[1], 'a'); input(); print(flush=True); input()"
        with subprocess.Popen(
            [sys.executable, "-c", hold, str(log)], stdin=trainer.stdout, stdout=subprocess.PIPE
        ) as tee:
            assert tee.stdout is not None
            tee.stdout.readline()
            seconds = [0.0]
            measures = use(seconds)
            measures.measure([log])
            seconds[0] = 1.0
            found = measures.measure([log])
            trainer.kill()
            tee.kill()
    assert found is not None
    assert found["live.process_memory"] > 0.15


def test_only_gpus_that_the_training_works_on_are_measured() -> None:
    """Others of the node belong to somebody else; what the driver does not tell is left out."""
    gpus = Nvml(FakeDriver())
    assert list(gpus.used_by({42, 43})) == [GpuUse(1, 0.35, 0.25, 61.0, None)]
    assert list(gpus.used_by({43})) == []


def test_gpus_are_values_beside_the_processor(log: Path) -> None:
    """By the number of the device."""

    class Driver(FakeDriver):
        def nvmlDeviceGetComputeRunningProcesses_v3(
            self, device: ctypes.c_void_p, size: Any, found: Any
        ) -> int:
            size._obj.value, found[0].pid = 1, process
            return 0

    seconds = [0.0]
    measures = use(seconds, lambda: Nvml(Driver()))
    with training(log) as process:
        measures.measure([log])
        seconds[0] = 1.0
        found = measures.measure([log])
    assert found is not None
    assert found["live.gpu.0.busy"] == found["live.gpu.1.busy"] == 0.35
    assert "live.gpu.0.power" not in found


def test_a_container_sees_its_own_processes(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There nobody can say that a log has no writer, but one that is seen is one."""
    monkeypatch.setattr(open_files, "INITIAL_PID_NAMESPACE", "pid:[1]")
    with training(log) as process:
        assert OpenFiles().writers([log]) == {process}


def test_a_system_without_proc_measures_nothing(log: Path, tmp_path: Path) -> None:
    """macOS."""
    writers = OpenFiles(proc=str(tmp_path / "none"))
    assert ProcessUse(writers, str(tmp_path / "none"), no_driver).measure([log]) is None


def test_a_driver_too_old_to_tell_processes_is_as_none() -> None:
    """An OSError, as where there is no driver at all."""
    with pytest.raises(OSError, match="too old"):
        Nvml(OldDriver())
