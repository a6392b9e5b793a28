"""The files of one format that are one source of a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from pathlib import PurePath

from ppo_top.catalogue import (
    ROW_PER_EPISODE,
    UNKNOWN_TRAINER,
    Meaning,
    Trainer,
    facts_about,
    identify,
    meaning,
    reward_by_name,
)
from ppo_top.model import HEAD_ROWS, Axis, Head, Series, SourceFacts
from ppo_top.parsers.shared.names.metric_names import step_axis
from ppo_top.runs.grouping.locations import EVALUATION_NAME, START_TIME_FOLDER
from ppo_top.runs.grouping.rotation import goes_on, rotation
from ppo_top.runs.meaning_by_values import (
    OpenCounts,
    counted_axis,
    settle_by_others,
    settle_sign,
)
from ppo_top.runs.sources.source import SourceState

_NUMBER = re.compile(r"\d+(?:\.\d+)?\.")
"""What the name of an environment's log begins with: `3.monitor.csv`, `0.0.monitor.csv`."""

CUT_MARK = "..."
"""The end of a key that was too long for Stable-Baselines3's table."""


_NUMBERED = {"episode": Axis.EPISODE, "epoch": Axis.EPOCH}


def numbering_tags(concepts: Mapping[str, str]) -> dict[str, Axis]:
    """The tags that number episodes or epochs; `concepts`: what tags mean, "" where unknown."""
    named = {tag: concept or step_axis(tag) or "" for tag, concept in concepts.items()}
    return {tag: _NUMBERED[what] for tag, what in named.items() if what in _NUMBERED}


def numbers_as_steps(facts: SourceFacts, tags: Mapping[str, Axis]) -> tuple[Axis, Sequence[int]]:
    """What the steps of a source are, and the first of them if they are the values of a tag.

    `tags`: those that number something.
    """
    for tag, axis in tags.items():
        head = facts.heads.get(tag)
        steps = head.steps[:HEAD_ROWS] if head is not None else ()
        if len(steps) > 1 and head is not None and steps == head.values[:HEAD_ROWS]:
            return axis, steps
    return Axis.STEP, ()


class SourceChain:
    """The files of one format in one folder, or of one rotated log, in order of creation.

    A resumed run leaves several, which are one source of the run.
    """

    def __init__(
        self,
        sources: list[SourceState],
        full_names: Mapping[str, str],
        user_tags: Mapping[str, str],
        beside: Sequence[SourceState] = (),
    ) -> None:
        self.sources = sources
        self._beside = beside
        self.full_names = full_names
        self.user_tags = user_tags

    @property
    def key(self) -> str:
        """The key of the first file, which names the chain."""
        return self.sources[0].key

    @property
    def environments(self) -> int:
        """How many environments run side by side, where the chain counts the steps of one."""
        own = self.sources[0].facts
        return 1 + sum(_overlap(own, other.facts) for other in self._beside)

    @property
    def last_step(self) -> int:
        """The last step of any tag; all environments take as many as the one that it logs."""
        steps = (part.steps[-1] for tag in self.tags for part in self.parts(tag))
        return self.environments * max(steps)

    @property
    def axis(self) -> Axis:
        """What its steps are: those of `Episode 12: reward 31.5` are the numbers of episodes."""
        if self.counts_rows:
            return counted_axis(self.tags)
        return self._numbers_as_steps()[0]

    @property
    def counts_rows(self) -> bool:
        """Whether its steps are the numbers of its rows, for it states none."""
        return self.sources[-1].counts_updates

    @property
    def steps_once_an_episode(self) -> bool:
        """Whether its steps are the numbers of episodes, none of them left out."""
        if self.counts_rows:
            return self.axis is Axis.EPISODE
        axis, numbers = self._numbers_as_steps()
        follow = all(later == one + 1 for one, later in pairwise(numbers))
        return axis is Axis.EPISODE and follow

    @property
    def episode_numbers(self) -> list[Head]:
        """The first points of the tags that number episodes."""
        axes = self._numbering_tags.items()
        heads = (self.head(tag) for tag, axis in axes if axis is Axis.EPISODE)
        return [head for head in heads if head is not None]

    def _numbers_as_steps(self) -> tuple[Axis, Sequence[int]]:
        return numbers_as_steps(self.sources[0].facts, self._numbering_tags)

    @property
    def steps_an_iteration(self) -> int:
        """How many steps each iteration, or epoch, has; 0 where both are not logged, or it differs.

        `Update 3/50 | timesteps 6144`, from 0 or from 1 on.
        """
        for tag in self._iteration_tags:
            head = self.sources[0].facts.heads.get(tag)
            if head is None or len(head.steps) <= 1:
                continue
            first = head.values[0] if head.values[0] in (0.0, 1.0) else 1.0
            each = {
                step / (value - first + 1)
                for step, value in zip(head.steps, head.values, strict=False)
                if value >= first
            }
            if len(each) == 1 and (found := each.pop()) > 1 and found.is_integer():
                return int(found)
        return 0

    @cached_property
    def _iteration_tags(self) -> list[str]:
        counters = ("iteration", "epoch")
        return [
            tag
            for tag in self.tags
            if step_axis(tag) in counters or self._concept(tag) == "iteration"
        ]

    @cached_property
    def _numbering_tags(self) -> dict[str, Axis]:
        return numbering_tags({tag: self._concept(tag) for tag in self.tags})

    def _concept(self, tag: str) -> str:
        """What a tag stands for; empty if nothing is known of it."""
        known = self.meanings.get(tag)
        return known.concept if known is not None else ""

    @cached_property
    def tags(self) -> list[str]:
        """All tags, sorted: the choice of streams must not depend on the order of arrival."""
        return sorted({tag for source in self.sources for tag in source.series})

    @cached_property
    def trainer(self) -> Trainer:
        """The trainer that wrote it, by its tags; else by the name of its file, too."""
        names = (self.full_names.get(tag, tag) for tag in self.tags)
        settings = (key for source in self.sources for key in source.config)
        plain = {key.replace("/", ".").rpartition(".")[2] for key in settings}
        formats = {source.format for source in self.sources}
        return identify(names, formats, plain, PurePath(self.key).stem)

    @cached_property
    def rows_are_episodes(self) -> bool:
        """Whether a row is one episode's, whatever else it holds."""
        return ROW_PER_EPISODE in facts_about(self.trainer.id)

    @cached_property
    def meanings(self) -> dict[str, Meaning]:
        """tag -> meaning, for known tags."""
        found = {}
        for tag in self.tags:
            known = meaning(self.trainer, self.full_names.get(tag, tag), self.user_tags)
            if known is not None and known.either_sign:
                known = settle_sign(known, self._first_values(tag))
            if known is not None:
                found[tag] = known._replace(per_episode=known.per_episode or self.rows_are_episodes)
        self._counts.settle(found)
        settle_by_others(found, self.tags, is_known=self.trainer is not UNKNOWN_TRAINER)
        if all(known.concept != "reward_mean" for known in found.values()):
            found |= self._users_reward()
        return found

    def is_settled(self) -> bool:
        """Whether no count so far has turned out to be that of each episode, or of each batch."""
        return self._counts.are_settled(self.meanings)

    @property
    def has_open_counts(self) -> bool:
        """Whether only values show what a count is of."""
        return self._counts.are_open(self.meanings)

    @property
    def _counts(self) -> OpenCounts:
        return OpenCounts(self._first_values, self._are_steps, counts_rows=self.counts_rows)

    def _are_steps(self, tag: str) -> bool:
        """Whether the first values of a tag are the steps at which they were logged."""
        head = self.head(tag)
        return head is not None and head.values[:HEAD_ROWS] == head.steps[:HEAD_ROWS]

    def _first_values(self, tag: str) -> Sequence[float]:
        """The first values of a tag, also where its oldest points have been dropped."""
        head = self.head(tag)
        return head.values[:HEAD_ROWS] if head is not None else ()

    def head(self, tag: str) -> Head | None:
        """The first points of a tag, also where they are no longer held."""
        heads = (source.facts.heads.get(tag) for source in self.sources)
        return next((head for head in heads if head is not None), None)

    def _users_reward(self) -> dict[str, Meaning]:
        """The tag that a user's own callback seems to log the reward under, and its meaning."""
        guesses = [(tag, reward_by_name(self.trainer, tag)) for tag in self.tags]
        named = [(guess.priority, tag, guess) for tag, guess in guesses if guess is not None]
        return {tag: guess for _, tag, guess in sorted(named, key=itemgetter(0, 1))[:1]}

    def parts(self, tag: str) -> list[Series]:
        """The series of a tag, file by file."""
        return [source.series[tag] for source in self.sources if tag in source.series]

    @property
    def sort_key(self) -> tuple[int, bool, int, int, str]:
        """Best first: by the format's rank, training before evaluation, close to the run's folder.

        add_scalars and Keras put both into folders of their own, under the same tag.
        """
        first, path = self.sources[0], PurePath(self.key)
        length = first.points if first.source.format.cumulative else 0
        is_evaluation = bool(EVALUATION_NAME.search(path.parent.name))
        return -first.rank, is_evaluation, -length, len(path.parts), self.key


def source_chains(sources: Iterable[SourceState], own: Mapping[str, str]) -> list[SourceChain]:
    """The chains of a run's sources; `own` are the user's aliases: tag -> concept."""
    grouped: dict[tuple[str, str], list[SourceState]] = {}
    every = list(sources)
    for source in every:
        if source.series:
            location = _chain_place(source)
            grouped.setdefault((location, source.format), []).append(source)
    states = [chain for group in grouped.values() for chain in _in_order(group)]
    whole = _full_names(tag for group in states for source in group for tag in source.series)
    return [SourceChain(group, whole, own, _beside(group[0], every)) for group in states]


def _beside(source: SourceState, others: Iterable[SourceState]) -> list[SourceState]:
    """The logs of environments whose names differ from a log's in the number alone."""
    name = _without_number(source)
    if not name:
        return []
    return [each for each in others if each is not source and _without_number(each) == name]


def _without_number(source: SourceState) -> str:
    """The path of an environment's log without the number; empty of any other log."""
    path = PurePath(source.key)
    number = _NUMBER.match(path.name) if source.source.format.per_environment else None
    return str(path.parent / path.name[number.end() :]) if number is not None else ""


def _overlap(one: SourceFacts, other: SourceFacts) -> bool:
    """Whether two logs may have been written at once: neither begins after the end of the other."""
    if one.rows < 2 or other.rows < 2:
        return True
    return not (one.start > other.end or other.start > one.end)


def _chain_place(source: SourceState) -> str:
    """What the files of a chain have in common: the folder, or the path before a metric's name.

    transformers' Trainer begins a folder named after its time whenever it is resumed.
    """
    if not source.source.format.chained:
        return rotation(source.key)[0]
    stem, tag = source.key.rpartition(".")[0], next(iter(source.series))
    if stem.endswith(tag):
        return stem.removesuffix(tag)
    folder = PurePath(source.key).parent
    return str(folder.parent if START_TIME_FOLDER.fullmatch(folder.name) else folder)


def _in_order(sources: Iterable[SourceState]) -> list[list[SourceState]]:
    """Files in order of creation, divided where a log does not continue the one before it."""
    found: list[list[SourceState]] = []
    for source in sorted(sources, key=lambda each: each.creation_order):
        before = found[-1][-1].facts if found else None
        if before is not None and (source.source.format.chained or goes_on(before, source.facts)):
            found[-1].append(source)
        else:
            found.append([source])
    return found


def _full_names(tags: Iterable[str]) -> dict[str, str]:
    """Truncated key -> full key, if exactly one key of another source fits."""
    known = sorted(set(tags))
    cut = [tag for tag in known if tag.endswith(CUT_MARK)]
    whole = {}
    for tag in cut:
        stem = tag.removesuffix(CUT_MARK)
        fits = [other for other in known if other.startswith(stem) and other not in cut]
        if len(fits) == 1:
            whole[tag] = fits[0]
    return whole
