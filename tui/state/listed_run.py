"""A run as the list shows it, at a row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ppo_top.catalogue import concept
from ppo_top.model import RunRank, Severity, State, Status, Verdict, worst_first
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.engine.logged_run import REWARD_CONCEPTS
from ppo_top.runs.run import Run
from ppo_top.text.format import format_metric_value
from ppo_top.text.format import steps as step_text
from ppo_top.views.seed_groups import RunTraits

SEVERITY_WORDS = frozenset(severity.word for severity in Severity)


class WorstFinding(NamedTuple):
    """The worst open finding of a run: title, first step as text."""

    title: str = ""
    since: str = ""


NO_FINDING = WorstFinding()


class RunNews(NamedTuple):
    """What is marked in the list if it changed since the user last looked at a run."""

    verdict: Verdict
    state: State
    finding: str


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run as the list shows it."""

    id: str
    name: str
    path: str
    verdict: Verdict
    state: State
    last_change: float
    traits: RunTraits
    worst: WorstFinding = NO_FINDING
    reward: str = ""
    step: str = ""
    copy_of: str = ""
    last_step: int = 0
    outside: str = ""
    """Which values are out of their range in a run without a finding that says more."""

    @property
    def mark(self) -> Status:
        """The mark that stands over the run when it is selected."""
        return self.verdict.mark(self.state, watches=bool(self.outside))

    @property
    def rank(self) -> RunRank:
        """Its place in the order of severity."""
        watches = bool(self.outside)
        return worst_first(self.verdict, self.state, self.last_change, self.name, watches=watches)

    @property
    def finding(self) -> str:
        """The worst finding, else what the mark stands for without one."""
        return self.worst.title or self.outside

    @property
    def news(self) -> RunNews:
        """What is marked in the list when it changes."""
        return RunNews(self.verdict, self.state, self.worst.title)

    def matches(self, words: Iterable[str]) -> bool:
        """Whether name, path, verdict, state or finding contain every word, and no `!word`.

        The word of a severity stands for that alone.
        """
        text = f"{self.name} {self.path} {self.verdict} {self.state.value} {self.finding}".lower()
        text += " copy" if self.copy_of else ""
        severities = {self.verdict.value, self.mark.value}

        def has(word: str) -> bool:  # `crit` is no word of "Critic has not learned"
            return word in (severities if word in SEVERITY_WORDS else text)

        return all(
            not has(word[1:]) if word[0] == "!" and len(word) > 1 else has(word) for word in words
        )


def reward_at(run: Run, row: int | None) -> str:
    """The reward of a run at a row, or an empty string."""
    for name in REWARD_CONCEPTS:
        track = run.timeline.tracks.get(name)
        seen = 0 if track is None else len(track) if row is None else track.count_until(row)
        if track is not None and seen:
            return format_metric_value(track.values[seen - 1], concept(name).fmt)
    return ""


def step_at(run: Run, row: int | None) -> str:
    """The step of a run at a row, or an empty string."""
    steps = run.timeline.steps
    at = len(steps) - 1 if row is None else min(row, len(steps) - 1)
    return step_text(steps[at], axis=run.timeline.axis) if at >= 0 else ""


def default_run(every: list[ListedRun]) -> ListedRun | None:
    """The run to select first: the worst one; if all are well, the one that was written last."""
    worst = min(every, key=lambda each: each.rank, default=None)
    if worst is not None and worst.verdict.is_trouble:
        return worst
    live = [each for each in every if each.state is State.LIVE]
    return max(live or every, key=lambda each: each.last_change, default=None)
