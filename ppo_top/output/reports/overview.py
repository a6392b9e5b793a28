"""What `check` prints of its reports: some lines on each run in trouble, and a table of all."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ppo_top.model import verdict_counts_text
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.output.colour import coloured
from ppo_top.output.reports.run_report import RunIdentity, RunReport
from ppo_top.text.format import cells, clean, count, dated, pad, plural, steps
from ppo_top.text.marks import MARKS

MAX_BRIEFS = 10
"""Runs in trouble that are described without `verbose`, the worst ones; the table has all."""

MAX_CALM_ROWS = 10
"""Rows of runs without trouble in the table; more of them are only counted."""

NUMBER_HEADS = ("reward", "since step")
WIDE_HEADS = ("state", "reward")
"""Columns of the table that only a terminal of `MAX_WIDTH` has."""

MAX_WIDTH = 100
"""Characters of a line of text, however wide the terminal."""

MESSAGE_LINES = 2

SKIPPED = "    skipped "
"""What a line on rules that did not check a run begins with (`skipped_lines`)."""


class OutputStyle(NamedTuple):
    """How reports are printed: `format` as in `check --format`, and for text how.

    Text is whole reports of all runs if `verbose`; `width` is the terminal's.
    """

    format: str = "text"
    verbose: bool = False
    colour: bool = False
    width: int | None = None


PLAIN, JSON = OutputStyle(), OutputStyle("json")


MAX_UNREAD = 5
"""Logs that could not be read are named in a summary; any more are counted."""


def overview(
    reports: Sequence[RunReport],
    passed_over: int = 0,
    style: OutputStyle = PLAIN,
    unread: Sequence[str] = (),
) -> str:
    """Of one run its report; of several, worst first, what is wrong with each, then a table.

    `passed_over` is the number of files that gave nothing, `unread` what could not be opened.
    """
    if len(reports) == 1:
        skipped = f"\n{reports[0].skipped}" if style.verbose and reports[0].skipped else ""
        parts = [_report_text(reports[0]) + skipped]
    else:
        parts = [*_texts(reports, style), "\n".join(_table_lines(reports, style))]
    if passed_over and not style.verbose:
        parts[-1] += f"\n{plural(passed_over, 'file')} passed over: -v says which, and why"
    parts[-1] += "".join(f"\n{line}" for line in unread_lines(unread))
    text = "\n\n".join(parts)
    return coloured(text) if style.colour else text


def _texts(reports: Sequence[RunReport], style: OutputStyle) -> Iterator[str]:
    """What is said of single runs, before the table."""
    if style.verbose:
        yield from (_report_text(each) for each in reports)
        if skipped := "\n".join(_skipped_anywhere(reports)):
            yield f"Rules that did not check all runs\n{skipped}"
        return
    troubled = [each for each in reports if each.is_notable]
    yield from ("\n".join(_brief_lines(each, style)) for each in troubled[:MAX_BRIEFS])


def _skipped_anywhere(reports: Sequence[RunReport]) -> Iterator[str]:
    """Which rules were skipped, and why: once, however many runs it is said of."""
    said = Counter(
        entry
        for report in reports
        for entry in re.split(rf"\n(?={SKIPPED})", report.skipped)
        if entry
    )
    for entry, amount in said.most_common():
        some = f" in {amount} of {plural(len(reports), 'run')}" if amount < len(reports) else ""
        yield entry.replace(SKIPPED, SKIPPED.rstrip() + some + " ", 1)


def _report_text(report: RunReport) -> str:
    """The report on a run, without what was skipped."""
    name, summary = clean(report.identity.name), report.summary
    headline = f"{MARKS[report.mark]} {name}: {summary.words}"
    remarks = "".join(f"  {clean(each)}\n" for each in report.remarks)
    return f"{headline}\n  {facts_line(report)}\n{remarks}{report.text}"


def facts_line(report: RunReport) -> str:
    """What it is and how far it has come: `SB3 PPO · finished · step 80,000 · 40 updates`."""
    identity, summary = report.identity, report.summary
    state = identity.state.value + (f" ({identity.state_text})" if identity.state_text else "")
    facts = [summary.trainer, state]
    if identity.copy_of:
        facts.append(f"copy of {identity.copy_of}")
    if summary.step is not None:
        total = f" of {count(summary.total)}" if summary.total else ""
        facts.append(f"{dated(summary.axis, summary.step)}{total}")
        facts.extend(filter(None, [summary.rows]))
    return " · ".join(clean(fact) for fact in facts)


def _brief_lines(report: RunReport, style: OutputStyle) -> Iterator[str]:
    """What is wrong with a run, since when, with which numbers, likely why, and what to try."""
    identity, summary = report.identity, report.summary
    severity = f"{MARKS[summary.verdict.status]} {summary.verdict.words.upper()}"
    yield f"{severity}  {clean(identity.name)}: {_title(report)}"
    facts = [summary.when] if summary.when else []
    if summary.others:
        facts.append(f"{summary.others} more {'findings' if summary.others > 1 else 'finding'}")
    at = f" at {steps(summary.step, axis=summary.axis)}" if summary.step is not None else ""
    facts.append(f"{clean(summary.trainer)}, {identity.state.value}{at}")
    yield from _wrapped(" · ".join(facts), "    ", style)
    yield from _wrapped(summary.message, "    ", style)
    if summary.cause:
        yield from _wrapped(summary.cause, "    why    ", style)
    if summary.remedy:
        yield from _wrapped(summary.remedy, "    try    ", style)
    for remark in report.remarks:
        yield from _wrapped(clean(remark), "    note   ", style)


def _title(report: RunReport) -> str:
    return report.summary.finding or report.below_siblings or report.summary.words


def _wrapped(text: str, label: str, style: OutputStyle) -> list[str]:
    """A text of at most two lines after a label."""
    from textwrap import wrap  # a healthy run needs none

    return wrap(
        text,
        max(len(label) + 20, min(style.width or MAX_WIDTH, MAX_WIDTH)),
        initial_indent=label,
        subsequent_indent=" " * len(label),
        max_lines=MESSAGE_LINES,
        placeholder=" …",
        break_on_hyphens=False,
    )


def _table_lines(reports: Sequence[RunReport], style: OutputStyle) -> Iterator[str]:
    """A table of runs in the order given, then the number of runs by verdict."""
    troubled = [each for each in reports if each.is_notable]
    calm = [each for each in reports if not each.is_notable]
    listed = reports if style.verbose or len(calm) <= MAX_CALM_ROWS else troubled
    yield from _table(listed, style)
    if len(listed) < len(reports):
        yield f"  and {plural(len(calm), 'run')} without trouble: -v lists them"
    yield counted_runs(reports)
    if troubled and not style.verbose:
        worst = f"the {MAX_BRIEFS} worst are described above; " * (len(troubled) > MAX_BRIEFS)
        path = troubled[0].identity.path
        hint = f"{worst}whole reports: -v"
        if ":" in path or Path(path).exists():  # the logs of a run may be files of one name
            import shlex  # most reports need none of it

            hint += f", or of one run `ppo-top check {shlex.quote(clean(path))}`"
        yield hint


def unread_lines(unread: Sequence[str]) -> Iterator[str]:
    """What the verdict says nothing of, because it could not be opened."""
    yield from (f"not judged: {line}" for line in unread[:MAX_UNREAD])
    if len(unread) > MAX_UNREAD:
        yield f"not judged: {len(unread) - MAX_UNREAD:,} more that cannot be read"


def counted_runs(reports: Sequence[RunReport]) -> str:
    """`11 runs: 3 crit, 8 healthy`, or `0 runs`."""
    counts = verdict_counts_text(each.summary.verdict for each in reports)
    return plural(len(reports), "run") + f": {counts}" * bool(counts)


def _table(reports: Sequence[RunReport], style: OutputStyle) -> Iterator[str]:
    """A row for each run below the heads; a narrow terminal has no room for all columns."""
    if not reports:
        return
    width = style.width or math.inf
    lines = [" ", *(MARKS[each.mark] for each in reports)]
    for head, texts in _columns(reports, style.width).items():
        if head in WIDE_HEADS and width < MAX_WIDTH:
            continue
        size = max(map(cells, [head, *texts]))
        gap, is_number = (" " if head == "run" else "  "), head in NUMBER_HEADS
        column = [gap + pad(text, size, right=is_number) for text in (head, *texts)]
        lines = [line + cell for line, cell in zip(lines, column, strict=True)]
    yield from (_cut(line.rstrip(), width) for line in lines)


def _columns(reports: Sequence[RunReport], width: int | None) -> dict[str, list[str]]:
    """What each column holds, by its head."""
    summaries = [each.summary for each in reports]
    return {
        "run": [_short_name(each.identity, width) for each in reports],
        "verdict": [each.verdict.words for each in summaries],
        "state": [each.identity.state.value for each in reports],
        "reward": [each.reward for each in summaries],
        "since step": [each.since for each in summaries],
        "finding": [each.finding for each in reports],
    }


def _short_name(identity: RunIdentity, width: int | None) -> str:
    """The name of a run; a terminal of some width shows its ends, the last tells seeds apart."""
    name = clean(identity.name + (f" (copy of {identity.copy_of})" if identity.copy_of else ""))
    room = max(20, width // 3) if width is not None else len(name)
    return name if len(name) <= room else f"{name[: room // 2 - 1]}…{name[-(room // 2) :]}"


def _cut(text: str, width: float) -> str:
    return text if len(text) <= width else f"{text[: int(width) - 1]}…"
