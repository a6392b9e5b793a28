"""Which runs are listed and in what order: by trouble, then newest; filtered; seeds folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ppo_top.catalogue import concept
from ppo_top.model import State, Verdict
from ppo_top.rules.engine.context import REWARD_CONCEPTS
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.text.format import count, format_metric_value
from ppo_top.tui.state.replay_time import state_at
from ppo_top.tui.state.seed_groups import RunTraits, group_seeds, run_traits
from ppo_top.tui.state.snapshot import RunCounts, RunListEntry
from ppo_top.views.run_view import verdict

MAX_STATE_AGE_S = 5.0
"""How long the state of a run that did not change is believed."""


@dataclass(frozen=True, slots=True)
class ListedRun:
    """What the list says of a run."""

    id: str
    name: str
    path: str
    verdict: Verdict
    state: State
    last_change: float
    traits: RunTraits
    finding: str = ""
    """The worst finding that is open."""
    since: str = ""
    reward: str = ""
    step: str = ""

    def matches(self, words: Iterable[str]) -> bool:
        """Whether every word is in name, path, verdict, state or finding; `!word` must not be."""
        text = f"{self.name} {self.path} {self.verdict} {self.state.value} {self.finding}".lower()
        return all(
            word[1:] not in text if word[0] == "!" and len(word) > 1 else word in text
            for word in words
        )


@dataclass(slots=True)
class RunList:
    """The list of the runs, as a function of the session, a filter and what is folded."""

    filter: str = ""
    fold_seeds: bool = True
    unfolded: set[str] = field(default_factory=set)
    verdict_of: Callable[[Run, int | None], Verdict] = verdict
    worst_finding_of: Callable[[Run, int | None], tuple[str, str]] = lambda _run, _row: ("", "")
    """The worst open finding and the step since which it is so."""
    row_of: Callable[[Run], int | None] = lambda _run: None
    """At which row a run is seen; None: at its end."""
    _cache: dict[str, tuple[int, int | None, float, ListedRun]] = field(default_factory=dict)

    def listed_runs(self, session: Session, now: float) -> list[ListedRun]:
        """All runs, those in trouble first, then the newest."""
        every = [self._listed_run(run, now) for run in session.runs.values()]
        if len(self._cache) > len(every):
            self._cache = {k: kept for k, kept in self._cache.items() if k in session.runs}
        return sorted(every, key=_rank)

    def _listed_run(self, run: Run, now: float) -> ListedRun:
        kept = self._cache.get(run.id)
        row = self.row_of(run)
        if kept is not None and kept[:2] == (run.version, row) and now - kept[2] < MAX_STATE_AGE_S:
            return kept[3]
        trouble, since = self.worst_finding_of(run, row)
        made = ListedRun(
            id=run.id,
            name=run.name,
            path=run.path,
            verdict=self.verdict_of(run, row),
            state=state_at(run, row, now),
            last_change=run.last_change,
            traits=run_traits(run.name, run.config),
            finding=trouble,
            since=since,
            reward=reward_at(run, row),
            step=step_at(run, row),
        )
        self._cache[run.id] = (run.version, row, now, made)
        return made

    def invalidate(self) -> None:
        """Believe nothing that is known: what counts as trouble has changed."""
        self._cache.clear()

    def filtered(self, every: list[ListedRun]) -> list[ListedRun]:
        """Those that the filter lets through."""
        words = self.filter.lower().split()
        return [known for known in every if known.matches(words)] if words else every

    def entries(self, every: list[ListedRun], chosen: str) -> list[RunListEntry]:
        """The lines of the list; a group of seeds is one line unless it is opened or chosen."""
        groups = self.group_by_experiment(self.filtered(every))
        entries: list[RunListEntry] = []
        for name, members in groups.items():
            if len(members) == 1:
                entries.append(_entry(members[0]))
                continue
            folded = name not in self.unfolded and chosen not in {each.id for each in members[1:]}
            entries.append(_group(name, members, folded))
            if not folded:
                entries += [_entry(each)._replace(member=True) for each in members[1:]]
        return entries

    def group_by_experiment(self, every: list[ListedRun]) -> dict[str, list[ListedRun]]:
        """Runs by experiment, each in the order given; without folding every run for itself."""
        if not self.fold_seeds:
            return {known.id: [known] for known in every}
        by_id = {known.id: known for known in every}
        found = group_seeds({known.id: known.traits for known in every})
        return {name: [by_id[each] for each in ids] for name, ids in found.items()}

    def unfold(self, session: Session, now: float, chosen: str) -> bool:
        """Open the folded group that a run stands for; False where there is none."""
        for entry in self.entries(self.listed_runs(session, now), chosen):
            if entry.id == chosen and entry.seeds > 1:
                self.unfolded.add(entry.name)
                return True
        return False


def reward_at(run: Run, row: int | None) -> str:
    """The newest reward of a run at a row, or nothing."""
    for name in REWARD_CONCEPTS:
        track = run.timeline.tracks.get(name)
        seen = 0 if track is None else len(track) if row is None else track.count_until(row)
        if track is not None and seen:
            return format_metric_value(track.values[seen - 1], concept(name).fmt)
    return ""


def step_at(run: Run, row: int | None) -> str:
    """The step of a run at a row; nothing where it had not begun."""
    steps = run.timeline.steps
    at = len(steps) - 1 if row is None else min(row, len(steps) - 1)
    return count(steps[at]) if at >= 0 else ""


def _entry(known: ListedRun) -> RunListEntry:
    return RunListEntry(
        known.id,
        known.name,
        known.verdict,
        known.state,
        finding=known.finding,
        since=known.since,
        reward=known.reward,
        step=known.step,
    )


def _group(name: str, members: list[ListedRun], folded: bool) -> RunListEntry:
    first = _entry(members[0])
    if not folded:
        return first
    worst = max(members, key=lambda each: each.verdict.rank)
    state = State.LIVE if any(each.state is State.LIVE for each in members) else first.state
    return first._replace(
        name=name,
        verdict=worst.verdict,
        state=state,
        seeds=len(members),
        folded=True,
        finding=worst.finding,
        since=worst.since,
    )


def _rank(known: ListedRun) -> tuple[int, float, str]:
    trouble = known.verdict.rank if known.verdict.is_trouble else 0
    return -trouble, -known.last_change, known.name


def count_runs(every: list[ListedRun], shown: int) -> RunCounts:
    """The sums over all runs."""
    states = Counter(each.state for each in every)
    return RunCounts(
        live=states[State.LIVE],
        stalled=states[State.STALLED],
        finished=states[State.FINISHED],
        died=states[State.DIED],
        ended=states[State.ENDED],
        crit=sum(1 for each in every if each.verdict is Verdict.CRIT),
        warn=sum(1 for each in every if each.verdict in (Verdict.WARN, Verdict.WATCH)),
        total=len(every),
        shown=shown,
        starting=states[State.STARTING],
    )


def default_run(every: list[ListedRun]) -> ListedRun | None:
    """The run to look at first: the newest live one, else the first of the list."""
    live = [each for each in every if each.state is State.LIVE]
    if live:
        return max(live, key=lambda each: each.last_change)
    return every[0] if every else None
