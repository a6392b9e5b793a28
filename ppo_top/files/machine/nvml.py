"""NVIDIA's management library by ctypes: how busy the GPUs are that some processes work on.

It comes with the driver, so nothing has to be installed; `nvml.h` documents the functions.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Iterator
from typing import Any

from ppo_top.model.named_tuple import NamedTuple

LIBRARY = "libnvidia-ml.so.1"
_SUCCESS, _INSUFFICIENT_SIZE = 0, 7
_GPU_TEMPERATURE = 0
_MAX_PROCESSES = 256


class GpuUse(NamedTuple):
    """A GPU now: shares of 1, degrees Celsius and watts; None where the driver does not tell."""

    device: int
    busy: float | None
    memory: float | None
    temperature: float | None
    power: float | None


class _Utilization(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Memory(ctypes.Structure):
    _fields_ = (
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


class _Process(ctypes.Structure):
    _fields_ = (
        ("pid", ctypes.c_uint),
        ("used_memory", ctypes.c_ulonglong),
        ("instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


class Nvml:
    """The GPUs of this machine; OSError where there is no driver, or one older than 510."""

    def __init__(self, library: Any = None) -> None:
        self._library = ctypes.CDLL(LIBRARY) if library is None else library
        if not hasattr(self._library, "nvmlDeviceGetComputeRunningProcesses_v3"):
            raise OSError("the NVIDIA driver is too old to tell which processes use a GPU")
        if self._library.nvmlInit_v2() != _SUCCESS:
            raise OSError("the NVIDIA driver does not answer")
        count = ctypes.c_uint()
        self._library.nvmlDeviceGetCount_v2(ctypes.byref(count))
        self._devices: list[ctypes.c_void_p] = []
        for index in range(count.value):
            device = ctypes.c_void_p()
            if not self._library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(device)):
                self._devices.append(device)

    def used_by(self, processes: Collection[int]) -> Iterator[GpuUse]:
        """The GPUs that one of some processes (ids) works on."""
        for index, device in enumerate(self._devices):
            if not self._process_ids(device).isdisjoint(processes):
                yield self._use(index, device)

    def _process_ids(self, device: ctypes.c_void_p) -> set[int]:
        size, found = ctypes.c_uint(_MAX_PROCESSES), (_Process * _MAX_PROCESSES)()
        result = self._library.nvmlDeviceGetComputeRunningProcesses_v3(
            device, ctypes.byref(size), found
        )
        if result not in (_SUCCESS, _INSUFFICIENT_SIZE):
            return set()
        return {process.pid for process in found[: min(size.value, _MAX_PROCESSES)]}

    def _use(self, index: int, device: ctypes.c_void_p) -> GpuUse:
        library, busy, memory = self._library, _Utilization(), _Memory()
        heat, power = ctypes.c_uint(), ctypes.c_uint()
        knows_busy = not library.nvmlDeviceGetUtilizationRates(device, ctypes.byref(busy))
        knows_memory = not library.nvmlDeviceGetMemoryInfo(device, ctypes.byref(memory))
        knows_heat = not library.nvmlDeviceGetTemperature(
            device, _GPU_TEMPERATURE, ctypes.byref(heat)
        )
        knows_power = not library.nvmlDeviceGetPowerUsage(device, ctypes.byref(power))
        return GpuUse(
            index,
            busy.gpu / 100 if knows_busy else None,
            memory.used / memory.total if knows_memory and memory.total else None,
            float(heat.value) if knows_heat else None,
            power.value / 1000 if knows_power else None,
        )
