"""Count which symptoms stand beside which cause: `python -m benchmarks.cause_counts`.

Every *tune* run with a fault is judged up to the first warning after the fault began; what can be
seen at that row is counted for the cause of its fault. Writes `ppo_top/catalogue/cause_counts.tsv`,
and prints how often the cause is ranked first, or among three, when the runs of the same
environment are left out of the counts.
"""

from __future__ import annotations

import io
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.labelled_runs import WARN, onset_row, row_reached, timeline_rows
from benchmarks.shares import share
from corpus.causes import CAUSE_BY_FAULT, FAULTS_BY_CAUSE, credit
from corpus.labels import visible
from corpus.table import CORPUS_RUNS, run_family
from ppo_top.catalogue.causes import (
    ALL_RUNS,
    CONTROL_PART,
    RUNS_LINE,
    TEXT_PART,
    CauseCounts,
    SymptomCounts,
)
from ppo_top.catalogue.table import TABLES_FOLDER
from ppo_top.rules.advice.causes import (
    MOST_CAUSES,
    RULE_PREFIX,
    cause_scores,
    cause_text,
    is_text,
    symptoms_of,
)
from ppo_top.rules.advice.symptoms import UNCOUNTED_FACTS
from ppo_top.rules.judge import Judge
from ppo_top.runs.load import load_session
from ppo_top.settings import Settings

TABLE = Path(str(TABLES_FOLDER)) / "cause_counts.tsv"

LEAST_RUNS = 2
"""A symptom of fewer runs is left out."""

HEAD = """\
# How many runs of each cause showed a symptom when the first warning came, of those that could.
# The second column says of what: control tasks or text, and of `runs` the family.
# Written by `python -m benchmarks.cause_counts` from the runs of corpus/ that are marked *tune*.
"""


class Symptoms(NamedTuple):
    """A labelled run, its family as the program sees it, and what could be seen at its warning."""

    meta: dict[str, Any]
    family: str
    facts: dict[str, bool]

    @property
    def cause(self) -> str:
        """The cause of its fault."""
        return CAUSE_BY_FAULT[self.meta["fault"]]


def first_symptoms(folder: Path) -> Iterator[Symptoms]:
    """The symptoms of each faulty *tune* run that is warned of, at that row."""
    for path in sorted(folder.glob("*/meta.json")):
        meta = json.loads(path.read_text(encoding="utf-8"))
        if meta["split"] == "tune" and meta["fault"] != "none":
            found = _symptoms_of_run(path.parent, meta)
            if found is not None:
                yield found


def _symptoms_of_run(folder: Path, meta: dict[str, Any]) -> Symptoms | None:
    session = load_session([folder], Settings(), io.StringIO())
    if session is None:
        return None
    run = max(session.runs.values(), key=lambda each: len(each.timeline))
    onset, judge = onset_row(meta, run.timeline), Judge(run.profile)
    for row in timeline_rows(run):
        judge.add_row(row)
        if _warned(judge, onset):
            break
    else:
        judge.end_run()
    warned = _warned(judge, onset)
    return Symptoms(meta, run.profile.family, symptoms_of(judge.context)) if warned else None


def _warned(judge: Judge, onset: int) -> bool:
    return any(f.cleared is None and row_reached(f, WARN) >= onset for f in judge.findings)


def count_symptoms(runs: Sequence[Symptoms]) -> CauseCounts:
    """How many runs of each cause showed each symptom, and how many could have."""
    totals = Counter(dict.fromkeys(FAULTS_BY_CAUSE, 0))
    totals.update(run.cause for run in runs)
    by_family = {
        family: Counter(dict.fromkeys(totals, 0)) for family in sorted({r.family for r in runs})
    }
    for run in runs:
        by_family[run.family][run.cause] += 1
    control = [run for run in runs if not is_text(run.family)]
    text = [run for run in runs if is_text(run.family)]
    return CauseCounts(totals, by_family, _count_each(control), _count_each(text))


def _count_each(runs: Sequence[Symptoms]) -> dict[str, SymptomCounts]:
    """Symptom -> how many runs of each cause showed it; any run could show a rule."""
    totals = Counter(run.cause for run in runs)
    there: dict[str, Counter[str]] = defaultdict(Counter)
    could: dict[str, Counter[str]] = defaultdict(Counter)
    for run in runs:
        for name, holds in run.facts.items():
            if name in UNCOUNTED_FACTS:
                continue
            there[name][run.cause] += holds
            could[name][run.cause] += 1
    return {
        name: SymptomCounts(there[name], totals if name.startswith(RULE_PREFIX) else could[name])
        for name in sorted(there, key=lambda name: (name.startswith(RULE_PREFIX), name))
        if there[name].total() >= LEAST_RUNS
    }


def table_lines(counts: CauseCounts) -> list[str]:
    """The lines of the table."""
    lines = [("symptom", "of", *counts.runs)]
    for family, runs in {ALL_RUNS: counts.runs, **counts.by_family}.items():
        lines.append((RUNS_LINE, family, *map(str, runs.values())))
    for part, symptoms in {CONTROL_PART: counts.control, TEXT_PART: counts.text}.items():
        for name, (there, could) in symptoms.items():
            cells = (f"{there[cause]}/{could[cause]}" for cause in counts.runs)
            lines.append((name, part, *cells))
    return ["\t".join(line) for line in lines]


def credits_elsewhere(runs: Sequence[Symptoms]) -> dict[str, list[tuple[float, float]]]:
    """Family -> (credit of the first cause, of the best of three) of each visible harmful run.

    The counts are those of the runs in other environments.
    """
    result: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for place in {run.meta["environment"] for run in runs}:
        counts = count_symptoms([run for run in runs if run.meta["environment"] != place])
        for run in runs:
            if run.meta["environment"] == place and run.meta["harmful"] and visible(run.meta):
                ranked = list(cause_scores(run.facts, run.family, counts))[:MOST_CAUSES]
                said = [cause_text(cause, run.facts, run.family).sentence for cause in ranked]
                pair = credit(run.meta, said[:1]), credit(run.meta, said)
                result[run_family(run.meta)].append(pair)
    return result


def main() -> None:
    """Write the table, and print how well causes are ranked elsewhere."""
    runs = list(first_symptoms(CORPUS_RUNS))
    counts = count_symptoms(runs)
    TABLE.write_text(HEAD + "\n".join(table_lines(counts)) + "\n", encoding="utf-8")
    print(f"{TABLE}: {len({*counts.control, *counts.text})} symptoms of {len(runs)} runs")
    for family, pairs in credits_elsewhere(runs).items():
        first, three = (sum(each) for each in zip(*pairs, strict=True))
        size = len(pairs)
        print(f"{family:<16} first {share(first, size)}, among three {share(three, size)}")


if __name__ == "__main__":
    main()
