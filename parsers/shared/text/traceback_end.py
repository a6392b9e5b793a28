"""How a process ended, by the last line of a traceback."""

from __future__ import annotations

from ppo_top.model import RunEnd, State

_STOPPED_BY_HAND = "KeyboardInterrupt"


def end_of_traceback(error: str) -> RunEnd:
    """The end of a run, by the line that names the exception which ended it."""
    if error.startswith(_STOPPED_BY_HAND):
        return RunEnd(State.ENDED, "stopped by hand (KeyboardInterrupt)")
    return RunEnd(State.DIED, error)
