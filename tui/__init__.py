"""The screen: the only place where Textual, Rich and plotext are known.

`ppo_top.tui.app.start.run` shows the screen until the user quits and gives the exit code. This
module itself loads nothing of Textual, so that a command line is parsed before it is needed.
"""

from __future__ import annotations

from typing import NamedTuple


class Replay(NamedTuple):
    """Show a finished log as it came: `speed` times its own clock, from a step or a share on.

    `start` is None, a step (`14336` or `14,336`) or a percentage of the updates (`50%`).
    `run` names the run to begin with; else it is one that was healthy before it turned red.
    """

    speed: float = 60.0
    start: str | None = None
    paused: bool = False
    run: str = ""
