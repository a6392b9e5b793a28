"""The run's timeline in one line: severity so far, findings as marks, the cursor."""

from __future__ import annotations

from ppo_top.model import Severity, Verdict
from ppo_top.text.format import count, number
from ppo_top.tui.graphics.sparkline import merge_spans
from ppo_top.tui.graphics.styled_text import Span, StyledLine, join_fitting, line, width
from ppo_top.tui.state.snapshot import ClickRegion, ScreenBlock, Snapshot
from ppo_top.views.run_view import RunView


def draw_timeline(snap: Snapshot, cells: int) -> ScreenBlock:
    """The timeline; a click on it moves the cursor."""
    view = snap.view
    if view is None or view.row is None or not len(view.timeline):
        return ScreenBlock([line("")])
    left, right = _left(snap), _right(view)
    room = cells - width(left) - width(right) - 2
    if room < 12:
        return ScreenBlock([join_fitting([left, right], cells)])
    rows = len(view.timeline)
    bar = timeline_line(snap, view, rows, room)
    hit = ClickRegion(width(left) + 1, 0, room, 1, "time")
    return ScreenBlock([line(*left, " ", *bar, " ", *right)], [hit])


def _left(snap: Snapshot) -> StyledLine:
    playback = snap.playback_state
    at_end = snap.view is not None and snap.view.at_end
    if playback is None or (at_end and not playback.replay):
        return line((" timeline", "dim"))
    if at_end:
        return line((" replay finished", "restart"))
    if not playback.playing:
        return line((" paused", "restart"))
    play = ">" if snap.symbols.ascii_only else "▶"
    return line((f" {play} {number(playback.speed, 3)}x", "cursor"))


def _right(view: RunView) -> StyledLine:
    if view.at_end:
        return line(("latest ", "cursor"))
    row = view.row or 0
    share = 100 * (row + 1) // len(view.timeline)
    step = count(view.timeline.steps[row])
    return line((f"{view.timeline.axis} ", "dim"), (step, "cursor"), (f" · {share} % ", "dim"))


def timeline_line(snap: Snapshot, view: RunView, rows: int, cells: int) -> StyledLine:
    """One cell for a range of rows: the worst severity, marks of findings, the cursor."""
    symbols = snap.symbols
    cursor = _cell(view.row or 0, rows, cells)
    worst: list[Severity | None] = [None] * cells
    marks: dict[int, Span] = {}
    replay = snap.playback_state is not None and snap.playback_state.replay
    visible = list(snap.findings)  # later ones, too, when looking back
    if replay:  # as they were known then
        visible = [f.as_of(view.row or 0) for f in visible if f.opened.row <= (view.row or 0)]
    for finding in sorted(visible, key=lambda each: each.severity):
        stop = finding.cleared.row if finding.cleared is not None else rows - 1
        first, last = (_cell(row, rows, cells) for row in (finding.since.row, min(stop, rows - 1)))
        for cell in range(first, last + 1):
            worst[cell] = max(finding.severity, worst[cell] or Severity.INFO)
        status = finding.severity.status
        marks[_cell(finding.opened.row, rows, cells)] = (symbols.status[status], status.value)
    for row in view.timeline.restarts:
        marks.setdefault(_cell(row, rows, cells), (symbols.restart, "restart"))
    spans: list[Span] = []
    for cell in range(cells):
        if cell == cursor:
            spans.append((symbols.cursor, "cursor"))
        elif cell in marks:
            spans.append(marks[cell])
        else:
            severity = worst[cell]
            past = "dim" if view.verdict is Verdict.UNJUDGED else "healthy"
            tone = severity.word if severity is not None else past
            spans.append((symbols.horizontal_line, tone if cell < cursor else "faint"))
    return merge_spans(spans)


def _cell(row: int, rows: int, cells: int) -> int:
    return min(cells - 1, max(0, row * (cells - 1) // max(rows - 1, 1)))
