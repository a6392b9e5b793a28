"""Collects what a console's records say into the columns of a batch."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

from ppo_top.model import UNKNOWN_TIME, Batch, ConfigValue, Ended, Lines, Problem, State
from ppo_top.parsers.console.record import Record
from ppo_top.parsers.shared.columns import Sheet

_MOST_OWNED_TAGS = 10_000
_MOST_LAYOUTS = 256


class Ledger:
    """Points, settings and the end of one stream; `step` is the last one that a record had.

    Several speakers may log the same tag: the first rank's (or the first speaker's) keeps the
    name, the others' are marked with theirs.
    """

    def __init__(self) -> None:
        self.step: int | None = None
        self._owners: dict[str, str] = {}
        self._many = False
        self._dead = False
        self._finished: Ended | None = None
        self._known: set[tuple[str, ...]] = set()  # the first speaker's, as long as it is alone
        self._begin()

    def _begin(self) -> None:
        self._sheet = Sheet()
        self._config: dict[str, ConfigValue] = {}
        self._ended: Ended | None = None

    def take(self, lines: Lines, problems: list[Problem]) -> Batch:
        """All since the last call as a batch."""
        batch = Batch(self._sheet.take(), self._config, lines, problems, self._ended)
        self._begin()
        return batch

    def configure(self, config: Mapping[str, ConfigValue]) -> None:
        """Settings of the run."""
        self._config.update(config)

    def end(self, ended: Ended) -> None:
        """The stream's own word that the run is over."""
        self._ended = ended
        self._dead = ended.state is State.DIED
        if ended.state is State.FINISHED:
            self._finished = ended

    def record(self, voice: str, found: Record, step: int) -> None:
        """The values of one record at its step."""
        tags: tuple[str, ...]
        values: Sequence[float]
        tags, values = zip(*found.values, strict=True) if found.values else ((), ())
        if found.time != found.time and len(set(tags)) == len(tags):
            self.row(voice, tags, step, values)
            return
        self._goes_on(step)
        for tag, value in zip(self._named(voice, tags), values, strict=True):
            self._sheet.add(tag, step, found.time, value)

    def row(self, voice: str, tags: tuple[str, ...], step: int, values: Sequence[float]) -> None:
        """One value for each of `tags` (all distinct), without a time."""
        self._goes_on(step)
        self._sheet.row(self._named(voice, tags), step, values)

    def columns(
        self, tags: tuple[str, ...], steps: array[int], columns: Sequence[array[float]]
    ) -> None:
        """Many rows of one layout at once, said by the first speaker."""
        self._goes_on(steps[-1])
        times = array("d", [UNKNOWN_TIME]) * len(steps)
        for tag, values in zip(self._named("", tags), columns, strict=True):
            self._sheet.column(tag, steps, times, values)

    def words(self, tags: tuple[str, ...], steps: array[int], words: Sequence[bytes]) -> None:
        """Many rows of one layout, their numbers still words, said by the first speaker."""
        self._goes_on(steps[-1])
        self._sheet.words(self._named("", tags), steps, words)

    def _goes_on(self, step: int) -> None:
        """Training goes on, so a traceback before it was survived; a farewell before that holds."""
        self.step = step
        if self._dead:
            self._dead = False
            self._ended = self._finished

    def _named(self, voice: str, tags: tuple[str, ...]) -> tuple[str, ...]:
        if voice == "" and not self._many and tags in self._known:
            return tags
        self._many = self._many or voice != ""
        if len(self._known) < _MOST_LAYOUTS:
            self._known.add(tags)
        return tuple(self._owned(voice, tag) for tag in tags)

    def _owned(self, voice: str, tag: str) -> str:
        owner = self._owners.get(tag)
        if owner is None or (voice == "" and owner != ""):
            if len(self._owners) < _MOST_OWNED_TAGS:
                self._owners[tag] = voice
            owner = voice
        return tag if voice == owner else f"{tag} [{voice}]"
