"""Why the screen has no run to show."""

from __future__ import annotations

from ppo_top.files.follower import Follower
from ppo_top.files.mirrors import shown_path
from ppo_top.paths import unreachable_reason
from ppo_top.tui.state.ui_state import UiState

MAX_REASONS = 5
"""Most reasons that are told."""


def why_nothing(ui: UiState, follower: Follower) -> list[str]:
    """Paths that are not there or may not be read, then files that are no logs; a line for each."""
    reasons = ((path, unreachable_reason(path)) for path in ui.paths)
    missing = [f"{shown_path(path)}: {why}; waiting for it" for path, why in reasons if why]
    return [*missing, *follower.problems, *ui.session.passed_over][:MAX_REASONS]
