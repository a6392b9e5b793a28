"""Which sources of a run feed which concepts: one lane a concept, from the best source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath

from ppo_top.catalogue import IGNORE, Meaning, Trainer, identify, meaning
from ppo_top.model import Series
from ppo_top.runs.row_merge import ConceptStream, StepMapping
from ppo_top.runs.source import SourceState

MAX_STREAMS = 2_000
"""Tags beyond this number are kept and exported but not judged: some logs make a tag a sample."""

CUT_MARK = "..."
"""How Stable-Baselines3 ends a key that was longer than its table allows."""

SAME_STEPS_RATIO = (0.5, 2.0)
"""Two sources without a common concept count the same when their last steps differ by less."""


@dataclass
class SourceChain:
    """The files of one format in one folder, in order of creation: what one writer left.

    A resumed run leaves several; together they are one source of the run.
    """

    sources: list[SourceState]
    full_names: Mapping[str, str] = field(default_factory=dict)
    user_tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key of the first file, which names the chain."""
        return self.sources[0].key

    @cached_property
    def tags(self) -> list[str]:
        """Every tag of the chain, sorted: the choice of lanes must not depend on arrival."""
        return sorted({tag for source in self.sources for tag in source.series})

    @cached_property
    def trainer(self) -> Trainer:
        """Who wrote it, by its tags."""
        names = (self.full_names.get(tag, tag) for tag in self.tags)
        return identify(names, {source.format for source in self.sources})

    @cached_property
    def meanings(self) -> dict[str, Meaning]:
        """tag -> what it means, for the tags that mean something."""
        found = {}
        for tag in self.tags:
            known = meaning(self.trainer, self.full_names.get(tag, tag), self.user_tags)
            if known is not None:
                found[tag] = known
        return found

    def parts(self, tag: str) -> list[Series]:
        """The series of a tag, file by file."""
        return [source.series[tag] for source in self.sources if tag in source.series]

    @property
    def sort_key(self) -> tuple[int, int, int, str]:
        """Best first: the format's rank, then the files nearest to the run's own folder."""
        first = self.sources[0]
        length = first.points if first.source.format.cumulative else 0
        return -first.rank, -length, len(PurePath(self.key).parts), self.key


@dataclass(frozen=True)
class SourceSelection:
    """The lanes of a run, who produced it, and when its segments began."""

    streams: tuple[ConceptStream, ...]
    clock_series: tuple[Series, ...]
    """The series whose steps tell where the run began again."""
    has_times: bool
    """Whether that source tells the time."""
    trainer: Trainer
    tags_left_out: int
    """How many tags are not judged because there are too many."""
    concepts: Mapping[tuple[str, str], str]
    """(source, tag) -> concept, for every tag that means one, charted or not."""
    uncertain_chains: tuple[tuple[SourceChain, SourceChain, bool], ...] = ()
    """Sources of which only the length tells whether they count what the main one does."""

    def is_current(self) -> bool:
        """Whether the choice is still what it would be if it were made now."""
        return all(
            _has_same_length(chain, main) is same for chain, main, same in self.uncertain_chains
        )


def select_sources(sources: Iterable[SourceState], own_names: Mapping[str, str]) -> SourceSelection:
    """Choose the lanes of a run; the answer depends on what the sources hold, not on when it came.

    `own_names` are the user's words for his tags: tag -> concept.
    """
    chains = sorted(_chains(sources, own_names), key=lambda chain: chain.sort_key)
    main = _main_chain(chains)
    if main is None:
        return SourceSelection((), (), False, identify(()), 0, {})
    lanes = [
        lane
        for chain in (main, *(c for c in chains if c is not main))
        for lane in _streams(chain, main)
    ]
    chosen = _best_streams(lanes, chains, main)
    clock = main.parts(min(main.tags, key=lambda tag: (main.parts(tag)[0].steps[0], tag)))
    doubts = [
        c
        for c in chains
        if c is not main and _shared_series(c, main) is None and not _is_episodic(c)
    ]
    return SourceSelection(
        tuple(chosen[:MAX_STREAMS]),
        tuple(clock),
        clock[0].times[0] == clock[0].times[0],
        _main_trainer(main, chains),
        max(0, len(chosen) - MAX_STREAMS),
        {
            (source.key, tag): known.concept
            for chain in chains
            for source in chain.sources
            for tag, known in chain.meanings.items()
            if tag in source.series
        },
        tuple((chain, main, _has_same_length(chain, main)) for chain in doubts),
    )


def _chains(sources: Iterable[SourceState], own: Mapping[str, str]) -> list[SourceChain]:
    grouped: dict[tuple[str, str], list[SourceState]] = {}
    for source in sources:
        if source.series:
            chained = source.source.format.chained
            place = str(PurePath(source.key).parent) if chained else source.key
            grouped.setdefault((place, source.format), []).append(source)
    states = [sorted(group, key=lambda source: source.creation_order) for group in grouped.values()]
    whole = _full_names(tag for group in states for source in group for tag in source.series)
    return [SourceChain(group, whole, own) for group in states]


def _full_names(tags: Iterable[str]) -> dict[str, str]:
    """Keys that a table cut short -> the whole key, where another source tells it for certain."""
    known = sorted(set(tags))
    cut = [tag for tag in known if tag.endswith(CUT_MARK)]
    whole = {}
    for tag in cut:
        stem = tag.removesuffix(CUT_MARK)
        fits = [other for other in known if other.startswith(stem) and other not in cut]
        if len(fits) == 1:
            whole[tag] = fits[0]
    return whole


def _main_chain(chains: Sequence[SourceChain]) -> SourceChain | None:
    """The chain that sets the run's axis: of the best-ranked ones, that which means most."""

    def richness(chain: SourceChain) -> tuple[int, int, int]:
        return (min(len(chain.meanings), 3), -chain.sort_key[0], len(chain.meanings))

    return max(chains, key=richness, default=None)


def _main_trainer(main: SourceChain, chains: Sequence[SourceChain]) -> Trainer:
    if main.trainer.id != "unknown":
        return main.trainer
    known = [chain.trainer for chain in chains if chain.trainer.id != "unknown"]
    return known[0] if known else main.trainer


def _streams(chain: SourceChain, main: SourceChain) -> list[ConceptStream]:
    axis = None
    if chain is not main and not _is_episodic(chain):
        shared = _shared_series(chain, main)
        if shared is None and not _has_same_length(chain, main):
            return []  # kept and exported, but not judged: nothing tells which row is which
        if shared is not None and shared[0][0].steps[0] != shared[1][0].steps[0]:
            axis = StepMapping(*shared)
    lanes = []
    for tag in chain.tags:
        known = chain.meanings.get(tag)
        if known is not None and known.concept == IGNORE:
            continue
        name = chain.full_names.get(tag, tag)
        lane = ConceptStream(
            known.concept if known else f"tag:{name}", tag, chain.key, chain.parts(tag)
        )
        if known is not None:
            lane.scale, lane.offset = known.scale, known.offset
            lane.per_episode, lane.zero_missing = known.per_episode, known.zero_missing
        lane.step_mapping = axis
        lanes.append(lane)
    return lanes


def _best_streams(
    lanes: Sequence[ConceptStream], chains: Sequence[SourceChain], main: SourceChain
) -> list[ConceptStream]:
    """One lane a concept: the main chain's own first, then by the order of the chains."""
    place = {chain.key: number + 1 for number, chain in enumerate(chains)}
    place[main.key] = 0
    preference = {
        (chain.key, tag): known.priority
        for chain in chains
        for tag, known in chain.meanings.items()
    }
    taken: dict[str, ConceptStream] = {}
    ordered = sorted(
        lanes,
        key=lambda lane: (
            place[lane.source],
            preference.get((lane.source, lane.tag), 0),
            lane.tag,
        ),
    )
    for lane in ordered:
        taken.setdefault(lane.concept, lane)
    with_meaning = [lane for lane in taken.values() if not lane.concept.startswith("tag:")]
    return with_meaning + [lane for lane in taken.values() if lane.concept.startswith("tag:")]


def _shared_series(
    chain: SourceChain, main: SourceChain
) -> tuple[list[Series], list[Series]] | None:
    """The series of a concept that both chains hold, once an update; None without one.

    Of several the one that both have had for longest: an evaluation at the end pairs nothing.
    """
    ours = {known.concept: tag for tag, known in main.meanings.items() if not known.per_episode}
    pairs = [
        (chain.parts(tag), main.parts(ours[known.concept]), known.concept)
        for tag, known in chain.meanings.items()
        if known.concept in ours and not known.per_episode
    ]
    if not pairs:
        return None
    theirs, own, _ = min(
        pairs, key=lambda pair: (_first_step(pair[0]), _first_step(pair[1]), pair[2])
    )
    return theirs, own


def _first_step(parts: Sequence[Series]) -> int:
    return parts[0].steps[0]


def _is_episodic(chain: SourceChain) -> bool:
    """Whether a chain has one point an episode and no more: these count environment steps."""
    return bool(chain.meanings) and all(known.per_episode for known in chain.meanings.values())


def _has_same_length(chain: SourceChain, main: SourceChain) -> bool:
    last, reference = _last_step(chain), _last_step(main)
    if not reference or not last:
        return last == reference
    return SAME_STEPS_RATIO[0] <= last / reference <= SAME_STEPS_RATIO[1]


def _last_step(chain: SourceChain) -> int:
    return max(part.steps[-1] for tag in chain.tags for part in chain.parts(tag))
