"""What is exported of all runs, as it was after one look at their logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ppo_top.model import RunRank, State, worst_first
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.runs.liveness import StateFacts, state_facts, status_at
from ppo_top.runs.run import Run
from ppo_top.text.format import clean
from ppo_top.views.gather_facts import gather_facts
from ppo_top.views.run_facts import RunFacts

OVER = (State.FINISHED, State.DIED, State.ENDED)
"""States in which a run is exported only for a while."""


class ExportedRun(NamedTuple):
    """A run and its state; `path` tells it from all others."""

    path: str
    name: str
    facts: RunFacts
    state: State


class Look(NamedTuple):
    """How the newest look at the logs went: when it ended (unix seconds) and how long it took.

    `is_complete`: everything that was there at the start has been read and judged once.
    `read_bytes` never decreases. `files` are followed; in `unopened_folders` all logs are so old
    that none was opened.
    """

    time: float = 0.0
    seconds: float = 0.0
    is_complete: bool = False
    read_bytes: int = 0
    files: int = 0
    unopened_folders: int = 0


class Fleet(NamedTuple):
    """All runs after one look; immutable, so that any thread may read it.

    `states` counts every judged run, `left_out` those that are not among `runs`, by reason.
    """

    runs: Sequence[ExportedRun] = ()
    states: Mapping[State, int] = {}
    left_out: Mapping[str, int] = {}
    look: Look = Look()


class ExportLimits(NamedTuple):
    """Which runs are exported: not those that are over for `retire_s`, and at most `runs`."""

    retire_s: float = 86_400.0
    runs: int = 2_000


class _KnownRun(NamedTuple):
    version: int
    facts: RunFacts
    state_facts: StateFacts


class FleetWatch:
    """Makes a `Fleet` after each look; only runs that have changed are examined again."""

    def __init__(self, limits: ExportLimits) -> None:
        self._limits = limits
        self._known: dict[str, _KnownRun] = {}

    def fleet(self, runs: Mapping[str, Run], now: float, look: Look) -> Fleet:
        """The runs as they are `now` (unix seconds); one that is half read is as it was before."""
        for run in runs.values():
            self._examine(run)
        self._known = {key: known for key, known in self._known.items() if key in runs}
        judged = [_exported(runs[key], known, now) for key, known in self._known.items()]
        return chosen_runs(judged, now, self._limits, look)

    def _examine(self, run: Run) -> None:
        known = self._known.get(run.id)
        if not run.judged or run.has_more_to_read or (known and known.version == run.version):
            return
        self._known[run.id] = _KnownRun(run.version, gather_facts(run), state_facts(run))


def _exported(run: Run, known: _KnownRun, now: float) -> ExportedRun:
    return ExportedRun(run.path, run.name, known.facts, status_at(known.state_facts, now).state)


def chosen_runs(
    judged: Iterable[ExportedRun], now: float, limits: ExportLimits, look: Look
) -> Fleet:
    """The runs to export, worst first, then newest first."""
    everything = list(judged)
    alive = [run for run in everything if not _is_retired(run, now, limits.retire_s)]
    alive.sort(key=_rank)
    chosen = alive[: limits.runs]
    left_out = {
        "retired": len(everything) - len(alive),
        "limit": len(alive) - len(chosen),
        "inactive": look.unopened_folders,
    }
    return Fleet(_with_own_paths(chosen), Counter(run.state for run in everything), left_out, look)


def _is_retired(run: ExportedRun, now: float, retire_s: float) -> bool:
    return run.state in OVER and now - (run.facts.last_change or 0.0) > retire_s


def _rank(run: ExportedRun) -> RunRank:
    facts = run.facts
    return worst_first(facts.verdict, run.state, facts.last_change or 0.0, run.path)


def _with_own_paths(runs: Iterable[ExportedRun]) -> tuple[ExportedRun, ...]:
    """The runs with harmless names, and paths that no two of them share.

    Two paths may look alike once undecodable bytes are replaced, and one file may hold several
    runs: the name, else a number tells them apart.
    """
    found: dict[str, ExportedRun] = {}
    for run in sorted(runs, key=lambda run: (run.path, run.name)):
        path, name = clean(run.path), clean(run.name)
        if path in found and not path.endswith(name):
            path = f"{path} {name}"
        alone, number = path, 1
        while path in found:
            number += 1
            path = f"{alone} ({number})"
        found[path] = run._replace(path=path, name=name)
    return tuple(found.values())
