"""Does the advice work? Follow the first advice on cheap faults of *tune*, and train again.

    nice python -m corpus.advice_trials [--json FILE]

Each fault of a setting that did harm is tried once in each family, on the run that trained fastest.
The first advice of the run's verdict is followed as a person would: its option is set to its value.
It is trained again with the seeds of (at most three of) its healthy runs: an advice counts as right
if the median of their returns regains 80 % of what those runs gain. Where it names no option or no
value, or where nothing was found, nothing is trained. It needs the trainers' environment. The
results are stored for docs/accuracy.md.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import json
import re
import statistics
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from corpus.control_task import ControlTask
from corpus.labels import Meta, healthy_runs
from corpus.table import CORPUS_RUNS, run_family, run_kind
from corpus.tasks import CONTROL_TASKS
from ppo_top.catalogue import hyperparameter
from ppo_top.runs.load import load_session
from ppo_top.settings import Settings
from ppo_top.views.run_view import make_run_view

TRIALS_FILE = Path(__file__).resolve().parent / "advice_trials.json"
MAX_TRIALS, MAX_SECONDS = 20, 25.0
MOST_SEEDS = 3
REGAINED = 0.8
"""The share of the healthy gain that counts as regained."""

Options = dict[str, Any]

_NUMBER = r"(\d[\d.]*(?:e-?\d+)?)"
_TO = re.compile(rf"\bto (?:about )?{_NUMBER}(?! (?:to|and) )(?! times)\b")
_BY = re.compile(rf"\bby {_NUMBER}(?: to {_NUMBER})? times")
_DEFAULT = re.compile(rf"default is {_NUMBER}")
_NOW = re.compile(rf"\({_NUMBER} (?:now|at first)")
_LOWER = re.compile(r"\b(lower|fewer|smaller|less)\b")


def setting_faults() -> set[str]:
    """The faults that are a changed setting, from the beginning."""
    from corpus.faults import CONTROL_FAULTS

    return {key for key, fault in CONTROL_FAULTS.items() if fault.scale or fault.replace}


def chosen_runs(metas: Iterable[Meta], faults: set[str]) -> list[Meta]:
    """The harmed runs to try: each fault once a family, the fastest run; the cheapest of all."""
    fastest: dict[tuple[str, str], Meta] = {}
    for meta in metas:
        cheap = meta["split"] == "tune" and meta.get("seconds", MAX_SECONDS + 1) <= MAX_SECONDS
        cheap = cheap and run_family(meta) != "language model"
        if not cheap or meta["fault"] not in faults or run_kind(meta) != "harmful":
            continue
        key = run_family(meta), meta["fault"]
        if key not in fastest or meta["seconds"] < fastest[key]["seconds"]:
            fastest[key] = meta
    return sorted(fastest.values(), key=lambda meta: (meta["seconds"], meta["id"]))[:MAX_TRIALS]


def first_advice(folder: Path) -> tuple[str, str]:
    """The first advice on a run at its end, and its trainer's id; empty if nothing is found."""
    session = load_session([folder], Settings(), io.StringIO(), ended=True)
    assert session is not None
    run = max(session.runs.values(), key=lambda each: len(each.timeline))
    advice = (each.finding.remedies for each in make_run_view(run).open_findings)
    return next((said[0] for said in advice if said), ""), run.evaluation.trainer.id


def advised_options(advice: str, trainer: str, options: Options) -> Options:
    """The settings that a person would change who reads an advice; empty if it names none."""
    if "exploration rate of 0.01 to 0.1, reached within half" in advice:
        return {"exploration_final_eps": 0.03, "exploration_fraction": 0.5}
    if "target entropy to minus the number of action dimensions" in advice:
        return {"target_entropy": "auto"}  # which is just that
    words = (word.rstrip(".,:") for word in re.findall(r"[A-Za-z][\w./]*", advice))
    names = (name for word in words if (name := hyperparameter(word, trainer)) is not None)
    name = next(names, "")
    value = _advised_value(advice, options.get(name)) if name else None
    return {name: value} if value is not None else {}


def _advised_value(advice: str, own: Any) -> float | None:
    """The value that an advice gives, or lets choose: the default where it lies in a range."""
    if found := _TO.search(advice):
        return float(found[1])
    usual = float(found[1]) if (found := _DEFAULT.search(advice)) else None
    if found := _BY.search(advice):
        now = _NOW.search(advice)
        start = float(now[1]) if now else own
        if not isinstance(start, (int, float)):
            return None
        way = -1.0 if _LOWER.search(advice) else 1.0
        ends = sorted(start * float(times or found[1]) ** way for times in found.groups())
        low, high = ends
        middle = (low * high) ** 0.5
        return min(max(usual, low), high) if usual is not None else float(f"{middle:.2g}")
    return usual


def trial(meta: Meta) -> Meta:
    """Follow the first advice on one run and train again; what came of it."""
    task = CONTROL_TASKS[meta["config"]]
    advice, trainer = first_advice(CORPUS_RUNS / meta["id"])
    changed = advised_options(advice, trainer, meta["hyperparameters"])
    result = {
        "run": meta["id"],
        "family": run_family(meta),
        "fault": meta["fault"],
        "advice": advice,
        "changed": changed,
        "sick_return": meta["final_return"],
        "healthy_start": meta["healthy_start"],
        "healthy_return": meta["healthy_return"],
        "new_return": _train_again(meta, task, changed) if changed else None,
    }
    return result | {"regained": regained(result)}


def _train_again(meta: Meta, task: ControlTask, changed: Options) -> float | None:
    """The median final true return with the advised settings; None if a training died."""
    from corpus.train import train

    again = dataclasses.replace(task, options=meta["hyperparameters"] | changed)
    healthy = healthy_runs([each for each in all_metas() if each["config"] == meta["config"]])
    seeds = [each["seed"] for each in healthy][:MOST_SEEDS]
    with tempfile.TemporaryDirectory() as folder:
        runs = [train((task.name, "none", seed), Path(folder), again) for seed in seeds]
    died = any(run["died"] for run in runs)
    return None if died else statistics.median(float(run["final_return"]) for run in runs)


def regained(result: Meta) -> bool:
    """Whether the new run gained 80 % of what healthy runs gain."""
    start, healthy, new = (
        result[key] for key in ("healthy_start", "healthy_return", "new_return")
    )  # fmt: skip
    return new is not None and new >= start + REGAINED * (healthy - start)


@cache
def all_metas() -> list[Meta]:
    """The labels of the corpus."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(CORPUS_RUNS.glob("*/meta.json"))]


def all_trials() -> Iterator[Meta]:
    """The trials, cheapest first."""
    for meta in chosen_runs(all_metas(), setting_faults()):
        result = trial(meta)
        word = "regained" if result["regained"] else "not regained"
        returns = f"{result['sick_return']} -> {result['new_return']}"
        print(f"{result['run']}: {returns}, {word}: {result['advice'] or 'no advice'}", flush=True)
        yield result


def main() -> None:
    """Try the advice and store what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=TRIALS_FILE)
    asked = parser.parse_args()
    results = list(all_trials())
    asked.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"{sum(result['regained'] for result in results)} of {len(results)} regained")


if __name__ == "__main__":
    main()
