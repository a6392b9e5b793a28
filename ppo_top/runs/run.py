"""One run: its sources and their evaluation.

The newest complete evaluation is shown. When something turns up that needs a new one (a late file,
a better source, an unknown setting), that is built in the background and shown once it has caught
up. The judged points of a run that nobody looks at can be dropped; if they are needed again, its
logs are read again.
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping

from ppo_top.catalogue import facts_about, total_steps
from ppo_top.files.update import SavedRun
from ppo_top.model import Axis, Finding, Profile
from ppo_top.runs.evaluation import ClosedEvaluation, ClosedRun, Evaluation
from ppo_top.runs.ongoing_evaluation import OngoingEvaluation
from ppo_top.runs.rows.timeline import Timeline
from ppo_top.runs.sources.run_ends import standing_ends
from ppo_top.runs.sources.source import SourceState
from ppo_top.settings import Settings

KEEP_ROWS = 32
"""Rows kept after eviction; run state and speed are computed from them."""


class Run:
    """A training run; `joined_by` says of its sources, by key, why they belong to it."""

    def __init__(
        self,
        id_: str,
        name: str,
        path: str,
        settings: Settings,
        joined_by: Mapping[str, str] | None = None,
    ) -> None:
        self.id = id_
        self.name = name
        self.path = path
        self.place = path
        """The real path, or `host:path`: the same wherever the monitor was started."""
        self.settings = settings
        self.sources: dict[str, SourceState] = {}
        self.joined_by = joined_by or {}
        self.copy_of = ""
        """name of the run of which this is a copy"""
        self.version = 0
        """Grows with every change; what was drawn from an older version is out of date."""
        self.judged = True
        """Whether timeline and findings are up to date with the sources."""
        self.awaiting_reread: set[str] = set()
        """Keys of sources whose second reading was requested and has not begun."""
        self.unjudged_points = 0
        """Points added since everything was judged."""
        self.is_measured_here = False
        """Whether it holds measurements of the machine that are in none of its logs; such a run is
        not remembered, for its findings are not those of its logs alone."""
        self.is_over = False
        """Whether it is known to have ended: rules about a whole run may then speak."""
        self.needs_reread = False
        """Whether judging cannot go on before its sources are read again."""
        self.job = 0
        """The number of the job by which a worker judges it; 0: it is judged here."""
        self.saved: SavedRun | None = None
        """Where the cache keeps it as it is; None if it does not."""
        self.evaluation: Evaluation = OngoingEvaluation((), settings)
        """The one that is shown."""
        self._ongoing: OngoingEvaluation | None = None
        """The one that judges new rows: that one, or a new one which has not caught up with it."""
        self._stale = True
        self._reported: tuple[int, dict[str, str]] | None = None
        """points, and logs with the reasons, when it was reported"""

    def set_name(self, name: str, path: str, host: str = "") -> None:
        """Note what it is called, and where it is: on the machine `host`, or on this one."""
        if path != self.path:
            self.place = path if host else os.path.realpath(path)
        self.name, self.path = name, path

    # --- new data ----------------------------------------------------------------------------

    def set_sources(self, sources: Mapping[str, SourceState]) -> None:
        """Note which logs belong to it; others than before are judged from their beginning."""
        if self.sources.keys() != sources.keys():
            self.sources = dict(sources)
            self.awaiting_reread &= sources.keys()
            self.unjudged_points = self.points
            self.mark_changed(start_over=True)

    def mark_changed(self, start_over: bool) -> None:
        """Note new points; `start_over` if there is a new tag or setting, or a source was reset."""
        self.judged = self.is_over = False
        self.saved, self.job = None, 0
        self._stale = self._stale or start_over

    def mark_over(self) -> None:
        """Note that it has ended; it is judged once more."""
        self.judged, self.is_over = False, True

    def restore(self, saved: SavedRun, closed: ClosedRun | None = None) -> None:
        """Show what is remembered of a run whose logs have not changed since it was judged."""
        self.saved, self.judged, self._stale, self.is_over = saved, True, False, saved.is_over
        if closed is not None:
            self._show_closed(closed)
        self.version += 1

    def close(self, closed: ClosedRun, is_over: bool) -> None:
        """Show what was found elsewhere; points are dropped, the next ones start over."""
        for source in self.sources.values():
            source.drop_points()
        self._show_closed(closed)
        self.judged, self._stale, self.is_over = True, False, is_over
        self.unjudged_points = self.job = 0
        self.version += 1

    def _show_closed(self, closed: ClosedRun) -> None:
        self.evaluation, self._ongoing = ClosedEvaluation(closed), None

    # --- judging -----------------------------------------------------------------------------

    def evaluate(self, deadline: float = float("inf")) -> bool:
        """Judge new rows until the deadline (`time.perf_counter`); True if all are judged."""
        if self.judged:
            return True
        self.version += 1
        work = self._ongoing
        if self._stale or work is None or not work.refresh():
            if self.is_partial:
                self.needs_reread = not self.awaiting_reread
                self.judged = True  # as far as possible for now
                return True
            work = self._start_evaluation()
        work.is_over = self.is_over
        self.judged = work.advance(deadline)
        if self.judged:
            self.unjudged_points = 0
        if self._is_catching_up and self._has_caught_up(work):
            self.evaluation = work
        return self.judged

    @property
    def can_be_sent(self) -> bool:
        """Whether all of it can be judged elsewhere, from the beginning."""
        begun = self._is_catching_up or len(self.timeline)
        here = begun or self.job or self.judged or self._is_piped
        return not (here or self.has_more_to_read or self.is_partial)

    @property
    def _is_piped(self) -> bool:
        return any(state.source.is_piped for state in self.sources.values())

    def _start_evaluation(self) -> OngoingEvaluation:
        self._stale = False
        self._ongoing = OngoingEvaluation(tuple(self.sources.values()), self.settings)
        if not len(self.timeline):
            self.evaluation = self._ongoing
        return self._ongoing

    @property
    def _is_catching_up(self) -> bool:
        """Whether a new evaluation is made that is not shown yet."""
        return self._ongoing is not None and self._ongoing is not self.evaluation

    def _has_caught_up(self, evaluation: Evaluation) -> bool:
        if len(evaluation.timeline) >= len(self.timeline):
            return True
        return self.judged and not self.has_more_to_read

    @property
    def is_settled(self) -> bool:
        """Whether everything that its logs hold was read and judged."""
        is_done = self.judged and not (self._stale or self._is_catching_up)
        return is_done and not (self.has_more_to_read or self.needs_reread)

    # --- eviction ----------------------------------------------------------------------------

    @property
    def is_partial(self) -> bool:
        """Whether points were dropped and have not been read again."""
        return any(source.is_partial for source in self.sources.values())

    @property
    def is_whole(self) -> bool:
        """Whether all rows are here, not only the newest."""
        return not self.is_partial and self.timeline.is_whole

    @property
    def held_points(self) -> int:
        """How many points are in memory."""
        return sum(source.held_points for source in self.sources.values())

    @property
    def has_more_to_read(self) -> bool:
        """Whether its logs hold more to read."""
        return bool(self.awaiting_reread) or any(source.more for source in self.sources.values())

    def request_reread(self, gone: Container[str]) -> set[str]:
        """The keys of the sources to read again; none if that was requested already.

        Sources that are `gone` cannot be read again: what is left of them is dropped.
        """
        if self.awaiting_reread:
            return set()
        self.needs_reread = False
        for key, source in self.sources.items():
            if key in gone:
                source.clear()
        self.awaiting_reread = {key for key in self.sources if key not in gone}
        return set(self.awaiting_reread)

    @property
    def can_drop_history(self) -> bool:
        """Whether points can be dropped: not during a new evaluation, and never of a pipe."""
        return not (self._is_catching_up or self._stale or self._is_piped)

    def drop_history(self) -> None:
        """Drop all but the newest rows and the unsealed ones; verdict and findings stay."""
        if self.can_drop_history:
            read = self._ongoing.drop_history(KEEP_ROWS) if self._ongoing is not None else ()
            for source in self.sources.values():
                source.drop_unused(read)
            self.version += 1

    def release(self) -> None:
        """Keep only its findings, and what tells which logs belong to it: it was reported."""
        for source in self.sources.values():
            source.release()
        nothing = OngoingEvaluation((), self.settings).saved(keep=0)
        self._show_closed(nothing._replace(findings=self.findings))
        self.version += 1

    @property
    def is_reported(self) -> bool:
        """Whether a report was made of all that it holds."""
        return self._reported == (self.points, dict(self.joined_by))

    def mark_reported(self) -> None:
        """Note that a report was made of all that it holds."""
        self._reported = self.points, dict(self.joined_by)

    # --- queries -----------------------------------------------------------------------------

    @property
    def timeline(self) -> Timeline:
        """The rows judged so far."""
        return self.evaluation.timeline

    @property
    def findings(self) -> list[Finding]:
        """Every finding so far, in the order in which they opened."""
        return self.evaluation.findings

    @property
    def profile(self) -> Profile:
        """What the rules know of the run besides its metrics."""
        return self.evaluation.profile

    @property
    def total_steps(self) -> int | None:
        """How many steps the run will take, if a source says so."""
        known, steps = self.evaluation, self.timeline.steps
        counted = self.timeline.tracks.get("step")
        last = counted.values[-1] if counted is not None and counted.values else None
        newest = steps[-1] if steps else None
        return total_steps(known.config, known.trainer, newest, last, self.timeline.axis)

    @property
    def has_all_steps(self) -> bool:
        """Whether the newest row is that of the last step that the run was to take."""
        steps, total = self.timeline.steps, self.total_steps
        return bool(steps) and total is not None and steps[-1] + self._is_from_zero() >= total

    def _is_from_zero(self) -> bool:
        """Whether episodes, epochs or iterations are numbered from 0 on: the last of 500 is 499."""
        steps, profile = self.timeline.steps, self.profile
        has_each = len(steps) > 1 and steps[-1] == steps[-2] + 1
        is_numbered = self.timeline.axis in (Axis.EPISODE, Axis.EPOCH)
        is_numbered |= "iterations-from-0" in facts_about(profile.trainer_id, profile.algo)
        return is_numbered and profile.first_step == 0 and has_each

    @property
    def points(self) -> int:
        """Points of all sources, dropped ones included."""
        return sum(source.points for source in self.sources.values())

    @property
    def last_change(self) -> float:
        """When its logs were last written (unix seconds)."""
        return max((source.mtime for source in self.sources.values()), default=0.0)

    def first_ended(self) -> SourceState | None:
        """A source that says that the run has ended; a crash counts before completion."""
        ended = standing_ends(self.sources.values())
        return min(ended, key=lambda each: (each.ended.state.value, each.key), default=None)  # type: ignore[union-attr]
