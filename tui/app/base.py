"""The app without its hands: one thread reads, this one judges and owns all that is shown."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.screen import Screen

from ppo_top.files.follower import Follower
from ppo_top.files.update import Slice
from ppo_top.model import Severity
from ppo_top.runs.session import MOST_WAITING
from ppo_top.support import internal_errors as mishap
from ppo_top.tui.app.canvas import Canvas
from ppo_top.tui.app.input_priority import Ear, listen
from ppo_top.tui.app.notifications import Notifier
from ppo_top.tui.app.reader_thread import Pump
from ppo_top.tui.app.screen import Arrived, Front
from ppo_top.tui.app.signals import attend
from ppo_top.tui.draw.error_box import picture_of
from ppo_top.tui.draw.overlays import picture
from ppo_top.tui.graphics.theme import THEMES, choose
from ppo_top.tui.state.autoplay import Playback
from ppo_top.tui.state.snapshot import Block, Hit, Loading
from ppo_top.tui.state.ui_state import Desk

JUDGE_S = 0.006
"""The longest stretch of judging between two chances for a key."""

GIVE_WAY_S = 0.02
"""How much later it is tried again to do what gave way to a key."""

SHARE = 8
"""Drawing what comes in takes at most one part in so many of the time."""

DRAW_S = 0.1
"""Pictures of new data follow each other no faster; keys are answered at once."""

LOOK_AGAIN_S = 5.0
"""How often states are looked at when nothing comes: a stall is a silence."""

TOAST_S = 6.0

TIDY_S = 0.2
"""How often it is seen, while much is judged, what can be let go."""

YOUNG_S = 3.0
"""So long after the start the newest live run is chosen; later the choice is the user's."""


class Show(App[int]):
    """Takes in what is read, judges it in slices and draws what changed."""

    CSS = "Front { overflow: hidden; }"
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        desk: Desk,
        follower: Follower | None,
        notifier: Callable[[Callable[[str], None]], Notifier] = Notifier,
        theme: str | None = None,
    ) -> None:
        super().__init__()
        self.desk = desk
        self.palette_name = choose(theme).name
        self.canvas = Canvas(THEMES[self.palette_name], self.draw)
        self.notifier = notifier(self._write)
        once = desk.replay is not None
        self.pump = Pump(follower, self._arrived, once) if follower is not None else None
        self.hits: list[Hit] = []
        self.ear = Ear()
        self._timer: asyncio.TimerHandle | None = None
        self._judging = False
        self._at_hand: list[str] = []
        self._tidied = 0.0
        self._owed = 0  # slices that were taken in without telling the reader yet
        self._loaded = False
        self.playback = Playback(self)
        self._toasted = 0.0
        self._began = time.monotonic()
        self._pause = DRAW_S
        self._drawn = ""
        self._states: list[object] = []

    # --- life ------------------------------------------------------------------------------------

    def get_default_screen(self) -> Screen[Any]:
        """The front."""
        return Front(self.canvas)

    def on_mount(self) -> None:
        """Begin to read, and to look at the states now and then."""
        if self.pump is not None:
            self.pump.start()
        self.canvas.held = True
        self.call_after_refresh(self.canvas.release)
        self.set_interval(LOOK_AGAIN_S, self._look_again)
        attend(self, self.canvas.refresh)
        listen(self._driver, self.heard)
        self.canvas.focus()

    def on_unmount(self) -> None:
        """Stop reading and give the title back."""
        self.notifier.restore()
        if self.pump is not None:
            self.pump.stop()

    def after(self, delay: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        """Call back after some seconds, when the messages before it have had their turn.

        Textual's own timer for one call (8.2) never calls where its thread is held up at the start
        for longer than the delay: it takes the moment for missed. A reader beside does that.
        """
        return asyncio.get_running_loop().call_later(delay, self.call_next, callback)

    def heard(self) -> None:
        """A key was pressed: reading and judging leave the interpreter to it for a moment."""
        self.ear.hear()
        if self.pump is not None:
            self.pump.rest()

    def _write(self, data: str) -> None:
        driver = self._driver
        if driver is not None and not self.is_headless:
            driver.write(data)

    # --- data ------------------------------------------------------------------------------------

    def _arrived(self, piece: Slice) -> None:
        """Called by the reading thread: hand over, nothing else."""
        self.post_message(Arrived(piece))

    def on_arrived(self, message: Arrived) -> None:
        """Take a slice in and begin to judge it."""
        desk, piece = self.desk, message.piece
        desk.session.apply(piece.gains)
        desk.session.forget(piece.gone)
        left = piece.total_bytes - piece.read_bytes
        show = piece.more and (desk.loading is not None or left > 2_000_000)
        desk.loading = self._progress(piece) if show else None
        desk.session.reading = piece.more
        if self.pump is not None:
            self._owed += 1
            if self.pump.error is not None:
                desk.toast = f"reading stopped: {self.pump.error!r}"
        if not piece.more:
            self._loaded = True
            if desk.replay is not None:
                desk.session.settle()
        self._judge_on()

    def _progress(self, piece: Slice) -> Loading:
        runs = self.desk.session.runs.values()
        judged = sum(run.judged and not run.reading for run in runs)
        return Loading(piece.read_bytes, piece.total_bytes, judged, len(runs))

    def _judge(self) -> None:
        """Judge a stretch; go on after keys had their turn."""
        desk = self.desk
        done = desk.session.judge(JUDGE_S, first=desk.chosen or None)
        young = not desk.chosen or time.monotonic() - self._began < YOUNG_S
        if time.monotonic() - self._tidied > TIDY_S or done:
            self._tidy()
        known = desk.replay is None or (self._loaded and self.notifier_ready)
        settled = desk.picked or (known and not young)
        if not settled or desk.chosen not in desk.session.runs:
            desk.settle_choice()
        if done and self._loaded:
            self._settled()
        self._soon(self._pause if desk.chosen == self._drawn else 0.0)
        if not done:
            self._judge_in(0.001)

    def _judge_in(self, delay: float) -> None:
        if not self._judging:
            self._judging = True
            self.after(delay, self._judge_next)

    def _judge_next(self) -> None:
        self._judging = False
        self._judge_on()

    def _tidy(self) -> None:
        """Let go of what nobody looks at, fetch what somebody does, and let the reader go on."""
        session, looked = self.desk.session, self.desk.at_hand
        self._at_hand, self._tidied = looked, time.monotonic()
        session.slim(looked)
        if self.pump is None:
            return
        keys = session.wanted(looked)
        if keys:
            self.pump.again(keys)
        while self._owed and session.waiting_points < MOST_WAITING:
            self._owed -= 1
            self.pump.taken()

    def _judge_on(self) -> None:
        """Judge, unless a key is to be answered first."""
        if self.ear.gives_way():
            self._judge_in(GIVE_WAY_S)
        else:
            self._judge()

    def _settled(self) -> None:
        """Everything is read and judged: say what turned red, begin a replay."""
        desk = self.desk
        first = not self.notifier_ready
        for run in desk.session.runs.values():
            word = desk.verdict_of(run)
            standing = Severity[word.upper()] if word.upper() in Severity.__members__ else None
            told = self.notifier.changed(run, standing, aloud=not first and desk.replay is None)
            if told:
                self.toast(told)
        self.notifier_ready = True
        self.notifier.title(desk.summary())

    notifier_ready = False

    def _look_again(self) -> None:
        """States depend on the clock; toasts pass."""
        if self.desk.toast and time.monotonic() - self._toasted > TOAST_S:
            self.desk.toast = ""
            self.draw()
        view = self.desk.view()
        now: list[object] = [
            (view.state, view.state_text) if view is not None else None,
            *((known.id, known.state, known.verdict) for known in self.desk.known()),
        ]
        if now != self._states:
            self._states = now
            self.draw()

    # --- drawing ---------------------------------------------------------------------------------

    def _soon(self, delay: float) -> None:
        """Draw after a delay, once for all that happens until then."""
        if self._timer is None:
            self._timer = self.after(delay, self._draw_news)

    def _draw_news(self) -> None:
        """Draw what came in, unless a key is to be answered first."""
        self._timer = None
        if self.ear.hears:
            self._soon(GIVE_WAY_S)
        else:
            self.draw()

    def draw(self, hurry: bool = False) -> None:
        """Draw what is there now; only what changed is repainted.

        In a `hurry`, while a log is being read, that is what was there a moment ago.
        """
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        size = self.canvas.size
        if not size.width or not size.height:
            return
        if self._loaded and self.notifier_ready:
            self._begin_replay()
        begin = time.thread_time()
        self.desk.hurry = hurry
        block = self._picture(size.width, size.height)
        self.desk.hurry = False
        self.hits = block.hits
        self.canvas.show(block.lines)
        self._pause = min(1.0, max(DRAW_S, SHARE * (time.thread_time() - begin)))
        if self.desk.at_hand != self._at_hand:
            self._tidy()
        if self.desk.chosen != self._drawn:
            self._drawn = self.desk.chosen
            if self.pump is not None and self.desk.run is not None:
                self.pump.focus(self.desk.run.sources)  # what is looked at is read first

    def _picture(self, cells: int, rows: int) -> Block:
        if self.pump is not None:
            self.desk.watching = self.pump.follower.watching
        try:
            return picture(self.desk, cells, rows)
        except Exception as error:  # noqa: BLE001 (a fault in one picture must not end the watch)
            words = mishap.note(f"drawing {self.desk.layer or 'the main screen'}", error)
            return picture_of(words, cells, rows)

    def _begin_replay(self) -> None:
        """Set the cursor of a run that is chosen for the first time to where its replay begins."""
        desk = self.desk
        if desk.replay is not None and desk.run is not None and not desk.player.replay:
            desk.begin_replay()
            self.playback.go()

    def toast(self, text: str) -> None:
        """Show a word in the footer for a while."""
        self.desk.toast = text
        self._toasted = time.monotonic()
