"""Logs that grow while they are watched: recorded bytes, appended in parts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from ppo_top.files.follower import Follower
from ppo_top.model import Row
from ppo_top.output.reports.json_report import run_object
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.settings import Settings
from ppo_top.views.run_view import make_run_view

DEMO_LOGS_FOLDER = Path(__file__).parents[2] / "demo_logs"
NOTE_FILES = {"NOTE.md"}

JsonObject = dict[str, object]


def demo_runs() -> list[Path]:
    """Every shipped log."""
    return sorted(path for path in DEMO_LOGS_FOLDER.iterdir() if (path / "NOTE.md").is_file())


def log_files(run: Path) -> list[Path]:
    """The log files of a run, without the note."""
    return sorted(path for path in run.rglob("*") if path.is_file() and path.name not in NOTE_FILES)


def grow_logs(run: Path, target: Path, parts: int, seed: int) -> Iterator[None]:
    """Write a run's files below `target`, in random turns, each in `parts` parts of random size.

    `.npz` files, which their writers rewrite as a whole, appear at once.
    """
    draw = random.Random(seed)
    waiting: list[tuple[Path, list[bytes]]] = []
    for source in log_files(run):
        copy = target / source.relative_to(run)
        copy.parent.mkdir(parents=True, exist_ok=True)
        count = 1 if source.suffix == ".npz" else parts
        waiting.append((copy, random_parts(source.read_bytes(), count, draw)))
    while waiting:
        copy, left = draw.choice(waiting)
        with open(copy, "ab") as file:
            file.write(left.pop(0))
        waiting = [each for each in waiting if each[1]]
        yield


def random_parts(data: bytes, count: int, draw: random.Random) -> list[bytes]:
    """The bytes in `count` parts, cut anywhere."""
    cuts = sorted(draw.randrange(len(data) + 1) for _ in range(count - 1))
    edges = [0, *cuts, len(data)]
    return [data[start:stop] for start, stop in pairwise(edges)] or [b""]


def judged_objects(session: Session) -> list[JsonObject]:
    """The report of `check --json` on each run, without what depends on the time of day."""
    objects = []
    for run in sorted(session.runs.values(), key=lambda each: each.name):
        facts = {"name": run.name, "producer": run.evaluation.trainer.id, "copy_of": run.copy_of}
        objects.append({**facts, **run_object(run, make_run_view(run))})
    return objects


def judged_rows(run: Run) -> list[Row]:
    """The rows of a timeline, as they were judged."""
    values: list[dict[str, float]] = [{} for _ in run.timeline.steps]
    for name, track in run.timeline.tracks.items():
        for row, value in zip(track.rows, track.values, strict=True):
            values[row][name] = value
    return [Row(run.timeline.mark(number), each) for number, each in enumerate(values)]


def drain(follower: Follower, session: Session) -> None:
    """Read what is there without judging it."""
    more = True
    while more:
        polled = follower.poll(200_000, 1.0)
        session.apply(polled)
        more = polled.more


class WatchedDirectory:
    """A watched directory, or a pipe, as the screen and `check` have it, with its own clock."""

    def __init__(self, *targets: Path, stdin: BinaryIO | None = None) -> None:
        self.now = 0.0
        self.follower = Follower(targets, clock=lambda: self.now, stdin=stdin)
        self.session = Session(Settings())

    def read_new(self) -> None:
        """Let enough time pass for a sweep, and apply what is new without judging it."""
        self.now += 60.0
        drain(self.follower, self.session)

    def read_and_judge(self) -> None:
        """Apply what is new and judge it."""
        self.read_new()
        self.session.judge()

    def read_to_end(self) -> None:
        """Read to the end, as `check` does, and judge nothing."""
        self.read_new()
        self.session.apply(self.follower.finish())
        self.session.assign_pending_logs()
        self.follower.close()

    def finish(self) -> None:
        """Read to the end and judge."""
        self.read_to_end()
        self.session.judge()
