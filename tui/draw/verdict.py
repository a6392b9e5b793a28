"""The verdict: what is wrong in one line, then the evidence, then what to try."""

from __future__ import annotations

from ppo_top.model import Finding
from ppo_top.text.format import clean, count
from ppo_top.tui.graphics.styled_text import (
    StyledLine,
    join_fitting,
    line,
    plain_text,
    shorten,
    width,
    wrap,
)
from ppo_top.tui.state.snapshot import ClickRegion, ScreenBlock, Snapshot
from ppo_top.views.run_view import RunView

MAX_OTHER_FINDINGS = 3
"""Other open findings listed below the first one."""

MIN_ADVICE_LABEL_CELLS = 60
"""Below this width the advice has no label."""

MIN_ADVICE_LINES = 3
"""Lines reserved for advice before evidence."""


def draw_verdict(snap: Snapshot, cells: int, rows: int) -> ScreenBlock:
    """The verdict in at most `rows` lines: headline, evidence, advice, other findings."""
    view = snap.view
    if view is None or rows < 1:
        return ScreenBlock()
    lines = headline_lines(snap, view, cells, max(1, min(rows, 2)))
    if view.open_findings:
        room = rows - len(lines)
        others = _other_findings(snap, view, cells, min(max(0, room - 4), MAX_OTHER_FINDINGS))
        lines += _details(snap, view.open_findings[0].finding, cells, room - len(others))
        lines += others
    elif view.cleared_findings and rows > len(lines):
        lines.append(_cleared_line(snap, view, cells))
    block = ScreenBlock(lines[:rows])
    block.click_regions.append(ClickRegion(0, 0, cells, len(block.lines), "key", "findings"))
    return block


def headline_lines(snap: Snapshot, view: RunView, cells: int, rows: int) -> list[StyledLine]:
    """The headline: symbol and text."""
    sign = snap.symbols.status[view.verdict.status]
    text = clean(view.headline)
    if not view.open_findings and len(text) > cells - 3:
        text = text.partition(":")[0]  # the checklist has the details
    elif view.open_findings:
        first = view.open_findings[0]
        title = clean(first.finding.title)
        dated = f"{clean(first.dated_title)} ({first.age})"
        text = next((each for each in (dated, text) if len(each) <= cells - 3), title)
        if first.finding.rule in snap.acknowledged:
            text += f" {snap.symbols.separator} acknowledged"
    wrapped = wrap(text, max(cells - 3, 4))
    if len(wrapped) > rows:
        wrapped = [*wrapped[: rows - 1], shorten(" ".join(wrapped[rows - 1 :]), cells - 3)]
    style = view.verdict.value
    first_line = line((f" {sign} ", style), (wrapped[0] if wrapped else "", style))
    return [first_line, *(line("   ", (row, style)) for row in wrapped[1:])]


WrappedLines = list[tuple[StyledLine, bool]]
"""Lines of a text, each with whether a part ends there."""


def _whole_parts(rows: WrappedLines, max_lines: int) -> list[StyledLine]:
    """At most `max_lines` lines, cut at the end of a part."""
    kept = rows[: max(max_lines, 0)]
    while kept and not kept[-1][1]:
        kept.pop()
    return [row for row, _ in kept]


def _details(snap: Snapshot, finding: Finding, cells: int, most: int) -> list[StyledLine]:
    """Evidence, then numbered advice; the first advice has priority, as the checklist below also
    shows what is wrong.
    """
    evidence = [line(snap.display_text(text)) for text in finding.evidence or (finding.message,)]
    tries = [
        line((f"{number} ", "key"), snap.display_text(text))
        for number, text in enumerate(finding.remedies, 1)
    ]
    advice = _flow("   try  " if cells >= MIN_ADVICE_LABEL_CELLS else "   ", tries, cells, "  ")
    first = next((number for number, (_, ends) in enumerate(advice, 1) if ends), 0)
    keep = max(min(len(advice), MIN_ADVICE_LINES, most // 2), first if first <= most else 0)
    why = _whole_parts(_flow("   ", evidence, cells), most - keep)
    return why + _whole_parts(advice, most - len(why))


def _flow(lead: str, parts: list[StyledLine], cells: int, gap: str = " · ") -> WrappedLines:
    """Parts in a row; one that does not fit begins a new line, one that is too long is wrapped."""
    rows: WrappedLines = []
    current: list[StyledLine] = []
    room = max(cells - len(lead), 8)
    for part in parts:
        together = [*current, part]
        if current and width(join_fitting(together, 10_000, gap)) > room:
            rows += _wrapped(join_fitting(current, 10_000, gap), room)
            together = [part]
        current = together
    if current:
        rows += _wrapped(join_fitting(current, 10_000, gap), room)
    leads = [lead, *[" " * len(lead)] * (len(rows) - 1)]
    return [
        (line((start, "dim"), *row), ends) for start, (row, ends) in zip(leads, rows, strict=False)
    ]


def _wrapped(part: StyledLine, cells: int) -> WrappedLines:
    if width(part) <= cells:
        return [(part, True)]
    first = part[0] if part[0][1] == "key" else ("", "")
    indent = len(first[0])
    rows = wrap(plain_text(part)[indent:], cells - indent)
    return [
        (line(first if number == 0 else " " * indent, row), number == len(rows) - 1)
        for number, row in enumerate(rows)
    ]


def _other_findings(snap: Snapshot, view: RunView, cells: int, most: int) -> list[StyledLine]:
    """The other open findings, a line each; the last line counts the hidden ones."""
    rows: list[StyledLine] = []
    hidden = len(view.open_findings) - 1 - most
    dot = snap.symbols.separator
    for opened in view.open_findings[1 : most + 1]:
        severity = opened.severity
        after = f" {dot} acknowledged" if opened.finding.rule in snap.acknowledged else ""
        if hidden > 0 and len(rows) == most - 1:
            after += f" {dot} {hidden} more (f)"
        text = shorten(clean(opened.dated_title), cells - 3 - len(after))
        sign = snap.symbols.status[severity.status]
        rows.append(line((f" {sign} ", severity.word), text, (after, "dim")))
    return rows


def _cleared_line(snap: Snapshot, view: RunView, cells: int) -> StyledLine:
    newest = view.cleared_findings[0]
    cleared = newest.cleared
    where = f", cleared at step {count(cleared.step)}" if cleared is not None else ""
    text = f"{len(view.cleared_findings)} resolved; last: {clean(newest.title)}{where}"
    return line(("   " + shorten(text, cells - 3), "dim"))
