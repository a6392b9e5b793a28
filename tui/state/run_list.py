"""The run list: worst first, in a stable order; filtered; seed groups folded."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ppo_top.model import State, Verdict
from ppo_top.runs.liveness import logged_change
from ppo_top.runs.run import Run
from ppo_top.runs.session import Session
from ppo_top.text.format import steps as step_text
from ppo_top.tui.state.listed_run import (
    NO_FINDING,
    ListedRun,
    RunNews,
    WorstFinding,
    reward_at,
    step_at,
)
from ppo_top.tui.state.replay_time import state_at
from ppo_top.tui.state.snapshot import RunListEntry
from ppo_top.views.run_view import outside_words, verdict
from ppo_top.views.seed_groups import group_seeds, run_traits
from ppo_top.views.siblings import BelowSiblings

DEFAULT_ORDER = "severity"
RUN_ORDERS = (DEFAULT_ORDER, "name", "newest", "step")
"""What the list may be sorted by."""

MAX_STATE_AGE_S = 5.0
"""How long the state of an unchanged run is cached."""


@dataclass(slots=True)
class RunList:
    """The list of runs: a function of the session, the filter and the folded groups."""

    filter: str = ""
    order: str = DEFAULT_ORDER
    fold_seeds: bool = True
    unfolded: set[str] = field(default_factory=set)
    verdict_of: Callable[[Run, int | None], Verdict] = verdict
    worst_finding_of: Callable[[Run, int | None], WorstFinding] = lambda _run, _row: NO_FINDING
    below_siblings_of: Callable[[str], BelowSiblings | None] = lambda _id: None
    """Of a run (id) that says, for want of a finding, that it is far below its siblings."""
    row_of: Callable[[Run], int | None] = lambda _run: None
    """The row at which a run is shown; None: its end."""
    compared: list[str] = field(default_factory=list)
    """The runs that were chosen for comparing."""
    seen: dict[str, RunNews] = field(default_factory=dict)
    """Run -> what it was when one last looked."""
    _cache: dict[str, tuple[int, int | None, float, ListedRun]] = field(default_factory=dict)

    def listed_runs(self, session: Session, now: float) -> list[ListedRun]:
        """All runs in the chosen order.

        By severity: those to be watched or worse, worst first; then live ones; then the others.
        """
        every = [self._listed_run(run, now) for run in session.runs.values()]
        if len(self._cache) > len(every):
            self._cache = {k: kept for k, kept in self._cache.items() if k in session.runs}
        every.sort(key=lambda each: each.rank)
        return sorted(every, key=ORDER_KEYS[self.order])

    def _listed_run(self, run: Run, now: float) -> ListedRun:
        kept = self._cache.get(run.id)
        row = self.row_of(run)
        is_same = kept is not None and kept[:2] == (run.version, row)
        if kept is not None and is_same and now - kept[2] < MAX_STATE_AGE_S:
            return kept[3]
        known = self.verdict_of(run, row)
        made = ListedRun(
            id=run.id,
            name=run.name,
            path=run.path,
            verdict=known,
            state=state_at(run, row, now),
            last_change=logged_change(run),
            traits=run_traits(run.name, run.evaluation.config),
            worst=self.worst_finding_of(run, row),
            reward=reward_at(run, row),
            step=step_at(run, row),
            copy_of=run.copy_of,
            last_step=run.timeline.steps[-1] if len(run.timeline) else 0,
            outside=kept[3].outside if kept is not None and is_same else _outside(run, row, known),
        )
        self._cache[run.id] = (run.version, row, now, made)
        return made

    def invalidate(self) -> None:
        """Clear the cache: acknowledgements changed."""
        self._cache.clear()

    def filtered(self, every: list[ListedRun]) -> list[ListedRun]:
        """The runs that match the filter."""
        words = self.filter.lower().split()
        return [listed for listed in every if listed.matches(words)] if words else every

    def in_list_order(self, every: list[ListedRun]) -> list[ListedRun]:
        """The runs that match the filter, in the order of the unfolded list."""
        groups = self.group_by_experiment(self.filtered(every))
        return [listed for members in groups.values() for listed in members]

    def entries(self, every: list[ListedRun], chosen: str) -> list[RunListEntry]:
        """The lines of the list; a seed group is one line unless unfolded or selected."""
        groups = self.group_by_experiment(self.filtered(every))
        entries: list[RunListEntry] = []
        for name, members in groups.items():
            if len(members) == 1:
                entries.append(self._entry(members[0], chosen))
                continue
            folded = name not in self.unfolded and chosen not in {each.id for each in members[1:]}
            entries.append(self._group(name, members, folded, chosen))
            if not folded:
                shown = (self._entry(each, chosen) for each in members[1:])
                entries += [entry._replace(member=True) for entry in shown]
        return entries

    def next_order(self) -> None:
        """Sort by the next of `RUN_ORDERS`."""
        self.order = RUN_ORDERS[(RUN_ORDERS.index(self.order) + 1) % len(RUN_ORDERS)]

    def toggle_compared(self, run_id: str) -> bool:
        """Choose a run for comparing, or no longer; whether it is chosen now."""
        if run_id in self.compared:
            self.compared.remove(run_id)
        else:
            self.compared.append(run_id)
        return run_id in self.compared

    def mark_seen(self, listed: ListedRun) -> None:
        """The user looks at a run: its present state is no longer news."""
        self.seen[listed.id] = listed.news

    def _entry(self, listed: ListedRun, chosen: str) -> RunListEntry:
        changed = self.seen.get(listed.id, listed.news) != listed.news and listed.id != chosen
        entry = _entry(listed)._replace(changed=changed, compared=listed.id in self.compared)
        below = self.below_siblings_of(listed.id)
        if listed.worst.title or below is None:
            return entry
        return entry._replace(finding=below.title, since=step_text(below.since, axis=below.axis))

    def _group(
        self, name: str, members: list[ListedRun], folded: bool, chosen: str
    ) -> RunListEntry:
        first = self._entry(members[0], chosen)
        if not folded:
            return first
        worst = max(members, key=lambda each: each.mark.rank)
        state = State.LIVE if any(each.state is State.LIVE for each in members) else first.state
        group = first._replace(
            name=name,
            state=state,
            seeds=len(members),
            alike=sum(each.mark is worst.mark for each in members),
            folded=True,
            changed=any(self._entry(each, chosen).changed for each in members),
            compared=any(each.id in self.compared for each in members),
        )
        entries = [self._entry(each, chosen) for each in (worst, *members)]
        found = next((each for each in entries if each.finding), entries[0])
        return group._replace(
            verdict=worst.verdict, mark=worst.mark, finding=found.finding, since=found.since
        )

    def group_by_experiment(self, every: list[ListedRun]) -> dict[str, list[ListedRun]]:
        """Runs by experiment, in the order given; without folding, each run on its own.

        By severity, the seeds of an experiment stand together all the same.
        """
        if not self.fold_seeds and self.order != DEFAULT_ORDER:
            return {listed.id: [listed] for listed in every}
        groups = self.experiments(every)
        if self.fold_seeds:
            return groups
        return {listed.id: [listed] for members in groups.values() for listed in members}

    def experiments(self, every: list[ListedRun]) -> dict[str, list[ListedRun]]:
        """Runs by experiment, whether folded or not."""
        by_id = {listed.id: listed for listed in every}
        found = group_seeds({listed.id: listed.traits for listed in every if not listed.copy_of})
        groups = {name: [by_id[each] for each in ids] for name, ids in found.items()}
        copies = {f"copy {each.id}": [each] for each in every if each.copy_of}  # no seeds
        if not copies:
            return groups
        place = {listed.id: number for number, listed in enumerate(every)}
        return dict(sorted((groups | copies).items(), key=lambda pair: place[pair[1][0].id]))

    def unfold(self, session: Session, now: float, chosen: str) -> bool:
        """Unfold the group that a run represents; False if it represents none."""
        for entry in self.entries(self.listed_runs(session, now), chosen):
            if entry.id == chosen and entry.seeds > 1:
                self.unfolded.add(entry.name)
                return True
        return False

    def fold(self, session: Session, now: float, chosen: str) -> str:
        """Fold the group of a run, if it is unfolded; the run that then stands for it."""
        groups = self.group_by_experiment(self.filtered(self.listed_runs(session, now)))
        for name, (first, *others) in groups.items():
            opened = name in self.unfolded or chosen != first.id
            if others and opened and any(each.id == chosen for each in (first, *others)):
                self.unfolded.discard(name)
                return first.id
        return ""


def _outside(run: Run, row: int | None, known: Verdict) -> str:
    return "" if known.is_trouble else outside_words(run, row)


def _entry(listed: ListedRun) -> RunListEntry:
    return RunListEntry(
        listed.id,
        listed.name,
        listed.verdict,
        listed.mark,
        listed.state,
        finding=listed.finding,
        since=listed.worst.since,
        reward=listed.reward,
        step=listed.step,
        is_copy=bool(listed.copy_of),
    )


def _in_name_order(listed: ListedRun) -> list[tuple[int, str]]:
    """Numbers within a name count as numbers: run 9 comes before run 10."""
    parts = re.split(r"(\d+)", listed.name.lower())
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


ORDER_KEYS: dict[str, Callable[[ListedRun], Any]] = {
    DEFAULT_ORDER: lambda _listed: 0,
    "name": _in_name_order,
    "newest": lambda listed: -listed.last_change,
    "step": lambda listed: -listed.last_step,
}
"""Order -> sort key; runs that are equal stay in the order of severity."""
