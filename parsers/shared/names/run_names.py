"""Names of the trainings that a file holds, as they can stand in a path."""

from __future__ import annotations

from ppo_top.text.lazy_pattern import lazy_pattern

_UNFIT = lazy_pattern(r"[^\w.+-]+")
_MAX_NAME_CHARS = 60


def plain_run_name(text: str) -> str:
    """What a training is called in its file, without what has no place in a path."""
    return _UNFIT.sub("_", text)[:_MAX_NAME_CHARS]
