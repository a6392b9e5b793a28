"""Which logs make up which runs: as they are found, grow, are remembered, and are deleted."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ppo_top.files.tail import FileStamp
from ppo_top.files.update import KnownLog, SavedRun, Source, SourceUpdate
from ppo_top.runs.grouping.group_logs import LogGroup, RunGroups
from ppo_top.runs.run import Run
from ppo_top.runs.sources.source import SourceState
from ppo_top.settings import Settings

GROUPING_TIMEOUT_S = 30.0
"""After this many seconds without new data, a log is assigned to a run as it is."""

GROUPING_PAUSE_FACTOR = 20
"""While there is more to read, grouping takes at most one part in so many of the time."""

MAX_UNGROUPED_POINTS = 500_000
"""More new points do not wait for grouping: only those of a run can be judged and dropped."""


class LogAssignment:
    """All logs, the runs that they were put into (`runs`, by id), and those in none."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.runs: dict[str, Run] = {}
        self.gone: set[str] = set()
        """Deleted logs whose run has others."""
        self._known: dict[tuple[str, str], dict[str, KnownLog]] = {}
        """Logs of remembered runs of which not all are found yet."""
        self._states: dict[str, SourceState] = {}
        self._run_of: dict[str, Run] = {}
        self._groups = RunGroups(settings.runs)
        self._next_grouping = 0.0
        self._ungrouped_points = 0
        """Points of logs that were in no run when these were read."""

    # --- what is found, read and deleted -----------------------------------------------------

    def add_known(self, known: Iterable[KnownLog]) -> list[SavedRun]:
        """Add logs of runs that were judged before; returns the runs all of whose logs are found.

        These are in no run before the next `group`.
        """
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

    def incomplete_known(self) -> set[str]:
        """The logs (keys) of remembered runs whose others are gone; they are forgotten here."""
        keys = {key for logs in self._known.values() for key in logs}
        self._known.clear()
        return keys

    def add_update(self, update: SourceUpdate) -> None:
        """Add what was read of a log."""
        key = update.source.key
        state = self._states.get(key)
        if state is None:
            state = SourceState(update.source)
            self._add_state(state)
        fresh = state.add_update(update)
        self._groups.note(key)
        self.gone.discard(key)
        run, points = self._run_of.get(key), sum(map(len, update.batch.points))
        if run is None:
            self._ungrouped_points += points
        else:
            if update.reset:
                run.awaiting_reread.discard(key)
            run.unjudged_points += points
            run.mark_changed(fresh)

    def _add_state(self, state: SourceState) -> None:
        source = state.source
        self._states[state.key] = state
        path, root = str(source.path), str(source.root)
        self._groups.add_log(state.key, path, root, state.format, state.facts, source.has_siblings)

    def remove(self, deleted: Sequence[Source]) -> None:
        """Remove deleted files; their points stay as long as their run has another source."""
        for source in deleted:
            run = self._run_of.get(source.key)
            if run is None:
                self._forget([source.key])
                continue
            self.gone.add(source.key)
            run.awaiting_reread.discard(source.key)
            if all(key in self.gone for key in run.sources):
                self.runs.pop(run.id, None)
                self._forget(run.sources)
        if deleted:
            self.group()

    def _forget(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.gone.discard(key)
            self._states.pop(key, None)
            self._run_of.pop(key, None)
        self._groups.remove_logs(keys)

    # --- assigning ---------------------------------------------------------------------------

    def group_if_due(self, has_more: bool) -> None:
        """`group`, but only now and then while there is more to read."""
        is_due = time.monotonic() >= self._next_grouping
        if is_due or not has_more or self._ungrouped_points > MAX_UNGROUPED_POINTS:
            self.group()

    def group(self) -> None:
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
                run = self.runs[group.id] = Run(group.id, "", "", self._settings)
            run.set_sources({key: self._states[key] for key in group.joined_by})
            run.awaiting_reread |= awaited & run.sources.keys()
            self._run_of.update(dict.fromkeys(group.joined_by, run))
            _describe(run, group)
        now = time.monotonic()
        self._next_grouping = now + GROUPING_PAUSE_FACTOR * (now - start)

    def decide_pending(self, final: bool) -> None:
        """Decide on logs without points, which `group` then assigns: settings, a traceback.

        `final`: no more data will come, so consoles with nothing useful are assigned, too.
        """
        for key, state in self._states.items():
            if key in self._run_of:
                continue
            waited = state.series and time.time() - state.mtime > GROUPING_TIMEOUT_S
            decide = state.config or state.ended or state.evidence or waited
            if decide or (final and (state.series or state.lines or state.problem_count)):
                self._groups.decide(key)

    # --- asking ------------------------------------------------------------------------------

    def runs_of(self, keys: Iterable[str]) -> list[Run]:
        """The runs that logs belong to."""
        runs = {run.id: run for key in keys if (run := self._run_of.get(key)) is not None}
        return list(runs.values())

    def unused_stamps(
        self, files: Mapping[str, Mapping[str, FileStamp]]
    ) -> dict[str, dict[str, FileStamp]]:
        """These files (root -> key -> stamp), and the logs without a run."""
        found = {root: dict(stamps) for root, stamps in files.items()}
        for key, state in self._states.items():
            if key not in self._run_of and state.stamp:
                found.setdefault(str(state.source.root), {})[key] = state.stamp
        return found

    def unassigned_paths(self) -> list[str]:
        """The files that were read and belong to no run, nor hold any."""
        sources = {key: state.source for key, state in self._states.items()}
        files = {source.file for key, source in sources.items() if key in self._run_of}
        unused = [source.path for key, source in sources.items() if key not in self._run_of]
        return [str(path) for path in unused if path not in files]


def _describe(run: Run, group: LogGroup) -> None:
    """Note name, path and reasons, which may change with other runs."""
    before = run.name, run.path, run.copy_of
    if run.joined_by != group.joined_by:
        run.job = 0  # a worker would report the reasons of before
    run.set_name(_name(group), group.path, group.host)
    run.copy_of, run.joined_by = group.copy_of, group.joined_by
    run.version += before != (run.name, run.path, run.copy_of)


def _name(group: LogGroup) -> str:
    """A run's name; `.` becomes the name of the directory."""
    name = group.name
    return name if name not in (".", "..") else Path(name).resolve().name or name
