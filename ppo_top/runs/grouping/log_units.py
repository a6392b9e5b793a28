"""Units: logs that are one run by their paths alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from ppo_top.catalogue import (
    TEXT_FAMILIES,
    UNKNOWN_FAMILY,
    UNKNOWN_TRAINER,
    family_of_metrics,
    identify,
    meaning,
)
from ppo_top.model import Head
from ppo_top.runs.grouping.locations import (
    EVALUATION_NAME,
    TRACKER_RUN_FOLDER,
    RunLocation,
    locate_run,
)
from ppo_top.runs.grouping.log_entry import (
    CONSOLE,
    EVENTS,
    MONITORING,
    NOTEBOOK,
    SETTINGS,
    TRACKER,
    LogEntry,
)
from ppo_top.runs.grouping.same_values import merged_heads, rough_values
from ppo_top.settings.run_patterns import NO_PATTERNS, PatternMatch, RunPatterns
from ppo_top.text.lazy_pattern import lazy_pattern

OF_AN_UPDATE = lazy_pattern(
    r"(?i)(?!.*(?<![a-z])(?:eval|val|validation|test)(?![a-z]))"
    r".*(?:loss|(?<![a-z])kl(?![a-z])|entropy|advantage|(?<![a-z])grad)"
)
"""A tag of what only a training logs: an evaluation of its model tells rewards and shares."""
_CELL = lazy_pattern(r"-cell-(\d+)(?:-(\d+))?$")
"""How the trainings of a notebook are called."""
START_TOLERANCE_S = 1800.0
"""Logs of one training have their first points within this time of each other (seconds)."""
ZONE_TOLERANCE_S = 14.5 * 3600
"""The same where one is a console: its clock may be that of any time zone."""
STREAM_WORD = (
    r"(?i)(?<![a-z])(?:std(?:out|err)|out|err)(?![a-z])|(?<=\.)[oe](?=\d+$)|(?<![a-z])rank[._-]?\d+"
    r"|(?<![a-z])(?:trainer|orchestrator|learner|actor)(?![a-z])"
)
"""What tells the file of standard output from that of standard error, or of another process.

prime-rl keeps trainer.log and orchestrator.log, LeRobot learner_NAME.log and actor_NAME.log.
"""
SHELL_OUTPUT = (
    r"(?i)(?:console|terminal|cout|nohup|out(?:put)?|err(?:or)?s?|std(?:out|err)|slurm-\d+)"
    r"(?:\.(?:txt|log|out|err))?"
)
"""A file's name that says what a command printed, not which run it was."""
EVALUATION_MARK = "|evaluation"


class LogUnit:
    """Logs that are one run whatever they hold; most consoles and tables are units of one."""

    def __init__(
        self, id_: str, location: RunLocation, split_as: frozenset[PatternMatch] = frozenset()
    ) -> None:
        self.id = id_
        self.location = location
        self.logs: list[LogEntry] = []
        self.joined_as: frozenset[PatternMatch] = frozenset()
        self.split_as = split_as
        self.version: list[tuple[str, int]] = []
        """path and version of each log when the unit was made"""

    @property
    def home(self) -> str:
        """The directory of its run."""
        return self.location.directory

    @cached_property
    def heads(self) -> Mapping[str, Head]:
        """The first points of each tag, from the earliest log that has it."""
        return merged_heads(log.facts.heads for log in self.logs)

    @cached_property
    def parts(self) -> Sequence[Mapping[str, Head]]:
        """The first points of each of its logs: a resumed training has several beginnings."""
        return [merged_heads([log.facts.heads]) for log in self.logs]

    @cached_property
    def kinds(self) -> frozenset[str]:
        """What it consists of; a tracker's folder is one kind, whatever is copied into it."""
        if TRACKER_RUN_FOLDER.fullmatch(self.location.unit.rpartition("/")[2]):
            return frozenset((TRACKER,))
        return frozenset(log.kind for log in self.logs)

    @cached_property
    def rough_values(self) -> Sequence[tuple[str, int, int]]:
        """Its first values, to look up equal ones."""
        return list(rough_values(self.heads))

    @cached_property
    def start(self) -> float:
        """The time of the first point (unix seconds); NaN without a clock."""
        starts = [log.facts.start for log in self.logs if log.facts.start == log.facts.start]
        return min(starts, default=float("nan"))

    @cached_property
    def processes(self) -> frozenset[tuple[str, str]]:
        """(host, process id) of its event files, where their names say so."""
        return frozenset(log.process for log in self.logs if log.process[1])

    @cached_property
    def folders(self) -> frozenset[str]:
        """Where its logs are."""
        own = {log.folder for log in self.logs}
        return frozenset({*own, self.home, self.location.unit or self.home})

    @cached_property
    def printed(self) -> tuple[str, ...]:
        """Paths and names of runs that its consoles print."""
        return tuple(dict.fromkeys(name for log in self.logs for name in log.facts.printed))

    @property
    def stem(self) -> str:
        """The name of its file without the suffix; empty if it is one of several."""
        if len(self.logs) > 1:
            return ""
        return re.sub(r"(?<=.)(?:\.monitor)?\.\w{1,5}$", "", self.logs[0].name)

    @property
    def is_evaluation(self) -> bool:
        """Whether its name says that it is an evaluation."""
        named = not self.location.unit and EVALUATION_NAME.search(self.stem)
        return bool(named) or EVALUATION_MARK in self.id

    @property
    def has_points(self) -> bool:
        return bool(self.heads)

    @cached_property
    def trains_text(self) -> bool | None:
        """Whether it is the log of a language model's training; None if its tags do not tell."""
        family = identify(self.heads).family
        if family == UNKNOWN_FAMILY:  # tags are compared without what they begin with
            found = (meaning(UNKNOWN_TRAINER, tag) for tag in self.heads)
            family = family_of_metrics(each.concept for each in found if each is not None)
        return None if family == UNKNOWN_FAMILY else family in TEXT_FAMILIES

    def trains_the_same(self, other: LogUnit) -> bool:
        """False if one trains a language model and the other does not."""
        kinds = {self.trains_text, other.trains_text}
        return kinds != {True, False}

    def started_with(self, other: LogUnit) -> bool:
        """Whether the clocks of both allow that they are one training."""
        if self.start != self.start or other.start != other.start:
            return True
        console = CONSOLE in self.kinds | other.kinds
        limit = ZONE_TOLERANCE_S if console else START_TOLERANCE_S
        return abs(self.start - other.start) <= limit

    @cached_property
    def updates_a_model(self) -> bool:
        """Whether what it logs is of updates; else it may be an evaluation of what was trained."""
        return any(OF_AN_UPDATE.match(tag) for tag in self.heads)

    def competes_with(self, other: LogUnit) -> bool:
        """Whether both hold a log that a training has only once."""
        return any(self._competes_in(kind, other) for kind in self.kinds & other.kinds)

    def _competes_in(self, kind: str, other: LogUnit) -> bool:
        if kind in (SETTINGS, MONITORING):
            return False
        if kind == CONSOLE:
            pairs = (self, other), (other, self)
            return not self.is_other_stream(other) and not any(
                one.is_shell_output_of(logged) for one, logged in pairs
            )
        if kind == EVENTS and not self.processes & other.processes:
            return True
        if kind == NOTEBOOK and self.heads and other.heads and self._later(other).updates_a_model:
            return True
        return kind == TRACKER or bool(self.heads.keys() & other.heads.keys())

    def _later(self, other: LogUnit) -> LogUnit:
        """The training of the later cell: an evaluation comes after what it evaluates."""

        def place(unit: LogUnit) -> tuple[int, ...]:
            cell = _CELL.search(unit.home)
            return tuple(int(number or 0) for number in cell.groups()) if cell else ()

        return max(other, self, key=place)

    @property
    def stream_name(self) -> str:
        """The name that the files of one command's output share; empty for other logs."""
        name = self.logs[0].name
        is_stream = CONSOLE in self.kinds and len(self.logs) == 1 and re.search(STREAM_WORD, name)
        return re.sub(STREAM_WORD, "*", name) if is_stream else ""

    def is_other_stream(self, other: LogUnit) -> bool:
        """Whether these are outputs of one command."""
        name = self.stream_name
        return bool(name) and (self.home, name) == (other.home, other.stream_name)

    def is_shell_output_of(self, logged: LogUnit) -> bool:
        """Whether this is what a shell kept of a command that logged its values elsewhere.

        It holds words only, such as warnings and a traceback.
        """
        if self.has_points or not logged.has_points:
            return False
        one, other = (
            bool(re.fullmatch(SHELL_OUTPUT, unit.logs[0].name)) for unit in (self, logged)
        )
        return one and not other


NO_UNITS: Mapping[str, LogUnit] = {}


def units_of(
    logs: Iterable[LogEntry],
    patterns: RunPatterns = NO_PATTERNS,
    known: Mapping[str, LogUnit] = NO_UNITS,
) -> dict[str, LogUnit]:
    """The units of some logs by id, sorted: they do not depend on the order of arrival.

    Of `known` units those are kept whose logs have not changed.
    """
    ordered = sorted(logs, key=lambda log: (not log.facts.start <= 1e18, log.facts.start, log.path))
    locations = _locations(ordered)
    evaluations = _separate_evaluations(ordered, locations)
    found: dict[str, LogUnit] = {}
    for log in ordered:
        location = locations[log.path]
        name = location.unit or f"{log.path}|file"
        name += EVALUATION_MARK if log.path in evaluations else ""
        split_as = patterns.split_as(log.path)
        name += f"|{sorted(split_as)}" if split_as else ""
        unit = found.setdefault(name, LogUnit(name, location, split_as=split_as))
        if location.is_direct and not unit.location.is_direct:
            unit.location = location
        unit.joined_as |= frozenset(patterns.joined_as(log.path))
        unit.logs.append(log)
    for name, unit in found.items():
        unit.version = [(log.path, log.facts.version) for log in unit.logs]
        before = known.get(name)
        if before is not None and before.version == unit.version:
            found[name] = before
    return dict(sorted(found.items()))


def _locations(logs: Iterable[LogEntry]) -> dict[str, RunLocation]:
    """path -> location; a folder that looks like one of add_scalars needs its writer."""
    found, tags, folders = {}, dict[str, set[str]](), set()
    for log in logs:
        location = found[log.path] = log.location
        if log.format == EVENTS:
            folders.add(log.folder)
        if location.writer:
            tags.setdefault(location.writer, set()).update(log.tags_for_location)
    for path, location in found.items():
        writer = location.writer
        if writer and writer not in folders and len(tags[writer]) < 2:
            found[path] = locate_run(path, use_writer=False)
    return found


def _separate_evaluations(
    logs: Iterable[LogEntry], locations: Mapping[str, RunLocation]
) -> set[str]:
    """The paths of event files that another process wrote into an evaluation's folder."""
    processes: dict[tuple[str, bool], set[str]] = {}
    inside: dict[str, tuple[str, str]] = {}
    for log in logs:
        unit, process = locations[log.path].unit, log.process[1]
        if log.format == EVENTS and unit and process:
            below = log.folder[len(unit) :]
            is_evaluation = bool(EVALUATION_NAME.search(below))
            processes.setdefault((unit, is_evaluation), set()).add(process)
            if is_evaluation:
                inside[log.path] = unit, process
    return {
        path
        for path, (unit, process) in inside.items()
        if (training := processes.get((unit, False))) and process not in training
    }
