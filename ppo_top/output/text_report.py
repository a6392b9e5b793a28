"""The report of `check` as text."""

from __future__ import annotations

import shlex
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ppo_top.catalogue import concept
from ppo_top.model import NO_STEP, Finding, Severity, State, Status, Verdict
from ppo_top.rules.engine.context import REWARD_CONCEPTS
from ppo_top.runs.run import Run
from ppo_top.text.format import clean, count, healthy_text, number, plural
from ppo_top.text.marks import MARKS
from ppo_top.views.judged_by import judged_by
from ppo_top.views.run_view import CheckRow, OpenFinding, RunView
from ppo_top.views.trend import best_value

REPORT_CHARS = 96


class RunSummary(NamedTuple):
    """One row of the table of runs."""

    name: str
    path: str
    verdict: Verdict
    state: State
    reward: str
    since: str
    finding: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The columns after the mark."""
        verdict, state = self.verdict.words, self.state.value
        return self.name, verdict, state, self.reward, self.since, self.finding


def run_summary(view: RunView) -> RunSummary:
    """A run's verdict, newest reward and worst open finding."""
    alerts = (each.finding for each in view.open_findings if each.severity > Severity.INFO)
    worst = next(alerts, None)
    rewards = {row.concept: row.text for row in view.checklist}
    return RunSummary(
        name=clean(view.name),
        path=clean(view.path),
        verdict=view.verdict,
        state=view.state,
        reward=next((rewards[name] for name in REWARD_CONCEPTS if rewards.get(name)), ""),
        since=count(worst.since.step) if worst is not None and worst.since.step != NO_STEP else "",
        finding=clean(worst.title) if worst is not None else "",
    )


def summary_lines(runs: Sequence[RunSummary], reported: int) -> Iterator[str]:
    """A table of runs in the order given, then the number of runs by verdict.

    `reported` is how many runs have a report above.
    """
    heads = ("run", "verdict", "state", "reward", "since", "finding")
    rows: list[tuple[str, tuple[str, ...]]] = [(" ", heads)]
    rows += [(MARKS[run.verdict.status], run.cells) for run in runs]
    widths = [max(len(cells[at]) for _, cells in rows) for at in range(len(heads))]
    for mark, cells in rows:
        name, verdict, state = (text.ljust(widths[at]) for at, text in enumerate(cells[:3]))
        reward, since = cells[3].rjust(widths[3]), cells[4].rjust(widths[4])
        yield f"{mark} {name}  {verdict}  {state}  {reward}  {since}  {cells[5]}".rstrip()
    verdicts = Counter(run.verdict for run in runs)
    shown = [each for each in reversed(Verdict) if verdicts[each]]
    totals = [f"{count(verdicts[each])} {each.words}" for each in shown]
    yield f"{plural(len(runs), 'run')}: {', '.join(totals)}"
    more = [run for run in runs if run.verdict.is_trouble][reported:]
    if more:
        yield (
            f"{plural(len(more), 'more run')} with findings, reports omitted: "
            f"ppo-top check {shlex.quote(more[0].path)}, ..."
        )


def report_lines(run: Run, view: RunView) -> Iterator[str]:
    """The report of one run, without colours."""
    yield f"{MARKS[view.verdict.status]} {clean(view.name)}: {view.verdict_words}"
    yield f"  {_facts(view)}"
    if view.verdict_words != view.verdict.words:
        yield from _wrap(view.headline, "  ")
    for opened in view.open_findings:
        yield ""
        yield from _finding_lines(opened, run)
    if view.cleared_findings:
        yield ""
        yield "  Resolved"
        for finding in view.cleared_findings:
            yield from _wrap(_resolved_line(finding), "    ", "      ")
    yield ""
    yield "  Crucial values"
    yield from _checklist([row for row in view.checklist if row.is_crucial])
    yield from _skipped_rules(run)
    yield from _best_lines(run)
    yield from _problems(run)


def _facts(view: RunView) -> str:
    step = view.progress.step
    state = view.state.value + (f" ({view.state_text})" if view.state_text else "")
    facts = [view.trainer, state]
    if step is not None:
        total = f" of {count(view.progress.total)}" if view.progress.total else ""
        facts.append(f"step {count(step)}{total}")
        facts.append(plural(view.progress.updates, "update"))
    return " · ".join(clean(fact) for fact in facts)


def _finding_lines(opened: OpenFinding, run: Run) -> Iterator[str]:
    finding = opened.finding
    yield (
        f"  {MARKS[opened.severity.status]} {opened.severity.word.upper()}  {clean(finding.title)}"
        f"  [{finding.rule}]{_since(opened)}"
    )
    yield from _wrap(finding.message, "    ")
    for line in finding.evidence:
        yield from _wrap(line, "    evidence  ", "              ")
    for line in finding.causes:
        yield from _wrap(line, "    why       ", "              ")
    for rank, line in enumerate(finding.remedies, 1):
        yield from _wrap(line, f"    try {rank}     ", "              ")
    if finding.source:
        yield from _wrap(finding.source, "    source    ", "              ")


def _since(opened: OpenFinding) -> str:
    step = opened.finding.since.step
    return f"  since step {count(step)} ({opened.age})" if step != NO_STEP else ""


def _resolved_line(finding: Finding) -> str:
    cleared = count(finding.cleared.step) if finding.cleared else ""
    return (
        f"{MARKS[finding.severity.status]} {finding.title} [{finding.rule}], "
        f"step {count(finding.since.step)} to {cleared}: {finding.message}"
    )


def _checklist(rows: list[CheckRow]) -> Iterator[str]:
    width = max((len(row.label) for row in rows), default=0)
    for row in rows:
        label = clean(row.label).ljust(width)
        if row.status is Status.MISSING:
            yield from _wrap(row.note, f"    {MARKS[row.status]} {label}  ", " " * (width + 8))
            continue
        parts = [part for part in (healthy_text(row.healthy), row.note) if part]
        yield f"    {MARKS[row.status]} {label}  {row.text:>9}  {' · '.join(parts)}".rstrip()


def _skipped_rules(run: Run) -> Iterator[str]:
    skipped, looked = run.evaluation.judge.skipped_rules(), judged_by(run)
    yield ""
    yield f"  {count(looked.rules)} of {plural(looked.of, 'rule')} for such a run checked it"
    for tag, alias in looked.suggested_tags.items():
        label = concept(alias.split()[0]).label
        yield f"    {clean(tag)} is not known; if it is the {label}, add to ppo-top.toml:"
        yield f'      [tags] "{clean(tag)}" = "{alias}"'
    reasons: dict[str, list[str]] = {}
    for each in skipped:
        reasons.setdefault(each.reason, []).append(each.rule)
    for reason, rules in sorted(reasons.items(), key=lambda item: -len(item[1])):
        if reason.startswith("not for"):  # the same for every run of the family: a count will do
            yield f"    skipped ({reason}): {plural(len(rules), 'rule')}"
            continue
        yield from _wrap(f"skipped ({reason}): {', '.join(rules)}", "    ", "      ")


def _best_lines(run: Run) -> Iterator[str]:
    for name in ("eval_reward_mean", "reward_mean"):
        track = run.timeline.tracks.get(name)
        top = best_value(track, len(track), "up") if track else None
        if top is not None:
            yield f"  best {concept(name).label}: {number(top.value)} at step {count(top.step)}"


def _problems(run: Run) -> Iterator[str]:
    for key in sorted(run.sources):
        source = run.sources[key]
        if source.problem_count:
            yield f"  {clean(key)}: {plural(source.problem_count, 'unreadable place')}"
        if source.left_out_text:
            yield f"  {clean(key)}: {source.left_out_text}"


def _wrap(text: str, first: str, rest: str | None = None) -> list[str]:
    return textwrap.wrap(
        clean(text),
        REPORT_CHARS,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_on_hyphens=False,
    ) or [first.rstrip()]
