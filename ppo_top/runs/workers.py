"""Judges runs in worker processes while many wait.

One process reads, for only all logs together show which of them form a run. Workers get whole runs
and return what a closed run holds. They have a low priority, for the machine belongs to a training,
and end with the process that started them, however that ends.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from typing import IO, TYPE_CHECKING, Any

from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.evaluation import ClosedRun
from ppo_top.runs.judge_run import judge_run
from ppo_top.runs.run import KEEP_ROWS, Run
from ppo_top.runs.sources.source import SourceState
from ppo_top.settings import Settings
from ppo_top.support.cores import usable_cores
from ppo_top.text.format import clean

if TYPE_CHECKING:
    from subprocess import Popen

MIN_WAITING_POINTS = 200_000
"""Workers are started when more points than this wait: judging takes 1 s, starting one 0.2 s."""

MIN_RUN_POINTS = 1_000
"""Judging a smaller run takes hardly longer than sending it."""

MAX_RUN_POINTS = 1_000_000
"""A larger run is judged where it is: a copy would take too much memory."""

JOB_POINTS = 40_000
"""Smaller runs are sent together."""

MAX_WORKERS = 4
MAX_DEATHS = 3
"""After this many deaths of workers no more are started."""

NICENESS = 10


class UnjudgedRun(NamedTuple):
    """A run as a worker gets it."""

    id: str
    name: str
    path: str
    joined_by: Mapping[str, str]
    sources: list[SourceState]


class WorkerResult(NamedTuple):
    """A run as a worker returns it; `closed` is None if it could not be judged."""

    closed: ClosedRun | None
    is_over: bool = False
    report: Any = None


class Job(NamedTuple):
    """Runs (id and number of the job) and their points as bytes."""

    runs: list[tuple[str, int]]
    data: bytes


class FinishedRun(NamedTuple):
    """What became of a run of a job."""

    id: str
    job: int
    result: WorkerResult


def worker_count(cores: float) -> int:
    """How many workers may run: half of the cores less this process; one on two or three cores."""
    return min(MAX_WORKERS, max(2, int(cores / 2)) - 1) if cores >= 2 else 0


class WorkerPool:
    """Worker processes, started when they are first needed; a thread talks to each of them.

    `report` is a function of a module; workers get it by its name.
    """

    def __init__(
        self,
        settings: Settings,
        report: Callable[[Run], Any] | None = None,
        ended: bool = False,
    ) -> None:
        self.problems: list[str] = []
        """What went wrong with workers, one line each."""
        self._setup = (settings, report, ended)
        self._count = worker_count(usable_cores())
        self._threads: list[threading.Thread] = []
        self._processes: set[Popen[bytes]] = set()
        self._jobs: deque[Job] = deque()
        self._results: deque[FinishedRun] = deque()
        self._changed = threading.Condition()
        self._busy = self._deaths = self._number = 0
        self._last_progress = 0.0
        self._closed = False
        self._fatal_runs: set[str] = set()
        """Runs whose worker died: they are judged by the owner."""

    # --- the owner's side --------------------------------------------------------------------

    @property
    def has_room(self) -> bool:
        """Whether to offer a job; one more than there are workers, so that none has to wait."""
        is_usable = self._deaths < MAX_DEATHS and not self._closed
        return is_usable and len(self._jobs) < self._count

    def offer(self, runs: Sequence[Run]) -> None:
        """Send runs that wait to be judged, the first of them first, and leave some to the owner.

        A run that was sent has a `job`; a result for another job is out of date.
        """
        waiting = [
            run
            for run in runs
            if MIN_RUN_POINTS <= run.unjudged_points <= MAX_RUN_POINTS
            and run.id not in self._fatal_runs
        ]
        total = sum(run.unjudged_points for run in waiting)
        if not self._threads and total < MIN_WAITING_POINTS:
            return
        at = 0
        while self.has_room and at < len(waiting) - 1:
            first, points = at, 0
            while at < len(waiting) - 1 and points < JOB_POINTS:
                points += waiting[at].unjudged_points
                at += 1
            self._send(waiting[first:at])

    def _send(self, runs: Sequence[Run]) -> None:
        import pickle

        self._number += 1
        for run in runs:
            run.job = self._number
        data = pickle.dumps([_unjudged(run) for run in runs], protocol=5)
        with self._changed:
            self._jobs.append(Job([(run.id, run.job) for run in runs], data))
            self._changed.notify_all()
        if len(self._threads) < self._count:
            thread = threading.Thread(target=self._serve, name="ppo-top-worker", daemon=True)
            self._threads.append(thread)
            thread.start()

    def take_back(self) -> None:
        """Return the newest job that no worker has begun, if there is one, unjudged."""
        with self._changed:
            if self._jobs:
                self._give_up(self._jobs.pop().runs)

    def pop_results(self) -> list[FinishedRun]:
        """The runs that were finished since the last call."""
        return [self._results.popleft() for _ in range(len(self._results))]

    @property
    def idle_s(self) -> float:
        """For how many seconds no worker has begun or finished anything."""
        return time.monotonic() - self._last_progress

    def wait(self, timeout: float) -> None:
        """Wait for some seconds, until there is a result, or nothing to wait for."""
        with self._changed:
            self._changed.wait_for(lambda: self._results or not (self._jobs or self._busy), timeout)

    def close(self) -> None:
        """End the workers, whatever they are doing."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for process in self._processes:
                process.kill()
        for thread in self._threads:
            thread.join()

    # --- the threads' side -------------------------------------------------------------------

    def _serve(self) -> None:
        """Send one job after the other to a worker, which is started again if it dies."""
        process: Popen[bytes] | None = None
        while (job := self._next_job()) is not None:
            left = job.runs.copy()
            try:
                process = process or self._start()
                _write(process.stdin, job.data)
                while left:
                    result = _read(process.stdout)
                    self._finish(*left.pop(0), result)
            except Exception as error:  # noqa: BLE001 (whatever it is, the run is judged here)
                self._note_death(left, process, error)
                process = None
            with self._changed:
                self._busy -= 1
                self._changed.notify_all()
        if process is not None:
            self._end(process)

    def _next_job(self) -> Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._closed)
            if self._closed:
                return None
            self._busy += 1
            self._last_progress = time.monotonic()
            return self._jobs.popleft()

    def _start(self) -> Popen[bytes]:
        """A worker; its own process group keeps Ctrl-C from it, which is for us to handle."""
        import pickle
        from subprocess import DEVNULL, PIPE, Popen

        code = (
            f"import os, sys; os.nice({NICENESS}); sys.path[:] = {sys.path!r}\n"
            f"from {__name__} import work; work()"
        )
        command = [sys.executable, "-P", "-c", code]
        with self._changed:
            if self._closed:
                raise OSError("closed")
            process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, process_group=0)
            self._processes.add(process)
        _write(process.stdin, pickle.dumps(self._setup))
        return process

    def _finish(self, run: str, job: int, result: WorkerResult) -> None:
        with self._changed:
            self._results.append(FinishedRun(run, job, result))
            self._last_progress = time.monotonic()
            self._changed.notify_all()

    def _give_up(self, runs: Iterable[tuple[str, int]]) -> None:
        """The lock is held."""
        self._results.extend(FinishedRun(*run, WorkerResult(None)) for run in runs)

    def _note_death(
        self, left: Sequence[tuple[str, int]], process: Popen[bytes] | None, error: Exception
    ) -> None:
        """Say that a worker died; its runs are judged by the owner."""
        code = self._end(process) if process is not None else None
        with self._changed:
            self._give_up(left)
            if self._closed:
                return
            self._deaths += 1
            self._fatal_runs.update(run for run, _ in left[:1])
            why = f"exit code {code}" if code is not None else repr(error)
            name = clean(left[0][0]) if left else ""
            self.problems.append(f"{name}: the worker process died ({why}), judged without it")

    def _end(self, process: Popen[bytes]) -> int | None:
        """End a worker; returns its exit code, or None if it had not ended by itself."""
        code = process.poll()
        if code is None:
            with suppress(Exception):
                code = process.wait(2.0)  # the pipe closes a moment before
        process.kill()
        process.wait()
        with self._changed:
            self._processes.discard(process)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        return code


def _write(stream: IO[bytes] | None, data: bytes) -> None:
    assert stream is not None
    stream.write(data)
    stream.flush()


def _read(stream: IO[bytes] | None) -> Any:
    import pickle

    assert stream is not None
    return pickle.load(stream)


def _unjudged(run: Run) -> UnjudgedRun:
    """A run without what judging does not need; formats cannot parse there."""
    sources = []
    for state in run.sources.values():
        plain = copy(state)
        plain.source = state.source._replace(format=state.source.format.without_parser())
        sources.append(plain)
    return UnjudgedRun(run.id, run.name, run.path, run.joined_by, sources)


# --- the worker --------------------------------------------------------------------------------


def work() -> None:
    """Judge what comes on standard input, until it ends."""
    import pickle
    from queue import SimpleQueue

    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    jobs: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_receive, args=(jobs,), daemon=True).start()
    settings, report, ended = jobs.get()
    while True:
        for unjudged in jobs.get():
            pickle.dump(_judge(unjudged, settings, report, ended), out, protocol=5)
            out.flush()


def _receive(jobs: Any) -> None:
    """Pass jobs on; the end of standard input ends this process in the middle of its work."""
    import pickle

    with suppress(Exception):
        while True:
            jobs.put(pickle.load(sys.stdin.buffer))
    os._exit(0)


def _judge(
    unjudged: UnjudgedRun, settings: Settings, report: Callable[[Run], Any] | None, ended: bool
) -> WorkerResult:
    run = Run(unjudged.id, unjudged.name, unjudged.path, settings, joined_by=unjudged.joined_by)
    run.set_sources({state.key: state for state in unjudged.sources})
    judge_run(run, float("inf"), ended)
    made = report(run) if report is not None else None
    return WorkerResult(run.evaluation.saved(KEEP_ROWS), run.is_over, made)
