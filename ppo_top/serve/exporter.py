"""The loop of `ppo-top serve`: looks at the logs, and leaves a fleet behind for scrapes."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from ppo_top.files.follower import Follower
from ppo_top.files.mirrors import mirrors_are_settled
from ppo_top.output.follow import report_new_problems
from ppo_top.output.hooks import Hooks
from ppo_top.output.run_events import ChangeReporter
from ppo_top.runs.load import unopened_text
from ppo_top.runs.pipeline import MAX_POLL_POINTS, MAX_POLL_S, Pipeline
from ppo_top.runs.session import Session
from ppo_top.serve.fleet import ExportLimits, Fleet, FleetWatch, Look
from ppo_top.settings import Hook, Settings
from ppo_top.text.format import duration, plural

JUDGE_S = 0.5
"""Seconds of judging in one step."""

MAX_WAIT_S = 1.0
"""Longest wait between two looks when no file event arrives."""

MIN_PAUSE_S, PAUSE_FACTOR = 0.5, 100.0
"""Seconds between two fleets, and how many times as long as making one took: one per cent of a
core.
"""

MAX_PAUSE_S = 1.5

QUIET_PAUSE_S = 5.0
"""Seconds between two fleets while no log says anything: only states and ages change by then."""

SWEEP_INTERVAL_S = 1.0
"""How often logs are checked whose file system tells nothing of changes: scrapes are no faster."""

HEALTHY_FOR_S = 60.0
"""The loop counts as stuck if its newest step is older."""


class Exporter:
    """Follows the logs below some paths, which may not be there yet.

    `fleet` is replaced after each look and may be read by any thread, as may `is_healthy`.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        settings: Settings,
        limits: ExportLimits | None = None,
        active_s: float = math.inf,
        parallel: bool = True,
    ) -> None:
        self.fleet = Fleet()
        self._follower = Follower(
            paths,
            patterns=settings.patterns,
            notebooks=settings.notebooks,
            active_s=active_s,
            sweep_interval_s=SWEEP_INTERVAL_S,
        )
        self._session = Session(settings, parallel=parallel)
        self._pipeline = Pipeline(self._session, self._follower)
        self._watch = FleetWatch(limits or ExportLimits())
        self._problems: set[str] = set()
        self._stepped_at = time.monotonic()
        self._next_fleet = self._next_quiet_fleet = 0.0
        self._has_news = True
        self._read_bytes = self._last_read_bytes = 0
        self._is_complete = self._has_copies = False
        self._hooks: Hooks | None = None
        self._changes: ChangeReporter | None = None

    def start_hooks(
        self, hooks: Sequence[Hook], tell: Callable[[str], None], existing: bool = False
    ) -> None:
        """From now on changes start these commands, as in `check --follow --on`."""
        if hooks:
            self._hooks = Hooks(hooks, tell, existing=existing)
            self._changes = ChangeReporter(self._session, self._hooks.take)

    @property
    def is_healthy(self) -> bool:
        """Whether the logs were looked at within the last minute."""
        return time.monotonic() - self._stepped_at < HEALTHY_FOR_S

    def run(self, on_fleet: Callable[[Fleet], None], err: TextIO | None = None) -> None:
        """Look again and again, until an exception such as `KeyboardInterrupt` ends it."""
        self._follower.wait(0.0)  # an interrupt while the watcher is imported would be lost
        while True:
            done = self.step(on_fleet)
            report_new_problems(self._follower, self._session, self._problems, err or sys.stderr)
            if done:
                self._follower.wait(MAX_WAIT_S)
            elif self._session.queue.only_waits and self._session.queue.workers is not None:
                self._session.queue.workers.wait(MAX_WAIT_S / 10)

    def step(self, on_fleet: Callable[[Fleet], None] = lambda fleet: None) -> bool:
        """Read and judge for a while; True if nothing is left to do for now."""
        start = time.monotonic()
        if not self._has_copies and mirrors_are_settled():
            self._has_copies = True
            self._follower.sweep_soon()  # the last files of a host may have come since
        polled = self._follower.poll(MAX_POLL_POINTS, MAX_POLL_S)
        done = self._pipeline.step(polled, JUDGE_S)
        done = done and not (polled.more or self._pipeline.reads_again)
        self._count_bytes(polled.read_bytes)
        now = self._stepped_at = time.monotonic()
        completes = done and self._has_copies and not self._is_complete
        self._is_complete = self._is_complete or completes
        self._has_news = self._has_news or not done or bool(polled.updates or polled.removed)
        due = self._next_fleet if self._has_news else self._next_quiet_fleet
        if now >= due or completes:
            self._has_news = not done
            self.make_fleet(now - start)
            cost = time.monotonic() - now
            self._next_fleet = now + min(MAX_PAUSE_S, max(MIN_PAUSE_S, PAUSE_FACTOR * cost))
            self._next_quiet_fleet = now + QUIET_PAUSE_S
            on_fleet(self.fleet)
            self._report_to_hooks()
        return done

    def _report_to_hooks(self) -> None:
        if self._hooks is not None and self._changes is not None:
            self._changes.report_changes(time.time())
            if self._is_complete:
                self._hooks.begin()

    def make_fleet(self, seconds: float) -> None:
        """Replace the fleet after a look that took some seconds."""
        files, unopened = self._follower.file_counts()
        now = time.time()
        look = Look(now, seconds, self._is_complete, self._read_bytes, files, unopened)
        self.fleet = self._watch.fleet(self._session.runs, now, look)

    def _count_bytes(self, read: int) -> None:
        """`read` falls when a log is deleted or read again, a counter must not."""
        self._read_bytes += max(0, read - self._last_read_bytes)
        self._last_read_bytes = read

    def close(self) -> None:
        """Stop following, and end the workers and the commands of hooks."""
        if self._hooks is not None:
            self._hooks.close()
        self._follower.close()
        self._session.close()


def summary_line(fleet: Fleet, retire_s: float) -> str:
    """`12 runs, 3 in trouble; 4 more over for 1 d or longer (--retire)`."""
    trouble = sum(run.facts.severity > 1 for run in fleet.runs)
    words = f"{plural(len(fleet.runs), 'run')}, {trouble} in trouble"
    left_out = fleet.left_out
    if retired := left_out.get("retired", 0):
        words += f"; {retired} more over for {duration(retire_s)} or longer (--retire)"
    if limited := left_out.get("limit", 0):
        words += f"; {limited} more beyond --most-runs"
    if inactive := left_out.get("inactive", 0):
        words += f"; {unopened_text(inactive)}"
    return words
