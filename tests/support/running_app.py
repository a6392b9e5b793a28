"""The app as tests run it: over some logs, what is on its screen, and waiting for that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot

from ppo_top.files.follower import Follower
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.support.acknowledgements import Acknowledgements
from ppo_top.tui.app.app import PpoTop
from ppo_top.tui.draw.overlays import draw_screen
from ppo_top.tui.graphics.styled_text import plain_text
from ppo_top.tui.state.ui_state import WAITING_TEXT, UiState
from ppo_top.views.run_view import RunView


def app_over(path: Path) -> PpoTop:
    """The app over a path, as `ppo-top PATH` starts it."""
    ui = UiState(
        session=Session(Settings()),
        acknowledgements=Acknowledgements(),
        paths=(path,),
        waiting_text=WAITING_TEXT.format(watched=path.name),
    )
    return PpoTop(ui, Follower([path]))


def app_on(follower: Follower, tmp_path: Path) -> PpoTop:
    """The app on a follower, with acknowledgements of its own."""
    ui = UiState(session=Session(Settings()), acknowledgements=Acknowledgements([tmp_path]))
    return PpoTop(ui, follower)


def screen(app: PpoTop) -> str:
    """What is on the canvas, line by line."""
    return "\n".join(plain_text(line) for line in app.drawing.canvas._rows)


def drawn_now(app: PpoTop) -> str:
    """What would be on the canvas if it were drawn now."""
    size = app.drawing.canvas.size
    lines = draw_screen(app.ui_state, size.width, size.height).lines
    return "\n".join(map(plain_text, lines))


async def until(holds: Callable[[], object]) -> None:
    """Let the app work until something holds; the test's own limit ends a vain wait."""
    while not holds():
        await asyncio.sleep(0.01)


async def until_run(
    pilot: Pilot[int], app: PpoTop, holds: Callable[[RunView], bool], seconds: float = 30.0
) -> RunView:
    """Wait until the chosen run looks as asked; the app goes on by itself meanwhile."""
    async with asyncio.timeout(seconds):
        while True:
            view = app.ui_state.view()
            if view is not None and holds(view):
                return view
            await pilot.pause(0.02)
