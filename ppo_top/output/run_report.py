"""What `check` and `status` print of a run, made of plain texts: nothing here judges.

So a run that was judged before can be reported without loading parsers and rules.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ppo_top import __version__
from ppo_top.model import State, Verdict
from ppo_top.text.format import clean, count, plural
from ppo_top.text.marks import MARKS

SCHEMA_VERSION = 1
"""Incremented when a field changes its meaning or is removed, not when one is added."""

MAX_REPORTS = 10
"""With more runs, only this many get a report: the worst ones."""


class RunIdentity(NamedTuple):
    """What a report says of a run that depends on other runs or on the time of day."""

    name: str
    path: str
    state: State
    state_text: str
    copy_of: str = ""


class RunSummary(NamedTuple):
    """A run in a few words.

    `words` is the verdict with a reservation where much is not logged, `severity` that of its worst
    open finding (0: none is open), `title` what the worst one shown is called, `finding` the worst
    one that is more than information, `since` its first step.
    """

    verdict: Verdict
    words: str
    severity: int
    producer: str
    trainer: str
    family: str
    step: int | None
    total: int | None
    updates: int
    eta_s: float | None
    title: str
    reward: str
    since: str
    finding: str


class RunReport(NamedTuple):
    """The report on a run: `json` and `text` are what follows on identity and head lines."""

    identity: RunIdentity
    summary: RunSummary
    json: str = ""
    text: str = ""


def report_json(runs: Iterable[RunReport]) -> str:
    """The object for several runs."""
    head = json.dumps({"schema": SCHEMA_VERSION, "version": __version__})[:-1]
    return f'{head}, "runs": [{", ".join(map(_run_json, runs))}]}}'


def _run_json(report: RunReport) -> str:
    identity, summary = report.identity, report.summary
    first = {
        "name": identity.name,
        "path": identity.path,
        "producer": summary.producer,
        "family": summary.family,
        "state": identity.state.value,
        "state_text": identity.state_text,
        "copy_of": identity.copy_of or None,
    }
    return f"{json.dumps(first)[:-1]}, {report.json[1:]}"


def report_text(reports: Sequence[RunReport]) -> str:
    """The reports, worst first (at most `MAX_REPORTS`), then a table, which the terminal shows."""
    if len(reports) == 1:
        return _run_text(reports[0])
    texts = list(reports)
    if len(reports) > MAX_REPORTS:
        texts = [each for each in reports if each.summary.verdict.is_trouble][:MAX_REPORTS]
    table = "\n".join(_table_lines(reports, len(texts)))
    return "\n\n".join([*map(_run_text, texts), table])


def _run_text(report: RunReport) -> str:
    name, summary = clean(report.identity.name), report.summary
    headline = f"{MARKS[summary.verdict.status]} {name}: {summary.words}"
    return f"{headline}\n  {_facts(report)}\n{report.text}"


def _facts(report: RunReport) -> str:
    identity, summary = report.identity, report.summary
    state = identity.state.value + (f" ({identity.state_text})" if identity.state_text else "")
    facts = [summary.trainer, state]
    if identity.copy_of:
        facts.append(f"copy of {identity.copy_of}")
    if summary.step is not None:
        total = f" of {count(summary.total)}" if summary.total else ""
        facts.append(f"step {count(summary.step)}{total}")
        facts.append(plural(summary.updates, "update"))
    return " · ".join(clean(fact) for fact in facts)


def _table_lines(reports: Sequence[RunReport], reported: int) -> Iterator[str]:
    """A table of runs in the order given, then the number of runs by verdict.

    `reported` is how many runs have a report above.
    """
    heads = ("run", "verdict", "state", "reward", "since", "finding")
    rows: list[tuple[str, tuple[str, ...]]] = [(" ", heads)]
    rows += [(MARKS[each.summary.verdict.status], _cells(each)) for each in reports]
    widths = [max(len(cells[at]) for _, cells in rows) for at in range(len(heads))]
    for mark, cells in rows:
        name, verdict, state = (text.ljust(widths[at]) for at, text in enumerate(cells[:3]))
        reward, since = cells[3].rjust(widths[3]), cells[4].rjust(widths[4])
        yield f"{mark} {name}  {verdict}  {state}  {reward}  {since}  {cells[5]}".rstrip()
    verdicts = Counter(each.summary.verdict for each in reports)
    shown = [each for each in reversed(Verdict) if verdicts[each]]
    totals = [f"{count(verdicts[each])} {each.words}" for each in shown]
    yield f"{plural(len(reports), 'run')}: {', '.join(totals)}"
    more = [each for each in reports if each.summary.verdict.is_trouble][reported:]
    if more:
        yield (
            f"{plural(len(more), 'more run')} with findings, reports omitted: "
            f"ppo-top check {shlex.quote(clean(more[0].identity.path))}, ..."
        )


def _cells(report: RunReport) -> tuple[str, ...]:
    """The columns after the mark."""
    identity, summary = report.identity, report.summary
    name = identity.name + (f" (copy of {identity.copy_of})" if identity.copy_of else "")
    words, since = summary.verdict.words, summary.since
    return clean(name), words, identity.state.value, summary.reward, since, summary.finding
