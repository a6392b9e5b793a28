"""Files without permission: root, as which tests may run, could open them all the same."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest


def deny_opening(closed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody open a file, not even root."""
    opens = os.open

    def refusing(path: str, *how: int) -> int:
        if path == str(closed):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return opens(path, *how)

    monkeypatch.setattr(os, "open", refusing)
