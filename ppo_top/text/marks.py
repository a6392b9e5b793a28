"""The symbol of each status, which is never shown by colour alone."""

from __future__ import annotations

from ppo_top.model import Status

MARKS = {
    Status.OK: "✓",
    Status.INFO: "i",
    Status.WATCH: "▲",
    Status.WARN: "▲",
    Status.CRIT: "✗",
    Status.WARMING_UP: "·",
    Status.MISSING: "–",
}
COLOURLESS_MARKS = {**MARKS, Status.WATCH: "△"}
"""Where the same mark is not amber once and orange once."""
ASCII_MARKS = {
    Status.OK: "+",
    Status.INFO: "i",
    Status.WATCH: "w",
    Status.WARN: "!",
    Status.CRIT: "X",
    Status.WARMING_UP: ".",
    Status.MISSING: "-",
}
