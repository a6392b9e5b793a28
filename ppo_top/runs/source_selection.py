"""Chooses one stream for each concept of a run, from the best source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ppo_top.catalogue import (
    IGNORE,
    UNKNOWN_FAMILY,
    UNKNOWN_TRAINER,
    Meaning,
    Trainer,
    family_of_metrics,
    is_variant,
)
from ppo_top.model import Axis, RowKind, Sample, Series
from ppo_top.model.named_tuple import NamedTuple
from ppo_top.rules.engine.logged_run import REWARD_CONCEPTS
from ppo_top.runs.rows.concept_stream import ConceptStream
from ppo_top.runs.rows.segments import StepMapping
from ppo_top.runs.rows.timeline import is_of_evaluation
from ppo_top.runs.sources.source import SourceState
from ppo_top.runs.sources.source_chain import SourceChain, source_chains
from ppo_top.runs.summaries import Rivals, rivals, summaries

MAX_STREAMS = 2_000
"""Tags judged per run; further ones are only kept and exported (some logs have a tag a sample)."""

FEW_METRICS = 3
"""With fewer, a log is rather not the one that defines the steps of a run."""

SAME_STEPS_RATIO = (0.5, 2.0)
"""Range of the ratio of their last steps in which two sources count the same."""


class SourceSelection(NamedTuple):
    """The streams of a run, its trainer, and the series that defines its segments."""

    streams: tuple[ConceptStream, ...] = ()
    clock_series: tuple[Series, ...] = ()
    """The series whose steps show where the run was resumed."""
    has_times: bool = False
    """Whether that series has times."""
    first_step: int | None = None
    """The run's step at its first point."""
    main: SourceChain | None = None
    """What defines its steps."""
    axis: Axis = Axis.STEP
    """What its steps are."""
    steps_an_iteration: int = 0
    """How many of them each iteration has, if it is the same number and both are logged."""
    row_kind: RowKind = RowKind.UPDATE
    """What its rows are."""
    trainer: Trainer = UNKNOWN_TRAINER
    concepts: Mapping[tuple[str, str], str] = {}
    """(source, tag) -> concept, for every known tag, charted or not."""
    uncertain_chains: tuple[tuple[SourceChain, SourceChain, bool], ...] = ()
    """(chain, main chain, whether they count the same), where only their lengths show that."""
    open_chains: tuple[SourceChain, ...] = ()
    """Those with a count of which it is not known yet whether it is each episode's or batch's."""
    environments: tuple[tuple[SourceChain, int], ...] = ()
    """(chain, how many environments take as many steps as it logs)"""
    rivals: Rivals = ()
    summaries: frozenset[ConceptStream] = frozenset()
    """Those of them that are but summaries of another one."""

    @property
    def parallel_environments(self) -> int:
        """How many environments run side by side, where the rows are the episodes of one."""
        if self.main is None or self.row_kind is not RowKind.EPISODE:
            return 1
        return self.main.environments

    def is_current(self) -> bool:
        """Whether the same choice would be made now."""
        if any(chain.environments != count for chain, count in self.environments):
            return False
        if summaries(self.rivals) != self.summaries:
            return False
        if self.main is not None and (
            self.axis is not self.main.axis
            or self.steps_an_iteration != self.main.steps_an_iteration
            or self.row_kind is not _row_kind(self.main, self.streams)
        ):
            return False
        return all(chain.is_settled() for chain in self.open_chains) and all(
            _has_same_length(chain, main) is same for chain, main, same in self.uncertain_chains
        )


def select_sources(sources: Iterable[SourceState], own_names: Mapping[str, str]) -> SourceSelection:
    """Choose the streams of a run, by what the sources hold and not by the order of arrival.

    `own_names` are the user's aliases: tag -> concept.
    """
    chains = sorted(source_chains(sources, own_names), key=lambda chain: chain.sort_key)
    main = _main_chain(chains)
    if main is None:
        return SourceSelection()
    streams = [
        stream
        for chain in (main, *(c for c in chains if c is not main))
        for stream in _streams(chain, main)
    ]
    several = rivals(streams)
    summing_up = summaries(several)
    own = [stream for stream in streams if stream not in summing_up]
    chosen = _with_reward(_best_streams(own, chains, main)[:MAX_STREAMS])
    clock = main.parts(min(main.tags, key=lambda tag: (main.parts(tag)[0].steps[0], tag)))
    others = [chain for chain in chains if chain is not main and not _is_episodic(chain)]
    uncertain = [chain for chain in others if _shared_series(chain, main) is None]
    return SourceSelection(
        streams=tuple(chosen),
        clock_series=tuple(clock),
        has_times=clock[0].times[0] == clock[0].times[0],
        first_step=clock[0].steps[0] * main.environments,
        main=main,
        axis=main.axis,
        steps_an_iteration=main.steps_an_iteration,
        row_kind=_row_kind(main, chosen),
        trainer=_main_trainer(main, chains, chosen),
        concepts={
            (source.key, tag): known.concept
            for chain in chains
            for source in chain.sources
            for tag, known in chain.meanings.items()
            if tag in source.series
        },
        uncertain_chains=tuple((each, main, _has_same_length(each, main)) for each in uncertain),
        open_chains=tuple(chain for chain in chains if chain.has_open_counts),
        environments=tuple((chain, chain.environments) for chain in chains),
        rivals=several,
        summaries=summing_up,
    )


def _main_chain(chains: Sequence[SourceChain]) -> SourceChain | None:
    """The chain that defines the run's steps: the best-ranked, with most metrics, with rewards.

    One of evaluations alone does so only if there is no other; of those with few metrics, one that
    states no steps only if none does.
    """

    def richness(chain: SourceChain) -> tuple[bool | int, ...]:
        count, concepts = len(chain.meanings), {each.concept for each in chain.meanings.values()}
        has_training, has_many = not all(map(is_of_evaluation, concepts)), count >= FEW_METRICS
        states_steps = has_many or (count > 0 and not chain.counts_rows)
        has_reward = not concepts.isdisjoint(REWARD_CONCEPTS)
        rank = min(count, FEW_METRICS), has_reward, -chain.sort_key[0], count
        return has_training, has_many, states_steps, *rank

    return max(chains, key=richness, default=None)


def _row_kind(main: SourceChain, chosen: Iterable[ConceptStream]) -> RowKind:
    """What the rows are: episodes where nothing but evaluations stands beside these."""
    of_training = [stream for stream in chosen if not is_of_evaluation(stream.concept)]
    only_episodes = bool(of_training) and all(stream.per_episode for stream in of_training)
    is_episode = only_episodes or main.steps_once_an_episode
    return RowKind.EPISODE if is_episode else RowKind.UPDATE


def _main_trainer(
    main: SourceChain, chains: Sequence[SourceChain], chosen: Iterable[ConceptStream]
) -> Trainer:
    """The first known trainer; its family by what is logged, if its tags do not tell.

    A log of episodes alone may be any trainer's. Another log may tell more: ms-swift's state holds
    what TRL's does, its console the speed besides.
    """
    in_order = sorted((main, *chains), key=lambda chain: chain.rows_are_episodes)
    trainers = [chain.trainer for chain in in_order]
    found = next((each for each in trainers if each is not UNKNOWN_TRAINER), main.trainer)
    found = next((each for each in trainers if is_variant(each, found)), found)
    if found.family != UNKNOWN_FAMILY:
        return found
    return found._replace(family=family_of_metrics(stream.concept for stream in chosen))


def _streams(chain: SourceChain, main: SourceChain) -> list[ConceptStream]:
    mapping = None
    if chain is not main and not _is_episodic(chain):
        shared = _shared_series(chain, main)
        if shared is None and not _has_same_length(chain, main):
            return []  # kept and exported, but not judged: its rows cannot be matched
        if shared is not None and shared[0][0].steps[0] != shared[1][0].steps[0]:
            mapping = StepMapping(*shared)
    streams = []
    for tag in chain.tags:
        known = chain.meanings.get(tag) or Meaning(
            f"tag:{chain.full_names.get(tag, tag)}", per_episode=chain.rows_are_episodes
        )
        if known.concept != IGNORE:
            stream = ConceptStream(known.concept, tag, chain.key, chain.parts(tag))
            stream.scale, stream.offset = known.scale, known.offset
            stream.per_episode, stream.zero_missing = known.per_episode, known.zero_missing
            stream.sample, stream.step_mapping = known.sample, mapping
            stream.priority = known.priority
            stream.step_scale = chain.environments
            stream.head, stream.episode_numbers = chain.head(tag), chain.episode_numbers
            streams.append(stream)
    return streams


def _best_streams(
    streams: Sequence[ConceptStream], chains: Sequence[SourceChain], main: SourceChain
) -> list[ConceptStream]:
    """One stream for each concept: from the main chain if possible, else the best other chain."""
    order = {chain.key: number + 1 for number, chain in enumerate(chains)}
    order[main.key] = 0

    def rank(stream: ConceptStream) -> tuple[int, int, str]:
        return order[stream.source], stream.priority, stream.tag

    best: dict[str, ConceptStream] = {}
    for stream in sorted(streams, key=rank):
        best.setdefault(stream.concept, stream)
    return sorted(best.values(), key=lambda stream: stream.concept.startswith("tag:"))


def _with_reward(streams: list[ConceptStream]) -> list[ConceptStream]:
    """The same streams; if only evaluations log a reward, theirs is the one that is judged.

    So it is where a training collects no episodes (offline) or notes none.
    """
    concepts = {each.concept for each in streams}
    if concepts.isdisjoint(REWARD_CONCEPTS) or all(map(is_of_evaluation, concepts)):
        for each in streams:
            if each.concept == "eval_reward_mean":
                each.concept, each.sample = "reward_mean", Sample("evaluation")
    return streams


def _shared_series(
    chain: SourceChain, main: SourceChain
) -> tuple[list[Series], list[Series]] | None:
    """The series of a concept that both chains log at every update; None without one.

    Of several, the one that starts first: an evaluation at the end matches no steps.
    """
    ours = {known.concept: tag for tag, known in main.meanings.items() if not known.per_episode}
    pairs = [
        (chain.parts(tag), main.parts(ours[known.concept]), known.concept)
        for tag, known in chain.meanings.items()
        if known.concept in ours and not known.per_episode
    ]
    if not pairs:
        return None

    def start(pair: tuple[list[Series], list[Series], str]) -> tuple[int, int, str]:
        return pair[0][0].steps[0], pair[1][0].steps[0], pair[2]

    return min(pairs, key=start)[:2]


def _is_episodic(chain: SourceChain) -> bool:
    """Whether a trainer logs only its episodes there, whose steps are the environment's.

    A monitor of an environment may be that of another one: its length tells.
    """
    meanings = chain.meanings.values()
    return (
        not chain.rows_are_episodes
        and bool(meanings)
        and all(known.per_episode for known in meanings)
    )


def _has_same_length(chain: SourceChain, main: SourceChain) -> bool:
    last, reference = chain.last_step, main.last_step
    if not reference or not last:
        return last == reference
    return SAME_STEPS_RATIO[0] <= last / reference <= SAME_STEPS_RATIO[1]
