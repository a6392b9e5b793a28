"""All watched runs: turns updates of the follower into judged runs; owned by one thread."""

from __future__ import annotations

import time
from array import array
from collections.abc import Container, Iterable, Mapping

from ppo_top.files.tail import FileStamp
from ppo_top.files.update import PollResult, SavedRun
from ppo_top.model import Points, RunRank, Severity, State, worst_first
from ppo_top.runs.judge_queue import JudgeQueue, Reports
from ppo_top.runs.log_assignment import LogAssignment
from ppo_top.runs.memory import RunMemory
from ppo_top.runs.run import Run
from ppo_top.runs.workers import WorkerPool
from ppo_top.settings import Settings

MAX_HELD_POINTS = 1_000_000
"""Points kept of all runs together (about 60 MB); runs in view are always kept whole."""

MIN_DROPPABLE_POINTS = 4_000
"""Runs smaller than this are not worth evicting."""

RUN_COST_POINTS = 10_000
"""The memory of a run besides its points (rows, rules, console), as a number of points."""


class Session:
    """The runs below the watched paths.

    `apply` adds the updates of a poll and is cheap; `judge` does the work, within a time budget.
    Neither reads a file. `free_memory` leaves runs out of view their verdict, findings and newest
    rows. `sources_to_reread` gives the logs to read again. `Pipeline` calls all of them in turn.

    With `reports` runs are dropped only once they are read to their end, judged and reported. With
    `parallel` worker processes judge, too, while much is waiting; `close` ends them.
    """

    def __init__(
        self,
        settings: Settings,
        max_points: float | None = None,
        memory: RunMemory | None = None,
        ended: bool = False,
        reports: Reports | None = None,
        parallel: bool = False,
    ) -> None:
        self.settings = settings
        self.memory = memory
        self.max_points = MAX_HELD_POINTS if max_points is None else max_points
        self._logs = LogAssignment(settings)
        self.runs = self._logs.runs
        make = reports.make if reports is not None else None
        workers = WorkerPool(settings, make, ended) if parallel else None
        self.queue = JudgeQueue(self.runs, ended, workers, reports)
        self.passed_over: tuple[str, ...] = ()
        """Which files give nothing, and why: a line for each (of many with one reason, some)."""

    def apply(self, result: PollResult) -> None:
        """Take in what a poll brought; points come in by no other way."""
        logs = self._logs
        self.queue.reader_has_more = result.more
        restored = logs.add_known(result.known)
        for update in result.updates:
            logs.add_update(update)
        if restored:
            logs.group()
        else:
            logs.group_if_due(result.more)
        self._restore_runs(restored)
        logs.remove(result.removed)
        if result.passed_over is not None:
            self.passed_over = tuple(result.passed_over)

    def _restore_runs(self, saved: Iterable[SavedRun]) -> None:
        """Show remembered runs, or have them read again if other logs belong to them now."""
        for each in saved:
            keys = {source.key for source in each.sources}
            for run in self._logs.runs_of(keys):
                if run.sources.keys() != keys or not self._recall(run, each):
                    run.mark_changed(start_over=True)

    def _recall(self, run: Run, saved: SavedRun) -> bool:
        """Show what is remembered of a run; False if it is lost."""
        assert self.memory is not None
        if self.memory.text_parts:
            run.restore(saved)
            return self.memory.has_texts(saved)
        closed = self.memory.closed_run(saved)
        run.restore(saved, closed)
        return closed is not None

    def add_measurements(self, run: Run, values: Mapping[str, float], now: float) -> None:
        """Add what was measured of the machine (by tag of `machine.tsv`) at a unix time."""
        if not values or not run.sources:
            return
        measured = [
            Points(tag, array("q", [int(now)]), array("d", [now]), array("d", [value]))
            for tag, value in values.items()
        ]
        if run.sources[min(run.sources)].add_machine(measured):
            run.mark_changed(start_over=True)
        run.is_measured_here = True
        run.version += 1

    def assign_pending_logs(self, final: bool = True) -> None:
        """Assign logs without points to runs: settings, a console that ends in a traceback.

        `final`: no more data will come, so consoles with nothing useful are assigned, too.
        """
        self._logs.decide_pending(final)
        self._logs.group_if_due(self.queue.reader_has_more and not final)

    def judge(self, budget: float | None = None, first: str | None = None) -> bool:
        """Judge new rows for about `budget` seconds (`JudgeQueue.judge`)."""
        self.assign_pending_logs(final=False)
        return self.queue.judge(budget, first)

    # --- eviction ----------------------------------------------------------------------------

    def free_memory(self, in_view: Container[str] = ()) -> None:
        """Drop judged points if too many are held, those of the largest runs first.

        Runs `in_view` (ids) and pipes, which cannot be read again, keep everything.
        """
        if self.queue.reports is not None:
            self._release_reported()
            return
        excess = sum(run.held_points for run in self.runs.values()) - self.max_points
        idle = [run for run in self.runs.values() if run.can_drop_history and run.id not in in_view]
        for run in sorted(idle, key=lambda run: -run.held_points):
            if excess <= 0 or run.held_points < MIN_DROPPABLE_POINTS:
                break
            excess -= run.held_points
            run.drop_history()
            excess += run.held_points

    def _release_reported(self) -> None:
        """While too much is held, report and release settled runs, newest (so read first) first."""
        held = [run for run in self.runs.values() if not run.is_partial]
        excess = sum(run.held_points + RUN_COST_POINTS for run in held) - self.max_points
        done = [run for run in held if run.is_settled and run.can_drop_history]
        for run in sorted(done, key=lambda run: -run.last_change):
            if excess <= 0:
                break
            excess -= run.held_points + RUN_COST_POINTS
            self.queue.report(run)
            run.release()

    def sources_to_reread(self, in_view: Iterable[str] = ()) -> set[str]:
        """The keys of sources to read again from their beginning (`Follower.reread`), each once.

        These belong to evicted runs that are `in_view` (ids) or cannot be judged any further.
        """
        keys = set() if self.queue.reader_has_more else self._logs.incomplete_known()
        late = () if self.queue.reader_has_more else self.runs.values()
        runs = [run for run in late if run.needs_reread]
        runs += [self.runs[each] for each in in_view if each in self.runs]
        for run in runs:
            if run.is_partial:
                keys |= run.request_reread(self._logs.gone)
        return keys

    @property
    def problems(self) -> list[str]:
        """Why nothing is remembered, and what went wrong with workers."""
        workers = self.queue.workers.problems if self.queue.workers is not None else []
        cache = self.memory.cache.problem if self.memory is not None else ""
        return [*workers, cache] if cache else workers

    def close(self) -> None:
        """End the workers; the runs stay."""
        if self.queue.workers is not None:
            self.queue.workers.close()

    def remember_unused(self, files: Mapping[str, dict[str, FileStamp]]) -> None:
        """Note the files (root -> key -> stamp) that belong to no run, and logs without a run."""
        if self.memory is not None:
            for root, stamps in self._logs.unused_stamps(files).items():
                self.memory.save_unused(root, stamps)

    def unassigned_paths(self) -> list[str]:
        """The files that were read and belong to no run, nor hold any."""
        return self._logs.unassigned_paths()

    def remember(self, seconds: float) -> bool:
        """Keep runs at rest in the cache, for about some seconds; True if none is left to keep."""
        if self.memory is None:
            return True
        until = time.perf_counter() + seconds
        every = self.runs.values()
        new = (run for run in every if run.saved is None and not run.is_measured_here)
        saved = (self.memory.save(run) for run in new)
        is_late = any(each is not None and time.perf_counter() > until for each in saved)
        self.memory.flush()
        return not is_late

    def sorted_runs(self) -> list[Run]:
        """The runs, worst first, then newest first."""
        return sorted(self.runs.values(), key=_rank)


def _rank(run: Run) -> RunRank:
    open_now = (finding.severity for finding in run.findings if finding.cleared is None)
    worst = max(open_now, default=Severity.INFO)
    return worst_first(worst.verdict, State.ENDED, run.last_change, run.name)
