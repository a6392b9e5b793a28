"""The runs: those in trouble first, then the newest; groups of seeds folded into one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ppo_top.text.format import clean, count
from ppo_top.tui.graphics.styled_text import Line, Span, fill, line, shorten
from ppo_top.tui.graphics.symbols import Glyphs
from ppo_top.tui.state.snapshot import Block, Entry, Frame, Hit

TABLE = 60
"""From this width on the list is a table: what is wrong since when, reward, step, state."""

SIGNS = 6
"""Cells of a line beside its name: the sign of the verdict, the one of the state, blanks."""

NAME_LEAST, TROUBLE_LEAST, STATE = 16, 24, 9


class Columns(NamedTuple):
    """Cells of each column of the table with the blanks before it; 0 leaves it out."""

    name: int
    trouble: int = 0
    since: int = 0
    reward: int = 0
    step: int = 0
    state: int = 0


def widest(entries: Sequence[Entry]) -> int:
    """The cells that the list needs to show every name whole."""
    return max((_name_cells(entry) for entry in entries), default=0) + SIGNS


def _name_cells(entry: Entry) -> int:
    return len(clean(entry.name)) + (2 if entry.member else 0) + len(_seeds(entry)) + _arrow(entry)


def _arrow(entry: Entry) -> int:
    return 2 if entry.size > 1 else 0


def _seeds(entry: Entry) -> str:
    return f" ×{entry.size}" if entry.size > 1 else ""


def runlist(frame: Frame, cells: int, rows: int) -> Block:
    """The list in exactly so many lines, scrolled so that the chosen run is on it."""
    block = Block()
    if rows < 1:
        return block
    entries = list(frame.entries)
    columns = columns_of(entries, cells)
    block.lines.append(fill(_title(frame, columns, cells), cells))
    at = next((n for n, entry in enumerate(entries) if entry.id == frame.chosen), 0)
    room = rows - 1
    first = max(0, min(at - room // 2, len(entries) - room))
    for entry in entries[first : first + room]:
        block.hits.append(Hit(0, len(block.lines), cells, 1, "run", entry.id))
        block.lines.append(_entry(frame, entry, columns, cells))
    if not entries and frame.filter:
        block.lines.append(line(("  no run matches", "dim")))
    return block


def columns_of(entries: Sequence[Entry], cells: int) -> Columns:
    """What fits beside the names: what is wrong and since when, reward, step, the state in words.

    What is wrong gets the cells that are left.
    """
    if cells < TABLE:
        return Columns(cells - SIGNS)
    name = max(NAME_LEAST, min(widest(entries) - SIGNS, cells * 2 // 5))
    wanted = _cells_of("finding", [entry.trouble for entry in entries])
    spare = cells - SIGNS - 1 - name - min(wanted, TROUBLE_LEAST)
    kept = []
    for column in (
        _cells_of("since", [entry.since for entry in entries]),
        _cells_of("reward", [entry.reward for entry in entries]),
        _cells_of("step", [entry.step for entry in entries]),
        STATE,
    ):
        kept.append(column if spare >= column else 0)
        spare -= kept[-1]
    return Columns(
        name, min(wanted, TROUBLE_LEAST) + min(spare, max(0, wanted - TROUBLE_LEAST)), *kept
    )


def _cells_of(head: str, texts: list[str]) -> int:
    """The width of a column; 0 where it is empty."""
    longest = max((len(clean(text)) for text in texts), default=0)
    return max(longest, len(head)) + 2 if longest else 0


def _title(frame: Frame, columns: Columns, cells: int) -> Line:
    """How many runs there are, or the filter; over a table what its columns are."""
    amount = sum(entry.size for entry in frame.entries)
    title = line((" Runs", "title"), (f"  {count(amount)}" if amount else "", "dim"))
    if frame.filter:
        words = shorten(f"/{clean(frame.filter)}", cells - 8)
        title = line((" Runs", "title"), "  ", (words, "match"))
    elif frame.transport is not None and frame.transport.replay and len(frame.entries) > 1:
        title = (*title, (" at this moment", "dim"))
    heads = [
        ("  finding".ljust(columns.trouble), columns.trouble),
        ("since".rjust(columns.since), columns.since),
        ("reward".rjust(columns.reward), columns.reward),
        ("step".rjust(columns.step), columns.step),
    ]
    told = "".join(head for head, width in heads if width)
    return (*fill(title, columns.name + 3), (told, "dim")) if told else title


def _entry(frame: Frame, entry: Entry, columns: Columns, cells: int) -> Line:
    glyphs = frame.glyphs
    verdict = entry.verdict
    lead = "   " if entry.member else " "
    name = clean(entry.name)
    if entry.size > 1:
        name = f"{glyphs.folded if entry.folded else glyphs.unfolded} {name}"
    seeds = _seeds(entry)
    room = columns.name - len(lead) + 1 - len(seeds)
    row = line(
        lead,
        (glyphs.status[verdict.status], verdict.value),
        " ",
        (shorten(name, room).ljust(room), "title" if entry.id == frame.chosen else ""),
        (seeds, "dim"),
        *_facts(entry, columns),
        _state(entry, columns, glyphs),
    )
    row = fill(row, cells)
    if entry.id == frame.chosen:
        tone = "selected" if frame.focus == "runs" else "title"
        row = tuple((text, f"{style}+{tone}") for text, style in row)
    return row


def _facts(entry: Entry, columns: Columns) -> list[Span]:
    """The cells of the table; its columns are never narrower than their heads."""
    facts: list[Span] = []
    if columns.trouble:
        text = shorten(clean(entry.trouble), columns.trouble - 2)
        facts.append(("  " + text.ljust(columns.trouble - 2), entry.verdict))
    facts.append((entry.since.rjust(columns.since) if columns.since else "", entry.verdict))
    facts.append((entry.reward.rjust(columns.reward) if columns.reward else "", "value"))
    facts.append((entry.step.rjust(columns.step) if columns.step else "", "dim"))
    return [fact for fact in facts if fact[0]]


def _state(entry: Entry, columns: Columns, glyphs: Glyphs) -> Span:
    word = entry.state.value
    sign = glyphs.state[entry.state]
    return (f" {sign} {word}" if columns.state else f" {sign}", word)
