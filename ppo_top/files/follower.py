"""Follows every log below some paths: finds what appears, grows, is replaced or deleted.

The owner calls `poll` (bounded by points and seconds) until there is nothing more, then `wait`.
Events only shorten the wait; a sweep over modification times finds everything. Logs that changed
recently are swept every half second (or as often as the owner wants), old ones in turn, and sweeps
never cost more than one percent of a core.
"""

# ruff: noqa: PTH112
# Paths stay strings here: an object for each would cost more than the system call.

from __future__ import annotations

import math
import os
import re
import select
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from ppo_top import parsers
from ppo_top.files.discovery import Discovery
from ppo_top.files.log_set import LogSet
from ppo_top.files.mirrors import mirror_problems, shown_path, unread_in_mirrors
from ppo_top.files.passed_over import PassedOver, notebooks_line, passed_over_lines
from ppo_top.files.read_queue import MAX_CHUNK_BYTES, ChunkSizes, ReadQueue
from ppo_top.files.reading.log_reader import LogReader
from ppo_top.files.reading.stdin import StdinReader
from ppo_top.files.tail import FileStamp
from ppo_top.files.update import Listing, LogMemory, PollResult, Source, SourceReader, SourceUpdate
from ppo_top.files.wake_pipe import WakePipe
from ppo_top.files.watcher import Watcher
from ppo_top.parsers.file_names import is_file_name
from ppo_top.support import internal_errors

SWEEP_INTERVAL_S = 0.5
"""How often recently changed logs are checked: a point is seen within a second."""
SWEEP_CPU_PAUSE_FACTOR = 100
"""Seconds to pause per second of CPU a sweep used: one percent of a core."""
SWEEP_WALL_PAUSE_FACTOR = 4
"""Seconds to pause per second a sweep took, mostly waiting for a network."""
EVENT_DEBOUNCE_S = 0.05
"""Events within this time are handled together, so that a flood of them costs little."""
REWATCH_INTERVAL_S = 5.0
"""How often the directories worth watching are chosen again."""


class Follower:
    """All logs below `paths` (files or directories, which may come and go), and a pipe.

    With `once` each file is read to its present end and no further, unfinished ends included.
    `notebooks`: those in directories are read, too.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        stdin: BinaryIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        detector: parsers.FormatDetector | None = None,
        patterns: parsers.Patterns = (),
        name_pattern: re.Pattern[str] | None = None,
        notebooks: bool = False,
        watcher: Watcher | None = None,
        once: bool = False,
        active_s: float = math.inf,
        memory: LogMemory | None = None,
        sweep_interval_s: float = SWEEP_INTERVAL_S,
    ) -> None:
        internal_errors.forbid_writes_below(paths)
        self._clock, self._sweep_interval_s = clock, sweep_interval_s
        detector = detector or parsers.format_detector(patterns)
        self._logs = LogSet(detector, clock, active_s, memory)
        wanted = name_pattern.search if name_pattern else is_file_name
        self._discovery = Discovery(paths, wanted, clock=clock, notebooks=notebooks)
        self._queue, self._chunk_sizes = ReadQueue(whole_logs=once), ChunkSizes()
        self._next_sweep = self._next_watch_update = self._last_poll = 0.0
        self._discovery_pending = True
        self._wakeup = WakePipe()
        self._watcher = watcher or Watcher(self.wake)
        self._is_watching = False
        self._stdin: StdinReader | None = None
        if stdin is not None:
            console = parsers.console_format(patterns)
            self._stdin = StdinReader(stdin, detector, console, time.time)
        self._once = once
        self.closed = False

    # --- reading -----------------------------------------------------------------------------

    def poll(self, limit: int = 100_000, budget: float = 0.05) -> PollResult:
        """Read what is new: at most about `limit` points, for about `budget` seconds."""
        self._last_poll = self._clock()
        until = self._last_poll + budget
        removed = self._sweep(budget / 2)
        updates: list[SourceUpdate] = []
        points = 0
        if self._stdin is not None and self._stdin.has_changed():
            self._queue.push(self._stdin)
        while self._queue and points < limit:
            for update in self._read_next(limit - points):
                updates.append(update)
                points += sum(map(len, update.batch.points))
            if self._clock() >= until:
                break
        more = bool(self._queue) or self._discovery_pending
        known = self._logs.pop_known()
        progress = self._logs.progress()
        return PollResult(updates, removed, more, *progress, known, self._new_passed_over(more))

    def _new_passed_over(self, more: bool) -> list[str] | None:
        """A line for each file that gives nothing; None while that may be as before."""
        if more:
            return None
        found_others = self._discovery.pop_passed_over_changed()
        if not (found_others or self._logs.pop_rejected_changed()):
            return None
        files = self.passed_over()
        return [*filter(None, [notebooks_line(files)]), *passed_over_lines(files)]

    def _read_next(self, limit: int) -> list[SourceUpdate]:
        """One chunk of the next reader."""
        reader = self._queue.pop()
        start = self._clock()
        before = reader.offset
        if self._once:  # nobody waits for an answer to a key
            reader.chunk_size = MAX_CHUNK_BYTES
        updates = [reader.read_update(reader.chunk_size, limit)]
        if not self._once:
            self._chunk_sizes.adapt(reader, reader.offset - before, self._clock() - start)
        self._logs.progress_is_stale = True
        if isinstance(reader, LogReader) and reader.rejected:
            self._logs.reject(reader)
        elif reader.more:
            self._queue.push(reader)
        if self._once and isinstance(reader, LogReader) and reader.source and not reader.more:
            updates.append(reader.finish())
        return [each for update in updates if update for each in (update, *update.others)]

    def focus(self, keys: Iterable[str]) -> None:
        """Read these sources before all others."""
        self._queue.prioritise(keys)

    def reread(self, keys: Iterable[str]) -> None:
        """Read these sources again from the beginning; the next update of each is a reset.

        For callers that kept only a summary of a run and want its exact points back.
        """
        wanted = set(keys)
        for reader in self._logs:
            if not wanted.isdisjoint(source.key for source in reader.sources):
                reader.reread()
                self._queue.push(reader)

    def finish(self) -> PollResult:
        """No more will come: what is certain of the unfinished ends of all logs."""
        files = list(self._logs)
        readers: list[SourceReader] = [*files, self._stdin] if self._stdin is not None else [*files]
        last = [update for reader in readers if (update := reader.finish()) is not None]
        updates = [each for update in last for each in (update, *update.others)]
        for file in files:
            if file.source is None and file.size and not self._logs.is_inactive(file):
                self._logs.reject(file)
        return PollResult(updates, [], False, *self._logs.progress())

    def sweep_soon(self) -> None:
        """With the next poll look at everything, whenever that was done last."""
        self._next_sweep = 0.0

    # --- looking -----------------------------------------------------------------------------

    def _sweep(self, seconds: float) -> list[Source]:
        """Find what appeared, grew or was deleted; deleted sources are returned."""
        now, cpu_start = self._clock(), time.thread_time()
        hints = self._watcher.pop_hints()
        self._watcher.unwatch_busy()
        is_due = now >= self._next_sweep
        for folder in hints.written:
            self._enqueue(self._logs.find_changed_in(folder))
        removed: list[Source] = []
        if is_due or self._discovery_pending or hints.renamed:
            scan = self._discovery.scan(seconds, is_due, hints.renamed)
            self._discovery_pending = scan.more
            if scan.found:
                self._next_watch_update = now
            removed = self._logs.remove_files(scan.removed)
            self._enqueue(self._logs.add_files(scan.found))
        if is_due:
            self._enqueue(self._logs.sweep())
            cpu_s, wall_s = time.thread_time() - cpu_start, self._clock() - now
            pause = max(cpu_s * SWEEP_CPU_PAUSE_FACTOR, wall_s * SWEEP_WALL_PAUSE_FACTOR)
            pause = 0.0 if self._discovery_pending else pause
            self._next_sweep = now + max(self._sweep_interval_s, pause)
        if self._is_watching and now >= self._next_watch_update:
            self._update_watches(now)
        return removed

    def _enqueue(self, readers: Iterable[LogReader]) -> None:
        for reader in readers:
            self._queue.push(reader)

    def listing(self) -> Listing | None:
        """Everything that was looked at; None if any of it may have changed since."""
        folders, files = self._discovery.folder_stamps(), self._logs.read_stamps()
        listed = {path: stamp for path, stamp in folders.items() if stamp is not None}
        is_certain = len(listed) == len(folders) and all(files.values())
        return Listing(listed, files) if is_certain else None

    def file_counts(self) -> tuple[int, int]:
        """How many files are followed; in how many folders none was opened for their age."""
        return self._logs.counts

    def passed_over(self) -> list[PassedOver]:
        """The files below the paths that might be logs and give nothing, and why."""
        return [*self._discovery.passed_over(), *self._logs.passed_over()]

    def unused_files(self) -> dict[str, dict[str, FileStamp]]:
        """root -> key -> stamp, for the files that hold no log."""
        return self._logs.unused_stamps()

    # --- waiting -----------------------------------------------------------------------------

    def wait(self, timeout: float) -> bool:
        """Wait for an event, a byte in the pipe, the next sweep or `timeout` seconds.

        True if something happened. The first call starts watching.
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
                debounce = EVENT_DEBOUNCE_S - (self._clock() - self._last_poll)
                time.sleep(max(0.0, min(debounce, timeout)))
            self._wakeup.clear()
        return bool(ready)

    @property
    def pipe_is_open(self) -> bool:
        """Whether a training still writes to standard input."""
        return self._stdin is not None and self._stdin.stream.handle is not None

    def wake(self) -> None:
        """End a wait; may be called from any thread."""
        self._wakeup.wake()

    def _update_watches(self, now: float) -> None:
        """Watch where something happened last: the roots, the folders of logs, their parents."""
        self._next_watch_update = now + REWATCH_INTERVAL_S
        folders = self._logs.recent_folders()
        wanted = dict.fromkeys(root for root in self._discovery.roots if os.path.isdir(root))
        wanted.update(folders)
        wanted.update(dict.fromkeys(map(os.path.dirname, folders)))
        self._watcher.set_directories(wanted)

    @property
    def watch_status(self) -> str:
        """What wakes the reader, and why it cannot watch more; may be called from any thread."""
        return "; ".join(each for each in (self._watcher.summary, self._watcher.problem) if each)

    @property
    def polls_instead(self) -> bool:
        """Whether some directories are polled because they cannot be watched."""
        return bool(self._watcher.network_types or self._watcher.problem)

    @property
    def problems(self) -> list[str]:
        """What could not be read or watched, one line each; may be called from any thread."""
        lines = [*self._unread_folders(), *self._logs.problems(), *mirror_problems()]
        return lines + ([self._watcher.problem] if self._watcher.problem else [])

    @property
    def unread(self) -> list[str]:
        """What lies below the paths and could not be read, one line each."""
        return [*self._unread_folders(), *self._logs.unreadable(), *unread_in_mirrors()]

    def _unread_folders(self) -> list[str]:
        found = self._discovery.problems.copy().items()
        return [f"{shown_path(path)}: {problem}" for path, problem in found]

    def close(self) -> None:
        """Stop the threads and close what is open."""
        if self.closed:
            return
        self.closed = True
        self._watcher.close()
        for reader in self._logs:
            reader.close()
        if self._stdin is not None:
            self._stdin.close()
        self._wakeup.close()
