"""Freed memory goes back to the system, where the C library has a way to do it."""

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
from ppo_top.support import malloc as heap

def resident_mb():
    found = re.search(r"VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024

blocks = [bytearray(20_000) for _ in range(4_000)]
blocks = blocks[::50]
before = resident_mb()
heap.trim()
print(before - resident_mb())
"""


@pytest.fixture(autouse=True)
def afresh() -> Iterator[None]:
    """The library is looked for anew, and none of a test is kept."""
    malloc._trimmer.cache_clear()
    yield
    malloc._trimmer.cache_clear()


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="no glibc")
def test_what_lies_between_kept_blocks_is_given_back() -> None:
    """80 MB are freed, in pieces between pieces that stay."""
    done = subprocess.run(
        [sys.executable, "-c", SCATTERED], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) > 40


def test_another_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `malloc_trim` (musl, macOS) nothing happens."""
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    malloc.trim()


def test_it_is_done_when_much_was_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each run, and not for nothing."""
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
