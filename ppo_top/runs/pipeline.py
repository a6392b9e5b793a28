"""The one loop of all who read logs: poll, apply, judge, free memory, read again.

Points of runs that nobody looks at are dropped; logs of those that are needed are read again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable
from typing import Protocol

from ppo_top.files.follower import Follower
from ppo_top.files.update import PollResult
from ppo_top.runs.session import Session

MAX_POLL_POINTS, MAX_POLL_S = 200_000, 1.0
"""Limits of one poll, in points and seconds."""

FREE_INTERVAL_S = 0.2
"""How often memory is freed while judging."""


class Reader(Protocol):
    """Reads logs again: a follower, or the thread that owns one."""

    def reread(self, keys: Iterable[str]) -> None:
        """Read these sources again from their beginning."""


class Pipeline:
    """Takes what a reader has read through a session, step by step."""

    def __init__(self, session: Session, reader: Reader | None) -> None:
        self.session = session
        self._reader = reader
        self._freed_at = 0.0
        self.reads_again = False
        """Whether the last step had logs read again."""

    def step(
        self,
        polled: PollResult | None = None,
        budget: float | None = None,
        first: str | None = None,
        in_view: Collection[str] = (),
    ) -> bool:
        """Apply what was read and judge for about `budget` seconds, the run `first` before others.

        Runs `in_view` (ids) keep their points. True if nothing is left to judge for now.
        """
        self.reads_again = False
        if polled is not None:
            self.session.apply(polled)
        done = self.session.judge(budget, first)
        if done or time.monotonic() - self._freed_at > FREE_INTERVAL_S:
            self.free_memory(in_view)
        return done

    def free_memory(self, in_view: Collection[str] = ()) -> None:
        """Free memory, and have read again what is needed."""
        self._freed_at = time.monotonic()
        self.session.free_memory(in_view)
        keys = self.session.sources_to_reread(in_view)
        if keys and self._reader is not None:
            self.reads_again = True
            self._reader.reread(keys)


def read_to_end(
    follower: Follower,
    session: Session,
    after_step: Callable[[PollResult], None] = lambda _polled: None,
    seconds: float = math.inf,
    in_view: Collection[str] = (),
) -> PollResult:
    """Read and judge what the logs hold now, for about some seconds; returns the last poll."""
    pipeline, end = Pipeline(session, follower), time.perf_counter() + seconds
    while True:
        polled = follower.poll(MAX_POLL_POINTS, min(MAX_POLL_S, end - time.perf_counter()))
        left = None if seconds == math.inf else end - time.perf_counter()
        pipeline.step(polled, left, in_view=in_view)
        after_step(polled)
        if time.perf_counter() > end or not (polled.more or pipeline.reads_again):
            return polled
