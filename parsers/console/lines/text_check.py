"""Tells consoles from other files by their bytes, and damaged lines from whole ones."""

from __future__ import annotations

import re

from ppo_top.text.lazy_pattern import lazy_pattern

_EXCLUDED_FILE_NAMES = lazy_pattern(r"^debug|requirements", re.IGNORECASE)
_SWANLAB_POINTS_START = b'{"index":'
"""Start of the point files of a SwanLab store, which are named .log."""
_CONTROL_BYTES = bytes([*range(7), *range(0x0E, 0x1B)])
"""Bytes that no terminal output has: of another kind of file, or of damage."""
_CONTROL = lazy_pattern(b"[" + re.escape(_CONTROL_BYTES) + b"]")
_MOST_CONTROL_SHARE = 0.02
_MOST_UNDECODED_SHARE = 0.1
_SMALLEST_HOLE_BYTES = 512


def _is_text(head: bytes) -> bool | None:
    """Whether bytes are text, but for some damage; None if there is nothing but zeros yet.

    A log that was truncated while it was written begins with zeros.
    """
    rest = head.lstrip(b"\0")
    if not rest:
        return None
    control = len(rest) - len(rest.translate(None, _CONTROL_BYTES))
    if control == 0 or _begins_with_lines(rest):
        return True
    lost = rest.decode("utf-8", "replace").count("\ufffd")
    allowed = max(1.0, _MOST_CONTROL_SHARE * len(rest))
    return control <= allowed and lost <= 1 + _MOST_UNDECODED_SHARE * len(rest)


def _begins_with_lines(head: bytes) -> bool:
    """Whether whole lines of text stand before the first control byte, whatever follows."""
    lines = intact_start(head).rpartition(b"\n")[0]
    return b"\n" in lines and "\ufffd" not in lines.decode("utf-8", "replace")


def claims(name: str, head: bytes) -> bool | None:
    """Whether a file with a log's name holds text."""
    if _EXCLUDED_FILE_NAMES.match(name):
        return False
    if not head:
        return None
    return False if head.startswith(_SWANLAB_POINTS_START) else _is_text(head)


def is_damaged(line: bytes, offset: int) -> bool:
    """Whether a line has control bytes; zeros before it may be a hole in the file."""
    rest = line.lstrip(b"\0")
    if offset == 0 or len(line) - len(rest) >= _SMALLEST_HOLE_BYTES:
        line = rest
    return len(line.translate(None, _CONTROL_BYTES)) < len(line)


def intact_start(line: bytes) -> bytes:
    """What stands before the first control byte."""
    damage = _CONTROL.search(line)
    return line if damage is None else line[: damage.start()]
