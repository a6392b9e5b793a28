"""The run list: a sidebar, or a table where it fills the screen."""

from __future__ import annotations

from collections.abc import Sequence

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.text.format import clean, count
from ppo_top.tui.graphics.distinct_names import SharedParts, shared_parts, shorten_distinctly
from ppo_top.tui.graphics.styled_text import (
    Span,
    StyledLine,
    fit_width,
    line,
    pad,
    shorten,
    text_width,
    width,
)
from ppo_top.tui.graphics.symbols import Symbols
from ppo_top.tui.state.snapshot import ClickRegion, RunListEntry, ScreenBlock, Snapshot

MIN_TABLE_CELLS = 60
"""From this width on, the list is a table: finding, since, reward, step, state."""

SYMBOL_CELLS = 6
"""Cells of a line without its name: symbols of verdict and state, blanks."""

MIN_NAME_CELLS, MIN_FINDING_CELLS, STATE_CELLS = 16, 24, 9


class RunTableWidths(NamedTuple):
    """Cells of each column with the blanks before it; 0 omits it."""

    name: int
    finding: int = 0
    since: int = 0
    reward: int = 0
    step: int = 0
    state: int = 0


def names_width(entries: Sequence[RunListEntry]) -> int:
    """The cells needed to show every name in full."""
    return max((_name_cells(entry) for entry in entries), default=0) + SYMBOL_CELLS


def _name_cells(entry: RunListEntry) -> int:
    indent = 2 if entry.member or entry.seeds > 1 else 0  # of a member, or the group's arrow
    return indent + text_width(clean(entry.name)) + len(_seeds_text(entry))


def _seeds_text(entry: RunListEntry) -> str:
    """What follows a name: how many seeds it stands for, or that the run is a copy of another.

    Where some of the seeds are in trouble and others not, ` 2/5`.
    """
    if entry.seeds > entry.alike and entry.mark.is_trouble:
        return f" {entry.alike}/{entry.seeds}"
    return f" ×{entry.seeds}" if entry.seeds > 1 else " copy" if entry.is_copy else ""


def draw_run_table(snap: Snapshot, cells: int, rows: int) -> ScreenBlock:
    """The list in `rows` lines, scrolled to show the selected run."""
    block = ScreenBlock()
    if rows < 1:
        return block
    entries = list(snap.entries)
    columns = run_table_widths(entries, cells)
    shared = shared_parts(tuple(clean(entry.name) for entry in entries))
    block.lines.append(fit_width(_title(snap, columns, cells), cells))
    at = next((n for n, entry in enumerate(entries) if entry.id == snap.chosen_run_id), 0)
    room = rows - 1
    first = max(0, min(at - room // 2, len(entries) - room))
    for entry in entries[first : first + room]:
        block.click_regions.append(ClickRegion(0, len(block.lines), cells, 1, "run", entry.id))
        parts = shared[clean(entry.name)]
        block.lines.append(_entry(snap, entry, parts, columns, cells))
    if not entries and snap.filter:
        block.lines.append(line(("  no matching run", "dim")))
    return block


def run_table_widths(entries: Sequence[RunListEntry], cells: int) -> RunTableWidths:
    """The columns that fit: since, reward, step and state; the finding gets the remaining cells."""
    if cells < MIN_TABLE_CELLS:
        return RunTableWidths(cells - SYMBOL_CELLS)
    name = max(MIN_NAME_CELLS, min(names_width(entries) - SYMBOL_CELLS, cells * 2 // 5))
    wanted = _column_width("finding", [entry.finding for entry in entries])
    spare = cells - SYMBOL_CELLS - 1 - name - min(wanted, MIN_FINDING_CELLS)
    kept = []
    for column in (
        _column_width("since", [entry.since for entry in entries]),
        _column_width("reward", [entry.reward for entry in entries]),
        _column_width("step", [entry.step for entry in entries]),
        STATE_CELLS,
    ):
        kept.append(column if spare >= column else 0)
        spare -= kept[-1]
    return RunTableWidths(
        name, min(wanted, MIN_FINDING_CELLS) + min(spare, max(0, wanted - MIN_FINDING_CELLS)), *kept
    )


def _column_width(head: str, texts: list[str]) -> int:
    """The width of a column; 0 if it is empty."""
    longest = max((text_width(clean(text)) for text in texts), default=0)
    return max(longest, len(head)) + 2 if longest else 0


def _title(snap: Snapshot, columns: RunTableWidths, cells: int) -> StyledLine:
    """The number of runs or the filter, and the heads of the columns."""
    amount = sum(entry.seeds for entry in snap.entries)
    title = line((" Runs", "title"), (f"  {count(amount)}" if amount else "", "dim"))
    state = snap.playback_state
    order = (f" by {snap.run_order}", "dim")
    room = columns.name + 3 if any(columns[1:5]) else cells
    if snap.filter:
        pattern = shorten(f"/{clean(snap.filter)}", cells - 8)
        title = line((" Runs", "title"), "  ", (pattern, "match"))
    if state is not None and state.replay and not state.one_by_one and len(snap.entries) > 1:
        title = (*title, (" (at replay time)", "dim"))
    elif width((*title, order)) <= room:
        title = (*title, order)
    heads = [
        ("  finding".ljust(columns.finding), columns.finding),
        ("since".rjust(columns.since), columns.since),
        ("reward".rjust(columns.reward), columns.reward),
        ("step".rjust(columns.step), columns.step),
    ]
    head = "".join(text for text, wide in heads if wide)
    return (*fit_width(title, columns.name + 3), (head, "dim")) if head else title


def _entry(
    snap: Snapshot, entry: RunListEntry, shared: SharedParts, columns: RunTableWidths, cells: int
) -> StyledLine:
    symbols = snap.symbols
    state, status = entry.state, entry.mark
    lead = "  " if entry.member else ""
    fold = (symbols.folded if entry.folded else symbols.unfolded) + " " if entry.seeds > 1 else ""
    seeds = _seeds_text(entry)
    room = columns.name - len(lead) - len(fold) - len(seeds)
    name = shorten_distinctly(clean(entry.name), shared, room)
    row = line(
        _note(entry, symbols),
        lead,
        (symbols.status[status], status.value),
        " ",
        (fold + pad(name, room), "title" if entry.id == snap.chosen_run_id else ""),
        (seeds, "dim"),
        *_facts(entry, columns),
        (f" {symbols.state[state]}" + (f" {state.value}" if columns.state else ""), state.value),
    )
    row = fit_width(row, cells)
    if entry.id == snap.chosen_run_id:
        tone = "selected" if snap.focus == "runs" else "title"
        row = tuple((text, f"{style}+{tone}") for text, style in row)
    return row


def _note(entry: RunListEntry, symbols: Symbols) -> Span:
    """The cell before a run: chosen for comparing, or changed since the user looked at it."""
    if entry.compared:
        return symbols.pinned, "match"
    return (symbols.changed, "info") if entry.changed else (" ", "")


def _facts(entry: RunListEntry, columns: RunTableWidths) -> list[Span]:
    """The columns of the table; never narrower than their heads."""
    facts: list[Span] = []
    if columns.finding:
        text = shorten(clean(entry.finding), columns.finding - 2)
        facts.append(("  " + pad(text, columns.finding - 2), entry.verdict))
    facts.append((entry.since.rjust(columns.since) if columns.since else "", entry.verdict))
    facts.append((entry.reward.rjust(columns.reward) if columns.reward else "", "value"))
    facts.append((entry.step.rjust(columns.step) if columns.step else "", "dim"))
    return [fact for fact in facts if fact[0]]
