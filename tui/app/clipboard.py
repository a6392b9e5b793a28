"""Puts a text into the terminal's clipboard, also from afar: the sequence OSC 52."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping

MAX_BYTES = 56_000
"""What many terminals take at once: 74,994 characters in base64."""


def copy_sequence(text: str, environment: Mapping[str, str]) -> str:
    """What to write to the terminal; ValueError if the text is longer than `MAX_BYTES`.

    tmux takes the sequence itself with `set-clipboard on`, or passes on with `allow-passthrough on`
    what is wrapped for it, each escape doubled; it ignores the other one.
    """
    data = text.encode()
    if len(data) > MAX_BYTES:
        raise ValueError(f"more than {MAX_BYTES:,} bytes")
    sequence = f"\x1b]52;c;{b64encode(data).decode()}\x07"
    if not environment.get("TMUX"):
        return sequence
    escaped = sequence.replace("\x1b", "\x1b\x1b")
    return f"{sequence}\x1bPtmux;{escaped}\x1b\\"
