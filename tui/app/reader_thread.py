"""The reader thread: polls the follower and passes the results on, one at a time.

Only immutable results cross over to the app's thread, which alone owns the session. The reader
waits until results are handled, so a fast log never piles up in memory.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ppo_top.files.follower import Follower
from ppo_top.files.update import PollResult
from ppo_top.runs.run import Run
from ppo_top.support import internal_errors
from ppo_top.tui.app.nothing_found import why_nothing
from ppo_top.tui.state.snapshot import LoadingProgress

POLL_MAX_POINTS, POLL_BUDGET_S = 50_000, 0.04
"""Points and seconds of one poll: the app applies the result in well below 0.1 s."""

PAUSE_AFTER_KEY_S = 0.08
"""How long reading pauses after a key."""

READING = "reading the logs"
"""What failed, in the words of an error report."""

MAX_WAIT_S = 30.0
"""The longest wait for an event; the follower's own sweep usually ends it sooner."""


class ReaderThread:
    """Reads in its own thread and calls `on_poll` there with each result that has something new.

    With `finish_at_end` (a replay) it also parses unfinished last lines, then waits for `reread`.
    """

    def __init__(
        self,
        follower: Follower,
        on_poll: Callable[[PollResult], None],
        finish_at_end: bool = False,
        paths: Sequence[Path] = (),
    ) -> None:
        self.follower = follower
        self._paths = paths
        self.has_runs = False
        """Set by the app: while there is a run, nobody asks why there is none."""
        self.why_nothing: tuple[str, ...] = ()
        """Why there is no run: of the paths and of files that cannot be read."""
        self.unread: tuple[str, ...] = ()
        """The logs and folders that cannot be read, a line each."""
        self._finish_at_end = finish_at_end
        self._on_poll = on_poll
        self._stop = threading.Event()
        self._free_slots = threading.Semaphore(2)
        self._focus_keys: frozenset[str] | None = None
        self._reread_requests: deque[frozenset[str]] = deque()
        self._reread_wanted = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ppo-top-reader", daemon=True)
        self._paused_until = 0.0
        self.error = ""
        """Why reading ended for good, for the screen."""

    def start(self) -> None:
        """Start reading."""
        self._thread.start()

    def poll_handled(self) -> None:
        """A result was applied: the next one may come."""
        self._free_slots.release()

    def focus(self, keys: Iterable[str]) -> None:
        """Read these sources first from now on."""
        self._focus_keys = frozenset(keys)

    def reread(self, keys: Iterable[str]) -> None:
        """Reread these sources from their beginning."""
        self._reread_requests.append(frozenset(keys))
        self._reread_wanted.set()
        self.follower.wake()

    def pause_briefly(self) -> None:
        """Leave the interpreter to the app while it handles a key."""
        self._paused_until = time.monotonic() + PAUSE_AFTER_KEY_S

    def stop(self, timeout: float = 2.0) -> None:
        """Stop reading, wait for the thread and close the follower."""
        self._stop.set()
        self._reread_wanted.set()
        self._free_slots.release()
        self.follower.wake()
        if self._thread.is_alive():
            self._thread.join(timeout)
        if not self._thread.is_alive():
            self.follower.close()

    def _run(self) -> None:
        try:
            self._read_loop()
        except Exception as error:  # noqa: BLE001 (shown on the screen: it must not end the program)
            self.error = internal_errors.report_internal_error(READING, error)
            self._on_poll(PollResult([], [], False, 0, 0))

    def _read_loop(self) -> None:
        before: tuple[object, ...] = ()
        while not self._stop.is_set():
            if self._focus_keys is not None:
                self.follower.focus(self._focus_keys)
                self._focus_keys = None
            while self._reread_requests:
                self.follower.reread(self._reread_requests.popleft())
            pause = self._paused_until - time.monotonic()
            if pause > 0:
                self._stop.wait(pause)
            result = self.follower.poll(POLL_MAX_POINTS, POLL_BUDGET_S)
            if not result.more:
                has_runs = self.has_runs
                self.why_nothing = () if has_runs else why_nothing(self._paths, self.follower)
                self.unread = tuple(self.follower.unread)
            said = (self.why_nothing, self.unread)
            state = (result.read_bytes, result.total_bytes, result.more, said)
            if result.updates or result.removed or state != before:
                self._free_slots.acquire()
                if self._stop.is_set():
                    return
                self._on_poll(result)
            before = state
            if not result.more and self._finish_at_end:
                self._on_poll(self.follower.finish())
                self._reread_wanted.wait()  # until evicted points are needed again
                self._reread_wanted.clear()
            elif not result.more:
                self.follower.wait(MAX_WAIT_S)


def loading_progress(result: PollResult, runs: Iterable[Run]) -> LoadingProgress:
    """How much of the logs was read, and how many of the runs found are judged."""
    return LoadingProgress(result.read_bytes, result.total_bytes).with_verdicts(runs)
