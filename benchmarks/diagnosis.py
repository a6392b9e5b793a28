"""How good the verdict is, on labelled runs that really trained: `python -m benchmarks.diagnosis`.

Every run of `corpus/runs` is read and judged by the same session as a user's own runs, and the
findings are compared with the run's label, for each family of algorithms. Thresholds may be set on
*tune* runs; *check* runs are for evaluation only. For comparison the plain thresholds of the
trainers' guides are applied to each point by itself.

    python -m benchmarks.diagnosis [--split check|tune|all] [--runs DIR] [--show] [--json FILE]
                                   [--write-docs]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.labelled_runs import (
    STATED_CAUSES,
    WARN,
    LabelledRun,
    judge_runs,
    most_findings,
    row_reached,
)
from benchmarks.shares import mean_rate, quantiles, share
from corpus.accepted_rules import accepted_rules
from corpus.advice_trials import TRIALS_FILE
from corpus.last.judged_parts import judged_parts
from corpus.table import CORPUS_RUNS, FAMILIES, RUN_KINDS
from ppo_top.model import Severity

ACCURACY = Path(__file__).resolve().parents[1] / "docs" / "accuracy.md"

FAULT_GROUPS = {
    "step size": ("lr-x", "clip-off", "epochs-", "kl-limit-x"),
    "critic": ("critic-", "target-frozen", "target-copied"),
    "never learns": (
        "lr-1e-8", "reward-zero", "reward-constant", "limit-short", "collecting-only",
        "kl-limit-tiny", "gradient-tiny",
    ),
}  # fmt: skip

Figures = dict[str, Any]


def fault_group(fault: str) -> str:
    """The group of a fault, for delays."""
    found = (name for name, starts in FAULT_GROUPS.items() if fault.startswith(starts))
    return next(found, "other")


def figures_of(runs: Sequence[LabelledRun]) -> Figures:
    """The figures of some runs, as texts with their 95 % intervals where they are shares."""
    kinds = {kind: [run for run in runs if run.kind == kind] for kind in RUN_KINDS}
    healthy, harmful = kinds["healthy"], kinds["harmful"]
    return {
        "runs": {kind: len(some) for kind, some in kinds.items()},
        **_false_alarms(healthy),
        **_detection(harmful),
        **_guides(healthy, harmful),
        "harmless warned of": share(sum(bool(run.found()) for run in kinds["harmless"]),
                                    len(kinds["harmless"])),
        "failed warned of": share(sum(bool(run.found()) for run in kinds["failed"]),
                                  len(kinds["failed"])),
        "most findings of a rule": most_findings(runs),
    }  # fmt: skip


def _false_alarms(runs: Sequence[LabelledRun]) -> Figures:
    loud = [run for run in runs if run.count(WARN) + run.count(Severity.CRIT)]
    rules = Counter(f.rule for run in runs for f in run.findings if f.worst_severity >= WARN)
    watched = Counter(
        f.rule for run in runs for f in run.findings if f.worst_severity == Severity.WATCH
    )
    return {
        "healthy, crit a run": mean_rate(sum(run.count(Severity.CRIT) for run in runs), len(runs)),
        "healthy, warn a run": mean_rate(sum(run.count(WARN) for run in runs), len(runs)),
        "healthy, watch a run": mean_rate(sum(watched.values()), len(runs)),
        "healthy runs with an alarm": share(len(loud), len(runs)),
        "false alarms by rule": dict(rules.most_common()),
        "watch by rule": dict(watched.most_common()),
    }


def _detection(runs: Sequence[LabelledRun]) -> Figures:
    seen = [run for run in runs if run.visible]
    found = [run for run in seen if run.found()]
    delays = {
        group: quantiles([run.delay for run in seen if fault_group(run.meta["fault"]) == group])
        for group in (*FAULT_GROUPS, "other")
    }
    return {
        "harmful, visible in the log": share(len(seen), len(runs)),
        "harmful found": share(sum(bool(run.found()) for run in runs), len(runs)),
        "visible found": share(len(found), len(seen)),
        "visible at watch or more": share(
            sum(bool(run.found(Severity.WATCH)) for run in seen), len(seen)
        ),
        "right finding first": share(sum(run.first_is_right for run in seen), len(seen)),
        "right finding at any time": share(sum(run.delay < math.inf for run in seen), len(seen)),
        "right cause first": share(sum(run.cause_credit(1) for run in seen), len(seen)),
        "right cause among three": share(
            sum(run.cause_credit(STATED_CAUSES) for run in seen), len(seen)
        ),
        "right cause first, at the end": share(
            sum(run.cause_credit(1, run.last) for run in seen), len(seen)
        ),
        "delay": delays,
    }


def _guides(healthy: Sequence[LabelledRun], harmful: Sequence[LabelledRun]) -> Figures:
    """The guides' thresholds, applied to each point by itself."""
    since = [
        (run, [alarm for alarm in run.guide_alarms if alarm.row >= run.onset]) for run in harmful
    ]
    right = [run for run, found in since if found and found[0].rule in accepted_rules(run.meta)]
    return {
        "guides: harmful found": share(sum(bool(found) for _, found in since), len(harmful)),
        "guides: right first": share(len(right), len(harmful)),
        "guides: healthy runs with an alarm": share(
            sum(bool(run.guide_alarms) for run in healthy), len(healthy)
        ),
    }


def all_figures(runs: Sequence[LabelledRun], splits: Sequence[str]) -> dict[str, Figures]:
    """`split, family` -> figures, and `split, all`."""
    result = {}
    for split in splits:
        of_split = [run for run in runs if run.meta["split"] == split]
        for family in (*FAMILIES, "all"):
            some = [run for run in of_split if family in ("all", run.family)]
            if some:
                result[f"{split}, {family}"] = figures_of(some)
    return result


def print_figures(title: str, figures: Figures) -> None:
    """Print the figures of one set of runs."""
    counts = ", ".join(f"{count} {kind}" for kind, count in figures["runs"].items())
    print(f"\n== {title}: {counts}")
    for name, value in figures.items():
        if name != "runs":
            print(f"{name:<36}{value if value else 'none'}")


def print_runs(runs: Sequence[LabelledRun]) -> None:
    """Print a line for each run: its findings, and the right one's delay."""
    for run in runs:
        loud = [
            f"{f.rule}@{row_reached(f, WARN):g}" for f in run.findings if f.worst_severity >= WARN
        ]
        mark = "" if run.meta["fault"] == "none" else ("right" if run.first_is_right else "WRONG")
        hidden = "" if run.kind != "harmful" or run.visible else "hidden"
        what = f"{run.meta['id']:<44}{run.kind:<9}{hidden:<7}{mark:<6}"
        print(f"{what}{run.delay:>5g} of {run.rows - run.onset:<5} {' '.join(loud)}")


DOCUMENT = """# How good the verdict is

Written by `python -m benchmarks.diagnosis --write-docs`. The labelled runs are those of
[corpus/](../corpus/README.md), which also says what each word means: *healthy*, *harmful*,
*harmless* and *failed* runs, which harmful runs are *visible* in their own log, and which finding
or cause is *right*: of those that the first warning states or, *at the end*, the report on the
finished run. Each was read and judged as a user's own run would be. Thresholds may be set on
*tune*; *check* has other environments and seeds. In brackets: per cent and 95 % interval. Delays
are rows of the log from the onset of the fault to the first right finding (*inf*: most runs of the
group have none). The guides are those of the trainers, their thresholds applied to each point by
itself.
"""

LAST_PARTS = """
## Last parts

Runs that were trained after the rules had been frozen, with seeds drawn from that commit's hash and
in environments that stood nowhere else, judged once. These are the figures of that commit, and
stay. First the newest ones, then what came out of all of them.
"""

ADVICE_PART = """
## Advice that works

Cheap faults of *tune* that are a changed setting, each once a family on the run that trained
fastest, whether it was found or not. The first advice on the run was followed (its option, its
value) and the run trained again with the seeds of its healthy runs (`python -m
corpus.advice_trials`): does their median regain 80 % of what those gained? Where the advice names
no option or no value, it does not.
"""

PART_FIGURES = (
    "healthy runs with an alarm", "visible found", "right cause first", "right cause among three",
)  # fmt: skip
"""What is said of each last part."""

TABLE_ROWS = (
    "healthy, crit a run", "healthy, warn a run", "healthy runs with an alarm",
    "harmful, visible in the log", "harmful found", "visible found", "visible at watch or more",
    "right finding first", "right cause first", "right cause among three",
    "right cause first, at the end",
    "guides: harmful found", "guides: right first", "guides: healthy runs with an alarm",
)  # fmt: skip


def accuracy_document(
    figures: dict[str, Figures],
    last_parts: Sequence[dict[str, Any]],
    trials: Sequence[dict[str, Any]] = (),
) -> str:
    """The text of docs/accuracy.md."""
    parts = [DOCUMENT]
    for split in ("tune", "check"):
        parts += [f"\n## {split.capitalize()}\n", *_table(figures, split)]
    if last_parts:
        parts += [LAST_PARTS, *_newest_parts(last_parts), *_all_parts(last_parts)]
    if trials:
        parts += [ADVICE_PART, *_trials_table(trials)]
    return "\n".join(parts) + "\n"


def _table(figures: dict[str, Figures], split: str) -> Iterator[str]:
    families = [family for family in (*FAMILIES, "all") if f"{split}, {family}" in figures]
    columns = [figures[f"{split}, {family}"] for family in families]
    yield f"| | {' | '.join(families)} |"
    yield f"|---|{'---|' * len(families)}"
    for kind in RUN_KINDS:
        yield f"| runs, {kind} | {' | '.join(str(each['runs'][kind]) for each in columns)} |"
    for name in TABLE_ROWS:
        if any(name not in each for each in columns):
            continue  # it was not measured then
        yield f"| {name} | {' | '.join(each[name] for each in columns)} |"
    for group in (*FAULT_GROUPS, "other"):
        yield f"| delay, {group} | {' | '.join(each['delay'][group] for each in columns)} |"


def _newest_parts(last_parts: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The newest last part of each set of families, as a table each; the newest part is first."""
    newest: dict[tuple[str, ...], dict[str, Any]] = {}
    for part in last_parts:
        newest.setdefault(tuple(part["figures"]), part)
    for part in newest.values():
        judged = (
            f"Judged on {part['date']} at commit {part['commit']}. {part.get('afterwards', '')}"
        )
        yield "\n".join(wrap(judged, 100, break_on_hyphens=False)) + "\n"
        yield from _table(part["figures"], "last")
        yield ""


def _all_parts(last_parts: Sequence[dict[str, Any]]) -> Iterator[str]:
    """A line for each last part."""
    yield f"| judged | environments or tasks | {' | '.join(PART_FIGURES)} |"
    yield f"|---|---|{'---|' * len(PART_FIGURES)}"
    for part in last_parts:
        judged = f"{part['date']}, {part['commit'][:8]}"
        figures = [part["figures"]["last, all"].get(name, "-") for name in PART_FIGURES]
        yield f"| {judged} | {', '.join(part['environments'])} | {' | '.join(figures)} |"


def _trials_table(trials: Sequence[dict[str, Any]]) -> Iterator[str]:
    regained = sum(trial["regained"] for trial in trials)
    yield f"Regained: {share(regained, len(trials))}.\n"
    yield "| run | first advice | tried | return: sick, then; healthy | regained |"
    yield "|---|---|---|---|---|"
    for trial in trials:
        tried = ", ".join(f"{name} {value}" for name, value in trial["changed"].items()) or "-"
        new = "-" if trial["new_return"] is None else f"{trial['new_return']:.4g}"
        returns = f"{trial['sick_return']:.4g}, {new}; {trial['healthy_return']:.4g}"
        said = trial["advice"] or "none: not found"
        word = "yes" if trial["regained"] else "no"
        yield f"| {trial['run']} | {said} | {tried} | {returns} | {word} |"


def main() -> None:
    """Judge the corpus and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--split", choices=("check", "tune", "all"), default="all")
    parser.add_argument("--runs", type=Path, default=CORPUS_RUNS)
    parser.add_argument("--show", action="store_true", help="print a line for each *tune* run")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    parser.add_argument("--write-docs", action="store_true", help="write docs/accuracy.md")
    options = parser.parse_args()
    splits = ("tune", "check") if options.split == "all" else (options.split,)
    runs = list(judge_runs(options.runs, splits))
    if options.show:
        print_runs([run for run in runs if run.meta["split"] == "tune"])
    figures = all_figures(runs, splits)
    for title, some in figures.items():
        print_figures(title, some)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if options.write_docs:
        trials = json.loads(TRIALS_FILE.read_text("utf-8")) if TRIALS_FILE.exists() else ()
        ACCURACY.write_text(accuracy_document(figures, judged_parts(), trials), encoding="utf-8")


if __name__ == "__main__":
    main()
