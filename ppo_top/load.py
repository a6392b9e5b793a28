"""Reads and judges all that some paths hold now, in memory that does not grow with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from ppo_top.follow import Follower
from ppo_top.places import unreachable
from ppo_top.run import Run
from ppo_top.session import Session
from ppo_top.settings import Settings
from ppo_top.words import clean

ADVICE = (
    "give the directory that the trainer writes to (event files, progress.csv, trainer_state.json, "
    "*.wandb, ...), or keep its console output: python train.py 2>&1 | tee run.log"
)
"""What to do where there is nothing to judge."""

LIMIT, BUDGET_S = 200_000, 1.0
"""Points and seconds of one slice."""


def load(
    paths: Sequence[Path],
    settings: Settings,
    err: TextIO,
    tell: Callable[[Run], None] | None = None,
) -> Session | None:
    """Read all that the paths hold now; None (after a line on `err`) where there is nothing.

    With `tell` not all points are kept where there are many: it is called with each run when that
    has been read and judged, while all its points are here. Findings and newest rows stay.
    """
    for path in paths:
        if why := unreachable(path):
            print(f"ppo-top: {clean(str(path))}: {why}", file=err)
            return None
    follower = Follower(paths, patterns=settings.patterns, once=True)
    session = Session(settings)
    try:
        _read(follower, session, tell)
        complain(follower, session, err)
    finally:
        follower.close()
    if not any(run.points or run.findings for run in session.runs.values()):
        names = ", ".join(clean(str(path)) for path in paths)
        print(
            f"ppo-top: {names}: nothing here that I can read as a training log; {ADVICE}", file=err
        )
        return None
    return session


def _read(follower: Follower, session: Session, tell: Callable[[Run], None] | None) -> None:
    told: dict[str, int] = {}

    def part(run: Run) -> None:
        told[run.id] = run.points
        if tell is not None:
            tell(run)

    def slim() -> None:
        session.judge()
        session.slim(parting=part)

    drain(follower, session, slim if tell is not None else None)
    _end(follower, session)
    rest = [run.id for run in session.runs.values() if told.get(run.id) != run.points]
    if keys := session.wanted(rest):  # another log of a run was found after that had parted
        follower.again(keys)
        drain(follower, session)
        _end(follower, session)
    for each in rest:
        part(session.runs[each])


def drain(follower: Follower, session: Session, after: Callable[[], None] | None = None) -> None:
    """Hand over what there is, slice by slice (`after` each), until there is no more for now."""
    while True:
        slice_ = follower.poll(LIMIT, BUDGET_S)
        session.apply(slice_.gains)
        session.forget(slice_.gone)
        session.reading = slice_.more
        if after is not None:
            after()
        if not slice_.more:
            return


def _end(follower: Follower, session: Session) -> None:
    session.apply(follower.finish().gains)
    session.settle()
    session.judge()


def complain(follower: Follower, session: Session, err: TextIO) -> None:
    """Say on `err` what could not be read."""
    for problem in follower.problems:
        print(f"ppo-top: {clean(str(problem))}", file=err)
    for run in session.runs.values():
        for source in run.sources.values():
            if source.problem_count:
                first = source.problems[0]
                print(
                    f"ppo-top: {clean(source.key)}: {source.problem_count} unreadable, first at "
                    f"{first.offset}: {clean(first.what)}",
                    file=err,
                )
