"""The text overlays: findings, the explanation of a metric, console output."""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.catalogue import UNKNOWN_TRAINER, Concept, concept
from ppo_top.model import Axis, Finding, console_lines
from ppo_top.text.format import clean, count, dated, healthy_text
from ppo_top.tui.draw.search import ERROR_STYLE
from ppo_top.tui.graphics.styled_text import StyledLine, fit_width, line, shorten, wrap
from ppo_top.tui.state.snapshot import Snapshot
from ppo_top.tui.state.ui_state import UiState
from ppo_top.views.checkpoint_search import asks_for_restart
from ppo_top.views.run_view import CheckRow, OpenFinding, RunView


def findings_text(ui: UiState, snap: Snapshot, cells: int) -> list[StyledLine]:
    """The open findings in detail, then the resolved ones; a and m act on the chosen one."""
    view = snap.view
    if view is None:
        return [line(("no run selected", "dim"))]
    rows: list[StyledLine] = []
    if snap.below_siblings is not None:
        text = snap.display_text(snap.below_siblings.text)
        rows += [*(line((row, "watch")) for row in wrap(text, cells)), ()]
    for opened in view.open_findings:
        first, *others = _finding_card(snap, opened, cells)
        if opened.finding is ui.chosen_finding(view):
            first = tuple(
                (text, f"{style}+selected") for text, style in fit_width(first, max(cells, 1))
            )
        rows += [first, *others, ()]
    if not view.open_findings:
        rows += [line(("no open findings", "healthy")), ()]
    if view.cleared_findings:
        rows.append(line(("Resolved", "title")))
        rows += [
            _past(snap, finding, view.timeline.axis, cells) for finding in view.cleared_findings
        ]
    return rows


def _finding_card(snap: Snapshot, opened: OpenFinding, cells: int) -> list[StyledLine]:
    """A finding in detail: title, since, message, evidence, causes, remedies, source."""
    finding = opened.finding
    word = opened.severity.word
    title = f"{snap.symbols.status[opened.severity.status]} {word}  {clean(finding.title)}"
    rows = [line((row, word)) for row in wrap(title, cells)]
    since = f"{opened.since} ({opened.age})" if opened.since else opened.age
    if opened.since.startswith("since"):
        since += f", detected at {dated(opened.axis, finding.opened.step)}"
    rows += [line(("  " + row, "dim")) for row in wrap(since, cells - 2)]
    if finding.rule in snap.acknowledged:
        note = snap.acknowledged[finding.rule]
        reason = clean(note.reason) or "no reason"
        rows.append(line((f"  {note.word}: ", "info"), shorten(reason, cells - 18)))
    rows += [line("  " + row) for row in wrap(snap.display_text(opened.message), cells - 2)]
    rows += _listed(snap, "evidence", opened.evidence, cells)
    rows += _listed(snap, "why", finding.causes, cells)
    rows += _listed(snap, "try", finding.remedies, cells, numbered=True)
    if snap.restart is not None and any(map(asks_for_restart, finding.remedies)):
        rows += _listed(snap, "restart", (snap.restart.text,), cells)
    if finding.source:
        rows += _listed(snap, "source", (finding.source,), cells)
    return [*rows, *_listed(snap, "rule", (finding.rule,), cells)]


def _listed(
    snap: Snapshot, head: str, texts: tuple[str, ...], cells: int, numbered: bool = False
) -> list[StyledLine]:
    rows: list[StyledLine] = []
    for index, text in enumerate(texts, 1):
        sign = f"{index} " if numbered else ""
        lead = head if index == 1 else ""
        for at, row in enumerate(wrap(snap.display_text(text), max(cells - 13, 8))):
            first = (f"  {lead:<9}", "dim") if at == 0 else (" " * 11, "")
            mark = (sign if at == 0 else " " * len(sign), "key")
            rows.append(line(first, mark, row))
    return rows


def _past(snap: Snapshot, finding: Finding, axis: Axis, cells: int) -> StyledLine:
    sign = snap.symbols.status[finding.severity.status]
    over = f" to {count(finding.cleared.step)}" if finding.cleared is not None else ""
    text = f"{clean(finding.title)}, {dated(axis, finding.since.step)}{over}"
    return line((f" {sign} ", finding.severity.word), shorten(text, cells - 3))


def explain_text(ui: UiState, snap: Snapshot, cells: int) -> list[StyledLine]:
    """The selected metric: current value, healthy range and its origin, meaning, remedies."""
    view = snap.view
    if view is None or not snap.concept:
        return [line(("no metric selected", "dim"))]
    metric = concept(snap.concept)
    row = next((each for each in view.checklist if each.concept == snap.concept), None)
    rows = [line((clean(row.label if row else metric.label), "title"))]
    rows += _current(view, snap, row, cells)
    rows.append(())
    text = [snap.display_text(row) for row in _explained(ui, snap, metric, max(cells, 20))]
    below = [*text[1:], ""]
    return rows + [
        # a line above an indented one is a title
        line((row_text, "title" if row_text[:1].strip() and next_.startswith("  ") else ""))
        for row_text, next_ in zip(text, below, strict=True)
    ]


def _explained(ui: UiState, snap: Snapshot, metric: Concept, cells: int) -> list[str]:
    """The text of `ppo-top explain`, for the run's trainer and configuration."""
    from ppo_top.output.explain import UnknownName, explain, logged_options

    trainer, config, rows = UNKNOWN_TRAINER, {}, []
    if ui.run is not None:
        trainer, config = ui.run.evaluation.trainer, ui.run.evaluation.config
        rows = logged_options(ui.run.timeline, ui.cursor.current_row(ui.run.timeline))
    try:
        name, *text = explain(metric.name, cells, trainer, config, rows=rows)
        return text[1:] if text[:1] == [""] else [name, *text]  # the title has the name
    except UnknownName:  # a tag outside the catalogue
        return wrap(clean(metric.meaning), cells)


def _current(view: RunView, snap: Snapshot, row: CheckRow | None, cells: int) -> list[StyledLine]:
    track = view.timeline.tracks.get(snap.concept)
    rows = []
    if track is not None:
        rows.append(line(("logged as ", "dim"), shorten(clean(track.tag), cells - 10)))
    if row is not None and row.text:
        limits = row.healthy_range
        origin = f" ({clean(limits.origin)})" if limits is not None and limits.origin else ""
        healthy = healthy_text(snap.display_text(row.healthy)) or "no fixed range"
        text = f"now {row.text}, {healthy}{origin}"
        rows += [line((part, row.status.value)) for part in wrap(text, cells)]
        if note := clean(row.note):
            rows.append(line((shorten(note, cells), row.status.value)))
    return rows


def console_text(ui: UiState, snap: Snapshot, cells: int) -> list[StyledLine]:
    """The console output, with evidence of findings and the cursor's line coloured.

    A replay ends at the cursor; when looking back, later lines are faint.
    """
    run, view = ui.run, snap.view
    if run is None or view is None:
        return [line(("no run selected", "dim"))]
    rows: list[StyledLine] = []
    for source in sorted(run.sources.values(), key=lambda each: each.creation_order):
        if not source.lines:
            continue
        rows.append(line((shorten(clean(source.key), cells), "title")))
        evidence = {id(each) for each, _ in source.evidence}
        last = _last_step(view, [each.step for each in source.lines if each.step is not None])
        later = _first_later(source.lines, last)
        for at, each in enumerate(source.lines):
            if at >= later and ui.cursor.replay:
                break
            style = "faint" if at >= later else "cursor" if at == later - 1 else ""
            style = ERROR_STYLE if id(each) in evidence else style
            rows.append(line((shorten(clean(each.text), cells), style)))
    return rows or [line(("no console output", "dim"))]


def chosen_start(body: list[StyledLine], start: int, rows: int) -> int:
    """The first line shown of the findings, so that the chosen one is seen."""
    at = next((n for n, row in enumerate(body) if row and "+selected" in row[0][1]), 0)
    return start if start <= at <= start + rows - 3 else at


def console_start(body: list[StyledLine], rows: int) -> int:
    """The first line shown of the console output: its end, or the cursor's line centred."""
    at = next((n for n, row in enumerate(body) if row and row[0][1] == "cursor"), len(body))
    return max(0, min(at - rows // 2, len(body) - rows))


def _first_later(lines: Sequence[console_lines.ConsoleLine], last: float | None) -> int:
    """The index of the first line after the cursor's step."""
    if last is None:
        return len(lines) + 1
    later = (n for n, each in enumerate(lines) if each.step is not None and each.step > last)
    return next(later, len(lines) + 1)


def _last_step(view: RunView, steps: list[int]) -> float | None:
    """The console's own step at the cursor; None: its end.

    If the console counts updates and the run counts steps, the cursor's relative position is used.
    """
    if view.at_end or view.row is None or not steps:
        return None
    own, whole = max(steps), max(view.timeline.steps)
    if own > 0 and not 0.5 <= whole / own <= 2:
        return own * (view.row + 1) / len(view.timeline)
    return view.timeline.steps[view.row]
