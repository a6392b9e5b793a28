"""What was found in a run: its rows and findings, as screen and reports read them.

`OngoingEvaluation` makes them from the logs; a `ClosedEvaluation` holds what was kept of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from ppo_top.catalogue import MACHINE_GROUP, OTHER_GROUP, Trainer, concept
from ppo_top.model import ConfigValue, Finding, Profile
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.coverage import SkippedRule
from ppo_top.runs.reward_curve import RewardCurve
from ppo_top.runs.rows.timeline import SavedTimeline, Timeline
from ppo_top.runs.sources.source import SourceState


class ClosedRun(NamedTuple):
    """What is left of an evaluation when its points are dropped, to be kept on disk."""

    trainer: Trainer
    config: dict[str, ConfigValue]
    profile: Profile
    findings: list[Finding]
    timeline: SavedTimeline
    curve: RewardCurve = RewardCurve()


class Evaluation(ABC):
    """The rows of a run so far, and what the rules have found in them."""

    def __init__(
        self,
        trainer: Trainer,
        config: dict[str, ConfigValue],
        profile: Profile,
        timeline: Timeline,
    ) -> None:
        self.trainer = trainer
        self.config = config
        self.profile = profile
        self.timeline = timeline

    @property
    @abstractmethod
    def findings(self) -> list[Finding]:
        """Every finding so far, in the order in which they opened."""

    @abstractmethod
    def reward_curve(self) -> RewardCurve:
        """The reward over all rows so far."""

    @abstractmethod
    def skipped_rules(self) -> list[SkippedRule]:
        """Rules that did not apply to the run so far, and why."""

    @abstractmethod
    def concept_of(self, source: SourceState, tag: str) -> str | None:
        """The concept of a tag of a source, or None."""

    @abstractmethod
    def newest_of_machine(self) -> dict[str, float]:
        """What was measured last of each metric of the machine, after the newest row, too."""

    @property
    def has_concepts(self) -> bool:
        """Whether the rows hold any known metric."""
        names = (name for name, track in self.timeline.tracks.items() if len(track))
        return any(concept(name).group not in (OTHER_GROUP, MACHINE_GROUP) for name in names)

    def saved(self, keep: int) -> ClosedRun:
        """What is left of it when its points are dropped, with the newest `keep` rows."""
        timeline = self.timeline.saved(keep)
        curve = self.reward_curve()
        return ClosedRun(self.trainer, self.config, self.profile, self.findings, timeline, curve)


class ClosedEvaluation(Evaluation):
    """What was kept of a run whose points were dropped.

    Which rules were skipped and what the tags mean is not kept: it is asked for reports, which are
    made while a run has its points.
    """

    def __init__(self, closed: ClosedRun) -> None:
        timeline = Timeline.restored(closed.timeline)
        super().__init__(closed.trainer, closed.config, closed.profile, timeline)
        self._closed = closed

    @property
    def findings(self) -> list[Finding]:
        return self._closed.findings

    def reward_curve(self) -> RewardCurve:
        return self._closed.curve

    def skipped_rules(self) -> list[SkippedRule]:
        return []

    def concept_of(self, source: SourceState, tag: str) -> str | None:
        return None

    def newest_of_machine(self) -> dict[str, float]:
        return {}
