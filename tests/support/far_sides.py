"""The far side's script and a mirror in one process, joined by nothing but bytes."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from ppo_top.remote.address import RemotePath
from ppo_top.remote.far_side.frames import MARKER
from ppo_top.remote.far_side.main import FarSide
from ppo_top.remote.mirror import Mirror
from ppo_top.remote.protocol import Frame, FrameReader, Request


def python_of_a_slow_clock(folder: Path) -> str:
    """A program to be named by `--remote-python`: its clock is a hundred seconds behind."""
    program = folder / "slow-python"
    program.write_text(
        f"#!/bin/sh\nshift 2\nexec {sys.executable} -u -c "
        '"import time; now = time.time; time.time = lambda: now() - 100; $1"\n'
    )
    program.chmod(0o755)
    return str(program)


class JoinedSides:
    """A far side that looks at folders, and the mirror of them.

    `frames` are those of the last look.
    """

    def __init__(
        self, folders: Sequence[Path], space: int = 1 << 30, most_files: int = 1000
    ) -> None:
        remote = [RemotePath("node", "", str(folder)) for folder in folders]
        self.mirror = Mirror(remote, space, most_files)
        self.frames: list[Frame] = []
        self._limits = space, most_files
        self.connect()

    def connect(self) -> None:
        """Begin a connection: a new far side, which is told what is here."""
        self._out = BytesIO()
        request = Request(self.mirror.roots, *self._limits, have=self.mirror.have())
        self.far = FarSide(json.loads(request.encode()), self._out)
        self._reader = FrameReader(len(self.mirror.roots))
        list(self._reader.feed(MARKER))

    def sweep(self) -> None:
        """Look at everything and bring it over."""
        self.far.sweep()
        self.bring_over()

    def bring_over(self, most: int = 1 << 62) -> None:
        """Bring over what the far side has written, or the first bytes of it."""
        data = self._out.getvalue()[:most]
        self._out.seek(0)
        self._out.truncate()
        self.frames = list(self._reader.feed(data))
        for frame in self.frames:
            self.mirror.apply(frame)

    def copies(self, root: int = 0) -> dict[str, bytes]:
        """path below a root -> bytes, of all copies."""
        folder = self.mirror.paths[root]
        if folder.is_file():
            return {"": folder.read_bytes()}
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in files}
