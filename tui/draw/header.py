"""The top of the screen: how the runs are, and how far the chosen one is."""

from __future__ import annotations

import re

from ppo_top.model import State, Status
from ppo_top.text.format import clean, count, duration, plural, rate
from ppo_top.tui.graphics.styled_text import (
    Line,
    crop,
    fill,
    line,
    pack,
    plain,
    shorten,
    spread,
    width,
)
from ppo_top.tui.graphics.symbols import Glyphs
from ppo_top.tui.state.snapshot import Counts, Frame
from ppo_top.views.run_view import RunView


def top(frame: Frame, cells: int) -> Line:
    """The first line: the watched place, the sums over all runs, when something came last."""
    place = line((" ppo-top", "brand"), "  ", (clean(frame.place), "dim"))
    right = _right(frame)
    room = cells - width(right) - 1
    sums = pack(sums_of(frame.counts, frame.glyphs), room - width(place) - 4)
    if sums:
        return spread((*place, ("    ", ""), *sums), right, cells)
    short = line((" ppo-top", "brand"), "  ", *pack(sums_of(frame.counts, frame.glyphs), room - 10))
    return spread(short, right, cells)


def _right(frame: Frame) -> Line:
    if frame.loading is not None:
        share = 100 * frame.loading.done // max(frame.loading.total, 1)
        return line((f"reading {share} %", "info"), " ")
    if frame.transport is not None and not at_end(frame):
        return line(("replay" if frame.transport.replay else "past", "restart"), " ")
    return line((frame.updated, "dim"), " ") if frame.updated else ()


def at_end(frame: Frame) -> bool:
    """Whether what is shown is the newest there is."""
    return frame.view is None or frame.view.at_end


def sums_of(counts: Counts, glyphs: Glyphs) -> list[Line]:
    """The runs by trouble and by state: `✗ 1`, `▲ 1`, `2 live`, `3 finished`, `1 died`."""
    sums = []
    if counts.shown < counts.total:
        sums.append(line((f"{count(counts.shown)} of {count(counts.total)} shown", "match")))
    if counts.crit:
        sums.append(line((f"{glyphs.status[Status.CRIT]} {counts.crit}", "crit")))
    if counts.warn:
        sums.append(line((f"{glyphs.status[Status.WARN]} {counts.warn}", "warn")))
    for amount, words, style in (
        (counts.live, "live", "live"),
        (counts.starting, "starting", "starting"),
        (counts.stalled, "stalled", "stalled"),
        (counts.died, "died", "died"),
        (counts.finished, "finished", "dim"),
        (counts.ended, "ended", "dim"),
    ):
        if amount:
            sums.append(line((f"{amount} {words}", style)))
    return sums or [line((plural(counts.total, "run"), "dim"))]


def state(view: RunView, glyphs: Glyphs) -> Line:
    """The state of a run by sign and word."""
    return line((f"{glyphs.state[view.state]} {view.state.value}", view.state.value))


def progress(view: RunView) -> list[Line]:
    """Step, speed, time left: each a part that can be left out, the weightiest first."""
    done = view.progress
    parts: list[Line] = []
    if done.step is not None:
        total = f" / {count(done.total)}" if done.total else ""
        parts.append(line(("step ", "dim"), (count(done.step), "value"), (total, "dim")))
    if done.eta_s is not None and view.state in (State.LIVE, State.STALLED):
        parts.append(line((f"{duration(done.eta_s)} left", "")))
    if done.speed is not None:
        parts.append(line((rate(done.speed), "")))
    if done.updates:
        parts.append(line((plural(done.updates, "update"), "dim")))
    return parts


def run_title(frame: Frame, cells: int) -> Line:
    """The line of the chosen run: name, trainer, state, step, speed, time left."""
    view = frame.view
    if view is None:
        return fill(line((frame.waiting or "waiting for logs", "dim")), cells)
    parts = [state(view, frame.glyphs), *progress(view)]
    if view.problems:
        parts.append(line((plural(view.problems, "unreadable place"), "warn")))
    if view.state_text and view.state not in (State.LIVE, State.FINISHED):
        parts.append(line((_silence(view, frame.updated), view.state.value)))
    name = clean(view.name)
    right = pack(parts, max(cells - min(len(name), 24) - 3, cells // 2))
    room = cells - width(right) - 3
    title = line((shorten(name, max(room, 0)), "title"))
    producer = clean(view.producer)
    if width(title) + len(producer) + 3 <= room:
        title = (*title, (f" {frame.glyphs.dot} {producer}", "dim"))
    if room < 6:
        return crop(pack(parts, cells), cells)
    return spread(line(" ", *title), line(*right, " "), cells)


_AGE = re.compile(r"nothing new for [^,]+")


def _silence(view: RunView, updated: str) -> str:
    """The words for the state, with the time of the last sign: an age would change for ever."""
    words = clean(view.state_text)
    return _AGE.sub(f"nothing new since {updated}", words) if updated else words


def mini(frame: Frame, cells: int) -> Line:
    """State, step and the rest of the progress for a narrow pane, without the name."""
    if frame.view is None:
        return line((shorten(frame.waiting or "waiting for logs", cells), "dim"))
    return pack([state(frame.view, frame.glyphs), *progress(frame.view)], cells)


VERDICTS = "· verdicts {} of {} "
"""What a bar says of several runs."""


def progress_bar(frame: Frame, cells: int) -> Line:
    """How much is read so far, as a bar over the whole width."""
    loading = frame.loading
    if loading is None or not loading.total:
        return ()
    text = f" reading {plain(_megabytes(loading.done, loading.total))} "
    if loading.runs > 1 and cells > 2 * len(text) + len(VERDICTS):
        text += VERDICTS.format(count(loading.judged), count(loading.runs))
    room = max(cells - len(text) - 1, 0)
    done = room * min(loading.done, loading.total) // loading.total
    todo = frame.glyphs.todo * (room - done)
    return line((text, "info"), (frame.glyphs.done * done, "info"), (todo, "dim"))


def _megabytes(done: int, total: int) -> Line:
    return line(f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB")
