"""The runs: those in trouble first, then the newest; groups of seeds folded into one line."""

from __future__ import annotations

from ppo_top.tui.frame import Block, Entry, Frame, Hit
from ppo_top.tui.spans import Line, fill, line, shorten
from ppo_top.words import clean


def runlist(frame: Frame, cells: int, rows: int) -> Block:
    """The list in exactly so many lines, scrolled so that the chosen run is on it."""
    block = Block()
    if rows < 1:
        return block
    entries = list(frame.entries)
    title = line((" Runs", "title"), (f"  {len(entries)}" if entries else "", "dim"))
    if frame.filter:
        words = shorten(f"/{clean(frame.filter)}", cells - 8)
        title = line((" Runs", "title"), "  ", (words, "match"))
    elif frame.transport is not None and frame.transport.replay and len(entries) > 1:
        title = (*title, (" at this moment", "dim"))
    block.lines.append(fill(title, cells))
    at = next((n for n, entry in enumerate(entries) if entry.id == frame.chosen), 0)
    room = rows - 1
    first = max(0, min(at - room // 2, len(entries) - room))
    for entry in entries[first : first + room]:
        block.hits.append(Hit(0, len(block.lines), cells, 1, "run", entry.id))
        block.lines.append(_entry(frame, entry, cells))
    if not entries and frame.filter:
        block.lines.append(line(("  no run matches", "dim")))
    return block


def _entry(frame: Frame, entry: Entry, cells: int) -> Line:
    glyphs = frame.glyphs
    verdict = entry.verdict
    lead = "   " if entry.member else " "
    sign = glyphs.verdict.get(verdict, glyphs.dash)
    name, seeds = clean(entry.name), ""
    if entry.size > 1:
        arrow = glyphs.folded if entry.folded else glyphs.unfolded
        name, seeds = f"{arrow} {name}", f" ×{entry.size}"
    room = cells - len(lead) - 5 - len(seeds)
    row = line(
        lead,
        (sign, verdict),
        " ",
        (shorten(name, room).ljust(room), "title" if entry.id == frame.chosen else ""),
        (seeds, "dim"),
        " ",
        (glyphs.state[entry.state], entry.state.value),
    )
    row = fill(row, cells)
    if entry.id == frame.chosen:
        tone = "selected" if frame.focus == "runs" else "title"
        row = tuple((text, f"{style}+{tone}") for text, style in row)
    return row
