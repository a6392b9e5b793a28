"""A log as grouping sees it: where it is, of which kind, and who wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ppo_top.model import SourceFacts
from ppo_top.parsers.file_names import without_compression
from ppo_top.runs.grouping.locations import SINGLE_RUN_FILE, RunLocation, locate_run
from ppo_top.runs.grouping.same_values import is_distinct
from ppo_top.text.lazy_pattern import lazy_pattern

CONSOLE, EVENTS, NOTEBOOK, SETTINGS, TRACKER, MONITORING = (
    "console",
    "tfevents",
    "notebook",
    "settings",
    "tracker",
    "monitoring",
)
"""Kinds of logs that are treated in ways of their own; other kinds are names of formats."""

SYSTEM_TAG = lazy_pattern(r"(?i)gpu|cpu|mem|util|temp|power|disk|net|watt|fan")
"""A tag of a log that watches the machine."""
EVENT_FILE = re.compile(r"tfevents\.(\d+)\.(.+?)(?:\.(\d+)\.\d+)?(?:\.v2)?$")
"""Time, host and process id in the name of an event file; old ones have no id."""


class LogEntry:
    """A log to be grouped. `path` is absolute, `key` the path below its PATH.

    `may_be_one_of_several`: only this file was asked for, and files beside it seem to be of its
    kind, so that it is named as it would be in its folder.
    """

    def __init__(
        self, key: str, path: str, format_: str, facts: SourceFacts, has_siblings: bool = False
    ) -> None:
        self.key = key
        self.path = path
        self.format = format_
        self.facts = facts
        self.may_be_one_of_several = has_siblings and not SINGLE_RUN_FILE.search(self.name)
        self.is_decided = False
        """Whether it has to be put into a run although little is known of it."""
        self._located: tuple[tuple[str, ...], RunLocation] | None = None

    @property
    def location(self) -> RunLocation:
        """Where it belongs by its path; found again only when its tags are others."""
        tags = self.tags_for_location
        if self._located is None or self._located[0] != tags:
            self._located = tags, locate_run(self.path, tags)
        return self._located[1]

    @property
    def tags_for_location(self) -> tuple[str, ...]:
        """The tag of a log with a single one, else nothing: others do not tell where it belongs."""
        return tuple(self.facts.heads) if len(self.facts.heads) == 1 else ()

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def name(self) -> str:
        return without_compression(self.path.rpartition("/")[2])

    @property
    def process(self) -> tuple[str, str]:
        """Host and process id in the name of an event file; empty where it has none."""
        found = EVENT_FILE.search(self.name)
        return (found[2], found[3] or "") if found is not None else ("", "")

    @property
    def kind(self) -> str:
        """What it is compared as."""
        if self.format.startswith("settings"):
            return SETTINGS
        watches = self.format == CONSOLE and _watches_machine(self.facts.heads)
        return MONITORING if watches else self.format


def _watches_machine(tags: Iterable[str]) -> bool:
    """Whether tags are about the machine; clocks and counters may stand beside."""
    distinct = [tag for tag in tags if is_distinct(tag)]
    return bool(distinct) and all(map(SYSTEM_TAG.search, distinct))
