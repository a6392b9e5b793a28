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
from ppo_top.files.log_reader import FileFeed
from ppo_top.files.log_set import Logs
from ppo_top.files.schedule import Turns, fit
from ppo_top.files.stdin import PipeFeed
from ppo_top.files.update import Feed, Gain, Slice, Source
from ppo_top.files.wake_pipe import WakePipe
from ppo_top.files.watcher import Watcher
from ppo_top.support import internal_errors as mishap

SWEEP_S = 0.5
"""How often logs that changed lately are looked at: a point is seen within a second."""
SHARE = 100
"""A sweep that worked a second is not repeated before this many seconds: one percent of a core."""
PATIENCE = 4
"""One that took a second, mostly waiting for a network, not before this many."""
GATHER_S = 0.05
"""Events that come within this time are looked at together: a flood makes no flood of looks."""
WATCH_AGAIN_S = 5.0
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
        claim: parsers.Claim | None = None,
        patterns: parsers.Patterns = (),
        names: re.Pattern[str] | None = None,
        watcher: Watcher | None = None,
        once: bool = False,
    ) -> None:
        mishap.watch(paths)
        self._clock = clock
        claim = claim or parsers.claimer(patterns)
        self._logs = Logs(claim, clock)
        self._discovery = Discovery(paths, names or parsers.wanted_names(), max_depth, clock)
        self._ready = Turns()
        self._ahead: set[str] = set()
        self._due = self._due_watch = self._polled = 0.0
        self._unseen = True
        self._wakeup = WakePipe()
        self._watcher = watcher or Watcher(self.wake)
        self._watches = False
        console = parsers.console_format(patterns)
        self._pipe = PipeFeed(stdin, claim, console, time.time) if stdin else None
        self._once = once
        self.closed = False

    # --- reading -----------------------------------------------------------------------------

    def poll(self, limit: int = 100_000, budget: float = 0.05) -> Slice:
        """What is new, at most about `limit` points and `budget` seconds of it."""
        self._polled = self._clock()
        until = self._polled + budget
        gone = self._sweep(budget / 2)
        gains: list[Gain] = []
        points = 0
        if self._pipe is not None and self._pipe.changed():
            self._ready.push(self._pipe)
        while self._ready and points < limit:
            for gain in self._take(limit - points):
                gains.append(gain)
                points += sum(len(each) for each in gain.batch.points)
            if self._clock() >= until:
                break
        more = bool(self._ready) or self._unseen
        return Slice(gains, gone, more, *self._logs.progress())

    def _take(self, limit: int) -> list[Gain]:
        """One piece of the feed whose turn it is; of one in focus also what stands at its end."""
        feed = self._ready.pop()
        start = self._clock()
        before = feed.offset
        gain = feed.take(feed.piece, limit)
        fit(feed, feed.offset - before, self._clock() - start)
        self._logs.moved = True
        if isinstance(feed, FileFeed) and feed.refused:
            self._logs.refuse(feed)
        elif feed.more:
            self._ready.push(feed)
        gains = [gain] if gain is not None else []
        if self._once and isinstance(feed, FileFeed) and feed.source and not feed.more:
            last = feed.finish()
            gains += [last] if last is not None else []
        if feed.key in self._ahead and isinstance(feed, FileFeed) and feed.source is not None:
            self._ahead.discard(feed.key)
            newest = feed.newest()
            gains += [newest] if newest is not None else []
        return gains

    def focus(self, keys: Iterable[str]) -> None:
        """Read these sources before all others; of long ones the newest values come at once."""
        self._ahead = set(keys)
        self._ready.prefer(self._ahead)

    def again(self, keys: Iterable[str]) -> None:
        """Read these sources once more from their beginning; the next gain of each is a reset.

        For who keeps only a summary of a run, and wants its exact points back.
        """
        wanted = set(keys)
        for feed in self._logs:
            if not wanted.isdisjoint(source.key for source in feed.sources):
                feed.again()
                self._ready.push(feed)

    def finish(self) -> Slice:
        """No more will come: what is certain of the unfinished ends of all logs."""
        files = list(self._logs)
        feeds: list[Feed] = [*files, self._pipe] if self._pipe is not None else [*files]
        gains = [gain for feed in feeds if (gain := feed.finish()) is not None]
        for file in files:
            if file.source is None and file.size:
                self._logs.refuse(file)
        return Slice(gains, [], False, *self._logs.progress())

    # --- looking -----------------------------------------------------------------------------

    def _sweep(self, seconds: float) -> list[Source]:
        """Find what appeared, grew or went; sources that are gone are returned."""
        now, used = self._clock(), time.thread_time()
        hints = self._watcher.take()
        self._watcher.rest()
        round_ = now >= self._due
        for folder in hints.grew:
            self._line_up(self._logs.grew(folder))
        gone: list[Source] = []
        if round_ or self._unseen or hints.named:
            look = self._discovery.look(seconds, round_, hints.named)
            self._unseen = look.more
            if look.found:
                self._due_watch = now
            gone = self._logs.lose(look.lost)
            self._line_up(self._logs.begin(look.found))
        if round_:
            self._line_up(self._logs.sweep())
            busy, took = time.thread_time() - used, self._clock() - now
            pause = 0.0 if self._unseen else max(busy * SHARE, took * PATIENCE)
            self._due = now + max(SWEEP_S, pause)
        if self._watches and now >= self._due_watch:
            self._watch(now)
        return gone

    def _line_up(self, feeds: Iterable[FileFeed]) -> None:
        for feed in feeds:
            self._ready.push(feed)

    # --- waiting -----------------------------------------------------------------------------

    def wait(self, timeout: float) -> bool:
        """Wait for an event, a byte in the pipe, the next sweep or `timeout` seconds.

        True when something happened. The first call starts watching.
        """
        if not self._watches:
            self._watches = True
            self._watch(self._clock())
        handles = [self._wakeup.handle]
        if self._pipe is not None and self._pipe.pipe.handle is not None:
            handles.append(self._pipe.pipe.handle)
        seconds = max(0.0, min(timeout, self._due - self._clock()))
        ready = select.select(handles, [], [], seconds)[0]
        if self._wakeup.handle in ready:
            if len(ready) == 1:  # a pipe holds little: it is emptied at once
                time.sleep(max(0.0, min(GATHER_S - (self._clock() - self._polled), timeout)))
            self._wakeup.clear()
        return bool(ready)

    def wake(self) -> None:
        """End a wait; may be called from any thread."""
        self._wakeup.wake()

    def _watch(self, now: float) -> None:
        """Watch where something happened last: the roots, the folders of logs, those above them."""
        self._due_watch = now + WATCH_AGAIN_S
        folders = self._logs.folders()
        wanted = dict.fromkeys(root for root in self._discovery.roots if os.path.isdir(root))
        wanted.update(folders)
        wanted.update(dict.fromkeys(map(os.path.dirname, folders)))
        self._watcher.keep(wanted)

    @property
    def watching(self) -> str:
        """What wakes the reader, in words, and what it cannot watch; any thread may ask."""
        return "; ".join(each for each in (self._watcher.words, self._watcher.trouble) if each)

    @property
    def problems(self) -> list[str]:
        """What could not be looked at, in words."""
        told = [f"{path} {what}" for path, what in self._discovery.problems.items()]
        told += self._logs.problems()
        return told + ([self._watcher.trouble] if self._watcher.trouble else [])

    def close(self) -> None:
        """End the threads and close what is open."""
        if self.closed:
            return
        self.closed = True
        self._watcher.close()
        for feed in self._logs:
            feed.close()
        if self._pipe is not None:
            self._pipe.close()
        self._wakeup.close()
