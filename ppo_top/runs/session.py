"""All runs: what the follower brought goes in, judged runs come out; one thread owns it."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable
from pathlib import Path

from ppo_top.files.update import Source, SourceUpdate
from ppo_top.model import Severity
from ppo_top.paths import is_folder
from ppo_top.runs.grouping import RunGroups
from ppo_top.runs.run import Run
from ppo_top.runs.source import SourceState
from ppo_top.settings import Settings
from ppo_top.support import malloc

GROUPING_TIMEOUT_S = 30.0
"""A log that says nothing more for so long is given its run by what it has said."""

_MIN_JUDGE_S = 0.004
"""At least so long a run is judged at a stretch, so that each call gets somewhere."""

MAX_HELD_POINTS = 1_000_000
"""So many points are kept of all runs together (some 60 MB); of what is looked at all are kept."""

MIN_DROPPABLE_POINTS = 4_000
"""Letting go of a run with fewer points saves nothing."""

IDLE_BEFORE_PACK_S = 60.0
"""A run that has not changed for so long may be packed: unpacking it takes milliseconds."""

MAX_UNJUDGED_POINTS = 1_000_000
"""Points that may wait to be judged before reading pauses."""


class Session:
    """The runs below the watched paths.

    `apply` takes what a poll brought and costs next to nothing; `judge` does the work, as much as
    the time allows. Neither reads a file. Who watches for long calls `free_memory` after judging:
    of runs that nobody looks at it keeps verdict, findings and newest rows. `sources_to_reread`
    then tells which logs have to be read once more.
    """

    def __init__(self, settings: Settings, max_points: int | None = None) -> None:
        self.settings = settings
        self.max_points = MAX_HELD_POINTS if max_points is None else max_points
        self.runs: dict[str, Run] = {}
        self._states: dict[str, SourceState] = {}
        self._run_of: dict[str, Run] = {}
        self._gone: set[str] = set()
        self._groups = RunGroups()
        self._names_are_stale = False
        self._freed_points = 0
        self.reader_has_more = False
        """Whether the reader has more in hand: a run that is still being read can wait."""

    def apply(self, gains: Iterable[SourceUpdate]) -> set[str]:
        """Take in what a poll brought; gives the ids of the runs that it concerns."""
        touched = set()
        for gain in gains:
            key = gain.source.key
            state = self._states.get(key)
            if state is None:
                state = self._states[key] = SourceState(gain.source)
            if key in self._run_of:
                self._run_of[key].unpack()
            if gain.last_points_only:
                state.set_newest_values(gain)
                if key in self._run_of:
                    self._run_of[key].version += 1
                continue
            fresh = state.add_update(gain)
            self._gone.discard(state.key)
            run = self._run_of.get(state.key) or self._assign_run(state)
            if run is not None:
                if gain.reset:
                    run.awaiting_reread.discard(state.key)
                run.unjudged_points += sum(map(len, gain.batch.points))
                run.mark_changed(fresh)
                touched.add(run.id)
        self._rename()
        return touched

    def _assign_run(self, state: SourceState, must_decide: bool = False) -> Run | None:
        """Add a source to its run; None as long as it cannot be told which that is."""
        root = state.source.root
        inside = state.source.path.relative_to(root).as_posix() if is_folder(root) else state.key
        found = self._groups.assign_run(inside, str(root), state.first_points, must_decide)
        if found is None:
            return None
        run = self.runs.get(found)
        if run is None:
            run = self.runs[found] = Run(found, found, "", self.settings)
        self._names_are_stale = True
        run.add_source(state)
        self._run_of[state.key] = run
        return run

    def _rename(self) -> None:
        """A new run or log may change what others are called, too."""
        if self._names_are_stale:
            self._names_are_stale = False
            for run in self.runs.values():
                run.name, run.path = self._name(run.id), self._groups.run_path(run.id)

    def _name(self, run: str) -> str:
        """A run's name; that of `.` is the name of the directory."""
        name = self._groups.run_name(run)
        return name if name not in (".", "..") else Path(name).resolve().name or name

    def assign_pending_logs(self, final: bool = True) -> None:
        """Give logs that hold no points their run: settings, a console that ends in a traceback.

        `final`: no more will come, so that a console that has said nothing of use gets one, too.
        """
        for key, state in self._states.items():
            if key in self._run_of:
                continue
            waited = state.series and time.time() - state.mtime > GROUPING_TIMEOUT_S
            told = state.config or state.ended or state.evidence or waited
            if told or (final and (state.lines or state.problem_count)):
                run = self._assign_run(state, must_decide=True)
                if run is not None:
                    run.mark_changed(start_over=True)
        self._rename()

    def remove_sources(self, gone: Iterable[Source]) -> None:
        """Files that are no more: their points stay as long as another source of their run does."""
        for source in gone:
            run = self._run_of.get(source.key)
            if run is None:
                self._states.pop(source.key, None)
                continue
            self._gone.add(source.key)
            run.awaiting_reread.discard(source.key)
            if all(key in self._gone for key in run.sources):
                self._remove_run(run)

    def _remove_run(self, run: Run) -> None:
        self.runs.pop(run.id, None)
        self._groups.remove_run(run.id)
        for key in run.sources:
            self._gone.discard(key)
            self._states.pop(key, None)
            self._run_of.pop(key, None)

    def judge(self, budget: float | None = None, first: str | None = None) -> bool:
        """Judge what is new, for about `budget` seconds, the run `first` before all others.

        True when nothing is left to judge for now.
        """
        self.assign_pending_logs(final=False)
        deadline = float("inf") if budget is None else time.perf_counter() + budget
        for run in self._runs_to_judge(first):
            if not run.evaluate(max(deadline, time.perf_counter() + _MIN_JUDGE_S)):
                return False
            if time.perf_counter() > deadline:
                return not self._runs_to_judge(first)
        return True

    def _runs_to_judge(self, first: str | None) -> list[Run]:
        """The runs to judge now, `first` before all, then those with most to judge.

        One of which the rest is about to be read waits for it, unless too much waits: a stretch of
        judging at its end costs less than many on the way, and none of its memory until then.
        """
        waiting = [run for run in self.runs.values() if not run.judged]
        if self.reader_has_more and self.unjudged_points <= MAX_UNJUDGED_POINTS:
            waiting = [run for run in waiting if run.id == first or not run.has_more_to_read]
        return sorted(
            waiting, key=lambda run: (run.id != first, run.has_more_to_read, -run.unjudged_points)
        )

    @property
    def unjudged_points(self) -> int:
        """How many points wait to be judged."""
        return sum(run.unjudged_points for run in self.runs.values() if not run.judged)

    # --- letting go --------------------------------------------------------------------------

    def free_memory(
        self, in_view: Container[str] = (), before_drop: Callable[[Run], None] | None = None
    ) -> None:
        """Let go of points that were judged, where too many are held, and pack runs that rest.

        Of the runs `in_view` (ids) nothing goes, nor of what cannot be read again: a pipe. With
        `before_drop` only runs go that have been read and judged, and it is called with each
        before.
        """
        weights = [(run, run.memory_points) for run in self.runs.values()]
        excess = sum(weight for _, weight in weights) - self.max_points
        if excess <= 0:
            return
        idle = [run for run, weight in weights if weight and run.can_drop_history]
        idle = [run for run in idle if run.id not in in_view]
        if before_drop is not None:
            idle = [run for run in idle if run.judged and not run.has_more_to_read]

        def let_go(run: Run) -> None:
            if before_drop is not None and run.is_whole:
                before_drop(run)
            run.drop_history()

        left = _shrink(idle, let_go, excess)
        before = time.time() - IDLE_BEFORE_PACK_S
        left = _shrink([run for run in idle if run.last_change < before], Run.pack, left)
        self._freed_points += excess - left
        if self._freed_points >= MAX_HELD_POINTS:
            self._freed_points = 0
            malloc.trim()

    def sources_to_reread(self, in_view: Iterable[str] = ()) -> set[str]:
        """The keys of sources that have to be read again from their beginning (`Follower.reread`).

        For the runs `in_view` (ids) whose points were let go, and those that cannot be judged on
        without them. Each is told once.
        """
        runs = [run for run in self.runs.values() if run.needs_reread]
        runs += [self.runs[each] for each in in_view if each in self.runs]
        return {key for run in runs if run.is_partial for key in run.request_reread(self._gone)}

    def sorted_runs(self) -> list[Run]:
        """The runs, those in trouble first, then the newest."""
        return sorted(self.runs.values(), key=_rank)


def _shrink(runs: Iterable[Run], how: Callable[[Run], None], excess: int) -> int:
    """Shrink runs, the heaviest first, while there is an excess; what is left of it."""
    for run in sorted(runs, key=lambda run: -run.memory_points):
        if excess <= 0 or run.memory_points < MIN_DROPPABLE_POINTS:
            break
        excess -= run.memory_points
        how(run)
        excess += run.memory_points
    return excess


def _rank(run: Run) -> tuple[int, float, str]:
    open_now = [finding.severity for finding in run.findings if finding.cleared is None]
    trouble = max((s for s in open_now if s >= Severity.WATCH), default=0)
    return -trouble, -run.last_change, run.name
