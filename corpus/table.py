"""How many runs of which kind there are: `python -m corpus.table` prints the README's table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CORPUS_RUNS = Path(__file__).resolve().parent / "runs"
RUN_KINDS = ("healthy", "harmful", "harmless", "failed")


FAMILIES = ("on-policy", "value-based", "off-policy", "own script", "language model")
_VALUE_BASED, _OFF_POLICY = ("DQN", "QRDQN"), ("SAC", "TD3", "DDPG", "TQC")


def run_family(meta: dict[str, Any]) -> str:
    """The family of a run, one of `FAMILIES`: what wrote it, or else what it learned with."""
    if meta["producer"].startswith("trl"):
        return "language model"
    if meta["producer"] == "own":
        return "own script"
    algorithm = meta.get("algorithm", "PPO")
    if algorithm in _VALUE_BASED:
        return "value-based"
    return "off-policy" if algorithm in _OFF_POLICY else "on-policy"


def run_kind(meta: dict[str, Any]) -> str:
    """The kind of a run by its label, one of `RUN_KINDS`."""
    if meta["fault"] == "none":
        return "failed" if meta.get("failed") else "healthy"
    return "harmful" if meta.get("harmful") else "harmless"


def runs_table() -> str:
    """A sentence with the totals, and a row for each configuration, *tune* first."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    metas = [
        json.loads(path.read_text("utf-8")) for path in sorted(CORPUS_RUNS.glob("*/meta.json"))
    ]
    sums = Counter(run_kind(meta) for meta in metas)
    yield (
        f"{len(metas)} runs: {sums['healthy']} healthy, {sums['harmful']} with a fault that did "
        f"harm, {sums['harmless']} with a fault that did none, {sums['failed']} that failed without"
        " a fault."
    )
    yield ""
    yield (
        "| split | algorithm | configuration | environment or task | "
        + " | ".join(RUN_KINDS)
        + " |"
    )
    yield "|---|---|---|---|--:|--:|--:|--:|"
    counts = {_configuration(meta): Counter[str]() for meta in metas}
    for meta in metas:
        counts[_configuration(meta)][run_kind(meta)] += 1
    for row in sorted(counts, key=lambda row: (row[0] != "tune", *row)):
        cells = [*row, *(str(counts[row][kind]) for kind in RUN_KINDS)]
        yield f"| {' | '.join(cells)} |"


def _configuration(meta: dict[str, Any]) -> tuple[str, str, str, str]:
    owner = "own" if meta["producer"] == "own" else "SB3"
    algorithm = f"{owner} {meta.get('algorithm', 'PPO')}"
    if meta["producer"].startswith("trl-"):
        algorithm = "TRL " + meta["producer"].removeprefix("trl-").upper()
    return meta["split"], algorithm, meta["config"], meta["environment"]


if __name__ == "__main__":
    print(runs_table(), end="")
