"""Count which symptoms stand beside which cause: `python -m benchmarks.cause_counts`.

Every *tune* run with a fault is judged up to the first warning after the fault began; what can be
seen at that row is counted for the cause of its fault. Writes `ppo_top/catalogue/cause_counts.tsv`.
"""

from __future__ import annotations

import io
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.labelled_runs import WARN, onset_row, row_reached, timeline_rows
from corpus.causes import CAUSE_BY_FAULT, FAULTS_BY_CAUSE
from corpus.table import CORPUS_RUNS
from ppo_top.catalogue.table import TABLES_FOLDER
from ppo_top.rules.advice.causes import RULE_PREFIX, symptoms_of
from ppo_top.rules.judge import Judge
from ppo_top.runs.load import load_session
from ppo_top.settings import Settings

TABLE = TABLES_FOLDER / "cause_counts.tsv"

LEAST_RUNS = 2
"""A symptom of fewer runs is left out."""

HEAD = """\
# How many runs of each cause showed a symptom when the first warning came, of those that could.
# Written by `python -m benchmarks.cause_counts` from the runs of corpus/ that are marked *tune*.
"""

Counted = Mapping[str, Mapping[str, Counter[bool]]]
"""symptom -> cause -> how often it was there, and how often it was not."""


def first_symptoms(folder: Path) -> Iterator[tuple[dict[str, Any], dict[str, bool]]]:
    """The label of each faulty *tune* run that is warned of, and its symptoms at that row."""
    for path in sorted(folder.glob("*/meta.json")):
        meta = json.loads(path.read_text(encoding="utf-8"))
        if meta["split"] == "tune" and meta["fault"] != "none":
            found = _symptoms_of_run(path.parent, meta)
            if found is not None:
                yield meta, found


def _symptoms_of_run(folder: Path, meta: dict[str, Any]) -> dict[str, bool] | None:
    session = load_session([folder], Settings(), io.StringIO())
    if session is None:
        return None
    run = max(session.runs.values(), key=lambda each: len(each.timeline))
    onset, judge = onset_row(meta, run.timeline), Judge(run.profile)
    for row in timeline_rows(run):
        judge.add_row(row)
        if _warned(judge, onset):
            return symptoms_of(judge.context)
    judge.end_run()
    return symptoms_of(judge.context) if _warned(judge, onset) else None


def _warned(judge: Judge, onset: int) -> bool:
    return any(f.cleared is None and row_reached(f, WARN) >= onset for f in judge.findings)


def count_symptoms(runs: Iterator[tuple[dict[str, Any], dict[str, bool]]]) -> list[str]:
    """The lines of the table."""
    labelled = [(CAUSE_BY_FAULT[meta["fault"]], symptoms) for meta, symptoms in runs]
    totals = Counter(cause for cause, _ in labelled)
    counted: dict[str, dict[str, Counter[bool]]] = defaultdict(lambda: defaultdict(Counter))
    for cause, symptoms in labelled:
        for name, holds in symptoms.items():
            counted[name][cause][holds] += 1
    lines = [("symptom", *FAULTS_BY_CAUSE)]
    lines.append(("runs", *(str(totals[cause]) for cause in FAULTS_BY_CAUSE)))
    for name in sorted(counted, key=lambda name: (name.startswith(RULE_PREFIX), name)):
        if sum(each[True] for each in counted[name].values()) >= LEAST_RUNS:
            lines.append((name, *_cells(name, counted, totals)))
    return ["\t".join(line) for line in lines]


def _cells(name: str, counted: Counted, totals: Counter[str]) -> Iterator[str]:
    """`there/could` for each cause; any run could show a rule."""
    for cause in FAULTS_BY_CAUSE:
        there = counted[name][cause][True]
        could = totals[cause] if name.startswith(RULE_PREFIX) else counted[name][cause].total()
        yield f"{there}/{could}"


def main() -> None:
    """Write the table."""
    lines = count_symptoms(first_symptoms(CORPUS_RUNS))
    TABLE.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{TABLE}: {len(lines) - 2} symptoms")


if __name__ == "__main__":
    main()
