"""The reading thread: polls the follower and hands over what it brought, one slice at a time.

Nothing but immutable slices crosses over to the thread of the interface, which alone owns the
session. The pump waits until slices were taken, so a fast log never piles up in memory.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable

from ppo_top.files.follower import Follower
from ppo_top.files.update import Slice

LIMIT, BUDGET_S = 50_000, 0.04
"""Points and seconds of one slice: the interface takes it in well below a tenth of a second."""

REST_S = 0.08
"""How long reading pauses after a key."""

WAIT_S = 30.0
"""The longest wait for an event; the follower's own sweep ends it sooner."""


class Pump:
    """Reads in its own thread; `take` is called there with each slice that brought something.

    With `finish` it rests once everything is read, with what unfinished ends still give: a replay.
    """

    def __init__(
        self, follower: Follower, take: Callable[[Slice], None], finish: bool = False
    ) -> None:
        self.follower = follower
        self._finish = finish
        self._take = take
        self._stop = threading.Event()
        self._taken = threading.Semaphore(2)
        self._focus: frozenset[str] | None = None
        self._again: deque[frozenset[str]] = deque()
        self._called = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ppo-top-reader", daemon=True)
        self._rest_until = 0.0
        self.error: BaseException | None = None

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def taken(self) -> None:
        """The interface has taken a slice in: the next one may come."""
        self._taken.release()

    def focus(self, keys: Iterable[str]) -> None:
        """Read these sources first from now on."""
        self._focus = frozenset(keys)

    def again(self, keys: Iterable[str]) -> None:
        """Read these sources once more from their beginning."""
        self._again.append(frozenset(keys))
        self._called.set()
        self.follower.wake()

    def rest(self) -> None:
        """A key is to be answered: leave the interpreter to the interface for a moment."""
        self._rest_until = time.monotonic() + REST_S

    def stop(self, timeout: float = 2.0) -> None:
        """Read no more; waits until the thread is done and closes the follower."""
        self._stop.set()
        self._called.set()
        self._taken.release()
        self.follower.wake()
        if self._thread.is_alive():
            self._thread.join(timeout)
        if not self._thread.is_alive():
            self.follower.close()

    def _run(self) -> None:
        try:
            self._read()
        except Exception as error:  # noqa: BLE001 (told on the screen: it must not end the program)
            self.error = error
            self._take(Slice([], [], False, 0, 0))

    def _read(self) -> None:
        before = (-1, -1, True)
        while not self._stop.is_set():
            if self._focus is not None:
                self.follower.focus(self._focus)
                self._focus = None
            while self._again:
                self.follower.again(self._again.popleft())
            pause = self._rest_until - time.monotonic()
            if pause > 0:
                self._stop.wait(pause)
            piece = self.follower.poll(LIMIT, BUDGET_S)
            state = (piece.read_bytes, piece.total_bytes, piece.more)
            if piece.gains or piece.gone or state != before:
                self._taken.acquire()
                if self._stop.is_set():
                    return
                self._take(piece)
            before = state
            if not piece.more and self._finish:
                self._take(self.follower.finish())
                self._called.wait()  # until points are wanted that were let go
                self._called.clear()
            elif not piece.more:
                self.follower.wait(WAIT_S)
