"""How a process ended, by the last line of a traceback."""

from __future__ import annotations

from ppo_top.model import RunEnd, State
from ppo_top.text.stopped_process import why_stopped


def end_of_traceback(error: str) -> RunEnd:
    """The end of a run, by the line that names the exception which ended it."""
    stopped = why_stopped(error)
    return RunEnd(State.ENDED, stopped) if stopped else RunEnd(State.DIED, error)
