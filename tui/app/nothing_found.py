"""Why the screen has no run to show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ppo_top.files.follower import Follower
from ppo_top.files.mirrors import shown_path
from ppo_top.paths import unreachable_reason

MAX_REASONS = 5
"""Most reasons that are told."""


def why_nothing(paths: Sequence[Path], follower: Follower) -> tuple[str, ...]:
    """Paths that are not there or may not be read, then files that cannot; a line for each.

    For the reader thread: a file system that does not answer holds up whoever asks.
    """
    reasons = ((path, unreachable_reason(path)) for path in paths)
    missing = [f"{shown_path(path)}: {why}; waiting for it" for path, why in reasons if why]
    return (*missing, *follower.problems)


def first_reasons(reasons: Sequence[str]) -> list[str]:
    """The first of some reasons, and how many there are besides."""
    if len(reasons) <= MAX_REASONS:
        return list(reasons)
    return [*reasons[:MAX_REASONS], f"and {len(reasons) - MAX_REASONS:,} more"]
