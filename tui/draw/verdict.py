"""The verdict: what is wrong in one line, then cause, chain of findings, and what to try."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ppo_top.model import Status
from ppo_top.text.format import clean, dated
from ppo_top.tui.graphics.styled_text import (
    ELLIPSIS,
    StyledLine,
    justify,
    line,
    shorten,
    width,
    wrap,
)
from ppo_top.tui.state.snapshot import ClickRegion, ScreenBlock, Snapshot
from ppo_top.views.checkpoint_search import asks_for_restart
from ppo_top.views.explanation import Explanation, explain_verdict
from ppo_top.views.open_findings import OpenFinding
from ppo_top.views.run_view import RunView

MIN_LABEL_CELLS, MIN_SHORT_LABEL_CELLS = 60, 32
"""Below the first width the labels of the parts stand close, below the second not at all."""

MIN_ONE_LINE_CELLS = 100
"""Below this width what to try may take two lines."""

MAX_REMEDIES = 3

_REMARK = re.compile(r" \([^()]*\)|: nothing else.*$")
"""The part of a piece of advice that is dropped where there is no room."""

_AMOUNT = re.compile(r", by \d.*$")
"""By how much a setting is to be changed: dropped next, and said to be."""

_OPTION_GROUPS = re.compile(r"\b(?:[A-Za-z]\w+\.)+(?=[A-Za-z]\w)")
"""What an option stands below (`actor_rollout_ref.actor.`), dropped where its own name must fit."""


def draw_verdict(snap: Snapshot, cells: int, rows: int) -> ScreenBlock:
    """The verdict in at most `rows` lines."""
    view = snap.view
    if view is None or rows < 1:
        return ScreenBlock()
    explained = explain_verdict(view, snap.findings, snap.acknowledged)
    if explained is None or view.verdict.is_stalled_only(view.state):
        lines = headline_lines(snap, view, cells, max(1, min(rows, 2)))
        if view.cleared_findings and rows > len(lines):
            lines.append(_cleared_line(view, cells))
    else:
        lines = _explained(snap, view, explained, cells, rows)
    if snap.below_siblings is not None and rows > 1:
        remark = shorten(snap.display_text(snap.below_siblings.text), cells - 3)
        lines[rows - 1 :] = []
        lines.append(line((f" {snap.symbols.status[Status.WATCH]} {remark}", "watch")))
    block = ScreenBlock(lines[:rows])
    block.click_regions.append(ClickRegion(0, 0, cells, len(block.lines), "key", "findings"))
    return block


def headline_lines(snap: Snapshot, view: RunView, cells: int, rows: int) -> list[StyledLine]:
    """The headline: symbol and text."""
    status = view.headline_status
    text = snap.display_text(view.headline)
    if view.open_findings and not view.verdict.is_stalled_only(view.state):
        first = view.open_findings[0]
        title = clean(first.finding.title)
        dated = f"{clean(first.dated_title)} ({first.age})"
        text = next((each for each in (dated, text) if len(each) <= cells - 3), title)
        text += _acknowledged(snap, first)
    elif len(text) > (cells - 3) * rows:
        text = text.partition(":")[0]  # the checklist has the details
    wrapped = wrap(text, max(cells - 3, 4))
    if len(wrapped) > rows:
        wrapped = [*wrapped[: rows - 1], shorten(" ".join(wrapped[rows - 1 :]), cells - 3)]
    sign = (f" {snap.symbols.status[status]} ", status.value)
    first_line = line(sign, (wrapped[0] if wrapped else "", status.value))
    return [first_line, *(line("   ", (row, status.value)) for row in wrapped[1:])]


def _acknowledged(snap: Snapshot, opened: OpenFinding) -> str:
    note = snap.acknowledged.get(opened.finding.rule)
    return f" · {note.word}" if note is not None else ""


def _explained(
    snap: Snapshot, view: RunView, explained: Explanation, cells: int, rows: int
) -> list[StyledLine]:
    """What is wrong and what to try come first, then the cause, then the chain."""
    what = _what(snap, view, explained.worst, cells, 2 if rows > 2 else 1)
    left = rows - len(what)
    remedies = _remedies(snap, explained, cells, min(left, 2 if cells < MIN_ONE_LINE_CELLS else 1))
    left -= len(remedies)
    label = _label("why", cells)
    why: list[StyledLine] = []
    if explained.causes and left > 0:
        causes = snap.display_text("; or ".join(explained.causes))
        why.append(line((label, "dim"), shorten(causes, cells - len(label))))
    if explained.chain and left > len(why):
        why.append(_chain(snap, explained.chain, cells))
    lines = [*what, *why, *remedies]
    hint = line((_findings_hint(snap, view), "dim"))
    for at in range(len(lines) - 1, 0, -1):
        if width(lines[at]) + width(hint) + 2 <= cells:
            lines[at] = justify(lines[at], hint, cells)
            break
    return lines


def _findings_hint(snap: Snapshot, view: RunView) -> str:
    """How many findings there are to read about, if more than the first."""
    shown = len(view.open_findings)
    done = Counter(
        snap.acknowledged[each.finding.rule].word
        for each in view.open_findings
        if each.finding.rule in snap.acknowledged
    )
    noted = "".join(f", {amount} {word}" for word, amount in done.items())
    return f"f: {shown} findings{noted} " if shown > 1 else ""


def _chain(snap: Snapshot, links: Sequence[str], cells: int) -> StyledLine:
    """The findings as they began, in one line; those in the middle are dropped first."""
    label, gap = _label("chain", cells), snap.symbols.translate(" → ")
    texts, room = [snap.display_text(link) for link in links], cells - len(label)
    for kept in range(len(texts), 1, -1):
        early, late = texts[: (kept + 1) // 2], texts[len(texts) - kept // 2 :]
        shown = gap.join([*early, ELLIPSIS, *late] if kept < len(texts) else texts)
        if len(shown) <= room:
            return line((label, "dim"), shown)
    return line((label, "dim"), shorten(gap.join(texts[:1]), room))


def _label(name: str, cells: int) -> str:
    if cells >= MIN_LABEL_CELLS:
        return f"   {name.ljust(5)}  "
    return f" {name.ljust(5)} " if cells >= MIN_SHORT_LABEL_CELLS else "   "


def _what(
    snap: Snapshot, view: RunView, worst: OpenFinding, cells: int, rows: int
) -> list[StyledLine]:
    """Title and message, since when, and what it has cost; in one line if there is room."""
    if rows < 2:
        return headline_lines(snap, view, cells, 1)
    style, room = worst.severity.status.value, cells - 3
    title = clean(worst.finding.title) + _acknowledged(snap, worst)
    message = snap.display_text(worst.message)
    since = [f"{worst.when} · {worst.cost}", worst.when]
    since = [f"  {each}" for each in since if len(title) + len(each) + 2 <= room]
    dated = line((since[0] if since and worst.when else "", "dim"))
    sign = (f" {snap.symbols.status[worst.severity.status]} ", style)
    if len(title) + 2 + len(message) + width(dated) <= room:
        return [justify(line(sign, (title, style), ": ", message), dated, cells)]
    first = line(sign, (shorten(title, room), style))
    return [justify(first, dated, cells), line("   ", shorten(message, room))]


def _remedies(snap: Snapshot, explained: Explanation, cells: int, rows: int) -> list[StyledLine]:
    """The first things to try, numbered; their remarks are dropped before any of them is."""
    label = _label("try", cells)
    room = cells - len(label)
    texts = [snap.display_text(_remedy(snap, text)) for text in explained.remedies[:MAX_REMEDIES]]
    for at in range(len(texts) - 1, 0, -1):
        if len(_numbered(texts, room)) > rows:
            texts[at] = _AMOUNT.sub(ELLIPSIS, _REMARK.sub("", texts[at]))
    while len(texts) > 1 and len(_numbered(texts, room)) > rows:
        texts.pop()
    dropped = (_REMARK, ""), (_AMOUNT, ELLIPSIS), (_OPTION_GROUPS, ELLIPSIS)
    for unneeded, instead in dropped:
        if texts and len(_numbered(texts, room)) > rows:
            texts[0] = unneeded.sub(instead, texts[0])
    if texts and len(_numbered(texts, room)) > rows:
        texts[0] = shorten(texts[0], room * rows - 2)
    leads = [label, *[" " * len(label)] * rows]
    drawn = zip(leads, _numbered(texts, room)[: max(rows, 0)], strict=False)
    return [line((lead, "dim"), *parts) for lead, parts in drawn]


def _remedy(snap: Snapshot, advice: str) -> str:
    """A piece of advice; one to go back to a checkpoint names it."""
    checkpoint = snap.restart.checkpoint if snap.restart is not None else None
    named = checkpoint is not None and asks_for_restart(advice)
    return f"{advice} ({checkpoint.name})" if checkpoint is not None and named else advice


def _numbered(texts: list[str], room: int) -> list[StyledLine]:
    """`1 first  2 second`, in as many lines as that takes."""
    rows: list[StyledLine] = []
    for number, text in enumerate(texts, 1):
        part = line((f"{number} ", "key"), text)
        together = (*rows[-1], ("  ", ""), *part) if rows else part
        if rows and width(together) <= room:
            rows[-1] = together
        elif width(part) <= room:
            rows.append(part)
        else:
            first, *others = wrap(text, max(room - 2, 8))
            rows += [line((f"{number} ", "key"), first), *(line("  ", row) for row in others)]
    return rows


def _cleared_line(view: RunView, cells: int) -> StyledLine:
    newest = view.cleared_findings[0]
    cleared = newest.cleared
    at = dated(view.timeline.axis, cleared.step) if cleared is not None else ""
    where = f", cleared at {at}" if at else ""
    text = f"{len(view.cleared_findings)} resolved; last: {clean(newest.title)}{where}"
    return line(("   " + shorten(text, cells - 3), "dim"))
