"""Labelled runs for tests that need many but not all: as many however large the corpus grows."""

from __future__ import annotations

from pathlib import Path

from corpus.table import CORPUS_RUNS


def corpus_sample(count: int) -> list[Path]:
    """About so many runs, spread evenly over the corpus."""
    every = sorted(path.parent for path in CORPUS_RUNS.glob("*/meta.json"))
    return every[:: max(1, len(every) // count)]
