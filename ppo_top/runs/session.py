"""All watched runs: turns updates of the follower into judged runs; owned by one thread."""

from __future__ import annotations

import time
from array import array
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path

from ppo_top.files.tail import FileStamp
from ppo_top.files.update import KnownLog, PollResult, SavedRun, Source, SourceUpdate
from ppo_top.model import Points, RunRank, Severity, State, worst_first
from ppo_top.runs.grouping.group_logs import LogGroup, RunGroups
from ppo_top.runs.judge_queue import JudgeQueue, Reports
from ppo_top.runs.memory import RunMemory
from ppo_top.runs.run import Run
from ppo_top.runs.sources.source import SourceState
from ppo_top.runs.workers import WorkerPool
from ppo_top.settings import Settings

GROUPING_TIMEOUT_S = 30.0
"""After this many seconds without new data, a log is assigned to a run as it is."""

MAX_HELD_POINTS = 1_000_000
"""Points kept of all runs together (about 60 MB); runs in view are always kept whole."""

MIN_DROPPABLE_POINTS = 4_000
"""Runs smaller than this are not worth evicting."""

RUN_COST_POINTS = 10_000
"""The memory of a run besides its points (rows, rules, console), as a number of points."""

GROUPING_PAUSE_FACTOR = 20
"""While there is more to read, grouping takes at most one part in so many of the time."""

MAX_UNGROUPED_POINTS = 500_000
"""More new points do not wait for grouping: only those of a run can be judged and dropped."""


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
        self._known: dict[tuple[str, str], dict[str, KnownLog]] = {}
        """Logs of remembered runs of which not all are found yet."""
        self.max_points = MAX_HELD_POINTS if max_points is None else max_points
        self.runs: dict[str, Run] = {}
        make = reports.make if reports is not None else None
        workers = WorkerPool(settings, make, ended) if parallel else None
        self.queue = JudgeQueue(self.runs, ended, workers, reports)
        self._states: dict[str, SourceState] = {}
        self._run_of: dict[str, Run] = {}
        self._gone: set[str] = set()
        self._groups = RunGroups(settings.runs)
        self._next_grouping = 0.0
        self._ungrouped_points = 0
        """Points of logs that were in no run when these were read."""
        self.passed_over: tuple[str, ...] = ()
        """Which files give nothing, and why: a line for each (of many with one reason, some)."""

    def apply(self, result: PollResult) -> None:
        """Take in what a poll brought; points come in by no other way."""
        self.queue.reader_has_more = result.more
        restored = self._find_restored(result.known)
        for update in result.updates:
            self._add_update(update)
        if restored:
            self._group()
        else:
            self._group_if_due()
        self._restore_runs(restored)
        self._remove_sources(result.removed)
        if result.passed_over is not None:
            self.passed_over = tuple(result.passed_over)

    def _find_restored(self, known: Iterable[KnownLog]) -> list[SavedRun]:
        """Add the logs of runs that were judged before, once all logs of a run are found."""
        found = []
        for log in known:
            name = log.run.scope, log.run.id
            logs = self._known.setdefault(name, {})
            logs[log.source.key] = log
            if len(logs) == len(log.run.sources):
                del self._known[name]
                found.append(log.run)
                for each in logs.values():
                    self._add_state(SourceState.restored(each))
                    self._groups.decide(each.source.key)
        return found

    def _restore_runs(self, saved: Iterable[SavedRun]) -> None:
        """Show remembered runs, or have them read again if other logs belong to them now."""
        for each in saved:
            keys = {source.key for source in each.sources}
            runs = {run.id: run for key in keys if (run := self._run_of.get(key)) is not None}
            for run in runs.values():
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

    def _add_state(self, state: SourceState) -> None:
        source = state.source
        self._states[state.key] = state
        path, root = str(source.path), str(source.root)
        self._groups.add_log(state.key, path, root, state.format, state.facts, source.has_siblings)

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

    def _add_update(self, update: SourceUpdate) -> None:
        key = update.source.key
        state = self._states.get(key)
        if state is None:
            state = SourceState(update.source)
            self._add_state(state)
        fresh = state.add_update(update)
        self._groups.note(key)
        self._gone.discard(key)
        run, points = self._run_of.get(key), sum(map(len, update.batch.points))
        if run is None:
            self._ungrouped_points += points
        else:
            if update.reset:
                run.awaiting_reread.discard(key)
            run.unjudged_points += points
            run.mark_changed(fresh)

    def _group_if_due(self) -> None:
        """`_group`, but only now and then while there is more to read."""
        is_due = time.monotonic() >= self._next_grouping
        much = self._ungrouped_points > MAX_UNGROUPED_POINTS
        if is_due or much or not self.queue.reader_has_more:
            self._group()

    def _group(self) -> None:
        """Put the logs into runs by all that is known of them."""
        if not self._groups.is_stale:
            return
        start, self._ungrouped_points = time.monotonic(), 0
        groups = self._groups.groups()
        awaited = {key for run in self.runs.values() for key in run.awaiting_reread}
        for gone in self.runs.keys() - {group.id for group in groups}:
            del self.runs[gone]
        self._run_of = {}
        for group in groups:
            run = self.runs.get(group.id)
            if run is None:
                run = self.runs[group.id] = Run(group.id, "", "", self.settings)
            run.set_sources({key: self._states[key] for key in group.joined_by})
            run.awaiting_reread |= awaited & run.sources.keys()
            self._run_of.update(dict.fromkeys(group.joined_by, run))
            self._describe(run, group)
        now = time.monotonic()
        self._next_grouping = now + GROUPING_PAUSE_FACTOR * (now - start)

    def _describe(self, run: Run, group: LogGroup) -> None:
        """Note name, path and reasons, which may change with other runs."""
        before = run.name, run.path, run.copy_of
        if run.joined_by != group.joined_by:
            run.job = 0  # a worker would report the reasons of before
        run.set_name(self._name(group), group.path, group.host)
        run.copy_of, run.joined_by = group.copy_of, group.joined_by
        run.version += before != (run.name, run.path, run.copy_of)

    @staticmethod
    def _name(group: LogGroup) -> str:
        """A run's name; `.` becomes the name of the directory."""
        name = group.name
        return name if name not in (".", "..") else Path(name).resolve().name or name

    def assign_pending_logs(self, final: bool = True) -> None:
        """Assign logs without points to runs: settings, a console that ends in a traceback.

        `final`: no more data will come, so consoles with nothing useful are assigned, too.
        """
        for key, state in self._states.items():
            if key in self._run_of:
                continue
            waited = state.series and time.time() - state.mtime > GROUPING_TIMEOUT_S
            decide = state.config or state.ended or state.evidence or waited
            if decide or (final and (state.series or state.lines or state.problem_count)):
                self._groups.decide(key)
        if final:
            self._group()
        else:
            self._group_if_due()

    def _remove_sources(self, gone: Sequence[Source]) -> None:
        """Remove deleted files; their points stay as long as their run has another source."""
        for source in gone:
            run = self._run_of.get(source.key)
            if run is None:
                self._forget([source.key])
                continue
            self._gone.add(source.key)
            run.awaiting_reread.discard(source.key)
            if all(key in self._gone for key in run.sources):
                self.runs.pop(run.id, None)
                self._forget(run.sources)
        if gone:
            self._group()

    def _forget(self, keys: Iterable[str]) -> None:
        for key in keys:
            self._gone.discard(key)
            self._states.pop(key, None)
            self._run_of.pop(key, None)
        self._groups.remove_logs(keys)

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
        alone = {} if self.queue.reader_has_more else self._known
        keys = {key for logs in alone.values() for key in logs}  # the rest of their runs is gone
        alone.clear()
        late = () if self.queue.reader_has_more else self.runs.values()
        runs = [run for run in late if run.needs_reread]
        runs += [self.runs[each] for each in in_view if each in self.runs]
        for run in runs:
            if run.is_partial:
                keys |= run.request_reread(self._gone)
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
        found = {root: dict(stamps) for root, stamps in files.items()}
        for key, state in self._states.items():
            if key not in self._run_of and state.stamp:
                found.setdefault(str(state.source.root), {})[key] = state.stamp
        if self.memory is not None:
            for root, stamps in found.items():
                self.memory.save_unused(root, stamps)

    def unassigned_paths(self) -> list[str]:
        """The files that were read and belong to no run, nor hold any."""
        sources = {key: state.source for key, state in self._states.items()}
        files = {source.file for key, source in sources.items() if key in self._run_of}
        unused = [source.path for key, source in sources.items() if key not in self._run_of]
        return [str(path) for path in unused if path not in files]

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
    return worst_first(worst.status, worst.verdict, State.ENDED, run.last_change, run.name)
