"""The report of `check` as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ppo_top.catalogue import concept
from ppo_top.model import Axis, Finding, Severity, Status
from ppo_top.output.reports.run_report import RunSummary
from ppo_top.rules.engine.logged_run import REWARD_CONCEPTS
from ppo_top.runs.run import Run
from ppo_top.text.format import cells, clean, count, dated, healthy_text, number, pad, plural
from ppo_top.text.marks import MARKS
from ppo_top.views.checkpoint_search import checkpoint_search
from ppo_top.views.judged_by import judged_by
from ppo_top.views.run_view import CheckRow, OpenFinding, RunView
from ppo_top.views.siblings import sibling_facts
from ppo_top.views.trend import best_value
from ppo_top.views.troubled_rows import WARMUP_POINTS

REPORT_CHARS = 96


def run_summary(run: Run, view: RunView) -> RunSummary:
    """A run's verdict, progress, newest reward and worst open finding."""
    alerts = [each for each in view.open_findings if each.severity > Severity.INFO]
    worst = alerts[0].finding if alerts else None
    rewards = {row.concept: row.text for row in view.checklist}
    open_now = (each.severity for each in run.findings if each.cleared is None)
    return RunSummary(
        verdict=view.verdict,
        words=view.marked_words,
        severity=max(open_now, default=0),
        producer=run.evaluation.trainer.id,
        trainer=view.trainer,
        family=view.family,
        step=view.progress.step,
        total=view.progress.total,
        rows=view.progress.rows,
        eta_s=view.progress.eta_s,
        title=view.open_findings[0].finding.title if view.open_findings else "",
        reward=next((rewards[name] for name in REWARD_CONCEPTS if rewards.get(name)), ""),
        since=alerts[0].first_step if alerts else "",
        finding=clean(worst.title) if worst is not None else "",
        when=", ".join(filter(None, (alerts[0].since, alerts[0].cost))) if alerts else "",
        message=clean(alerts[0].message) if alerts else "",
        cause=clean(next(iter(worst.causes), "")) if worst is not None else "",
        remedy=clean(next(iter(worst.remedies), "")) if worst is not None else "",
        others=max(0, len(alerts) - 1),
        axis=view.progress.axis,
        checkpoints=checkpoint_search(run, view),
        sibling=sibling_facts(run),
        outside=view.outside_words,
    )


def report_lines(run: Run, view: RunView) -> Iterator[str]:
    """The report of one run after its head lines, without colours."""
    if view.reservation:
        yield from _wrap(view.reservation, "  ")
    for index, opened in enumerate(view.open_findings):
        yield ""
        yield from _finding_lines(opened, view.open_findings[:index])
    if view.cleared_findings:
        yield ""
        yield "  Resolved"
        for finding in view.cleared_findings:
            yield from _wrap(_resolved_line(finding, view.progress.axis), "    ", "      ")
    yield from _watched_values(view)
    yield ""
    yield "  Crucial values"
    yield from _checklist([row for row in view.checklist if row.is_crucial])
    yield from _judged_by(run)
    yield from _best_lines(run)
    yield from _problems(run)


def _watched_values(view: RunView) -> Iterator[str]:
    """Which values are out of range without a finding, and why a short log has none."""
    if view.watched:
        said = (f"{row.label} {row.text} ({healthy_text(row.healthy)})" for row in view.watched)
        yield from _wrap(f"Out of range: {', '.join(said)}", "  ")
    if view.watched and view.progress.updates < WARMUP_POINTS:
        so_far = plural(view.progress.updates, view.progress.row_kind)
        yield f"  {so_far}: what needs a trend is not judged"


def _finding_lines(opened: OpenFinding, before: Sequence[OpenFinding]) -> Iterator[str]:
    """A finding; `before` are those above it, whose causes and advice are not listed again."""
    finding, above = opened.finding, [each.finding for each in reversed(before)]  # the first counts
    since = f"  {opened.since} ({opened.age})" if opened.since else ""
    yield (
        f"  {MARKS[opened.severity.status]} {opened.severity.word.upper()}  {clean(finding.title)}"
        f"  [{finding.rule}]{since}"
    )
    yield from _wrap(opened.message, "    ")
    for line in opened.evidence:
        yield from _wrap(line, "    evidence  ", "              ")
    for line in _said_once(finding.causes, {each.causes: each.rule for each in above}):
        yield from _wrap(line, "    why       ", "              ")
    advice = _said_once(finding.remedies, {each.remedies: each.rule for each in above})
    for rank, line in enumerate(advice, 1):
        yield from _wrap(line, f"    try {rank}     ", "              ")
    if finding.source:
        yield from _wrap(finding.source, "    source    ", "              ")


def _said_once(lines: tuple[str, ...], above: Mapping[tuple[str, ...], str]) -> Sequence[str]:
    """The lines, or the rule of the finding above that says just the same."""
    return [f"the same as for {above[lines]}"] if len(lines) > 1 and lines in above else lines


def _resolved_line(finding: Finding, axis: Axis) -> str:
    cleared = count(finding.cleared.step) if finding.cleared else ""
    return (
        f"{MARKS[finding.severity.status]} {finding.title} [{finding.rule}], "
        f"{dated(axis, finding.since.step)} to {cleared}: {finding.message}"
    )


def _checklist(rows: list[CheckRow]) -> Iterator[str]:
    width = max((cells(clean(row.label)) for row in rows), default=0)
    for row in rows:
        label = pad(clean(row.label), width)
        if row.status is Status.MISSING:
            yield from _wrap(row.note, f"    {MARKS[row.status]} {label}  ", " " * (width + 8))
            continue
        parts = [part for part in (healthy_text(row.healthy), row.note) if part]
        yield f"    {MARKS[row.status]} {label}  {row.text:>9}  {' · '.join(parts)}".rstrip()


def _judged_by(run: Run) -> Iterator[str]:
    """How many rules checked a run, and what would let more of them do so."""
    looked = judged_by(run)
    yield ""
    rules = f"{count(looked.rules)} of {plural(looked.of, 'rule')}"
    yield f"  {rules} for this kind of run have the metrics they need"
    for tag, alias in looked.suggested_tags.items():
        label = concept(alias.split()[0]).label
        yield f"    {clean(tag)} is not known; if it is the {label}, add to ppo-top.toml:"
        yield f'      [tags] "{clean(tag)}" = "{alias}"'


def skipped_lines(run: Run) -> Iterator[str]:
    """Which rules did not check a run, by reason."""
    reasons: dict[str, list[str]] = {}
    for each in run.evaluation.skipped_rules():
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
            at = dated(run.timeline.axis, top.step)
            yield f"  best {concept(name).label}: {number(top.value)} at {at}"


def _problems(run: Run) -> Iterator[str]:
    for key in sorted(run.sources):
        source = run.sources[key]
        if source.problem_count:
            yield f"  {clean(key)}: {plural(source.problem_count, 'unreadable place')}"
        if source.left_out_text:
            yield f"  {clean(key)}: {source.left_out_text}"
        for note in source.all_notes:
            yield from _wrap(f"{key}: {note}", "  ", "    ")


def _wrap(text: str, first: str, rest: str | None = None) -> list[str]:
    from textwrap import wrap  # a healthy run needs none

    return wrap(
        clean(text),
        REPORT_CHARS,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_on_hyphens=False,
    ) or [first.rstrip()]
