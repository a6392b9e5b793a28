"""Which exceptions say that a process was asked to end: no failure of the training."""

from __future__ import annotations

from ppo_top.text.lazy_pattern import lazy_pattern

_BY_HAND = "KeyboardInterrupt"
_SIGNALS = {"1": "SIGHUP: its terminal closed", "2": "SIGINT", "15": "SIGTERM"}
_SIGNAL_OF_TORCHRUN = lazy_pattern(r"(?:\w+\.)*SignalException: Process \d+ got signal: (\d+)\b")
"""What torch's elastic launcher raises when it is sent a signal."""


def why_stopped(error: str) -> str:
    """`stopped by hand (...)`, by the last line of a traceback; empty if it is of a failure."""
    if error.startswith(_BY_HAND):
        return f"stopped by hand ({_BY_HAND})"
    sent = _SIGNAL_OF_TORCHRUN.match(error)
    name = _SIGNALS.get(sent[1], "") if sent is not None else ""
    return f"stopped by a signal ({name})" if name else ""
