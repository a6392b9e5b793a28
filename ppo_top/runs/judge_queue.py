"""Which run is judged when, and where: in this process or by workers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.judge_run import has_ended, judge_run
from ppo_top.runs.run import Run
from ppo_top.runs.workers import WorkerPool

MIN_JUDGE_S = 0.004
"""Minimum time to judge a run in one call (seconds), so that each call makes progress."""

LOOK_AT_ENDS_S = 5.0
"""How often silent runs are checked, to see whether they are over."""

MIN_SILENT_S = 60.0
"""Workers judge runs whose logs were not written for so long: those come back without points."""

PATIENCE_S = 0.5
JUDGE_S_A_POINT = 10e-6
"""A worker that takes longer for a run (twice as long as on a free core) is not waited for."""

MAX_UNJUDGED_POINTS = 1_000_000
"""Points that may wait to be judged before reading pauses."""


class Reports(NamedTuple):
    """Each run that is read and judged is reported once, while it has all its points.

    `make` is called where it was judged, here or in a worker: a function of a module, by whose name
    workers find it. What it returns is passed to `take`, here.
    """

    make: Callable[[Run], Any]
    take: Callable[[Run, Any], None] = lambda run, made: None


class JudgeQueue:
    """Judges the runs of a session, and knows nothing else of it.

    `ended`: all runs are over, whatever the clock says.
    """

    def __init__(
        self,
        runs: Mapping[str, Run],
        ended: bool,
        workers: WorkerPool | None,
        reports: Reports | None,
    ) -> None:
        self._runs = runs
        self._ended = ended
        self.workers = workers
        self.reports = reports
        self._next_look_at_ends = 0.0
        self.reader_has_more = False
        """Whether the last poll left more to read; runs still being read are then judged later."""

    def judge(self, budget: float | None = None, first: str | None = None) -> bool:
        """Judge new rows for about `budget` seconds, the run `first` before all others.

        True if nothing is left to judge for now. Without a budget it waits for the workers, too,
        unless there is more to read meanwhile.
        """
        self.note_silent_runs()
        done = self._judge_here(budget, first)
        while self._is_waiting and budget is None and not self.reader_has_more:
            assert self.workers is not None
            self.workers.take_back()
            self.workers.wait(PATIENCE_S)
            done = self._judge_here(None, first)
        return done and not self._is_waiting

    def _judge_here(self, budget: float | None, first: str | None) -> bool:
        """Judge what workers are not sent; True if nothing of that is left."""
        deadline = float("inf") if budget is None else time.perf_counter() + budget
        self._use_workers(first)
        self._take_back_late()
        for run in self._runs_to_judge(first):
            if run.job:
                continue
            if not judge_run(run, max(deadline, time.perf_counter() + MIN_JUDGE_S), self._ended):
                return False
            self._use_workers(first)
            if time.perf_counter() > deadline:
                return not self._runs_to_judge(first)
        return True

    @property
    def _is_waiting(self) -> bool:
        """Whether workers have runs."""
        return self.workers is not None and any(run.job for run in self._runs.values())

    @property
    def only_waits(self) -> bool:
        """Whether all that is left to judge is with workers."""
        return self._is_waiting and not self._runs_to_judge(None)

    def _use_workers(self, first: str | None) -> None:
        """Take what workers have judged, and give them more."""
        if self.workers is None:
            return
        for id_, job, result in self.workers.pop_results():
            run = self._runs.get(id_)
            if run is None or run.job != job:
                continue  # its logs have changed since
            run.job = 0
            if result.closed is not None:
                run.close(result.closed, result.is_over)
                if self.reports is not None:
                    self._take_report(self.reports, run, result.report)
                    run.release()
        if self.workers.has_room:
            waiting = self._runs_to_judge(first)
            self.workers.offer([run for run in waiting if run.id != first and self._can_send(run)])

    def _take_back_late(self) -> None:
        """Judge here what workers should have judged by now: the machine has no core for them."""
        sent = [run for run in self._runs.values() if run.job]
        if self.workers is None or not self.only_waits:
            return
        allowed = PATIENCE_S + JUDGE_S_A_POINT * max(run.unjudged_points for run in sent)
        if self.workers.idle_s > allowed:
            for run in sent:
                run.job = 0

    def _can_send(self, run: Run) -> bool:
        silent_s = time.time() - run.last_change
        return run.can_be_sent and (self.reports is not None or silent_s > MIN_SILENT_S)

    def note_silent_runs(self) -> bool:
        """Now and then find the runs that ended without saying so; whether there is one to judge.

        Where no log grows any more, nothing else shows it.
        """
        now = time.monotonic()
        if now < self._next_look_at_ends:
            return False
        self._next_look_at_ends = now + LOOK_AT_ENDS_S
        judged = (run for run in self._runs.values() if run.judged and not run.is_over)
        over = [run for run in judged if has_ended(run, self._ended)]
        for run in over:
            run.mark_over()
        return bool(over)

    def _runs_to_judge(self, first: str | None) -> list[Run]:
        """The runs to judge now, `first` before all, then those with most to judge.

        A run that is still being read waits, unless too many points are waiting: judging once at
        the end is cheaper than many times on the way.
        """
        waiting = [run for run in self._runs.values() if not (run.judged or run.job)]
        if self.reader_has_more and not self.is_full:
            waiting = [run for run in waiting if run.id == first or not run.has_more_to_read]
        return sorted(
            waiting, key=lambda run: (run.id != first, run.has_more_to_read, -run.unjudged_points)
        )

    @property
    def is_full(self) -> bool:
        """Whether so many points wait to be judged that reading should pause."""
        waiting = sum(run.unjudged_points for run in self._runs.values() if not run.judged)
        return waiting > MAX_UNJUDGED_POINTS

    def report(self, run: Run) -> None:
        """Report a run that has all its points, unless that was done or is not wanted."""
        if self.reports is not None and not run.is_reported:
            self._take_report(self.reports, run, self.reports.make(run))

    @staticmethod
    def _take_report(reports: Reports, run: Run, made: Any) -> None:
        run.mark_reported()
        reports.take(run, made)
