"""Everything read from one source so far."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import chain

from ppo_top.catalogue import machine_tag, printed_run
from ppo_top.files.tail import FileStamp
from ppo_top.files.update import KnownLog, Source, SourceUpdate
from ppo_top.model import (
    Batch,
    ConfigValue,
    ConsoleLine,
    ConsoleLines,
    Histogram,
    Points,
    Problem,
    RunEnd,
    Series,
    SourceFacts,
    State,
)
from ppo_top.rules.console_text import TextEvidence, find_text_evidence
from ppo_top.runs.grouping.rotation import rotation
from ppo_top.text.format import count, plural

MAX_CONSOLE_LINES = 4_000
"""Newest console lines kept per source."""

MAX_PROBLEMS_KEPT = 100
"""Problems kept per source; all are counted."""

MAX_CONSOLE_EVIDENCE = 500
"""Console lines of evidence kept per source: a flood of one warning adds nothing."""

MAX_TAGS_KEPT = 20_000
"""Tags kept per source: a log with a tag for every sample must not fill the memory."""

MAX_MACHINE_TAGS_KEPT = 1_000
"""Tags kept of what was measured of the machine; a node of eight GPUs has some 200."""

MAX_HISTOGRAMS_KEPT = 100
"""Tags of which the newest histogram is kept; one of many bins takes some 50 KB."""

MAX_NAMING_LINES = 2_000
"""Lines at the start of a console in which the path or name of its run is looked for."""

MAX_PRINTED_RUNS = 16
"""Paths and names of runs kept of a console."""

COUNTED = "the log states no step: its updates are counted"

_CREATED = re.compile(r"tfevents\.(\d+)\..*?(\d*)(?:\.v2)?$")


class SourceState:
    """Everything read from one file or store, in columns."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.series: dict[str, Series] = {}
        self.machine: dict[str, Series] = {}
        """What a tracker measured of the machine; the steps are the times in whole seconds."""
        self.facts = SourceFacts()
        self.new_facts: SourceFacts | None = None
        """What was found so far of a file that is read again: its run stays until that is done."""
        self.config: dict[str, ConfigValue] = {}
        self.lines: deque[ConsoleLine] = deque(maxlen=MAX_CONSOLE_LINES)
        self.evidence: list[tuple[ConsoleLine, TextEvidence]] = []
        self.problems: list[Problem] = []
        self.problem_count = 0
        self.notes: list[str] = []
        """What its parser says of how it is written, in sentences without a full stop."""
        self.counts_updates = False
        """Whether its steps are only the numbers of its records."""
        self.left_out_values = 0
        """values of tags beyond `MAX_TAGS_KEPT`"""
        self.points = 0
        self.histograms: dict[str, Histogram] = {}
        """The newest one of each tag."""
        self.ended: RunEnd | None = None
        self.newest_step = 0
        self.mtime = 0.0
        self.size = 0
        self.more = False
        """Whether there was more to read after the last poll."""
        self.held_points = 0
        """Points in memory."""
        self.stamp: FileStamp = ()
        """What the file was like when it had been read to its end; empty before."""
        self.is_unread = False
        """Whether its run was judged before and the file was not read for that reason."""

    @classmethod
    def restored(cls, known: KnownLog) -> SourceState:
        """What is remembered of a log: all but its points."""
        saved, state = known.saved, cls(known.source)
        state.facts = saved.facts
        state.problem_count = saved.problem_count
        state.problems = list(saved.first_problems)
        state.left_out_values = saved.left_out_values
        state.notes = list(saved.notes)
        state.counts_updates = saved.counts_updates
        state.points = saved.points
        state.newest_step = saved.newest_step
        state.ended = saved.ended
        state.mtime = saved.mtime
        state.size, state.stamp = saved.stamp[0], saved.stamp
        state.is_unread = True
        return state

    @property
    def key(self) -> str:
        """The path below the watched one; `source` in exports."""
        return self.source.key

    @property
    def format(self) -> str:
        """The name of the format."""
        return self.source.format.name

    @property
    def all_notes(self) -> list[str]:
        """How the log is written, in sentences without a full stop."""
        return [*self.notes, COUNTED] if self.counts_updates else self.notes

    @property
    def rank(self) -> int:
        """Which source is preferred for the same metric: the highest rank."""
        return self.source.format.precedence

    @property
    def left_out_text(self) -> str:
        """A sentence on what was not kept; empty if everything was."""
        if not self.left_out_values:
            return ""
        return (
            f"{plural(self.left_out_values, 'value')} left out: "
            f"only the first {count(MAX_TAGS_KEPT)} tags of a log are kept"
        )

    @property
    def creation_order(self) -> tuple[int, int, str]:
        """Sort key by time of creation, of which the names of event files and rotated logs tell."""
        found = _CREATED.search(self.source.path.name)
        if found is None:
            return 0, -rotation(self.key)[1], self.key
        return int(found[1]), int(found[2] or 0), self.key

    @property
    def is_partial(self) -> bool:
        """Whether the beginning of a series was dropped."""
        return self.is_unread or any(series.dropped for series in self.every_series)

    @property
    def every_series(self) -> Iterator[Series]:
        """All series, those of the machine included."""
        return chain(self.series.values(), self.machine.values())

    def drop_unused(self, read: Container[int]) -> None:
        """Drop the points of all series whose `id` is not in `read`."""
        for series in self.every_series:
            if id(series) not in read:
                series.drop_before(len(series))
        self.held_points = sum(len(series.steps) for series in self.every_series)

    def drop_points(self) -> None:
        """Drop every point: they are read again when they are needed."""
        self.series.clear()
        self.machine.clear()
        self.histograms.clear()
        self.held_points, self.is_unread = 0, True

    def release(self) -> None:
        """Keep only what tells which run it belongs to, and what is said of the log itself."""
        self.drop_points()
        self.config.clear()
        self.lines.clear()
        self.evidence.clear()
        del self.problems[1:]

    def clear(self) -> None:
        """Forget everything read: the file was replaced or is read again."""
        for kept in (self.series, self.machine, self.config, self.histograms):
            kept.clear()
        self.lines.clear()
        self.evidence.clear()
        self.problems.clear()
        self.notes.clear()
        self.points = self.held_points = 0
        self.problem_count = self.left_out_values = self.newest_step = 0
        self.ended = None
        self.is_unread = self.counts_updates = False
        self.new_facts = SourceFacts()

    def add_update(self, update: SourceUpdate) -> bool:
        """Add an update; True if it resets the source or has new tags, settings or evidence.

        A death is evidence, and dates some anew: what a dying process printed without a step was
        its last words.
        """
        if update.reset:
            self.clear()
        self.source, self.stamp = update.source, update.stamp
        self.mtime, self.size, self.more = update.mtime, update.size, update.more
        batch = update.batch
        facts = self.facts if self.new_facts is None else self.new_facts
        fresh = self._add_points(batch, facts) or update.reset
        fresh = self.add_machine(batch.machine) or fresh
        for key, value in batch.config.items():
            fresh = fresh or self.config.get(key) != value
            self.config[key] = value
        self._add_histograms(batch.histograms)
        fresh = self._add_lines(batch.lines) or fresh
        _find_printed_runs(batch.lines, facts)
        if batch.title:
            facts.set_title(batch.title)
        self.problem_count += len(batch.problems)
        self.problems.extend(batch.problems[: MAX_PROBLEMS_KEPT - len(self.problems)])
        self.notes.extend(note for note in batch.notes if note not in self.notes)
        died = self.died
        if batch.ended is not None or batch.points:
            self.ended = batch.ended  # None of points after an end: the run went on
        facts.has_last_words = self.ended is not None or bool(self.evidence)
        if self.new_facts is not None and not self.more:
            self.facts.replace(self.new_facts)
            self.new_facts = None
        return fresh or self.died is not died

    def _add_points(self, batch: Batch, facts: SourceFacts) -> bool:
        """Add points; True if there is a new tag, or steps are stated that were counted so far."""
        fresh = bool(batch.points) and batch.counts_updates is not self.counts_updates
        if batch.points:
            self.counts_updates = batch.counts_updates
        for points in batch.points:
            series = self.series.get(points.tag)
            if series is None:
                if len(self.series) >= MAX_TAGS_KEPT:
                    self.left_out_values += len(points)
                    continue
                if not len(points):
                    continue
                series = self.series[points.tag] = Series(points.tag)
                fresh = True
            series.extend(points)
            facts.add_points(points, len(series))
            self.newest_step = max(self.newest_step, points.steps[-1])
            self.points += len(points)
            self.held_points += len(points)
        return fresh

    def add_machine(self, measured: Iterable[Points]) -> bool:
        """Add what was measured of the machine; True if a known metric of it is new."""
        fresh = False
        for points in measured:
            series = self.machine.get(points.tag)
            if series is None:
                if len(self.machine) >= MAX_MACHINE_TAGS_KEPT:
                    continue
                series = self.machine[points.tag] = Series(points.tag)
                fresh = fresh or machine_tag(points.tag) is not None
            series.extend(points)
            self.held_points += len(points)
        return fresh

    @property
    def died(self) -> bool:
        """Whether the log says that its process failed."""
        return self.ended is not None and self.ended.state is State.DIED

    def _add_histograms(self, newest: Mapping[str, Histogram]) -> None:
        for tag, histogram in newest.items():
            if tag in self.histograms or len(self.histograms) < MAX_HISTOGRAMS_KEPT:
                self.histograms[tag] = histogram

    def _add_lines(self, lines: ConsoleLines) -> bool:
        """Keep the newest lines and all evidence; True if there is new evidence."""
        self.lines.extend(lines.tail(MAX_CONSOLE_LINES))
        before = len(self.evidence)
        for part in lines.parts:
            if isinstance(part, ConsoleLine):
                self._add_if_evidence(part)
            elif find_text_evidence(part.first_line.text) is not None:
                for line in part.lines():
                    self._add_if_evidence(line)
        return len(self.evidence) > before

    def _add_if_evidence(self, line: ConsoleLine) -> None:
        is_table_row = line.text.startswith("|")
        found = None if is_table_row else find_text_evidence(line.text)
        if found is not None and len(self.evidence) < MAX_CONSOLE_EVIDENCE:
            self.evidence.append((line, found))


def _find_printed_runs(lines: ConsoleLines, facts: SourceFacts) -> None:
    """Look for the path or name of the run in the first lines of a console."""
    for part in lines.parts:
        if facts.lines >= MAX_NAMING_LINES or len(facts.printed) >= MAX_PRINTED_RUNS:
            return
        if not isinstance(part, ConsoleLine):
            facts.lines += len(part.steps)
            continue
        facts.lines += 1
        name = printed_run(part.text)
        if name and name not in facts.printed:
            facts.printed.append(name)
            facts.version += 1
