"""Reads and judges all that some paths hold now, in memory that does not grow with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from ppo_top.files.follower import Follower
from ppo_top.paths import unreachable_reason
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.runs.source import SourceState
from ppo_top.settings import Settings
from ppo_top.text.format import clean

NO_LOGS_HINT = (
    "give the directory that the trainer writes to (event files, progress.csv, trainer_state.json, "
    "*.wandb, ...), or keep its console output: python train.py 2>&1 | tee run.log"
)
"""What to do where there is nothing to judge."""

MAX_POLL_POINTS, MAX_POLL_S = 200_000, 1.0
"""Points and seconds of one slice."""


RunCallback = Callable[[Run], None]


def load_session(
    paths: Sequence[Path], settings: Settings, err: TextIO, on_run: RunCallback | None = None
) -> Session | None:
    """Read all that the paths hold now; None (after a line on `err`) where there is nothing.

    With `on_run` not all points are kept where there are many: it is called with each run when that
    has been read and judged, while all its points are here. Findings and newest rows stay.
    """
    reading = open_loader(paths, settings, err, on_run)
    if reading is None:
        return None
    reading.close()
    return reading.session


def open_loader(
    paths: Sequence[Path], settings: Settings, err: TextIO, on_run: RunCallback | None = None
) -> Loader | None:
    """The same, for who wants to look at runs again; the caller closes it."""
    for path in paths:
        if why := unreachable_reason(path):
            print(f"ppo-top: {clean(str(path))}: {why}", file=err)
            return None
    reading = Loader(paths, settings, err)
    try:
        reading.read_all(on_run)
    except BaseException:
        reading.close()
        raise
    if not any(run.points or run.findings for run in reading.session.runs.values()):
        reading.close()
        names = ", ".join(clean(str(path)) for path in paths)
        print(
            f"ppo-top: {names}: nothing here that I can read as a training log; {NO_LOGS_HINT}",
            file=err,
        )
        return None
    return reading


class Loader:
    """What some paths hold: a session, and the logs that it came from."""

    def __init__(self, paths: Sequence[Path], settings: Settings, err: TextIO) -> None:
        self.session = Session(settings)
        self._follower = Follower(paths, patterns=settings.patterns, once=True)
        self._err = err

    def read_all(self, on_run: RunCallback | None) -> None:
        """Read and judge everything (`load_session`)."""
        told: dict[str, int] = {}

        def part(run: Run) -> None:
            told[run.id] = run.points
            if on_run is not None:
                on_run(run)

        def slim() -> None:
            self.session.judge()
            self.session.free_memory(before_drop=part)

        drain(self._follower, self.session, slim if on_run is not None else None)
        self._finish()
        rest = [run.id for run in self.session.runs.values() if told.get(run.id) != run.points]
        self._reread(rest)  # another log of a run was found after that had parted
        for each in rest:
            part(self.session.runs[each])
        report_problems(self._follower, self.session, self._err)

    def complete_runs(self) -> Iterator[Run]:
        """The runs in their order, each with all its points; those of the last one may have gone.

        A run whose logs cannot be read any more is left out, with a line on `err`.
        """
        for run in self.session.sorted_runs():
            self._reread([run.id])
            if run.is_partial or run.id not in self.session.runs:
                what = f"{clean(run.name)}: its logs went while they were read"
                print(f"ppo-top: {what}", file=self._err)
                continue
            yield run
            self.session.free_memory()

    def _reread(self, runs: Sequence[str]) -> None:
        """Have all points of these runs again."""
        if keys := self.session.sources_to_reread(runs):
            self._follower.reread(keys)
            drain(self._follower, self.session)
            self._finish()

    def _finish(self) -> None:
        self.session.apply(self._follower.finish().updates)
        self.session.assign_pending_logs()
        self.session.judge()

    def close(self) -> None:
        """Close what is open; the session stays."""
        self._follower.close()


def drain(follower: Follower, session: Session, after: Callable[[], None] | None = None) -> None:
    """Hand over what there is, slice by slice (`after` each), until there is no more for now."""
    while True:
        slice_ = follower.poll(MAX_POLL_POINTS, MAX_POLL_S)
        session.apply(slice_.updates)
        session.remove_sources(slice_.removed)
        session.reader_has_more = slice_.more
        if after is not None:
            after()
        if not slice_.more:
            return


def report_problems(follower: Follower, session: Session, err: TextIO) -> None:
    """Say on `err` what could not be read, or was not kept."""
    for problem in follower.problems:
        print(f"ppo-top: {clean(str(problem))}", file=err)
    for run in session.runs.values():
        for source in run.sources.values():
            for what in _source_problems(source):
                print(f"ppo-top: {clean(source.key)}: {what}", file=err)


def _source_problems(source: SourceState) -> Iterator[str]:
    if source.problem_count:
        first = source.problems[0]
        yield f"{source.problem_count} unreadable, first at {first.offset}: {clean(first.message)}"
    if source.left_out_text:
        yield source.left_out_text
