"""The exit codes of the commands that print a verdict; loads nothing."""

from __future__ import annotations

from collections.abc import Sequence

EXIT_OK, EXIT_FINDINGS, EXIT_ERROR = 0, 1, 2
"""No finding at or above the threshold; at least one; could not check, or not all."""


def exit_code(is_bad: bool, unread: Sequence[str]) -> int:
    """What is bad is bad whatever else there is; what is not may be so in a log nobody read."""
    if is_bad:
        return EXIT_FINDINGS
    return EXIT_ERROR if unread else EXIT_OK
