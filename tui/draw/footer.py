"""The last line: the prompt, a toast, or the main keys."""

from __future__ import annotations

from collections.abc import Iterator

from ppo_top.model import Status
from ppo_top.text.format import clean
from ppo_top.tui.graphics.styled_text import (
    ELLIPSIS,
    StyledLine,
    crop,
    justify,
    line,
    shorten,
    truncate,
    width,
)
from ppo_top.tui.state.keys import KEYS, Key
from ppo_top.tui.state.snapshot import ClickRegion, InputPrompt, ScreenBlock, Snapshot

TYPED_SHARE = 3
"""A long question leaves at least one of so many parts of the line to the answer."""

FOOTERS = {
    "zoom": {
        "back": "back",
        "axis": "x axis",
        "log_scale": "log",
        "more_smooth": "smooth",
        "left": "cursor",
        "zoom_in": "in",
        "zoom_out": "out",
        "up": "other metric",
        "stack": "stack",
        "write": "CSV",
        "copy": "copy",
        "compare": "compare",
    },
    "compare": {"back": "back", "axis": "x axis", "up": "other metric", "help": "help"},
    "findings": {
        "back": "back",
        "up": "choose",
        "page_down": "page",
        "acknowledge": "acknowledge",
        "mute": "mute",
        "go_to_error": "error",
        "help": "help",
    },
    "console": {
        "back": "back",
        "up": "scroll",
        "page_down": "page",
        "latest": "newest",
        "filter": "search",
        "go_to_error": "error",
        "help": "help",
    },
    "text": {"back": "back", "up": "scroll", "page_down": "page", "help": "help"},
    "list": {
        "zoom": "open",
        "up": "move",
        "filter": "filter",
        "toggle_compared": "compare",
        "fold": "seeds",
        "switch_focus": "metrics",
        "quit": "quit",
        "help": "help",
    },
}
"""Where -> action -> word; elsewhere the key table's own words count."""

ALWAYS_THERE = ("quit", "help")
"""What there is to do without any run."""


def draw_footer(snap: Snapshot, cells: int) -> ScreenBlock:
    """The footer; its keys can be clicked."""
    if snap.prompt is not None:
        return ScreenBlock([_prompt(snap, snap.prompt, cells)])
    if snap.news and not snap.toast:
        return _news(snap, cells)
    if snap.alerts and not snap.toast:
        return _alert(snap, cells)
    if snap.toast:
        return ScreenBlock([line((" " + shorten(clean(snap.toast), cells - 1), "info"))])
    hits: list[ClickRegion] = []
    row = line(" ")
    for key, label in _keys_here(snap):
        part = line((snap.symbols.translate(key.label), "key"), (f" {label}  ", "dim"))
        if width(row) + width(part) > cells:
            break
        hits.append(ClickRegion(width(row), 0, width(part) - 2, 1, "key", key.action))
        row = (*row, *part)
    return ScreenBlock([row], hits)


def _news(snap: Snapshot, cells: int) -> ScreenBlock:
    """What happened while the user was away, until a key is pressed."""
    return ScreenBlock([line((" " + shorten(clean(snap.news), cells - 1), "key"))])


def _alert(snap: Snapshot, cells: int) -> ScreenBlock:
    """The run that turned red last, until it was looked at."""
    *others, text = snap.alerts
    more = f" (and {len(others)} more)" if others else ""
    hint = line(("!", "key"), (" goes there ", "dim"))
    room = cells - width(hint) - 4 - len(more)
    sign = snap.symbols.status[Status.CRIT]
    shown = line((f" {sign} {shorten(clean(text), max(room, 8))}{more}", "crit"))
    return ScreenBlock(
        [justify(shown, hint, cells)], [ClickRegion(0, 0, cells, 1, "key", "go_to_alert")]
    )


def _keys_here(snap: Snapshot) -> Iterator[tuple[Key, str]]:
    """The keys that do something where the user is, with a word for each."""
    place = snap.overlay or ("list" if snap.focus == "runs" else "")
    words = FOOTERS.get(place, FOOTERS["text"] if place else {})
    if words:
        yield from ((key, words[key.action]) for key in KEYS if key.action in words)
        return
    unneeded = ("switch_focus", "next_run") if snap.counts.total < 2 else ()
    for key in KEYS:
        is_needed = snap.counts.total or key.action in ALWAYS_THERE
        if key.footer_label and is_needed and key.action not in unneeded:
            yield key, key.footer_label


def _shortened_label(label: str, cells: int) -> str:
    """A prompt's label in some cells, up to its colon."""
    if width(((label, ""),)) <= cells:
        return label
    end = ELLIPSIS + ": "
    return truncate(label, cells - len(end)).rstrip() + end


def _prompt(snap: Snapshot, prompt: InputPrompt, cells: int) -> StyledLine:
    """What is asked for, and at least the end of what was typed."""
    typed = clean(prompt.text)
    bar = "_" if snap.symbols.ascii_only else "▏"
    label = _shortened_label(prompt.label, cells - cells // TYPED_SHARE)
    left = line((f" {label}", "key"), (typed, "title"), (bar, "cursor"))
    if width(left) > cells:
        left = line((f" {label}", "key"), (typed[width(left) - cells :], "title"))
        left = crop((*left, (bar, "cursor")), cells)
    right = line((clean(prompt.hint), "dim"), " ")
    return justify(left, right, cells) if width(left) + width(right) < cells else left
