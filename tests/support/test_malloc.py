"""Freed memory goes back to the system, if the C library can do that."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ppo_top.support import malloc
from tests.support.growing_logs import WatchedDirectory
from tests.support.screens import write_unhealthy_run

SCATTERED = """
import re
from pathlib import Path
from ppo_top.support import malloc

def resident_mb():
    found = re.search(r"VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024

blocks = [bytearray(20_000) for _ in range(4_000)]
blocks = blocks[::50]
before = resident_mb()
malloc.trim()
print(before - resident_mb())
"""


@pytest.fixture(autouse=True)
def uncached() -> Iterator[None]:
    """Each test looks for the library by itself."""
    malloc._trimmer.cache_clear()
    yield
    malloc._trimmer.cache_clear()


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="no glibc")
def test_memory_between_live_blocks_is_returned() -> None:
    """80 MB are freed, in blocks between live blocks."""
    done = subprocess.run(
        [sys.executable, "-c", SCATTERED], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) > 40


def test_nothing_happens_with_another_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """musl and macOS have no `malloc_trim`."""
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    malloc.trim()


def test_memory_is_trimmed_after_large_evictions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not after each evicted run."""
    monkeypatch.setattr("ppo_top.runs.session.MAX_HELD_POINTS", 60_000)
    trimmed = []
    monkeypatch.setattr(malloc, "trim", lambda: trimmed.append(True))
    watched = WatchedDirectory(tmp_path)
    watched.session.max_points = 0
    for number in range(12):
        write_unhealthy_run(tmp_path / f"run{number:02}x" / "progress.csv", updates=2_000)
        watched.read_and_judge()
        watched.session.free_memory()
    points = sum(run.points for run in watched.session.runs.values())
    assert 1 <= len(trimmed) <= points // 60_000 + 1
