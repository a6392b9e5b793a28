"""What is drawn: everything of the `UiState` that drawing depends on, as an immutable value."""

from __future__ import annotations

import time
from collections import Counter

from ppo_top.model import State, count_verdicts
from ppo_top.runs.run import Run
from ppo_top.support.acknowledgements import AckNote
from ppo_top.tui.state.comparison import overlaid_runs
from ppo_top.tui.state.line_input import KeyChoice
from ppo_top.tui.state.listed_run import ListedRun
from ppo_top.tui.state.snapshot import InputPrompt, PlaybackState, RunCounts, Snapshot
from ppo_top.tui.state.ui_state import UiState
from ppo_top.views.listed_checkpoints import restart_at


def take_snapshot(ui: UiState) -> Snapshot:
    """What drawing depends on."""
    every = ui.listed_runs()
    shown = ui.run_list.in_list_order(every)
    view = ui.view()
    run = ui.run
    return Snapshot(
        watched_paths=ui.watched_paths,
        view=view,
        findings=tuple(run.findings) if run is not None else (),
        restart=restart_at(view, run, ui.checkpoints),
        below_siblings=ui.siblings.of_view(view),
        entries=ui.run_list.entries(every, ui.chosen_run_id),
        chosen_run_id=ui.chosen_run_id,
        counts=count_runs(every, len(shown))._replace(unreadable=len(ui.unread)),
        last_change_text=_last_change_text(ui, run),
        playback_state=_playback_state(ui, run),
        position=_position(ui, shown),
        overlay=ui.overlay,
        focus=ui.focus,
        concept=ui.selected_concept(view),
        scroll=ui.scroll,
        window=ui.chart.window(view.row or 0) if view is not None else None,
        overlaid=overlaid_runs(ui),
        hidden_sections=ui.hidden_sections,
        prompt=_prompt(ui),
        filter=ui.run_list.filter,
        metrics=ui.metrics,
        run_order=ui.run_list.order,
        loading=ui.loading,
        toast=ui.toast,
        news=ui.news(),
        alerts=[text for run_id, text in ui.alerts.items() if run_id in ui.session.runs],
        waiting_text=ui.waiting_text,
        why_nothing=ui.why_nothing,
        lost_hosts=ui.lost_hosts,
        reading_error=ui.reading_error,
        acknowledged=_notes(ui, run),
        symbols=ui.symbols,
        drawing_cache=ui.drawing_cache,
    )


def _position(ui: UiState, shown: list[ListedRun]) -> int:
    ids = [each.id for each in shown]
    return ids.index(ui.chosen_run_id) + 1 if ui.chosen_run_id in ids else 0


def _last_change_text(ui: UiState, run: Run | None) -> str:
    newest = run.last_change if run is not None else 0.0
    if not newest:
        return ""
    age = ui.clock() - newest
    return time.strftime("%H:%M:%S" if age < 86400 else "%d %b %H:%M", time.localtime(newest))


def _playback_state(ui: UiState, run: Run | None) -> PlaybackState | None:
    if run is None or (ui.cursor.row is None and not ui.cursor.replay):
        return None
    cursor = ui.cursor
    row = cursor.current_row(run.timeline)
    alone = ui.replay is not None and ui.replay.one_by_one
    rows = len(run.timeline)
    return PlaybackState(row, rows, cursor.playing, cursor.speed, cursor.replay, alone)


def _prompt(ui: UiState) -> InputPrompt | None:
    typed = ui.line_input
    if typed is None:
        return None
    if isinstance(typed, KeyChoice):
        return InputPrompt(typed.label, typed.text, typed.hint)
    hints = filter(None, (typed.hint(), "Enter: apply · Esc: cancel"))
    return InputPrompt(typed.label, typed.text, "  ".join(hints))


def _notes(ui: UiState, run: Run | None) -> dict[str, AckNote]:
    if run is None:
        return {}
    find = ui.acknowledgements.find
    notes = ((each.rule, find(run.place, each.rule, each.since.step)) for each in run.findings)
    return {rule: note for rule, note in notes if note is not None}


def count_runs(every: list[ListedRun], shown: int) -> RunCounts:
    """The number of runs by state and verdict."""
    states = Counter(each.state for each in every)
    return RunCounts(
        live=states[State.LIVE],
        stalled=states[State.STALLED],
        finished=states[State.FINISHED],
        died=states[State.DIED],
        ended=states[State.ENDED],
        total=len(every),
        shown=shown,
        starting=states[State.STARTING],
        verdicts=count_verdicts(each.verdict for each in every),
    )
