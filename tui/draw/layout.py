"""One picture of the screen at any size: what matters least drops first, and no size is refused."""

from __future__ import annotations

from ppo_top.model import Status
from ppo_top.text.format import clean
from ppo_top.tui.draw.checklist import checklist, ordered
from ppo_top.tui.draw.error_box import contained
from ppo_top.tui.draw.footer import footer
from ppo_top.tui.draw.header import mini, progress_bar, run_title, top
from ppo_top.tui.draw.panels import panels, panels_title
from ppo_top.tui.draw.run_table import runlist, widest
from ppo_top.tui.draw.timeline_bar import timebar
from ppo_top.tui.draw.verdict import headline, verdict
from ppo_top.tui.graphics.styled_text import Line, fill, line, pack, wrap
from ppo_top.tui.state.snapshot import Block, Frame
from ppo_top.views.run_view import RunView

STATUS_LINES = 5
"""At most this many lines: only the status is shown."""

SIDE_PANE = (60, 18)
"""Narrower or lower than this: verdict and checklist only."""

SIDEBAR = (110, 20)
"""From this size on the runs have a place of their own."""

SIDEBAR_LEAST = 24

SIDEBAR_SHARE = 4
"""The runs take as much as their names need, but no more than one part in so many."""


def page(frame: Frame, cells: int, rows: int) -> Block:
    """The whole screen: exactly `rows` lines of exactly `cells` cells."""
    if cells < 1 or rows < 1:
        return Block()
    if rows <= STATUS_LINES:
        block = _status_lines(frame, cells, rows)
    elif frame.focus == "runs" and not has_sidebar(frame, cells, rows):
        block = _with_footer(frame, cells, rows, _runs(frame, cells, rows - 2))
    elif frame.view is None:
        block = _with_footer(frame, cells, rows, _waiting(frame, cells, rows - 2))
    elif cells < SIDE_PANE[0] or rows < SIDE_PANE[1]:
        block = _side_pane(frame, cells, rows)
    else:
        block = _full(frame, cells, rows)
    lines = [fill(spelt(row, frame), cells) for row in block.lines[:rows]]
    blank: Line = ((" " * cells, ""),)
    return Block(lines + [blank] * (rows - len(lines)), block.hits)


def spelt(row: Line, frame: Frame) -> Line:
    """A line in the characters of the glyph set, with nothing in it that a terminal would obey."""
    return tuple((frame.glyphs.text(clean(text)), style) for text, style in row)


def has_sidebar(frame: Frame, cells: int, rows: int) -> bool:
    """Whether the runs are listed beside the chosen one."""
    if "runs" in frame.hidden or cells < SIDEBAR[0] or rows < SIDEBAR[1]:
        return False
    return frame.counts.total > 1


# --- from small to large ---------------------------------------------------------------------


def _status_lines(frame: Frame, cells: int, rows: int) -> Block:
    """Up to five lines: verdict, progress, then as many values as fit."""
    view = frame.view
    if view is None:
        return Block([mini(frame, cells)])
    block = Block(headline(frame, view, cells, 1))
    block.lines.append(line(" ", *mini(frame, cells - 1)))
    values = values_inline(frame, view)
    while values and len(block.lines) < rows:
        packed = pack(values, cells - 1, "  ")
        if not packed:
            break
        block.lines.append(line(" ", *packed))
        values = [part for part in values if part[0] not in packed]
    if rows == 1:
        block.lines = [pack([block.lines[0], mini(frame, cells)], cells)]
    return block


def values_inline(frame: Frame, view: RunView) -> list[Line]:
    """The crucial values as `✗ approx KL 0.214`, those in trouble first."""
    trouble = (Status.CRIT, Status.WARN, Status.WATCH)
    rows = [row for row in view.checklist if row.crucial and row.text]
    rows.sort(key=lambda row: trouble.index(row.status) if row.status in trouble else 9)
    return [
        line(
            (f"{frame.glyphs.status[row.status]} {clean(row.label)}", row.status.value),
            (f" {row.text}", "value"),
        )
        for row in rows
    ]


def _side_pane(frame: Frame, cells: int, rows: int) -> Block:
    """A tmux side pane: verdict and checklist; advice where there is room, the footer last."""
    block = Block()
    view = frame.view
    if view is None:
        return block
    head = [line(" ", *mini(frame, cells - 1))]
    if frame.loading is not None:
        head = [progress_bar(frame, cells)]
    values = sum(1 for row in view.checklist if row.crucial)
    room = rows - len(head)
    for_verdict = max(1, min(room - min(values, room - 1), 6 if cells >= 30 else 3))
    block.add(_verdict(frame, cells, for_verdict))
    block.add(Block(head))
    left = rows - len(block.lines)
    typing = frame.prompt is not None or frame.toast
    block.add(_values(frame, cells, left - 1 if typing else left))
    listed = frozenset(row.concept for row in ordered(view, left))
    if typing:
        block.lines += [()] * (rows - 1 - len(block.lines))
        block.add(footer(frame, cells))
    elif len(block.lines) + 3 <= rows:
        block.add(Block([()]))
        block.add(_curves(frame, cells, rows - len(block.lines) - 1, listed))
        block.lines += [()] * (rows - 1 - len(block.lines))
        block.add(_time(frame, cells))
    return block


def _with_footer(frame: Frame, cells: int, rows: int, body: Block) -> Block:
    block = Block([top(frame, cells)])
    block.add(Block(body.lines[: rows - 2], body.hits))
    block.lines += [()] * (rows - 1 - len(block.lines))
    block.add(footer(frame, cells))
    return block


def _waiting(frame: Frame, cells: int, rows: int) -> Block:
    """Nothing to show yet: what is waited for and where."""
    block = Block([()] * min(2, rows))
    for number, paragraph in enumerate(frame.waiting.split("\n")):
        style = "title" if number == 0 else "dim"
        block.lines += [line("  ", (row, style)) for row in wrap(clean(paragraph), cells - 4)]
        block.lines.append(())
    if frame.loading is not None:
        block.lines.append(progress_bar(frame, cells))
    return Block(block.lines[:rows])


def _full(frame: Frame, cells: int, rows: int) -> Block:
    block = Block([top(frame, cells)])
    body = rows - 2
    if has_sidebar(frame, cells, rows):
        side = max(SIDEBAR_LEAST, min(widest(frame.entries), cells // SIDEBAR_SHARE))
        left = _runs(frame, side, body)
        right = _run(frame, cells - side - 2, body)
        block.add(_joined(frame, left, side, right, body))
    else:
        block.add(_run(frame, cells, body))
    block.lines = block.lines[: rows - 1]
    block.lines += [()] * (rows - 1 - len(block.lines))
    block.add(footer(frame, cells))
    return block


def _joined(frame: Frame, left: Block, side: int, right: Block, rows: int) -> Block:
    wall = line((frame.glyphs.wall, "frame"), " ")
    lines: list[Line] = []
    for at in range(rows):
        first = left.lines[at] if at < len(left.lines) else ()
        second = right.lines[at] if at < len(right.lines) else ()
        lines.append((*fill(first, side), *wall, *second))
    hits = left.hits + [hit.shifted(side + 2, 0) for hit in right.hits]
    return Block(lines, hits)


def _run(frame: Frame, cells: int, rows: int) -> Block:
    """The chosen run: title, verdict, crucial values, panels, timeline."""
    view = frame.view
    block = Block([run_title(frame, cells)])
    if view is None:
        return block
    left = rows - 2  # the title above, the timeline below
    if frame.loading is not None:
        block.lines.append(progress_bar(frame, cells))
        left -= 1
    airy = rows >= 30
    listed: frozenset[str] = frozenset()
    if "finding" not in frame.hidden:
        block.add(_verdict(frame, cells, _verdict_rows(rows)))
        left = rows - 1 - len(block.lines)
    if "values" not in frame.hidden and left > 2:
        if airy:
            block.lines.append(_rule(frame, "Crucial values", cells))
            left -= 1
        shown = min(len(view.checklist), _value_rows(frame, view, left, airy))
        block.add(_values(frame, cells, shown))
        listed = frozenset(row.concept for row in ordered(view, shown))
        left = rows - 1 - len(block.lines)
    if "panels" not in frame.hidden and left > 1:
        if airy or left > 4:
            left -= 1
            block.lines.append(_rule(frame, panels_title(frame, cells, left, listed), cells))
        block.add(_curves(frame, cells, left, listed))
    block.lines += [()] * (rows - 1 - len(block.lines))
    block.add(_time(frame, cells))
    return block


# --- the parts: a fault in one leaves the others as they are ------------------------------------


def _runs(frame: Frame, cells: int, rows: int) -> Block:
    return contained("the runs", lambda: runlist(frame, cells, rows), cells, rows)


def _verdict(frame: Frame, cells: int, rows: int) -> Block:
    return contained("the verdict", lambda: verdict(frame, cells, rows), cells, rows)


def _values(frame: Frame, cells: int, rows: int) -> Block:
    return contained("the values", lambda: checklist(frame, cells, rows), cells, rows)


def _curves(frame: Frame, cells: int, rows: int, listed: frozenset[str]) -> Block:
    return contained("the curves", lambda: panels(frame, cells, rows, listed), cells, rows)


def _time(frame: Frame, cells: int) -> Block:
    return contained("the timeline", lambda: timebar(frame, cells), cells, 1)


def _verdict_rows(rows: int) -> int:
    """Lines for the verdict: a good fifth of the screen, at least three."""
    return max(3, min(9, rows // 5 + 2))


def _value_rows(frame: Frame, view: RunView, left: int, airy: bool) -> int:
    """All crucial values come before any curve; the other judged ones only where there is room."""
    crucial = sum(1 for row in view.checklist if row.crucial)
    if "panels" in frame.hidden:
        return left
    if not airy:
        return min(left, crucial)
    return min(left, max(crucial, min(len(view.checklist), left // 3)))


def _rule(frame: Frame, title: str, cells: int) -> Line:
    glyph = frame.glyphs.rule
    room = max(0, cells - len(title) - 4)
    return line((f"{glyph * 2} ", "frame"), (title, "dim"), (f" {glyph * room}", "frame"))
