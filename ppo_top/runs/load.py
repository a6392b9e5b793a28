"""Reads and judges everything that some paths hold now, in bounded memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, TextIO

from ppo_top.files.follower import Follower
from ppo_top.files.mirrors import shown_path
from ppo_top.files.passed_over import (
    NO_METRICS,
    UNASKED_NOTEBOOK,
    PassedOver,
    notebooks_line,
    passed_over_lines,
)
from ppo_top.files.reading.stdin import with_unix_line_ends
from ppo_top.files.update import STDIN_NAME, Listing, PollResult
from ppo_top.paths import PERMISSION_DENIED, unreachable_reason
from ppo_top.runs.judge_queue import Reports
from ppo_top.runs.memory import RunMemory
from ppo_top.runs.pipeline import read_to_end
from ppo_top.runs.reading_progress import ReadingProgress
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.runs.sources.source import SourceState
from ppo_top.settings import Settings
from ppo_top.support import internal_errors
from ppo_top.text.format import clean, plural

NO_LOGS_HINT = (
    "give the directory that the trainer writes to (event files, progress.csv, trainer_state.json, "
    "*.wandb, ...), or keep its console output: python train.py 2>&1 | tee run.log"
)
"""Advice for when there is nothing to judge."""

NO_METRICS_HINT = (
    "a line needs the name of a metric and its number (reward: 20.8, loss=0.31); lines of another "
    "kind can be read by your own expression, `console` in ~/.config/ppo-top/ppo-top.toml"
)
"""The same for what was piped or pasted."""

MOST_ALIKE = 3
"""Logs named for the same fault; a report of their run (`-v`) tells of the others, too."""


def load_session(
    paths: Sequence[Path],
    settings: Settings,
    err: TextIO,
    reports: Reports | None = None,
    *,
    ended: bool = False,
) -> Session | None:
    """Read everything that the paths hold now; None (after a line on `err`) if there is nothing.

    With `reports` many points are not kept after a run was reported, only findings and newest rows,
    and worker processes may judge. `ended`: the runs are over, whatever their logs say.
    """
    loader = open_loader(paths, settings, err, reports, ended=ended)
    if loader is None:
        return None
    loader.close()
    return loader.session


def open_loader(
    paths: Sequence[Path],
    settings: Settings,
    err: TextIO,
    reports: Reports | None = None,
    memory: RunMemory | None = None,
    *,
    ended: bool = False,
    verbose: bool = False,
    active_s: float = math.inf,
    stdin: BinaryIO | None = None,
    bounded: bool = False,
) -> Loader | None:
    """As `load_session`, for going through the runs again; the caller closes the loader.

    `verbose`: `err` also says which files gave nothing, and why. `stdin` is one more log, which is
    read to its end first. `bounded`: not all points are kept, though no report is wanted. Logs not
    written for `active_s` seconds are not opened.
    """
    if is_unreachable(paths, err):
        return None
    most_points = None if bounded or reports is not None else math.inf
    parallel = reports is not None
    progress = ReadingProgress(err) if stdin is None else None
    if progress is not None and reports is not None:
        reports = reports._replace(take=progress.counting(reports.take))
    session = Session(settings, most_points, memory, ended, reports, parallel)
    loader = Loader(paths, session, err, stdin, active_s, progress)
    try:
        loader.read_all()
    except BaseException:
        loader.close()
        raise
    if verbose:
        for line in passed_over_lines(loader.passed_over()):
            print(f"ppo-top: {clean(line)}", file=err)
    if folders := loader.unopened_folders:
        print(f"ppo-top: {unopened_text(folders)}", file=err)
    if folders or any(run.points or run.findings for run in loader.session.runs.values()):
        return loader
    loader.close()
    names = ", ".join(clean(shown_path(path)) for path in paths) or str(STDIN_NAME)
    for line in _why_nothing(loader, names, verbose):
        print(f"ppo-top: {line}", file=err)
    return None


def unopened_text(folders: int) -> str:
    """In how many folders all logs are too old to be opened."""
    return f"{plural(folders, 'folder')} of old logs not opened (--active)"


def is_unreachable(paths: Sequence[Path], err: TextIO, *, may_come: bool = False) -> bool:
    """Whether one of the paths cannot be read, which is reported on `err`.

    `may_come`: one that is not there is waited for. A job script follows before it trains.
    """
    for path in paths:
        if reason := unreachable_reason(path):
            waits = may_come and reason != PERMISSION_DENIED
            wait = ": waiting for it" if waits else ""
            print(f"ppo-top: {clean(shown_path(path))}: {reason}{wait}", file=err)
            if not waits:
                return True
    return False


def _why_nothing(loader: Loader, names: str, verbose: bool) -> Iterator[str]:
    """What is said where there is no log."""
    others = [each for each in loader.passed_over() if each.reason != UNASKED_NOTEBOOK]
    if len(others) == 1 and not verbose:
        yield from passed_over_lines(others)
    elif others and not verbose:
        files = plural(len(others), "file")
        yield f"{files} passed over: `ppo-top check -v` says which, and why"
    hint = NO_METRICS_HINT if names == str(STDIN_NAME) else NO_LOGS_HINT
    yield f"{names}: nothing here that I can read as a training log; {hint}"
    for run in loader.session.runs.values():
        for source in run.sources.values():
            yield from (f"{clean(source.key)}: {clean(note)}" for note in source.all_notes)


class Loader:
    """A session and the follower that reads its logs."""

    def __init__(
        self,
        paths: Sequence[Path],
        session: Session,
        err: TextIO,
        stdin: BinaryIO | None = None,
        active_s: float = math.inf,
        progress: ReadingProgress | None = None,
    ) -> None:
        self._progress = progress
        self.session = session
        self._paths = [path.absolute() for path in paths]
        settings = session.settings
        # A paste from Windows has carriage returns, which are no lines drawn over.
        text = with_unix_line_ends(stdin) if stdin is not None else None
        self._follower = Follower(
            paths,
            stdin=text,
            patterns=settings.patterns,
            notebooks=settings.notebooks,
            once=True,
            active_s=active_s,
            memory=session.memory,
        )
        self.problems: list[str] = []
        self._err = err

    def read_all(self) -> None:
        """Read, judge and report everything (`load_session`)."""
        session = self.session
        self._read()
        if session.queue.reports is not None:
            rest = [run for run in session.runs.values() if not run.is_reported]
            rest = [run for run in rest if run.saved is None]  # remembered ones have a report
            self._reread([run.id for run in rest])  # another log was found after their report
            for run in rest:
                session.queue.report(run)
        self._end_progress()
        self.problems = list(problem_lines(self._follower, session))
        if notebooks := notebooks_line(self._follower.passed_over()):
            self.problems.append(clean(notebooks))
        for line in self.problems:
            print(f"ppo-top: {line}", file=self._err)

    def remember(self) -> None:
        """Write what was saved of runs, and which files belong to none."""
        self.session.remember_unused(self._follower.unused_files())
        if self.session.memory is not None:
            self.session.memory.flush()

    def passed_over(self) -> list[PassedOver]:
        """The files below the paths that are no source of any run, and why."""
        unused = [PassedOver(path, NO_METRICS) for path in self.session.unassigned_paths()]
        return [*self._follower.passed_over(), *unused]

    @property
    def unopened_folders(self) -> int:
        """In how many folders all logs are too old to be opened."""
        return self._follower.file_counts()[1]

    @property
    def unread(self) -> list[str]:
        """What lies below the paths and could not be read, one line each."""
        return [clean(line) for line in self._follower.unread]

    def listing(self) -> Listing | None:
        """What was looked at; None if any of it may have changed since (`Follower.listing`)."""
        return self._follower.listing()

    def complete_runs(self) -> Iterator[Run]:
        """The runs in order, each with all its points until the next one is asked for.

        A run whose logs cannot be read any more is left out, with a line on `err`.
        """
        for run in self.session.sorted_runs():
            self._reread([run.id])
            if run.is_partial or run.id not in self.session.runs:
                what = f"{clean(run.name)}: its logs were deleted while they were read"
                print(f"ppo-top: {what}", file=self._err)
                continue
            yield run
            self.session.free_memory()

    def _end_progress(self) -> None:
        if self._progress is not None:
            self._progress.erase()
        self._progress = None

    def _show_progress(self, polled: PollResult) -> None:
        if self._progress is not None:
            self._progress.note_poll(polled, len(self.session.runs))

    def _reread(self, runs: Sequence[str]) -> None:
        """Read the dropped points of these runs again."""
        if keys := self.session.sources_to_reread(runs):
            self._follower.reread(keys)
            self._read(runs)

    def _read(self, in_view: Sequence[str] = ()) -> None:
        """Read and judge what there is, unfinished ends of logs included."""
        read_to_end(self._follower, self.session, self._show_progress, in_view=in_view)
        self.session.apply(self._follower.finish())
        self.session.assign_pending_logs()
        self.session.judge()

    def close(self) -> None:
        """Close the logs, end the workers and print what went wrong; the session stays."""
        self._end_progress()
        self._follower.close()
        self.session.close()
        internal_errors.allow_writes_below(self._paths)  # the follower forbade them
        self._paths = []
        for line in self.session.problems:
            print(f"ppo-top: {line}", file=self._err)


def problem_lines(follower: Follower, session: Session) -> Iterator[str]:
    """What could not be read or was not kept; many logs with the same fault are counted."""
    for problem in follower.problems:
        yield clean(str(problem))
    logs: dict[str, int] = {}
    for run in session.runs.values():
        for source in run.sources.values():
            for what in _source_problems(source):
                logs[what] = logs.get(what, 0) + 1
                if logs[what] <= MOST_ALIKE:
                    yield f"{clean(source.key)}: {what}"
    for what, amount in logs.items():
        if amount > MOST_ALIKE:
            yield f"{plural(amount - MOST_ALIKE, 'more log')}: {what}"


def _source_problems(source: SourceState) -> Iterator[str]:
    if source.problem_count:
        first = source.problems[0]
        yield f"{source.problem_count} unreadable, first at {first.offset}: {clean(first.message)}"
    if source.left_out_text:
        yield source.left_out_text
