"""Count which symptoms stand beside which cause: `python -m benchmarks.cause_counts`.

Every *tune* run with a fault is judged; what can be seen at the first warning after the fault began
(as someone does who watches), and at the end if a warning is open there (as `check` does), is
counted for the cause of its fault. Writes `ppo_top/catalogue/cause_counts.tsv`, and prints how
often the cause is ranked first, or among three, when the runs of the same environment are left out
of the counts.
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
    ALL_FAMILIES,
    CONTROL_PART,
    REPORTS_LINE,
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
from ppo_top.rules.advice.setting_symptoms import SETTING_FACTS
from ppo_top.rules.judge import Judge
from ppo_top.runs.load import load_session
from ppo_top.settings import Settings

TABLE = Path(str(TABLES_FOLDER)) / "cause_counts.tsv"

UNCOUNTED_FACTS = frozenset(
    {
        "learned nothing, and no size of updates is logged",
        "nothing learned yet",
        "only the evaluation NaN or infinite",
        "reward gained and kept",
        "a rule's reward gained and kept",
        "every text earns the same, and not 0",
        "critic loss beyond all returns from the first",
        "critic loss never above 10",
        "critic loss next to 0 from the first, though rewards are logged",
        "learning rate larger than most runs survive",
        "action values never shrank",
        "an entropy is logged",
        "epsilon 0.1 or below",
        "reward lost though epsilon only fell",
        *SETTING_FACTS,
    }
)
"""Facts that choose what is advised: they repeat others, prove a cause or rule one out."""

LEAST_REPORTS = 2
"""A symptom of fewer reports is left out."""

HEAD = """\
# How many reports on each cause showed a symptom, of those that could have. A report is what is
# known of a run when its first warning comes, and at its end if one is open there.
# The second column says of what: control tasks or text, and of `reports` the family.
# Written by `python -m benchmarks.cause_counts` from the runs of corpus/ that are marked *tune*.
"""


class Symptoms(NamedTuple):
    """A labelled run, its family as the program sees it, and what could be seen at a row."""

    meta: dict[str, Any]
    family: str
    facts: dict[str, bool]

    @property
    def cause(self) -> str:
        """The cause of its fault."""
        return CAUSE_BY_FAULT[self.meta["fault"]]


def first_and_last_reports(folder: Path) -> Iterator[Symptoms]:
    """The symptoms of each faulty *tune* run that is warned of: then, and at its end."""
    for path in sorted(folder.glob("*/meta.json")):
        meta = json.loads(path.read_text(encoding="utf-8"))
        if meta["split"] == "tune" and meta["fault"] != "none":
            yield from _reports_on_run(path.parent, meta)


def _reports_on_run(folder: Path, meta: dict[str, Any]) -> Iterator[Symptoms]:
    session = load_session([folder], Settings(), io.StringIO())
    if session is None:
        return
    run = max(session.runs.values(), key=lambda each: len(each.timeline))
    onset, judge = onset_row(meta, run.timeline), Judge(run.profile)
    seen = False
    for row in timeline_rows(run):
        judge.add_row(row)
        if not seen and _warned(judge, onset):
            seen = True
            yield Symptoms(meta, run.profile.family, symptoms_of(judge.run))
    judge.end_run()
    if _warned(judge, onset):
        for _ in range(1 if seen else 2):  # what is seen at its end only is its first warning, too
            yield Symptoms(meta, run.profile.family, symptoms_of(judge.run))


def _warned(judge: Judge, onset: int) -> bool:
    return any(f.cleared is None and row_reached(f, WARN) >= onset for f in judge.findings)


def count_symptoms(reports: Sequence[Symptoms]) -> CauseCounts:
    """How many reports on each cause showed each symptom, and how many could have."""
    totals = Counter(dict.fromkeys(FAULTS_BY_CAUSE, 0))
    totals.update(report.cause for report in reports)
    by_family = {
        family: Counter(dict.fromkeys(totals, 0)) for family in sorted({r.family for r in reports})
    }
    for report in reports:
        by_family[report.family][report.cause] += 1
    control = [report for report in reports if not is_text(report.family)]
    text = [report for report in reports if is_text(report.family)]
    return CauseCounts(totals, by_family, _count_each(control), _count_each(text))


def _count_each(reports: Sequence[Symptoms]) -> dict[str, SymptomCounts]:
    """Symptom -> how many reports on each cause showed it; any could show a rule."""
    totals = Counter(report.cause for report in reports)
    there: dict[str, Counter[str]] = defaultdict(Counter)
    could: dict[str, Counter[str]] = defaultdict(Counter)
    for report in reports:
        for name, holds in report.facts.items():
            if name in UNCOUNTED_FACTS:
                continue
            there[name][report.cause] += holds
            could[name][report.cause] += 1
    return {
        name: SymptomCounts(there[name], totals if name.startswith(RULE_PREFIX) else could[name])
        for name in sorted(there, key=lambda name: (name.startswith(RULE_PREFIX), name))
        if there[name].total() >= LEAST_REPORTS
    }


def table_lines(counts: CauseCounts) -> list[str]:
    """The lines of the table."""
    lines = [("symptom", "of", *counts.reports)]
    for family, reports in {ALL_FAMILIES: counts.reports, **counts.by_family}.items():
        lines.append((REPORTS_LINE, family, *map(str, reports.values())))
    for part, symptoms in {CONTROL_PART: counts.control, TEXT_PART: counts.text}.items():
        for name, each in symptoms.items():
            cells = (f"{each.there[cause]}/{each.could[cause]}" for cause in counts.reports)
            lines.append((name, part, *cells))
    return ["\t".join(line) for line in lines]


def credits_elsewhere(reports: Sequence[Symptoms]) -> dict[str, list[tuple[float, float]]]:
    """Family -> (credit of the first cause, of the best of three) of reports on visible harm.

    The counts are those of the reports on other environments.
    """
    result: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for place in {report.meta["environment"] for report in reports}:
        here = [report for report in reports if report.meta["environment"] == place]
        counts = count_symptoms([r for r in reports if r.meta["environment"] != place])
        for meta, family, facts in here:
            if meta["harmful"] and visible(meta):
                ranked = list(cause_scores(facts, family, counts))[:MOST_CAUSES]
                said = [cause_text(cause, facts, family).sentence for cause in ranked]
                result[run_family(meta)].append((credit(meta, said[:1]), credit(meta, said)))
    return result


def main() -> None:
    """Write the table, and print how well causes are ranked elsewhere."""
    reports = list(first_and_last_reports(CORPUS_RUNS))
    counts = count_symptoms(reports)
    TABLE.write_text(HEAD + "\n".join(table_lines(counts)) + "\n", encoding="utf-8")
    print(f"{TABLE}: {len({*counts.control, *counts.text})} symptoms of {len(reports)} reports")
    for family, pairs in credits_elsewhere(reports).items():
        first, three = (sum(each) for each in zip(*pairs, strict=True))
        size = len(pairs)
        print(f"{family:<16} first {share(first, size)}, among three {share(three, size)}")


if __name__ == "__main__":
    main()
