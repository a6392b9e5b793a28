"""Follows every log below some paths: what appears, grows, is replaced or goes, slice by slice.

Whoever owns a follower calls `poll` (bounded by points and seconds) until nothing more is there,
then `wait`. Events only shorten the waiting: a sweep over time stamps finds everything. Logs that
changed lately are swept each half second, old ones in turn, and never so often that it costs over
one percent of a core.
"""

# ruff: noqa: PTH112
# Paths stay text here: an object for each would cost more than the system call.

from __future__ import annotations

import os
import re
import select
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from ppo_top import parsers
from ppo_top.files.discovery import Discovery
from ppo_top.files.log_reader import LogReader
from ppo_top.files.log_set import LogSet
from ppo_top.files.schedule import ReadQueue, adapt_piece_size
from ppo_top.files.stdin import StdinReader
from ppo_top.files.update import PollResult, Source, SourceReader, SourceUpdate
from ppo_top.files.wake_pipe import WakePipe
from ppo_top.files.watcher import Watcher
from ppo_top.support import internal_errors

SWEEP_INTERVAL_S = 0.5
"""How often logs that changed lately are looked at: a point is seen within a second."""
SWEEP_CPU_PAUSE_FACTOR = 100
"""A sweep that worked a second is not repeated before this many seconds: one percent of a core."""
SWEEP_WALL_PAUSE_FACTOR = 4
"""One that took a second, mostly waiting for a network, not before this many."""
EVENT_DEBOUNCE_S = 0.05
"""Events that come within this time are looked at together: a flood makes no flood of looks."""
REWATCH_INTERVAL_S = 5.0
"""How often it is considered which directories are worth a watch."""


class Follower:
    """All logs below `paths` (files or directories, which may come, go and return), and a pipe.

    With `once` each file is read to the end that it has then, and no further: unfinished ends are
    told with the rest.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        stdin: BinaryIO | None = None,
        max_depth: int = 32,
        clock: Callable[[], float] = time.monotonic,
        detector: parsers.FormatDetector | None = None,
        patterns: parsers.Patterns = (),
        name_pattern: re.Pattern[str] | None = None,
        watcher: Watcher | None = None,
        once: bool = False,
    ) -> None:
        internal_errors.forbid_writes_below(paths)
        self._clock = clock
        detector = detector or parsers.format_detector(patterns)
        self._logs = LogSet(detector, clock)
        self._discovery = Discovery(
            paths, name_pattern or parsers.file_name_pattern(), max_depth, clock
        )
        self._queue = ReadQueue()
        self._focused: set[str] = set()
        self._next_sweep = self._next_watch_update = self._last_poll = 0.0
        self._discovery_pending = True
        self._wakeup = WakePipe()
        self._watcher = watcher or Watcher(self.wake)
        self._is_watching = False
        console = parsers.console_format(patterns)
        self._stdin = StdinReader(stdin, detector, console, time.time) if stdin else None
        self._once = once
        self.closed = False

    # --- reading -----------------------------------------------------------------------------

    def poll(self, limit: int = 100_000, budget: float = 0.05) -> PollResult:
        """What is new, at most about `limit` points and `budget` seconds of it."""
        self._last_poll = self._clock()
        until = self._last_poll + budget
        gone = self._sweep(budget / 2)
        gains: list[SourceUpdate] = []
        points = 0
        if self._stdin is not None and self._stdin.has_changed():
            self._queue.push(self._stdin)
        while self._queue and points < limit:
            for gain in self._read_next(limit - points):
                gains.append(gain)
                points += sum(len(each) for each in gain.batch.points)
            if self._clock() >= until:
                break
        more = bool(self._queue) or self._discovery_pending
        return PollResult(gains, gone, more, *self._logs.progress())

    def _read_next(self, limit: int) -> list[SourceUpdate]:
        """One piece of the feed whose turn it is; of one in focus also what stands at its end."""
        feed = self._queue.pop()
        start = self._clock()
        before = feed.offset
        gain = feed.read_update(feed.piece_size, limit)
        adapt_piece_size(feed, feed.offset - before, self._clock() - start)
        self._logs.progress_is_stale = True
        if isinstance(feed, LogReader) and feed.rejected:
            self._logs.reject(feed)
        elif feed.more:
            self._queue.push(feed)
        gains = [gain] if gain is not None else []
        if self._once and isinstance(feed, LogReader) and feed.source and not feed.more:
            last = feed.finish()
            gains += [last] if last is not None else []
        if feed.key in self._focused and isinstance(feed, LogReader) and feed.source is not None:
            self._focused.discard(feed.key)
            newest = feed.read_last_points()
            gains += [newest] if newest is not None else []
        return gains

    def focus(self, keys: Iterable[str]) -> None:
        """Read these sources before all others; of long ones the newest values come at once."""
        self._focused = set(keys)
        self._queue.prioritise(self._focused)

    def reread(self, keys: Iterable[str]) -> None:
        """Read these sources once more from their beginning; the next gain of each is a reset.

        For who keeps only a summary of a run, and wants its exact points back.
        """
        wanted = set(keys)
        for feed in self._logs:
            if not wanted.isdisjoint(source.key for source in feed.sources):
                feed.reread()
                self._queue.push(feed)

    def finish(self) -> PollResult:
        """No more will come: what is certain of the unfinished ends of all logs."""
        files = list(self._logs)
        feeds: list[SourceReader] = [*files, self._stdin] if self._stdin is not None else [*files]
        gains = [gain for feed in feeds if (gain := feed.finish()) is not None]
        for file in files:
            if file.source is None and file.size:
                self._logs.reject(file)
        return PollResult(gains, [], False, *self._logs.progress())

    # --- looking -----------------------------------------------------------------------------

    def _sweep(self, seconds: float) -> list[Source]:
        """Find what appeared, grew or went; sources that are gone are returned."""
        now, used = self._clock(), time.thread_time()
        hints = self._watcher.pop_hints()
        self._watcher.unwatch_busy()
        round_ = now >= self._next_sweep
        for folder in hints.written:
            self._enqueue(self._logs.find_changed_in(folder))
        gone: list[Source] = []
        if round_ or self._discovery_pending or hints.renamed:
            look = self._discovery.scan(seconds, round_, hints.renamed)
            self._discovery_pending = look.more
            if look.found:
                self._next_watch_update = now
            gone = self._logs.remove_files(look.removed)
            self._enqueue(self._logs.add_files(look.found))
        if round_:
            self._enqueue(self._logs.sweep())
            busy, took = time.thread_time() - used, self._clock() - now
            pause = (
                0.0
                if self._discovery_pending
                else max(busy * SWEEP_CPU_PAUSE_FACTOR, took * SWEEP_WALL_PAUSE_FACTOR)
            )
            self._next_sweep = now + max(SWEEP_INTERVAL_S, pause)
        if self._is_watching and now >= self._next_watch_update:
            self._update_watches(now)
        return gone

    def _enqueue(self, feeds: Iterable[LogReader]) -> None:
        for feed in feeds:
            self._queue.push(feed)

    # --- waiting -----------------------------------------------------------------------------

    def wait(self, timeout: float) -> bool:
        """Wait for an event, a byte in the pipe, the next sweep or `timeout` seconds.

        True when something happened. The first call starts watching.
        """
        if not self._is_watching:
            self._is_watching = True
            self._update_watches(self._clock())
        handles = [self._wakeup.handle]
        if self._stdin is not None and self._stdin.stream.handle is not None:
            handles.append(self._stdin.stream.handle)
        seconds = max(0.0, min(timeout, self._next_sweep - self._clock()))
        ready = select.select(handles, [], [], seconds)[0]
        if self._wakeup.handle in ready:
            if len(ready) == 1:  # a pipe holds little: it is emptied at once
                time.sleep(
                    max(0.0, min(EVENT_DEBOUNCE_S - (self._clock() - self._last_poll), timeout))
                )
            self._wakeup.clear()
        return bool(ready)

    def wake(self) -> None:
        """End a wait; may be called from any thread."""
        self._wakeup.wake()

    def _update_watches(self, now: float) -> None:
        """Watch where something happened last: the roots, the folders of logs, those above them."""
        self._next_watch_update = now + REWATCH_INTERVAL_S
        folders = self._logs.recent_folders()
        wanted = dict.fromkeys(root for root in self._discovery.roots if os.path.isdir(root))
        wanted.update(folders)
        wanted.update(dict.fromkeys(map(os.path.dirname, folders)))
        self._watcher.set_directories(wanted)

    @property
    def watch_status(self) -> str:
        """What wakes the reader, in words, and what it cannot watch; any thread may ask."""
        return "; ".join(each for each in (self._watcher.summary, self._watcher.problem) if each)

    @property
    def problems(self) -> list[str]:
        """What could not be looked at, in words."""
        told = [f"{path} {what}" for path, what in self._discovery.problems.items()]
        told += self._logs.problems()
        return told + ([self._watcher.problem] if self._watcher.problem else [])

    def close(self) -> None:
        """End the threads and close what is open."""
        if self.closed:
            return
        self.closed = True
        self._watcher.close()
        for feed in self._logs:
            feed.close()
        if self._stdin is not None:
            self._stdin.close()
        self._wakeup.close()
