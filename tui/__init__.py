"""The terminal UI: the only package that imports Textual, Rich and plotext.

`ppo_top.tui.app.start.run` shows the screen until the user quits and returns the exit code. This
module does not import Textual, so that parsing a command line stays fast.
"""

from __future__ import annotations

from ppo_top.model.named_tuple import NamedTuple


class Replay(NamedTuple):
    """Options of a replay: `speed` times real time (None: half a minute in all), from `start` on.

    `start` is None, a step (`14336` or `14,336`) or a percentage of the updates (`50%`).
    `run` names the first run; by default one that was healthy before it became critical.
    `one_by_one` plays the runs one after the other, the others shown at their end, under a `title`
    instead of the path.
    """

    speed: float | None = None
    start: str | None = None
    paused: bool = False
    run: str = ""
    one_by_one: bool = False
    title: str = ""
