"""All runs: what the follower brought goes in, judged runs come out; one thread owns it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from ppo_top.follow import Gain, Source
from ppo_top.group import Groups
from ppo_top.model import Severity
from ppo_top.run import Run
from ppo_top.settings import Settings
from ppo_top.sources import SourceState

PATIENCE_S = 30.0
"""A log that says nothing more for so long is given its run by what it has said."""

_SLICE_S = 0.008
"""At least so long a run is judged at a stretch, so that each call gets somewhere."""


class Session:
    """The runs below the watched paths.

    `apply` takes what a poll brought and costs next to nothing; `judge` does the work, as much as
    the time allows. Neither reads a file.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.runs: dict[str, Run] = {}
        self._states: dict[str, SourceState] = {}
        self._run_of: dict[str, Run] = {}
        self._gone: set[str] = set()
        self._groups = Groups()

    def apply(self, gains: Iterable[Gain]) -> set[str]:
        """Take in what a poll brought; gives the ids of the runs that it concerns."""
        touched = set()
        for gain in gains:
            state = self._states.get(gain.source.key)
            if state is None:
                state = self._states[gain.source.key] = SourceState(gain.source)
            fresh = state.take(gain)
            self._gone.discard(state.key)
            run = self._run_of.get(state.key) or self._place(state)
            if run is not None:
                run.changed(fresh)
                touched.add(run.id)
        return touched

    def _place(self, state: SourceState, sure: bool = False) -> Run | None:
        """Add a source to its run; None as long as it cannot be told which that is."""
        root = state.source.root
        inside = state.source.path.relative_to(root).as_posix() if root.is_dir() else state.key
        found = self._groups.place(inside, str(root), state.first, sure)
        if found is None:
            return None
        run = self.runs.get(found)
        if run is None:
            run = self.runs[found] = Run(found, found, "", self.settings)
            for each in self.runs.values():
                each.name = self._name(each.id)
        run.name, run.path = self._name(found), self._groups.path(found)
        run.source(state)
        self._run_of[state.key] = run
        return run

    def _name(self, run: str) -> str:
        """A run's name; that of `.` is the name of the directory."""
        name = self._groups.name(run)
        return name if name not in (".", "..") else Path(name).resolve().name or name

    def settle(self, final: bool = True) -> None:
        """Give logs that hold no points their run: settings, a console that ends in a traceback.

        `final`: no more will come, so that a console that has said nothing of use gets one, too.
        """
        for key, state in self._states.items():
            if key in self._run_of:
                continue
            waited = state.series and time.time() - state.mtime > PATIENCE_S
            told = state.config or state.ended or state.evidence or waited
            if told or (final and (state.lines or state.problem_count)):
                run = self._place(state, sure=True)
                if run is not None:
                    run.changed(fresh=True)

    def forget(self, gone: Iterable[Source]) -> None:
        """Files that are no more: their points stay as long as another source of their run does."""
        for source in gone:
            run = self._run_of.get(source.key)
            if run is None:
                self._states.pop(source.key, None)
                continue
            self._gone.add(source.key)
            if all(key in self._gone for key in run.sources):
                self._drop(run)

    def _drop(self, run: Run) -> None:
        self.runs.pop(run.id, None)
        self._groups.drop(run.id)
        for key in run.sources:
            self._gone.discard(key)
            self._states.pop(key, None)
            self._run_of.pop(key, None)

    def judge(self, budget: float | None = None, first: str | None = None) -> bool:
        """Judge what is new, for about `budget` seconds, the run `first` before all others.

        True when everything is judged.
        """
        self.settle(final=False)
        deadline = float("inf") if budget is None else time.perf_counter() + budget
        waiting = [run for run in self.runs.values() if not run.judged]
        waiting.sort(key=lambda run: run.id != first)
        for run in waiting:
            if not run.fold(max(deadline, time.perf_counter() + _SLICE_S)):
                return False
            if time.perf_counter() > deadline:
                break
        return all(run.judged for run in waiting)

    def ordered(self) -> list[Run]:
        """The runs, those in trouble first, then the newest."""
        return sorted(self.runs.values(), key=_rank)


def _rank(run: Run) -> tuple[int, float, str]:
    open_now = [finding.severity for finding in run.findings if finding.cleared is None]
    trouble = max((s for s in open_now if s >= Severity.WATCH), default=0)
    newest = max((source.mtime for source in run.sources.values()), default=0.0)
    return -trouble, -newest, run.name
