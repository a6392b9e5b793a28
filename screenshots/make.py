"""Makes all pictures of this folder from the shipped logs: `python screenshots/make.py`.

Needs `rsvg-convert` for the PNG files and Pillow for the animation; else only SVGs are made.
The clock of each picture is that of its log, so that the same logs give the same pictures.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ppo_top.files.follower import Follower
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.support.acknowledgements import Acknowledgements
from ppo_top.tui import Replay
from ppo_top.tui.draw.overlays import draw_screen
from ppo_top.tui.graphics.theme import THEMES
from ppo_top.tui.state.actions import Actions
from ppo_top.tui.state.ui_state import UiState
from screenshots.svg import svg

HERE = Path(__file__).parent

LOGS = HERE.parent / "demo_logs"

PICTURES: dict[str, tuple[str, tuple[int, int], tuple[str, ...], str]] = {
    "sick": ("sb3_cartpole_lr3e-2", (140, 40), ("toggle_runs",), "dark-paper"),
    "healthy": ("sb3_cartpole", (140, 40), ("toggle_runs",), "dark-paper"),
    "runs": ("", (140, 40), (), "dark-paper"),
    "table": ("", (100, 16), ("switch_focus",), "dark-paper"),
    "grpo": ("trl_grpo_lr1e-1", (120, 36), (), "dark-paper"),
    "findings": ("sb3_cartpole_lr3e-2", (120, 40), ("findings",), "dark-paper"),
    "zoom": ("sb3_cartpole_lr3e-2", (120, 34), ("down", "down", "zoom"), "dark-paper"),
    "compare": ("", (120, 36), ("compare",), "dark-paper"),
    "replay": ("sb3_cartpole_lr3e-2", (120, 34), ("first", "next_finding"), "dark-paper"),
    "side-pane": ("sb3_cartpole_lr3e-2", (40, 15), (), "dark-paper"),
    "light": ("torch_cartpole_lr", (120, 36), (), "light-paper"),
}
"""name -> log, size, actions done first, theme."""


def ui_state_of(log: str) -> UiState:
    """A UI state over a shipped log, at the time of its last value."""
    session = Session(Settings())
    follower = Follower([LOGS / log])
    while True:
        result = follower.poll()
        session.apply(result)
        if not result.more:
            break
    session.apply(follower.finish())
    follower.close()
    session.assign_pending_logs()
    session.judge()
    newest = 0.0
    for run in session.runs.values():
        times = [when for when in run.timeline.times if when > 1e9]
        for source in run.sources.values():
            source.mtime = max(times, default=0.0)
        newest = max(newest, *times, 0.0)
    ui = UiState(
        session=session,
        acknowledgements=Acknowledgements(),
        watched_paths=f"demo_logs/{log}" if log else "demo_logs",
        clock=lambda: newest + 1,
    )
    ui.choose_default_run()
    return ui


def make(name: str) -> None:
    """One picture."""
    log, size, actions, theme = PICTURES[name]
    ui = ui_state_of(log)
    act = Actions(ui)
    if not log:
        ui.choose_run(next(run.id for run in ui.session.runs.values() if "lr3e-2" in run.name))
    draw_screen(ui, *size)
    for action in actions:
        getattr(act, f"do_{action}")()
    ui.toast = ""
    block = draw_screen(ui, *size)
    path = HERE / f"{name}.svg"
    path.write_text(svg(block.lines, THEMES[theme], f"ppo-top: {name}"), encoding="utf-8")
    if shutil.which("rsvg-convert"):
        _png(path, path.with_suffix(".png"))
    print(path.name)


def _png(source: Path, target: Path) -> None:
    subprocess.run(["rsvg-convert", str(source), "-o", str(target)], check=True)


def animate(name: str = "replay") -> None:
    """A replay of the sick run as an animated GIF."""
    try:
        from PIL import Image
    except ImportError:
        return
    if not shutil.which("rsvg-convert"):
        return
    ui = ui_state_of("sb3_cartpole_lr3e-2")
    ui.replay = Replay()
    ui.start_replay()
    ui.cursor.speed = 10
    run = ui.run
    frames = []
    with tempfile.TemporaryDirectory() as folder:
        for row in range(len(run.timeline) if run is not None else 0):
            ui.cursor.row = row
            lines = draw_screen(ui, 100, 30).lines
            file = Path(folder) / f"{row:03}.svg"
            file.write_text(svg(lines, THEMES["dark-paper"], name), encoding="utf-8")
            _png(file, file.with_suffix(".png"))
            with Image.open(file.with_suffix(".png")) as image:
                frames.append(image.convert("P", palette=Image.Palette.ADAPTIVE, colors=32))
    times = [350] * (len(frames) - 1) + [3000]
    animation: dict[str, Any] = {"append_images": frames[1:], "duration": times, "loop": 0}
    frames[0].save(HERE / f"{name}.gif", optimize=True, save_all=True, **animation)
    print(f"{name}.gif")


def main() -> None:
    """Make all pictures, or the named ones."""
    os.environ["TZ"] = "UTC"
    time.tzset()
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp()
    wanted = sys.argv[1:] or [*PICTURES, "animation"]
    for name in wanted:
        if name == "animation":
            animate()
        else:
            make(name)


if __name__ == "__main__":
    main()
