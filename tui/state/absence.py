"""What happened to the runs while the user was away: told at the first key after a while.

The program may have been closed meanwhile, so what was seen last is kept for the next session.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ppo_top.model import State, Verdict
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.text.format import clean, duration
from ppo_top.tui.state.listed_run import ListedRun

AWAY_S = 600.0
"""Who has pressed no key for so long is taken to have looked elsewhere."""

NOTED_S = 5.0
"""For so long the runs are taken to be as they were seen last."""

DAY_S = 86_400.0

MAX_NAMES = 2
"""More runs than these are counted, not named."""

EVENTS = ("turned red", "died", "stalled", "worse", "better", "finished", "ended", "new", "gone")
"""What may have happened to a run, in the order in which it is told."""


MAX_KEPT_RUNS = 200
"""More runs than these are not kept for the next session."""


class SeenRun(NamedTuple):
    """A run as it was when somebody looked."""

    name: str
    verdict: Verdict
    state: State


@dataclass(slots=True)
class Absence:
    """The runs as they were when a key was pressed last; by id."""

    left_at: float = math.nan
    then: dict[str, SeenRun] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """What is kept for the next session."""
        if not 0 < len(self.then) <= MAX_KEPT_RUNS:
            return {}
        return {"at": self.left_at, "runs": {run: list(seen) for run, seen in self.then.items()}}

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Take the runs to be as the last session left them; raises ValueError and the like."""
        runs = kept.get("runs", {}).items()
        self.then = {
            run: SeenRun(str(name), Verdict(verdict), State(state))
            for run, (name, verdict, state) in runs
        }
        self.left_at = float(kept.get("at", math.nan))

    def is_long(self, now: float) -> bool:
        """Whether the user was away."""
        return now - self.left_at >= AWAY_S

    def is_noted(self, now: float) -> bool:
        """Whether the runs were looked at just before: keys that are held cost nothing."""
        return now - self.left_at < NOTED_S

    def note_input(self, now: float, every: Iterable[ListedRun]) -> None:
        """The user is here and sees the runs as they are."""
        self.left_at = now
        self.then = {each.id: SeenRun(each.name, each.verdict, each.state) for each in every}

    def summary(self, now: float, every: Iterable[ListedRun]) -> str:
        """What happened since, in a line; empty where nothing did."""
        found: dict[str, list[str]] = {event: [] for event in EVENTS}
        runs = {listed.id: listed for listed in every}
        for run_id, listed in runs.items():
            for event in _events(self.then.get(run_id), listed):
                found[event].append(clean(listed.name))
        found["gone"] += [
            clean(run.name) for run_id, run in self.then.items() if run_id not in runs
        ]
        told = [_told(event, names) for event, names in found.items() if names]
        shape = "%H:%M" if now - self.left_at < DAY_S else "%d %b %H:%M"
        since = time.strftime(shape, time.localtime(self.left_at))
        return f"Since {since} ({duration(now - self.left_at)}): {'; '.join(told)}" if told else ""


def _events(before: SeenRun | None, now: ListedRun) -> Iterable[str]:
    if before is None:
        yield "new"
        if now.verdict is not Verdict.CRIT:
            return
    was = before.verdict if before is not None else Verdict.HEALTHY
    if now.verdict is not was:
        if now.verdict is Verdict.CRIT:
            yield "turned red"
        elif now.verdict.is_trouble and now.verdict.rank > was.rank:
            yield "worse"
        elif was.is_trouble and now.verdict.rank < was.rank:
            yield "better"
    ends = (State.DIED, State.STALLED, State.FINISHED, State.ENDED)
    if before is not None and now.state is not before.state and now.state in ends:
        yield now.state.value


def _told(event: str, names: list[str]) -> str:
    """`2 turned red (a, b)`, `3 finished`."""
    few = f" ({', '.join(names)})" if len(names) <= MAX_NAMES else ""
    return f"{len(names):,} {event}{few}"


def gone_runs(before: Sequence[ListedRun], now: Sequence[ListedRun]) -> list[ListedRun]:
    """The runs that are not there any more, not even as `train.log.1.gz` for `train.log.1`.

    That is another run at the same place, for a moment beside its original.
    """
    ids = {listed.id for listed in now}
    places = {listed.path for listed in (*before, *now) if listed.id in ids}
    return [each for each in before if each.id not in ids and each.path not in places]


def last_words(listed: ListedRun, now: float) -> str:
    """What was known of a run when its logs were deleted."""
    known = [listed.verdict.words]
    if listed.worst.title:
        known = [f"{known[0]} ({listed.worst.title}, since {listed.worst.since})"]
    known += [f"last step {listed.step}"] if listed.step else []
    known += [f"reward {listed.reward}"] if listed.reward else []
    when = time.strftime("%H:%M:%S", time.localtime(now))
    return f"{clean(listed.name)}: its logs were deleted at {when}; it was {', '.join(known)}"
