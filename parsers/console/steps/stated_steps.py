"""The steps that records state: of a line's number, of an episode, of the outer counter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ppo_top.parsers.console.record import ConsoleRecord
from ppo_top.parsers.console.steps.episode_steps import EpisodeSteps
from ppo_top.parsers.console.steps.nested_counters import NestedCounters
from ppo_top.parsers.console.steps.opening_records import OpeningRecords
from ppo_top.parsers.console.steps.unnamed_steps import UnnamedSteps


class StatedSteps:
    """Gives records the step that they state, once others have told what their numbers count."""

    def __init__(self) -> None:
        self.episode_steps = EpisodeSteps()
        self.nested = NestedCounters()
        self._unnamed = UnnamedSteps()
        self._opening = OpeningRecords()

    @property
    def is_waiting(self) -> bool:
        """Whether records wait for others that tell their step."""
        return self._awaits_counts or self._opening.is_waiting

    @property
    def has_begun(self) -> bool:
        """Whether records wait that are the training's, not only those before its first step."""
        return self._awaits_counts or self._opening.will_be_counted

    @property
    def _awaits_counts(self) -> bool:
        counts = self.nested.is_waiting or self.episode_steps.is_waiting
        return counts or self._unnamed.is_waiting

    def read(
        self, found: ConsoleRecord, before: int | None, axis: str, *, may_begin: bool
    ) -> Sequence[ConsoleRecord]:
        """The records that have their step, if they say one; this one is the last of them.

        `before` and `axis`: the last step that was given and what it counts. `may_begin`: it may
        be the first record of another training, as something else says.
        """
        named = self._of_episodes(self._unnamed.read(found), before)
        return self._of_outer_counters(named, axis, may_begin=may_begin)

    def release(self, before: int | None, axis: str) -> Sequence[ConsoleRecord]:
        """The records that wait: no others will tell their step."""
        named = self._of_episodes(self._unnamed.release(), before)
        named = [*named, *self.episode_steps.release()]
        told = [*self._of_outer_counters(named, axis, may_begin=False)]
        for found in self.nested.release():
            told += self._opening.read(found)
        return [*told, *self._opening.release()]

    def expect_step(self) -> None:
        """Know that a step will be said."""
        self._opening.expect_step()

    def note_first(self) -> None:
        """Note that a first step was said while nothing waited: what follows needs none of it."""
        self._opening.release()

    def _of_episodes(
        self, records: Iterable[ConsoleRecord], before: int | None
    ) -> list[ConsoleRecord]:
        return [each for found in records for each in self.episode_steps.read(found, before)]

    def _of_outer_counters(
        self, records: Iterable[ConsoleRecord], axis: str, *, may_begin: bool
    ) -> Sequence[ConsoleRecord]:
        read = self.nested.read
        ready = [each for found in records for each in read(found, axis, may_begin=may_begin)]
        return [each for found in ready for each in self._opening.read(found)]
