"""Label every run of the corpus: did the fault do harm? `python -m corpus.labels` does it anew."""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from typing import Any

Meta = dict[str, Any]


def label(runs: Path) -> None:
    """Write `harmful` and its grounds into each meta.json with enough healthy runs to compare."""
    metas = {path: json.loads(path.read_text()) for path in sorted(runs.glob("*/meta.json"))}
    for path, meta in metas.items():
        healthy = [
            each
            for each in metas.values()
            if each["config"] == meta["config"] and each["fault"] == "none" and not failed(each)
        ]
        labelled = meta | {"failed": True} if failed(meta) else meta
        if len(healthy) >= 2:
            labelled = labelled | judge_harm(meta, healthy)
        if labelled != meta:
            path.write_text(json.dumps(labelled, indent=1) + "\n", encoding="utf-8")


def failed(meta: Meta) -> bool:
    """Whether a run without a fault still ended clearly worse than it began."""
    start, final = meta["start_return"], meta["final_return"]
    return meta["fault"] == "none" and bool(final < start - 0.1 * abs(start))


def judge_harm(meta: Meta, healthy: list[Meta]) -> Meta:
    """Compare a run's final true return with that of the healthy runs of the same configuration.

    Harmful: it crashed, or it gained less than 80 % of what healthy runs do, or it ended more than
    two standard deviations (at least 10 % of that gain) below the healthy mean.
    """
    finals = [each["final_return"] for each in healthy]
    start = statistics.mean(each["start_return"] for each in healthy)
    mean = statistics.mean(finals)
    gain = mean - start
    limit = max(start + 0.8 * gain, mean - max(2 * statistics.pstdev(finals), 0.1 * gain))
    final = meta["final_return"]
    harmful = meta["died"] or math.isnan(final) or final < limit
    return {
        "healthy_return": round(mean, 3),
        "harm_limit": round(limit, 3),
        "harmful": harmful and meta["fault"] != "none",
    }


if __name__ == "__main__":
    label(Path(__file__).resolve().parent / "runs")
