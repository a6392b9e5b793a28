"""Benchmarks that measure in a process of their own find what they need there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_benchmark_of_scale_measures_in_a_new_process() -> None:
    """Two runs of ten updates of 30 metrics; whether a target was met says its exit code."""
    options = ["--runs", "2", "--points", "10", "--files", "5", "--idle", "0.1"]
    command = [sys.executable, "-m", "benchmarks.scale", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    rows = done.stdout.splitlines()[1:]
    assert rows, done.stderr
    assert "600" in rows[0].split()
