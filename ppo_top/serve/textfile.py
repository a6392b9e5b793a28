"""The file that node_exporter's textfile collector reads: always whole, gone when we are gone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

WRITE_INTERVAL_S = 15.0
"""The file is not written more often: Prometheus hardly ever scrapes more often."""

KEEP_ALIVE_S = 60.0
"""An unchanged file is written again after so long: its age shows that somebody writes it."""


class TextFile:
    """A file that is replaced by a newer one now and then; errors are `OSError`."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.path = path
        self._clock = clock
        self._written_at = float("-inf")
        self._text = b""

    @property
    def is_due(self) -> bool:
        """Whether it may be written again."""
        return self._clock() - self._written_at >= WRITE_INTERVAL_S

    def write(self, text: bytes) -> None:
        """Replace it, if there is something new or to show that its writer lives."""
        if text == self._text and self._clock() - self._written_at < KEEP_ALIVE_S:
            return
        # node_exporter reads names that end in .prom only
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            part.write_bytes(text)
            part.chmod(0o644)  # it runs as another user
            part.replace(self.path)
        finally:
            part.unlink(missing_ok=True)
        self._written_at, self._text = self._clock(), text

    def remove(self) -> None:
        """Remove it: node_exporter would serve the last values for ever."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
