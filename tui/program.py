"""The app: keys and mouse in, pictures out; one thread reads, this one owns all that is shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from textual import events
from textual.app import App, SystemCommand
from textual.screen import Screen
from textual.timer import Timer

from ppo_top.follow import Follower, Slice
from ppo_top.model import Severity
from ppo_top.tui import mishap
from ppo_top.tui.actions import Actions
from ppo_top.tui.canvas import Canvas
from ppo_top.tui.desk import Desk
from ppo_top.tui.frame import Block, Hit, Loading
from ppo_top.tui.front import Arrived, Front, Pressed
from ppo_top.tui.keys import BY_KEY, KEYS
from ppo_top.tui.layers import picture
from ppo_top.tui.notify import Notifier
from ppo_top.tui.playback import Playback
from ppo_top.tui.pump import Pump
from ppo_top.tui.signals import attend
from ppo_top.tui.theme import ORDER, THEMES, choose
from ppo_top.tui.typing import Held
from ppo_top.words import clean

JUDGE_S = 0.02
"""The longest stretch of judging between two chances for a key."""

SHARE = 8
"""Drawing what comes in takes at most one part in so many of the time."""

DRAW_S = 0.1
"""Pictures of new data follow each other no faster; keys are answered at once."""

LOOK_AGAIN_S = 5.0
"""How often states are looked at when nothing comes: a stall is a silence."""

TOAST_S = 6.0

YOUNG_S = 3.0
"""So long after the start the newest live run is chosen; later the choice is the user's."""


class PpoTop(App[int]):
    """The screen of `ppo-top`."""

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
        self.actions = Actions(desk)
        self.palette_name = choose(theme).name
        self.canvas = Canvas(THEMES[self.palette_name])
        self.notifier = notifier(self._write)
        once = desk.replay is not None
        self.pump = Pump(follower, self._arrived, once) if follower is not None else None
        self._hits: list[Hit] = []
        self._timer: Timer | None = None
        self._judging = False
        self._loaded = False
        self.held = Held()
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
        self.set_interval(LOOK_AGAIN_S, self._look_again)
        attend(self, self.canvas.refresh)
        self.canvas.focus()

    def on_unmount(self) -> None:
        """Stop reading and give the title back."""
        self.notifier.restore()
        if self.pump is not None:
            self.pump.stop()

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
        desk.loading = Loading(piece.read_bytes, piece.total_bytes) if show else None
        if self.pump is not None:
            self.pump.taken()
            if self.pump.error is not None:
                desk.toast = f"reading stopped: {self.pump.error!r}"
        if not piece.more:
            self._loaded = True
            if desk.replay is not None:
                desk.session.settle()
        self._judge()

    def _judge(self) -> None:
        """Judge a stretch; go on after keys had their turn."""
        desk = self.desk
        done = desk.session.judge(JUDGE_S, first=desk.chosen or None)
        young = not desk.chosen or time.monotonic() - self._began < YOUNG_S
        settled = desk.picked or (self._loaded and self.notifier_ready and not young)
        if not settled or desk.chosen not in desk.session.runs:
            desk.settle_choice()
        if done and self._loaded:
            self._settled()
        self._soon(self._pause if desk.chosen == self._drawn else 0.0)
        if not done and not self._judging:
            self._judging = True
            self.set_timer(0.001, self._judge_on)

    def _judge_on(self) -> None:
        self._judging = False
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
        self.notifier.title(self.actions.summary())

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
            self._timer = self.set_timer(delay or 0.001, self.draw)

    def draw(self) -> None:
        """Draw what is there now; only what changed is repainted."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        size = self.canvas.size
        if not size.width or not size.height:
            return
        if self._loaded and self.notifier_ready:
            self._begin_replay()
        begin = time.thread_time()
        block = self._picture(size.width, size.height)
        self._hits = block.hits
        self.canvas.show(block.lines)
        self._pause = min(1.0, max(DRAW_S, SHARE * (time.thread_time() - begin)))
        if self.desk.chosen != self._drawn:
            self._drawn = self.desk.chosen
            if self.pump is not None and self.desk.run is not None:
                self.pump.focus(self.desk.run.sources)  # what is looked at is read first

    def _picture(self, cells: int, rows: int) -> Block:
        try:
            return picture(self.desk, cells, rows)
        except Exception as error:  # noqa: BLE001 (a fault in one picture must not end the watch)
            kept = self.desk.memory.path
            words = mishap.keep(error, kept.parent if kept is not None else None)
            return mishap.picture_of(words, cells, rows)

    def _begin_replay(self) -> None:
        """Set the cursor of a run that is chosen for the first time to where its replay begins."""
        desk = self.desk
        if desk.replay is not None and desk.run is not None and not desk.player.replay:
            desk.begin_replay()
            self.playback.go()

    def on_resize(self, event: events.Resize) -> None:
        """Draw for the new size."""
        self.call_after_refresh(self.draw)

    def toast(self, text: str) -> None:
        """Show a word in the footer for a while."""
        self.desk.toast = text
        self._toasted = time.monotonic()

    # --- keys ------------------------------------------------------------------------------------

    def on_pressed(self, message: Pressed) -> None:
        """Do what the key table says, or type."""
        if self.desk.typing is not None:
            if not self.desk.typing.press(message.key, message.character):
                self.desk.typing = None
        else:
            key = BY_KEY.get(message.key)
            if key is not None:
                self.desk.toast = ""
                self.do(key.action, self.held.times(message.key))
        self.draw()

    def do(self, action: str, times: int = 1) -> None:
        """Do an action of the key table."""
        before = self.desk.toast
        own = getattr(self, f"do_{action}", None)
        act = own or getattr(self.actions, f"do_{action}")
        if times > 1 and action in ("back", "forward", "left", "right"):
            act(times)
        else:
            act()
        if self.desk.toast != before:
            self.toast(self.desk.toast)
        self.playback.go()

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the line that is being typed."""
        if self.desk.typing is not None:
            self.desk.typing.put(self.desk.typing.text + clean(event.text))
            self.draw()

    def do_quit(self) -> None:
        """Leave."""
        self.exit(0)

    def do_palette(self) -> None:
        """Textual's command palette, with the key table in it."""
        self.action_command_palette()

    def do_theme(self) -> None:
        """The next theme."""
        at = ORDER.index(self.palette_name)
        self.palette_name = ORDER[(at + 1) % len(ORDER)]
        self.canvas.recolour(THEMES[self.palette_name])
        self.toast(f"theme: {self.palette_name}")

    def do_redraw(self) -> None:
        """Look for what is new at once, and paint everything anew."""
        if self.pump is not None:
            self.pump.follower.wake()
        self.canvas.recolour(THEMES[self.palette_name])

    def do_bell(self) -> None:
        """Ring or be silent."""
        self.notifier.bell = not self.notifier.bell
        self.toast("bell " + ("on" if self.notifier.bell else "off"))

    def do_suspend(self) -> None:
        """Into the background, as Ctrl+Z does everywhere."""
        self.action_suspend_process()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The key table as commands."""
        for key in KEYS:
            if key.action != "palette":
                command = partial(self._command, key.action)
                yield SystemCommand(key.text, f"key {key.shown}", command)

    def _command(self, action: str) -> None:
        self.do(action)
        self.draw()

    # --- the mouse -------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """What was clicked on, the smallest region first."""
        found = [
            hit
            for hit in self._hits
            if isinstance(self.screen, Front)
            and hit.x <= event.x < hit.x + hit.width
            and hit.y <= event.y < hit.y + hit.height
        ]
        if not found:
            return
        hit = min(found, key=lambda each: each.width * each.height)
        if hit.what == "key":
            self.do(hit.arg)
        else:
            self.actions.click(hit.what, hit.arg, (event.x - hit.x) / max(hit.width, 1))
        self.draw()

    def on_mouse_scroll_down(self, _event: events.MouseScrollDown) -> None:
        """The line below."""
        self._scroll(self.actions.do_down)

    def on_mouse_scroll_up(self, _event: events.MouseScrollUp) -> None:
        """The line above."""
        self._scroll(self.actions.do_up)

    def _scroll(self, move: Callable[[], None]) -> None:
        if isinstance(self.screen, Front):  # not behind the command palette
            move()
            self._soon(0.02)
