"""What the user is looking at: the selected run and metric, the cursor, the filter, the overlay.

Independent of Textual: `Actions` change it, and `take_snapshot` returns what to draw.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ppo_top.model import Finding, State, Verdict
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.support.acknowledgements import Acknowledgements
from ppo_top.text.format import plural
from ppo_top.tui import Replay
from ppo_top.tui.graphics.symbols import UNICODE_SYMBOLS, Symbols
from ppo_top.tui.state.absence import Absence
from ppo_top.tui.state.chart_options import ChartOptions
from ppo_top.tui.state.cursor import Cursor, find_row
from ppo_top.tui.state.line_input import KeyChoice, LineInput
from ppo_top.tui.state.listed_run import ListedRun, default_run
from ppo_top.tui.state.metric_choice import MetricChoice, TextSearch
from ppo_top.tui.state.replay_time import pick_replay_run, row_at, time_at
from ppo_top.tui.state.run_list import RunList
from ppo_top.tui.state.sibling_comparison import SiblingComparison
from ppo_top.tui.state.snapshot import (
    SECTIONS,
    DrawingCache,
    LoadingProgress,
)
from ppo_top.tui.state.view_cache import ViewCache, unacknowledged_verdict, worst_unacknowledged
from ppo_top.views.checklist import rows_on_screen
from ppo_top.views.listed_checkpoints import ListedCheckpoints
from ppo_top.views.run_view import RunView

CHART_OVERLAYS = ("zoom", "compare")
MAX_RECENT_RUNS = 4
"""Runs kept in memory, so that switching between them rereads nothing."""

WAITING_TEXT = (
    "Looking for logs in {watched}\n"
    "TensorBoard, Stable-Baselines3, TRL, W&B, SwanLab, Trackio and console logs are detected "
    "automatically, also in a directory that does not exist yet.\n"
    "No runs found? Point ppo-top at the trainer's output directory, or pipe its output: "
    "python train.py 2>&1 | ppo-top -\n"
    "q: quit, ?: all keys"
)

WAITING_FOR_INPUT_TEXT = (
    "Waiting for the first values on standard input\n"
    "Stable-Baselines3, TRL, CSV, JSON lines and other printed values are detected automatically.\n"
    "Nothing comes? Python holds back what it prints into a pipe: python -u train.py 2>&1 | "
    "ppo-top -\n"
    "q: quit, ?: all keys"
)

READING_TEXT = "Reading the log\nq: quit, ?: all keys"

FIRST_START_HINT = "New here? ? all keys · ⏎ chart · e explain the metric · n next finding"


@dataclass(slots=True)
class UiState:
    """The state of the screen."""

    session: Session
    acknowledgements: Acknowledgements
    watched_paths: str = "."
    paths: Sequence[Path] = ()
    waiting_text: str = "Waiting for logs"
    why_nothing: Sequence[str] = ()
    """Why there is no run: paths and files that cannot be read."""
    unread: Sequence[str] = ()
    """The logs and folders that cannot be read, a line each: no verdict tells of them."""
    replay: Replay | None = None
    symbols: Symbols = UNICODE_SYMBOLS
    clock: Callable[[], float] = time.time
    run_list: RunList = field(default_factory=RunList)
    chosen_run_id: str = ""
    chosen_by_user: bool = False
    concept: str = ""
    focus: str = "values"
    overlay: str = ""
    overlays_below: list[str] = field(default_factory=list)
    """What Esc goes back to, the nearest last."""
    page_lines: int = 10
    """Lines of a page: what PgUp and PgDn move by."""
    scroll: int = 0
    finding_at: int = 0
    """Which of the open findings is chosen where all of them are listed."""
    follow_choice: bool = True
    """Whether that list is scrolled to the chosen one, and the console to its newest line."""
    hidden_sections: frozenset[str] = frozenset()
    hideable_sections: frozenset[str] = frozenset(SECTIONS)
    """Those that the screen has room for."""
    line_input: LineInput | KeyChoice | None = None
    toast: str = ""
    absence: Absence = field(default_factory=Absence)
    gone: list[str] = field(default_factory=list)
    """What was known of runs whose logs were deleted, the newest first."""
    alerts: dict[str, str] = field(default_factory=dict)
    """Runs that became critical and were not looked at since -> what to say of each."""
    watching: str = ""
    """How logs are watched, as text."""
    lost_hosts: Sequence[tuple[str, float]] = ()
    """Machines whose logs cannot be read now, each with the seconds since."""
    reading_error: str = ""
    """Why logs are not read any more, or not all of them: a bug of ours."""
    loading: LoadingProgress | None = None
    read_to_end: bool = False
    """Whether all logs were read to their end once."""
    replay_began: bool = False
    """Whether a replay has started: until then nothing of its run is shown."""
    metrics: MetricChoice = field(default_factory=MetricChoice)
    search: TextSearch = field(default_factory=TextSearch)
    chart: ChartOptions = field(default_factory=ChartOptions)
    drawing_cache: DrawingCache = field(default_factory=DrawingCache)
    cursors: dict[str, Cursor] = field(default_factory=dict)
    recent_run_ids: list[str] = field(default_factory=list)
    """The runs selected last, latest first: their points are kept."""
    compared_run_ids: list[str] = field(default_factory=list)
    """The runs whose points a comparison or the charts need."""
    siblings: SiblingComparison = field(default_factory=SiblingComparison)
    checkpoints: ListedCheckpoints = field(default_factory=ListedCheckpoints)
    allow_stale: bool = False
    """Whether a view may be slightly old, to answer a key quickly."""
    _view_cache: ViewCache = field(init=False)

    def __post_init__(self) -> None:
        self.run_list.verdict_of = self.verdict_of
        self.run_list.worst_finding_of = lambda run, row: worst_unacknowledged(
            self.acknowledgements, run, row
        )
        self.run_list.row_of = self.row_of
        self.run_list.below_siblings_of = lambda run_id: self.siblings.below.get(run_id)
        self._view_cache = ViewCache(self.acknowledgements)

    # --- queries ------------------------------------------------------------------------------

    @property
    def run(self) -> Run | None:
        """The selected run."""
        return self.session.runs.get(self.chosen_run_id)

    @property
    def cursor(self) -> Cursor:
        """The cursor of the selected run."""
        return self.cursors.get(self.chosen_run_id) or Cursor()

    @property
    def needed_run_ids(self) -> list[str]:
        """The runs that need all of their points in memory."""
        return [*self.recent_run_ids, *self.compared_run_ids]

    def listed_runs(self) -> list[ListedRun]:
        """All runs as the list shows them."""
        return self.run_list.listed_runs(self.session, self.clock())

    def note_input(self) -> None:
        """A key was pressed: what has happened until now is no news."""
        if not self.absence.is_noted(self.clock()):
            self.absence.note_input(self.clock(), self.listed_runs())

    def news(self) -> str:
        """What happened while no key was pressed; nothing of that in a replay."""
        if self.replay is not None or not self.absence.is_long(self.clock()):
            return ""
        return self.absence.summary(self.clock(), self.listed_runs())

    def row_of(self, run: Run) -> int | None:
        """The row at which a run is shown (None: its end); in a replay, by the cursor's time."""
        chosen = self.run
        if self.replay is None or chosen is None:
            return None
        row = self.cursor.row
        if run.id == chosen.id or row is None:
            return row
        if self.replay.one_by_one:
            return None
        return row_at(run, time_at(chosen, row))

    def verdict_of(self, run: Run, row: int | None = None) -> Verdict:
        """The verdict of a run without acknowledged and muted findings."""
        return unacknowledged_verdict(self.acknowledgements, run, row)

    def title_text(self) -> str:
        """The terminal's title: how many runs are critical."""
        every = self.listed_runs()
        bad = sum(1 for each in every if each.verdict is Verdict.CRIT)
        return f"ppo-top: {bad} of {plural(len(every), 'run')} critical" if bad else "ppo-top"

    def view(self) -> RunView | None:
        """The selected run at its cursor."""
        run = self.run
        if run is None:
            return None
        return self._view_cache.get(run, self.cursor.row, self.clock(), self.allow_stale)

    def invalidate(self) -> None:
        """Clear the caches: acknowledgements changed."""
        self._view_cache.invalidate()
        self.run_list.invalidate()

    def choose_default_run(self) -> None:
        """Select a run if none is selected or the selected one is gone: the worst, if any is bad.

        Else a live run stays selected once all logs are read: runs that write alternately would
        alternate on the screen.
        """
        if self.chosen_run_id not in self.session.runs:
            self.chosen_by_user = False
        if self.chosen_by_user and self.chosen_run_id:
            return
        every = self.listed_runs()
        first = default_run(every)
        live = any(each.id == self.chosen_run_id and each.state is State.LIVE for each in every)
        well = first is None or not first.verdict.is_trouble
        if live and well and not self.session.queue.reader_has_more:
            return
        if first is not None:
            story = pick_replay_run(self.session, self.replay) if self.replay is not None else None
            self.choose_run(story or first.id)

    def choose_run(self, run_id: str) -> None:
        """Select a run."""
        self.alerts.pop(run_id, None)
        if run_id != self.chosen_run_id:
            if self.run_list.seen:
                self.mark_runs_seen({self.chosen_run_id, run_id})
            self.chosen_run_id, self.scroll = run_id, 0
            self.finding_at, self.follow_choice = 0, True
            self.chart.show_all_rows()
            self.cursors.setdefault(run_id, Cursor())
            others = [each for each in self.recent_run_ids if each != run_id]
            self.recent_run_ids = [run_id, *others][:MAX_RECENT_RUNS]

    def mark_runs_seen(self, ids: Container[str]) -> None:
        """These runs as they are now, and which have appeared since, are no longer news."""
        for listed in self.listed_runs():
            if listed.id in ids or listed.id not in self.run_list.seen:
                self.run_list.mark_seen(listed)

    def start_replay(self) -> None:
        """Set the cursor of the selected run to the start of the replay, once."""
        run, replay = self.run, self.replay
        if run is None or replay is None or self.cursor.replay or not len(run.timeline):
            return
        start = find_row(run.timeline, replay.start) if replay.start else 0
        cursor = self.cursor
        cursor.replay, cursor.row = True, start or 0
        if replay.speed is None:
            cursor.fit_speed(run.timeline)
        else:
            cursor.speed = replay.speed
        cursor.playing = not replay.paused

    def selected_concept(self, view: RunView | None = None) -> str:
        """The selected metric; the first one where the run does not have it."""
        concepts = self.selectable_concepts(view)
        return self.concept if self.concept in concepts else next(iter(concepts), "")

    def selectable_concepts(self, view: RunView | None = None) -> list[str]:
        """The metrics that can be selected, in drawing order."""
        view = view or self.view()
        if view is None:
            return []
        listed = [row.concept for row in rows_on_screen(view.checklist) if row.track is not None]
        found = [track.track.concept for track in view.tracks if self.metrics.matches(track)]
        kept = set(found) if self.metrics.filter else {*listed, *found}
        return [name for name in dict.fromkeys(listed + found) if name in kept]

    def next_to_replay(self) -> str:
        """The next listed run that was not replayed yet; empty after the last."""
        waiting = (each.id for each in self.listed_runs())
        return next((each for each in waiting if not self.cursors.get(each, Cursor()).replay), "")

    def chosen_finding(self, view: RunView) -> Finding | None:
        """The open finding that was chosen in the list of them, else the worst one."""
        opened = view.open_findings
        at = min(self.finding_at, len(opened) - 1) if self.overlay == "findings" else 0
        return opened[at].finding if opened else None

    def open_overlay(self, name: str) -> None:
        """Show a layer over what is shown; Esc goes back to that."""
        below = [*self.overlays_below, self.overlay] if self.overlay else []
        self.overlays_below = [each for each in below if each != name]
        self.overlay, self.scroll = name, 0
        self.finding_at, self.follow_choice = 0, True
        self.search.start("")

    # --- moving --------------------------------------------------------------------------------

    def move_run_choice(self, by: int) -> None:
        """Select the run above or below in the list."""
        ids = [entry.id for entry in self.run_list.entries(self.listed_runs(), self.chosen_run_id)]
        if not ids:
            return
        self.chosen_by_user = True
        if self.chosen_run_id not in ids:  # hidden by the filter
            self.choose_run(ids[0])
            return
        at = ids.index(self.chosen_run_id)
        self.choose_run(ids[min(len(ids) - 1, max(0, at + by))])

    def move_concept_choice(self, by: int) -> None:
        """Select the metric above or below."""
        names = self.selectable_concepts()
        if names:
            at = names.index(self.concept) if self.concept in names else 0
            self.concept = names[min(len(names) - 1, max(0, at + by))]

    def next_finding(self, direction: int) -> Finding | None:
        """The next finding (1) or the previous one (-1), by where they were detected."""
        run = self.run
        if run is None or not len(run.timeline):
            return None
        here = self.cursor.current_row(run.timeline)
        found = sorted(run.findings, key=lambda each: each.opened.row)
        if direction > 0:
            return next((each for each in found if each.opened.row > here), None)
        return next((each for each in reversed(found) if each.opened.row < here), None)

    def go_to_finding(self, direction: int) -> Finding | None:
        """Move the cursor to where the next (1) or previous (-1) finding was detected."""
        run, found = self.run, self.next_finding(direction)
        if run is not None and found is not None:
            self.cursor.playing = False
            self.cursor.go_to(run.timeline, found.opened.row)
        return found
