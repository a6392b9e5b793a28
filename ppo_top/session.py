"""All runs: what the follower brought goes in, judged runs come out; one thread owns it."""

from __future__ import annotations

import time
from collections.abc import Iterable

from ppo_top.follow import Gain, Source
from ppo_top.group import Groups
from ppo_top.run import Run
from ppo_top.settings import Settings
from ppo_top.sources import SourceState


class Session:
    """The runs below the watched paths."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.runs: dict[str, Run] = {}
        self._states: dict[str, SourceState] = {}
        self._groups = Groups()
        self._home: dict[str, Run] = {}
