"""Whether a run is still going: by the end marker in its log, else by the pauses in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from ppo_top.files.machine.open_files import OpenFiles
from ppo_top.files.machine.training_processes import TrainingProcesses
from ppo_top.files.mirrors import mirrored_host
from ppo_top.model import Profile, State
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.text.format import duration
from ppo_top.text.lazy_pattern import lazy_pattern

if TYPE_CHECKING:
    from ppo_top.runs.run import Run  # a remembered run needs no more than its facts

MIN_STALL_S = 60.0
"""A shorter silence is never a stall: checkpoints and evaluations take that long."""

USUAL_PAUSE_FACTOR, LONGEST_PAUSE_FACTOR = 5.0, 2.0
"""A stall is longer than this many usual pauses, and than this many of the longest recent one."""

RECENT_PAUSES = 20
"""Newest pauses between rows that count."""

ABANDONED_AFTER_S = 24 * 3600.0
"""After a day of silence a run counts as ended, no longer as stalled."""

MIN_UNIX_TIME = 946_684_800.0
"""The year 2000: smaller times are not dates but seconds since the run began."""

LAST_STATES = (State.STARTING, State.FINISHED, State.ENDED, State.DIED)
"""States in which the findings of a run stay as they are while its logs do not change."""

LOG_WRITERS = OpenFiles()
TRAININGS = TrainingProcesses(LOG_WRITERS)

_WRITER_IN_NAME = lazy_pattern(r"tfevents\.\d+\.(?P<host>.+)\.(?P<pid>\d+)\.\d+")


class RunStatus(NamedTuple):
    """A run's state, and the reason in words."""

    state: State
    text: str


LIVE = RunStatus(State.LIVE, "")


class StateFacts(NamedTuple):
    """What the state of a run depends on besides the time of day.

    `settled` is a state that time does not change, with its text; `limit` the longest silence in
    seconds that is no stall; `last_change` when its logs were last written (unix seconds), by their
    own clock where their files are newer by more than a day; `logs` their paths, each with whether
    its writer keeps it open.
    """

    settled: tuple[str, str] | None
    limit: float
    last_change: float
    logs: Sequence[tuple[str, bool]]
    is_trainer_known: bool = False


def run_status(run: Run, now: float) -> RunStatus:
    """The state of a run at a time in unix seconds."""
    return status_at(state_facts(run), now)


def logged_status(run: Run) -> RunStatus:
    """The state of a run by its logs alone: live unless they say that it has not begun, or ended.

    It asks nothing of the machine, nor the time.
    """
    settled = _settled(run)
    return RunStatus(State(settled[0]), settled[1]) if settled is not None else LIVE


def state_facts(run: Run) -> StateFacts:
    """What the state of a run depends on."""
    sources = [each.source for each in run.sources.values()]
    logs = [(str(each.file or each.path), each.format.kept_open) for each in sources]
    last_change = logged_change(run) if logs else float("inf")
    limit = stall_limit(_recent_pauses(run))
    return StateFacts(_settled(run), limit, last_change, logs, is_trainer_known(run))


def is_trainer_known(run: Run) -> bool:
    """Whether the logs of a run are those of a trainer that is known here."""
    # The catalogue is not loaded for it: `status` of runs that are remembered does without.
    return run.profile.trainer_id != Profile().trainer_id


def logged_change(run: Run) -> float:
    """When the logs were last written: by their own clock if it is days older than the files.

    A copy or a fresh clone has the time of copying. Less than a day may be a wrong clock or zone.
    """
    times = run.timeline.times[-RECENT_PAUSES:]
    clock = max((time for time in times if time > MIN_UNIX_TIME), default=run.last_change)
    return clock if run.last_change - clock > ABANDONED_AFTER_S else run.last_change


def _settled(run: Run) -> tuple[str, str] | None:
    source = run.first_ended()
    ended = source.ended if source is not None else None
    if ended is not None and (ended.is_said or not run.has_all_steps):
        return ended.state, ended.text
    if not run.points:
        return State.STARTING, "no values yet"
    return (State.FINISHED, "all steps done") if run.has_all_steps else None


def status_at(facts: StateFacts, now: float) -> RunStatus:
    """The state of a run at a time in unix seconds, by what it depends on."""
    if facts.settled is not None:
        return RunStatus(State(facts.settled[0]), facts.settled[1])
    # A file time in the future (a clock that jumped) counts as now.
    quiet = max(0.0, now - facts.last_change)
    if quiet <= facts.limit:
        return LIVE
    words = f"no new data for {duration(quiet)}"
    if quiet > max(ABANDONED_AFTER_S, 4 * facts.limit):
        return RunStatus(State.ENDED, f"{words} · no end-of-run marker")
    is_here = not any(mirrored_host(path) for path, _ in facts.logs)
    if is_here and _writer_gone(Path(path).name for path, _ in facts.logs):
        return RunStatus(State.ENDED, f"{words} · process exited")
    if LOG_WRITERS.has_no_writers(Path(path) for path, kept_open in facts.logs if kept_open):
        return RunStatus(State.ENDED, f"{words} · no process has the log open")
    if _has_no_training(facts):
        return RunStatus(State.ENDED, f"{words} · no process that can have written it is left")
    if is_here and not LOG_WRITERS.can_see_writers:
        words += " · this system cannot tell whether a process is still writing"
    return RunStatus(State.STALLED, words)


def _has_no_training(facts: StateFacts) -> bool:
    """Whether no trainer is left that closes its logs after each row."""
    is_asked = facts.is_trainer_known and not any(kept_open for _, kept_open in facts.logs)
    return is_asked and TRAININGS.are_gone((Path(log) for log, _ in facts.logs), facts.last_change)


def _recent_pauses(run: Run) -> list[float]:
    """The recent pauses between rows in seconds; empty if the log has no times."""
    times = [time for time in run.timeline.times[-RECENT_PAUSES - 1 :] if time == time]
    return [later - earlier for earlier, later in pairwise(times) if later > earlier]


def stall_limit(pauses: Sequence[float]) -> float:
    """The longest silence in seconds that is not a stall yet, from the recent pauses."""
    if not pauses:
        return MIN_STALL_S
    from ppo_top.rules.engine.stats import median  # a remembered run does not need it

    return max(MIN_STALL_S, USUAL_PAUSE_FACTOR * median(pauses), LONGEST_PAUSE_FACTOR * max(pauses))


def _writer_gone(file_names: Iterable[str]) -> bool:
    """Whether event files name processes of this machine, none of which is running."""
    writers = [found for name in file_names if (found := _WRITER_IN_NAME.search(name))]
    local = [int(found["pid"]) for found in writers if found["host"] == os.uname().nodename]
    return bool(local) and not any(_is_running(pid) for pid in local)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True
