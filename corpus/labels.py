"""Label every run of the corpus: did the fault do harm? `python -m corpus.labels` does it anew."""

from __future__ import annotations

import json
import math
import os
import statistics
from pathlib import Path
from typing import Any

Meta = dict[str, Any]


def label(runs: Path) -> None:
    """Write `failed`, `harmful` and their grounds into each meta.json, as far as they are known."""
    metas = {path: json.loads(path.read_text()) for path in sorted(runs.glob("*/meta.json"))}
    configs = {meta["config"] for meta in metas.values()}
    by_config = {
        config: healthy_runs([meta for meta in metas.values() if meta["config"] == config])
        for config in configs
    }
    for path, meta in metas.items():
        healthy = by_config[meta["config"]]
        labelled = {key: value for key, value in meta.items() if key != "failed"}
        if meta["fault"] == "none" and meta not in healthy:
            labelled["failed"] = True
        if len(healthy) >= 2:
            labelled |= judge_harm(meta, healthy)
        if labelled != meta:
            write_meta(path, labelled)


def write_meta(path: Path, meta: Meta) -> None:
    """Write a meta.json at once: trainings beside this one read those of all runs."""
    new = path.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")
    new.replace(path)


def healthy_runs(metas: list[Meta]) -> list[Meta]:
    """The runs of one configuration without a fault that did not fail.

    Failed: died, or ended clearly worse than it began, or gained less than half of what the median
    run without a fault did.
    """
    without = [meta for meta in metas if meta["fault"] == "none" and not meta["died"]]
    if not without:
        return []
    start = statistics.mean(meta["start_return"] for meta in without)
    gain = statistics.median(meta["final_return"] for meta in without) - start
    return [
        meta
        for meta in without
        if meta["final_return"] >= meta["start_return"] - 0.1 * abs(meta["start_return"])
        and (gain <= 0 or meta["final_return"] >= start + 0.5 * gain)
    ]


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
        "healthy_start": round(start, 3),
        "healthy_return": round(mean, 3),
        "harm_limit": round(limit, 3),
        "harmful": harmful and meta["fault"] != "none",
    }


MIN_ROWS, MIN_EPISODES, MAX_GAIN_SHARE = 10, 20, 2 / 3


def visible(meta: Meta) -> bool:
    """Whether a harmful run's own log can show that something is wrong.

    It died; or the log goes on for ten rows and 20 episodes after the fault began, and the run
    ended with less than two thirds of the healthy gain: without its siblings one log does not tell
    a slower run from a harder task.
    """
    if meta["died"] or math.isnan(meta["final_return"]):
        return True
    if rows_since_onset(meta) < MIN_ROWS or meta.get("episodes_since_onset", 999) < MIN_EPISODES:
        return False
    start, healthy = meta["healthy_start"], meta["healthy_return"]
    return bool(meta["final_return"] < start + MAX_GAIN_SHARE * (healthy - start))


def rows_since_onset(meta: Meta) -> int:
    """The rows of the log after the fault began."""
    if "rows" in meta:
        return int(meta["rows"] - meta["onset_row"])
    row = meta["rollout"] * max(1, meta["log_interval"])
    return int((meta["timesteps"] - meta["onset_step"]) // row)


if __name__ == "__main__":
    label(Path(__file__).resolve().parent / "runs")
