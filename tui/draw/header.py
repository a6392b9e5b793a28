"""The top of the screen: counts of all runs, and state and progress of the selected one."""

from __future__ import annotations

import re

from ppo_top.model import State
from ppo_top.text.format import clean, count, dated, duration, plural, rate
from ppo_top.tui.graphics.styled_text import (
    StyledLine,
    crop,
    join_fitting,
    justify,
    line,
    shorten,
    width,
)
from ppo_top.tui.graphics.symbols import Symbols
from ppo_top.tui.state.snapshot import RunCounts, Snapshot
from ppo_top.views.run_view import RunView

MAX_LOST_CELLS = 40
"""Width of the words on a connection that is lost."""

GAP_CELLS = len(" · ")
MIN_NAME_CELLS = 8
"""Cut any shorter, a run's name does not tell it from others."""


def draw_header(snap: Snapshot, cells: int) -> StyledLine:
    """The first line: watched paths, counts of all runs, which of them is shown."""
    paths = line((" ppo-top", "brand"), "  ", (clean(snap.watched_paths), "dim"))
    right = _right(snap)
    room = cells - width(right) - 1
    parts = run_count_parts(snap.counts, snap.symbols)
    for left in ((*paths, ("    ", "")), paths[:2]):
        beside = room - width(left)
        if width(parts[0]) <= beside:  # the worst count is worth more than the paths
            return justify((*left, *join_fitting(parts, beside)), right, cells)
    return justify(paths[:2], right, cells)


def _right(snap: Snapshot) -> StyledLine:
    if snap.lost_hosts:
        host, seconds = snap.lost_hosts[0]
        others = f" and {len(snap.lost_hosts) - 1} more" if len(snap.lost_hosts) > 1 else ""
        lost = f"{clean(host)}{others}: no connection, {duration(seconds)}"
        return line((shorten(lost, MAX_LOST_CELLS), "warn"), " ")
    if snap.loading is not None:
        doing, done, total = "reading", snap.loading.read_bytes, snap.loading.total_bytes
        if done >= total and snap.loading.total_runs:
            doing, done, total = "judging", snap.loading.judged_runs, snap.loading.total_runs
        return line((f"{doing} {100 * done // max(total, 1)} %", "info"), " ")
    if snap.playback_state is not None and snap.view is not None and not snap.view.at_end:
        return line(("replay" if snap.playback_state.replay else "in the past", "restart"), " ")
    return position_text(snap)


def position_text(snap: Snapshot) -> StyledLine:
    """Which of how many runs is shown; the keys that go to the others stand in the footer."""
    if snap.counts.total < 2 or not snap.position:
        return ()
    return line(("run ", "dim"), (f"{snap.position}/{snap.counts.shown}", "value"), " ")


def past_banner(snap: Snapshot, cells: int) -> StyledLine:
    """A line over the whole width: this is the past, and how to get back to the present."""
    state, view = snap.playback_state, snap.view
    if state is None or state.replay or view is None or view.at_end or view.row is None:
        return ()
    step, last = view.timeline.steps[view.row], view.timeline.steps[-1]
    at = dated(view.timeline.axis, step)
    text = f" IN THE PAST: {at} of {count(last)} · End: back to the latest update"
    return line((shorten(text, cells).ljust(cells), "past"))


def run_count_parts(counts: RunCounts, symbols: Symbols) -> list[StyledLine]:
    """Counts by verdict and state: `✗ 1 crit`, `▲ 2 watch`, `2 live`, `3 finished`, `1 died`.

    They are those of all runs, also where a filter hides some: no trouble is hidden by it.
    """
    sums = []
    for verdict, amount in counts.verdicts.items():
        if verdict.is_trouble:
            mark = symbols.status[verdict.status]
            sums.append(line((f"{mark} {count(amount)} {verdict.words}", verdict.value)))
    if counts.unreadable:
        sums.append(line((f"{count(counts.unreadable)} unreadable", "warn")))
    for amount, state, style in (
        (counts.live, "live", "live"),
        (counts.starting, "starting", "starting"),
        (counts.stalled, "stalled", "stalled"),
        (counts.died, "died", "died"),
        (counts.finished, "finished", "dim"),
        (counts.ended, "ended", "dim"),
    ):
        if amount:
            sums.append(line((f"{amount} {state}", style)))
    sums = sums or [line((plural(counts.total, "run"), "dim"))]
    if counts.shown < counts.total:
        shown = line((f"{count(counts.shown)} of {count(counts.total)} shown", "match"))
        return [shown, (("in all ", "dim"), *sums[0]), *sums[1:]]
    return sums


def state_line(view: RunView, symbols: Symbols) -> StyledLine:
    """The state of a run as symbol and word."""
    return line((f"{symbols.state[view.state]} {view.state.value}", view.state.value))


def _state_or_past(snap: Snapshot, view: RunView) -> StyledLine:
    """The state now; a row of the past has none, but for a replay, which is as if live."""
    playing = snap.playback_state is None or snap.playback_state.replay
    return state_line(view, snap.symbols) if view.at_end or playing else line(("past", "restart"))


def replay_state(snap: Snapshot, view: RunView) -> StyledLine:
    """How far a replay is, and whether it is paused: a narrow pane has no other sign of it."""
    state = snap.playback_state
    if state is None or not state.replay or view.at_end or view.row is None:
        return ()
    done = f"{100 * (view.row + 1) // len(view.timeline)} %"
    return line((f"{'replay' if state.playing else 'paused'} {done}", "restart"))


def progress_parts(view: RunView) -> list[StyledLine]:
    """Step, time left, speed, updates: optional parts, the most important first."""
    done = view.progress
    parts: list[StyledLine] = []
    if done.step is not None:
        total = f" / {count(done.total)}" if done.total else ""
        parts.append(line((f"{done.axis} ", "dim"), (count(done.step), "value"), (total, "dim")))
    if done.eta_s is not None and view.state in (State.LIVE, State.STALLED):
        parts.append(line((f"{duration(done.eta_s)} left", "")))
    if done.speed is not None:
        parts.append(line((rate(done.speed), "")))
    if done.rows:
        parts.append(line((done.rows, "dim")))
    return parts


def draw_run_title(snap: Snapshot, view: RunView, cells: int) -> StyledLine:
    """The line of the selected run: name, trainer, state, progress."""
    parts = [_state_or_past(snap, view), *progress_parts(view)]
    if view.problem_count:
        parts.append(line((plural(view.problem_count, "parse error"), "warn")))
    if view.state_text and view.state not in (State.LIVE, State.FINISHED):
        parts.append(line((_silence_since(view, snap.last_change_text), view.state.value)))
    name = clean(view.name)
    right = join_fitting(parts, max(cells - min(len(name), 24) - 3, cells // 2))
    room = cells - width(right) - 3
    title = line((shorten(name, max(room, 0)), "title"))
    trainer = clean(view.trainer)
    if width(title) + len(trainer) + 3 <= room:
        title = (*title, (f" · {trainer}", "dim"))
    if room < 6:
        return crop(join_fitting(parts, cells), cells)
    return justify(line(" ", *title), line(*right, " "), cells)


_SILENCE = re.compile(r"(nothing new for|no new data for|last write) [^,·]*[^,· ]")


def _silence_since(view: RunView, updated: str) -> str:
    """The state text with the time of the last write: an age would change all the time."""
    text = clean(view.state_text)
    return _SILENCE.sub(f"last write {updated}", text) if updated else text


def short_status(snap: Snapshot, cells: int) -> StyledLine:
    """Name, state and progress for a narrow pane; name and place give way to state and step."""
    if snap.view is None:
        return line((shorten(snap.waiting_text or "waiting for logs", cells), "dim"))
    state = replay_state(snap, snap.view) or _state_or_past(snap, snap.view)
    parts = [state, *progress_parts(snap.view)]
    place = [part[:-1] for part in (position_text(snap),) if part]
    room = cells - sum(width(part) + GAP_CELLS for part in parts[:2])
    beside = room - sum(width(part) + GAP_CELLS for part in place)
    if beside < min(MIN_NAME_CELLS, len(snap.view.name)):
        place, beside = [], room
    name = shorten(clean(snap.view.name), max(beside, MIN_NAME_CELLS))
    return join_fitting([line((name, "title")), *place, *parts], cells)


JUDGED_RUNS_TEXT = "· verdicts {} of {} "
"""Part of the loading bar with several runs."""


def loading_bar(snap: Snapshot, cells: int) -> StyledLine:
    """A progress bar of reading, then of judging what was read, over the whole width."""
    loading = snap.loading
    if loading is None or not loading.total_bytes:
        return ()
    done, total = loading.read_bytes, loading.total_bytes
    size, unit, fmt = (1e6, "MB", ",.1f") if total >= 1e6 else (1e3, "kB", ",.0f")
    text = f" reading {done / size:{fmt}} of {total / size:{fmt}} {unit} "
    if done >= total and loading.total_runs:
        done, total = loading.judged_runs, loading.total_runs
        text = f" verdicts {count(done)} of {count(total)} "
    elif loading.total_runs > 1 and cells > 2 * len(text) + len(JUDGED_RUNS_TEXT):
        text += JUDGED_RUNS_TEXT.format(count(loading.judged_runs), count(loading.total_runs))
    room = max(cells - len(text) - 1, 0)
    full = room * min(done, total) // total
    todo = snap.symbols.bar_todo * (room - full)
    return line((text, "info"), (snap.symbols.bar_done * full, "info"), (todo, "dim"))
